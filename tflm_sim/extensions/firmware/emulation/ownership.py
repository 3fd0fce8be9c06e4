"""Which bytes of an arena each operator may write while Invoke() runs, as the program itself laid them out.

    tail    what its own Init and Prepare asked for; variables among its inputs
    head    its outputs, and the scratch buffers that it asked for

    nodes[i].outputs --> tensors[]: data, dims, type        TfLiteEvalTensor, in the blocks before the nodes
    scratch_buffer_handles[]: data                          the block after all Prepares, one for each request

Everything else belongs to somebody else, or to nobody. What cannot be found is not guessed: then nothing is judged.
Source: MicroAllocator::StartModelAllocation(), FinishModelAllocation() @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tflm_sim.arena.events import Event, OpEvent, Persist, Phase
from tflm_sim.extensions.firmware.emulation.emulator import Emulator, words
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.seen import ObservedOperator, ScratchAsked

_EVAL_TENSOR = 12
"""Bytes of a TfLiteEvalTensor of 32 bits: two addresses, and a type of one or four bytes."""
_MAX_DIMS, _MAX_TENSORS = 8, 1000
_TYPE_BYTES = {
    1: 4, 2: 4, 3: 1, 4: 8, 6: 1, 7: 2, 8: 8, 9: 1, 10: 2, 11: 8, 12: 16, 13: 8, 14: 4, 15: 4, 16: 4, 17: 2, 18: 1,
    19: 2,
}  # fmt: skip
"""Bytes of an element by its TfLiteType; an int4 counts as a byte. Source: core/c/c_api_types.h @ 90b983c."""
_RUNS_OTHERS = frozenset({"IF", "WHILE", "CALL_ONCE", "ASSIGN_VARIABLE", "READ_VARIABLE", "VAR_HANDLE"})
"""Operators that write tensors of other subgraphs, or a variable that another operator asked for."""
_STATES = {"SVDF": 1, "UNIDIRECTIONAL_SEQUENCE_LSTM": 2}
"""How many inputs, the last that are there, an operator writes."""


def own_spans(
    machine: Emulator,
    places: Sequence[Span],
    operators: Sequence[ObservedOperator],
    events: Sequence[Event],
    scratch: Sequence[ScratchAsked],
) -> dict[ObservedOperator, tuple[Span, ...]] | None:
    """Return the stretches of an arena and its banks that each operator may write; None where the layout was not found.

    An operator that may write all of it is left out.

    Args:
        machine: The machine, after AllocateTensors().
        places: Where the arena begins, aligned, and ends; and other banks in which its planner may put tensors.
        operators: The model's operators.
        events: What its allocator was asked for in this AllocateTensors(), with the operators that asked.
        scratch: Each request for a scratch buffer, in order.
    """
    arena, blocks = places[0], [one for one in events if isinstance(one, Persist)]
    tensors = _tensors(arena, operators, blocks)
    buffers = _scratch(machine, places, events, scratch)
    if tensors is None or buffers is None:
        return None
    asked, tail = _asked(arena, events), Span(arena.start + min(one.offset for one in blocks), arena.end)
    found: dict[ObservedOperator, tuple[Span, ...]] = {}
    for operator in operators:
        written = _written(machine, operator, tensors[operator.subgraph], tail)
        if operator.name in _RUNS_OTHERS or written is None:
            continue
        place = operator.subgraph, operator.index
        found[operator] = (*written, *asked.get(place, ()), *buffers.get(place, ()))
    return found


def _tensors(arena: Span, operators: Sequence[ObservedOperator], blocks: Sequence[Persist]) -> list[Span] | None:
    """Return where the TfLiteEvalTensors of each subgraph lie: in the blocks before those of the first nodes."""
    if not operators:
        return None
    nodes = next((at for at, one in enumerate(blocks) if arena.start + one.offset == operators[0].node), None)
    count = 1 + max(operator.subgraph for operator in operators)
    if nodes is None or nodes < count:
        return None
    found = blocks[nodes - count : nodes]
    if any(one.size % _EVAL_TENSOR or not one.size for one in found):
        return None
    return [Span(arena.start + one.offset, arena.start + one.offset + one.size) for one in found]


def _asked(arena: Span, events: Sequence[Event]) -> dict[tuple[int, int], list[Span]]:
    """Return the bytes of the tail that each operator's Init and Prepare asked for."""
    found: dict[tuple[int, int], list[Span]] = {}
    asker: tuple[int, int] | None = None
    for event in events:
        if isinstance(event, OpEvent):
            asker = event.subgraph, event.op
        elif isinstance(event, Phase):
            asker = None
        elif isinstance(event, Persist) and asker is not None:
            start = arena.start + event.offset
            found.setdefault(asker, []).append(Span(start, start + event.used))
    return found


