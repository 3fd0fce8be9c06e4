"""Models that many tests use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.tflite.graph_info import AllocationType, Graph, InplaceOperator, Node, Registration, Tensor


def relu_chain(*sizes: int) -> Model:
    """Return int8 RELUs in a row: tensor i has ``sizes[i]`` elements; the same size keeps Prepare content."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0) for size in sizes]
    for source, result in zip(tensors, tensors[1:], strict=False):
        builder.operator("RELU", [source], [result])
    return parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]]))


@pytest.fixture
def chain() -> Callable[..., Model]:
    """Return :func:`relu_chain`."""
    return relu_chain


def graph_from_json(description: dict) -> Graph:
    """Return the TFLite graph that a case of ``../shared/planners/arena_*`` describes."""
    tensors = [Tensor(tensor["bytes"], AllocationType(tensor["allocation_type"])) for tensor in description["tensors"]]
    nodes = [
        Node(
            tuple(node["inputs"]),
            tuple(node["outputs"]),
            tuple(node["temporaries"]),
            registration=Registration(inplace_operator=InplaceOperator(node["inplace"])),
        )
        for node in description["nodes"]
    ]
    ends = (tuple(description[key]) for key in ("inputs", "outputs", "variables"))
    return Graph(tensors, nodes, *ends, list(range(len(nodes))))


@pytest.fixture
def tflite_graph() -> Callable[[dict], Graph]:
    """Return :func:`graph_from_json`."""
    return graph_from_json
