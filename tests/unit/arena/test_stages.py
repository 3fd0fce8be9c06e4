"""The stages of AllocateTensors() in words."""

from __future__ import annotations

import pytest

from tflm_sim.arena.stages import FIRST_STAGES, GROUPS, PARTS, Stage


@pytest.mark.parametrize(("stage", "words", "doing"), [
    (Stage.INIT_SCRATCH, "init scratch", "init scratch"),
    (Stage.OP_PARSE, "parse", "reading the operators' options"),
    (Stage.OP_INIT, "init", "init"),
    (Stage.EVAL_TENSORS, "eval tensors", "describing the tensors"),
    (Stage.OP_INVOKE, "invoke", "invoke"),
    (Stage.INVOKE, "invoke", "running the model"),
])  # fmt: skip
def test_a_stage_has_words_of_its_own_or_those_of_its_name(stage: Stage, words: str, doing: str) -> None:
    assert (stage.words, stage.doing) == (words, doing)


def test_the_parts_of_allocate_tensors_are_in_order_and_invoke_is_none() -> None:
    assert PARTS == ("start", "structs", "parse", "init", "prepare", "plan", "inputs, outputs")
    assert Stage.INVOKE.part == Stage.OP_INVOKE.part == Stage.OP_PREPARED.part == ""
    assert {stage.part for stage in FIRST_STAGES} == {"start"}


def test_the_tail_has_groups_and_some_stages_take_nothing_of_it() -> None:
    assert "" not in GROUPS
    assert {stage for stage in Stage if not stage.group} == {
        *(Stage.START, Stage.PLAN, Stage.PLANNER_ARENA, Stage.RESET, Stage.DONE, Stage.OP_INVOKE, Stage.INVOKE)
    }