def _scratch(
    machine: Emulator, places: Sequence[Span], events: Sequence[Event], scratch: Sequence[ScratchAsked]
) -> dict[tuple[int, int], list[Span]] | None:
    """Return the scratch buffers of each operator, None where the handles were not found."""
    if not scratch:
        return {}
    prepared = max((at for at, one in enumerate(events) if isinstance(one, OpEvent)), default=len(events))
    sizes = [one for one in events[prepared:] if isinstance(one, Persist) and one.size == 4 * len(scratch)]
    if not sizes:
        return None
    found: dict[tuple[int, int], list[Span]] = {}
    # The first block of this size that holds addresses of tensors only.
    for block in sizes:
        starts = words(machine, places[0].start + block.offset, len(scratch))
        if all(any(place.start <= start <= place.end for place in places) for start in starts):
            for one, start in zip(scratch, starts, strict=True):
                found.setdefault(one.operator, []).append(Span(start, start + one.size))
            return found
    return None


def _written(machine: Emulator, operator: ObservedOperator, tensors: Span, tail: Span) -> tuple[Span, ...] | None:
    """Return the outputs of an operator, and its variables; None where they cannot be read.

    They are the inputs in ``tail``, and the last ones of operators with states, where an offline plan places them.
    """
    inputs, outputs = (_indices(machine, address) for address in operator.holds[:2])
    if inputs is None or outputs is None:
        return None
    count = (tensors.end - tensors.start) // _EVAL_TENSOR
    if any(index >= count for index in (*inputs, *outputs)):
        return None
    written = [_elements(machine, tensors.start + _EVAL_TENSOR * index) for index in outputs]
    states = inputs[len(inputs) - _STATES.get(operator.name, 0) :]
    read = [(index in states, _elements(machine, tensors.start + _EVAL_TENSOR * index)) for index in inputs]
    if None in written:
        return None
    variables = [one for is_state, one in read if one is not None and (is_state or tail.contains(one.start))]
    return tuple([one for one in written if one is not None] + variables)


def _indices(machine: Emulator, address: int) -> list[int] | None:
    """Return the indices of a TfLiteIntArray that are no -1; None where none lies there."""
    if address == 0:
        return []
    if address % 4:
        return None
    (count,) = words(machine, address, 1)
    if count > _MAX_TENSORS:
        return None
    return [index for index in words(machine, address + 4, count) if index != 0xFFFFFFFF]


def _elements(machine: Emulator, tensor: int) -> Span | None:
    """Return where the elements of a TfLiteEvalTensor lie, None where its type or shape cannot be read."""
    data, dims, kind = words(machine, tensor, 3)
    size = _TYPE_BYTES.get(kind & 0xFF)
    shape = _dims(machine, dims)
    if size is None or shape is None:
        return None
    return Span(data, data + size * prod(shape))


def _dims(machine: Emulator, address: int) -> Sequence[int] | None:
    if address == 0:
        return ()
    (count,) = words(machine, address, 1)
    return words(machine, address + 4, count) if count <= _MAX_DIMS else None
