"""``plan --write`` in the pip wheel: it takes the plan, needs what was predicted, and not a step less."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.cli import main
from tflm_sim.model.load import parse
from tflm_sim.planners import native
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

pytestmark = pytest.mark.skipif(not native.available(), reason="the C extension was not built")

Same = Callable[..., Simulation]


def check_in_wheel(source: Path, out: Path, same_as_wheel: Same, capsys: pytest.CaptureFixture[str]) -> bool:
    """Write a plan and try it; False where no plan makes the arena smaller."""
    code = main(["plan", str(source), "--target", "x86_64-pip", "--optimal", "--write", str(out), "--json"])
    arena = json.loads(capsys.readouterr().out)["arena"]
    if code == 1:
        assert not out.exists()
        assert arena["saved_bytes"] <= 0
        return False
    data = out.read_bytes()
    smallest = smallest_arena(parse(data), preset("x86_64-pip")).multiple_of_16
    assert same_as_wheel(data).head_bytes == arena["head_after_bytes"]
    assert same_as_wheel(data, smallest).status == "ok"
    assert same_as_wheel(data, smallest - 16).status == "error"
    return True


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_with_a_written_plan_or_left_alone(
    sample: str, tmp_path: Path, same_as_wheel: Same, capsys: pytest.CaptureFixture[str]
) -> None:
    check_in_wheel(sample_path(sample), tmp_path / "planned.tflite", same_as_wheel, capsys)


def test_the_wheel_uses_a_written_plan_that_is_lower_than_its_own(
    chain: Callable[..., Any], tmp_path: Path, same_as_wheel: Same, capsys: pytest.CaptureFixture[str]
) -> None:
    """Greedy places 6400 at 0, the next at 6400 and 1600 above both: 14400. The 1600 between them needs 12800."""
    source = tmp_path / "chain.tflite"
    source.write_bytes(bytes(chain(6400, 1600, 6400, 6400).source))
    assert same_as_wheel(source.read_bytes()).head_bytes == 14_400
    assert check_in_wheel(source, tmp_path / "planned.tflite", same_as_wheel, capsys)
    assert same_as_wheel((tmp_path / "planned.tflite").read_bytes()).head_bytes == 12_800
