"""Events become moments, blocks, steps, levels and limits: a run of few events, worked out by hand."""

from __future__ import annotations

import pytest

from tflm_sim.arena.events import (
    Corruption,
    Event,
    LogLine,
    OpEvent,
    Persist,
    Phase,
    PlanDone,
    PlanOffset,
    Resize,
    ScratchRequest,
    Temp,
    TempFree,
    TempReset,
)
from tflm_sim.arena.stages import Stage
from tflm_sim.report.picture import Block, Level, Limit, Moment, Step
from tflm_sim.report.picture_builder import PictureBuilder

RUN: list[Event] = [
    Phase(Stage.CREATE),  # 0
    Persist(90, 16, 900, 96, 96, "", "objects"),  # 1
    OpEvent(Stage.OP_PREPARE, 0, 2, "ADD", True),  # 2
    Temp(40, 16, 0, 40, 800),  # 3
    TempFree(0),  # 4
    TempFree(7),  # nobody took it
    TempReset(ok=True, temp_end=0, head=0),  # 5
    OpEvent(Stage.OP_PREPARED, 0, 2, "ADD", True),  # no moment
    ScratchRequest(64, 0, 0, "for the sums"),  # 6
    Resize(48, 16, True, 48, 800),  # 7
    Phase(Stage.PLAN),  # 8
    Temp(24, 16, 48, 72, 800),  # 9
    Phase(Stage.PLANNER_ARENA),  # 10
    Temp(500, 16, 80, 580, 800),  # 11
    PlanOffset(0, 3, 16),  # 12
    TempFree(48),  # 13
    TempFree(80),  # 14
    TempReset(ok=True, temp_end=580, head=48),  # 15
    PlanDone(96, 0, 500, 3),
    Resize(96, 16, True, 96, 800),  # 16
    Phase(Stage.INPUT_TENSORS),  # 17
    Persist(8, 8, 880, 8, 104, "", ""),  # 18
    LogLine("said"),  # 19
    Corruption("wrong"),  # 20
]


def built(*events: Event, planner: str = "greedy", split_at: int = 0, failure: str = "") -> PictureBuilder:
    return PictureBuilder(planner, split_at=split_at).fold(events, failure)


def test_moments_begin_with_a_step() -> None:
    assert built(*RUN).drawn()["moments"] == (
        Moment("create", -1, -1, 0),
        Moment("op_prepare", 0, 2, 2),
        Moment("plan", -1, -1, 8),
        Moment("planner_arena", -1, -1, 10),
        Moment("input_tensors", -1, -1, 17),
    )


def test_each_event_is_a_step() -> None:
    builder = built(*RUN, failure="it fails")
    assert builder.drawn()["steps"] == (
        Step("enter", 0),
        Step("persist", 0),
        Step("enter", 1),
        Step("temp", 1),
        Step("free", 1),
        Step("reset", 0),
        Step("request", 64, "for the sums"),
        Step("resize", 48),
        Step("enter", 2),
        Step("temp", 3),
        Step("enter", 3),
        Step("temp", 4),
        Step("place", 3),
        Step("free", 3),
        Step("free", 4),
        Step("reset", 48),
        Step("resize", 96),
        Step("enter", 4),
        Step("persist", 6),
        Step("log", 0, "said"),
        Step("corruption", 0, "wrong"),
        Step("fail", 0, "it fails"),
    )
    assert builder.scratch_labels == ["for the sums"]


def test_blocks_are_bytes_with_a_beginning_and_an_end() -> None:
    label = "the planner gets all that is free, 500 bytes; drawn is what it needs"
    assert built(*RUN).drawn()["blocks"] == (
        Block("allocator objects", 900, 90, 6, 1, 21, "objects", 0),
        Block("temp", 0, 40, 0, 3, 4, "", 1),
        Block("requests", 0, 48, 0, 7, 16, "", 1),
        Block("planning", 48, 24, 0, 9, 13, "", 2),
        Block("planner", 80, 3 * 40, 0, 11, 14, label, 3),  # 40 bytes a buffer
        Block("plan", 0, 96, 0, 16, 21, "", 3),
        Block("input and output tensors", 880, 8, 0, 18, 21, "", 4),
    )


