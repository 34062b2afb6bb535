"""Heap dumps as a data source of Apache Spark 4.1 and later.

    import heapdex.spark
    heapdex.spark.register(spark)
    objects = spark.read.format("heapdex").option("table", "objects").load("dumps/*.hprof")
    classes = spark.read.format("heapdex").option("answer", "histogram").option("by", "package").load(["a", "b"])
    counts = spark.read.format("heapdex").option("sql", "SELECT count(*) AS n FROM objects").load("dumps")

The first column is the id of the dump. A dump without an index is indexed by the task that first reads it. README.md of
the package describes the options and the requirements of clusters.
"""

from __future__ import annotations

import atexit
import ctypes
import glob
import os
import re
import shutil
import socket
import sys
import tempfile
import time
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple

from pyspark.sql import datasource
from pyspark.sql.types import BooleanType, DataType, DoubleType, LongType, StringType, StructField, StructType

import heapdex
from heapdex import Error
from heapdex._native import (
    HDX_ANSWER_HEAP,
    HDX_COLUMN_LATE,
    HDX_COLUMN_OPTIONAL,
    HDX_TYPE_ADDRESS,
    HDX_TYPE_BOOL,
    HDX_TYPE_REAL,
    HDX_TYPE_SIGNED,
    HDX_TYPE_TEXT,
    HDX_TYPE_UNSIGNED,
)

__all__ = ["register", "ship", "index", "find", "Dump"]

_lib = heapdex._lib
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_BIG = {"objects": 1, "references": 3, "named_references": 4}  # approximate rows of these tables per object
_BYTES = 50  # approximate bytes of a dump per object; a smaller value gives more partitions than necessary
_WORD = (1 << 64) - 1
_PACKED = 4  # bytes of a dump per compressed byte


# ---- dumps ----


@dataclass(frozen=True)
class Dump:
    """A dump to be read, its id in rows, and its facts from a manifest."""

    path: str
    id: str
    known: Tuple[Tuple[str, str], ...] = ()


def _mix(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & _WORD
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB & _WORD
    return x ^ x >> 31


def _hash(text: bytes) -> int:
    """Returns hdx_hash_bytes with the seed of dump ids."""
    h = _mix(0x6261746368 ^ len(text))
    whole = len(text) // 8 * 8
    for at in range(0, whole, 8):
        h = _mix(h ^ int.from_bytes(text[at : at + 8], "little"))
    return _mix(h ^ int.from_bytes(text[whole:], "little"))


def _id_from(name: str, where: str) -> str:
    name = re.sub("[^A-Za-z0-9._-]", "_", os.fsencode(name).decode("latin-1"))
    name = name if re.match("[A-Za-z0-9]", name) else "d" + name
    return f"{name:.64}-{_hash(os.fsencode(where)) >> 32:08x}"


def id_of(path: str) -> str:
    """Returns the id of a dump: its name and a hash of its path. The command batch uses the same ids."""
    folder, name = os.path.split(os.path.abspath(path).removesuffix(".hdx"))
    return _id_from(name.removesuffix(".gz").removesuffix(".hprof"), os.path.join(os.path.realpath(folder), name))


def checked_id(name: str, dump: str) -> str:
    """Returns a dump_id of a manifest; one that is no valid file name is replaced, as by the command batch."""
    return name if re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,119}", name) else _id_from(name, dump)


def _is_dump(path: str) -> bool:
    """Returns whether the path is a file or the folder of an index."""
    return os.path.isfile(path) or path.endswith(".hdx")


def _of_folder(folder: str) -> List[str]:
    return sorted(one for one in glob.glob(os.path.join(glob.escape(folder), "*.hprof*")) if os.path.isfile(one))


def find(paths: Iterable[str]) -> List[Dump]:
    """Returns the dumps named by paths, patterns and folders, in order and without duplicates."""
    found: Dict[str, None] = {}
    for path in paths:
        path = path[len("file:") :].replace("///", "/", 1) if path.startswith("file:") else path
        if re.match(r"[a-z][a-z0-9+.-]+://", path, re.I):
            raise Error("usage", "dumps must be on a file system that every worker mounts", path)
        path = os.path.abspath(path)
        if os.path.isdir(path) and not _is_dump(path):
            these = _of_folder(path)
            if not these:
                raise Error("not_found", "no dump (*.hprof, *.hprof.gz) in this folder", path)
        elif os.path.lexists(path) or not glob.has_magic(path):
            these = [path]
        else:
            these = sorted(one for one in glob.glob(path, recursive=True) if _is_dump(one) and not one.endswith(".hdx"))
            these = these or sorted(one for one in glob.glob(path) if one.endswith(".hdx"))
            if not these:
                raise Error("not_found", "no dump matches this name", path)
        found.update(dict.fromkeys(these))
    return [Dump(path, id_of(path)) for path in found]


