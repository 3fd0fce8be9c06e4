"""Which layers the kernels of a library take in which way, at the bounds that their sources have."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.shrink.kernel_use import (
    Use,
    is_im2col,
    is_one_block,
    mvp_depthwise_in_order,
    p4_conv_in_order,
    p4_stores_whole_vectors,
    s3_conv_in_order,
    s3_depthwise_copies,
    use_of,
)
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

Shape = tuple[int, ...]


def use(
    image: Shape,
    filters: Shape,
    output: Shape = (),
    *,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
) -> Use:
    return Use("CONV_2D", (TensorType.INT8, TensorType.INT8), image, filters, dilation, stride, output)


def test_an_operator_is_known_by_its_shapes_types_and_steps() -> None:
    b = ModelBuilder()
    x, y = b.tensor((1, 9, 7, 2), TensorType.INT8, scale=0.5), b.tensor((1, 4, 2, 3), TensorType.INT8, scale=0.5)
    w = b.tensor((3, 2, 2, 2), TensorType.INT4, data=bytes(12), scale=0.5)
    options = {"stride_h": 2, "stride_w": 3, "dilation_h_factor": 1, "dilation_w_factor": 2}
    b.operator("CONV_2D", [x, w], [y], options=options)
    b.operator("ADD", [x, w], [y])
    b.operator("RELU", [x], [y])
    main = parse(b.build(inputs=[x], outputs=[y])).subgraphs[0]
    conv, add, relu = main.operators
    assert use_of("CONV_2D", conv, main.tensors) == Use(
        "CONV_2D", (TensorType.INT8, TensorType.INT4), (1, 9, 7, 2), (3, 2, 2, 2), (1, 2), (2, 3), (1, 4, 2, 3)
    )
    assert use_of("ADD", add, main.tensors).types == (TensorType.INT8, TensorType.INT8)
    assert use_of("RELU", relu, main.tensors).filter == ()


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (use((1, 4, 4, 8), (8, 3, 3, 8)), True),
        (use((1, 4, 4, 8), (8, 1, 1, 8)), False),  # pointwise
        (use((1, 4, 4, 8), (8, 1, 1, 8), dilation=(1, 2)), True),
        (use((1, 4, 4, 8), (8, 1, 2, 8)), True),
        (use((1, 4, 4, 8), (8, 2, 1, 8)), True),
        (use((1, 1, 4, 8), (8, 1, 3, 8)), False),  # a row
        (use((1, 1, 4, 8), (8, 2, 3, 8)), True),
        (use((1, 4, 4, 8), (8, 3, 3, 4)), False),  # groups
        (use((4, 8), (8, 3, 3, 8)), False),
        (use((1, 4, 4, 8), ()), False),
    ],
)
def test_cmsis_nn_takes_columns(one: Use, found: bool) -> None:
    assert is_im2col(one) is found


@pytest.mark.parametrize(
    ("channels", "dilation", "found"),
    [(1, 1, False), (2, 1, True), (124, 1, True), (125, 1, False), (125, 2, True), (1, 2, False)],
)
def test_cmsis_nn_takes_124_channels_at_a_time(channels: int, dilation: int, found: bool) -> None:
    assert is_one_block(use((1, 4, 4, channels), (1, 3, 3, channels), dilation=(1, dilation))) is found


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (use((1, 4, 4, 8), (8, 1, 1, 8)), True),
        (use((1, 4, 4, 12), (8, 1, 1, 12)), False),
        (use((1, 4, 4, 12), (8, 1, 1, 12), stride=(1, 2)), True),
        (use((1, 4, 4, 12), (8, 1, 1, 12), dilation=(2, 1)), True),
        (use((1, 4, 4, 12), (8, 1, 1, 6)), True),  # groups
        (use((1, 4, 4, 12), (8, 1, 2, 12)), True),
        (use((1, 4, 4, 12), (8, 2, 1, 12)), True),
        (use((4, 8), (8, 1, 1, 8)), False),
        (use((1, 4, 4, 8), ()), False),
    ],
)
def test_on_the_esp32_s3_only_pointwise_ones_of_odd_channels_are_out_of_order(one: Use, found: bool) -> None:
    assert s3_conv_in_order(one) is found


@pytest.mark.parametrize(
    ("one", "found"),
    [
        # 3 x 3 over 16 channels, VALID: 6 pixels, stride 2, 2 outputs need 2 * 2 + 3 - 1 = 6.
        (use((1, 6, 6, 16), (1, 3, 3, 16), (1, 2, 2, 16), stride=(2, 2)), False),
        (use((1, 5, 6, 16), (1, 3, 3, 16), (1, 2, 2, 16), stride=(2, 2)), True),  # one row behind it
        (use((1, 6, 5, 16), (1, 3, 3, 16), (1, 2, 2, 16), stride=(2, 2)), True),
        (use((1, 6, 6, 24), (1, 3, 3, 24), (1, 2, 2, 24), stride=(2, 2)), True),  # no multiple of 16
        (use((1, 6, 6, 16), (1, 3, 2, 16), (1, 2, 2, 16), stride=(2, 2)), True),
        (use((1, 6, 6, 16), (1, 3, 3, 32), (1, 2, 2, 32), stride=(2, 2)), True),  # a depth multiplier
        (use((1, 6, 6, 16), (1, 3, 3, 16), (1, 6, 6, 16)), True),  # padding on all sides
        (use((1, 6, 6, 16), (1, 3, 3, 16), (1, 2, 2, 16), stride=(2, 2), dilation=(1, 2)), True),
        (use((6, 16), (1, 3, 3, 16), (1, 2, 2, 16), dilation=(1, 2)), False),
        (use((1, 6, 6, 16), (), (1, 2, 2, 16)), False),
    ],
)
def test_on_the_esp32_s3_a_depthwise_convolution_copies_all_but_one_kind(one: Use, found: bool) -> None:
    assert s3_depthwise_copies(one) is found


@pytest.mark.parametrize(
    ("one", "found"),
    [
        (use((1, 4, 4, 8), (8, 1, 1, 8), (1, 4, 4, 8)), True),  # nothing is added
        (use((1, 4, 4, 8), (8, 1, 1, 4), (1, 4, 4, 8)), False),  # groups
        (use((1, 4, 4, 8), (8, 3, 3, 8), (1, 4, 4, 8)), True),  # two are added: 3 * 3 * 8 bytes are 16 or more
        (use((1, 4, 4, 1), (8, 3, 3, 1), (1, 4, 4, 8)), False),  # 9 bytes
        (use((1, 4, 4, 1), (8, 4, 4, 1), (1, 4, 4, 8)), True),  # 16
        (use((1, 4, 4, 1), (8, 3, 5, 1), (1, 4, 4, 8)), False),  # 15
        (use((1, 4, 4, 1), (8, 1, 3, 1), (1, 4, 4, 8)), False),  # two columns are added and no row
        (use((1, 4, 4, 1), (8, 1, 2, 1), (1, 4, 4, 8)), True),  # one column behind the image
        (use((1, 4, 4, 8), (8, 2, 2, 8), (1, 4, 4, 8)), False),  # one row behind it, and the window has two
        (use((1, 6, 6, 8), (8, 3, 3, 8), (1, 3, 3, 8), stride=(2, 2)), True),  # (3 - 1) * 2 + 3 - 6 = 1
        (use((1, 4, 4, 8), (8, 3, 3, 8), (1, 4, 4, 8), dilation=(2, 2)), True),
        (use((1, 4, 4, 8), (), (1, 4, 4, 8)), False),
    ],
)
def test_on_the_esp32_p4(one: Use, found: bool) -> None:
    assert p4_conv_in_order(one) is found


@pytest.mark.parametrize(("channels", "found"), [(1, True), (15, True), (16, True), (17, False), (32, True)])
def test_the_p4s_pool_stores_vectors_at_multiples_of_16(channels: int, found: bool) -> None:
    assert p4_stores_whole_vectors(use((1, 4, 4, channels), ())) is found
    assert not p4_stores_whole_vectors(use((4, channels), ()))


@pytest.mark.parametrize(
    ("image", "window", "channels", "found"),
    [
        ((6, 6), (3, 3), 1, True),  # 36 pixels: 4 * 3 * 3 * 1
        ((6, 7), (3, 3), 1, False),
        ((6, 7), (3, 3), 2, True),
        ((1, 16), (1, 4), 128, False),  # 16 * 128 = 2,048: the longest step of a program is 2,047 elements
        ((2, 4), (2, 1), 256, True),
    ],
)
def test_the_mvp_goes_pixel_by_pixel_over_small_images(
    image: tuple[int, int], window: tuple[int, int], channels: int, found: bool
) -> None:
    one = use((1, *image, channels), (1, *window, channels), (1, *image, channels))
    assert mvp_depthwise_in_order(one) is found
    more = use((1, *image, channels), (1, *window, 2 * channels), (1, *image, 2 * channels))
    assert not mvp_depthwise_in_order(more)
    for tall, is_short in ((1024, True), (1025, False)):
        assert mvp_depthwise_in_order(use((1, 4, 4, 1), (1, tall, 1, 1), (1, 4, 4, 1))) is is_short
    for long, is_short in ((2047, True), (2048, False)):
        assert mvp_depthwise_in_order(use((1, 1, 2, long), (1, 1, 1, long), (1, 1, 2, long))) is False
        assert mvp_depthwise_in_order(use((1, 1, 1, long), (1, 1, 1, long), (1, 1, 1, long))) is is_short
