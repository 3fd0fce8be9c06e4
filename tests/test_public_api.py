"""The public API: every name is there, editors and type checkers see the same names, and README's example runs."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tflm_sim

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", tflm_sim.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(tflm_sim, name) is not None


def test_completion_offers_every_public_name_and_no_helper() -> None:
    assert {name for name in dir(tflm_sim) if not name.startswith("__")} == {*tflm_sim.__all__} - {"__version__"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'abacus'"):
        tflm_sim.abacus  # noqa: B018


def test_the_stub_file_is_the_table_of_lazy_names() -> None:
    tree = ast.parse((ROOT / "tflm_sim/__init__.pyi").read_text("utf-8"))
    stub = {
        alias.asname: f"{node.module}:{alias.name}"
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    homes = {name: home if ":" in home else f"{home}:{name}" for name, home in tflm_sim._HOMES.items()}
    assert stub == homes
    offered = next(node.value for node in tree.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(offered) == tflm_sim.__all__


def python(code: str) -> str:
    """Return what a fresh Python prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_help_shows_the_api() -> None:
    shown = python("import pydoc, tflm_sim; print(pydoc.plain(pydoc.render_doc(tflm_sim)))")
    for name in ("class Simulation", "shrink(", "load(", "draw_arena("):
        assert name in shown


def test_without_numpy_help_still_works_and_shrink_says_what_it_needs() -> None:
    hidden = "import sys, importlib.machinery as m; f = m.PathFinder.find_spec; "
    hidden += "m.PathFinder.find_spec = lambda n, *a: None if n == 'numpy' else f(n, *a); "
    shown = python(
        f"{hidden}import pydoc, tflm_sim\n"
        "print('smallest_arena(' in pydoc.render_doc(tflm_sim), 'shrink' in dir(tflm_sim))\n"
        "try:\n    tflm_sim.shrink\nexcept ImportError as error:\n    print(error)"
    )
    assert shown == "True False\ntflm_sim.shrink needs numpy: pip install 'tflm_sim[numpy]'\n"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_use_public_names_alone(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = "".join("".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code")
    assert re.findall(r"(?:from|import) tflm_sim\.\S+", code) == []


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.tflite").write_bytes(tflm_sim.sample_path("sine").read_bytes())
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    exec(compile(example[1], "README.md", "exec"), {})
