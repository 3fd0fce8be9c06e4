"""What is the same in every run of a model, on any target: the initial state of TFLM's eval tensors.

It is computed once, and kept with the model.
"""

from __future__ import annotations

from itertools import starmap

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Model, Quantization, Subgraph, Tensor

TensorStart = tuple[Tensor, int, memoryview | None, Quantization | None]
"""The arguments of an ``EvalTensor``: the tensor, its index, its constant bytes, its affine quantization."""


class SubgraphOutline:
    """The facts about a subgraph that all runs share.

    Attributes:
        subgraph: The subgraph.
        tensors: The arguments of each ``EvalTensor``.
        variables: The indices of variable tensors.
        types: The types of all tensors.
        has_buffers: Whether every tensor names an existing buffer.
    """

    def __init__(self, model: Model, subgraph: Subgraph) -> None:
        self.subgraph = subgraph
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
        """Return new eval tensors for one run, as the file describes them."""
        return list(starmap(EvalTensor, self.tensors))


def outlines(model: Model) -> list[SubgraphOutline]:
    """Return the outline of each subgraph of a model; they are created once for each model."""
    found: list[SubgraphOutline] | None = model.memo.get("outlines")
    if found is None:
        found = model.memo["outlines"] = [SubgraphOutline(model, subgraph) for subgraph in model.subgraphs]
    return found


def _affine(tensor: Tensor) -> Quantization | None:
    """Return the quantization that becomes a ``TfLiteAffineQuantization``, because it has scales and zero points."""
    found = tensor.quantization
    return found if found is not None and found.scale_count and found.zero_point_count else None
