"""The package against the command: every table and answers of every shape, in pyarrow, polars, DuckDB and pandas.

HEAPDEX_LIBRARY and HEAPDEX_TOOL say where library and command are; run by ctest (python/tests/run).
"""

import _thread
import csv
import filecmp
import gc
import json
import os
import shutil
import signal
import struct
import sqlite3
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

import heapdex
from heapdex import _lazy

TREE = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("HEAPDEX_TOOL", str(TREE / "build/debug/heapdex"))


def command(*words):
    """Rows of a command, as its jsonl has them."""
    out = subprocess.run([TOOL, *words, "--format", "jsonl", "--quiet"], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in out.stdout.splitlines()]


def signed(text):
    value = int(text, 16)
    return value - (1 << 64) if value >= 1 << 63 else value


def as_column(values, kind):
    """What jsonl has for a column of that declared type, as other programs see it."""
    if kind == "address":
        return [None if v is None else signed(v) for v in values]
    if kind in ("list", "object", "any"):
        return values
    return [None if v == {"absent": True} else v for v in values]


def as_read(values, kind):
    if kind in ("list", "object", "any"):
        return [None if v is None else json.loads(v) for v in values]
    return list(values)


def kinds(schema):
    return {field.name: field.metadata[b"heapdex.type"].decode() for field in schema}


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.dump = shutil.copy(TREE / "examples/bookshop.hprof.gz", os.path.join(cls.folder, "app.hprof.gz"))
        cls.heap = heapdex.open(cls.dump)

    @classmethod
    def tearDownClass(cls):
        cls.heap.close()
        shutil.rmtree(cls.folder)

    def expect(self, table, rows):
        of = kinds(table.schema)
        self.assertEqual(table.num_rows, len(rows))
        for name, kind in of.items():
            got, want = as_read(table[name].to_pylist(), kind), as_column([row[name] for row in rows], kind)
            self.assertEqual(got, want, name)


class Tables(Case):
    def test_each_has_the_rows_of_the_command(self):
        for name in heapdex.TABLES:
            with self.subTest(name):
                table = self.heap.table(name).to_arrow()
                table.validate(full=True)
                self.expect(table, command("export", self.dump, "--table", name))

    def test_garbage_and_conditions(self):
        rows = self.heap.answer("export")(table="objects", reachable="all", where=["retained = null", "shallow > 16"])
        self.expect(
            rows.to_arrow(),
            command("export", self.dump, "--table", "objects", "--reachable", "all", "--where", "retained = null",
                    "--where", "shallow > 16"),
        )

    def test_columns_are_chosen_and_rows_shaped(self):
        table = self.heap.objects["class", "retained"].where("retained > 10K").sort("retained").limit(5).to_arrow()
        self.assertEqual(table.column_names, ["class", "retained"])
        self.expect(table, command("export", self.dump, "--table", "objects", "--columns", "class,retained",
                                   "--where", "retained > 10K", "--sort", "retained", "--limit", "5"))

    def test_many_programs_read_the_same(self):
        objects = self.heap.objects["class", "shallow"]
        want = sum(row["shallow"] for row in command("export", self.dump, "--table", "objects"))
        self.assertEqual(pyarrow.table(objects)["shallow"].to_pandas().sum(), want)
        self.assertEqual(polars.DataFrame(objects)["shallow"].sum(), want)
        self.assertEqual(objects.to_pandas()["shallow"].sum(), want)
        self.assertEqual(duckdb.sql("SELECT sum(shallow) FROM objects").fetchall()[0][0], want)
        top = duckdb.sql("SELECT class, sum(shallow) s FROM objects GROUP BY 1 ORDER BY s DESC LIMIT 1").fetchall()[0]
        first = command("histogram", self.dump, "--limit", "1", "--sort", "shallow")[0]
        self.assertEqual(top, (first["class"], first["shallow"]))

    def test_pandas_frames_have_the_columns(self):
        frame = self.heap.classes.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        names = [row["name"] for row in command("export", self.dump, "--table", "classes")]
        self.assertEqual(list(frame["name"]), names)


