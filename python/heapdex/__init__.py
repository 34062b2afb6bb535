"""JVM and Android heap dumps as tables, over the C library of heapdex.

    import heapdex
    heap = heapdex.open("app.hprof")
    heap.objects                              a table
    heap.histogram(by="package")              an answer, with the options of the command of the same name
    heap.sql("SELECT class, sum(shallow) FROM objects GROUP BY 1")      a statement over these tables
    heap.lazy("objects")                      a polars.LazyFrame that reads only what is needed

Tables, answers and statements are Arrow streams (``__arrow_c_stream__``): pyarrow, polars, DuckDB and pandas accept
them directly. Data is read only when used, and again for each use. Sizes are bytes; addresses are int64, negative from
2**63 on; lists, objects and values of any kind are JSON text.

Without these packages: ``for row in rows`` gives dicts, ``len(rows)``, ``rows.columns`` and ``rows.head(n)`` work, and
a notebook shows a table. ``heap.report()`` is all of it as one document, ``heap.treemap()`` a picture of who holds the
memory.
"""

from __future__ import annotations

import _thread
import ctypes
import ctypes.util
import gc
import html
import itertools
import json
import numbers
import os
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union

from heapdex import _native, _shown
from heapdex._native import Answer as _Answer
from heapdex._native import Argument as _Argument
from heapdex._native import Error as _Error
from heapdex._native import Options as _Options
from heapdex._native import SqlOptions as _SqlOptions
from heapdex._progress import Progress, Watch as _Watch
from heapdex._values import Reader as _Reader

__version__ = "0.1.0"
__all__ = ["open", "address", "Heap", "Rows", "Answer", "Statement", "Report", "Treemap", "Progress", "Error"]
__all__ += ["ANSWERS", "TABLES", "library_version"]


# ---- the library ----


def _places() -> Iterator[str]:
    """Possible locations of the library, the most likely first."""
    named = os.environ.get("HEAPDEX_LIBRARY")
    if named:
        yield named
        return
    here = Path(__file__).resolve().parent
    yield str(here / "libheapdex.so")
    yield str(here.parent.parent / "libheapdex.so")  # next to the zip of the package, as on Spark's workers
    for kind in ("release", "debug"):
        yield str(here.parent.parent / "build" / kind / "libheapdex.so")
    found = ctypes.util.find_library("heapdex")
    if found:
        yield found
    yield "libheapdex.so.0"


def _load() -> ctypes.CDLL:
    wrong: List[str] = []
    for place in _places():
        if os.sep in place and not os.path.exists(place):
            continue
        try:
            lib = ctypes.CDLL(place)
            lib.hdx_sql_arrow  # older libraries have no streams, or none for statements
            return lib
        except (OSError, AttributeError) as why:
            wrong.append(f"{place}: {why}")
    raise ImportError(
        "libheapdex.so is not there: build the tree (cmake --build --preset release -t heapdex), install it, or say "
        "where it is in HEAPDEX_LIBRARY" + "".join(f"\n  {line}" for line in wrong)
    )


_lib = _load()
_native.bind(_lib)


def library_version() -> str:
    """Returns the version of the C library that was found."""
    return _text(_lib.hdx_version())


class Error(Exception):
    """A request that the library refused or that failed.

    ``code`` is the kind of error ("usage", "bad_dump", "not_found", "damaged", "limit", "io", "busy", "cancelled"),
    ``message`` the problem, ``where`` the file concerned, ``hint`` a remedy ("" if none is known).
    """

    def __init__(self, code: str, message: str, where: str = "", hint: str = "") -> None:
        self.code, self.message, self.where, self.hint = code, message, where, hint
        super().__init__((f"{where}: " if where else "") + message + (f" (hint: {hint})" if hint else ""))


def _text(value: Optional[bytes]) -> str:
    return "" if value is None else value.decode("utf-8", "replace")


def _raise(code: int, err: _Error) -> None:
    if code != 0:
        raise Error(_text(_lib.hdx_code_name(code)), _text(err.message), _text(err.where), _text(err.hint))


def _list(call: Any) -> Dict[str, _Answer]:
    count = ctypes.c_size_t()
    all_of_them = call(ctypes.byref(count))
    return {_text(all_of_them[i].contents.name): all_of_them[i].contents for i in range(count.value)}


_answers = _list(_lib.hdx_answers)
_tables = _list(_lib.hdx_tables)

#: Names of all answers, which are those of the commands.
ANSWERS: Tuple[str, ...] = tuple(_answers)
#: Names of all tables.
TABLES: Tuple[str, ...] = tuple(_tables)


def address(value: int) -> str:
    """Returns an address as answers write it: ``address(-16)`` is ``"0xfffffffffffffff0"``."""
    if not -(1 << 63) <= int(value) < 1 << 64:
        raise Error("usage", f"{int(value)} is not an address, which has at most 64 bits")
    return hex(int(value) & 0xFFFFFFFFFFFFFFFF)


