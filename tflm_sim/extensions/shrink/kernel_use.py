"""An operator as far as it decides which kernel of a library runs, and which layers the kernels take in which way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Operator, Tensor
from tflm_sim.ops.mvp.program import MAX_COUNT, MAX_STRIDE

VECTOR = 16
"""Bytes of a register of the P4's vector instructions."""


@dataclass(frozen=True, slots=True)
class Use:
    """An operator as far as it decides which kernel runs.

    Attributes:
        name: "CONV_2D", ...
        types: Element types of output and filter (the output's again where there is no filter).
        image, filter: Shapes of the first two inputs, () for one that is not there.
        dilation: Rows, columns.
        stride: Likewise.
        output: Shape of the output.
    """

    name: str
    types: tuple[int, int]
    image: tuple[int, ...] = ()
    filter: tuple[int, ...] = ()
    dilation: tuple[int, int] = (1, 1)
    stride: tuple[int, int] = (1, 1)
    output: tuple[int, ...] = ()


def use_of(name: str, operator: Operator, tensors: Sequence[Tensor]) -> Use:
    """Return an operator of a subgraph as kernels see it; it has an output."""
    named = [tensors[index] if index >= 0 else None for index in operator.input_tensors[:2]]
    image, filters = (*named, None, None)[:2]
    output = tensors[operator.output_tensors[0]]
    dilation, stride = (
        (int(str(operator.options.get(f"{what}_h{factor}", 1))), int(str(operator.options.get(f"{what}_w{factor}", 1))))
        for what, factor in (("dilation", "_factor"), ("stride", ""))
    )
    return Use(
        name,
        (output.type, filters.type if filters is not None and name in CONVOLUTIONS else output.type),
        (image and image.shape) or (),
        (filters and filters.shape) or (),
        dilation,
        stride,
        output.dims,
    )


def is_im2col(use: Use) -> bool:
    """Return whether CMSIS-NN's wrapper chooses arm_convolve_s8: neither pointwise, nor one row, nor groups.

    Source: Include/arm_nnsupportfunctions.h arm_nn_is_convolve_1x1, arm_nn_is_convolve_1_x_n @ CMSIS-NN 4ab83cc.
    """
    if len(use.image) != 4 or len(use.filter) != 4:
        return False
    is_pointwise = use.filter[1:3] == (1, 1) and use.dilation == (1, 1)
    is_row = use.image[1] == 1 and use.filter[1] == 1
    return not is_pointwise and not is_row and use.image[3] == use.filter[3]


def is_one_block(use: Use) -> bool:
    """Return whether CMSIS-NN's depthwise convolution on MVE goes over the image once.

    It takes 124 channels at a time (CH_IN_BLOCK_MVE) and comes back for the rest; with a dilation arm_depthwise_conv_s8
    runs, which takes all. One channel may become a convolution.

    Source: Source/ConvolutionFunctions/arm_depthwise_conv_s8_opt.c, arm_depthwise_conv_wrapper_s8.c @ CMSIS-NN 4ab83cc.
    """
    return len(use.image) == 4 and use.image[3] > 1 and (use.image[3] <= 124 or use.dilation != (1, 1))


def _added(use: Use, axis: int) -> int:
    """Return the elements that SAME adds along an axis, 1 or 2: with VALID no window reaches beyond the image."""
    return max(0, (use.output[axis] - 1) * use.stride[axis - 1] + use.filter[axis] - use.image[axis])


def _is_plain(use: Use) -> bool:
    """Return whether all shapes are there, and no dilation, which leads from ESP-NN to the reference kernels."""
    return len(use.image) == len(use.filter) == len(use.output) == 4 and use.dilation == (1, 1)


