"""The input and output tensors of an interpreter after AllocateTensors(), found by what they hold.

    interpreter | ... input_tensors, output_tensors ... |     two addresses in the arena, one after the other
                          '--> TfLiteTensor*[inputs]
                                   '--> | ... data, dims, bytes ... |     dims: how many, then each

Source: micro_interpreter.h @ 90b983c; TfLiteTensor with TF_LITE_STATIC_MEMORY in c/common.h.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import NamedTuple

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, words
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.model.element_types import ELEMENT_BITS
from tflm_sim.model.types import Model, Tensor

_INTERPRETER = 64
_TENSOR = 16


class TensorPlace(NamedTuple):
    """Where the elements of a tensor lie."""

    address: int
    size: int


class Interface(NamedTuple):
    """Where a model's inputs and outputs lie, in order."""

    inputs: tuple[TensorPlace, ...]
    outputs: tuple[TensorPlace, ...]


def find_interface(machine: Emulator, interpreter: int, arena: Span, model: Model) -> Interface | None:
    """Return the inputs and outputs of an interpreter, None where they were not found.

    Args:
        machine: The machine, after AllocateTensors().
        interpreter: Where the interpreter lies.
        arena: The arena.
        model: Its model.
    """
    main = model.subgraphs[0]
    inputs, outputs = (
        [main.tensors[index] for index in indices] for indices in (main.input_tensors, main.output_tensors)
    )
    found = words(machine, interpreter, _INTERPRETER)
    for first, second in pairwise(found):
        if arena.contains(first) and arena.contains(second):
            places = [_places(machine, *row, arena) for row in ((first, inputs), (second, outputs))]
            if places[0] is not None and places[1] is not None:
                return Interface(places[0], places[1])
    return None


def _places(machine: Emulator, array: int, tensors: list[Tensor], arena: Span) -> tuple[TensorPlace, ...] | None:
    """Return the places of the tensors that an array of addresses leads to."""
    found = []
    for address, tensor in zip(words(machine, array, len(tensors)), tensors, strict=True):
        place = _place(machine, address, tensor) if arena.contains(address) else None
        if place is None:
            return None
        found.append(place)
    return tuple(found)


def _place(machine: Emulator, address: int, tensor: Tensor) -> TensorPlace | None:
    """Return where the elements of the TfLiteTensor at ``address`` lie, if it is this tensor."""
    shape = tensor.dims
    size = prod(shape) * max(ELEMENT_BITS.get(tensor.type, 0) // 8, 1)
    fields = words(machine, address, _TENSOR)
    for data, dims, count in zip(fields, fields[1:], fields[2:], strict=False):
        if data and count == size and words(machine, dims, 1 + len(shape)) == (len(shape), *shape):
            return TensorPlace(data, size)
    return None
