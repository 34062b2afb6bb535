"""Tables as polars.LazyFrames that read only what is needed."""

from __future__ import annotations

import json
from typing import Any, Collection, Iterator, List, Optional, Set

from . import Rows, _answers, _native, _tables, _text

_OPERATORS = {"Eq": "=", "NotEq": "!=", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
_TURNED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _schema(rows: Rows) -> Any:
    import polars

    return polars.DataFrame(rows.limit(1)).schema


def _addresses(rows: Rows) -> Set[str]:
    """Returns the names of address columns in all forms of the table or answer."""
    table = dict(rows._arguments).get("table") if rows._name == "export" else None
    answer = _tables[_text(table)] if table is not None else _answers[rows._name]
    forms = answer.forms[: answer.form_count]
    columns = [column for form in forms for column in form.columns[: form.column_count]]
    return {_text(column.name) for column in columns if column.type == _native.HDX_TYPE_ADDRESS}


def _literal(node: Any) -> Any:
    """Returns the number or text of a literal in the JSON of an expression; None for anything else."""
    if not isinstance(node, dict) or set(node) != {"Literal"}:
        return None
    value = node["Literal"]
    while isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, (int, float, str)) and not isinstance(value, bool) else None


def _comparison(node: Any, types: Any, addresses: Collection[str]) -> Optional[str]:
    """Returns a condition that holds wherever a comparison of a column with a literal does, and perhaps elsewhere."""
    import polars

    if not isinstance(node, dict) or set(node) != {"BinaryExpr"}:
        return None
    left, op, right = (node["BinaryExpr"].get(key) for key in ("left", "op", "right"))
    sign = _OPERATORS.get(op)
    if isinstance(left, dict) and set(left) == {"Literal"}:
        left, right, sign = right, left, _TURNED.get(sign or "")
    value = _literal(right)
    if sign is None or value is None or not isinstance(left, dict) or set(left) != {"Column"}:
        return None
    name = left["Column"]
    if name in addresses and sign in ("<", "<="):
        return None  # those from 2**63 on are negative in polars, and above all others in heapdex
    number = name in types and types[name] in (polars.Int64, polars.Float64)
    if number and isinstance(value, int) and 0 <= value < 1 << 63:
        return f"{name} {sign} {value}"
    if number and isinstance(value, float) and 0 <= value < 1 << 53 and value == int(value):
        return f"{name} {sign} {int(value)}"
    text = name in types and types[name] in (polars.String, polars.Categorical)
    plain = isinstance(value, str) and value.isascii() and value.isprintable() and value != "" and "'" not in value
    if text and sign == "=" and plain:  # other texts may represent bytes that are not UTF-8
        return f"{name} = '{value}'"
    return None


def _conditions(predicate: Any, types: Any, addresses: Collection[str] = ()) -> List[str]:
    """Returns the comparisons of a conjunction that heapdex can apply. polars applies the complete predicate."""
    found: List[str] = []
    try:
        todo = [json.loads(predicate.meta.serialize(format="json"))]
    except Exception:  # an expression that has no such form: polars decides all of it
        return found
    while todo:
        node = todo.pop()
        if isinstance(node, dict) and set(node) == {"BinaryExpr"} and node["BinaryExpr"].get("op") in (
            "And",
            "LogicalAnd",
        ):
            todo += [node["BinaryExpr"]["left"], node["BinaryExpr"]["right"]]
            continue
        condition = _comparison(node, types, addresses)
        if condition is not None:
            found.append(condition)
    return found


def lazy(rows: Rows) -> Any:
    """Returns the rows as a polars.LazyFrame."""
    import polars
    import pyarrow
    from polars.io.plugins import register_io_source

    types, addresses = _schema(rows), _addresses(rows)

    def read(
        with_columns: Optional[List[str]], predicate: Optional[Any], n_rows: Optional[int], batch_size: Optional[int]
    ) -> Iterator[Any]:
        asked = rows
        if predicate is not None:
            asked = asked.where(*_conditions(predicate, types, addresses))
        if with_columns is not None and with_columns:
            needed = set(with_columns)
            if predicate is not None:
                needed.update(predicate.meta.root_names())
            asked = asked[[name for name in types if name in needed]]
        if n_rows is not None and predicate is None:
            if n_rows == 0:
                yield polars.DataFrame(schema=types).select(with_columns or list(types))
                return
            asked = asked.limit(n_rows)
        left = n_rows
        for batch in pyarrow.RecordBatchReader.from_stream(asked):
            frame = polars.DataFrame(batch)
            if predicate is not None:
                frame = frame.filter(predicate)
            if with_columns is not None and with_columns:
                frame = frame.select(with_columns)
            if left is not None:
                frame = frame.head(left)
                left -= len(frame)
            yield frame
            if left == 0:
                return

    return register_io_source(io_source=read, schema=types, validate_schema=True, is_pure=True)
