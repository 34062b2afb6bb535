#!/usr/bin/env python3
"""Measures other tools as bench_gzip measures heapdex: `gzip -dc`, and random access by indexed_gzip (PyPI).

    gzip_peers.py DUMP.gz [READS [SPACING_KIB ...]]

Columns have the same names and meanings as those of bench_gzip: first_pass finds all points, `points` is the size of
the exported index, `cold` are reads of 4 KiB at random positions (CPU time; indexed_gzip has no cache, so there is no
warm row), `many` are 25 times as many reads in the order of the dump.
"""
import os
import random
import subprocess
import sys
import tempfile
import time

import indexed_gzip

READ = 4096


def row(file, spacing, what, n, seconds, worst, size):
    mean = 1000 * seconds / n if n else 0
    print(f"peers,{file},{spacing},{what},{n},{seconds:.4f},{mean:.4f},{1000 * worst:.4f},{size}", flush=True)


def main(path, reads=400, *spacings):
    file = os.path.basename(path)
    print("bench,file,spacing_kib,what,n,seconds,mean_ms,worst_ms,bytes")
    begun = time.monotonic()
    subprocess.run(["gzip", "-dc", path], stdout=subprocess.DEVNULL, check=True)
    row(file, 0, "gzip_dc", 1, time.monotonic() - begun, 0, os.path.getsize(path))
    for spacing in spacings or (1024,):
        with indexed_gzip.IndexedGzipFile(path, spacing=spacing << 10) as f, tempfile.NamedTemporaryFile() as kept:
            begun = time.monotonic()
            f.build_full_index()
            took = time.monotonic() - begun
            size = f.seek(0, os.SEEK_END)
            row(file, spacing, "first_pass", 1, took, 0, size)
            f.export_index(kept.name)
            row(file, spacing, "points", 0, 0, 0, os.path.getsize(kept.name))
            dice, total, worst = random.Random(1), 0, 0
            for _ in range(reads):
                at = dice.randrange(size)
                begun = time.thread_time()
                f.seek(at)
                f.read(READ)
                took = time.thread_time() - begun
                total, worst = total + took, max(worst, took)
            row(file, spacing, "cold", reads, total, worst, READ)
            places = sorted(dice.randrange(size) for _ in range(25 * reads))
            begun = time.monotonic()
            for at in places:
                f.seek(at)
                f.read(16)
            row(file, spacing, "many", len(places), time.monotonic() - begun, 0, 16)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *(int(a) for a in sys.argv[2:]))