# ---- capsules ----

_py = ctypes.pythonapi
_py.PyCapsule_New.restype = ctypes.py_object
_py.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_STREAM = b"arrow_array_stream"


class _Stream(_native.Stream):
    """A stream that is released with its last reference, unless a consumer has taken it over and cleared `release`."""

    def __del__(self, byref: Callable[[Any], Any] = ctypes.byref) -> None:
        if self.release:
            self.release(byref(self))


_held: Dict[int, Tuple[_Stream, Any]] = {}  # address of a stream -> stream and capsule; keeps them alive


def _sweep(phase: str = "stop", _: Any = None) -> None:
    """Frees streams whose capsules no longer exist; the garbage collector calls it, too.

    Capsules have no destructor: if a consumer fails, a destructor in Python would lose the consumer's exception.
    """
    for at in list(_held) if phase == "stop" else ():
        held = _held.get(at)
        if held is not None and sys.getrefcount(held[1]) == 2:  # _held and the argument
            _held.pop(at, None)


gc.callbacks.append(_sweep)


def _capsule(stream: _Stream) -> Any:
    _sweep()
    at = ctypes.addressof(stream)
    capsule = _py.PyCapsule_New(at, _STREAM, None)
    _held[at] = (stream, capsule)
    return capsule


# ---- rows ----

Value = Union[str, int, float, bool, Path, None]
Values = Union[Value, Iterable[Value]]
_Same = TypeVar("_Same", bound="_Read")


def _argument(name: str) -> str:
    """Returns the option for a name in Python: ``class_`` is class, ``fail_on`` is fail-on."""
    return name.rstrip("_").replace("_", "-")


def _value(value: Value) -> Optional[bytes]:
    if value is None or value is True:
        return None if value is None else b"true"
    if value is False:
        return b"false"
    return _whole(os.fsencode(value) if isinstance(value, (str, Path)) else str(value).encode())


def _whole(text: bytes) -> bytes:
    """Refuses a NUL, at which C ends a text: the text would be cut without a message."""
    if b"\0" in text:
        raise Error("usage", f"an argument holds a NUL: {text[:60]!r}")
    return text


class _Read:
    """Base of objects that make a new Arrow stream for each consumer.

    Nothing is used up: what a notebook shows, ``len`` and each iteration ask again.
    """

    _count: Optional[int] = None
    _most_shown = _shown.ROWS  # rows that a notebook shows

    def _new_stream(self) -> _Stream:
        raise NotImplementedError

    def _page(self, most: int) -> _shown.Page:
        """Returns the first rows, at most `most`."""
        raise NotImplementedError

    def _counted(self) -> int:
        return _Reader(self._new_stream(), Error).count()

    def head(self: _Same, count: int = 5) -> _Same:
        """Selects the first ``count`` rows; a notebook shows all of them."""
        raise NotImplementedError

    @property
    def columns(self) -> List[str]:
        """Names of the columns."""
        return [column.name for column in self._page(1).columns]

    def __len__(self) -> int:
        """Returns the number of rows. Unless the library knows it, all rows are read, the first time."""
        if self._count is None:
            self._count = self._counted()
        return self._count

    def __bool__(self) -> bool:
        """Returns whether there is a row, which costs less than their number."""
        return bool(self._page(1).rows)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        """Reads the rows as dicts: addresses as ints from 0 on, lists and objects as lists and dicts, nulls as None."""
        reader = _Reader(self._new_stream(), Error)
        names = [column.name for column in reader.columns]
        return (dict(zip(names, row)) for row in reader.rows())

    def _repr_html_(self) -> Optional[str]:
        return _shown.table(self._page(self._most_shown), ".head(n) shows n rows, .to_pandas() has all of them")

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Returns a capsule with a struct ArrowArrayStream, which is freed if no consumer takes it over."""
        return _capsule(self._new_stream())

    def to_arrow(self) -> Any:
        """Returns the rows as a pyarrow.Table."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self).read_all()

    def to_polars(self) -> Any:
        """Returns the rows as a polars.DataFrame."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas.DataFrame."""
        return self.to_arrow().to_pandas()