def _padding(use: Use) -> list[tuple[int, int]] | None:
    """Return the elements that ESP-NN's kernels for the ESP32-S3 add before and behind rows and columns, or None.

    Behind, these kernels count a window for each output, one stride more than they need.
    """
    if not _is_plain(use):
        return None
    behind = (use.output[axis] * use.stride[axis - 1] + use.filter[axis] - 1 - use.image[axis] for axis in (1, 2))
    return [(_added(use, axis) // 2, more) for axis, more in zip((1, 2), behind, strict=True)]


def s3_conv_in_order(use: Use) -> bool:
    """Return whether ESP-NN's convolution on an ESP32-S3 goes pixel by pixel: all but pointwise ones of odd channels.

    Small windows are copied one by one, in C; padded images as a whole. From an image without padding assembly loads a
    window's rows anew for each output, and stores that byte before it loads for the next one. Pointwise, it copies
    eight pixels to the scratch buffer before it stores eight, the last ones one by one. Where the channels are no
    multiple of 8, C takes eight pixels too, but reads the last channels again after it has written. Groups go to the
    plain C, dilations to the reference kernels.

    Source: src/convolution/esp_nn_conv_esp32s3.c, esp_nn_conv_s8_filter_aligned_input_padded_esp32s3.S,
    esp_nn_conv_s8_mult8_1x1_esp32s3.S, esp_nn_conv_s8_1x1_esp32s3.c @ ESP-NN 5f0a807 and c087617 (1.2.6).
    """
    if not len(use.image) == len(use.filter) == 4:
        return False
    is_pointwise = use.filter[1:3] == (1, 1) and use.dilation == use.stride == (1, 1) and use.image[3] == use.filter[3]
    return not is_pointwise or use.image[3] % 8 == 0


def s3_depthwise_copies(use: Use) -> bool:
    """Return whether ESP-NN 1.2.1 to 1.2.3 copies what it convolves on an ESP32-S3 before it writes.

    It does, as a whole or the rows of each output row, but for windows of 3x3 over multiples of 16 channels without
    any padding, which assembly reads from the image itself.

    Source: src/convolution/esp_nn_depthwise_conv_s8_esp32s3.c esp_nn_depthwise_conv_s8_esp32s3 @ ESP-NN 5f0a807.
    """
    padding = _padding(use)
    if padding is None:
        return len(use.image) == 4 and use.dilation != (1, 1)
    is_direct = use.filter[1:3] == (3, 3) and use.image[3] == use.filter[3] and use.image[3] % 16 == 0
    before, behind = zip(*padding, strict=True)
    return not is_direct or any(before) or max(behind) > 0


def p4_conv_in_order(use: Use) -> bool:
    """Return whether ESP-NN's convolution on an ESP32-P4 goes pixel by pixel, and reads nothing but the image.

    Pointwise, it loads a pixel anew for each output; of fewer than 16 channels it copies 16 pixels before it writes
    them. It copies windows that are padded, or whose rows are shorter than 16 bytes, one by one. Other windows are
    loaded row by row for each output. Padding behind the image alone is a last column and a last row, which are taken
    last, by the plain C. Until 1.2.5 that is told of two rows that were left, which is right where a window has three:
    with windows of two rows it reads behind the image. A padded window of fewer than 16 bytes is copied to more bytes
    than the scratch buffer has.

    Source: src/convolution/esp_nn_conv_esp32p4.c @ ESP-NN v1.1.2, def4d7a, d45b843 (1.2.3); c087617 (1.2.6), whose
    SHA-256 the text of d45b843 has with the last row as 44e322a of SybexX/esp-nn takes it.
    """
    if not _is_plain(use):
        return use.dilation != (1, 1)
    rows, columns = _added(use, 1), _added(use, 2)
    if use.image[3] != use.filter[3]:
        return False
    if rows > 1 or columns > 1:
        return prod(use.filter[1:]) >= VECTOR
    return not rows or use.filter[1] == 3


def p4_stores_whole_vectors(use: Use) -> bool:
    """Return whether the P4's maximum pool stores 16 channels at multiples of 16, or one by one."""
    return len(use.image) == 4 and (use.image[3] < VECTOR or use.image[3] % VECTOR == 0)


def mvp_depthwise_in_order(use: Use) -> bool:
    """Return whether the MVP has a program for each pixel of a depthwise convolution: small images of many channels.

    The other way to write programs goes over the image once for each channel or two. Rows that are too long for pairs
    of channels are left to that way; here they are for single ones, because pairs depend on where the data lies.

    Source: platform/compute/nn/mvp/src/sl_mvp_ml_depthwise_conv2d.c, sli_mvp_ml_depthwise_conv2d_opt.c @
    SiliconLabs/gecko_sdk 911f6cdef.
    """
    if not _is_plain(use) or use.output[3] != use.image[3]:
        return False
    is_small = prod(use.image[1:3]) <= 4 * prod(use.filter[1:3]) * use.image[3]
    is_short = max(use.image[2], use.filter[2]) * use.image[3] <= MAX_STRIDE
    return is_small and is_short and max(use.filter[1:3]) <= MAX_COUNT
