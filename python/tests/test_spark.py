"""The data source of Spark without a Spark that runs: options, dumps, filters, partitions, and rows that are read."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow
import pyspark
from pyspark.sql.datasource import (
    EqualTo,
    GreaterThan,
    In,
    IsNull,
    LessThan,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)

import heapdex
import heapdex.spark as spark
import heapdex.spark_fleet as spark_fleet
from heapdex import Error

TREE = Path(__file__).resolve().parents[2]
LIVE, ALL, STRINGS, REFERENCES = 23875, 24100, 3649, 67461  # of the example


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.dump = shutil.copy(TREE / "examples/bookshop.hprof.gz", os.path.join(cls.folder, "shop.hprof.gz"))
        cls.id = spark.id_of(cls.dump)

    def reader(self, *paths, schema=None, filters=(), **options):
        """What Spark makes of a load; as it would, it pickles the reader for other processes."""
        of = {name.lower(): value for name, value in options.items()}
        of["path" if not paths else "paths"] = self.dump if not paths else f"[{', '.join(repr(p) for p in paths)}]"
        of = {name: value.replace("'", '"') if name == "paths" else value for name, value in of.items()}
        source = spark.FilteringHeapDataSource(of)
        reader = source.reader(schema or source.schema())
        if filters:
            self.assertEqual(list(reader.pushFilters(list(filters))), list(filters), "Spark decides them still")
        partitions = reader.partitions()
        pickle = pyspark.serializers.CPickleSerializer()
        return pickle.loads(pickle.dumps(reader)), [pickle.loads(pickle.dumps(one)) for one in partitions]

    def rows(self, *paths, **options):
        reader, parts = self.reader(*paths, **options)
        batches = [batch for part in parts for batch in reader.read(part)]
        return pyarrow.Table.from_batches(batches) if batches else None


class Loads(Case):
    def test_a_table_has_the_dump_then_its_columns(self):
        got, want = self.rows(table="classes"), heapdex.open(self.dump).classes.to_arrow()
        self.assertEqual(got.column_names, ["dump_id", *want.column_names])
        self.assertEqual(set(got["dump_id"].to_pylist()), {self.id})
        for name in want.column_names:
            self.assertEqual(got[name].to_pylist(), want[name].to_pylist(), name)

    def test_a_dictionary_that_grows_gives_the_texts_of_each_batch(self):
        texts, schema = ["a", "b", None, "c"], pyarrow.schema([("t", pyarrow.string()), ("d", pyarrow.string())])
        batches = []
        for size in (1, 2, 2, 4):
            places = pyarrow.array(list(range(size)), pyarrow.int32())
            column = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(texts[:size], pyarrow.large_string()))
            batches.append(pyarrow.record_batch([column], ["t"]))
        got = [batch.to_pydict() for batch in spark._batches(batches, schema, {"d": "x"})]
        self.assertEqual(got, [{"t": texts[:size], "d": ["x"] * size} for size in (1, 2, 2, 4)])

    def test_a_column_that_the_dump_has_not_is_null(self):
        from pyspark.sql.types import StringType, StructType

        got = self.rows(table="roots", schema=StructType().add("type", StringType()).add("heap", StringType()))
        self.assertEqual((got["heap"].null_count, got["type"].null_count), (got.num_rows, 0))
        got = self.rows(table="roots", columns="heap,type", filters=[EqualTo(("heap",), "app")])
        self.assertEqual(got.column_names, ["dump_id", "heap", "type"])
        self.assertEqual((got["heap"].null_count, got["type"].null_count), (got.num_rows, 0))

    def test_an_answer_has_the_columns_of_its_options(self):
        with heapdex.open(self.dump) as heap:
            want = heap.histogram(by="package").where("objects > 10", "shallow > 1K").to_arrow()
        got = self.rows(answer="histogram", by="package", where="objects > 10\nshallow > 1K", dumpColumn="")
        self.assertEqual(got.to_pylist(), want.to_pylist())

    def test_texts_of_few_and_nulls_come_as_they_are(self):
        names = ["class", "kind", "heap", "retained", "dominator", "length"]
        with heapdex.open(self.dump) as heap:
            want = heap.answer("export")(table="objects", reachable="all", columns=names).to_arrow()
        got = self.rows(table="objects", reachable="all", columns=",".join(names))
        self.assertEqual(got.num_rows, ALL)
        for name in names:
            self.assertEqual(got[name].to_pylist(), want[name].to_pylist(), name)

    def test_ranges_of_ids_have_each_row_once_and_are_no_larger_than_told(self):
        reader, parts = self.reader(table="objects", rowsPerPartition="1000", columns="id")
        self.assertEqual([(part.part, part.parts) for part in parts], [(i, 25) for i in range(25)])
        found = [[one for batch in reader.read(part) for one in batch["id"].to_pylist()] for part in parts]
        with heapdex.open(self.dump) as heap:
            self.assertEqual(sum(found, []), heap.objects["id"].to_arrow()["id"].to_pylist())
        self.assertLessEqual(max(ids[-1] - ids[0] for ids in found), 1000)

    def test_references_are_read_in_ranges_too(self):
        reader, parts = self.reader(table="references", rowsPerPartition="9000")
        self.assertEqual(len(parts), 9)
        counts = [sum(len(batch) for batch in reader.read(part)) for part in parts]
        self.assertEqual(sum(counts), REFERENCES)
        self.assertGreater(min(counts), 1000)

    def test_the_first_rows_are_no_ranges(self):
        self.assertEqual(self.rows(table="objects", rowsPerPartition="1000", limit="7").num_rows, 7)
        self.assertEqual(len(self.reader(table="objects", rowsPerPartition="1000", limit="7")[1]), 1)

    def test_without_an_index_the_ranges_are_guessed_and_no_row_is_lost(self):
        fresh = shutil.copy(self.dump, os.path.join(self.folder, "fresh.hprof.gz"))
        reader, parts = self.reader(fresh, table="objects", rowsPerPartition="4000")
        self.assertFalse(os.path.exists(fresh + ".hdx"))
        self.assertGreater(len(parts), 3)
        self.assertEqual(sum(len(batch) for part in parts for batch in reader.read(part)), LIVE)

    def test_first_ranges_of_all_dumps_come_first(self):
        other = shutil.copy(self.dump, os.path.join(self.folder, "other.hprof.gz"))
        _, parts = self.reader(self.dump, other, table="objects", rowsPerPartition="20000")
        self.assertEqual([(part.dump.id[:-9], part.part) for part in parts[:4]],
                         [("shop", 0), ("other", 0), ("shop", 1), ("other", 1)])

    def test_the_schema_of_a_user_chooses_columns(self):
        from pyspark.sql.types import LongType, StringType, StructType

        schema = StructType().add("shallow", LongType()).add("dump_id", StringType())
        got = self.rows(schema=schema, table="objects")
        self.assertEqual((got.column_names, got.num_rows), (["shallow", "dump_id"], LIVE))
        with self.assertRaisesRegex(Error, "shalow.*shallow"):
            self.reader(schema=StructType().add("shalow", LongType()), table="objects")

    def test_a_statement_has_columns_of_its_own(self):
        self.rows(table="roots")  # there is an index now
        got = self.rows(sql="SELECT class, count(*) AS n, 0.5 AS half FROM objects GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
                        pathColumn="dump")
        self.assertEqual(got.to_pylist()[0], {"dump_id": self.id, "dump": self.dump, "class": "byte[]", "n": 4669,
                                              "half": 0.5})

    def test_a_statement_without_an_index_wants_a_schema(self):
        fresh = shutil.copy(self.dump, os.path.join(self.folder, "bare.hprof.gz"))
        with self.assertRaisesRegex(Error, "schema"):
            self.reader(fresh, sql="SELECT 1")

    def test_indexes_may_lie_in_a_folder_of_their_own(self):
        fresh = shutil.copy(self.dump, os.path.join(self.folder, "moved.hprof.gz"))
        self.assertGreater(self.rows(fresh, table="roots", indexDir=self.folder + "/indexes").num_rows, 10)
        self.assertTrue(os.path.isdir(self.folder + f"/indexes/{spark.id_of(fresh)}.hdx"))
        self.assertFalse(os.path.exists(fresh + ".hdx"))


class Filters(Case):
    def pushed(self, filter, **options):
        reader, parts = self.reader(filters=[filter], **{"table": "objects", **options})
        return reader.conditions, sum(len(batch) for part in parts for batch in reader.read(part))

    def test_leave_out_rows_before_they_are_made(self):
        strings = EqualTo(("class",), "java.lang.String")
        self.assertEqual(self.pushed(strings), (["class = 'java.lang.String'"], STRINGS))
        with heapdex.open(self.dump) as heap:
            shallow = heap.objects["shallow", "class"].to_arrow()
        big = sum(one > 100 for one in shallow["shallow"].to_pylist())
        names = shallow["class"].to_pylist()
        self.assertEqual(self.pushed(GreaterThan(("shallow",), 100)), (["shallow > 100"], big))
        for filter, want in (
            (StringStartsWith(("class",), "java.lang.S"), sum(n.startswith("java.lang.S") for n in names)),
            (StringEndsWith(("class",), "$Node[]"), sum(n.endswith("$Node[]") for n in names)),
            (StringContains(("class",), ".util."), sum(".util." in n for n in names)),
            (In(("class",), ["byte[]", "java.lang.String", "no.such"]),
             sum(n in ("byte[]", "java.lang.String") for n in names)),
            (Not(EqualTo(("class",), "byte[]")), sum(n != "byte[]" for n in names)),
        ):
            with self.subTest(filter):
                self.assertEqual(self.pushed(filter)[1], want)

    def test_what_they_might_get_wrong_is_left_to_spark(self):
        for filter in (
            EqualTo(("class",), "caf\u00e9"),  # may stand for other bytes
            EqualTo(("class",), "it's"),
            GreaterThan(("shallow",), -1),
            GreaterThan(("shallow",), 1.5),
            LessThan(("address",), 5),  # those from 2**63 on are negative in Spark
            IsNull(("length",)),  # what a stripped dump lacks is null in Spark, and not here
            Not(GreaterThan(("shallow",), 5)),
            EqualTo(("class", "name"), "x"),
        ):
            with self.subTest(filter):
                self.assertEqual(self.pushed(filter), ([], LIVE))

    def test_an_address_of_the_upper_half_is_found(self):
        self.assertEqual(self.pushed(EqualTo(("address",), -16)), (["address = 0xfffffffffffffff0"], 0))

    def test_nothing_is_left_out_of_the_first_rows(self):
        self.assertEqual(self.pushed(EqualTo(("class",), "byte[]"), limit="10"), ([], 10))

    def test_dumps_are_chosen_by_their_id(self):
        other = shutil.copy(self.dump, os.path.join(self.folder, "other.hprof.gz"))
        for filter, want in (
            (EqualTo(("dump_id",), spark.id_of(other)), ["other"]),
            (In(("dump_id",), [self.id, "x"]), ["shop"]),
            (StringStartsWith(("dump_id",), "sh"), ["shop"]),
            (EqualTo(("dump_id",), "none"), []),
            (Not(EqualTo(("dump_id",), self.id)), ["shop", "other"]),
        ):
            _, parts = self.reader(self.dump, other, filters=[filter], table="classes")
            self.assertEqual([part.dump.id[:-9] for part in parts], want, filter)

    def test_without_them_there_is_no_pushFilters(self):
        reader = spark.HeapDataSource({"path": self.dump, "table": "classes"}).reader(pyspark.sql.types.StructType())
        self.assertIs(type(reader).pushFilters, pyspark.sql.datasource.DataSourceReader.pushFilters)


class Dumps(Case):
    def names(self, *paths):
        return [dump.id[:-9] for dump in spark.find(paths)]

    def test_are_named_by_paths_patterns_folders_and_indexes(self):
        folder = os.path.join(self.folder, "many")
        os.makedirs(os.path.join(folder, "c.hprof.hdx"))
        for name in ("b.hprof", "a.hprof.gz", "note.txt", "b.bin"):
            Path(folder, name).touch()
        self.assertEqual(self.names(folder), ["a", "b"])
        self.assertEqual(self.names(folder + "/*"), ["a", "b.bin", "b", "note.txt"])
        self.assertEqual(self.names(folder + "/b.hprof", folder + "/*.hprof"), ["b"])
        self.assertEqual(self.names(folder + "/c.hprof.hdx"), ["c"])
        self.assertEqual(self.names("file://" + folder + "/b.hprof"), ["b"])

    def test_are_called_by_their_name_and_where_they_are(self):
        self.assertEqual(spark.id_of("/dumps/app.hprof.gz"), "app-f9361072")
        self.assertEqual(spark.id_of("/dumps/app.hprof"), "app-0bfb118f")
        self.assertEqual(spark.id_of("/dumps/app.hprof.hdx"), spark.id_of("/dumps/app.hprof"))
        self.assertEqual(spark.id_of("/dumps/.caf\u00e9 1.bin"), "d.caf___1.bin-b639d605")
        self.assertEqual(len(spark.id_of("/dumps/" + "x" * 200)), 73)

    def test_ids_of_manifests_name_files_as_the_command_batch_has_it(self):
        manifest = os.path.join(self.folder, "night.csv")
        ids = ["good.id-1", "../../up", "a/b", ".hidden", "x" * 121, "caf\u00e9"]
        Path(manifest).write_text("dump,dump_id\n" + "".join(f"d{n}.hprof,{one}\n" for n, one in enumerate(ids)))
        got = [dump.id for dump in spark_fleet.dumps_of([manifest])]
        tool = os.environ["HEAPDEX_TOOL"]
        subprocess.run([tool, "batch", manifest, "--out", f"{self.folder}/plan", "--plan", "--quiet"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        plan = json.loads(Path(self.folder, "plan", "plan.json").read_text())
        self.assertEqual(sorted(got), sorted(row["dump_id"] for row in plan["rows"]))
        self.assertEqual(got[0], "good.id-1")

    def test_that_are_not_there_are_said(self):
        for path, words in ((self.folder + "/no*.hprof", "no dump"), ("hdfs://h/a.hprof", "that every worker mounts")):
            with self.assertRaisesRegex(Error, words):
                spark.find([path])

    def test_a_bad_one_fails_or_is_left_out(self):
        bad = os.path.join(self.folder, "bad.hprof")
        Path(bad).write_text("no dump\n")
        with self.assertRaisesRegex(RuntimeError, "bad.hprof"):
            self.rows(bad, table="classes")
        self.assertIsNone(self.rows(bad, table="classes", mode="skip"))
        with self.assertRaisesRegex(RuntimeError, "nowhere.hprof: no such file"):
            self.rows(self.folder + "/nowhere.hprof", table="classes")


class Options(Case):
    def test_that_are_wrong_say_what_would_be_right(self):
        for options, words in (
            ({}, "table, answer and sql"),
            ({"table": "objects", "sql": "SELECT 1"}, "table, answer and sql"),
            ({"table": "objets"}, "objects"),
            ({"answer": "histogramm"}, "histogram"),
            ({"answer": "strip"}, "strip"),
            ({"table": "objects", "colums": "id"}, "columns"),
            ({"table": "objects", "columns": "id,klass"}, "class"),
            ({"answer": "histogram", "by": "colour"}, "by"),
            ({"table": "objects", "memory": "much"}, "512M"),
            ({"table": "objects", "mode": "drop"}, "fail or skip"),
            ({"table": "objects", "libraryPath": "/x.so"}, "executorEnv"),
        ):
            with self.subTest(options), self.assertRaisesRegex(Error, words):
                spark.HeapDataSource({**options, "path": self.dump}).schema()

    def test_sizes_are_as_the_command_takes_them(self):
        self.assertEqual([spark._size(text) for text in ("0", "512M", "4g", "1 KiB")], [0, 512 << 20, 4 << 30, 1024])
