"""``arena_objective()``: the smallest arena as the objective of a search, and a cheap lower bound of it.

objective = arena_objective("cortex-m4")
if objective.lower_bound(model) <= budget: size = objective(model)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from tflm_sim.answers.sizing import Sizer
from tflm_sim.device.configuration import Configuration, Where, configure
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model, Tensor
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class ArenaObjective:
    """A callable: model -> bytes of the smallest arena that is a multiple of 16; ``inf`` where none works.

    Attributes:
        configuration: What the models run on.
        sizer: Remembers what the operators of earlier models asked for.
    """

    configuration: Configuration
    sizer: Sizer = field(default_factory=Sizer, repr=False, compare=False)

    def __call__(self, model: ModelLike) -> float:
        """Return the smallest arena of a model, its bytes, or its path.

        Raises:
            ModelError, UnsupportedOpError: It cannot be read, or has an operator that is not modelled.
        """
        smallest = self.sizer.sizing(load(model), self.configuration).smallest
        return float("inf") if smallest is None else float(smallest.multiple_of_16)

    def lower_bound(self, model: ModelLike) -> int:
        """Return bytes that no arena for the model can go below: what is alive at the fullest operator, the structs of
        tensors and nodes. No kernel is asked, so that a candidate that is too large is dropped for a fraction of its
        price."""
        of, target = load(model), self.configuration.target
        tensors = sum(len(subgraph.tensors) for subgraph in of.subgraphs)
        nodes = sum(len(subgraph.operators) for subgraph in of.subgraphs)
        tail = tensors * target.sizeof("TfLiteEvalTensor") + nodes * target.sizeof("NodeAndRegistration")
        return _live_bytes(of) + tail


def arena_objective(target: Where | None = None, **settings: Any) -> ArenaObjective:
    """Return the objective for a target; settings as :class:`~tflm_sim.device.configuration.Settings` has them."""
    return ArenaObjective(configure(target, **settings))


def _live_bytes(model: Model) -> int:
    """Return the most bytes that the tensors of the main subgraph have alive at one operator."""
    if not model.subgraphs:
        return 0
    subgraph = model.subgraphs[0]
    last = len(subgraph.operators)
    spans: dict[int, list[int]] = {index: [0, 0] for index in subgraph.input_tensors}
    for number, operator in enumerate(subgraph.operators):
        for index in (*operator.input_tensors, *operator.output_tensors):
            spans.setdefault(index, [number, number])[1] = number
    for index in subgraph.output_tensors:
        spans.setdefault(index, [last, last])[1] = last
    changes = [0] * (last + 2)
    is_constant = _constants(model)
    for index, (first, end) in spans.items():
        if 0 <= index < len(subgraph.tensors) and not is_constant(subgraph.tensors[index]):
            size = align_up(_bytes(subgraph.tensors[index]), 16)
            changes[first] += size
            changes[end + 1] -= size
    return max(accumulate(changes))


def _constants(model: Model) -> Callable[[Tensor], bool]:
    filled = {index for index, buffer in enumerate(model.buffers) if buffer.data is not None and len(buffer.data)}
    return lambda tensor: tensor.buffer in filled or tensor.is_variable


def _bytes(tensor: Tensor) -> int:
    size = TYPE_SIZES.get(tensor.type, 0)
    for dimension in tensor.dims:
        size *= max(0, dimension)
    return size
