"""The site's pages of the notebooks: executed, with what they print, where a link to the notebook leads."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from release import notebooks

ROOT = Path(__file__).resolve().parents[2]


class Exporter:
    """Stands for nbconvert's, which only the site's set-up installs: the page is what the cells printed."""

    def from_notebook_node(self, notebook: Any, *, resources: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the page."""
        return "".join(output["text"] for cell in notebook.cells for output in cell.outputs), resources


@pytest.mark.nightly
def test_a_page_has_what_a_notebook_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nbclient", "ipykernel"):
        pytest.importorskip(name)
    monkeypatch.setitem(sys.modules, "nbconvert", SimpleNamespace(HTMLExporter=Exporter))
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setattr(notebooks, "NOTEBOOKS", tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(6 * 7000)")])
    nbformat.write(notebook, tmp_path / "sum.ipynb")
    notebooks.write_page(tmp_path / "sum.ipynb", tmp_path / "site")
    assert (tmp_path / "site" / "sum.ipynb" / "index.html").read_text("utf-8") == "42000\n"


def test_every_notebook_has_a_row_of_the_documents_table() -> None:
    linked = re.findall(r"\(\.\./notebooks/(\S+\.ipynb)\)", (ROOT / "docs/notebooks.md").read_text("utf-8"))
    assert linked == sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
