"""CONV_3D of the mobile runtime: a window of one voxel needs no buffer to gather its input in."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.lite.answer import LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

STEPS = {f"stride_{axis}": 1 for axis in "dhw"} | {f"dilation_{axis}_factor": 1 for axis in "dhw"}


@pytest.mark.parametrize(
    ("window", "steps", "temporaries"),
    [
        ((1, 1, 1), {}, 0),
        ((1, 1, 2), {}, 1),
        ((1, 2, 1), {}, 1),
        ((2, 1, 1), {}, 1),
        ((1, 1, 1), {"stride_d": 2}, 1),
        ((1, 1, 1), {"stride_w": 2}, 1),
        ((1, 1, 1), {"dilation_h_factor": 2}, 1),
    ],
)
def test_the_input_is_gathered_where_a_window_or_a_step_is_more_than_one(
    window: tuple[int, int, int], steps: dict[str, int], temporaries: int
) -> None:
    builder = ModelBuilder()
    value = builder.tensor((1, 4, 4, 4, 2), TensorType.FLOAT32)
    size = window[0] * window[1] * window[2] * 2 * 3 * 4
    weights = builder.tensor((*window, 2, 3), TensorType.FLOAT32, data=bytes(size))
    output = builder.tensor((1, 4, 4, 4, 3), TensorType.FLOAT32)
    builder.operator("CONV_3D", [value, weights], [output], options={"padding": 0, **STEPS, **steps})
    answer = allocated(parse(builder.build(inputs=[value], outputs=[output])), LiteSettings())
    assert answer.status == "ok"
    assert [len(node.temporaries) for node in answer.subgraphs[0].execution_nodes] == [temporaries]
