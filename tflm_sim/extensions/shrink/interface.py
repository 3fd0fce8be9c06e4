"""Which inputs and outputs of a result have other numbers than the original's, and what converts one into the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.shrink.conversions import Numbers, c_lines, operator_between, python_lines
from tflm_sim.extensions.shrink.shrunk import Conversion, ElementNumbers
from tflm_sim.model.types import Model, Tensor, TensorType


def numbers_of(tensor: Tensor) -> Numbers | None:
    """Return what a tensor's elements say, None where they have several scales or none that can be divided by."""
    if tensor.type == TensorType.FLOAT32:
        return Numbers(TensorType.FLOAT32)
    own = tensor.quantization
    if own is None or len(own.scale) != 1 or len(own.zero_point) > 1:
        return None
    scale, point = float(own.scale[0]), int(own.zero_point[0]) if len(own.zero_point) else 0
    return Numbers(tensor.type, scale, point) if math.isfinite(scale) and scale > 0 else None


@dataclass(frozen=True, slots=True)
class ChangedEnd:
    """An input or output whose type or quantization is not the original's.

    Attributes:
        is_input: Which of the two it is.
        position: Its place among the inputs or outputs, from 0.
        outer: It as it was.
        inner: As it is.
    """

    is_input: bool
    position: int
    outer: Tensor
    inner: Tensor

    @property
    def numbers(self) -> tuple[Numbers, Numbers]:
        """What the elements say, before and after.

        Raises:
            TflmSimError: They have no numbers.
        """
        pair = numbers_of(self.outer), numbers_of(self.inner)
        if pair[0] is None or pair[1] is None:
            raise TflmSimError(f"the quantization of {self} is none that has one scale")
        return pair[0], pair[1]

    @property
    def operator(self) -> str | None:
        """Which operator was between them, None where there is none that can be replaced."""
        outer, inner = numbers_of(self.outer), numbers_of(self.inner)
        if outer is None or inner is None:
            return None
        return operator_between(outer, inner, is_input=self.is_input)

    def __str__(self) -> str:
        return f"{'input' if self.is_input else 'output'} {self.position}"


def changed_ends(original: Model, result: Model) -> list[ChangedEnd]:
    """Return the inputs and outputs with another type or quantization; both models have as many of them."""
    found = []
    for is_input in (True, False):
        for position, (outer, inner) in enumerate(
            zip(ends_of(original, is_input), ends_of(result, is_input), strict=True)
        ):
            if _kind(outer) != _kind(inner):
                found.append(ChangedEnd(is_input, position, outer, inner))
    return found


def ends_of(model: Model, is_input: bool) -> list[Tensor]:
    main = model.subgraphs[0]
    return [main.tensors[index] for index in (main.input_tensors if is_input else main.output_tensors)]


def _kind(tensor: Tensor) -> tuple[object, ...]:
    own = tensor.quantization
    return int(tensor.type), own and tuple(own.scale), own and tuple(own.zero_point)


def conversions(original: Model, result: Model) -> tuple[Conversion, ...]:
    """Return what the firmware does for each changed input or output, with the lines that do it."""
    found = []
    for end in changed_ends(original, result):
        outer, inner = end.numbers
        name = f"quantize_input_{end.position}" if end.is_input else f"dequantize_output_{end.position}"
        way = (outer, inner) if end.is_input else (inner, outer)
        found.append(
            Conversion(
                "input" if end.is_input else "output",
                end.position,
                end.outer.name,
                _element_numbers(outer),
                _element_numbers(inner),
                name,
                c_lines(name, *way),
                python_lines(name, *way),
            )
        )
    return tuple(found)


def _element_numbers(numbers: Numbers) -> ElementNumbers:
    name = TensorType(numbers.type).name.lower()
    if numbers.type == TensorType.FLOAT32:
        return ElementNumbers(name, None, None)
    return ElementNumbers(name, numbers.scale, numbers.zero_point)
