"""``check_plan()``: an invocation on the arena's bytes, with the offsets of a simulation, on hashes.

It knows no group and no link: it reads the file, the plan that TFLM makes of it on a target, and the contracts.
Every byte of the head holds a hash. Before an operator runs, each of its inputs must hold what it should hold. While it
runs, its scratch buffers and outputs take their bytes; an input that shares bytes with an output must be covered by a
contract. Afterwards its outputs hold what they should, and in the end the model's outputs do.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from tflm_sim.answers.simulation import Simulation
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.types import Model, Operator
from tflm_sim.shrinking.contracts import COPY, DIAGONAL, IN_PLACE, promised, use_of
from tflm_sim.shrinking.diagonal import reads_are_safe
from tflm_sim.shrinking.machine import Machine, VerificationFailed, fresh_inputs, refuse
from tflm_sim.shrinking.symbolic import Hashes, mix, salt
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.values import dataclass

MOST_BYTES = 1 << 26
"""Bytes of a head, each of which is a number of eight bytes here."""


def check_plan(result: Model, simulation: Simulation) -> None:
    """Check that the plan of a simulation keeps every byte that is still to be read.

    Raises:
        VerificationFailed: It does not.
    """
    with np.errstate(over="ignore"):
        _Arena(result, simulation).run()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tensor lies in the head, bytes from its start, and the bytes of an element."""

    start: int
    size: int
    element: int

    @property
    def end(self) -> int:
        return self.start + self.size

    def overlaps(self, other: _Place) -> bool:
        return self.start < other.end and other.start < self.end


