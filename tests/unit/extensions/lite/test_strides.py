"""Which elements a STRIDED_SLICE of the mobile runtime takes where an ellipsis stands for dimensions."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.lite.kernels.strides import StridedSlice


@pytest.mark.parametrize(
    ("shape", "begin", "end", "expected"),
    [
        ((2, 3, 4), (0, 1), (0, 3), (2, 3, 2)),  # [..., 1:3]: the ellipsis is two dimensions
        ((4,), (0, 1), (0, 3), (4,)),  # of none it takes one all the same, and 1:3 has no dimension left
        ((2, 3), (0, 1, 0), (0, 3, 2), (2, 2)),  # [..., 1:3, 0:2]: likewise for 0:2
    ],
)
def test_an_ellipsis_takes_what_the_others_leave_and_one_dimension_at_least(
    shape: tuple[int, ...], begin: tuple[int, ...], end: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    found = StridedSlice({"ellipsis_mask": 1}, shape, len(begin), begin, end, (1,) * len(begin))
    assert found.output_shape == expected