class Answers(Case):
    def test_of_an_object_take_its_address_as_a_number(self):
        frame = self.heap.objects["address", "class"].where("class = bookshop.Bookshop$Session").limit(1).to_pandas()
        at = frame["address"][0]
        self.assertGreater(at, 1 << 31)
        want = self.heap.path(heapdex.address(at)).to_arrow()
        self.assertGreater(want.num_rows, 0)
        for number in (int(at), at):  # the second is of numpy
            self.assertEqual(self.heap.path(number).to_arrow(), want)
        by_number, by_name = self.heap.dominators(object=int(at)), self.heap.dominators(object=hex(at))
        self.assertEqual(by_number.to_arrow(), by_name.to_arrow())
        with heapdex.open(upper_half(os.path.join(self.folder, "half.hprof"))) as heap:
            self.assertEqual(heap.object(-16)["address"].to_arrow()["address"].to_pylist(), [-16])

    def test_have_the_rows_of_the_command(self):
        asks = [
            (self.heap.histogram(by="package"), ["histogram", "--by", "package"]),
            (self.heap.histogram(class_="java.util.*", retained=True),
             ["histogram", "--class", "java.util.*", "--retained"]),
            (self.heap.suspects(threshold=5), ["suspects", "--threshold", "5"]),
            (self.heap.threads(stacks=True, locals=True), ["threads", "--stacks", "--locals"]),
            (self.heap.object("thread:main"), ["object", "thread:main"]),
            (self.heap.roots(by="type"), ["roots", "--by", "type"]),
            (self.heap.objects(class_="java.lang.Thread"), ["objects", "--class", "java.lang.Thread"]),
            (self.heap.path("0xfeb18ea8", exclude="weak,soft"), ["path", "0xfeb18ea8", "--exclude", "weak,soft"]),
            (self.heap.strings(by="value", limit=30), ["strings", "--by", "value", "--limit", "30"]),
            (self.heap.leaks(), ["leaks"]),
            (self.heap.info(), ["info"]),
        ]
        for rows, words in asks:
            with self.subTest(words):
                self.expect(rows.to_arrow(), command(words[0], self.dump, *words[1:]))

    def test_several_values_are_given_one_by_one(self):
        rows = self.heap.retained(object=["thread:main", "thread:clerk"])
        self.expect(rows.to_arrow(), command("retained", self.dump, "thread:main", "thread:clerk"))

    def test_tell_what_they_are(self):
        self.assertIn("by:", self.heap.histogram.__doc__)
        self.assertIn("retained:", self.heap.objects.__doc__)
        self.assertIn("histogram", dir(self.heap))
        self.assertIn("free_if", dir(self.heap))
        self.assertIn("references", dir(self.heap))
        self.assertEqual(heapdex.library_version(), heapdex.__version__)
        self.assertTrue((Path(heapdex.__file__).parent / "py.typed").exists())

    def test_what_is_refused_says_why(self):
        for code, rows in [
            ("not_found", self.heap.object("0x1")),
            ("usage", self.heap.histogram(columns="nothing")),
            ("usage", self.heap.histogram(by="nobody")),
            ("usage", self.heap.objects.where("no condition")),
        ]:
            with self.assertRaises(heapdex.Error) as e:
                rows.to_arrow()
            self.assertEqual(e.exception.code, code)
            self.assertNotEqual(e.exception.message, "")
        with self.assertRaises(AttributeError):
            self.heap.no_such_answer
        with self.assertRaises(TypeError):
            self.heap.references()
        with self.assertRaises(heapdex.Error) as e:
            heapdex.open(os.path.join(self.folder, "missing.hprof"))
        self.assertEqual(e.exception.code, "bad_dump")
        with self.assertRaises(heapdex.Error) as e:
            other = shutil.copy(self.dump, os.path.join(self.folder, "other.hprof.gz"))
            heapdex.open(other, build=False).objects.to_arrow()
        self.assertEqual(e.exception.code, "bad_dump")


