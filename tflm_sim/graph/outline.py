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
    """What there is to share of a subgraph.

    Attributes:
        subgraph: It.
        tensors: How its tensors start.
        variables: The indices of those that are variables.
        types: The types of all.
        has_buffers: Whether they name buffers that there are.
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
        """Return the tensors as the file has them, for one run."""
        return list(starmap(EvalTensor, self.tensors))


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
