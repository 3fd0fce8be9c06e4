"""CONV_2D against the wheel."""

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType as T


def test_conv(same_as_wheel):
    b = ModelBuilder()
    x = b.tensor((1, 8, 8, 4), T.INT8, scale=0.5)
    w = b.tensor((8, 3, 3, 4), T.INT8, data=[1] * 288, scale=[0.1] * 8, quantized_dimension=0)
    y = b.tensor((1, 8, 8, 8), T.INT8, scale=0.5)
    b.operator("CONV_2D", [x, w], [y], options={"padding": "SAME", "stride_w": 1, "stride_h": 1})
    s = same_as_wheel(b.build(inputs=[x], outputs=[y]))
    assert s.status == "ok"