class Statements(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            cls.heap.sql("SELECT 1").to_arrow()
        except heapdex.Error as e:
            if "built without SQLite" not in e.message:
                raise
            raise unittest.SkipTest(e.message)

    def command(self, *words):
        return [tuple(row.values()) for row in command("sql", self.dump, *words)]

    def rows(self, statement, **options):
        table = self.heap.sql(statement, **options).to_arrow()
        table.validate(full=True)
        return list(zip(*(column.to_pylist() for column in table.columns)))

    def test_have_the_rows_of_the_command(self):
        for statement in [
            "SELECT class, count(*) AS n, sum(shallow) AS bytes FROM objects GROUP BY class ORDER BY n DESC, class",
            "SELECT id, class, shallow, retained, length FROM objects WHERE retained > 4096 ORDER BY id",
            'SELECT this, size, label(this) AS l FROM "java.util.HashMap" ORDER BY this',
            "SELECT avg(shallow) AS a, 1 AS one, NULL AS none, 'it''s' AS text FROM objects",
            "SELECT name FROM classes WHERE 0",
        ]:
            with self.subTest(statement):
                self.assertEqual(self.rows(statement), self.command(statement))

    def test_say_what_their_columns_are(self):
        table = self.heap.sql("SELECT id, address, class, shallow, shallow / 2.0 AS half FROM objects").to_arrow()
        types = {field.name: str(field.type) for field in table.schema}
        self.assertEqual(types, {"id": "int64", "address": "int64", "class": "large_string", "shallow": "int64",
                                 "half": "double"})
        self.assertEqual(table.schema.field("shallow").metadata[b"heapdex.unit"], b"bytes")
        self.assertEqual(kinds(table.schema)["address"], "address")

    def test_many_programs_read_the_same(self):
        rows = self.heap.sql("SELECT class, count(*) AS n FROM objects GROUP BY class ORDER BY n DESC, class LIMIT 3")
        want = [(row["class"], row["objects"]) for row in command("histogram", self.dump, "--sort", "objects",
                                                                "--limit", "3")]
        self.assertEqual(polars.DataFrame(rows).rows(), want)
        self.assertEqual(list(rows.to_pandas().itertuples(index=False, name=None)), want)
        self.assertEqual(duckdb.sql("FROM rows").fetchall(), want)
        self.assertEqual(rows.to_polars()["n"].to_list(), [n for _, n in want])

    def test_ask_several_dumps_under_names(self):
        other = shutil.copy(self.dump, os.path.join(self.folder, "before.hprof.gz"))
        growth = ("SELECT count(*), sum(a.live_instances - b.live_instances) FROM classes a "
                  "JOIN old.classes b ON a.name = b.name AND a.loader = b.loader")
        self.assertEqual(self.rows(growth, attach={"old": other})[0][1], 0)
        self.assertEqual(self.rows("SELECT count(*) FROM old.objects", attach={"old": other}),
                         self.rows("SELECT count(*) FROM objects"))
        for attach in ({"main": other}, {"no word": other}, {"old": os.path.join(self.folder, "none.hprof")}):
            with self.assertRaises(heapdex.Error):
                self.rows("SELECT 1", attach=attach)
        with self.assertRaises(heapdex.Error):
            self.rows("SELECT count(*) FROM old.objects")

    def test_of_oql_are_those_of_the_command(self):
        query = "SELECT m.size FROM java.util.HashMap m WHERE m.size > 3"
        rows = self.heap.oql(query)
        self.assertIn("java.util.HashMap", rows.text)
        self.assertIn("FROM", rows.text)
        want = command("oql", self.dump, query)
        self.assertGreater(len(want), 0)
        self.assertEqual(rows.to_arrow().to_pylist(), want)
        with self.assertRaises(heapdex.Error) as e:
            self.heap.oql("SELECT * FROM").text
        self.assertEqual(e.exception.code, "usage")

    def test_no_text_is_cut_at_a_nul(self):
        calls = [
            lambda: self.heap.histogram(by="package\0class"),
            lambda: self.heap.answer("objects")(class_="byte[]\0x"),
            lambda: self.heap.table("objects").where("class = 'a\0b'"),
            lambda: heapdex.open(self.dump, index_dir="a\0b"),
            lambda: heapdex.open(self.dump, "other\0.hprof"),
            lambda: self.heap.sql("SELECT 1", attach={"old\0er": self.dump}),
        ]
        for place, call in enumerate(calls):
            with self.assertRaises(heapdex.Error, msg=str(place)) as e:
                call().to_arrow()
            self.assertEqual(e.exception.code, "usage")
            self.assertIn("NUL", e.exception.message)

    def test_that_are_refused_say_why(self):
        for statement, word in [
            ("SELECT nobody FROM objects", "nobody"),
            ("SELECT 1; SELECT 2", "single statement"),
            ("CREATE TEMP TABLE t(a)", "no rows"),
            ("", "statement is empty"),
            ("SELECT '\0'", "NUL"),
        ]:
            with self.assertRaises(heapdex.Error) as e:
                self.rows(statement)
            self.assertEqual(e.exception.code, "usage")
            self.assertIn(word, e.exception.message)
        with self.assertRaises(OSError) as e:
            self.rows("SELECT CASE WHEN id = 2000 THEN 'x' ELSE id END AS v FROM objects ORDER BY id")
        self.assertIn("column v is a text", str(e.exception))

    def test_go_on_when_the_heap_is_closed(self):
        heap = heapdex.open(self.dump)
        statement = heap.sql("SELECT id, label(id) AS l FROM objects")
        readers = [pyarrow.RecordBatchReader.from_stream(statement) for _ in range(2)]
        heap.close()
        count = self.rows("SELECT count(*) FROM objects")[0][0]
        self.assertEqual([reader.read_all().num_rows for reader in readers], [count] * 2)
        with self.assertRaises(heapdex.Error):
            statement.to_arrow()

    def test_end_when_they_are_interrupted_and_the_heap_goes_on(self):
        def ring(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, ring)
        try:
            with heapdex.open(self.dump) as heap:
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                with self.assertRaises(KeyboardInterrupt):
                    heap.sql("WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n").to_arrow()
                self.assertEqual(heap.sql("SELECT count(*) AS n FROM objects").to_pandas()["n"].to_list(), [23875])
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class Streams(Case):
    def test_capsules_that_nobody_takes_are_freed(self):
        for _ in range(20):
            self.heap.objects.__arrow_c_stream__()
        gc.collect()
        self.assertEqual(len(heapdex._held), 0)
        self.heap.objects.to_arrow()
        gc.collect()
        self.assertEqual(len(heapdex._held), 0)

    def test_of_a_consumer_that_fails_leave_its_own_exception(self):
        for _ in range(3):
            with self.assertRaisesRegex(ValueError, "schema"):
                pyarrow.table(self.heap.objects, schema=pyarrow.schema([("nothing", pyarrow.int8())]))
        gc.collect()
        self.assertEqual(len(heapdex._held), 0)

    def test_that_nobody_takes_end_with_the_heap(self):
        with heapdex.open(self.dump) as heap:
            taken = heap.objects.__arrow_c_stream__()
            heap.objects.__arrow_c_stream__()
        self.assertEqual(len(heapdex._held), 1)
        del taken
        gc.collect()
        self.assertEqual(len(heapdex._held), 0)

    def test_go_on_when_the_heap_is_closed(self):
        heap = heapdex.open(self.dump)
        reader = pyarrow.RecordBatchReader.from_stream(heap.references)
        table = heap.objects["id"].to_arrow()
        heap.close()
        references = command("export", self.dump, "--table", "references")
        self.assertEqual(sum(batch.num_rows for batch in reader), len(references))
        self.assertEqual(table["id"].to_pylist()[-1], command("export", self.dump, "--table", "objects")[-1]["id"])
        with self.assertRaises(heapdex.Error):
            heap.objects.to_arrow()
        heap.close()

    def test_are_read_by_many_threads(self):
        sums, want = [], self.heap.objects["shallow"].to_polars()["shallow"].sum()
        threads = [
            threading.Thread(target=lambda: sums.append(self.heap.objects["shallow"].to_polars()["shallow"].sum()))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, [want] * 6)

    def test_end_with_words_where_memory_is_short(self):
        with heapdex.open(self.dump, memory=700 << 10, build=False) as heap:
            with self.assertRaises((OSError, heapdex.Error, pyarrow.ArrowException)) as e:
                heap.objects.to_arrow()
            self.assertIn("no memory", str(e.exception))

    def test_end_when_they_are_cancelled(self):
        heap = heapdex.open(self.dump)
        reader = pyarrow.RecordBatchReader.from_stream(heap.references)
        heap.cancel()
        with self.assertRaises(Exception) as e:
            reader.read_all()
        self.assertIn("interrupted", str(e.exception))


class Interrupted(Case):
    def test_by_ctrl_c_while_the_index_is_built_and_asked_again(self):
        def ring(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, ring)
        interrupted = 0
        try:
            for after in (0.001, 0.005, 0.02, 0.04):
                dump = shutil.copy(self.dump, os.path.join(self.folder, f"{after}.hprof.gz"))
                with heapdex.open(dump) as heap:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, after)
                        heap.classes.__arrow_c_stream__()
                        signal.setitimer(signal.ITIMER_REAL, 0)
                    except KeyboardInterrupt:
                        interrupted += 1
                    self.assertEqual(heap.objects["id"].to_arrow().num_rows, 23875)
        finally:
            signal.signal(signal.SIGALRM, before)
        self.assertGreater(interrupted, 0)

    def test_while_a_call_begins_closes_no_session_under_it(self):
        lib, start, inside, closed = heapdex._lib, _thread.start_new_thread, [], []
        ask, close = lib.hdx_answer_arrow, lib.hdx_session_close

        def asked(session, name, *words):
            inside.append(session)
            code = ask(session, name, *words)
            if name == b"histogram":
                gone.wait(1)  # the caller was interrupted and closes the heap meanwhile
            inside.remove(session)
            return code

        def closing(session):
            closed.append("in use" if session in inside else "not in use")
            if session not in inside:
                close(session)

        def interrupted(work, words):
            start(lambda: (work(*words), over.set()), ())
            while runs and not inside:  # the interrupt comes before the call or during it
                pass
            raise KeyboardInterrupt

        try:
            lib.hdx_answer_arrow, lib.hdx_session_close = asked, closing
            for runs in (True, False):
                gone, over, heap = threading.Event(), threading.Event(), heapdex.open(self.dump)
                _thread.start_new_thread = interrupted
                with self.assertRaises(KeyboardInterrupt):
                    heap.histogram().to_arrow()
                _thread.start_new_thread = start
                self.assertEqual(heap.objects["id"].to_arrow().num_rows, 23875)
                heap.close()
                gone.set()
                self.assertTrue(over.wait(60))
        finally:
            _thread.start_new_thread = start
            lib.hdx_answer_arrow, lib.hdx_session_close = ask, close
        self.assertEqual(closed, ["not in use"] * 4)
        self.assertEqual(inside, [])

    def test_twice_and_the_last_call_closes_the_session(self):
        begun, may_end, closed = threading.Event(), threading.Event(), []
        close = heapdex._lib.hdx_session_close

        def call(_):
            begun.set()
            may_end.wait(60)
            closed.append("not yet")
            return 0

        heap = heapdex.open(self.dump)
        session = heap._session
        try:
            heapdex._lib.hdx_session_close = lambda at: (closed.append("closed"), close(at))
            thread = threading.Thread(target=lambda: session.run(call))
            thread.start()
            begun.wait(60)
            session.end()
            session.end()
            heap.close()
            self.assertEqual(closed, [])
            self.assertEqual(session.run(call), heapdex._native.HDX_CANCELLED)
            may_end.set()
            thread.join(60)
        finally:
            heapdex._lib.hdx_session_close = close
        self.assertEqual(closed, ["not yet", "closed"])


