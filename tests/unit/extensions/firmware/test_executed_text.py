"""How a figure was measured, in lines for people."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.extensions.firmware.executed_facts import ExecutedFacts
from tflm_sim.extensions.firmware.executed_text import facts_lines

ONE: dict[str, Any] = {"arena": "arena", "arena_bytes": 4096}


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({}, []),
        ({"interpreter": 2}, ["the arena is arena, of interpreter 2"]),
        ({"interpreter": 2, "arena": ""}, ["the arena is one without a name, of interpreter 2"]),
        ({"sharing": 2}, ["2 interpreters share the arena: its sizes are for all of them"]),
        (
            {"other_arena": "rest", "other_arena_bytes": 512},
            ["arena for what stays, rest for the rest: each is sized with the other as the program has it"],
        ),
    ],
)
def test_an_arena_is_named_where_there_could_be_another(more: dict[str, Any], lines: list[str]) -> None:
    facts = ExecutedFacts(
        file="a.elf", core="cortex-m4", emulator="unicorn", is_guessed=False, compared=1234, difference="", **ONE | more
    )
    assert facts_lines(facts) == [
        "measured: a.elf executed with this model in it, for a cortex-m4 in unicorn",
        *lines,
        "all 1,234 requests to the allocator are those of the simulation",
    ]
