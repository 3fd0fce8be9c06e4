"""Whether it works and every doubt about that become one answer."""

from __future__ import annotations

import pytest

from tflm_sim.checks.doubts import (
    EXIT_CODES,
    Answer,
    Doubt,
    answer_of,
    first_words,
    settling_lines,
    with_command,
    worst,
)

PLANNER = Doubt("it has TFLM's default planner")
KERNEL = Doubt("MyPrepare() asks for no memory")
HARMLESS = Doubt("its enums are short", can_turn=False)


@pytest.mark.parametrize(
    ("works", "doubts", "answer", "code", "words"),
    [
        (True, (), "yes", 0, "yes"),
        (False, (), "no", 1, "no"),
        (None, (), "cannot tell", 3, "cannot be told"),
        (True, (HARMLESS,), "yes", 0, "yes"),
        (False, (HARMLESS,), "no", 1, "no"),
        (True, (PLANNER,), "if", 3, "yes, if it has TFLM's default planner"),
        (False, (PLANNER,), "if", 3, "no, if it has TFLM's default planner"),
        (
            True,
            (PLANNER, HARMLESS, KERNEL),
            "if",
            3,
            "yes, if it has TFLM's default planner and MyPrepare() asks for no memory",
        ),
        (None, (PLANNER,), "cannot tell", 3, "cannot be told"),
    ],
)
def test_a_doubt_that_can_turn_the_answer_is_if_and_exit_code_3(
    works: bool | None, doubts: tuple[Doubt, ...], answer: Answer, code: int, words: str
) -> None:
    assert answer_of(works, doubts) == answer
    assert EXIT_CODES[answer] == code
    assert first_words(works, doubts) == words


def test_of_several_answers_a_no_counts_most_and_yes_only_where_all_are_yes() -> None:
    assert worst(["yes", "if", "no", "cannot tell"]) == "no"
    assert worst(["if", "cannot tell", "yes"]) == "cannot tell"
    assert worst(["yes", "if"]) == "if"
    assert worst(["yes", "yes"]) == worst([]) == "yes"


def test_the_command_that_executes_the_program_is_the_last_line_where_that_settles_a_doubt() -> None:
    named = Doubt("TFLM is 90b983c", settled_by="--runtime 90b983c")
    found = with_command((PLANNER, named), "tflm-sim firmware app.elf --run")
    assert [doubt.settled_by for doubt in found] == ["tflm-sim firmware app.elf --run", "--runtime 90b983c"]
    for answer in ("if", "cannot tell"):
        assert settling_lines(answer, "tflm-sim firmware app.elf --run") == [  # type: ignore[arg-type]
            "this settles it: tflm-sim firmware app.elf --run"
        ]
    assert settling_lines("yes", "tflm-sim firmware app.elf --run") == []
    assert settling_lines("if", "") == []  # no emulator has its core
