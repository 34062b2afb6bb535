"""Tables for notebooks: HTML in which all text of a heap has passed ``text``.

Numbers are formatted as in the tables of the command. This module knows no library: it formats the values it is given.
"""

from __future__ import annotations

import html
import json
import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

ROWS = 50  #: rows of a table, unless ``head`` asks for more
MOST = 200  #: characters of a text

# Characters that act on a terminal, turn text around, or cannot be seen: the list of src/render/shown.c and surrogates.
_STEERS = (
    (0x0000, 0x001F), (0x007F, 0x009F), (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160),
    (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
    (0xD800, 0xDFFF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip


class Column(NamedTuple):
    """A column of an answer: its name, the names of its type and unit, a description, and whether a table omits it."""

    name: str
    type: str
    unit: str
    sentence: str
    wide: bool = False


class Page(NamedTuple):
    """The first rows of an answer."""

    columns: List[Column]
    rows: Sequence[Sequence[Any]]
    more: int = 0  #: number of further rows; -1: there are some, their number is not known
    cut: Optional[Dict[str, Any]] = None  #: what follows these rows; None: nothing
    reason: str = ""  #: why there are no rows, if that is known


def text(value: str, most: int = MOST) -> str:
    """Returns text of a heap as HTML: cut, control and direction characters visible, markup escaped.

    Nothing else puts text of a heap into HTML.
    """
    if len(value) > most:
        value = value[:most] + "…"
    if not value.isprintable():
        value = "".join(_visible(one) for one in value)
    return html.escape(value, quote=True)


def _visible(one: str) -> str:
    point = ord(one)
    if not any(first <= point <= last for first, last in _STEERS):
        return one
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"


def size(count: int) -> str:
    """Returns bytes for people: 1.2 MB."""
    if count < 0:
        return "-" + size(-count)
    if count < 1024:
        return f"{count} B"
    for place, unit in enumerate("KMGTPE", 1):
        tenths = (count * 10 + (1 << 10 * place - 1)) >> 10 * place
        if tenths < 10235 or unit == "E":  # otherwise it rounds to 1024 of this unit
            break
    return f"{tenths // 10}.{tenths % 10} {unit}B" if tenths < 10000 else f"{(tenths + 5) // 10} {unit}B"


def number(value: float, unit: str) -> str:
    """Returns a number as tables of the command show it: with its unit, or thousands separators for counts."""
    if unit == "percent" and math.isfinite(value):
        return "<0.1%" if 0 < value < 0.05 else f"{value:.1f}%"
    if isinstance(value, int):
        return size(value) if unit == "bytes" else f"{value:,}" if unit else str(value)
    if unit == "bytes" and 0 <= value < 1 << 64:
        return size(int(value))
    if unit == "seconds" and value >= 0:
        return f"{value:.3f} s" if value < 0.0995 else f"{value:.2f} s"
    return f"{value:.6g}"


def cell(value: Any, column: Column) -> str:
    """Returns a value of a row as HTML; null and absent values are empty."""
    if value is None or value == {"absent": True}:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if column.type == "address":
            return hex(int(value) & 0xFFFFFFFFFFFFFFFF)
        return number(value, column.unit)
    return text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _is_right(column: Column) -> bool:
    return column.type in ("unsigned", "signed", "real")


def table(page: Page, ways: str) -> str:
    """Returns the page as an HTML table. `ways` says how to get the rows that are not in it."""
    shown = [place for place, column in enumerate(page.columns) if not column.wide] or list(range(len(page.columns)))
    sides = ["right" if _is_right(column) else "left" for column in page.columns]
    out = ['<div style="overflow-x:auto"><table><thead><tr>']
    for place in shown:
        column = page.columns[place]
        title = f' title="{text(column.sentence, 1000)}"' if column.sentence else ""
        out.append(f'<th scope="col" style="text-align:{sides[place]}"{title}>{text(column.name)}</th>')
    out.append("</tr></thead><tbody>\n")
    for row in page.rows:
        out.append("<tr>")
        for place in shown:
            out.append(f'<td style="text-align:{sides[place]}">{cell(row[place], page.columns[place])}</td>')
        out.append("</tr>\n")
    out.append("</tbody></table></div>")
    notes = []
    if not page.rows:
        notes.append("No rows" + (f": {page.reason}." if page.reason else "."))
    if page.more:
        count = "More" if page.more < 0 else f"{page.more:,} more"
        follow = "row follows" if page.more == 1 else "rows follow"
        notes.append(f"{count} {follow}: {ways}.")
    hidden = [column.name for place, column in enumerate(page.columns) if place not in shown]
    if hidden:
        notes.append(f"Columns not shown: {', '.join(hidden)}.")
    out += [f"<p>{text(note, 1000)}</p>" for note in notes]
    return "".join(out)
