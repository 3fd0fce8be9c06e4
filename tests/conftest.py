"""Models that many tests use."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType


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