def upper_half(path):
    """A dump of the class java.lang.Object at 4096 and a byte[] at the address -16; both are GC roots."""

    def record(tag, *parts):
        body = b"".join(parts)
        return struct.pack(">BII", tag, 0, len(body)) + body

    top = (1 << 64) - 16
    with open(path, "wb") as out:
        out.write(b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0))
        out.write(record(0x01, struct.pack(">Q", 1), b"java/lang/Object"))
        out.write(record(0x02, struct.pack(">IQIQ", 1, 4096, 0, 1)))
        out.write(record(0x1C, struct.pack(">BQ", 0x05, 4096), struct.pack(">BQ", 0x05, top),
                         struct.pack(">BQI6QIHHH", 0x20, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                         struct.pack(">BQIIB4s", 0x23, top, 0, 4, 8, b"data")))
        out.write(record(0x2C))
    return path


class Lazy(Case):
    def setUp(self):
        self.lazy = self.heap.lazy("objects")
        self.whole = self.heap.objects.to_polars()

    def test_says_the_columns_without_reading_rows(self):
        self.assertEqual(self.lazy.collect_schema(), self.whole.schema)

    def test_gives_what_the_whole_table_would(self):
        column = polars.col
        for ask in [
            lambda t: t.select("class", "retained"),
            lambda t: t.filter(column("retained") > 4096).select("address", "retained"),
            lambda t: t.filter((column("shallow") == 24) & (column("class") == "java.lang.String")).select("id"),
            lambda t: t.filter((column("shallow") > 1000) | (column("id") < 10)).select("id", "shallow"),
            lambda t: t.filter(column("length").is_null()).select("id"),
            lambda t: t.filter(column("dominator") != 5).select("dominator"),
            lambda t: t.filter(10 >= column("id")),
            lambda t: t.filter(column("shallow") > 100.5).select("shallow"),
            lambda t: t.filter(column("shallow") > column("outbound")).head(7),
            lambda t: t.head(10).select("id"),
            lambda t: t.filter(column("retained") > 1 << 40),
            lambda t: t.select(polars.len()),
            lambda t: t.group_by("kind").agg(column("shallow").sum()).sort(column("kind").cast(polars.String)),
        ]:
            got, want = ask(self.lazy).collect(), ask(self.whole.lazy()).collect()
            self.assertEqual(got.rows(), want.rows())
            self.assertEqual(got.columns, want.columns)

    def test_hands_simple_comparisons_down(self):
        types, column = self.whole.schema, polars.col
        for predicate, want in [
            ((column("retained") > 4096) & (column("class") == "byte[]"), {"retained > 4096", "class = 'byte[]'"}),
            (polars.lit(7) <= column("id"), {"id >= 7"}),
            (column("shallow") != 16.0, {"shallow != 16"}),
            ((column("id") < 5) | (column("id") > 9), set()),
            (column("class") == "it's", set()),
            (column("class") > "a", set()),
            (column("class") == "\ufffd", set()),
            (column("shallow") > 1.5, set()),
            (column("shallow") > -1, set()),
        ]:
            self.assertEqual(set(_lazy._conditions(predicate, types)), want)

    def test_addresses_of_the_upper_half_are_negative_and_less(self):
        column = polars.col
        with heapdex.open(upper_half(os.path.join(self.folder, "upper.hprof"))) as heap:
            whole = heap.objects.to_polars()
            self.assertEqual(set(whole["address"]) & {-16, 4096}, {-16, 4096})
            for keep in (column("address") < 5000, 5000 >= column("address"), column("address") > -20,
                         column("address") >= 4096, column("address") != 4096):
                self.assertEqual(heap.lazy("objects").filter(keep).collect().rows(), whole.filter(keep).rows())

    def test_duckdb_asks_for_what_it_needs(self):
        lazy = self.lazy
        self.assertIsNotNone(lazy)
        got = duckdb.sql("SELECT id, retained FROM lazy WHERE retained > 100000 AND class LIKE 'book%' ORDER BY id")
        want = [(row["id"], row["retained"]) for row in command("export", self.dump, "--table", "objects")
                if (row["retained"] or 0) > 100000 and row["class"].startswith("book")]
        self.assertEqual(got.fetchall(), want)

    def test_counting_rows_reads_one_column(self):
        lazy, asked, stream = self.lazy, [], heapdex.Rows.__arrow_c_stream__

        def spy(rows, *words, **named):
            asked.append(dict(rows._arguments).get("columns"))
            return stream(rows, *words, **named)

        try:
            heapdex.Rows.__arrow_c_stream__ = spy
            self.assertEqual(duckdb.sql("SELECT count(*) FROM lazy").fetchall(), [(len(self.whole),)])
            self.assertEqual(lazy.select(polars.len()).collect().item(), len(self.whole))
        finally:
            heapdex.Rows.__arrow_c_stream__ = stream
        self.assertEqual(asked, [b"id", b"id"])

    def test_duckdb_takes_sizes_and_ids_for_signed_numbers(self):
        objects = self.heap.objects["id", "address", "shallow", "retained", "length", "dominator"]
        kinds_of = {row[1] for row in duckdb.sql("DESCRIBE SELECT * FROM objects").fetchall()}
        self.assertEqual(kinds_of, {"BIGINT"})
        self.assertEqual(objects.to_arrow().schema.field("id").type, pyarrow.int64())

    def test_answers_may_be_lazy_too(self):
        packages = self.heap.lazy("histogram", by="package").filter(polars.col("objects") > 100).collect()
        want = [row["package"] for row in command("histogram", self.dump, "--by", "package") if row["objects"] > 100]
        self.assertEqual(packages["package"].to_list(), want)


class Parquet(Case):
    def check(self, path, rows):
        table = pyarrow.parquet.read_table(path)
        declared = json.loads(table.schema.metadata[b"heapdex.columns"])
        self.assertEqual(list(declared), table.column_names)
        columns = list(zip(*duckdb.sql(f"FROM '{path}'").fetchall())) or [()] * len(declared)
        frame = polars.read_parquet(path)
        for place, (name, of) in enumerate(declared.items()):
            want = as_column([row[name] for row in rows], of["type"])
            self.assertEqual(as_read(table[name].to_pylist(), of["type"]), want, name)
            self.assertEqual(as_read(columns[place], of["type"]), want, name)
            self.assertEqual(as_read(frame[name].to_list(), of["type"]), want, name)

    def test_files_have_the_rows_of_jsonl_in_every_reader(self):
        tables = [["export", "--table", name] for name in heapdex.TABLES]
        for words in tables + [["histogram", "--retained"], ["threads", "--stacks"], ["object", "thread:main"],
                               ["suspects"], ["export", "--table", "objects", "--reachable", "garbage"],
                               ["histogram", "--where", "objects < 0"]]:
            rows = command(words[0], self.dump, *words[1:])
            for encoding in ("delta", "plain"):
                with self.subTest(words=words, encoding=encoding):
                    path = os.path.join(self.folder, "of.parquet")
                    subprocess.run([TOOL, words[0], self.dump, *words[1:], "--format", "parquet", "--encoding",
                                    encoding, "-o", path], check=True)
                    self.check(path, rows)

    def test_statistics_and_units_are_there_for_who_skips_by_them(self):
        path = os.path.join(self.folder, "objects.parquet")
        subprocess.run([TOOL, "export", self.dump, "--table", "objects", "--format", "parquet", "-o", path], check=True)
        meta = pyarrow.parquet.ParquetFile(path).metadata
        rows = command("export", self.dump, "--table", "objects")
        chunks = [meta.row_group(0).column(i) for i in range(meta.num_columns)]
        statistics = {chunk.path_in_schema: chunk.statistics for chunk in chunks}
        for name in ("id", "shallow", "retained"):
            values = [row[name] for row in rows if row[name] is not None]
            self.assertEqual((statistics[name].min, statistics[name].max), (min(values), max(values)))
        self.assertEqual(statistics["length"].null_count, sum(row["length"] is None for row in rows))
        self.assertEqual(json.loads(meta.metadata[b"heapdex.columns"])["shallow"]["unit"], "bytes")
        self.assertEqual(meta.metadata[b"heapdex.table"], b"objects")

    def test_a_folder_of_tables_is_the_same_again(self):
        folders = [os.path.join(self.folder, name) for name in ("one", "two")]
        for folder in folders:
            subprocess.run([TOOL, "export", self.dump, "--table", "objects,classes,roots", "--format", "parquet",
                            "-o", folder], check=True)
        names = ["classes.parquet", "objects.parquet", "roots.parquet"]
        self.assertEqual(sorted(os.listdir(folders[0])), names)
        self.assertEqual(filecmp.cmpfiles(*folders, names, shallow=False), (names, [], []))


class Sqlite(Case):
    def written(self, *words):
        path = os.path.join(self.folder, "of.db")
        done = subprocess.run([TOOL, "export", self.dump, *words, "--format", "sqlite", "-o", path],
                              capture_output=True, text=True)
        if "built without SQLite" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        return sqlite3.connect(path)

    def test_a_file_has_the_tables_of_csv(self):
        def value(text, kind):
            if text == "" and kind != "text":
                return None
            if kind in ("text", "list", "object", "any"):
                return text
            return signed(text) if kind == "address" else float(text) if kind == "real" else \
                text == "true" if kind == "bool" else int(text)

        names = ["objects", "references", "classes", "roots", "threads", "packages"]
        database = self.written("--table", ",".join(names))
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual([row[0] for row in database.execute("SELECT name FROM sqlite_master")], names)
        for name in names:
            with self.subTest(name):
                of = kinds(pyarrow.table(self.heap.table(name)).schema)
                out = subprocess.run([TOOL, "export", self.dump, "--table", name, "--raw"], check=True,
                                     capture_output=True, text=True)
                want = list(csv.reader(out.stdout.splitlines()))
                rows = database.execute(f'SELECT * FROM "{name}"')
                self.assertEqual([column[0] for column in rows.description], want[0])
                got = [tuple("" if v is None and k == "text" else v for v, k in zip(row, of.values())) for row in rows]
                self.assertEqual(got, [tuple(value(v, k) for v, k in zip(row, of.values())) for row in want[1:]])
        database.close()

    def test_columns_and_rows_are_chosen(self):
        database = self.written("--table", "objects", "--columns", "id,retained", "--where", "retained > 10K")
        want = command("export", self.dump, "--table", "objects", "--columns", "id,retained", "--where",
                       "retained > 10K")
        self.assertEqual(database.execute("SELECT id, retained FROM objects").fetchall(),
                         [(row["id"], row["retained"]) for row in want])
        database.close()


if __name__ == "__main__":
    unittest.main()
