"""Lines of one message: whole, cut at the device's line limit, torn, or without their beginning."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.logs.failures import read_messages
from tflm_sim.logs.log_events import Damaged, Message
from tflm_sim.logs.prefixes import TextLine

RESIZE = "Failed to resize buffer. Requested: {}, available {}, missing: {}"


def read(text: str, *, ended: bool = True, number: int = 3) -> list[Any]:
    return read_messages(TextLine(number, text, ended=ended))


def test_numbers_that_contradict_each_other_are_damage() -> None:
    (message,) = read(RESIZE.format(100, 60, 40))
    assert (message.kind, message.values) == ("head", (("requested", 100), ("available", 60), ("missing", 40)))
    (damaged,) = read(RESIZE.format(100, 60, 41))
    assert damaged.reason == "100 - 60 is not 41"
    (wrapped,) = read(RESIZE.format(60, 100, 2**32 - 40))
    assert isinstance(wrapped, Message)


def test_several_messages_of_a_line_come_in_order_and_the_longest_wins() -> None:
    first, second = read("AllocateTensors() failed ... " + RESIZE.format(100, 60, 40))
    assert (first.kind, second.kind) == ("allocate_failed", "head")
    assert read("somebody else") == []


PREPARE = "Node DEQUANTIZE (number 1f) failed to prepare with status 1"
"""Ends with a number that nothing else contradicts."""


@pytest.mark.parametrize(
    ("length", "ended", "values"),
    [
        (len(PREPARE), True, {"op": "DEQUANTIZE", "node": 1, "status": 1}),
        (len(PREPARE), False, {"op": "DEQUANTIZE", "node": 1}),
        (254, True, {"op": "DEQUANTIZE", "node": 1, "status": 1}),
        (255, True, {"op": "DEQUANTIZE", "node": 1}),
    ],
)
def test_the_last_number_of_a_line_that_may_be_cut_is_not_believed(length: int, ended: bool, values: Any) -> None:
    """A device's line has 255 characters at the most."""
    (message,) = read(PREPARE.rjust(length, "."), ended=ended)
    assert (message.kind, dict(message.values)) == ("node_prepare", values)


@pytest.mark.parametrize(
    ("lost", "values", "is_cut"),
    [
        (0, {"requested": 100, "available": 60, "missing": 40}, False),
        (2, {"requested": 100, "available": 60}, True),
        (12, {"requested": 100, "available": 60}, True),
        (36, {}, True),
        (46, {}, True),
    ],
)
def test_of_a_line_of_the_allocator_that_is_cut_the_whole_numbers_are_read(
    lost: int, values: Any, is_cut: bool
) -> None:
    text = RESIZE.format(100, 60, 40)
    (message,) = read(text[: len(text) - lost], ended=False)
    assert (message.kind, dict(message.values), message.cut) == ("head", values, is_cut)
    (damaged,) = read(text[:-1], ended=False)
    assert damaged.reason == "100 - 60 is not 4"


def test_a_line_that_begins_like_one_and_then_is_none_is_torn() -> None:
    (torn,) = read("Failed to resize buffer. Requested: 100, avaI (1234) wifi: connected")
    assert isinstance(torn, Damaged)
    assert torn.reason == "it begins like a TFLM message and then is not one"
    assert read("Failed to resize xyz") == []  # 17 letters agree, fewer than 32, and no number is read


def test_the_end_of_a_message_is_one_where_its_beginning_is_said_to_be_cut() -> None:
    end = "... size is too small for all buffers. Needed 102400 but only 98080 was available."
    (message,) = read(end)
    assert (message.kind, message.cut) == ("plan_too_big", True)
    assert read(end.removeprefix("... ")) == []
    (first,) = read(end.removeprefix("... "), number=1)
    assert first.kind == "plan_too_big"
