"""The near tests of a file are found by its name and by who imports it."""

from __future__ import annotations

from pathlib import Path

import near
import pytest


@pytest.fixture(scope="module")
def tree() -> near.Tree:
    return near.Tree()


def names(tree: near.Tree, path: str) -> list[str]:
    return [str(test.relative_to(near.ROOT / "tests")) for test in tree.near(near.ROOT / path)]


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("tflm_sim/planners/greedy.py", "unit/planners/test_greedy.py"),
        ("tflm_sim/units.py", "unit/test_units.py"),
        ("tflm_sim/cli/size.py", "cli/test_size.py"),
        ("tflm_sim/ops/reference/pad.py", "unit/ops/test_pad.py"),
        ("tflm_sim/extensions/lite/arena_planner.py", "unit/extensions/lite/test_arena_planner.py"),
        ("tflm_sim/ops/places.txt", "unit/ops/test_places.py"),
        ("tools/near.py", "unit/tools/test_near.py"),
    ],
)
def test_the_nearest_test_of_a_file_comes_first(tree: near.Tree, path: str, nearest: str) -> None:
    assert names(tree, path)[0] == nearest


def test_who_imports_a_module_is_near_and_a_test_is_near_itself(tree: near.Tree) -> None:
    assert "unit/device/test_static_memory_plan.py" in names(tree, "tflm_sim/planners/greedy.py")
    assert names(tree, "tests/unit/ops/test_pad.py") == ["unit/ops/test_pad.py"]


def test_pages_are_near_their_tests(tree: near.Tree) -> None:
    assert "docs/test_docs.py" in names(tree, f"docs/{'firmware'}.md")


def test_every_module_has_near_tests_and_no_more_than_can_be_run_in_seconds(tree: near.Tree) -> None:
    counts = {path: len(tree.near(path)) for path in (near.ROOT / "tflm_sim").rglob("*.py")}
    assert {path for path, count in counts.items() if not 0 < count <= 6} == set[Path]()


def test_without_a_near_test_it_says_so(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near.frame, "git", lambda *_: "")
    assert near.main([]) == 2
    assert capsys.readouterr().err == "no test is near what has changed: nothing has\n"
