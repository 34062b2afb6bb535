"""Fills the tables of a fleet on a Spark cluster: each dump is one task, in which the library writes the files.

    python -m heapdex.spark_fleet --dumps night/*.hprof --out fleet --master spark://host:7077
    spark-submit ... heapdex/spark_fleet.py --dumps night.csv --out fleet

    import heapdex.spark_fleet
    states = heapdex.spark_fleet.fill(spark, ["night.csv"], "fleet")
    classes = heapdex.spark_fleet.table(spark, "fleet", "classes")

The tables are those of the command batch (doc/fleet.md): FLEET/tables/dump_id=ID/TABLE.parquet. The folder of a dump is
replaced as a whole or not at all, so a task may be tried again and the command may be repeated.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import socket
import sys
import time
from dataclasses import replace
from typing import Any, Dict, List, Optional, Sequence

import heapdex
from heapdex import Error, _fleet, _native
from heapdex import spark as source

__all__ = ["fill", "table"]


# ---- which dumps ----


def _rows(manifest: str) -> List[Dict[str, Any]]:
    with open(manifest, newline="", encoding="utf-8-sig") as lines:
        if manifest.endswith(".csv"):
            return list(csv.DictReader(lines))
        return [json.loads(line) for line in lines if line.strip()]


def _of_manifest(manifest: str) -> List[source.Dump]:
    """Reads the column dump (relative to the folder of the manifest) and an optional dump_id; the tables get all
    other columns."""
    dumps = []
    for number, row in enumerate(_rows(manifest), 1):
        if not isinstance(row, dict) or not row.get("dump"):
            raise Error("usage", f"row {number} names no dump; a manifest needs a column dump", manifest)
        named = str(row.pop("dump"))
        path = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(manifest)), named))
        name = row.pop("dump_id", None)
        name = source.checked_id(str(name), named) if name else source.id_of(path)
        known = [(str(key), str(value)) for key, value in row.items() if key and value not in (None, "")]
        dumps.append(source.Dump(path, name, tuple(known)))
    return dumps


def dumps_of(inputs: Sequence[str]) -> List[source.Dump]:
    """Returns the dumps of manifests (*.csv, *.jsonl), files, patterns and folders."""
    dumps: Dict[str, source.Dump] = {}
    for one in inputs:
        for dump in _of_manifest(one) if one.endswith((".csv", ".jsonl")) else source.find([one]):
            if dump.id in dumps and dumps[dump.id].path != dump.path:
                raise Error("usage", f"two dumps have the id {dump.id}; the other is {dumps[dump.id].path}", dump.path)
            dumps.setdefault(dump.id, dump)
    return list(dumps.values())


# ---- one dump ----


def _fill(dump: source.Dump, asked: source._Asked, options: _native.Fleet) -> Dict[str, Any]:
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
            row["objects"] = int(heapdex._lib.hdx_graph_objects(heap._graph()))
            options.seconds = time.monotonic() - began
            _fleet.write(heap, options)
    except Error as why:
        row.update(state="failed", code=why.code, message=str(why))
        try:
            if row["objects"] is None:
                _fleet.write_failure(options, why)
        except Error as also:
            row["message"] += f"; {also}"
    return {**row, "seconds": time.monotonic() - began}


def fill(
    spark: Any, inputs: Any, out: str, tables: str = "", format: str = "parquet", cpus: int = 0, **options: Any
) -> Any:
    """Indexes dumps, writes their tables below ``out``, which all workers must share, and returns a DataFrame with the
    result of each; a failed dump does not stop others.

    ``inputs`` are manifests, dumps, patterns or folders; ``tables`` lists optional tables ("objects,references");
    ``options`` are indexDir, memory and threads of the data source, ``cpus`` is the number of processors of a task.
    """
    if format not in _fleet.FORMATS:
        raise Error("usage", f"format must be one of {', '.join(_fleet.FORMATS)}, not {format!r}")
    asked = source._options({"sql": "", **{name: str(value) for name, value in options.items()}})
    out = os.path.abspath(out)
    _fleet.writer()

    def make(dump: source.Dump) -> Dict[str, Any]:
        mine = asked if asked.threads else replace(asked, threads=source._cpus())
        return _fill(dump, mine, _fleet.options(out, dump.id, dump.path, dump.known, tables, format))

    return source.for_each(spark, dumps_of([inputs] if isinstance(inputs, str) else inputs), make, source._STATES, cpus)


def table(spark: Any, out: str, name: str) -> Any:
    """Returns a table of all dumps. Ids are read from its column: Spark would read folder dump_id=0017 as number 17."""
    return spark.read.parquet(os.path.join(os.path.abspath(out), "tables", "dump_id=*", name + ".parquet"))


# ---- the command ----


def _arguments(words: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="heapdex.spark_fleet", description="Writes tables of many dumps with Spark.")
    parser.add_argument(
        "--dumps", nargs="+", required=True, metavar="DUMP", help="manifests (*.csv, *.jsonl), dumps, patterns, folders"
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="output folder that all workers mount")
    parser.add_argument("--tables", default="", metavar="LIST", help="optional tables: objects,references")
    parser.add_argument("--format", choices=_fleet.FORMATS, default="parquet")
    parser.add_argument("--index-dir", metavar="DIR", help="store indexes as DIR/ID.hdx; default: next to the dumps")
    parser.add_argument("--memory", default="0", metavar="SIZE", help="memory limit of a task, such as 4G")
    parser.add_argument("--threads", default="0", metavar="N", help="threads of a task; default: its processors")
    parser.add_argument("--cpus", type=int, default=0, metavar="N", help="processors of each task")
    parser.add_argument("--master", metavar="URL", help="URL of the cluster, if not set by spark-submit")
    parser.add_argument("--ship", action="store_true", help="send the package and its library to the workers")
    return parser.parse_args(words)


def main(words: Optional[Sequence[str]] = None) -> int:
    """Returns exit code 0: all done; 1: a dump failed; 2: the arguments are wrong."""
    given = _arguments(words)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("heapdex fleet")
    spark = (builder.master(given.master) if given.master else builder).getOrCreate()
    options = {"memory": given.memory, "threads": given.threads}
    if given.index_dir:
        options["indexDir"] = given.index_dir
    try:
        if given.ship:
            source.ship(spark)
        states = fill(spark, given.dumps, given.out, given.tables, given.format, given.cpus, **options).collect()
    except Error as why:
        print(f"heapdex.spark_fleet: {why}", file=sys.stderr)
        return 2 if why.code == "usage" else 1
    finally:
        spark.stop()
    for row in states:
        print(json.dumps(row.asDict()))
    return 1 if any(row["state"] != "done" for row in states) else 0


if __name__ == "__main__":
    sys.exit(main())