class Rows(_Read):
    """The rows of a table or an answer: a new Arrow stream for each consumer.

    ``rows["class", "shallow"]`` selects these columns; ``rows.where("retained > 1M")``, ``rows.sort("retained")`` and
    ``rows.limit(10)`` work as the options of the command. pyarrow, polars, DuckDB and pandas accept it directly.
    """

    def __init__(
        self, heap: "Heap", name: str, arguments: Sequence[Tuple[str, Optional[bytes]]], shown: int = _shown.ROWS
    ) -> None:
        self._heap, self._name, self._arguments, self._most_shown = heap, name, list(arguments), shown

    def _with(self, name: str, value: Value, again: bool = False) -> "Rows":
        kept = [a for a in self._arguments if again or a[0] != name]
        return Rows(self._heap, self._name, kept + [(name, _value(value))], self._most_shown)

    def _is_command(self) -> bool:
        """Returns whether the answer may change files, as remove and strip do; to show or count it would run it."""
        answer = _answers[self._name]
        return self._name != "export" and not answer.flags & _native.HDX_ANSWER_HEAP

    def __len__(self) -> int:
        """Returns the number of rows. Unless the library knows it, all rows are read, the first time."""
        if self._is_command():
            raise TypeError(f"{self._name} may change files; its rows are counted after to_arrow()")
        return super().__len__()

    def __bool__(self) -> bool:
        """Returns whether there is a row, which costs less than their number."""
        return self._is_command() or super().__bool__()

    def _repr_html_(self) -> Optional[str]:
        return None if self._is_command() else super()._repr_html_()

    def _most(self) -> int:
        """Returns the limit of the rows; 0: none."""
        given = [value for name, value in self._arguments if name == "limit"]
        return int(given[-1]) if given and given[-1] is not None and given[-1].isdigit() else 0

    def head(self, count: int = 5) -> "Rows":
        """Selects the first ``count`` rows; a notebook shows all of them."""
        rows = self.limit(_first(count, self._most()))
        rows._most_shown = max(count, _shown.ROWS)
        return rows

    @property
    def cut(self) -> Optional[Dict[str, Any]]:
        """What follows the rows that ``limit`` selects; None: nothing. The rows are read once more for it.

        ``rows``, ``objects`` and ``retained`` are numbers, or None if not known; ``rows.after(cut["cursor"])`` is the
        next page.
        """
        if self._is_command():
            raise TypeError(f"{self._name} may change files; it has no pages")
        return self._heap._first_rows(self._name, self._arguments, self._most()).cut if self._most() > 0 else None

    def after(self, cursor: str) -> "Rows":
        """Selects the page that begins where the page with this cursor ended (``cut``)."""
        return self._with("after", cursor)

    def _page(self, most: int) -> _shown.Page:
        own = self._most()
        page = self._heap._first_rows(self._name, self._arguments, _first(most, own))
        # The library counts all rows, not only those up to a limit of the caller.
        more = 0 if 0 < own <= most else min(page.more, own - most) if own > 0 else page.more
        return page._replace(more=more)

    def _counted(self) -> int:
        page = self._page(1)
        if page.more >= 0:
            return len(page.rows) + page.more
        return _Reader(self[page.columns[0].name]._new_stream(), Error).count()

    def __getitem__(self, columns: Union[str, Sequence[str]]) -> "Rows":
        return self._with("columns", columns if isinstance(columns, str) else ",".join(columns))

    def where(self, *conditions: str) -> "Rows":
        """Selects rows that satisfy all conditions: ``where("retained > 1M", "class ~ ^com\\.")``."""
        rows = self
        for condition in conditions:
            rows = rows._with("where", condition, again=True)
        return rows

    def sort(self, column: str, descending: Optional[bool] = None) -> "Rows":
        """Sorts rows by a column; by default, sizes and counts are in descending order."""
        return self._with("sort", column + ("" if descending is None else ":desc" if descending else ":asc"))

    def limit(self, count: int) -> "Rows":
        """Selects the first ``count`` rows; 0 selects all rows."""
        return self._with("limit", count)

    def _new_stream(self) -> _Stream:
        return self._heap._stream(self._name, self._arguments)

    def __repr__(self) -> str:
        arguments = "".join(f", {name}={_text(value)!r}" for name, value in self._arguments)
        return f"<heapdex rows of {self._name}{arguments}>"


class Statement(_Read):
    """The rows of an SQL statement or an OQL query: a new Arrow stream for each consumer.

    Columns are int64, double or text. A column of a table has the type of that column; the type of any other follows
    from its first thousand values.
    """

    def __init__(self, heap: "Heap", text: str, oql: bool = False, most: int = 0) -> None:
        self._heap, self._given_text, self._oql, self._most = heap, text, oql, most

    @property
    def text(self) -> str:
        """The SQL statement; for OQL, its translation to SQL."""
        return self._heap._translated(self._given_text) if self._oql else self._given_text

    def head(self, count: int = 5) -> "Statement":
        """Selects the first ``count`` rows; a notebook shows all of them."""
        rows = Statement(self._heap, self._given_text, self._oql, _first(count, self._most))
        rows._most_shown = max(count, _shown.ROWS)
        return rows

    def _new_stream(self) -> _Stream:
        return self._heap._sql_stream(self.text, self._most)

    def _page(self, most: int) -> _shown.Page:
        reader = _Reader(self._heap._sql_stream(self.text, _first(most + 1, self._most)), Error)
        rows = list(itertools.islice(reader.rows(), most + 1))
        return _shown.Page(reader.columns, rows[:most], -1 if len(rows) > most else 0)

    def __repr__(self) -> str:
        return f"<heapdex {'query' if self._oql else 'statement'} {self._given_text!r}>"


