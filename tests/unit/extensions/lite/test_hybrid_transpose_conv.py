"""TRANSPOSE_CONV with float32 input and int8 weights, as converters make it of dynamic-range quantization."""

from __future__ import annotations

import pytest

from tflm_sim import parse
from tflm_sim.extensions.lite.answer import Answer, LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType


def hybrid(scales: int, *, width: int = 11) -> Answer:
    """Return a model of 5 channels in and 6 out after AllocateTensors, with so many scales of its weights."""
    builder = ModelBuilder()
    shape = builder.tensor((4,), TensorType.INT32, data=b"".join(n.to_bytes(4, "little") for n in (1, 9, width, 6)))
    weights = builder.tensor(
        (6, 3, 3, 5), TensorType.INT8, data=bytes(6 * 3 * 3 * 5), scale=[0.5] * scales, zero_point=[0] * scales
    )
    image = builder.tensor((1, 7, 9, 5), TensorType.FLOAT32)
    output = builder.tensor((1, 9, width, 6), TensorType.FLOAT32)
    options = {"padding": 1, "stride_h": 1, "stride_w": 1}
    builder.operator("TRANSPOSE_CONV", [shape, weights, image], [output], options=options)
    model = parse(builder.build(inputs=[image], outputs=[output]))
    return allocated(model, LiteSettings())


@pytest.mark.parametrize("scales", [1, 6])
def test_one_scale_or_one_for_each_channel_is_taken(scales: int) -> None:
    assert hybrid(scales).status == "ok"


def test_an_output_that_no_convolution_makes_is_refused() -> None:
    answer = hybrid(6, width=12)
    assert answer.status == "error"
    assert "computed_input_width != SizeOfDimension(input, 2) (10 != 9)" in answer.reports[0]
