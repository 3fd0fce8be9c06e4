"""The notebooks run from a clean kernel, and stand in the repository with what they print and draw."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"
NAMES = (
    "01_size_an_arena",
    "02_persistent_vs_temp",
    "03_planners_side_by_side",
    "04_board_against_simulation",
    "05_shrink_to_fit",
    "06_search_under_a_budget",
    "07_phone_and_micro",
    "08_program_by_operator",
)


def test_these_are_all_notebooks() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_whoever_looks_at_it_in_the_repository_sees_its_pictures(name: str) -> None:
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    assert all(cell["metadata"] == {} for cell in cells)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", NAMES)
def test_it_runs_from_a_clean_kernel_and_draws(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    if name.startswith("04") and not (shutil.which("make") and shutil.which("cc")):
        pytest.skip("the loopback board is built with a C compiler")
    for variable in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setitem(os.environ, variable, str(tmp_path))
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": str(NOTEBOOKS)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
