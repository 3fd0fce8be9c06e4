"""Kernels of Edge Impulse's SDKs until July 2021 (on a Cortex-M4 unless a target is named)."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

FIRST, LAST = "edge-impulse@2020-12-24", "edge-impulse@2021-07-07"
VALID = {"padding": 1, "stride_w": 1, "stride_h": 1}
POOL = {"padding": 1, "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}


def f32(*shape):
    return (shape, T.FLOAT32)


def int8(*shape, scale=0.5):
    return (shape, T.INT8, {"scale": scale, "zero_point": 0})


def of(kind, *shape):
    return (shape, kind)


def int32(*values, shape=None):
    return (shape or (len(values),), T.INT32, {"data": list(values)})


def bias(channels):
    return ((channels,), T.INT32, {"scale": 0.05})


def asked(bench):
    """Return what Init and Prepare ask for, the tensors that they look at left out."""
    init = [] if bench.model.init is None else bench.init()
    return [line for line in [*init, *bench.prepare()] if not line.startswith("temp")]


def refused(kernel, op, inputs, outputs, **arguments):
    """Return what a kernel says against it, "" where it takes it."""
    try:
        kernel(op, inputs, outputs, runtime=LAST, **arguments).prepare()
    except PrepareError as error:
        return str(error).removeprefix("Edge Impulse's kernel refuses this: ")
    return ""


CONV = ([int8(1, 8, 8, 4), int8(6, 3, 3, 4, scale=0.1), bias(6)], [int8(1, 6, 6, 6)])
FLOAT_CONV = ([f32(1, 8, 8, 4), f32(6, 3, 3, 4), f32(6)], [f32(1, 6, 6, 6)])
DENSE = [int8(1, 8), int8(4, 8, scale=0.1), bias(4)]
ARRAYS = ["persistent 24 per_channel_output_multiplier", "persistent 24 per_channel_output_shift"]  # 6 of 4 bytes


def test_convolutions_keep_arrays_of_any_type(kernel):
    for inputs, outputs in (CONV, FLOAT_CONV):
        bench = kernel("CONV_2D", inputs, outputs, options=VALID, runtime=FIRST)
        assert asked(bench) == ["persistent 40 edge_impulse/early.Conv", *ARRAYS]


def test_with_cmsis_nn_an_int8_convolution_keeps_its_columns(kernel):
    def asks(layer):
        return asked(kernel("CONV_2D", *layer, options=VALID, runtime=FIRST, kernels="cmsis_nn"))

    own = ["persistent 44 edge_impulse/early.CmsisConv", *ARRAYS]
    assert asks(CONV) == [*own, "persistent 144 convolve_wrapper_s8"]  # two columns of 3 * 3 * 4 int16
    assert asks(FLOAT_CONV) == own


@pytest.mark.parametrize(
    ("target", "multiplier", "buffer"),
    [
        ("cortex-m4", 1, ["persistent 72 depthwise_conv_s8_opt"]),  # 2 * 4 channels * 3 * 3
        ("cortex-m55", 1, ["persistent 148 depthwise_conv_s8_opt"]),  # twice that, and 4
        ("cortex-m4", 2, []),
    ],
)
def test_with_cmsis_nn_a_depthwise_convolution_keeps_a_column(kernel, target, multiplier, buffer):
    channels = 4 * multiplier
    inputs = [int8(1, 8, 8, 4), int8(1, 3, 3, channels, scale=0.1), bias(channels)]
    options = {**VALID, "depth_multiplier": multiplier}
    outputs = [int8(1, 6, 6, channels)]
    bench = kernel(
        "DEPTHWISE_CONV_2D", inputs, outputs, options=options, runtime=FIRST, kernels="cmsis_nn", target=target
    )
    arrays = [f"persistent {4 * channels} per_channel_output_{name}" for name in ("multiplier", "shift")]
    assert asked(bench) == ["persistent 44 edge_impulse/early.CmsisConv", *arrays, *buffer]


@pytest.mark.parametrize("op", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize(("target", "buffer"), [("cortex-m4", ["persistent 8 avgpool_s8"]), ("cortex-m55", [])])
def test_with_cmsis_nn_a_pool_keeps_a_row_of_sums_on_dsp_cores(kernel, op, target, buffer):
    bench = kernel(
        op, [int8(1, 8, 8, 4)], [int8(1, 4, 4, 4)], options=POOL, runtime=FIRST, kernels="cmsis_nn", target=target
    )
    assert asked(bench) == ["persistent 20 edge_impulse/early.CmsisPool", *buffer]  # 4 channels of 2 bytes


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "data"),
    [
        (
            "FULLY_CONNECTED",
            [int8(1, 8), int8(4, 8, scale=0.1), bias(4)],
            [int8(1, 4)],
            "20 edge_impulse/early.FullyConnected",
        ),
        ("QUANTIZE", [f32(1, 8)], [int8(1, 8)], "8 edge_impulse/early.Scaling"),
        ("DEQUANTIZE", [int8(1, 8)], [f32(1, 8)], "8 edge_impulse/early.Scaling"),
    ],
)
def test_the_others_keep_their_data(kernel, op, inputs, outputs, data):
    assert asked(kernel(op, inputs, outputs, runtime=FIRST)) == [f"persistent {data}"]


def test_mean_has_its_sums_in_scratch_since_june_2021(kernel):
    def mean(image, output, version):
        return asked(kernel("MEAN", [image, int32(1, 2)], [output], runtime=version))

    assert mean(int8(1, 4, 4, 2), int8(1, 2), FIRST) == []
    own = ["persistent 36 OpDataReduce"]
    assert mean(int8(1, 4, 4, 2), int8(1, 2), LAST) == [*own, "scratch 8 temp_buffer"]  # two int32
    assert mean(f32(1, 4, 4, 2), f32(1, 2), LAST) == own


def test_reduce_max_has_its_index_and_its_axes_in_scratch(kernel):
    bench = kernel("REDUCE_MAX", [int8(1, 4, 4, 2), int32(1, 2, 3)], [int8(1)], runtime=LAST)
    assert asked(bench) == [
        "persistent 36 OpDataReduce",
        "scratch 16 temp_buffer",  # a number for each of four dimensions
        "scratch 12 resolved_axis",  # three axes
    ]


def test_what_a_convolution_refuses(kernel):
    def conv(filters, *, count=3):
        inputs = [int8(1, 8, 8, 4), filters, bias(6)][:count]
        return refused(kernel, "CONV_2D", inputs, [int8(1, 6, 6, 6)], options=VALID)

    def weights(scales, points):
        return ((6, 3, 3, 4), T.INT8, {"scale": [0.1] * scales, "zero_point": [0] * points})

    assert [conv(weights(1, 1)), conv(weights(1, 1), count=2)] == ["", ""]
    assert conv(weights(6, 6)) == ""
    assert conv(weights(2, 2)) == "the scales of the filter of CONV_2D"
    assert conv(weights(6, 1)) == "the zero points of CONV_2D"


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "says"),
    [
        ("RESHAPE", [f32(2, 3)], [f32(3, 2)], ""),
        ("RESHAPE", [f32(2, 3)], [f32(3, 3)], "the shapes of RESHAPE"),
        ("RESHAPE", [f32(2, 3)], [int8(3, 2)], "types of RESHAPE"),
        ("PAD", [f32(2, 3), int32(1, 0, 0, 2, shape=(2, 2))], [f32(3, 5)], ""),
        ("PAD", [f32(2, 3), int32(1, 0, 0, 2, shape=(2, 2))], [f32(3, 4)], "the output's shape of PAD"),
        ("PAD", [f32(2, 3), int32(1, 0, 0, shape=(3,))], [f32(3, 5)], "the paddings of PAD"),
        ("PAD", [f32(1, 1, 1, 1, 1), int32(*[0] * 10)], [f32(1, 1, 1, 1, 1)], "PAD of more than 4 dimensions"),
        ("CONCATENATION", [f32(2, 1)] * 10, [f32(2, 10)], ""),
        ("CONCATENATION", [f32(2, 1)] * 11, [f32(2, 11)], "CONCATENATION of more than 10 tensors"),
        ("CONCATENATION", [f32(1, 1, 1, 1, 1)] * 2, [f32(1, 2, 1, 1, 1)], "CONCATENATION of more than 4 dimensions"),
        ("CONCATENATION", [of(T.INT16, 2, 1)] * 2, [of(T.INT16, 2, 2)], "types of CONCATENATION"),
        ("CONCATENATION", [f32(2, 1)] * 2, [int8(2, 2)], "types of CONCATENATION"),
        ("ABS", [f32(2)], [f32(2)], ""),
        ("ABS", [int8(2)], [int8(2)], "types of ABS"),
        ("LOGICAL_NOT", [of(T.BOOL, 2)], [of(T.BOOL, 2)], ""),
        ("LOGICAL_NOT", [f32(2)], [f32(2)], "types of LOGICAL_NOT"),
        ("SOFTMAX", [f32(1)], [f32(1)], ""),
        ("SOFTMAX", [f32()], [f32()], "a scalar for SOFTMAX"),
        ("QUANTIZE", [f32(2)], [of(T.INT16, 2)], "the output's scales of QUANTIZE"),
        ("QUANTIZE", [of(T.INT32, 2)], [int8(2)], "types of QUANTIZE"),
        ("DEQUANTIZE", [int8(2)], [int8(2)], "types of DEQUANTIZE"),
        ("DEQUANTIZE", [f32(2)], [f32(2)], "types of DEQUANTIZE"),
        ("MEAN", [f32(2, 3), of(T.INT64, 1)], [f32(2)], "the type of MEAN's axes"),
        ("REDUCE_MAX", [f32(2, 3), of(T.INT64, 1)], [f32(2)], "the type of REDUCE_MAX's axes"),
        ("FULLY_CONNECTED", [f32(1, 8), int8(4, 8), f32(4)], [f32(1, 4)], "types of FULLY_CONNECTED"),
    ],
)
def test_what_the_kernels_refuse(kernel, op, inputs, outputs, says):
    options = {"axis": 1} if op == "CONCATENATION" else None
    assert refused(kernel, op, inputs, outputs, options=options) == says


def test_a_concatenation_has_no_activation(kernel):
    options = {"axis": 1, "fused_activation_function": 1}
    says = refused(kernel, "CONCATENATION", [f32(2, 1)] * 2, [f32(2, 2)], options=options)
    assert says == "an activation of CONCATENATION"
