"""Aliases: which two tensors of an operator could share bytes, as far as the contracts of the kernels promise.

    CONCATENATION(a, b) -> y      a lies at byte 0 of y, b behind it       kind COPY: nothing is left to copy
    RELU(x) -> y                  y begins where x begins                  kind IN_PLACE

An alias is a possibility. Whether the two may share bytes depends on everything else that is alive: ``layout`` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from tflm_sim.extensions.shrink.contracts import COPY, IN_PLACE, promises
from tflm_sim.extensions.shrink.draft_facts import axis_option, element_size, elements, integers, shape
from tflm_sim.extensions.shrink.fuse import slice_bounds
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import BINARY, UNARY, VIEWS
from tflm_sim.model.types import Operator
from tflm_sim.targets.kernel_library import KernelLibrary


@dataclass(frozen=True, slots=True)
class Alias:
    """Two tensors of one operator that could share bytes: ``child`` begins ``offset`` bytes behind ``parent``."""

    operator: int
    kind: str
    parent: int
    child: int
    offset: int


def find_aliases(draft: Draft, alive: Container[int], libraries: Sequence[KernelLibrary]) -> list[Alias]:
    """Return every two tensors that could be one group as far as the kernels of all libraries promise."""
    found = (_aliases_of(draft, index, libraries) for index in range(len(draft.operators)))
    aliases = chain.from_iterable(found)
    return [
        alias for alias in aliases if alias.parent in alive and alias.child in alive and alias.parent != alias.child
    ]


def _aliases_of(draft: Draft, index: int, libraries: Sequence[KernelLibrary]) -> list[Alias]:
    """Return the aliases of an operator, those of tensors that are not planned too."""
    operator = draft.operators[index]
    name = draft.name(operator)
    if promises(draft, operator, COPY, libraries):
        return [Alias(index, COPY, *piece) for piece in _COPIED[name](draft, operator)]
    if promises(draft, operator, IN_PLACE, libraries):
        output = operator.output_tensors[0]
        return [Alias(index, IN_PLACE, tensor, output, 0) for tensor in _replaced(draft, operator, name)]
    return []


def _replaced(draft: Draft, operator: Operator, name: str) -> list[int]:
    """Return the inputs whose bytes an elementwise operator may write its output to."""
    output = operator.output_tensors[0]
    inputs = operator.input_tensors
    count, size = elements(draft, output), element_size(draft, output)
    if name not in UNARY | BINARY | {"SOFTMAX"}:
        return []
    places = inputs[:1] if name not in BINARY or name == "PRELU" else inputs[:2]
    fits = [
        tensor
        for tensor in places
        if elements(draft, tensor) == count
        and (element_size(draft, tensor) == size or (name == "QUANTIZE" and element_size(draft, tensor) > size))
    ]
    return fits if len(set(places)) == len(places) else []


_Copied = list[tuple[int, int, int]]
"""(whole tensor, part of it, bytes from its start) for each piece that an operator copies byte by byte."""


def _viewed(draft: Draft, operator: Operator) -> _Copied:
    source, output = operator.input_tensors[0], operator.output_tensors[0]
    return [(source, output, 0)] if elements(draft, source) == elements(draft, output) else []


def _joined(draft: Draft, operator: Operator) -> _Copied:
    inputs, output = operator.input_tensors, operator.output_tensors[0]
    axis = axis_option(operator, len(shape(draft, output)))
    return _parts(draft, output, inputs, axis) if len(set(inputs)) == len(inputs) else []


def _divided(draft: Draft, operator: Operator) -> _Copied:
    name, inputs = draft.name(operator), operator.input_tensors
    whole = inputs[1] if name == "SPLIT" else inputs[0]
    numbers = integers(draft, inputs[0] if name == "SPLIT" else inputs[-1]) if name != "UNPACK" else None
    rank = len(shape(draft, whole))
    axis = numbers[0] % rank if numbers else axis_option(operator, rank)
    return _parts(draft, whole, operator.output_tensors, axis)


def _sliced(draft: Draft, operator: Operator) -> _Copied:
    bounds = slice_bounds(draft, operator)
    if bounds is None:
        return []
    return _at(draft, operator.input_tensors[0], operator.output_tensors[0], [start for start, _ in bounds])


def _padded(draft: Draft, operator: Operator) -> _Copied:
    paddings = integers(draft, operator.input_tensors[1])
    if paddings is None:
        return []
    return _at(draft, operator.output_tensors[0], operator.input_tensors[0], paddings[::2])


_COPIED: Mapping[str, Callable[[Draft, Operator], _Copied]] = {
    **dict.fromkeys(VIEWS, _viewed),
    **dict.fromkeys(("CONCATENATION", "PACK"), _joined),
    **dict.fromkeys(("SPLIT", "SPLIT_V", "UNPACK"), _divided),
    **dict.fromkeys(("SLICE", "STRIDED_SLICE"), _sliced),
    **dict.fromkeys(("PAD", "PADV2"), _padded),
}
"""What each operator with a contract to copy copies."""


def _parts(draft: Draft, whole: int, parts: Sequence[int], axis: int) -> list[tuple[int, int, int]]:
    """Return where each part lies in the whole if all dimensions before ``axis`` are 1."""
    if any(size != 1 for size in shape(draft, whole)[:axis]):
        return []
    found, offset = [], 0
    for part in parts:
        found.append((whole, part, offset))
        offset += elements(draft, part) * element_size(draft, part)
    return found


def _at(draft: Draft, whole: int, part: int, starts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return where a part that begins at ``starts`` lies in the whole; whether it is in one piece, the hashes tell."""
    offset = 0
    for size, start in zip(shape(draft, whole), starts, strict=True):
        offset = offset * size + start
    return [(whole, part, offset * element_size(draft, whole))]