# ---- options ----


@dataclass(frozen=True)
class _Column:
    """A declared column: its name, its hdx_type, whether it is read from the dump after filtering, and whether some
    dumps lack it."""

    name: str
    kind: int
    late: bool
    optional: bool


@dataclass(frozen=True)
class _Asked:
    """The checked options of a load."""

    table: str = ""
    answer: str = ""
    sql: str = ""
    arguments: Tuple[Tuple[str, Optional[bytes]], ...] = ()
    columns: Tuple[_Column, ...] = ()  # empty for SQL
    index_dir: str = ""
    memory: int = 0
    threads: int = 0
    rows: int = 2_000_000
    skip: bool = False
    dump_column: str = "dump_id"
    path_column: str = ""

    def open(self, dump: Dump, **options: Any) -> heapdex.Heap:
        where = os.path.join(self.index_dir, dump.id + ".hdx") if self.index_dir else None
        return heapdex.open(dump.path, index_dir=where, threads=self.threads, memory=self.memory, **options)

    def question(self) -> Tuple[str, List[Tuple[str, Optional[bytes]]]]:
        """Returns name and arguments for the library."""
        if self.table:
            return "export", [("table", self.table.encode()), *self.arguments]
        return self.answer, list(self.arguments)

    @property
    def in_ranges(self) -> bool:
        return self.table in _BIG and not {"limit", "sort"} & {name for name, _ in self.arguments}

    @property
    def decides(self) -> bool:
        """Whether heapdex may filter rows: not with a limit, which would apply afterwards, and not for a statement."""
        return not self.sql and "limit" not in {name for name, _ in self.arguments}


def _size(text: str) -> int:
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)(i?b)?", text.strip(), re.I)
    if match is None:
        raise Error("usage", f"memory must be a size such as 512M or 4G, not {text!r}")
    return int(match[1]) << 10 * " kmgt".index((match[2] or " ").lower())


def _number(name: str, text: str) -> int:
    if not text.strip().isdigit():
        raise Error("usage", f"{name} must be a number, not {text!r}")
    return int(text)


def _parameters(answer: heapdex._Answer) -> Dict[str, str]:
    """Returns a map from the names of options in Spark (lower case, no hyphens) to those in the library."""
    count = ctypes.c_size_t()
    common = _lib.hdx_answer_common(ctypes.byref(count))
    own = answer.parameters[: answer.parameter_count] if answer.parameter_count else []
    names = [heapdex._text(p.name) for p in [*own, *common[: count.value]]]
    return {name.replace("-", ""): name for name in names if name != "document"}


def _near(kind: str, name: str, of: Iterable[str]) -> Error:
    import difflib

    of = list(of)
    near = difflib.get_close_matches(name, of, 1)
    return Error("usage", f"unknown {kind} {name!r}", hint=f"{near[0]}?" if near else "use one of " + ", ".join(of))


def _declared(answer: heapdex._Answer, arguments: Sequence[Any]) -> Tuple[_Column, ...]:
    """Returns the columns of an answer or a table with these arguments."""
    given = (heapdex._Argument * max(len(arguments), 1))(*arguments)  # type: ignore[misc]
    err = heapdex._Error()
    heapdex._raise(_lib.hdx_answer_check(ctypes.byref(answer), given, len(arguments), None, ctypes.byref(err)), err)
    form = _lib.hdx_answer_form(ctypes.byref(answer), given, len(arguments)).contents
    all_of_them = form.columns[: form.column_count] if form.column_count else []
    columns = [
        _Column(heapdex._text(c.name), c.type, bool(c.flags & HDX_COLUMN_LATE), bool(c.flags & HDX_COLUMN_OPTIONAL))
        for c in all_of_them
    ]
    chosen = next((heapdex._text(value) for name, value in arguments if name == b"columns"), None)
    if chosen is None:
        return tuple(columns)
    by_name = {column.name: column for column in columns}
    names = [name.strip() for name in chosen.split(",")]
    for name in names:
        if name not in by_name:
            raise _near("column", name, by_name)
    return tuple(by_name[name] for name in names)


