"""Spark on a cluster against the command, with an executor killed while it indexes; run by tests/spark_cluster."""

import contextlib
import csv
import ctypes
import gzip
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zlib
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import heapdex.spark
import heapdex.spark_fleet

TREE = Path(__file__).resolve().parents[2]
TOOL = os.environ["HEAPDEX_TOOL"]
OBJECTS = int(os.environ.get("HEAPDEX_OBJECTS", "3000000"))  # of the dump whose builder is killed
LOOPBACK = "127.0.0.1"


def make_dump(path, count):
    """A tree of nodes, app.Node { Node left, right; int n; }, below one static field."""

    def record(tag, body):
        return struct.pack(">BII", tag, 0, len(body)) + body

    def text(number, value):
        return record(1, struct.pack(">Q", number) + value)

    node, root, base = 0x1000, 0x2000, 0x100000
    classes = struct.pack(">BQIQQQQQQIHHH", 0x20, root, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)  # java.lang.Object
    classes += struct.pack(">BQIQQQQQQIHH", 0x20, node, 0, root, 0, 0, 0, 0, 0, 20, 0, 1)
    classes += struct.pack(">QBQ", 5, 2, base)  # static Node first
    classes += struct.pack(">HQBQBQB", 3, 3, 2, 4, 2, 6, 10)
    classes += struct.pack(">BQ", 5, node)  # sticky class
    instance = struct.Struct(">BQIQIQQi")
    with open(path, "wb") as out:
        out.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 1_700_000_000_000))
        for number, value in (1, b"java/lang/Object"), (2, b"app/Node"), (3, b"left"), (4, b"right"), (5, b"first"):
            out.write(text(number, value))
        out.write(text(6, b"n"))
        out.write(record(2, struct.pack(">IQIQ", 1, root, 0, 1)) + record(2, struct.pack(">IQIQ", 2, node, 0, 2)))
        out.write(record(0x1C, classes))
        for first in range(0, count, 50_000):
            these = range(first, min(first + 50_000, count))
            of = lambda i: base + 32 * i if i < count else 0
            body = (instance.pack(0x21, of(i), 0, node, 20, of(2 * i + 1), of(2 * i + 2), i % 1000) for i in these)
            out.write(record(0x1C, b"".join(body)))
        out.write(record(0x2C, b""))


