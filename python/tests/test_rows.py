"""Rows without other packages: len, columns, head, iteration, tables in notebooks, progress, reports."""

import gzip
import json
import os
import pty
import signal
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

import heapdex
from heapdex import _progress, _shown
from tests.test_heapdex import TOOL, TREE, Case, upper_half

BUILD = """
import sys, heapdex
with heapdex.open(sys.argv[1], progress=True) as heap:
    try:
        print("begun", flush=True)
        heap.classes.to_arrow()
    except KeyboardInterrupt:
        try:
            heapdex.open(sys.argv[1], build=False).classes.to_arrow()
            print("complete")
        except heapdex.Error:
            print("interrupted")
    print(heap.objects["id"].to_arrow().num_rows)
"""


def hostile(path):
    """The dump of upper_half with a class whose name is markup and turns text around."""
    name = "java/lang/<script>\u202eObject".encode()
    with open(upper_half(path), "rb") as file:
        data = file.read()
    old = struct.pack(">BII", 1, 0, 24) + struct.pack(">Q", 1) + b"java/lang/Object"
    assert old in data
    with open(path, "wb") as out:
        out.write(data.replace(old, struct.pack(">BII", 1, 0, 8 + len(name)) + struct.pack(">Q", 1) + name))
    return path


class Shown(Case):
    def test_a_hostile_name_is_visible_text(self):
        with heapdex.open(hostile(os.path.join(self.folder, "hostile.hprof"))) as heap:
            for rows in (heap.classes, heap.sql("SELECT name FROM classes")):
                html = rows._repr_html_()
                self.assertIn("&lt;script&gt;\\u202eObject", html)
                self.assertNotIn("<script>", html)
                self.assertNotIn("\u202e", html)

    def test_cells_are_those_of_the_command(self):
        self.assertEqual([_shown.size(n) for n in (0, 1023, 1024, 1 << 20)], ["0 B", "1023 B", "1.0 KB", "1.0 MB"])
        self.assertEqual(_shown.cell(-16, _shown.Column("a", "address", "", "")), "0xfffffffffffffff0")

    def test_rows_that_are_not_shown_are_counted(self):
        rows = self.heap.objects
        self.assertIn(f"{len(rows) - 50:,} more rows follow", rows._repr_html_())
        self.assertIn("More rows follow", self.heap.sql("SELECT id FROM objects")._repr_html_())
        self.assertNotIn("follow", self.heap.histogram(limit=3)._repr_html_())

    def test_an_answer_without_a_call_shows_its_options(self):
        html = self.heap.histogram._repr_html_()
        self.assertIn("heap.histogram(...)", html)
        self.assertIn("\n    by: ", html)

    def test_commands_do_not_run_when_they_are_shown_or_counted(self):
        rows = self.heap.remove()
        self.heap.objects.head(1).to_arrow()
        self.assertIsNone(rows._repr_html_())
        self.assertTrue(rows)
        with self.assertRaises(TypeError):
            len(rows)
        self.assertTrue(os.path.isdir(self.dump + ".hdx"))


