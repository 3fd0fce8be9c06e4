"""How a window moves along one axis of an image: TFLM and the mobile runtime share this arithmetic.

    image 5, window 3, stride 2      SAME: 3 positions, 1 element of padding before      VALID: 2 positions, none
                                     _[0 1]2 3 4 _   _ 0 1[2 3]...                       [0 1 2]3 4   0 1[2 3 4]

Source: tensorflow/lite/kernels/padding.h @ 90b983c; tflite/kernels/padding.h @ google-ai-edge/LiteRT f67457790.
"""

from __future__ import annotations

PADDING_SAME, PADDING_VALID = 0, 1
"""The schema's numbers of ``Padding``."""


def output_size(padding: object, *, image: int, window: int, stride: int, dilation: int = 1) -> int | None:
    """``ComputeOutSizeChecked``: how many positions the window has along an axis; None when it refuses."""
    if padding not in (PADDING_SAME, PADDING_VALID) or image < 0 or window <= 0 or stride <= 0 or dilation <= 0:
        return None
    size = quotient(covered(padding, image=image, window=window, stride=stride, dilation=dilation), stride)
    return size if 0 <= size < 2**31 else None


def covered(padding: object, *, image: int, window: int, stride: int, dilation: int) -> int:
    """Return the elements that a position's first one may stand on, and a stride less one: what is divided by it."""
    return image + stride - (1 if padding == PADDING_SAME else (window - 1) * dilation + 1)


def quotient(dividend: int, divisor: int) -> int:
    """Divide as C does, toward zero."""
    return dividend // divisor if (dividend < 0) == (divisor < 0) else -(-dividend // divisor)


def padding_before(outputs: int, *, image: int, window: int, stride: int, dilation: int = 1) -> int:
    """``ComputePadding``: elements of padding before the image; the odd one out of an odd total comes after it."""
    return max((outputs - 1) * stride + (window - 1) * dilation + 1 - image, 0) // 2