class _Arena:
    """The head of one target while the model runs (mutable)."""

    def __init__(self, model: Model, simulation: Simulation) -> None:
        self.model = model
        self.library: KernelLibrary = simulation.configuration.target.kernel_library
        self.target = simulation.configuration.target.name
        self.places: dict[int, _Place] = {}
        self.scratch: dict[int, list[_Place]] = {}
        self.nested: list[_Place] = []
        tensors = model.subgraphs[0].tensors
        for planned in simulation.buffers:
            info = planned.info
            place = _Place(planned.offset, info.size, 1)
            if info.tensor >= 0 and info.subgraph == 0:
                element = TYPE_SIZES.get(tensors[info.tensor].type, 1)
                self.places[info.tensor] = _Place(planned.offset, info.size, element)
            elif info.tensor >= 0 or info.subgraph > 0:
                self.nested.append(place)
            else:
                self.scratch.setdefault(info.node, []).append(place)
        everything = [*self.places.values(), *self.nested, *(p for each in self.scratch.values() for p in each)]
        size = max((place.end for place in everything), default=0)
        if size > MOST_BYTES:
            raise refuse(f"its plan has a head of {size:,} bytes, more than the {MOST_BYTES:,} that are looked at here")
        self.bytes: NDArray[np.uint64] = np.zeros(size, np.uint64)

    def run(self) -> None:
        """Invoke the model once."""
        machine = Machine(self.model)
        main = self.model.subgraphs[0]
        inputs = fresh_inputs(machine, "any")
        for tensor, value in zip(main.input_tensors, inputs, strict=True):
            self._store(tensor, value)
        machine.begin(inputs)
        for number, read, written in machine.steps():
            operator = main.operators[number]
            name = machine.name(operator)
            for tensor, held in zip(operator.input_tensors, read, strict=True):
                if held is not None:
                    self._expect(tensor, held, f"#{number} {name} reads tensor {tensor}")
            self._check_overlaps(number, name, operator, written)
            self._use_scratch(number, operator)
            for tensor, value in written.items():
                self._store(tensor, value)
        for position, tensor in enumerate(main.output_tensors):
            held = machine.values[tensor]
            if held is not None:
                self._expect(tensor, held, f"output {position} is tensor {tensor}")

    def _use_scratch(self, number: int, operator: Operator) -> None:
        """Write over the scratch buffers of an operator, and over the tensors of the subgraphs that it runs."""
        runs_others = any(option.endswith("_subgraph_index") for option in operator.options)
        for place in (*self.scratch.get(number, ()), *(self.nested if runs_others else ())):
            self.bytes[place.start : place.end] = salt("scratch", number)

    def _check_overlaps(self, number: int, name: str, operator: Operator, written: Mapping[int, Hashes]) -> None:
        """Refuse an output or a scratch buffer on bytes that the operator still reads."""
        sources = [t for t in dict.fromkeys(operator.input_tensors) if t in self.places]
        outputs = [t for t in written if t in self.places]
        for place, tensor in product(self.scratch.get(number, ()), (*sources, *outputs)):
            if place.overlaps(self.places[tensor]):
                raise self._refuse(f"a scratch buffer of #{number} {name} lies on tensor {tensor}")
        for one, other in combinations(outputs, 2):
            if self.places[one].overlaps(self.places[other]):
                raise self._refuse(f"two outputs of #{number} {name} share bytes")
        for output, source in product(outputs, sources):
            if self.places[source].overlaps(self.places[output]):
                self._check_shared(number, name, operator, source, output, written[output])

    def _check_shared(
        self, number: int, name: str, operator: Operator, source: int, output: int, value: Hashes
    ) -> None:
        """Refuse an output that shares bytes with an input unless a contract covers it."""
        covers = {COPY: self._holds_a_copy, IN_PLACE: self._is_in_place, DIAGONAL: self._is_diagonal}
        use = use_of(name, operator, self.model.subgraphs[0].tensors)
        kind = next((kind for kind in covers if promised(use, kind, [self.library])), None)
        if kind is None or not covers[kind](operator, name, source, output, value):
            raise self._refuse(
                f"#{number} {name} writes tensor {output} over bytes of tensor {source}, which it reads; "
                f"no contract of {self.library} covers that"
            )

    def _holds_a_copy(self, operator: Operator, name: str, source: int, output: int, value: Hashes) -> bool:
        """Return whether the output's part of the shared bytes is what lies there."""
        a, b = self.places[source], self.places[output]
        start, end = max(a.start, b.start), min(a.end, b.end)
        return np.array_equal(_as_bytes(value, b)[start - b.start : end - b.start], self.bytes[start:end])

    def _is_in_place(self, operator: Operator, name: str, source: int, output: int, value: Hashes) -> bool:
        """Return whether the output's elements lie each on its own element of an input that is read once."""
        a, b = self.places[source], self.places[output]
        is_aligned = (a.start, a.size // a.element) == (b.start, b.size // b.element)
        return is_aligned and b.element <= a.element and operator.input_tensors.count(source) == 1

    def _is_diagonal(self, operator: Operator, name: str, source: int, output: int, value: Hashes) -> bool:
        """Return whether a kernel that goes pixel by pixel has read what the output writes over."""
        a, b = self.places[source], self.places[output]
        distance, rest = divmod(a.start - b.start, a.element)
        is_data = source == operator.input_tensors[0]
        return is_data and a.element == b.element and not rest and reads_are_safe(self.model, operator, name, distance)

    def _store(self, tensor: int, value: Hashes) -> None:
        if tensor in self.places:
            place = self.places[tensor]
            self.bytes[place.start : place.end] = _as_bytes(value, place)

    def _expect(self, tensor: int, value: Hashes, what: str) -> None:
        """Refuse where a tensor's bytes do not hold its value."""
        if tensor not in self.places:
            return
        place = self.places[tensor]
        if not np.array_equal(self.bytes[place.start : place.end], _as_bytes(value, place)):
            raise self._refuse(f"{what}, whose bytes were overwritten")

    def _refuse(self, sentence: str) -> VerificationFailed:
        return VerificationFailed(f"refused: {sentence}, on {self.target}; nothing is written")


def _as_bytes(value: Hashes, place: _Place) -> NDArray[np.uint64]:
    """Return a hash for each byte of a tensor."""
    flat = value.ravel()
    if flat.size * place.element != place.size:
        flat = np.resize(flat, place.size // place.element)
    if place.element == 1:
        return flat
    spread: NDArray[np.uint64] = np.repeat(flat, place.element) + np.tile(
        np.arange(place.element, dtype=np.uint64), flat.size
    )
    return mix(spread)
