"""Writes the tables of one dump of a fleet. It needs neither Spark nor pyarrow."""

from __future__ import annotations

import ctypes
import os
from typing import Any, Sequence, Tuple

import heapdex
from heapdex import Error, _native

FORMATS = {
    "parquet": _native.HDX_FLEET_PARQUET,
    "csv": _native.HDX_FLEET_CSV,
    "sqlite": _native.HDX_FLEET_SQLITE,
}


def writer() -> Any:
    """Returns hdx_fleet_write, which older libraries lack."""
    try:
        return heapdex._lib.hdx_fleet_write
    except AttributeError:
        raise Error("usage", f"the library of version {heapdex.library_version()} cannot write fleet tables") from None


def options(
    out: str, dump_id: str, path: str, known: Sequence[Tuple[str, str]] = (), tables: str = "", format: str = "parquet"
) -> _native.Fleet:
    """Returns options for the tables of a dump: output folder, id and facts from a manifest."""
    whole = heapdex._whole
    pairs = [(whole(key.encode()), whole(text.encode())) for key, text in known]
    return _native.Fleet(
        out=whole(os.fsencode(out)),
        dump_id=whole(dump_id.encode()),
        format=FORMATS[format],
        tables=whole(tables.encode()) or None,
        manifest=(_native.Argument * max(len(pairs), 1))(*pairs),  # type: ignore[misc]
        manifest_count=len(pairs),
        file=whole(os.fsencode(path)),
    )


def write(heap: heapdex.Heap, to: _native.Fleet) -> None:
    """Computes all fleet tables of the heap and writes them."""
    call = writer()
    heap._asked(lambda session, _, err: int(call(session.at, ctypes.byref(to), ctypes.byref(err))))


def write_failure(to: _native.Fleet, why: Error) -> None:
    """Writes the tables of a failed dump: `dump` with a row that has state failed, `problems` with the reason."""
    codes = {heapdex._text(heapdex._lib.hdx_code_name(c)): c for c in range(_native.HDX_CANCELLED + 1)}
    failure = _native.Error(
        code=codes.get(why.code, _native.HDX_LIMIT),
        offset=_native.HDX_NOWHERE,
        where=os.fsencode(why.where)[:255],
        message=why.message.encode()[:255],
        hint=why.hint.encode()[:255],
    )
    to.failure, err = ctypes.pointer(failure), _native.Error()
    heapdex._raise(writer()(None, ctypes.byref(to), ctypes.byref(err)), err)
