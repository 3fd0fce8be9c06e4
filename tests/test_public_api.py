"""The public API: every name is there, the type checker sees the same names, and README's example runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tflm_sim

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("name", tflm_sim.__all__)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(tflm_sim, name) is not None


def test_completion_offers_every_public_name() -> None:
    assert set(tflm_sim.__all__) <= set(dir(tflm_sim))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'abacus'"):
        tflm_sim.abacus  # noqa: B018


def test_the_type_checker_sees_the_same_names() -> None:
    tree = ast.parse((ROOT / "tflm_sim/__init__.py").read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == set(tflm_sim.__all__) - {"__version__"}


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.tflite").write_bytes(tflm_sim.sample_path("sine").read_bytes())
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert example is not None
    exec(compile(example[1], "README.md", "exec"), {})
