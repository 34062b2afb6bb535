"""Tables of dumps that fail: nothing but Python and the library is needed. Run by ctest (python.fleet)."""

import csv
import gzip
import os
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

import heapdex
from heapdex import _fleet

SHOP = Path(__file__).resolve().parents[2] / "examples/bookshop.hprof.gz"


def fill(path, name, out, format):
    """What a task of Spark does for one dump."""
    to = _fleet.options(out, name, path, (("application", "shop"),), format=format)
    try:
        with heapdex.open(path) as heap:
            heap._graph()
            _fleet.write(heap, to)
    except heapdex.Error as why:
        _fleet.write_failure(to, why)
        return why.code
    return "done"


class Failures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(subprocess.run, ["rm", "-rf", self.folder], check=False)
        whole = gzip.decompress(SHOP.read_bytes())
        self.dumps = {
            "first": whole,
            "text": b"no dump\n",
            "empty": b"",
            "head": whole[:20],
            "cut": whole[:3_000_000],
            "last": whole,
        }
        for name, content in self.dumps.items():
            Path(self.folder, name + ".hprof").write_bytes(content)

    def fill_all(self, format):
        out = os.path.join(self.folder, "out")
        states = {}
        for name in [*self.dumps, "nowhere"]:
            states[name] = fill(os.path.join(self.folder, name + ".hprof"), name, out, format)
        return out, states

    def rows(self, out, name, table):
        path = os.path.join(out, "tables", f"dump_id={name}", table + ".csv")
        with open(path, newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def test_a_dump_that_fails_has_its_rows_and_those_after_it_are_done(self):
        out, states = self.fill_all("csv")
        want = dict.fromkeys(states, "bad_dump")
        want.update(first="done", cut="done", last="done")
        self.assertEqual(states, want)
        for name, code in states.items():
            with self.subTest(name):
                (dump,) = self.rows(out, name, "dump")
                self.assertEqual(dump["status"], "done" if code == "done" else "failed")
                self.assertEqual((dump["dump_id"], dump["application"]), (name, "shop"))
                problems = self.rows(out, name, "problems")
                if code != "done":
                    self.assertEqual([row["code"] for row in problems], [code])
                    self.assertTrue(problems[0]["message"])
                    self.assertEqual(self.rows(out, name, "classes"), [])
        self.assertEqual([row["code"] for row in self.rows(out, "cut", "problems")][:1], ["damage"])
        self.assertEqual(len(self.rows(out, "first", "classes")), len(self.rows(out, "last", "classes")))

    def test_one_file_of_SQLite_has_them_too(self):
        try:
            out, states = self.fill_all("sqlite")
        except heapdex.Error as why:
            self.assertIn("SQLite", why.message)
            self.skipTest("this library was built without SQLite")
        with sqlite3.connect(os.path.join(out, "tables.sqlite")) as file:
            found = dict(file.execute("SELECT dump_id, code FROM problems WHERE code <> 'damage'"))
            status = dict(file.execute("SELECT dump_id, status FROM dump"))
        self.assertEqual(found, {name: code for name, code in states.items() if code != "done"})
        self.assertEqual(status, {n: "done" if code == "done" else "failed" for n, code in states.items()})

    def test_words_that_are_too_long_or_no_UTF_8_are_cut_and_written(self):
        for where, message in (("x" * 300, "m" * 300), ("\udcff.hprof", "caf\u00e9 " * 60), ("", "")):
            with self.subTest(where=where):
                why = heapdex.Error("limit", message, where, "h" * 300)
                _fleet.write_failure(_fleet.options(self.folder, "odd", "odd.hprof", format="csv"), why)
                (row,) = self.rows(self.folder, "odd", "problems")
                self.assertEqual(row["code"], "limit")

    def test_a_failure_of_a_code_that_this_package_does_not_know_is_written(self):
        _fleet.write_failure(_fleet.options(self.folder, "new", "x", format="csv"), heapdex.Error("new_code", "why"))
        self.assertEqual([row["message"] for row in self.rows(self.folder, "new", "problems")], ["why"])


if __name__ == "__main__":
    unittest.main()
