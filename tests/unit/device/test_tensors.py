"""What one tensor takes of the arena: its struct, and with scales two more for its quantization."""

from __future__ import annotations

import pytest

from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Quantization, Tensor, TensorType
from tflm_sim.targets.presets import preset

NOW, BEFORE_BROADCASTS = preset("cortex-m4"), preset("cortex-m4", runtime="2021-12-20")
INT8 = TensorType.INT8


def tensor(scales: int, zero_points: int, type: int = INT8) -> EvalTensor:
    affine = Quantization((0.5,) * scales, (0,) * zero_points) if scales else None
    return EvalTensor(Tensor("", (8,), type, 0), 3, None, affine)


@pytest.mark.parametrize(("scales", "zero_points", "type", "structs", "is_sized"), [
    (0, 0, INT8, ((32, 4),), True),
    (1, 1, INT8, ((32, 4), (12, 4), (4 + 4 * 1, 4)), True),
    (8, 8, INT8, ((32, 4), (12, 4), (4 + 4 * 8, 4)), True),
    (8, 1, INT8, ((32, 4), (12, 4), (4 + 4 * 8, 4)), True),
    (1, 1, TensorType.STRING, ((32, 4),), False),
])  # fmt: skip
def test_a_zero_point_is_kept_for_each_scale(
    scales: int, zero_points: int, type: int, structs: object, is_sized: bool
) -> None:
    assert TensorStructs(NOW).of(tensor(scales, zero_points, type)) == (structs, is_sized)


def test_versions_that_read_a_zero_point_for_each_scale_need_them_in_the_file() -> None:
    of = TensorStructs(BEFORE_BROADCASTS).of
    assert of(tensor(0, 0))[0] == ((32, 4),)
    assert of(tensor(1, 1))[0] == of(tensor(1, 2))[0] == ((32, 4), (12, 4), (8, 4))
    assert of(tensor(8, 8))[0][2] == (36, 4)
    with pytest.raises(PrepareError, match="tensor 3 has 8 scales and 7 zero points: the device reads past") as caught:
        of(tensor(8, 7))
    assert caught.value.status == "abort"
