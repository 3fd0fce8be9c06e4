"""The pictures of the documentation show the words and the numbers that their pages show today."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from release import screenshots

pytestmark = pytest.mark.nightly


def test_the_pictures_show_what_the_pages_do(browser: Any, tmp_path: Path) -> None:
    names = [*screenshots.SHOTS, *([screenshots.SERVE] if screenshots.PYODIDE.exists() else [])]
    looks = screenshots.looks(browser, names, tmp_path, may_download=False)
    now = {name: texts for name, _, texts in looks}
    before = json.loads(screenshots.SHOWN.read_text("utf-8"))
    assert screenshots.differences(now, before) == []
    assert {*before} == {*screenshots.SHOTS, screenshots.SERVE}


def test_another_number_or_word_is_a_difference() -> None:
    before = {"page": ["82,280 B", "head"]}
    assert screenshots.differences({"page": ["82,280 B", "head"]}, before) == []
    (line,) = screenshots.differences({"page": ["82,284 B", "head"]}, before)
    assert line.startswith("page: shows ['82,280 B'], the page ['82,284 B']; take it again: ")


@pytest.mark.parametrize("theme", screenshots.THEMES)
@pytest.mark.parametrize("name", [*screenshots.SHOTS, screenshots.SERVE])
def test_each_has_two_pixels_for_one(name: str, theme: str) -> None:
    data = (screenshots.DOCS / f"{name}-{theme}.png").read_bytes()
    width = int.from_bytes(data[16:20], "big")
    shot = screenshots.SHOTS.get(name)
    assert width == 2 * (1100 if shot is None else shot.width)
