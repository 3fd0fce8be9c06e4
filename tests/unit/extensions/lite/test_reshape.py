"""RESHAPE of the mobile runtime: the shape is an input or an option, and there is no third input."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.lite.answer import Answer, LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType


def reshaped(inputs: int) -> Answer:
    """Return a RESHAPE of (1, 16) to (4, 4) with so many inputs, after AllocateTensors."""
    builder = ModelBuilder()
    value, output = builder.tensor((1, 16), TensorType.FLOAT32), builder.tensor((4, 4), TensorType.FLOAT32)
    shape = builder.tensor((2,), TensorType.INT32, data=b"\4\0\0\0\4\0\0\0")
    given = [value, shape, shape][:inputs]
    builder.operator("RESHAPE", given, [output], options={"new_shape": [4, 4]})
    return allocated(parse(builder.build(inputs=[value], outputs=[output])), LiteSettings())


@pytest.mark.parametrize("inputs", [1, 2])
def test_the_shape_is_an_option_or_an_input(inputs: int) -> None:
    assert reshaped(inputs).status == "ok"


def test_a_third_input_is_refused() -> None:
    answer = reshaped(3)
    assert answer.status == "error"
    assert "NumInputs(node) == 1 || NumInputs(node) == 2 was not true." in answer.reports[0]


def test_space_to_depth_puts_a_block_of_pixels_into_channels() -> None:
    builder = ModelBuilder()
    image, output = builder.tensor((1, 4, 6, 3), TensorType.FLOAT32), builder.tensor((1, 1, 1, 1), TensorType.FLOAT32)
    builder.operator("SPACE_TO_DEPTH", [image], [output], options={"block_size": 2})
    answer = allocated(parse(builder.build(inputs=[image], outputs=[output])), LiteSettings())
    assert answer.status == "ok"
    assert answer.subgraphs[0].tensors[output].shape == (1, 2, 3, 12)