class Answer:
    """An answer of a heap; a call with the options of the command of the same name returns its rows."""

    def __init__(self, heap: "Heap", name: str) -> None:
        self._heap, self._name = heap, name
        self.__name__ = name
        self.__doc__ = _describe(_answers[name])

    def __call__(self, *words: Values, **options: Values) -> Rows:
        return Rows(self._heap, self._name, _given(_answers[self._name], words, options))

    def _repr_html_(self) -> str:
        name = self._name.replace("-", "_")
        lines = "\n".join(_shown.text(line, 1000) for line in (self.__doc__ or "").splitlines())
        return f"<p>A call gives the rows: heap.{name}(...)</p><pre>{lines}</pre>"

    def __repr__(self) -> str:
        return f"<heapdex answer {self._name}: {_text(_answers[self._name].sentence)}>"


class Table(Rows):
    """A whole table; if an answer has the same name, a call returns that answer (``heap.threads(stacks=True)``)."""

    def __init__(self, heap: "Heap", name: str) -> None:
        super().__init__(heap, "export", [("table", name.encode())])
        self._table = name
        self.__doc__ = _describe(_tables[name])

    def __call__(self, *words: Values, **options: Values) -> Rows:
        if self._table not in _answers:
            raise TypeError(f"there is no answer {self._table}; heap.{self._table} is a table")
        return Answer(self._heap, self._table)(*words, **options)

    def __repr__(self) -> str:
        return f"<heapdex table {self._table}: {_text(_tables[self._table].sentence)}>"


def _first(count: int, limit: int) -> int:
    """Returns a limit of the first rows of others with a limit; 0: these have none."""
    if count < 1:
        raise Error("usage", f"{count} rows are not a number of rows to show: expected 1 or more")
    return min(count, limit) if limit > 0 else count


def _each(given: Values) -> List[Value]:
    """Returns the values of an option: a list, a column of a data frame and any other iterable give several."""
    if given is None or isinstance(given, (str, bytes, Path, numbers.Number)) or not isinstance(given, Iterable):
        return [given]  # type: ignore[list-item]
    several: Iterable[Any] = given
    return [one.as_py() if hasattr(one, "as_py") else one for one in several]


def _given(answer: _Answer, words: Sequence[Values], options: Dict[str, Values]) -> List[Tuple[str, Optional[bytes]]]:
    """Converts options to arguments; several values give their option several times."""
    parameters = answer.parameters[: answer.parameter_count]
    of_words = next((p for p in parameters if p.flags & _native.HDX_PARAMETER_WORD), None)
    if words and of_words is None:
        raise TypeError(f"{_text(answer.name)} takes options by their names alone")
    objects = {_text(p.name) for p in parameters if p.kind == _native.HDX_PARAMETER_OBJECTS}

    def given(name: str, value: Value) -> Tuple[str, Optional[bytes]]:
        # An integer for an object is its address, as in columns; the library reads digits as hexadecimal.
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return name, _value(address(value) if name in objects and whole else value)  # type: ignore[arg-type]

    word = _text(of_words.name) if of_words is not None else ""
    arguments = [given(word, one) for several in words for one in _each(several)]
    for name, several in options.items():
        values = _each(several)
        if _argument(name) == "columns":
            values = [",".join(str(one) for one in values)] if several is not None else []
        arguments += [given(_argument(name), one) for one in values if one is not None]
    return arguments


def _c_arguments(arguments: Sequence[Tuple[str, Optional[bytes]]]) -> Any:
    given = (_Argument * max(len(arguments), 1))()
    for place, (name, value) in enumerate(arguments):
        given[place].name = _whole(name.encode())
        given[place].value = None if value is None else _whole(value)
    return given


def _statement(text: str) -> bytes:
    if "\0" in text:
        raise Error("usage", "a statement has no NUL")
    return text.encode()


def _describe(answer: _Answer) -> str:
    """Returns the declaration of an answer as a docstring."""
    lines = [_text(answer.sentence) + ".", "", _text(answer.more), "", "Options:"]
    count = ctypes.c_size_t()
    common = _lib.hdx_answer_common(ctypes.byref(count))
    for p in list(answer.parameters[: answer.parameter_count]) + list(common[: count.value]):
        name = _text(p.name).replace("-", "_")
        lines.append(f"    {name + '_' if name == 'class' else name}: {_text(p.sentence)}")
        if p.choices:
            lines.append(f"        one of {_text(p.choices)}")
    for form in answer.forms[: answer.form_count]:
        if form.column_count == 0:
            continue
        when = f" with {_text(form.parameter)}={_text(form.is_)}" if form.parameter else ""
        lines += ["", f"Columns{when}:"]
        lines += [f"    {_text(c.name)}: {_text(c.sentence)}" for c in form.columns[: form.column_count]]
    return "\n".join(lines)


