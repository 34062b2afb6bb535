"""The notebook of examples/, executed by a kernel of Jupyter: what its cells show, and the progress bar."""

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

try:
    import duckdb  # noqa: F401
    import ipykernel  # noqa: F401
    import nbclient
    import nbformat
    import pandas  # noqa: F401
    import polars  # noqa: F401
    import pyarrow  # noqa: F401
    MISSING = ""
except ImportError as why:
    MISSING = f"the notebook is not executed: {why}; python/tests/notebook installs what it needs"

import heapdex

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CACHE = 4273049256  # address of the session cache
FOLDERS = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")
EVERY_STEP = "from heapdex import _progress\n_progress.DELAY, _progress.INTERVAL = 0, 0.001"


def execute(book, folder):
    """Executes a notebook and returns the HTML that was displayed meanwhile, also what a later display replaced."""
    displayed = []

    class Client(nbclient.NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] in ("display_data", "update_display_data"):
                displayed.append(msg["content"]["data"].get("text/html", ""))
            return super().process_message(msg, cell, cell_index)

    own = {name: os.path.join(folder, name) for name in FOLDERS}
    with mock.patch.dict(os.environ, own):
        Client(book, timeout=120, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return displayed


@unittest.skipIf(MISSING, MISSING)
class Notebook(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.dump = shutil.copy(EXAMPLES / "bookshop.hprof.gz", cls.folder)
        book = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
        nbformat.validate(book)
        first = next(place for place, cell in enumerate(book.cells) if cell.cell_type == "code")
        book.cells.insert(first, nbformat.v4.new_code_cell(EVERY_STEP))
        cls.displayed = execute(book, cls.folder)
        cls.cells = {cell.id: cell for cell in book.cells}

    def shown(self, cell, kind="text/html"):
        """Returns what a cell shows as its result."""
        results = [out.data for out in self.cells[cell].outputs if out.output_type == "execute_result"]
        self.assertEqual(len(results), 1, self.cells[cell].outputs)
        return results[0][kind]

    def test_the_bar_is_drawn_and_erased(self):
        drawn = [html for html in self.displayed if "<progress" in html]
        self.assertTrue(drawn, self.displayed)
        for html in drawn:
            self.assertRegex(html, r"^<progress( value=\"[01]\.\d{3}\")?></progress> .+ \(\d+ of \d+\)$")
        bar = [out for out in self.cells["open"].outputs if out.output_type == "display_data"]
        self.assertEqual([out.data["text/html"] for out in bar], [""])

    def test_rows_are_tables(self):
        suspects = self.shown("open")
        self.assertIn("bookshop.Bookshop$SessionCache", suspects)
        self.assertIn("1.9 MB", suspects)
        path = self.shown("path")
        for value in ("clerk", heapdex.address(CACHE)):
            self.assertIn(f'<td style="text-align:left">{value}</td>', path)

    def test_pandas_polars_and_duckdb_have_the_numbers(self):
        for cell, values in (
            ("histogram", ("byte[]", "4669", "2089072")),
            ("dominators", ("bookshop.Bookshop$SessionCache", str(CACHE), "1965232")),
            ("duckdb", ("byte[]", "929", "1935888")),
        ):
            html = self.shown(cell).replace("&quot;", "")  # polars has quotes
            for value in values:
                self.assertIn(f">{value}</td>", html, cell)

    def test_the_treemap_is_svg(self):
        with heapdex.open(self.dump) as heap:
            self.assertEqual(self.shown("treemap", "image/svg+xml"), str(heap.treemap()))

    def test_the_report_is_a_document(self):
        report = self.shown("report")
        self.assertTrue(report.startswith("<iframe sandbox "), report[:80])
        self.assertIn("bookshop.Bookshop$SessionCache", report)

    def test_is_stored_without_outputs_and_with_words(self):
        text = (EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8")
        self.assertLess(len(text), 50_000)
        cells = json.loads(text)["cells"]
        for before, cell in zip(cells, cells[1:]):
            if cell["cell_type"] == "code":
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None))
                self.assertEqual(before["cell_type"], "markdown")
