"""What every run of a model finds alike, whatever it runs on: worked out once, and kept with the model.

tensors      what TFLM's eval tensors start as
operators    of which *kind* each is. Operators of one kind, of whatever models, have equal options, tensors of
             equal types, shapes, constancy and numbers of scales, and name them in the same pattern
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from functools import cached_property
from itertools import count, starmap

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Model, OptionValue, Quantization, Subgraph, Tensor

MOST_NUMBERS = 1 << 14
"""Facts that this process has numbers for; after that it begins anew, with numbers that were never given."""

TensorStart = tuple[Tensor, int, memoryview | None, Quantization | None]
"""The arguments of an ``EvalTensor``: the tensor, its index, its constant bytes, its affine quantization."""


OperatorOutline = tuple[int | None, tuple[int, ...]]
"""An operator apart from its place in the model: the number of its kind, None where custom options or an empty output
leave no two alike; the indices of its tensors, each once, in the order in which it names them."""


class SubgraphOutline:
    """What there is to share of a subgraph.

    Attributes:
        tensors: How its tensors start.
        variables: The indices of those that are variables.
        types: The types of all.
        has_buffers: Whether they name buffers that there are.
    """

    def __init__(self, model: Model, subgraph: Subgraph) -> None:
        self._subgraph = subgraph
        self.tensors: list[TensorStart] = []
        self.variables: list[int] = []
        self.types: set[int] = set()
        self.has_buffers = True
        buffer_count, data_of = len(model.buffers), model.tensor_data
        for index, tensor in enumerate(subgraph.tensors):
            self.tensors.append((tensor, index, data_of(tensor), _affine(tensor)))
            self.types.add(tensor.type)
            if tensor.is_variable:
                self.variables.append(index)
            if not 0 <= tensor.buffer < buffer_count:
                self.has_buffers = False

    def eval_tensors(self) -> list[EvalTensor]:
        """Return the tensors as the file has them, for one run."""
        return list(starmap(EvalTensor, self.tensors))

    @cached_property
    def operators(self) -> list[OperatorOutline]:
        """Its operators."""
        return list(_operators(self._subgraph, _kinds(self.tensors)))


def outlines(model: Model) -> list[SubgraphOutline]:
    """Return the outline of each subgraph of a model, the same ones for all who ask."""
    found: list[SubgraphOutline] | None = model.memo.get("outlines")
    if found is None:
        found = model.memo["outlines"] = [SubgraphOutline(model, subgraph) for subgraph in model.subgraphs]
    return found


def _affine(tensor: Tensor) -> Quantization | None:
    """Return what TFLM turns into a ``TfLiteAffineQuantization``: it has scales and zero points."""
    found = tensor.quantization
    return found if found is not None and found.scale_count and found.zero_point_count else None


def _kinds(tensors: list[TensorStart]) -> list[int]:
    """Return a number for each tensor; alike tensors, of whatever models, have the same."""
    return [
        _number((tensor.type, tensor.shape or (), data is None))
        if affine is None
        else _number(
            (
                tensor.type,
                tensor.shape or (),
                data is None,
                affine.scale_count,
                affine.zero_point_count,
                affine.quantized_dimension,
            )
        )
        for tensor, _, data, affine in tensors
    ]


def _operators(subgraph: Subgraph, kinds: list[int]) -> Iterator[OperatorOutline]:
    kind_of = kinds.__getitem__
    for operator in subgraph.operators:
        inputs, outputs, intermediates = operator.inputs, operator.outputs, operator.intermediates
        indices = (inputs or ()) + (outputs or ()) + (intermediates or ())
        tensors = tuple(dict.fromkeys(indices))
        pattern = None
        if len(tensors) < len(indices) or (tensors and min(tensors) < 0):
            tensors = tuple([index for index in tensors if index >= 0])
            pattern = tuple([tensors.index(index) if index >= 0 else -1 for index in indices])
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
        yield _number(facts), tensors


def _exactly(values: Collection[OptionValue]) -> Collection[OptionValue]:
    """Return values that are equal only where they are the same: 0.0 equals -0.0."""
    if float in map(type, values):
        return [value.hex() if type(value) is float else value for value in values]
    return values


def _has_empty(subgraph: Subgraph, indices: tuple[int, ...] | None) -> bool:
    for index in indices or ():
        shape = subgraph.tensors[index].shape
        if shape and min(shape) <= 0:
            return True
    return False


_numbers: dict[Hashable, int] = {}
_next_number = count()


def _number(facts: Hashable) -> int:
    number = _numbers.get(facts)
    if number is None:
        if len(_numbers) >= MOST_NUMBERS:
            _numbers.clear()
        number = _numbers[facts] = next(_next_number)
    return number