def command(*words):
    out = subprocess.run([TOOL, *words, "--format", "jsonl", "--quiet"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


# ---- the cluster ----


def dies_with_us():
    """A test that is killed leaves no Java behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Cluster:
    """A master and two workers of one core each."""

    def __init__(self, folder):
        self.folder, self.started = folder, []
        home = os.path.dirname(pyspark.__file__)
        self.run = os.path.join(home, "bin", "spark-class")
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            self.port = free.getsockname()[1]
        left = ("HEAPDEX_LIBRARY", "HEAPDEX_TOOL", "PYTHONPATH")  # workers know nothing but Python
        self.environment = {name: value for name, value in os.environ.items() if name not in left}
        self.environment.update(
            SPARK_HOME=home, SPARK_LOCAL_IP=LOOPBACK, SPARK_LOCAL_HOSTNAME=LOOPBACK, SPARK_DAEMON_MEMORY="192m",
            SPARK_DAEMON_JAVA_OPTS="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xss512k",
        )
        self.url = f"spark://{LOOPBACK}:{self.port}"

    def start(self):
        place = "org.apache.spark.deploy"
        self._launch("master", f"{place}.master.Master", "--host", LOOPBACK, "--port", str(self.port),
                     "--webui-port", "0")
        self._await("master", "I have been elected leader", 1)
        for n in ("1", "2"):
            self._launch(f"worker{n}", f"{place}.worker.Worker", "--host", LOOPBACK, "--webui-port", "0",
                         "--cores", "1", "--memory", "1500m",
                         "--work-dir", os.path.join(self.folder, f"work{n}"), self.url)
        self._await("master", "Registering worker", 2)

    def _log(self, name):
        return os.path.join(self.folder, f"{name}.log")

    def _launch(self, name, *words):
        with open(self._log(name), "wb") as log:
            self.started.append(subprocess.Popen([self.run, *words], env=self.environment, stdout=log, stderr=log,
                                                 stdin=subprocess.DEVNULL, start_new_session=True,
                                                 preexec_fn=dies_with_us))

    def _await(self, name, words, times):
        for _ in range(1200):
            with open(self._log(name)) as log:
                if log.read().count(words) >= times:
                    return
            if any(one.poll() is not None for one in self.started):
                break
            time.sleep(0.1)
        with open(self._log(name)) as log:
            raise RuntimeError(f"the cluster did not come up: {log.read()[-2000:]}")

    def stop(self):
        for how in (signal.SIGTERM, signal.SIGKILL):
            for one in self.started:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.pid, how)  # executors are in the group of their worker
            until = time.monotonic() + 10
            while time.monotonic() < until and any(one.poll() is None for one in self.started):
                time.sleep(0.1)
        self.started = []


# ---- the processes of executors ----


def parent(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rsplit(")", 1)[1].split()[1])


def alive(pid):
    with contextlib.suppress(OSError):
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def has_open(pid, folder):
    with contextlib.suppress(OSError):
        for name in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/fd/{name}").startswith(folder):
                    return True
    return False


def builder_of(part):
    """The Python worker that builds an index, and its executor, or None: it has files open of the folder that becomes
    the index."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid() or not has_open(pid, part):
            continue
        above = int(pid)
        while above > 1:
            with contextlib.suppress(OSError):
                with open(f"/proc/{above}/cmdline", "rb") as words:
                    if b"CoarseGrainedExecutorBackend" in words.read():
                        return int(pid), above
            above = parent(above)
    return None


class Killer(threading.Thread):
    """Kills, once, the executor whose task builds that index, in the middle of the build: the builder is stopped when
    it has begun to write, so that the index cannot become whole before the executor is gone."""

    def __init__(self, dump):
        super().__init__(daemon=True)
        folder, name = os.path.split(dump + ".hdx")
        self.index, self.part = dump + ".hdx", os.path.join(folder, ".heapdex-part-" + name)
        self.killed, self.was_whole, self.outlived, self.give_up = None, None, None, False

    def run(self):
        found = None
        while not self.give_up and found is None:
            found = builder_of(self.part)
            time.sleep(0.001)
        if found is None:
            return
        worker, executor = found
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGSTOP)
        self.was_whole = os.path.isdir(self.index)
        os.kill(executor, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGCONT)  # it has to see by itself that the executor is gone
        self.killed, began = executor, time.monotonic()
        while alive(worker) and time.monotonic() < began + 60:
            time.sleep(0.01)
        self.outlived = time.monotonic() - began


def crc(cells):
    return zlib.crc32("|".join("" if cell is None else str(cell) for cell in cells).encode())


class OnACluster(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="heapdex-spark-", dir=os.environ.get("HEAPDEX_SCRATCH"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.dumps = os.path.join(cls.folder, "dumps")
        os.mkdir(cls.dumps)
        cls.big = os.path.join(cls.dumps, "big.hprof")
        make_dump(cls.big, OBJECTS)
        make_dump(os.path.join(cls.dumps, "small.hprof"), 1000)
        shutil.copy(TREE / "examples/bookshop.hprof.gz", cls.dumps)
        cls.all = heapdex.spark.find([cls.dumps])
        cls.cluster = Cluster(cls.folder)
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        began = time.monotonic()
        cls.spark = (
            SparkSession.builder.master(cls.cluster.url).appName("heapdex")
            .config("spark.driver.host", LOOPBACK).config("spark.driver.bindAddress", LOOPBACK)
            .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
            .config("spark.executor.memory", "700m").config("spark.driver.memory", "700m")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.python.filterPushdown.enabled", "true").getOrCreate()
        )
        cls.addClassCleanup(cls.spark.stop)
        cls.spark.sparkContext.setLogLevel("OFF")
        heapdex.spark.ship(cls.spark)
        heapdex.spark.register(cls.spark)
        print(f"a session after {time.monotonic() - began:.1f} s", flush=True)

    def load(self, *paths, **options):
        return self.spark.read.format("heapdex").options(**options).load(list(paths))

    def executors(self):
        return self.spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1

    def test_1_an_executor_killed_while_it_indexes_costs_no_row_and_doubles_none(self):
        killer = Killer(self.big)
        killer.start()
        began = time.monotonic()
        objects = self.load(self.dumps + "/*.hprof", self.dumps + "/*.gz", table="objects", rowsPerPartition=500_000)
        columns = [F.coalesce(F.col(name).cast("string"), F.lit("")) for name in objects.columns[1:]]
        rows = (
            objects.groupBy("dump_id")
            .agg(F.count("*").alias("n"), F.countDistinct("id").alias("ids"), F.sum("address").alias("addresses"),
                 F.sum("retained").alias("retained"), F.sum(F.crc32(F.concat_ws("|", *columns))).alias("hash"))
            .collect()
        )
        took = time.monotonic() - began
        killer.give_up = True
        killer.join()
        self.assertIsNotNone(killer.killed, "nobody was seen building the index of big.hprof")
        self.assertFalse(killer.was_whole, "the index was there when its builder was killed")
        self.assertLess(killer.outlived, 10, "the builder outlived its executor")
        print(f"{took:.1f} s, an executor killed; its builder was gone {killer.outlived:.2f} s later", flush=True)
        got = {row["dump_id"]: row.asDict() for row in rows}
        self.assertEqual(set(got), {dump.id for dump in self.all})
        for dump in self.all:
            with self.subTest(dump.path):
                self.assertEqual(got[dump.id], self.alone(dump.path, dump.id))

    def alone(self, dump, name):
        """The same of the command's CSV, from an index of its own."""
        out = os.path.join(self.folder, name + ".csv")
        subprocess.run([TOOL, "export", dump, "--table", "objects", "--format", "csv", "-o", out, "--quiet",
                        "--index-dir", os.path.join(self.folder, name + ".hdx")], check=True)
        want = {"dump_id": name, "n": 0, "ids": 0, "addresses": 0, "retained": 0, "hash": 0}
        with open(out, newline="") as lines:
            rows = csv.reader(lines)
            head = next(rows)
            addresses = [head.index(one) for one in ("address", "class_address", "dominator")]
            retained = head.index("retained")
            for row in rows:
                for place in addresses:
                    row[place] = str(int(row[place], 16)) if row[place] else ""
                want["n"] += 1
                want["addresses"] += int(row[addresses[0]])
                want["retained"] += int(row[retained] or 0)
                want["hash"] += crc(row)
        want["ids"] = want["n"]
        return want

    def test_2_histograms_are_those_of_the_command(self):
        rows = self.load(self.dumps, answer="histogram").select("dump_id", "class", "objects", "shallow").collect()
        want = [
            (dump.id, row["class"], row["objects"], row["shallow"])
            for dump in self.all
            for row in command("histogram", dump.path)
        ]
        self.assertEqual(sorted(tuple(row) for row in rows), sorted(want))

    def test_3_a_dump_that_is_none_is_left_out_where_that_is_asked_for(self):
        bad = os.path.join(self.folder, "bad.hprof")
        Path(bad).write_text("no dump\n")
        small = os.path.join(self.dumps, "small.hprof")
        objects = len(command("export", small, "--table", "objects"))
        self.assertEqual(self.load(small, bad, table="objects", mode="skip").count(), objects)
        with self.assertRaisesRegex(Exception, "bad.hprof"):
            self.load(small, bad, table="objects").count()
        states = heapdex.spark.index(self.spark, [small, bad]).orderBy("dump").collect()
        self.assertEqual([(os.path.basename(row["dump"]), row["state"], row["code"], row["objects"]) for row in states],
                         [("bad.hprof", "failed", "bad_dump", None), ("small.hprof", "done", None, objects)])

    @unittest.skipUnless(hasattr(heapdex._lib, "hdx_fleet_write"), "this library has no tables of fleets")
    def test_4_a_dump_that_fails_has_rows_and_the_worker_lives(self):
        folder = os.path.join(self.folder, "failing")
        os.mkdir(folder)
        whole = gzip.decompress((TREE / "examples/bookshop.hprof.gz").read_bytes())
        for name, content in {"a": whole, "b": b"no dump\n", "c": whole[:3_000_000], "d": whole}.items():
            Path(folder, name + ".hprof").write_bytes(content)
        dumps = heapdex.spark.find([folder])
        out, before = os.path.join(self.folder, "failures"), self.executors()
        states = heapdex.spark_fleet.fill(self.spark, [folder], out).orderBy("dump").collect()
        want = {"b": ("failed", "bad_dump")}
        self.assertEqual([(row["dump_id"], row["state"], row["code"]) for row in states],
                         [(dump.id, *want.get(dump.id[0], ("done", None))) for dump in dumps])
        rows = heapdex.spark_fleet.table(self.spark, out, "problems").where("table_name IS NULL").collect()
        self.assertEqual(sorted((row["dump_id"][0], row["code"]) for row in rows),
                         [("b", "bad_dump"), ("c", "damage")])
        self.assertEqual(self.executors(), before, "an executor died")
        for name in os.listdir(self.folder):  # what workers of Spark write when a Python process of theirs dies
            for log in Path(self.folder, name).glob("app-*/*/stderr"):
                self.assertNotIn("Python worker exited unexpectedly", log.read_text(errors="replace"), str(log))

    @unittest.skipUnless(hasattr(heapdex._lib, "hdx_fleet_write"), "this library has no tables of fleets")
    def test_5_tables_of_a_fleet_are_whole_though_an_executor_is_killed(self):
        shutil.rmtree(self.big + ".hdx")
        bad = os.path.join(self.folder, "text.hprof")
        Path(bad).write_text("no dump\n")
        out = os.path.join(self.folder, "fleet")
        killer = Killer(self.big)
        killer.start()
        states = heapdex.spark_fleet.fill(self.spark, [self.dumps, bad], out).collect()
        killer.give_up = True
        killer.join()
        self.assertIsNotNone(killer.killed, "nobody was seen building the index of big.hprof")
        self.assertFalse(killer.was_whole, "the index was there when its builder was killed")
        want = {dump.id: "done" for dump in self.all}
        want[heapdex.spark.id_of(bad)] = "failed"
        self.assertEqual(sorted((row["dump_id"], row["state"]) for row in states), sorted(want.items()))
        dumps = heapdex.spark_fleet.table(self.spark, out, "dump").select("dump_id", "status").collect()
        self.assertEqual(sorted(tuple(row) for row in dumps), sorted(want.items()))
        classes = heapdex.spark_fleet.table(self.spark, out, "classes").select("dump_id", "class", "objects", "shallow")
        rows = [
            (dump.id, row["class"], row["objects"], row["shallow"])
            for dump in self.all
            for row in command("histogram", dump.path)
        ]
        self.assertEqual(sorted(tuple(row) for row in classes.collect()), sorted(rows))
        self.assertEqual([name for name in os.listdir(out + "/tables") if not name.startswith("dump_id=")], [])


def stop(number, _):
    sys.exit(128 + number)  # so that the cluster is stopped


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, stop)
    unittest.main(verbosity=2)
