"""``check_plan()``: an invocation on the arena's bytes, with the offsets of a simulation, on hashes.

It knows no group and no alias: it reads the file, the plan that TFLM makes of it on a target, and the contracts.
Every byte of the head holds a hash. Before an operator runs, each of its inputs must hold what it should hold. While it
runs, its scratch buffers and outputs take their bytes; an input that shares bytes with an output must be covered by a
contract. Afterwards its outputs hold what they should, and in the end the model's outputs do. A loop runs iteration by
iteration, and copies what it carries where that has two addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.answers.simulation import Simulation
from tflm_sim.extensions.shrink.contracts import (
    COPY,
    IN_PLACE,
    OVERLAP,
    PART,
    promised,
    wanted_alignments,
    wanted_scratch_alignment,
)
from tflm_sim.extensions.shrink.counted_loops import Place
from tflm_sim.extensions.shrink.kernel_use import use_of
from tflm_sim.extensions.shrink.machine import LoopCopy, Machine, OperatorRun, fresh_inputs
from tflm_sim.extensions.shrink.overlap import reads_are_safe
from tflm_sim.extensions.shrink.refusal import VerificationFailed, refuse
from tflm_sim.extensions.shrink.symbolic import Hashes, mix, salt, subgraphs_run
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.types import Model, Operator, Tensor
from tflm_sim.targets.kernel_library import KernelLibrary

MAX_BYTES = 1 << 26
"""Bytes of a head, each of which is a number of eight bytes here."""


def check_plan(result: Model, simulation: Simulation) -> None:
    """Check that the plan of a simulation keeps every byte until it was read for the last time.

    Raises:
        VerificationFailed: The plan overwrites a byte that is still to be read.
    """
    with np.errstate(over="ignore"):
        _Arena(result, simulation).run()


@dataclass(frozen=True, slots=True)
class _Room:
    """Where a tensor or a scratch buffer lies in the head, bytes from its start, and the bytes of an element."""

    start: int
    size: int
    element: int

    @property
    def end(self) -> int:
        return self.start + self.size

    def overlaps(self, other: _Room) -> bool:
        return self.start < other.end and other.start < self.end


_Rows = tuple[slice, ...] | EllipsisType
_Bytes = NDArray[np.bool_] | EllipsisType


@dataclass(frozen=True, slots=True)
class _Part:
    """Rows of an operator's first input, and whether they are written in place instead of read."""

    rows: _Rows = ...
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class _Call:
    """An operator that runs, with its name, and as people name it."""

    event: OperatorRun
    operator: Operator
    name: str
    label: str

    @property
    def place(self) -> tuple[int, int]:
        return self.event.subgraph, self.event.number