# ---- heaps ----


class _Session:
    """A session of the library, which is closed when it has ended and no call uses it.

    A signal handler (Ctrl-C) can raise an exception at any moment, while a call still runs on another thread.
    """

    def __init__(self, at: Optional[int]) -> None:
        self.at, self.ended = at, False
        self.connections: List[int] = []  # of SQL: one after the first statement
        self.calls, self._change = 0, threading.RLock()

    def run(self, call: Callable[["_Session"], int]) -> int:
        """Runs a call of the library and returns its code; HDX_CANCELLED if the session has ended."""
        with self._change:
            if self.ended:
                return _native.HDX_CANCELLED
            self.calls += 1
        try:
            return call(self)
        finally:
            with self._change:
                self.calls -= 1
                last = self.ended and self.calls == 0
            if last:
                self._close()

    def cancel(self) -> None:
        with self._change:
            if not self.ended:
                _lib.hdx_session_cancel(self.at)

    def end(self) -> None:
        """Refuses new calls and cancels running ones, the last of which closes the session."""
        with self._change:
            unused = not self.ended and self.calls == 0
            self.ended = True  # before cancelling: a cancelled session that has not ended would refuse all later calls
            if self.calls > 0:
                _lib.hdx_session_cancel(self.at)
        if unused:
            self._close()

    def _close(self) -> None:
        while self.connections:
            _lib.hdx_sql_close(self.connections.pop())
        _lib.hdx_session_close(self.at)


class _Pieces:
    """A sink for what the library writes."""

    def __init__(self) -> None:
        self._pieces: List[bytes] = []
        pieces = self._pieces

        def write(_: Any, at: int, size: int) -> bool:
            pieces.append(ctypes.string_at(at, size))
            return True

        self.sink = _native.Sink(write=_native.Writer(write))

    def text(self) -> str:
        return b"".join(self._pieces).decode("utf-8", "replace")


def _column(of: _native.Column) -> _shown.Column:
    kind, unit = _text(_lib.hdx_column_type_name(of.type)), _text(_lib.hdx_column_unit_name(of.unit))
    return _shown.Column(_text(of.name), kind, unit, _text(of.sentence), bool(of.flags & _native.HDX_COLUMN_WIDE))


_FORMATS = {"html": _native.HDX_REPORT_HTML, "md": _native.HDX_REPORT_MARKDOWN, "json": _native.HDX_REPORT_JSON}


def _check_output(path: Union[str, "os.PathLike[str]"], inputs: Sequence[bytes]) -> None:
    """Refuses a file that is an input, a heap dump, a folder, or inside of an index."""
    read, err = (ctypes.c_char_p * max(len(inputs), 1))(*inputs), _Error()
    _raise(_lib.hdx_output_check(_whole(os.fsencode(path)), read, len(inputs), ctypes.byref(err)), err)


