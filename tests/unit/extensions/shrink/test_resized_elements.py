"""What ``verify`` takes an element of a resized image for: each input that its kernel gives a weight, and no other."""

from __future__ import annotations

import numpy as np

from tflm_sim.extensions.shrink.evaluators import EVALUATORS
from tflm_sim.extensions.shrink.symbolic import Call, Hashes
from tflm_sim.model.types import Operator, Tensor, TensorType


def resized(image: Hashes) -> Hashes:
    """Return the elements of an int8 image of 2 x 2 pixels that RESIZE_BILINEAR makes 6 x 6 pixels."""
    ends = [Tensor("", shape, TensorType.INT8, 0) for shape in ((1, 2, 2, 1), (1, 6, 6, 1))]
    size = np.array([6, 6])
    call = Call("RESIZE_BILINEAR", Operator(0, (0, 1), (2,)), [ends[0], None], ends[1:], [image, None], [None, size])
    found = EVALUATORS["RESIZE_BILINEAR"](call)
    assert found is not None
    return found[0][0, :, :, 0]


def test_the_smallest_weight_counts_and_a_weight_of_nothing_does_not() -> None:
    # The step is (1024 * 2 + 6 // 2) // 6 = 341 of 1024: row 3 is at 1023, so pixel 0 weighs 1 of 1024 there, and 1 of
    # 1024 * 1024 in element (3, 3). Rows 4 and 5 are at 1364 and 1705: beyond the last pixel, whose row is all of them.
    image = np.arange(1, 5, dtype=np.uint64).reshape((1, 2, 2, 1))
    other = image.copy()
    other[0, 0, 0, 0] = 99
    differs = resized(image) != resized(other)
    assert differs[:4, :4].all()
    assert not differs[4:].any()
    assert not differs[:, 4:].any()