def _options(options: Mapping[str, str]) -> _Asked:
    """Checks the options of a load, except its paths. Names are in lower case."""
    left = {name.lower().replace("_", "").replace("-", ""): value for name, value in options.items()}
    left = {name: value for name, value in left.items() if name not in ("path", "paths")}
    what = [name for name in ("table", "answer", "sql") if name in left]
    if len(what) != 1:
        raise Error("usage", "one of the options table, answer and sql is required", hint='option("table", "objects")')
    name = left.pop(what[0])
    asked = _Asked(
        index_dir=os.path.abspath(left.pop("indexdir")) if "indexdir" in left else "",
        memory=_size(left.pop("memory", "0")),
        threads=_number("threads", left.pop("threads", "0")),
        rows=_number("rowsPerPartition", left.pop("rowsperpartition", "2000000")),
        skip=_mode(left.pop("mode", "fail")),
        dump_column=left.pop("dumpcolumn", "dump_id"),
        path_column=left.pop("pathcolumn", ""),
    )
    if what[0] == "sql":
        known: Dict[str, str] = {}
        asked = replace(asked, sql=name)
    elif name in heapdex.TABLES and what[0] == "table":
        answer, known = heapdex._tables[name], _parameters(heapdex._tables[name])
        asked = replace(asked, table=name)
    else:
        answers = [one for one in heapdex.ANSWERS if heapdex._answers[one].flags & HDX_ANSWER_HEAP and one != "export"]
        name = name.replace("_", "-")
        if name not in answers:
            raise _near(what[0], name, [*heapdex.TABLES, *answers] if what[0] == "table" else answers)
        answer, known = heapdex._answers[name], _parameters(heapdex._answers[name])
        asked = replace(asked, answer=name)
    arguments: List[Tuple[str, Optional[bytes]]] = []
    for option, value in left.items():
        if option == "librarypath":
            raise Error(
                "usage",
                "the library path of workers must be set before they start",
                hint="set spark.executorEnv.HEAPDEX_LIBRARY, or call heapdex.spark.ship(spark)",
            )
        if option not in known:
            raise _near(
                "option",
                option,
                [*known, "indexDir", "memory", "threads", "rowsPerPartition", "mode", "dumpColumn", "pathColumn"],
            )
        arguments += [(known[option], one.strip().encode()) for one in value.splitlines() if one.strip()]
    if what[0] == "sql":
        return asked
    return replace(asked, arguments=tuple(arguments), columns=_declared(answer, _encoded(arguments)))


def _encoded(arguments: Iterable[Tuple[str, Optional[bytes]]]) -> List[Any]:
    return [(name.encode(), value) for name, value in arguments]


def _mode(text: str) -> bool:
    if text.lower() not in ("fail", "skip"):
        raise Error("usage", f"mode must be fail or skip, not {text!r}")
    return text.lower() == "skip"


def _paths(options: Mapping[str, str]) -> List[str]:
    import json

    paths = json.loads(options["paths"]) if "paths" in options else []
    if "path" in options:
        paths.append(options["path"])
    if not paths:
        raise Error("usage", "no dump is named", hint='load("dumps/*.hprof")')
    return paths


# ---- filters ----