class Read(Case):
    def test_every_answer_and_table_has_its_length_and_columns(self):
        answers = [self.heap.table(name) for name in heapdex.TABLES]
        for name, declared in heapdex._answers.items():
            if declared.flags & heapdex._native.HDX_ANSWER_HEAP:
                answers.append(self.heap.answer(name)())
        answers += [self.heap.objects.limit(3), self.heap.histogram(limit=7), self.heap.sql("EXPLAIN SELECT 1")]
        answers.append(self.heap.dominators(fold="similar"))  # its rows stand for several objects
        read = 0
        for rows in answers:
            with self.subTest(repr(rows)):
                try:
                    table = rows.to_arrow()
                except heapdex.Error as refused:
                    self.assertEqual(refused.code, "usage")  # it needs an object, or a second dump
                    continue
                read += 1
                self.assertEqual(len(rows), table.num_rows)
                self.assertEqual(bool(rows), table.num_rows > 0)
                self.assertEqual(rows.columns, table.column_names)
                self.assertEqual(sum(1 for _ in rows), table.num_rows)
        self.assertGreater(read, 30)

    def test_head_selects_the_first_rows(self):
        for rows in (self.heap.classes, self.heap.histogram(), self.heap.sql("SELECT name FROM classes -- all")):
            # not the tables themselves: the dictionary of a column has the texts of its own rows only
            head, whole = rows.head(3).to_arrow(), rows.to_arrow()
            self.assertEqual(head.schema, whole.schema)
            self.assertEqual(head.to_pylist(), whole.slice(0, 3).to_pylist())
            self.assertEqual(len(rows.head(3)), 3)
        self.assertEqual(len(self.heap.histogram(limit=2).head(9)), 2)
        with self.assertRaises(heapdex.Error):
            self.heap.classes.head(0)

    def test_head_selects_the_first_rows_of_any_statement(self):
        select = "SELECT name, ';' AS semicolon FROM classes"
        endings = (";", " -- all; of them", "; -- all; of them", "; /* all; */ ;", " /* all")
        for text in [*(select + ending for ending in endings), "VALUES (1), (2), (3)"]:
            with self.subTest(text):
                rows = self.heap.sql(text)
                self.assertEqual(rows.head(2).to_arrow(), rows.to_arrow().slice(0, 2).combine_chunks())
        plan = self.heap.sql("EXPLAIN QUERY PLAN SELECT 1 UNION SELECT 2")
        self.assertEqual(list(plan.head(2)), list(plan)[:2])
        self.assertEqual(len(plan.head(1)), 1)
        self.assertEqual(len(self.heap.sql("SELECT 1").head(1 << 70)), 1)

    def test_a_limit_knows_what_follows_and_where_the_next_page_begins(self):
        whole = list(self.heap.dominators())
        first = self.heap.dominators(limit=40)
        cut = first.cut
        self.assertEqual((cut["rows"], cut["objects"]), (len(whole) - 40, len(whole) - 40))
        self.assertEqual(cut["retained"], sum(row["retained"] for row in whole[40:]))
        self.assertEqual(list(first.after(cut["cursor"])), whole[40:80])
        rest = first.after(cut["cursor"]).limit(len(whole))
        self.assertEqual((list(rest), len(rest), rest.cut), (whole[40:], len(whole) - 40, None))
        self.assertIsNone(self.heap.dominators().cut)
        self.assertIsNone(self.heap.roots(limit=1).cut["retained"])
        with self.assertRaises(heapdex.Error) as refused:
            list(self.heap.histogram(limit=40).after(cut["cursor"]))
        self.assertEqual(refused.exception.code, "usage")

    def test_addresses_are_not_negative(self):
        self.assertGreater(min(row["address"] for row in self.heap.objects["address"] if row["address"]), 1 << 31)
        with heapdex.open(upper_half(os.path.join(self.folder, "half.hprof"))) as heap:
            top = (1 << 64) - 16
            self.assertIn(top, [row["address"] for row in heap.objects])
            self.assertEqual([row["address"] for row in heap.object(top)], [top])

    def test_nothing_is_used_up(self):
        rows = self.heap.classes["name"]
        self.assertEqual(list(rows), list(rows))


class Reports(Case):
    def test_are_written_in_three_formats(self):
        for format, begin in (("html", "<!DOCTYPE html>"), ("md", "#"), ("json", "{")):
            path = os.path.join(self.folder, f"report.{format}")
            Path(path).write_text("older")
            report = self.heap.report(path, format=format, quick=True)
            self.assertTrue(report.lower().startswith(begin.lower()), report[:40])
            self.assertEqual(Path(path).read_text(encoding="utf-8"), str(report))
            self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".part")], [])
            if format == "json":
                json.loads(report)
            self.assertNotIn("<h1", report._repr_html_())

    def test_replace_no_dump(self):
        report = self.heap.report(quick=True)
        for write in (report.write, self.heap.report):
            with self.assertRaises(heapdex.Error) as e:
                write(self.dump)
            self.assertEqual(e.exception.code, "usage")


