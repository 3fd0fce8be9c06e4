"""What became of a model, in lines out of facts alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.extensions.shrink import text as module
from tflm_sim.extensions.shrink.shrunk import Gain, Shrunk, Sizes
from tflm_sim.extensions.shrink.text import ExecutedGain, executed_gain_lines, shrunk_document


def sizes(arena: int, head: int = 10, tail: int = 20) -> Any:
    return Sizes(arena, -(-arena // 16) * 16, head, tail)


def gain(before: int, after: int, target: str = "t", case: str = "") -> Any:
    percent = 100 * (before - after) / before
    return Gain(target, case, sizes(before), sizes(after, 1000), percent)


def pair(before: int, after: int, target: str = "t") -> Any:
    """A model on two arenas, of which what stays needs 506 B before and 606 after."""
    one = gain(before, after, target)
    first, last = SplitArenaSizes(506, before - 506), SplitArenaSizes(606, after - 606)
    return replace(one, before=replace(one.before, split=first), after=replace(one.after, split=last))


def shrunk(*gains: Any, **facts: Any) -> Shrunk:
    cost = SimpleNamespace(macs=1000, file_bytes=0, operators=10)
    known = {
        "data": b"", "model": None, "origin": SimpleNamespace(path="d/m.tflite"), "gains": gains or (gain(2000, 1500),),
        "before": cost, "after": SimpleNamespace(macs=1500, file_bytes=5, operators=9), "extra_operators": (),
        "bound": None, "steps": (), "rejected": (), "left_alone": (), "simulations": 1,
    }  # fmt: skip
    return Shrunk(**{**known, **facts})


@pytest.mark.parametrize(
    ("given", "goal", "line"),
    [
        (shrunk(), None, "m.tflite: 2,000 B -> 1,500 B on t (-25.0 %), +50.0 % MACs"),
        (shrunk(), 1500, "m.tflite: 2,000 B -> 1,500 B on t (-25.0 %), +50.0 % MACs; the goal of 1,500 B is met"),
        (shrunk(), 1499, "m.tflite: 2,000 B -> 1,500 B on t (-25.0 %), +50.0 % MACs; the goal of 1,499 B is NOT met"),
        (shrunk(gain(2000, 2000)), None, "m.tflite: nothing that we know makes it smaller"),
        (shrunk(gain(2000, 2000)), 2000, "m.tflite: 2,000 B on t are within the goal of 2,000 B as it is"),
        (
            shrunk(gain(2000, 2000)), 1999,
            "m.tflite: nothing that we know makes it smaller; the goal of 1,999 B is NOT met",
        ),
        (shrunk(gain(2000, 2000), stopped="s"), None, "m.tflite: nothing smaller was found before the search ended"),
        (shrunk(origin=SimpleNamespace(path="")), None, "model: 2,000 B -> 1,500 B on t (-25.0 %), +50.0 % MACs"),
        (shrunk(gain(100, 50, "a"), gain(9, 3, "b")), None, "m.tflite: 100 B -> 50 B on a (-50.0 %), +50.0 % MACs"),
        (shrunk(pair(2000, 1500)), None, "m.tflite: 2,000 B -> 1,500 B in two arenas on t (-25.0 %), +50.0 % MACs"),
        (
            shrunk(pair(2000, 2000)), 2000,
            "m.tflite: 2,000 B in two arenas on t are within the goal of 2,000 B as it is",
        ),
    ],
)  # fmt: skip
def test_the_headline_is_the_first_target_and_the_goal(given: Shrunk, goal: int | None, line: str) -> None:
    assert module._headline(given, goal) == line


def test_two_arenas_have_a_column_and_an_array_each() -> None:
    given = shrunk(pair(2000, 1500), pair(2000, 1500, "u"))
    rows = list(module.target_rows(given.gains))
    assert rows[0] == ["target", "both arenas", "saved", "persistent", "non-persistent"]
    assert rows[1:] == [[name, "2,000 -> 1,500", "25.0 %", "506 -> 606", "1,494 -> 894"] for name in "tu"]
    assert module.firmware_lines(given) == [
        "alignas(16) uint8_t persistent_arena[606];  // 606 B",
        "alignas(16) uint8_t non_persistent_arena[898];  // 898 B",
    ]
    assert module.firmware_lines(shrunk(pair(2000, 1500), pair(2000, 1480, "u")))[1:] == [
        "alignas(16) uint8_t non_persistent_arena[898];  // on t: 898 B",
        "alignas(16) uint8_t non_persistent_arena[882];  // on u: 882 B",
    ]
    mixed = list(module.target_rows((pair(2000, 1500), gain(2000, 1500))))
    assert mixed[0] == ["target", "arena", "saved", "head", "tail"]


def test_targets_that_gain_alike_are_a_row_and_costs_have_their_change() -> None:
    given = shrunk(gain(2000, 1500, case="a"), gain(2000, 1500, case="b"), gain(100, 50, "u"))
    rows = list(module.target_rows(given.gains))
    assert rows[0] == ["target", "arena", "saved", "head", "tail"]
    assert rows[1][1:] == ["2,000 -> 1,500", "25.0 %", "10 -> 1,000", "20 -> 20"]
    assert rows[1][0].startswith("t, ")
    assert rows[2] == ["u", "100 -> 50", "50.0 %", "10 -> 1,000", "20 -> 20"]
    assert list(module.cost_rows(given.before, given.after)) == [
        ["cost", "before", "after", "change"],
        ["multiply-accumulates", "1,000", "1,500", "+50.0 %"],
        ["bytes of the file", "0", "5", "-"],
        ["operators to run", "10", "9", "-10.0 %"],
    ]


def test_the_firmware_gets_the_largest_arena_and_more_operators() -> None:
    given = shrunk(gain(2000, 1500), gain(2000, 1601), extra_operators=("SLICE", "CONV_2D", "SPACE_TO_BATCH_ND"))
    assert module.firmware_lines(given) == [
        "alignas(16) uint8_t tensor_arena[1616];  // 1,616 B",
        "// 3 more in MicroMutableOpResolver<N>:",
        "resolver.AddSlice();",
        "resolver.AddConv2D();",
        "resolver.AddSpaceToBatchNd();",
    ]
    assert len(module.firmware_lines(shrunk())) == 1


@pytest.mark.parametrize(
    ("facts", "lines"),
    [
        ({}, ["not run: --prove 20 runs both in the real TFLM and compares every byte"]),
        (
            {"verified": "v", "proof": SimpleNamespace(fails_below=True, runs=1200, distinct=1, arena=1500)},
            [
                "verified: v",
                "proved: 1,200 runs in the real TFLM (x86-64), every output byte the same (1 distinct output), in "
                "1,500 B as predicted; fails with 16 B less",
            ],
        ),
        (
            {"proof": SimpleNamespace(fails_below=False, runs=2, distinct=0, arena=5)},
            [
                "proved: 2 runs in the real TFLM (x86-64), every output byte the same (0 distinct outputs), in 5 B as "
                "predicted; also runs with 16 B less"
            ],
        ),
        (
            {"program_proof": SimpleNamespace(runs=1200, program="p", distinct=1200, arena_before=None, arena=1500)},
            [
                "proved: 1,200 runs in p, executed, every output byte the same (1,200 distinct outputs; "
                "with damaged weights they differ); its smallest arena: unknown before, 1,500 B after"
            ],
        ),
    ],
)
def test_what_vouches_for_it(facts: dict[str, Any], lines: list[str]) -> None:
    assert module.trust_lines(shrunk(**facts)) == lines


def executed(before: int | None, after: int | None) -> ExecutedGain:
    return ExecutedGain(program="f", before={}, arena_before=before, after={}, arena_after=after)


@pytest.mark.parametrize(
    ("before", "after", "has_gained"),
    [(20, 10, True), (20, 20, False), (20, 21, False), (None, 10, True), (20, None, False), (None, None, False)],
)
def test_a_program_has_to_need_less(before: int | None, after: int | None, has_gained: bool) -> None:
    assert executed(before, after).has_gained is has_gained


@pytest.mark.parametrize(("answer", "met"), [(None, None), ("yes", True), ("no", False), ("if", None)])
def test_whether_a_goal_is_met_is_the_answer_about_it(answer: Any, met: bool | None) -> None:
    document = shrunk_document(shrunk(), goal=1500, answer=answer, output="o")
    assert (document.answer, document.goal_met, document.model, document.output) == (answer, met, "d/m.tflite", "o")
    assert document.schema_version == 1


def test_a_program_says_what_it_needs_before_and_after() -> None:
    assert executed_gain_lines(executed(None, 1500)) == ["executed: f needs no arena is enough before, 1,500 B after"]
    facts: dict[str, Any] = {}
    same = ExecutedGain(program="f", before=facts, arena_before=9, after=facts, arena_after=9)
    assert executed_gain_lines(same) == ["executed: f needs 9 B as it is"]
