"""The *kind* of each operator: operators of one kind, in any models, make the same requests in Prepare.

Operators of one kind have equal options, tensors of equal types, shapes, constancy and numbers of scales, and name them
in the same pattern. A kind is a number, since what it stands for is long and is compared often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator
from functools import lru_cache
from itertools import count
from weakref import WeakKeyDictionary

from tflm_sim.graph.outline import SubgraphOutline, TensorStart
from tflm_sim.model.types import OptionValue, Subgraph

OperatorOutline = tuple[int | None, tuple[int, ...]]
"""An operator apart from its place in the model: the number of its kind, None where custom options or an empty output
leave no two alike; the indices of its tensors, each once, in the order in which it names them."""


class Kinds:
    """Numbers the kinds of operators, across models (mutable; for one thread).

    Args:
        most: How many kinds have a number at one time. The least recently used lose theirs, and get a new number, which
            is never reused, when they occur again.
    """

    def __init__(self, most: int) -> None:
        numbers = count()
        self._number: Callable[[Hashable], int] = lru_cache(most)(lambda facts: next(numbers))
        self._operators: WeakKeyDictionary[SubgraphOutline, list[OperatorOutline]] = WeakKeyDictionary()

    def operators(self, outline: SubgraphOutline) -> list[OperatorOutline]:
        """Return the operators of a subgraph with their kinds; the result is cached as long as the subgraph lives."""
        found = self._operators.get(outline)
        if found is None:
            kinds = [self._number(_tensor_facts(start)) for start in outline.tensors]
            facts = _operator_facts(outline.subgraph, kinds)
            found = [(None if kind is None else self._number(kind), tensors) for kind, tensors in facts]
            self._operators[outline] = found
        return found


def _tensor_facts(start: TensorStart) -> Hashable:
    """Return the facts about a tensor that belong to an operator's kind."""
    tensor, _, data, affine = start
    facts = tensor.type, tensor.shape or (), type(data)
    if affine is None:
        return facts
    scales = affine.scale_count, affine.zero_point_count, affine.quantized_dimension
    return *facts, *scales


def _tensors_of(indices: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int | None, ...] | None]:
    """Return the distinct tensors, and the pattern in which they occur; None where each occurs once, in order."""
    tensors = tuple(dict.fromkeys(indices))
    if len(tensors) == len(indices) and not (tensors and min(tensors) < 0):
        return tensors, None
    tensors = tuple([index for index in tensors if index >= 0])
    return tensors, tuple([tensors.index(index) if index >= 0 else None for index in indices])


def _operator_facts(subgraph: Subgraph, kinds: list[int]) -> Iterator[tuple[Hashable, tuple[int, ...]]]:
    """Yield the facts that make up each operator's kind, None for one that has no kind, and its tensors."""
    kind_of = kinds.__getitem__
    for operator in subgraph.operators:
        inputs, outputs, intermediates = operator.inputs, operator.outputs, operator.intermediates
        indices = (inputs or ()) + (outputs or ()) + (intermediates or ())
        tensors, pattern = _tensors_of(indices)
        if operator.custom_options is not None or _has_empty(subgraph, outputs):
            yield None, tensors
            continue
        options = operator.options
        facts = (
            operator.options_type,
            inputs and len(inputs),
            outputs and len(outputs),
            intermediates and len(intermediates),
            pattern,
            *map(kind_of, tensors),
            *options,
            *_exactly(options.values()),
        )
        yield facts, tensors


def _exactly(values: Collection[OptionValue]) -> Collection[OptionValue]:
    """Return values that compare equal only if they are identical: in Python 0.0 equals -0.0."""
    if float in map(type, values):
        return [value.hex() if type(value) is float else value for value in values]
    return values


def _has_empty(subgraph: Subgraph, indices: tuple[int, ...] | None) -> bool:
    for index in indices or ():
        shape = subgraph.tensors[index].shape
        if shape and min(shape) <= 0:
            return True
    return False
