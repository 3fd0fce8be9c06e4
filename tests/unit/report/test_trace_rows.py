"""Events as rows: every kind has one, in the vocabulary of real traces."""

from __future__ import annotations

import json
from typing import get_args

import pytest

from tflm_sim.arena.events import AllocInfo, Event, LogLine, OpEvent, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.report.trace_rows import trace_line, trace_row


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_every_event_is_a_json_object_and_a_line(kind: type[Event]) -> None:
    defaults = {
        "facts": (("n", 1),),
        "text": "x",
        "kind": "plain",
        "name": "RELU",
        "stage": Stage.OP_INIT,
        "status": "ok",
        "label": "y",
    }
    event = kind(*(defaults.get(field, 1) for field in kind._fields))
    row = trace_row(event)
    assert json.loads(json.dumps(row)) == row
    assert trace_line(event).split()[0] == row["e"]


def test_the_facts_of_a_phase_are_keys_of_its_row() -> None:
    assert trace_row(Phase(Stage.NODE_REGS, (("sg", 0), ("n", 3)))) == {"e": "phase", "p": "node_regs", "sg": 0, "n": 3}


def test_our_own_facts_stay_out_of_the_row_and_come_last_in_the_line() -> None:
    event = Persist(10, 4, 90, 10, 10, "kPersistentBufferData", "OpData")
    assert trace_row(event) == {"e": "persist", "size": 10, "align": 4, "off": 90, "used": 10, "tail_used": 10}
    assert trace_line(event) == "persist      size=10 align=4 off=90 used=10 tail_used=10  OpData"


def test_operators_say_their_name_before_and_not_after() -> None:
    stages = (Stage.OP_PARSE, Stage.OP_PREPARE, Stage.OP_PREPARED)
    rows = [trace_row(OpEvent(stage, 0, 2, "RELU", has=True)) for stage in stages]
    assert [row.keys() - {"e", "sg", "op"} for row in rows] == [{"name"}, {"name", "has"}, set()]


def test_scratch_buffers_and_tensors_have_different_rows() -> None:
    tensor = trace_row(AllocInfo(0, 1, 4, -1, -1, 16, True, 0, 2, -1))
    scratch = trace_row(AllocInfo(5, 1, -1, 0, 3, 16, True, 4, 4, -1))
    assert (tensor["kind"], tensor["sg"], tensor["t"]) == ("tensor", 1, 4)
    assert (scratch["kind"], scratch["idx"], scratch["node"]) == ("scratch", 0, 3)


def test_a_line_of_the_device_cannot_break_the_line() -> None:
    assert trace_line(LogLine("a\x1bb\nc")) == "log          text=a\\x1bb\\x0ac"
