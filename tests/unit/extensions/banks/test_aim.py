"""``shrink --bank``: rewritings after which an Invoke() loads and stores less in slow banks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim import load, shrink, simulate
from tflm_sim.answers.offline_plan import with_offline_plan
from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.banks.aim import BankAim
from tflm_sim.extensions.banks.placement import BankQuestion
from tflm_sim.planners import native

pytestmark = pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing")


def slow_bytes(model: object, banks: list[str]) -> int | None:
    """Return the bytes in the slow bank by the best plan, as ``plan --bank`` has them."""
    placed = BankQuestion(simulate(model, "cortex-m7")).place(BankAim(banks).banks)  # type: ignore[arg-type]
    return None if placed.best is None else sum(placed.best.slowest_first)


def test_a_rewriting_is_kept_when_fewer_bytes_are_moved_in_the_slow_bank() -> None:
    banks = ["fast=20KiB", "slow=1MiB"]
    result = shrink("sample:residual", "cortex-m7", aim=BankAim(banks))
    before, after = slow_bytes("sample:residual", banks), slow_bytes(result.model, banks)
    (aim,) = result.aims
    assert before is not None
    assert after is not None
    assert after < before
    assert (aim.before, aim.after) == (f"{before:,} B in slow", f"{after:,} B in slow")
    assert aim.figures["slow: loaded and stored, an Invoke()"] == (before, after)
    assert result.verified


def test_a_model_that_has_no_plan_in_the_banks_is_brought_into_them_first() -> None:
    banks = ["fast=8KiB", "slow=40KiB"]
    assert slow_bytes("sample:residual", banks) is None
    result = shrink("sample:residual", "cortex-m7", aim=BankAim(banks))
    assert slow_bytes(result.model, banks) is not None
    assert result.aims[0].before == "no plan that fits (an arena of 55,000 B)"
    assert result.aims[0].figures["slow: it must have"][0] is None


def test_a_plan_of_the_model_that_replan_removes_is_not_in_the_way() -> None:
    planned, banks = with_offline_plan("sample:sine", "cortex-m7", "greedy"), ["fast=32", "slow=1MiB"]
    result = shrink(planned, "cortex-m7", replan=True, aim=BankAim(banks))
    assert result.aims[0].before == f"{slow_bytes('sample:sine', banks):,} B in slow"


def test_the_arena_of_each_step_is_that_of_its_model() -> None:
    result = shrink("sample:residual", "cortex-m7", aim=BankAim(["fast=20KiB", "slow=1MiB"]))
    simulated = [simulate(step.model, "cortex-m7").smallest for step in result.steps]
    assert [step.arenas for step in result.steps] == [(each.size,) for each in simulated if each is not None]


def test_banks_that_hold_the_whole_model_leave_nothing_to_gain() -> None:
    result = shrink("sample:sine", "cortex-m7", aim=BankAim(["fast=64KiB", "slow=1MiB"]))
    assert not result.has_gained
    assert bytes(result.data) == bytes(load("sample:sine").source)


@pytest.mark.parametrize("other", [{"goal": "8KiB"}, {"offline_plan": True}, {"loops": True}])
def test_what_is_of_one_arena_does_not_go_with_banks(other: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="which are of one arena"):
        shrink("sample:sine", "cortex-m7", aim=BankAim(["a=1KiB", "b=1MiB"]), **other)  # type: ignore[arg-type]


def test_the_command_writes_the_model_and_says_how_its_planner_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "small.tflite")
    options = ["--target", "cortex-m7", "--bank", "fast=20KiB", "--bank", "slow=1MiB"]
    assert main(["shrink", "sample:residual", *options, "-o", out]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert f"next: tflm-sim plan {out} {' '.join(options)} -o banks.h" in printed
    assert not [line for line in printed if "tensor_arena" in line]
    assert main(["plan", out, *options, "-o", str(tmp_path / "banks.h")]) == 0
    capsys.readouterr()
    assert main(["shrink", "sample:residual", *options, "--json"]) == 0
    (aim,) = json.loads(capsys.readouterr().out)["aims"]
    assert aim["has_gained"] is True


def test_an_option_of_one_arena_is_refused_beside_banks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shrink", "sample:sine", "--bank", "a=1KiB", "--bank", "b=1MiB", "--goal", "1KiB"]) == 2
    assert "--bank does not go with --goal" in capsys.readouterr().err
