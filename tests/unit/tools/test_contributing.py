"""News of a change become a section of the changelog."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

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
