"""What a hybrid FULLY_CONNECTED of the mobile runtime takes beside its tensors, and how many outputs NMS has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim import ModelBuilder, TensorType, lite_allocated, parse
from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels.dense import _place_hybrid


class Call:
    """Stands for a kernel's Prepare: it keeps what the kernel takes."""

    is_optimized = True
    node = SimpleNamespace(user_data={})

    def __init__(self) -> None:
        self.taken: list[int] = []
        self.shapes: dict[int, tuple[int, ...]] = {}

    def take(self, *tensors: int) -> None:
        """Keep them."""
        self.taken += tensors

    def temporary(self, tensor: int, _type: int, shape: tuple[int, ...], *_: object) -> None:
        """Keep its shape."""
        self.shapes[tensor] = shape


@pytest.mark.parametrize(("is_sparse", "taken"), [(False, [7, 8, 9, 10, 11]), (True, [7, 8, 9, 10, 11, 12])])
def test_sparse_weights_take_a_sixth_temporary_for_their_ledger(is_sparse: bool, taken: list[int]) -> None:
    call: Any = Call()
    value = TfLiteTensor(type=TensorType.FLOAT32, shape=(2, 16))
    weights = TfLiteTensor(type=TensorType.INT8, shape=(3, 16), is_sparse=is_sparse, ledger_size=20)
    assert not _place_hybrid(call, 7, value, weights, 2)
    assert call.taken == taken == list(call.shapes)
    # Quantized inputs, scales of rows, products, offsets, sums of rows; where the blocks are.
    assert list(call.shapes.values()) == [(2, 16), (2,), (3, 2), (2,), (3,), (20,)][: len(taken)]


@pytest.mark.parametrize(("op", "count"), [("NON_MAX_SUPPRESSION_V4", 2), ("NON_MAX_SUPPRESSION_V5", 3)])
def test_non_max_suppression_has_two_outputs_and_a_soft_one_the_scores_too(op: str, count: int) -> None:
    builder = ModelBuilder()
    boxes, scores = builder.tensor((6, 4), TensorType.FLOAT32), builder.tensor((6,), TensorType.FLOAT32)
    most = builder.tensor((), TensorType.INT32, data=(4).to_bytes(4, "little"))
    thresholds = [builder.tensor((), TensorType.FLOAT32, data=bytes(4)) for _ in range(count)]
    types = [TensorType.INT32, TensorType.FLOAT32, TensorType.INT32][: count - 1]
    outputs = [*(builder.tensor((4,), each) for each in types), builder.tensor((), TensorType.INT32)]
    builder.operator(op, [boxes, scores, most, *thresholds], outputs)
    answer = lite_allocated(parse(builder.build(inputs=[boxes, scores], outputs=outputs)))
    assert (answer.status, answer.reports) == ("ok", [])
