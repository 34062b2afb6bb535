"""steady.py - what the programs of this folder share: calls with a time limit, folders, counts of what was wrong."""
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time

TEMPORARY = re.compile(r"^\.heapdex-[0-9a-f]{16}$")


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds


def call(words, cwd, env=None, limit=120, stdin=b"", preexec=None):
    """Runs a program to its end. Code None: it did not end within `limit` seconds, and was killed with its children."""
    began = time.monotonic()
    child = subprocess.Popen(words, cwd=cwd, env={**os.environ, **(env or {})}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=preexec)
    try:
        out, err = child.communicate(stdin, timeout=limit)
        return Result(child.returncode, out, err.decode("utf-8", "replace"), time.monotonic() - began)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        return Result(None, out, err.decode("utf-8", "replace"), time.monotonic() - began)


def digest(path):
    """Of the bytes of a file, or of the names and bytes of all files below a folder."""
    sums = hashlib.sha256()
    if os.path.isdir(path):
        for place, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                full = os.path.join(place, name)
                sums.update(os.path.relpath(full, path).encode() + b"\0" + digest(full).encode())
    else:
        with open(path, "rb") as file:
            sums.update(file.read())
    return sums.hexdigest()


def temporary_files(folder):
    return [os.path.join(place, name) for place, folders, files in os.walk(folder) for name in folders + files
            if TEMPORARY.match(name)]


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return folder


class Count:
    """What was checked, and what was wrong: each fault is shown once it is found, and the end says how many."""

    def __init__(self):
        self.checked, self.wrong, self.kinds = 0, 0, {}

    def fault(self, what):
        self.wrong += 1
        print("FAULT", what, flush=True)

    def expect(self, good, what):
        self.checked += 1
        if not good:
            self.fault(what)
        return good

    def note(self, kind):
        self.kinds[kind] = self.kinds.get(kind, 0) + 1

    def end(self, name):
        print("%s: %d checked, %d wrong; %s" % (name, self.checked, self.wrong,
                                                ", ".join("%s: %d" % k for k in sorted(self.kinds.items()))))
        sys.exit(1 if self.wrong else 0)