class _Document(str):
    """Base of documents about a heap: their text."""

    _dump = b""  # it must not be replaced

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the text to a file, which is replaced when the new one is complete."""
        _check_output(path, [self._dump])
        target = os.path.realpath(path)
        folder, name = os.path.split(target)
        mask = os.umask(0)
        os.umask(mask)
        descriptor, part = tempfile.mkstemp(".part", f".{name}.", folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                os.fchmod(file.fileno(), 0o666 & ~mask)
                file.write(self)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, target)
        except BaseException:
            os.unlink(part)
            raise
        _sync_folder(folder)

    def __str__(self) -> str:
        return str.__str__(self)


class Report(_Document):
    """A report of a heap: its text. A notebook shows the document."""

    kind = "html"  #: the format: html, md or json

    def _repr_html_(self) -> str:
        if self.kind != "html":
            return f"<pre>{html.escape(self)}</pre>"
        return (
            '<iframe sandbox title="Heap report" style="width:100%;height:40em;border:1px solid #ccc" '
            f'srcdoc="{html.escape(self, quote=True)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<heapdex report: {self.kind}, {len(self):,} characters>"


class Treemap(_Document):
    """A treemap of a heap: its text, which is SVG. A notebook shows the picture."""

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        # JupyterLab shows image/svg+xml as an image, in which tiles have no descriptions.
        return f'<div style="overflow-x:auto">{self}</div>'

    def __repr__(self) -> str:
        return f"<heapdex treemap: {len(self):,} characters>"


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Heap:
    """An open heap dump, returned by ``heapdex.open``. Tables and answers are attributes."""

    def __init__(
        self,
        options: _Options,
        more: Sequence[bytes] = (),
        limit: int = 0,
        names: Sequence[bytes] = (),
        watch: Optional[_Watch] = None,
    ) -> None:
        self._asking = threading.Lock()
        self._watch = watch
        self._options, self._more, self._limit, self._names = options, list(more), limit, list(names)
        self._closed = False
        self._attached: Dict[Tuple[Tuple[str, bytes], ...], "Heap"] = {}
        self._open()

    def _open(self) -> None:
        at, err = ctypes.c_void_p(), _Error()
        _raise(_lib.hdx_session_open(ctypes.byref(self._options), ctypes.byref(at), ctypes.byref(err)), err)
        self._session = _Session(at.value)
        self._finalizer = weakref.finalize(self, self._session.end)
        for dump in self._more:
            _raise(_lib.hdx_session_add(at, dump, ctypes.byref(err)), err)
        _lib.hdx_session_limit(at, self._limit)

    def _interruptible(self, call: Callable[[_Session], int]) -> int:
        """Runs a call that may take minutes (it may build the index) so that Ctrl-C ends it and the heap stays usable.

        Python handles Ctrl-C only between its own instructions and only on its main thread, so another thread runs the
        call. The exception may be raised before or while that thread runs, so the session counts its calls.
        """
        session, watch = self._session, self._watch
        if watch is None and threading.current_thread() is not threading.main_thread():
            return session.run(call)
        codes: List[int] = []
        working = threading.Lock()

        def work() -> None:
            try:
                codes.append(session.run(call))
            finally:
                working.release()

        working.acquire()
        try:
            _thread.start_new_thread(work, ())  # Thread.start() waits, and fails if interrupted twice
            if watch is None:
                working.acquire()
            else:
                watch.wait(working)
        except BaseException:
            session.end()  # the next query opens another session
            if session.calls > 0:
                working.acquire()
            raise
        return codes[0]

    def close(self) -> None:
        """Closes the heap: existing streams remain readable, new queries are refused."""
        with self._asking:
            self._closed = True
            self._session.end()
            attached, self._attached = list(self._attached.values()), {}
        _sweep()
        for heap in attached:
            heap.close()

    def cancel(self) -> None:
        """Cancels running queries and refuses all later ones; may be called from any thread."""
        self._session.cancel()
        for heap in list(self._attached.values()):
            heap.cancel()

    def __enter__(self) -> "Heap":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _stream(self, name: str, arguments: Sequence[Tuple[str, Optional[bytes]]]) -> _Stream:
        given = _c_arguments(arguments)
        return self._asked(
            lambda session, stream, err: _lib.hdx_answer_arrow(
                session.at, name.encode(), given, len(arguments), ctypes.byref(stream), ctypes.byref(err)
            )
        )

    def _asked(self, call: Callable[[_Session, _Stream, _Error], int]) -> _Stream:
        stream, err = _Stream(), _Error()
        with self._asking:
            if self._closed:
                raise Error("usage", "the heap is closed")
            if self._session.ended:
                self._finalizer.detach()
                self._open()
            code = self._interruptible(lambda session: call(session, stream, err))
        _raise(code, err)
        return stream

    def _aside(self) -> "Heap":
        """Returns this heap with a session of its own, for calls during which no stream of the session may be read."""
        with self._asking:
            if self._closed:
                raise Error("usage", "the heap is closed")
            if () not in self._attached:
                self._attached[()] = Heap(self._options, self._more, self._limit, watch=self._watch)
            return self._attached[()]

    def _first_rows(self, name: str, arguments: Sequence[Tuple[str, Optional[bytes]]], most: int) -> _shown.Page:
        """Returns the first rows of an answer, and how many rows follow them."""
        pages: List[_shown.Page] = []

        def read_page(rows: ctypes.c_void_p, err: _Error) -> int:
            count, pieces = ctypes.c_uint(), _Pieces()
            options = _native.RenderOptions(format=_native.HDX_FORMAT_JSONL)
            declared = _lib.hdx_rows_columns(rows, ctypes.byref(count))
            columns = [_column(declared[place]) for place in range(count.value)]
            code = _lib.hdx_render(rows, ctypes.byref(options), ctypes.byref(pieces.sink), ctypes.byref(err))
            if code == 0:
                read = [list(json.loads(line).values()) for line in pieces.text().splitlines()]
                what = _native.RowsCut()
                cut, more = None, 0
                if _lib.hdx_rows_cut_off(rows, ctypes.byref(what)):
                    cut = {name: getattr(what, name) or None for name in ("rows", "objects", "retained")}
                    cut["cursor"] = _text(what.cursor)
                    more = cut["rows"] or -1
                reason = "" if read else _text(_lib.hdx_rows_empty_reason(rows))
                pages.append(_shown.Page(columns, read, more, cut, reason))
            return int(code)

        self._with_rows(name, [("document", b"false"), *arguments, ("limit", str(most).encode())], read_page)
        return pages[0]

    def _with_rows(
        self,
        name: str,
        arguments: Sequence[Tuple[str, Optional[bytes]]],
        use: Callable[[ctypes.c_void_p, _Error], int],
    ) -> None:
        """Calls `use` with the rows of an answer, which are open during this call only; it returns a code."""
        given = _c_arguments(arguments)

        def call(session: _Session, _: _Stream, err: _Error) -> int:
            rows = ctypes.c_void_p()
            code = _lib.hdx_answer_run(
                session.at, name.encode(), given, len(arguments), ctypes.byref(rows), ctypes.byref(err)
            )
            if code != 0:
                return int(code)
            try:
                return use(rows, err)
            finally:
                _lib.hdx_rows_close(rows)

        self._aside()._asked(call)

    def report(
        self,
        path: Union[str, "os.PathLike[str]", None] = None,
        format: str = "html",
        quick: bool = False,
        redact: bool = False,
    ) -> "Report":
        """Returns the answers about the heap as one document, and writes it to the file ``path``.

        ``format`` is html (one file without scripts), md or json. ``quick`` omits answers that take seconds on a large
        heap, ``redact`` texts of the heap (labels, Strings, properties, names of threads). A notebook shows the
        document; ``str(report)`` is its text. An existing file is replaced when the new one is complete.
        """
        if format not in _FORMATS:
            raise Error("usage", f"no report format {format!r}; there are {', '.join(_FORMATS)}")
        options = _native.ReportOptions(format=_FORMATS[format], quick=quick, redact=redact)
        pieces = _Pieces()
        if path is not None:
            _check_output(path, [self._options.dump])
        self._aside()._asked(
            lambda session, _, err: int(
                _lib.hdx_report_write(
                    session.at, ctypes.byref(options), ctypes.byref(pieces.sink), ctypes.byref(err)
                )
            )
        )
        report = Report(pieces.text())
        report.kind, report._dump = format, self._options.dump
        if path is not None:
            report.write(path)
        return report

    def treemap(self, *object: Values, **options: Values) -> "Treemap":
        """Draws which class paths hold the memory: tiles are as large as what they retain; a notebook shows them.

        Options are those of ``heap.dominators(merge=True)`` and are explained there: ``heap.treemap(by="package",
        depth=2)``. ``least`` is 0.1% by default. ``str(treemap)`` is the SVG, ``treemap.write("app.svg")`` a file.
        """
        arguments = _given(_answers["dominators"], object, options)
        names = [name for name, _ in arguments]
        for name in ("columns", "where", "sort", "limit"):
            if name in names:  # the tiles would not add up to the whole
                raise Error("usage", f"a treemap needs all rows and columns: {name} cannot be used")
        if "least" not in names:  # as for the command: a picture shows more of the tree than a table
            arguments.append(("least", b"0.1%"))
        title = os.path.basename(self._options.dump) + b": dominator tree by class path"
        picture, pieces = _native.PictureOptions(format=_native.HDX_PICTURE_SVG, title=title), _Pieces()
        self._with_rows(
            "dominators",
            [*arguments, ("merge", b"true"), ("document", b"false")],
            lambda rows, err: int(
                _lib.hdx_picture_write(rows, ctypes.byref(picture), ctypes.byref(pieces.sink), ctypes.byref(err))
            ),
        )
        treemap = Treemap(pieces.text())
        treemap._dump = self._options.dump
        return treemap

    def _sql_stream(self, text: str, most: int) -> _Stream:
        def call(session: _Session, stream: _Stream, err: _Error) -> int:
            if not session.connections:
                names = (ctypes.c_char_p * max(len(self._names), 1))(*self._names)
                options, opened = _SqlOptions(names=names, name_count=len(self._names)), ctypes.c_void_p()
                code = _lib.hdx_sql_open(session.at, ctypes.byref(options), ctypes.byref(opened), ctypes.byref(err))
                if code != 0:
                    return int(code)
                session.connections.append(opened.value or 0)
            sql = session.connections[0]
            return int(_lib.hdx_sql_arrow(sql, statement, limit, ctypes.byref(stream), ctypes.byref(err)))

        statement, limit = _statement(text), min(most, (1 << 64) - 1)
        return self._asked(call)

    def _graph(self) -> ctypes.c_void_p:
        """Returns the hdx_graph of the dump, valid until the heap is closed; builds the index if it is missing."""
        graph = ctypes.c_void_p()
        self._asked(
            lambda session, _, err: int(
                _lib.hdx_session_graph(session.at, 0, ctypes.byref(graph), ctypes.byref(err))
            )
        )
        return graph

    def _translated(self, query: str) -> str:
        def call(session: _Session, _: _Stream, err: _Error) -> int:
            graph = ctypes.c_void_p()
            code = _lib.hdx_session_graph(session.at, 0, ctypes.byref(graph), ctypes.byref(err))
            return int(code or _lib.hdx_oql_translate(graph, statement, ctypes.byref(sql), ctypes.byref(err)))

        statement, sql = _statement(query), ctypes.c_void_p()
        self._asked(call)
        try:
            return _text(ctypes.string_at(sql.value or 0))
        finally:
            _lib.hdx_text_free(sql)

    def sql(
        self, statement: str, attach: Optional[Mapping[str, Union[str, "os.PathLike[str]"]]] = None
    ) -> Statement:
        """Returns the rows of one SQL statement: ``heap.sql("SELECT class, sum(shallow) FROM objects GROUP BY 1")``.

        Tables, functions and rules are those of the command sql (``man heapdex-sql``). Other dumps are schemas with
        names: ``heap.sql("SELECT count(*) FROM old.objects", attach={"old": "before.hprof"})``. The statement runs
        each time that its rows are read.
        """
        return Statement(self._with_dumps(attach or {}), statement)

    def oql(self, query: str) -> Statement:
        """Returns the rows of an OQL query of Eclipse MAT: ``heap.oql("SELECT m.size FROM java.util.HashMap m")``.

        The query is translated to SQL, which is its ``text``.
        """
        return Statement(self, query, oql=True)

    def _with_dumps(self, attach: Mapping[str, Union[str, "os.PathLike[str]"]]) -> "Heap":
        """Returns this heap, or one with the other dumps under their names that is open until this heap is closed."""
        if not attach:
            return self
        dumps = tuple((name, _whole(os.fsencode(dump))) for name, dump in attach.items())
        for name, dump in dumps:
            if not os.path.exists(dump):
                raise Error("bad_dump", "no such file", os.fsdecode(dump))
        with self._asking:
            if self._closed:
                raise Error("usage", "the heap is closed")
            if dumps not in self._attached:
                names = [_whole(name.encode()) for name, _ in dumps]
                paths = [dump for _, dump in dumps]
                self._attached[dumps] = Heap(self._options, paths, self._limit, names, self._watch)
            return self._attached[dumps]

    def table(self, name: str) -> Table:
        """Returns a whole table; ``heap.objects`` is ``heap.table("objects")``."""
        if name not in _tables:
            raise AttributeError(f"there is no table {name!r}; there are {', '.join(TABLES)}")
        return Table(self, name)

    def answer(self, name: str) -> Answer:
        """Returns an answer; ``heap.free_if`` is ``heap.answer("free-if")``."""
        if name not in _answers:
            raise AttributeError(f"there is no answer {name!r}; there are {', '.join(ANSWERS)}")
        return Answer(self, name)

    def __getattr__(self, name: str) -> Any:
        if name in _tables:
            return Table(self, name)
        for answer in (name, name.replace("_", "-")):
            if answer in _answers:
                return Answer(self, answer)
        raise AttributeError(f"a heap has no {name!r}; tables are {', '.join(TABLES)}, answers {', '.join(ANSWERS)}")

    def __dir__(self) -> List[str]:
        return sorted({*super().__dir__(), *TABLES, *(name.replace("-", "_") for name in ANSWERS)})

    def lazy(self, table: str, **options: Values) -> Any:
        """Returns a table as a polars.LazyFrame. heapdex applies its columns, limits and comparisons with constants.

        DuckDB passes its filters and columns to such a frame, too. Answers without required options also work
        (``heap.lazy("histogram")``).
        """
        from ._lazy import lazy

        if table in _tables and not options:
            return lazy(self.table(table))
        return lazy(self.answer(table)(**options))


def open(
    dump: Union[str, "os.PathLike[str]"],
    *more: Union[str, "os.PathLike[str]"],
    index_dir: Union[str, "os.PathLike[str]", None] = None,
    dump_number: int = 1,
    threads: int = 0,
    memory: int = 0,
    build: bool = True,
    progress: Union[bool, Callable[[Progress], Any]] = False,
) -> Heap:
    """Opens a heap dump, or the folder of its index.

    The first query builds a missing index (``build=False``: it fails instead); ``memory`` limits the memory of builds
    and queries, in bytes. Further dumps are for answers about several dumps (``heap.leaks()``). ``progress=True`` shows
    a bar while a build or a long query runs, in a notebook or on a terminal; a function gets a ``heapdex.Progress``
    several times a second instead, and an exception that it raises ends the query.
    """
    if not os.path.exists(dump):
        raise Error("bad_dump", "no such file", os.fspath(dump))
    options = _Options(
        dump=_whole(os.fsencode(dump)),
        index_dir=None if index_dir is None else _whole(os.fsencode(index_dir)),
        dump_number=dump_number,
        threads=threads,
        memory=memory,
        no_build=not build,
    )
    watch = _Watch(progress) if progress else None
    if watch is not None:
        options.progress = watch.options()
    return Heap(options, [_whole(os.fsencode(one)) for one in more], memory, watch=watch)
