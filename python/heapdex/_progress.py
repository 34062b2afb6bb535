"""Progress of builds and long questions: a bar on a terminal or in a notebook, or a function of the caller.

The library reports on its own threads, which only note the report. The thread that waits for the call draws it, so an
exception (Ctrl-C, or of the caller's function) ends the call.
"""

from __future__ import annotations

import ctypes
import shutil
import sys
import time
import weakref
from typing import Any, Callable, NamedTuple, Optional, Union

from heapdex import _native

INTERVAL = 0.1  # seconds between two drawings
DELAY = 0.3  # seconds of a call before the first one
WIDTH = 30  # characters of a bar


class Progress(NamedTuple):
    """A report: `done` of `total` (0: unknown), in `unit`, of the step `number` of `steps`."""

    step: str
    number: int
    steps: int
    done: int
    total: int
    unit: str

    @property
    def share(self) -> float:
        """Part of the step that is done, from 0 to 1; 0 if the total is unknown."""
        return min(self.done / self.total, 1.0) if self.total > 0 else 0.0


class _Terminal:
    def draw(self, report: Progress) -> None:
        filled = int(report.share * WIDTH)
        line = f"{report.step} ({report.number} of {report.steps}) [{'#' * filled}{'.' * (WIDTH - filled)}] "
        line += f"{report.share:.0%}" if report.total > 0 else f"{report.done:,} {report.unit}"
        columns = shutil.get_terminal_size().columns
        sys.stderr.write("\r" + line[: max(columns - 1, 1)] + "\x1b[K")
        sys.stderr.flush()

    def erase(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook:
    """A display that is updated in place."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def _show(self, html: str) -> None:
        data = {"text/html": html, "text/plain": ""}
        if self._handle is None:
            self._handle = self._display.display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)

    def draw(self, report: Progress) -> None:
        value = f' value="{report.share:.3f}"' if report.total > 0 else ""  # without a value the bar only moves
        self._show(f"<progress{value}></progress> {report.step} ({report.number} of {report.steps})")

    def erase(self) -> None:
        self._show("")


class _Function:
    def __init__(self, function: Callable[[Progress], Any]) -> None:
        self.draw = function

    def erase(self) -> None:
        pass


_Bar = Union[_Terminal, _Notebook, _Function]


def _bar() -> Optional[_Bar]:
    """Returns a bar if standard error is a terminal or a notebook runs. IPython is only used if it is loaded."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    if ipython is not None and getattr(shell, "kernel", None) is not None:
        return _Notebook(ipython.display)
    try:
        return _Terminal() if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # no standard error, or a closed one
        return None


class Watch:
    """What the library reports about the calls of a heap."""

    def __init__(self, wanted: Union[bool, Callable[[Progress], Any]]) -> None:
        self._function = wanted if callable(wanted) else None
        self.last: Optional[Progress] = None
        _watches[id(self)] = self

    def options(self) -> _native.Progress:
        """Returns the callbacks for the library. They remain valid after the watch, as streams may still report."""
        return _native.Progress(context=id(self), report=ctypes.cast(_reporter, ctypes.c_void_p))

    def wait(self, working: Any) -> None:
        """Waits until `working`, a lock, can be acquired, and shows what is reported meanwhile."""
        bar: Optional[_Bar] = _Function(self._function) if self._function is not None else _bar()
        drawn, begin, self.last = False, time.monotonic(), None
        if bar is None:
            working.acquire()
            return
        try:
            while not working.acquire(timeout=INTERVAL):
                report = self.last
                if report is not None and time.monotonic() - begin >= DELAY:
                    drawn = True
                    bar.draw(report)
        finally:
            if drawn:
                bar.erase()


_watches: "weakref.WeakValueDictionary[int, Watch]" = weakref.WeakValueDictionary()


def _receive(context: Optional[int], report: Any) -> None:
    watch = _watches.get(context or 0)
    if watch is not None:
        of = report.contents
        step, unit = (of.step or b"").decode(), (of.unit or b"").decode()
        watch.last = Progress(step, of.number, of.steps, of.done, of.total, unit)


_reporter = _native.Reporter(_receive)