class Treemaps(Case):
    def test_are_those_of_the_command(self):
        options = (
            ({}, []),
            ({"by": "package", "reverse": True}, ["--by", "package", "--reverse"]),
            ({"depth": 2, "least": "1K", "chains": "split"}, ["--depth", "2", "--least", "1K", "--chains", "split"]),
        )
        for given, words in options:
            with self.subTest(words):
                command = [TOOL, "dominators", self.dump, "--merge", "--format", "svg", "--quiet", *words]
                want = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
                self.assertGreater(want.count("<rect"), 8)
                self.assertEqual(str(self.heap.treemap(**given)), want)

    def test_show_the_tree_below_an_object(self):
        top = next(iter(self.heap.dominators(limit=1)))["address"]
        self.assertIn("HashMap", self.heap.treemap(top))
        self.assertEqual(self.heap.treemap(top), self.heap.treemap(object=heapdex.address(top)))
        self.assertNotEqual(self.heap.treemap(top), self.heap.treemap())

    def test_are_pictures_in_a_notebook_and_files(self):
        treemap = self.heap.treemap()
        self.assertTrue(treemap._repr_svg_().startswith("<svg "), treemap[:40])
        self.assertIn(treemap._repr_svg_(), treemap._repr_html_())
        path = os.path.join(self.folder, "map.svg")
        treemap.write(path)
        self.assertEqual(Path(path).read_text(encoding="utf-8"), str(treemap))
        with self.assertRaises(heapdex.Error) as e:
            treemap.write(self.dump)
        self.assertEqual(e.exception.code, "usage")

    def test_need_all_rows(self):
        for option in ({"where": "retained > 1M"}, {"limit": 3}, {"sort": "class"}, {"columns": "class"}):
            with self.subTest(option), self.assertRaises(heapdex.Error) as e:
                self.heap.treemap(**option)
            self.assertEqual(e.exception.code, "usage")

    def test_show_hostile_names_as_text(self):
        name = b"bookshop/Bookshop$SessionCache"
        other = "bookshop/<script>\u202eSessions".encode().ljust(len(name), b"_")
        dump = os.path.join(self.folder, "<script>.hprof")
        with gzip.open(self.dump) as file:
            Path(dump).write_bytes(file.read().replace(name, other))
        with heapdex.open(dump) as heap:
            html = heap.treemap()._repr_html_()
        self.assertIn("<title>bookshop.&#60;script&#62;\\xe2\\x80\\xaeSessions", html)
        self.assertNotIn("<script>", html)
        self.assertNotIn("\u202e", html)


class Watched(Case):
    def test_a_function_receives_reports_and_may_end_the_call(self):
        heard = []

        def stop(report):
            heard.append(report)
            raise ValueError("enough")

        dump = shutil.copy(self.dump, os.path.join(self.folder, "heard.hprof.gz"))
        with mock.patch.multiple(_progress, DELAY=0, INTERVAL=0.001), heapdex.open(dump, progress=stop) as heap:
            with self.assertRaisesRegex(ValueError, "enough"):
                heap.classes.to_arrow()
        self.assertEqual(len(heard), 1)
        self.assertTrue(heard[0].step and 1 <= heard[0].number <= heard[0].steps and 0 <= heard[0].share <= 1)

    def on_a_terminal(self, name, interrupt):
        """Returns what a program writes that builds an index, and what it shows on a terminal meanwhile."""
        dump = shutil.copy(self.dump, os.path.join(self.folder, name))
        code = "import heapdex._progress as p; p.DELAY, p.INTERVAL = 0, 0.001\n" + BUILD
        master, slave = pty.openpty()
        child = subprocess.Popen([sys.executable, "-c", code, dump], stdout=subprocess.PIPE, stderr=slave, text=True)
        os.close(slave)
        drawn = b""
        with child, open(master, "rb", buffering=0) as terminal:
            try:
                self.assertEqual(child.stdout.readline(), "begun\n")
                if interrupt:
                    drawn += terminal.read(1)  # the build reports
                    child.send_signal(signal.SIGINT)
                try:
                    while piece := terminal.read(4096):
                        drawn += piece
                except OSError:  # the program has ended, and with it the terminal
                    pass
                return child.stdout.read(), drawn.decode()
            finally:
                child.kill()

    def test_a_terminal_shows_a_bar_and_erases_it(self):
        out, drawn = self.on_a_terminal("bar.hprof.gz", interrupt=False)
        self.assertEqual(out, "23875\n")
        self.assertRegex(drawn, r"\r.* \(\d+ of \d+\) \[[#.]{30}\] ")
        self.assertTrue(drawn.endswith("\r\x1b[K"), drawn[-40:])

    def test_ctrl_c_ends_the_build_and_the_heap_remains_usable(self):
        seen = []
        while "interrupted\n23875\n" not in seen and len(seen) < 5:  # a build may end just before the signal
            seen.append(self.on_a_terminal(f"ctrl{len(seen)}.hprof.gz", interrupt=True)[0])
            self.assertTrue(seen[-1].endswith("23875\n"), seen)
        self.assertIn("interrupted\n23875\n", seen)
