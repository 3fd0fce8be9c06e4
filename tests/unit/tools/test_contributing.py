"""What contributors are told to run works: news of a release, and the benchmarks that are timed at every commit."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
NEWS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
TYPES = {row["directory"] for row in NEWS["type"]}


def test_every_news_fragment_is_of_a_type_that_there_is() -> None:
    fragments = [path for path in (ROOT / "newsfragments").iterdir() if path.name != "README.md"]
    assert [path.name for path in fragments if path.name.split(".")[-2] not in TYPES or path.suffix != ".md"] == []


def test_news_fragments_become_a_section_of_the_changelog(tmp_path: Path) -> None:
    pytest.importorskip("towncrier")
    for name in ("pyproject.toml", "CHANGELOG.md"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    (tmp_path / "newsfragments").mkdir()
    (tmp_path / "newsfragments/+sizes.change.md").write_text("Structs of 2027 are smaller.")
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", "9.9.9", "--name", "tflm_sim"]
    command += ["--date", "2027-01-01"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    written = (tmp_path / "CHANGELOG.md").read_text("utf-8")
    assert "## 9.9.9 (2027-01-01)" in written
    assert "- Structs of 2027 are smaller." in written
    assert written.index("## 9.9.9") < written.index("## 0.2.0")
    assert written.startswith("# Changelog\n")


def benchmarks() -> Iterator[tuple[Any, str, Any]]:
    """Yield each benchmark with the first of its parameters."""
    spec = importlib.util.spec_from_file_location("benchmarks", ROOT / "benchmarks/benchmarks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for kind in (module.Size, module.Plan, module.Command):
        for name in vars(kind):
            if name.startswith(("time_", "peakmem_", "track_")):
                yield kind, name, getattr(kind, "params", [None])[0]


@pytest.mark.parametrize(("kind", "name", "parameter"), list(benchmarks()))
def test_every_benchmark_runs(kind: Any, name: str, parameter: Any) -> None:
    arguments = () if parameter is None else (parameter,)
    benchmark = kind()
    if hasattr(benchmark, "setup"):
        benchmark.setup(*arguments)
    result = getattr(benchmark, name)(*arguments)
    assert isinstance(result, int) == name.startswith("track_")