class _Arena:
    """The head of one target while the model runs (mutable)."""

    def __init__(self, model: Model, simulation: Simulation) -> None:
        self.model = model
        self.library: KernelLibrary = simulation.configuration.target.kernel_library
        self.target = simulation.configuration.target.name
        self.places: dict[Place, _Room] = {}
        self.scratch: dict[Place, list[_Room]] = {}
        self.nested: dict[int, list[_Room]] = {}
        for planned in simulation.buffers:
            info = planned.info
            if info.tensor >= 0:
                element = TYPE_SIZES.get(model.subgraphs[info.subgraph].tensors[info.tensor].type, 1)
                room = self.places[info.subgraph, info.tensor] = _Room(planned.offset, info.size, element)
            else:
                room = _Room(planned.offset, info.size, 1)
                self.scratch.setdefault((info.subgraph, info.node), []).append(room)
            self.nested.setdefault(info.subgraph, []).append(room)
        self._check_alignments()
        everything = [*self.places.values(), *(p for each in self.scratch.values() for p in each)]
        size = max((room.end for room in everything), default=0)
        if size > MAX_BYTES:
            raise refuse(f"its plan has a head of {size:,} bytes, more than the {MAX_BYTES:,} that are looked at here")
        self.bytes: NDArray[np.uint64] = np.zeros(size, np.uint64)

    def _check_alignments(self) -> None:
        """Refuse a tensor or a scratch buffer where a kernel cannot read it."""
        model = self.model
        wanted = wanted_scratch_alignment(self.library)
        for (index, node), rooms in self.scratch.items():
            if any(room.start % wanted for room in rooms):
                within = f" of subgraph {index}" if index else ""
                raise self._refuse(f"a scratch buffer of #{node}{within} lies at no multiple of {wanted}")
        for index in range(len(model.subgraphs)):
            for tensor, alignment in wanted_alignments(model, index, [self.library]).items():
                if (place := (index, tensor)) in self.places and self.places[place].start % alignment:
                    within = f" of subgraph {index}" if index else ""
                    raise self._refuse(
                        f"tensor {tensor}{within} lies at {self.places[place].start:,} B, no multiple of {alignment}"
                    )

    def run(self) -> None:
        """Invoke the model once, from an unknown state."""
        machine = Machine(self.model)
        machine.forget()
        main = self.model.subgraphs[0]
        inputs = fresh_inputs(machine, "any")
        for tensor, value in zip(main.input_tensors, inputs, strict=True):
            self._store((0, tensor), value)
        machine.begin(inputs)
        for event in machine.steps():
            if isinstance(event, OperatorRun):
                self._run(machine, event)
            elif isinstance(event, LoopCopy):
                self._copy(event)
            else:
                self._expect(event.place, event.value, f"a WHILE looks at tensor {event.place[1]}")
        for position, tensor in enumerate(main.output_tensors):
            content = machine.values[tensor]
            if content is not None:
                self._expect((0, tensor), content, f"output {position} is tensor {tensor}")

    def _run(self, machine: Machine, event: OperatorRun) -> None:
        """Let an operator read and write."""
        index = event.subgraph
        operator = self.model.subgraphs[index].operators[event.number]
        within = f" of subgraph {index}" if index else ""
        call = _Call(event, operator, machine.name(operator), f"#{event.number} {machine.name(operator)}{within}")
        part = self._part(call)
        for position, (tensor, value) in enumerate(zip(operator.input_tensors, event.read, strict=True)):
            if value is not None and not (position == 0 and part.is_written):
                rows = part.rows if position == 0 else ...
                self._expect((index, tensor), value, f"{call.label} reads tensor {tensor}", rows)
        self._check_overlaps(call)
        self._use_scratch(call)
        for tensor, value in event.written.items():
            self._store((index, tensor), value, part.rows if part.is_written else ...)

    def _part(self, call: _Call) -> _Part:
        """Return the rows of its first input that an operator reads, or writes in place."""
        inputs, outputs, tensors = call.operator.input_tensors, call.operator.output_tensors, self._tensors(call)
        if not outputs or not promised(use_of(call.name, call.operator, tensors), PART, [self.library]):
            return _Part()
        read, known = call.event.read, call.event.known
        if call.name != "DYNAMIC_UPDATE_SLICE":
            return _Part(_named_rows(read[0], known[1], call.event.written[outputs[0]]))
        rooms = [self.places.get((call.event.subgraph, tensor)) for tensor in (inputs[0], outputs[0])]
        rows = _named_rows(read[0], known[2], read[1])
        is_in_place = rooms[0] is not None and rooms[1] is not None and rooms[0].start == rooms[1].start
        return _Part(rows, is_written=True) if is_in_place and rows is not ... else _Part()

    def _tensors(self, call: _Call) -> Sequence[Tensor]:
        return self.model.subgraphs[call.event.subgraph].tensors

    def _copy(self, event: LoopCopy) -> None:
        """Copy bytes as a loop does: not at all between equal addresses."""
        source, target = self.places.get(event.source), self.places.get(event.target)
        if target is None:
            return
        if source is None:
            self._store(event.target, event.value)
        elif source.start != target.start:
            if source.overlaps(target):
                raise self._refuse(f"a WHILE copies tensor {event.source[1]} over bytes of its own")
            self.bytes[target.start : target.end] = self.bytes[source.start : source.end]

    def _use_scratch(self, call: _Call) -> None:
        """Write over the scratch buffers of an operator, and over the tensors of the subgraphs that it runs."""
        rooms = [*self.scratch.get(call.place, ())]
        for index in subgraphs_run(self.model, call.operator):
            rooms += self.nested.get(index, [])
        for room in rooms:
            self.bytes[room.start : room.end] = salt("scratch", call.place)

    def _check_overlaps(self, call: _Call) -> None:
        """Refuse an output or a scratch buffer on bytes that the operator still reads."""
        sources, outputs = (
            [tensor for tensor in dict.fromkeys(tensors) if (call.event.subgraph, tensor) in self.places]
            for tensors in (call.operator.input_tensors, call.event.written)
        )
        for room, tensor in product(self.scratch.get(call.place, ()), (*sources, *outputs)):
            if room.overlaps(self._room(call, tensor)):
                raise self._refuse(f"a scratch buffer of {call.label} lies on tensor {tensor}")
        for one, other in combinations(outputs, 2):
            if self._room(call, one).overlaps(self._room(call, other)):
                raise self._refuse(f"two outputs of {call.label} share bytes")
        for output, source in product(outputs, sources):
            if self._room(call, source).overlaps(self._room(call, output)):
                self._check_shared(call, source, output)

    def _room(self, call: _Call, tensor: int) -> _Room:
        return self.places[call.event.subgraph, tensor]

    def _check_shared(self, call: _Call, source: int, output: int) -> None:
        """Refuse an output that shares bytes with an input unless a contract covers it."""
        covers = {COPY: self._is_copied, IN_PLACE: self._is_in_place, OVERLAP: self._is_safe_overlap}
        use = use_of(call.name, call.operator, self._tensors(call))
        kind = next((kind for kind in covers if promised(use, kind, [self.library])), None)
        if kind is None or not covers[kind](call, source, output):
            raise self._refuse(
                f"{call.label} writes tensor {output} over bytes of tensor {source}, which it reads; "
                f"no contract of {self.library} covers that"
            )

    def _is_copied(self, call: _Call, source: int, output: int) -> bool:
        """Return whether the output's part of the shared bytes is what lies there."""
        a, b = self._room(call, source), self._room(call, output)
        start, end = max(a.start, b.start), min(a.end, b.end)
        written = _as_bytes(call.event.written[output], b)
        return np.array_equal(written[start - b.start : end - b.start], self.bytes[start:end])

    def _is_in_place(self, call: _Call, source: int, output: int) -> bool:
        """Return whether the output's elements lie each on its own element of an input that is read once."""
        a, b = self._room(call, source), self._room(call, output)
        is_aligned = (a.start, a.size // a.element) == (b.start, b.size // b.element)
        return is_aligned and b.element <= a.element and call.operator.input_tensors.count(source) == 1

    def _is_safe_overlap(self, call: _Call, source: int, output: int) -> bool:
        """Return whether a kernel that goes pixel by pixel has read what the output writes over."""
        a, b = self._room(call, source), self._room(call, output)
        distance, rest = divmod(a.start - b.start, a.element)
        is_data = source == call.operator.input_tensors[0]
        is_whole = a.element == b.element and not rest
        is_safe = is_whole and reads_are_safe(self._tensors(call), call.operator, call.name, distance)
        return is_data and is_safe

    def _store(self, place: Place, value: Hashes, rows: _Rows = ...) -> None:
        """Write a tensor's bytes, those of some rows or all."""
        if place in self.places:
            room = self.places[place]
            named = _named_bytes(value, room, rows)
            self.bytes[room.start : room.end][named] = _as_bytes(value, room)[named]

    def _expect(self, place: Place, value: Hashes, what: str, rows: _Rows = ...) -> None:
        """Refuse where a tensor's bytes, those of some rows or all, do not hold its value."""
        room = self.places.get(place)
        if room is None:
            return
        named = _named_bytes(value, room, rows)
        if not np.array_equal(self.bytes[room.start : room.end][named], _as_bytes(value, room)[named]):
            raise self._refuse(f"{what}, whose bytes were overwritten")

    def _refuse(self, sentence: str) -> VerificationFailed:
        return VerificationFailed(f"refused: {sentence}, on {self.target}; nothing is written")


def _named_rows(whole: Hashes | None, begins: NDArray[Any] | None, cut: Hashes | None) -> _Rows:
    """Return the rows of a tensor that a cut of it is, ``...`` where it is all of it or that is not known."""
    if begins is None or whole is None or cut is None or cut.ndim != whole.ndim or cut.size == whole.size:
        return ...
    # DYNAMIC_UPDATE_SLICE brings where it begins within the tensor; a SLICE that does not fit is refused before.
    first = np.clip(begins.ravel(), 0, np.subtract(whole.shape, cut.shape))
    return tuple(slice(start, start + size) for start, size in zip(first, cut.shape, strict=True))


def _named_bytes(value: Hashes, room: _Room, rows: _Rows) -> _Bytes:
    """Return which bytes of a tensor some of its rows are."""
    if isinstance(rows, EllipsisType):
        return ...
    is_named = np.zeros(value.shape, bool)
    is_named[rows] = True
    return np.repeat(is_named.ravel(), room.element)


def _as_bytes(value: Hashes, room: _Room) -> NDArray[np.uint64]:
    """Return a hash for each byte of a tensor."""
    flat = value.ravel()
    if flat.size * room.element != room.size:
        flat = np.resize(flat, room.size // room.element)
    if room.element == 1:
        return flat
    spread: NDArray[np.uint64] = np.repeat(flat, room.element) + np.tile(
        np.arange(room.element, dtype=np.uint64), flat.size
    )
    return mix(spread)
