"""Reads a page that heapdex wrote: read_page.py PAGE.html DOCUMENT.json

The page must be well-formed, allow its own style by its hash and nothing else, and have no script, no attribute that
could run one, no style attribute and no address of another file. Its rows, its totals and the lists of the document
must have the numbers of the document that --format json wrote. Prints how many values were compared.
"""

import base64
import hashlib
import html.parser
import json
import re
import sys

VOID = {"meta", "br", "polyline"}
KNOWN = {"html", "head", "title", "style", "body", "main", "nav", "h1", "h2", "h3", "section", "p", "b", "span", "div",
         "table", "thead", "tbody", "tr", "th", "td", "pre", "details", "summary", "dl", "dt", "dd", "ul", "ol", "li",
         "a", "svg"} | VOID
KNOWN_ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "id", "class", "tabindex", "scope", "title",
                    "width", "height", "viewbox", "role", "fill", "stroke", "stroke-width", "points", "aria-label",
                    "href"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.section, self.tables, self.facts, self.text = [], None, {}, {}, []
        self.style = self.policy = self.name = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        assert tag in KNOWN, tag
        assert set(given) <= KNOWN_ATTRIBUTES, given
        assert given.get("href", "#").startswith("#"), given
        if tag in ("td", "th"):
            self.end_cell()
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag == "section":
            self.section = given["id"]
        elif tag == "table":
            self.tables[self.section] = []
        elif tag == "tr":
            self.tables[self.section].append([])
        elif tag in ("td", "th"):
            self.tables[self.section][-1].append({"text": ""})
        elif tag == "span" and "title" in given and "td" in self.open:
            self.cell()["exact"] = given["title"]
        elif tag == "polyline":
            self.cell()["points"] = len(given["points"].split())
        elif tag in ("dt", "dd"):
            self.name = "" if tag == "dt" else self.name
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if tag == "tr":
            self.end_cell()
        assert self.open and self.open.pop() == tag, tag

    def end_cell(self):
        """The end of a cell is not written: the next cell or the end of the row ends it."""
        if self.open[-1] in ("td", "th"):
            self.open.pop()

    def cell(self):
        return self.tables[self.section][-1][-1]

    def handle_data(self, data):
        self.text.append(data)
        inside = self.open[-1] if self.open else None
        if inside == "style":
            self.style = data
        elif inside == "dt":
            self.name += data
        elif inside == "dd":
            self.facts[self.name] = data
        elif inside == "title" and "svg" in self.open:
            self.cell()["values"] = [int(value) for value in data.split(", ")]
        elif "td" in self.open or "th" in self.open:
            self.cell()["text"] += data


def number(cell):
    text = cell["text"]
    if "exact" in cell:
        value = float(cell["exact"].removesuffix(" bytes"))
        assert value >= 0 or text.startswith("-"), cell
        return value
    return float(text.replace(",", "").rstrip("%"))


def compare(cell, value):
    """Compares a cell with a value of the document. Returns the number of values that were compared."""
    if value is None:
        assert cell["text"] == "-", cell
    elif "values" in cell:
        assert cell["points"] == len(cell["values"]) <= 30, cell
        step = [value[i * (len(value) - 1) // (cell["points"] - 1)] for i in range(cell["points"])]
        assert cell["values"] == step, (cell, value)
    elif isinstance(value, bool) or isinstance(value, (list, dict)):
        return 0
    elif isinstance(value, str):
        shown, visible = cell["text"], value.replace("\u202e", r"\xe2\x80\xae")
        assert shown == visible or re.match(r"[0-9-]{10} [0-9:]{8} UTC", shown) or "…" in shown, (cell, value)
    elif "UTC" in cell["text"]:
        return 0
    else:
        close = 0.0501 if "%" in cell["text"] else 0.5 if abs(value) < 1e5 or "exact" in cell else abs(value) / 1e4
        assert abs(number(cell) - value) <= close, (cell, value)
    return 1


def compare_table(table, rows):
    heads, compared = [cell["text"] for cell in table[0]], 0
    for shown, row in zip(table[1:], rows):
        assert len(shown) == len(heads), shown
        for head, cell in zip(heads, shown):
            compared += compare(cell, row[head.replace(" ", "_")])
    return compared


def main(page_file, document_file):
    page, document = Page(), json.load(open(document_file, encoding="utf-8"))
    text = open(page_file, encoding="utf-8").read()
    page.feed(text)
    page.close()
    assert not page.open, page.open
    heads = [cell["text"] for table in page.tables.values() for cell in table[0]]
    assert all(heads), heads
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert page.policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert len(text.encode()) <= 1500000
    compared = 0
    rows = page.tables.get("rows", [[]])
    total = document.get("total")
    if total is not None and len(rows) > 1:
        compared += compare_table([rows[0], rows.pop()], [dict.fromkeys(
            (cell["text"].replace(" ", "_") for cell in rows[0]), "total") | total])
    assert len(rows) - 1 == min(len(document["rows"]), 100) or "Left out of this page" in text, len(rows)
    compared += compare_table(rows, document["rows"])
    for key, list_ in document.items():
        if key in page.tables and key != "rows":
            compared += compare_table(page.tables[key], list_)
    for key, value in document.get("check", {}).items():
        assert page.facts[key] == str(value).lower(), key
    print(f"{len(rows) - 1} rows, {compared} values, {text.count('<div class=card>')} cards")


main(*sys.argv[1:])