_SIGNS = {
    "EqualTo": "=",
    "EqualNullSafe": "=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}


def _plain(value: Any) -> bool:
    """Returns whether heapdex can compare a text. Other texts may represent bytes of a dump that are not UTF-8."""
    return isinstance(value, str) and value.isascii() and value.isprintable() and value != "" and "'" not in value


def _of_text(column: _Column, kind: str, value: Any) -> List[str]:
    if kind == "In":
        if not value or not all(_plain(one) for one in value) or len(value) > 100:
            return []
        if len(value) == 1:
            return [f"{column.name} = '{value[0]}'"]
        return [f"{column.name} ~ ^(?:{'|'.join(_escaped(one) for one in value)})$"]
    if not _plain(value):
        return []
    if kind in ("EqualTo", "EqualNullSafe"):
        return [f"{column.name} = '{value}'"]
    if kind == "Not":
        return [f"{column.name} != '{value}'"]
    pattern = {"StringStartsWith": "^{}", "StringEndsWith": "{}$", "StringContains": "{}"}.get(kind)
    return [f"{column.name} ~ {pattern.format(_escaped(value))}"] if pattern else []


def _escaped(text: str) -> str:
    return re.sub(r"([^A-Za-z0-9_])", r"\\\1", text)


def _of_number(column: _Column, kind: str, value: Any) -> List[str]:
    if kind == "In":
        whole = [one for one in value if isinstance(one, int) and 0 <= one < 1 << 63]
        if not whole or len(whole) != len(value):
            return []
        return [f"{column.name} >= {min(whole)}", f"{column.name} <= {max(whole)}"]
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != int(value):
        return []
    value = int(value)
    if column.kind == HDX_TYPE_ADDRESS and kind in ("EqualTo", "EqualNullSafe"):
        return [f"{column.name} = {heapdex.address(value)}"]
    # heapdex compares addresses as unsigned: those that are negative in Spark are above all others.
    if not 0 <= value < 1 << 63 or (column.kind == HDX_TYPE_ADDRESS and kind in ("LessThan", "LessThanOrEqual")):
        return []
    sign = "!=" if kind == "Not" else _SIGNS.get(kind)
    return [f"{column.name} {sign} {value}"] if sign else []


def _conditions(filter: Any, columns: Mapping[str, _Column]) -> List[str]:
    """Returns conditions of heapdex that hold for all rows that satisfy this Spark filter, and perhaps for others."""
    kind = type(filter).__name__
    if kind == "Not":
        filter = filter.child
        if type(filter).__name__ != "EqualTo":
            return []
    column = columns.get(filter.attribute[0]) if len(filter.attribute) == 1 else None
    value = getattr(filter, "value", None)
    if column is None or column.late or column.optional or value is None:
        return []
    if column.kind == HDX_TYPE_TEXT:
        return _of_text(column, kind, value)
    if column.kind in (HDX_TYPE_UNSIGNED, HDX_TYPE_SIGNED, HDX_TYPE_ADDRESS, HDX_TYPE_REAL):
        return _of_number(column, kind, value)
    return []


def _is_for(filter: Any, dump: Dump, asked: _Asked) -> bool:
    """Returns whether rows of the dump may satisfy a filter on the columns that are constant within a dump."""
    column = getattr(filter, "attribute", ())
    mine = dump.id if column == (asked.dump_column,) else dump.path if column == (asked.path_column,) else None
    value: Any = getattr(filter, "value", None)
    tests: Dict[str, Callable[[str], bool]] = {
        "EqualTo": lambda text: text == value,
        "In": lambda text: text in value,
        "StringStartsWith": lambda text: text.startswith(value),
        "StringEndsWith": lambda text: text.endswith(value),
        "StringContains": lambda text: value in text,
    }
    test = tests.get(type(filter).__name__)
    return mine is None or test is None or value is None or test(mine)


# ---- reading ----


class _Part(datasource.InputPartition):
    """One range of the ids of a dump, number ``part`` of ``parts``."""

    def __init__(self, dump: Dump, part: int = 0, parts: int = 1) -> None:
        self.dump, self.part, self.parts = dump, part, parts

    def __repr__(self) -> str:
        return f"{self.dump.path} {self.part + 1}/{self.parts}"


def _known_objects(dump: Dump, asked: _Asked) -> Optional[int]:
    """Returns the number of objects if the dump has an index; does not build one."""
    try:
        with asked.open(dump, build=False) as heap:
            return int(_lib.hdx_graph_objects(heap._graph()))
    except Error:
        return None


def _parts(dump: Dump, asked: _Asked) -> int:
    if not asked.in_ranges or asked.rows == 0 or not os.path.exists(dump.path):
        return 1
    objects = _known_objects(dump, asked)
    if objects is None:  # an estimate is sufficient: ranges are fractions of the number of objects in the index
        packed = re.search(r"\.(gz|gzip|zst)$", dump.path) is not None
        objects = os.path.getsize(dump.path) * (_PACKED if packed else 1) // _BYTES
    return max(1, min(-(-objects * _BIG[asked.table] // asked.rows), 100_000))


def _address(graph: Any, at: int) -> str:
    return heapdex.address(_lib.hdx_graph_address(graph, at))


def _range(heap: heapdex.Heap, asked: _Asked, part: _Part) -> List[Tuple[str, bytes]]:
    """Returns conditions for the objects of a part; neighbouring parts compute the same border."""
    if part.parts == 1:
        return []
    graph = heap._graph()
    objects = _lib.hdx_graph_objects(graph)
    conditions = []
    for sign, place in ((">=", part.part), ("<", part.part + 1)):
        at = objects * place // part.parts
        if 0 < place < part.parts:
            border = f"id {sign} {at}" if asked.table == "objects" else f"src {sign} {_address(graph, at)}"
            conditions.append(("where", border.encode()))
    return conditions


def _plain_texts(column: Any, seen: List[Any]) -> Any:
    """Returns texts in the form that Spark accepts. Dictionaries only grow: one of the same length is reused."""
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        return column.cast(pyarrow.string())
    if not seen or len(seen[0]) != len(column.dictionary):
        seen[:] = [column.dictionary.cast(pyarrow.string())]
    return seen[0].take(column.indices)


def _batches(stream: Any, schema: Any, constants: Mapping[str, str]) -> Iterator[Any]:
    """Converts batches of heapdex to exactly this schema; a missing column is null."""
    import pyarrow

    seen: List[List[Any]] = [[] for _ in schema]
    same: Dict[str, Any] = {}
    for batch in stream:
        columns = []
        for place, wanted in enumerate(schema):
            if wanted.name in constants:
                if wanted.name not in same or len(same[wanted.name]) < len(batch):
                    text = pyarrow.scalar(constants[wanted.name], wanted.type)
                    same[wanted.name] = pyarrow.repeat(text, len(batch))
                columns.append(same[wanted.name].slice(0, len(batch)))
                continue
            at = batch.schema.get_field_index(wanted.name)
            if at < 0:
                columns.append(pyarrow.nulls(len(batch), wanted.type))
                continue
            column = batch.column(at)
            if pyarrow.types.is_string(wanted.type):
                column = _plain_texts(column, seen[place]) if not _is_number(column.type) else column.cast(wanted.type)
            columns.append(column if column.type == wanted.type else column.cast(wanted.type))
        yield pyarrow.RecordBatch.from_arrays(columns, schema=schema)


def _is_number(kind: Any) -> bool:
    import pyarrow

    return pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)


def _cpus() -> int:
    """Returns the number of processors of this task."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return context.cpus() if context is not None else 1


def _words(dump: Dump, why: BaseException) -> str:
    text = str(why)
    return text if dump.path in text else f"{dump.path}: {text}"


class _Reader(datasource.DataSourceReader):
    def __init__(self, asked: _Asked, dumps: Sequence[Dump], schema: StructType) -> None:
        self.asked, self.dumps, self.schema = asked, list(dumps), schema
        self.conditions: List[str] = []
        self.constants = {name for name in (asked.dump_column, asked.path_column) if name}

    def partitions(self) -> List[datasource.InputPartition]:
        """Lists the first range of every dump first: tasks then index all dumps before one waits for an index."""
        parts = [(dump, _parts(dump, self.asked)) for dump in self.dumps]
        most = max((count for _, count in parts), default=0)
        return [_Part(dump, part, count) for part in range(most) for dump, count in parts if part < count]

    def _stream(self, heap: heapdex.Heap, part: _Part) -> Any:
        import pyarrow

        if self.asked.sql:
            return pyarrow.RecordBatchReader.from_stream(heap.sql(self.asked.sql))
        name, arguments = self.asked.question()
        if any(column.optional for column in self.asked.columns):  # a dump may lack one, which is then null
            arguments = [one for one in arguments if one[0] != "columns"]
        arguments += self._columns()
        arguments += [("where", one.encode()) for one in self.conditions] + _range(heap, self.asked, part)
        return pyarrow.RecordBatchReader.from_stream(heapdex.Rows(heap, name, arguments))

    def _columns(self) -> List[Tuple[str, bytes]]:
        """Returns the argument for the columns of the user's schema. The library computes some columns only if they are
        named, so there is no argument if the schema has all columns, or one that this dump may lack."""
        names = set(self.schema.fieldNames())
        left = tuple(column for column in self.asked.columns if column.name in names - self.constants)
        if len(left) == len(self.asked.columns) or any(column.optional for column in left):
            return []
        left = left or self.asked.columns[:1]  # to count rows, any column is sufficient
        return [("columns", ",".join(column.name for column in left).encode())]

    def read(self, partition: Any) -> Iterator[Any]:
        from pyspark.sql.pandas.types import to_arrow_schema

        if not isinstance(partition, _Part):  # Spark's own partition, if there are no dumps
            return
        dump = partition.dump
        asked = self.asked if self.asked.threads else replace(self.asked, threads=_cpus())
        constants = {asked.dump_column: dump.id, asked.path_column: dump.path}
        try:
            heap = asked.open(dump)
            stream = self._stream(heap, partition)
        except Error as why:
            if asked.skip and why.code in ("bad_dump", "damaged", "not_found"):
                print(f"heapdex: left out: {_words(dump, why)}", file=sys.stderr)
                return
            raise RuntimeError(f"heapdex: {_words(dump, why)}") from None
        try:
            yield from _batches(stream, to_arrow_schema(self.schema, timezone="UTC"), constants)
        except (OSError, ValueError, MemoryError) as why:  # a pyarrow.ArrowInvalid is a ValueError
            raise RuntimeError(f"heapdex: {_words(dump, why)}") from None
        finally:
            heap.close()


class _FilteringReader(_Reader):
    """A reader that accepts filters. Spark refuses it unless its configuration allows filters."""

    def pushFilters(self, filters: List[datasource.Filter]) -> Iterable[datasource.Filter]:
        """Reduces the rows that are read; Spark still applies all filters, so the result does not depend on heapdex."""
        columns = {column.name: column for column in self.asked.columns} if self.asked.decides else {}
        for one in filters:
            self.dumps = [dump for dump in self.dumps if _is_for(one, dump, self.asked)]
            self.conditions += _conditions(one, columns)
        return filters


# ---- the data source ----


def _spark_type(kind: int) -> DataType:
    if kind in (HDX_TYPE_UNSIGNED, HDX_TYPE_SIGNED, HDX_TYPE_ADDRESS):
        return LongType()
    return DoubleType() if kind == HDX_TYPE_REAL else BooleanType() if kind == HDX_TYPE_BOOL else StringType()


def _of_arrow(kind: Any) -> DataType:
    import pyarrow

    whole, real = pyarrow.types.is_integer(kind), pyarrow.types.is_floating(kind)
    return LongType() if whole else DoubleType() if real else StringType()


def _of_statement(asked: _Asked, dumps: Sequence[Dump]) -> List[StructField]:
    """Returns the columns of a statement, from the first dump that has an index."""
    import pyarrow

    for dump in dumps:
        if _known_objects(dump, asked) is not None:
            with asked.open(dump, build=False) as heap:
                schema = pyarrow.RecordBatchReader.from_stream(heap.sql(asked.sql)).schema
                return [StructField(one.name, _of_arrow(one.type)) for one in schema]
    raise Error(
        "usage",
        "which columns a statement has says an index, and none of these dumps has one",
        hint='.schema("class string, n bigint"), or heapdex.spark.index(spark, paths) before',
    )


class HeapDataSource(datasource.DataSource):
    @classmethod
    def name(cls) -> str:
        return "heapdex"

    def schema(self) -> StructType:
        asked = _options(self.options)
        fields = [StructField(name, StringType()) for name in (asked.dump_column, asked.path_column) if name]
        taken = {one.name for one in fields}
        if asked.sql:
            fields += _of_statement(asked, find(_paths(self.options)))
        else:
            fields += [StructField(column.name, _spark_type(column.kind)) for column in asked.columns]
        for one in fields[len(taken) :]:
            if one.name in taken:
                raise Error("usage", f"there is a column {one.name} beside that of the dump", hint="dumpColumn")
        return StructType(fields)

    def reader(self, schema: StructType) -> datasource.DataSourceReader:
        asked = _options(self.options)
        known = {asked.dump_column, asked.path_column} | {column.name for column in asked.columns}
        for one in schema.fields:
            if not asked.sql and one.name not in known:
                raise _near("column", one.name, sorted(known - {""}))
        return self._reader(asked, find(_paths(self.options)), schema)

    def _reader(self, asked: _Asked, dumps: Sequence[Dump], schema: StructType) -> _Reader:
        return _Reader(asked, dumps, schema)


class FilteringHeapDataSource(HeapDataSource):
    def _reader(self, asked: _Asked, dumps: Sequence[Dump], schema: StructType) -> _Reader:
        return _FilteringReader(asked, dumps, schema)


def register(spark: Any) -> None:
    """Makes ``spark.read.format("heapdex")`` work in this session.

    Filters are passed to heapdex if the configuration ``spark.sql.python.filterPushdown.enabled`` is already true.
    """
    pushing = spark.conf.get(_PUSHDOWN, "false").lower() == "true"
    spark.dataSource.register(FilteringHeapDataSource if pushing else HeapDataSource)


def _library() -> str:
    """Returns the path of the library, which may have been loaded by its name alone."""
    if os.path.exists(heapdex._lib._name):
        return str(heapdex._lib._name)
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        return next(line.split(None, 5)[5].rstrip("\n") for line in maps if "/libheapdex.so" in line)


def ship(spark: Any, library: Optional[str] = None) -> None:
    """Sends this package and its library to the workers of the session, which then need only pyarrow.

    Workers must have the library's dependencies: zlib, LMDB, PCRE2 and, if it was built with them, SQLite and ISA-L.
    """
    folder = tempfile.mkdtemp(prefix="heapdex-ship-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # workers may fetch it later
    package = os.path.join(folder, "heapdex-python.zip")
    here = Path(__file__).resolve().parent
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as out:
        for one in sorted(here.glob("*.py")):
            out.write(one, f"heapdex/{one.name}")
    beside = os.path.join(folder, "libheapdex.so")
    shutil.copy(library or _library(), beside)  # Spark would send the target of a link under the target's name
    spark.sparkContext.addFile(beside)
    spark.sparkContext.addPyFile(package)


# ---- indexes, one task a dump ----

_STATES = (
    "dump_id string, dump string, state string, code string, message string, objects bigint, seconds double, "
    "host string"
)


def _indexed(dump: Dump, asked: _Asked) -> Dict[str, Any]:
    began = time.monotonic()
    row: Dict[str, Any] = {
        "dump_id": dump.id,
        "dump": dump.path,
        "state": "done",
        "code": None,
        "message": None,
        "objects": None,
        "host": socket.gethostname(),
    }
    try:
        with asked.open(dump) as heap:
            row["objects"] = int(_lib.hdx_graph_objects(heap._graph()))
    except Error as why:
        row.update(state="failed", code=why.code, message=str(why))
    return {**row, "seconds": time.monotonic() - began}


def for_each(
    spark: Any, items: Sequence[Any], make: Callable[[Any], Dict[str, Any]], schema: str, cpus: int = 0
) -> Any:
    """Makes a row for each item in a separate task; returns a DataFrame of all rows, which are complete by then."""

    def rows(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            made = [make(items[place]) for place in batch.column(0).to_pylist()]
            yield pyarrow.RecordBatch.from_pylist(made, schema=_arrow_of(schema))

    profile = None
    if cpus:
        from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests

        profile = ResourceProfileBuilder().require(TaskResourceRequests().cpus(cpus)).build
    count = len(items)
    if count == 0:
        return spark.createDataFrame([], schema)
    done = spark.range(0, count, 1, count).mapInArrow(rows, schema, profile=profile).collect()
    return spark.createDataFrame(done, schema)


def _arrow_of(schema: str) -> Any:
    import pyarrow

    kinds = {"string": pyarrow.string(), "bigint": pyarrow.int64(), "double": pyarrow.float64()}
    return pyarrow.schema([(name, kinds[kind]) for name, kind in (one.split() for one in schema.split(","))])


def index(spark: Any, paths: Any, cpus: int = 0, **options: Any) -> Any:
    """Indexes dumps, one task for each, and returns a DataFrame of the results; a failed dump does not stop others.

    ``options`` are indexDir, memory and threads of the data source, ``cpus`` is the number of processors of a task
    (default: spark.task.cpus).
    """
    asked = _options({"sql": "", **{name: str(value) for name, value in options.items()}})

    def make(dump: Dump) -> Dict[str, Any]:
        return _indexed(dump, asked if asked.threads else replace(asked, threads=_cpus()))

    return for_each(spark, find([paths] if isinstance(paths, str) else paths), make, _STATES, cpus)
