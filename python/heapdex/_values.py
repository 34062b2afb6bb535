"""Values of Arrow streams and of rows as objects of Python, without pyarrow."""

from __future__ import annotations

import ctypes
import errno
import json
import struct
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from heapdex import _native
from heapdex._shown import Column

_CODES = {errno.ENOMEM: "limit", errno.ECANCELED: "cancelled"}


def _pairs(at: int) -> Dict[str, str]:
    """Returns the metadata of a field: pairs of key and value, each after its length."""
    found: Dict[str, str] = {}
    if not at:
        return found

    def word() -> str:
        nonlocal at
        (length,) = struct.unpack("i", ctypes.string_at(at, 4))
        at += 4 + length
        return ctypes.string_at(at - length, length).decode("utf-8", "replace")

    (count,) = struct.unpack("i", ctypes.string_at(at, 4))
    at += 4
    for _ in range(count):
        key = word()
        found[key] = word()
    return found


def _bits(at: int, first: int, count: int) -> List[bool]:
    read = ctypes.string_at(at, (first + count + 7) // 8)
    return [bool(read[place >> 3] >> (place & 7) & 1) for place in range(first, first + count)]


def _texts(array: _native.Array) -> List[str]:
    count, first = array.length, array.offset
    if count == 0:
        return []
    ends = (ctypes.c_int64 * (count + 1)).from_address(array.buffers[1] + 8 * first)[:]
    whole = ctypes.string_at(array.buffers[2] + ends[0], ends[-1] - ends[0])
    begin = ends[0]
    return [whole[a - begin : b - begin].decode("utf-8", "replace") for a, b in zip(ends, ends[1:])]


def _plain(array: _native.Array, format: bytes) -> List[Any]:
    """Returns the values of a column; those of nulls are arbitrary."""
    count, first = array.length, array.offset
    if count == 0:
        return []
    if array.dictionary:
        texts = _texts(array.dictionary.contents)
        places = (ctypes.c_int32 * count).from_address(array.buffers[1] + 4 * first)[:]
        return [texts[place] if place < len(texts) else None for place in places]
    if format == b"U":
        return _texts(array)
    if format == b"b":
        return _bits(array.buffers[1], first, count)
    kind = ctypes.c_int64 if format == b"l" else ctypes.c_double
    return list((kind * count).from_address(array.buffers[1] + 8 * first))


def _parsed(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


_MEANS: Dict[str, Callable[[Any], Any]] = {
    "address": lambda value: value & 0xFFFFFFFFFFFFFFFF,
    "list": _parsed,
    "object": _parsed,
    "any": _parsed,
}


class Reader:
    """Reads an Arrow stream of the library from its beginning; ``refuse(code, message)`` returns an exception."""

    def __init__(self, stream: Any, refuse: Callable[[str, str], Exception]) -> None:
        self._stream, self._refuse = stream, refuse
        schema = _native.Schema()
        self._call(stream.get_schema, schema)
        fields = [schema.children[place].contents for place in range(schema.n_children)]
        self._formats = [field.format for field in fields]
        self.columns: List[Column] = []
        for field in fields:
            metadata = _pairs(field.metadata)
            name = field.name.decode("utf-8", "replace")
            kind, unit = metadata.get("heapdex.type", "text"), metadata.get("heapdex.unit", "")
            self.columns.append(Column(name, kind, unit, metadata.get("heapdex.sentence", "")))
        schema.release(ctypes.byref(schema))

    def _call(self, call: Any, out: Any) -> None:
        code = call(ctypes.byref(self._stream), ctypes.byref(out))
        if code != 0:
            message = self._stream.get_last_error(ctypes.byref(self._stream)) or b""
            raise self._refuse(_CODES.get(code, "io"), message.decode("utf-8", "replace"))

    def _batches(self) -> Iterator[_native.Array]:
        while True:
            batch = _native.Array()
            self._call(self._stream.get_next, batch)
            if not batch.release:
                return
            try:
                yield batch
            finally:
                batch.release(ctypes.byref(batch))

    def count(self) -> int:
        """Returns the number of rows, all of which are read."""
        return sum(batch.length for batch in self._batches())

    def rows(self) -> Iterator[Tuple[Any, ...]]:
        """Reads the rows: addresses are not negative, lists and objects are lists and dicts, nulls are None."""
        for batch in self._batches():
            columns: List[List[Any]] = []
            for place, format in enumerate(self._formats):
                array = batch.children[place].contents
                values, means = _plain(array, format), _MEANS.get(self.columns[place].type)
                valid: Optional[List[bool]] = None
                if array.null_count != 0 and array.buffers[0]:
                    valid = _bits(array.buffers[0], array.offset, array.length)
                if valid is not None:
                    values = [value if is_there else None for value, is_there in zip(values, valid)]
                if means is not None:
                    values = [None if value is None else means(value) for value in values]
                columns.append(values)
            yield from zip(*columns)
