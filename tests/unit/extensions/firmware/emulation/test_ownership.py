"""Which bytes of an arena an operator may write, laid out as TFLM does: tensors, nodes, what is asked for, handles."""

from __future__ import annotations

import struct
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.arena.events import Event, OpEvent, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.ownership import own_spans
from tflm_sim.extensions.firmware.emulation.seen import ObservedOperator, ScratchAsked

HEAD, END = 0x1000, 0x2000
TENSORS, NODES, STATE, OP_DATA, HANDLES = 0xF00, 0xEC0, 0xEA0, 0xE80, 0xE70
"""Offsets: three TfLiteEvalTensors, two nodes of 32 bytes, 16 bytes of a variable, 24 of an Init, one handle."""
INPUTS, OUTPUTS, DIMS = 0x300, 0x310, 0x320
ADD = ObservedOperator(0, 0, "ADD", HEAD + NODES, None, 0x81, 0x91, (INPUTS, OUTPUTS))
CALLS = ObservedOperator(0, 1, "WHILE", HEAD + NODES + 32, None, 0x81, 0x91, (INPUTS, OUTPUTS))


def tail(size: int, offset: int) -> Persist:
    return Persist(size, 4, offset, size, 0, "", "")


EVENTS: list[Event] = [
    tail(36, TENSORS),
    tail(64, NODES),
    tail(16, STATE),
    OpEvent(Stage.OP_INIT, 0, 0, "ADD", True),
    tail(24, OP_DATA),
    OpEvent(Stage.OP_PREPARE, 0, 0, "ADD", True),
    OpEvent(Stage.OP_PREPARE, 0, 1, "WHILE", True),
    tail(4, HANDLES),
    Phase(Stage.PLAN),
]


def machine(**changed: bytes) -> Any:
    memory = bytearray(END)

    def put(address: int, *values: int) -> None:
        struct.pack_into(f"<{len(values)}I", memory, address, *values)

    put(INPUTS, 2, 0, 2)
    put(OUTPUTS, 1, 1)
    put(DIMS, 2, 5, 3)
    # float32 at the head, int16 behind it, int8 in the tail: a variable.
    put(HEAD + TENSORS, HEAD, DIMS, 1, HEAD + 64, DIMS, 7, HEAD + STATE, DIMS, 9)
    put(HEAD + HANDLES, HEAD + 128)
    for address, data in changed.items():
        memory[int(address[1:], 16) : int(address[1:], 16) + len(data)] = data
    return SimpleNamespace(read=lambda address, size: bytes(memory[address : address + size]))


def own(
    given: Any, *scratch: ScratchAsked, events: list[Event] = EVENTS, add: ObservedOperator = ADD, banks: Any = ()
) -> Any:
    return own_spans(given, [Span(HEAD, END), *banks], [add, CALLS], events, scratch)


def test_an_operator_owns_its_outputs_its_variables_and_what_it_asked_for() -> None:
    assert own(machine(), ScratchAsked((0, 0), 100)) == {
        ADD: (
            Span(HEAD + 64, HEAD + 64 + 30),  # 5 * 3 elements of int16
            Span(HEAD + STATE, HEAD + STATE + 15),
            Span(HEAD + OP_DATA, HEAD + OP_DATA + 24),
            Span(HEAD + 128, HEAD + 228),
        )
    }


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("ADD", []),
        ("SVDF", [Span(HEAD + 256, HEAD + 271)]),
        ("UNIDIRECTIONAL_SEQUENCE_LSTM", [Span(HEAD, HEAD + 60), Span(HEAD + 256, HEAD + 271)]),
    ],
)
def test_an_svdf_and_an_lstm_own_their_states_where_an_offline_plan_places_them(name: str, states: list[Span]) -> None:
    operator = replace(ADD, name=name)
    placed = machine(_1f18=(HEAD + 256).to_bytes(4, "little"))  # The last input lies in the head, not in the tail.
    (owned,) = own(placed, add=operator).values()
    assert owned == (Span(HEAD + 64, HEAD + 94), *states, Span(HEAD + OP_DATA, HEAD + OP_DATA + 24))


def test_an_input_and_a_scratch_buffer_in_a_bank_behind_the_arena_are_no_variable_and_the_operators_own() -> None:
    bank = END + 0x100
    placed = machine(_1f18=bank.to_bytes(4, "little"), _1e70=(bank + 64).to_bytes(4, "little"))
    scratch = ScratchAsked((0, 0), 100)
    assert own(placed, scratch) is None  # As far as is known, nothing of a planner lies there.
    assert own(placed, scratch, banks=[Span(bank, bank + 0x200)])[ADD] == (
        Span(HEAD + 64, HEAD + 94),
        Span(HEAD + OP_DATA, HEAD + OP_DATA + 24),
        Span(bank + 64, bank + 164),
    )


def test_an_operator_that_runs_other_subgraphs_may_write_everywhere() -> None:
    assert CALLS not in own(machine())


def test_an_output_of_unknown_type_is_not_judged() -> None:
    assert own(machine(_1f14=b"\x63\0\0\0")) == {}


@pytest.mark.parametrize(
    ("scratch", "events"),
    [
        ((ScratchAsked((0, 0), 100),) * 2, EVENTS),  # Two requests have two handles.
        ((), EVENTS[1:]),  # The nodes come first: no tensors before them.
        ((), [tail(35, TENSORS), *EVENTS[1:]]),  # No whole number of tensors.
        ((), [*EVENTS[:1], *EVENTS[2:]]),  # No nodes.
    ],
)
def test_where_the_layout_is_not_found_nothing_is_judged(
    scratch: tuple[ScratchAsked, ...], events: list[Event]
) -> None:
    assert own(machine(), *scratch, events=events) is None
