"""``ArenaChecker`` without a run of pytest inside: sizes to the byte, and each line of what it says.

Sine needs 1,168 B of a Cortex-M4 with its default kernels, and the plan has 32 B.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.checks.lifetime_answers import HEAD
from tflm_sim.device.configuration import configure
from tflm_sim.errors import UsageError
from tflm_sim.extensions.ci.pytest_plugin import checker as module
from tflm_sim.extensions.ci.pytest_plugin.checker import ArenaChecker
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import TensorType

NEEDED = 1168


def checker(name: str = "sample:sine", **how: Any) -> ArenaChecker:
    return ArenaChecker("m", load(name), configure("cortex-m4"), **how)


def failure(call: Any, *given: Any, **how: Any) -> list[str]:
    """Return the lines of the assertion that fails."""
    with pytest.raises(AssertionError) as failed:
        call(*given, **how)
    return str(failed.value).split("\n")


def test_an_arena_is_the_given_one_else_the_limit_else_the_smallest() -> None:
    plain, limited = checker(), checker(limit=2048)
    assert (plain.size(), plain.simulate().arena_size, plain.simulate("2KiB").arena_size) == (NEEDED, NEEDED, 2048)
    assert (limited.simulate().arena_size, limited.simulate(4096).arena_size) == (2048, 4096)
    assert checker(limit=0).simulate().arena_size == 0


def test_a_model_fits_to_the_byte() -> None:
    checker(limit=NEEDED).assert_fits()
    checker(limit=16).assert_fits(NEEDED)
    lines = failure(checker(limit=NEEDED - 16).assert_fits)
    assert lines[0] == "no: m does not fit on cortex-m4: it needs 1,168 B, 16 B more than 1,152 B"
    assert lines[1].startswith("in 1,152 B: ")
    assert lines[2].startswith("the device prints: ")
    with pytest.raises(UsageError, match="assert_fits\\(\\) needs a limit"):
        checker().assert_fits()
    with pytest.raises(AssertionError, match="1,168 B more than 0 B"):
        checker().assert_fits(0)


def test_a_model_without_a_kernel_fails_in_an_arena_of_any_size() -> None:
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 4), TensorType.INT8) for _ in range(2))
    builder.custom("NOBODY_KNOWS", [source], [result])
    model = parse(builder.build(inputs=[source], outputs=[result]))
    (line,) = failure(ArenaChecker("m", model, configure("cortex-m4"), limit=4096).assert_fits)
    assert line.startswith("no: m fails in an arena of any size: ")


def test_who_needs_it_are_the_last_thing_the_tail_and_the_head() -> None:
    arena = checker()
    lines = arena._who_needs_it()
    assert lines[0].startswith("the last thing that does not fit in a byte less: ")
    tail = lines.index(f"tail {arena.roomy.tail_bytes:,} B:")
    head = next(index for index, line in enumerate(lines) if line.startswith("head 32 B, fullest at "))
    rows = [int(line.split()[0].replace(",", "")) for line in lines[tail + 1 : head]]
    used = sorted((row.used for row in arena.roomy.ledger.groups.values()), reverse=True)
    assert rows == used[:5]
    assert len(used) > 5
    lives, peak = arena.lifetimes(), arena.roomy.peak
    assert peak is not None
    alive = [life for life in lives.buffers if life.home == HEAD and lives.is_alive(life, peak.scope)]
    drawn = [line for line in lines[head + 1 :] if "[" in line]
    assert len(drawn) == len(alive)


def test_growth_is_more_than_before_and_a_baseline_may_have_to_be_there(tmp_path: Path) -> None:
    arena = checker()
    arena.compare(100, 100, "b")
    arena.compare(100, 101, "b")
    arena.compare(100, None, "b", must_exist=False)
    assert failure(arena.compare, 1100, 100, "b")[0] == "m needs 1,000 B more than before: 100 -> 1,100 B (b)"
    assert failure(arena.compare, 100, None, "b") == [
        f"b has no size for {arena.key}: run pytest with --arena-update-baseline once"
    ]
    told: list[Any] = []
    checker(remember=lambda *given: told.append(given)).assert_no_growth(tmp_path / "b.json")
    assert told == [(tmp_path / "b.json", arena.key, NEEDED)]


def test_a_sound_model_is_invoked_ten_times_and_findings_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    found: list[str] = []

    def sanitize(*_: Any, invocations: int) -> list[str]:
        asked.append(invocations)
        return found

    monkeypatch.setattr(module, "sanitize", sanitize)
    checker().assert_sound()
    checker().assert_sound(3)
    assert asked == [10, 3]
    found += ["f", "g"]
    assert failure(checker().assert_sound) == ["2 findings in m:", "f", "g"]


def chain() -> ArenaChecker:
    """Return twelve operators, one after the other."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=f"t{index}") for index in range(13)]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    model = parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    return ArenaChecker("m", model, configure("cortex-m4"))


def test_what_takes_over_the_bytes_is_named_at_the_operators_where_it_does() -> None:
    arena = chain()
    arena.assert_alive("t0", during=0)
    arena.assert_alive("t1", during=0)
    arena.assert_alive("t1", during=1)
    for during, taker in ((1, "t2"), (2, "t2"), (3, "t4")):
        line = failure(arena.assert_alive, "t0", during=during)[0]
        assert line.startswith(
            f"tensor 0 (t0) is not alive during RELU #{during}: it lives from the inputs to RELU #0; "
        )
        assert line.endswith(f"by then its bytes belong to tensor {taker[1:]} ({taker})")


def test_two_tensors_reuse_bytes_or_it_is_told_why_not() -> None:
    arena = chain()
    arena.assert_reuses("t0", "t2")
    lines = failure(arena.assert_reuses, "t0", "t1")
    assert lines[:2] == ["tensor 0 (t0) and tensor 1 (t1) have no byte in common:", "they are alive at the same time"]
    lines = failure(arena.assert_reuses, "t0", "t3")
    assert lines[0] == "tensor 0 (t0) and tensor 3 (t3) have no byte in common:"
    assert lines[1].startswith("tensor 0 (t0)")


def test_a_tensor_that_no_operator_names_is_never_alive() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=name) for name in "ab")
    builder.tensor((1, 16), TensorType.INT8, scale=0.5, name="idle")
    builder.operator("RELU", [a], [b])
    arena = ArenaChecker("m", parse(builder.build(inputs=[a], outputs=[b])), configure("cortex-m4"))
    assert failure(arena.assert_alive, "idle", during=0) == [
        "tensor 2 (idle) is not alive during RELU #0: no operator that runs names it"
    ]
    arena.assert_alive("a", during=0)