def test_levels_are_where_a_section_moves() -> None:
    assert built(*RUN).drawn()["levels"] == (
        Level(0, 0, 0, 0),
        Level(1, 0, 0, 96),
        Level(3, 0, 40, 96),
        Level(5, 0, 0, 96),
        Level(7, 48, 48, 96),
        Level(9, 48, 72, 96),
        Level(11, 48, 80 + 3 * 40, 96),
        Level(15, 48, 48, 96),
        Level(16, 96, 96, 96),
        Level(18, 96, 96, 104),
    )


def test_limits_are_the_largest_need_of_each_part() -> None:
    # Planning: the tables of three buffers end at 200, a multiple of 16 later at 208.
    assert built(*RUN).limits == {
        "prepare": Limit("prepare", 48, 96, 7),
        "planning": Limit("planning", 208, 96, 11),
        "running": Limit("running", 96, 104, 18),
    }
    linear = built(*RUN, planner="linear")
    assert linear.limits["planning"] == Limit("planning", 72, 96, 9)  # Its tables are not in the arena.
    assert linear.drawn()["blocks"][4].size == 0


def test_of_equal_needs_the_first_counts() -> None:
    temp, free, reset = Temp(40, 16, 0, 40, 800), TempFree(0), TempReset(ok=True, temp_end=0, head=0)
    assert built(Phase(Stage.CREATE), temp, free, reset, temp).limits == {"prepare": Limit("prepare", 40, 0, 1)}


@pytest.mark.parametrize(
    ("event", "step", "need"),
    [
        (Resize(200, 16, False, 48, 800), Step("resize", 48, "refused"), 200),
        (Resize(20, 16, False, 48, 800), Step("resize", 48, "refused"), 48),
        (TempReset(ok=False, temp_end=40, head=0), Step("reset", 40, "refused"), None),
    ],
)
def test_what_is_refused_is_a_step_that_says_so(event: Event, step: Step, need: int | None) -> None:
    builder = built(Phase(Stage.CREATE), event)
    assert builder.drawn()["steps"][-1] == step
    assert builder.drawn()["blocks"] == ()
    assert [limit.need for limit in builder.limits.values()] == ([] if need is None else [need])


def test_a_head_of_the_same_size_stays_and_one_of_none_is_given_back() -> None:
    grown = built(*(Resize(size, 16, True, size, 800) for size in (48, 48, 0, 16)))
    assert [(row.size, row.begin, row.end) for row in grown.drawn()["blocks"]] == [(48, 0, 2), (16, 3, 4)]
    assert {row.category for row in grown.drawn()["blocks"]} == {"requests"}


def test_of_two_arenas_the_persistent_one_is_drawn_behind() -> None:
    builder = built(Phase(Stage.CREATE), Persist(90, 16, 900, 96, 96, "", ""), split_at=1000)
    assert builder.drawn()["blocks"][0].offset == 1900


def test_a_plan_without_tables_has_no_block_of_them() -> None:
    builder = built(Phase(Stage.PLAN), PlanDone(96, 0, 500, 3), Resize(96, 16, True, 96, 800))
    assert [row.category for row in builder.drawn()["blocks"]] == ["plan"]
    assert list(builder.limits) == ["running"]


def test_variables_over_temps_and_a_rest_below_nothing_need_no_room() -> None:
    found = built(
        Phase(Stage.PLAN),
        Temp(24, 16, 48, 72, 100),
        Persist(32, 16, 64, 36, 60, "kTfLiteTensorVariableBufferData", "state"),
        Phase(Stage.PLANNER_ARENA),
        Temp(2**32 - 16, 16, 80, 64, 64),
        PlanDone(0, 0, 2**32 - 16, 0),
    )
    assert found.limits == {"planning": Limit("planning", 72, 0, 1)}
    assert found.drawn()["blocks"][2].label == "the planner gets all that is free, 0 bytes; drawn is what it needs"
