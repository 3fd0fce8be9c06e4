"""How many positions a window has along an axis, and where the padding goes: the schema's SAME is 0, VALID is 1."""

from __future__ import annotations

import pytest

from tflm_sim.model.windows import output_size, padding_before, quotient

SAME, VALID = 0, 1


@pytest.mark.parametrize(
    ("padding", "image", "window", "stride", "dilation", "size"),
    [
        (SAME, 5, 3, 2, 1, 3),  # ceil(5 / 2)
        (VALID, 5, 3, 2, 1, 2),  # ceil((5 - 3 + 1) / 2)
        (VALID, 5, 3, 1, 2, 1),  # the window covers 2 * 2 + 1 = 5
        (VALID, 2, 3, 1, 1, 0),  # (2 - 3 + 1) / 1
        (VALID, 1, 3, 1, 1, None),  # fewer than none
        (SAME, 0, 1, 1, 1, 0),
        (SAME, 2**31 - 1, 1, 1, 1, 2**31 - 1),
        (SAME, 2**31, 1, 1, 1, None),
        (2, 5, 3, 1, 1, None),  # no padding of the schema
        (SAME, -1, 3, 2, 1, None),
        (SAME, 5, 0, 1, 1, None),
        (SAME, 5, 3, 0, 1, None),
        (SAME, 5, 3, 1, 0, None),
    ],
)
def test_a_window_has_as_many_positions(
    padding: int, image: int, window: int, stride: int, dilation: int, size: int | None
) -> None:
    assert output_size(padding, image=image, window=window, stride=stride, dilation=dilation) == size


def test_of_odd_padding_the_smaller_half_is_before_the_image() -> None:
    # 3 positions of stride 2 and window 3 cover 2 * 2 + 3 = 7: 1 before 5, 1 after. Window 4: 8, of the 3 one before.
    assert padding_before(3, image=5, window=3, stride=2) == 1
    assert padding_before(3, image=5, window=4, stride=2) == 1
    assert padding_before(2, image=5, window=3, stride=2) == 0
    assert padding_before(3, image=7, window=3, stride=3) == 1  # 2 * 3 + 3 = 9


def test_a_quotient_is_rounded_toward_zero() -> None:
    assert [quotient(dividend, 3) for dividend in (-7, -6, -2, 0, 2, 6, 7)] == [-2, -2, 0, 0, 0, 2, 2]
