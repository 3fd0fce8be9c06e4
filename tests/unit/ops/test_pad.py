"""PAD, PADV2, MIRROR_PAD. The paddings are tensor 1."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IMAGE, PADDED = (1, 4, 4, 3), (1, 6, 7, 3)
PADDINGS = ((4, 2), T.INT32, {"data": [0, 0, 1, 1, 1, 2, 0, 0]})
MIRROR_OPTIONS = {"mode": "SYMMETRIC"}


NULL = " is a null pointer, which is read; what the device does is undefined"


@pytest.mark.parametrize("op", ["PAD", "PADV2"])
@pytest.mark.parametrize("type_", [T.FLOAT32, T.INT8, T.INT32, T.BOOL])
def test_pad_without_a_value_takes_three_tensors(kernel, op, type_):
    bench = kernel(op, [(IMAGE, type_), PADDINGS], [(PADDED, type_)])
    # PadParams: a byte and five int32, twice, and a byte: 24 + 24 + 4; then an int32.
    assert bench.init() == ["persistent 56 OpData"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


def test_the_padding_value_is_taken_before_the_output(kernel):
    value = ((), T.INT8, {"scale": 0.5, "zero_point": 3})
    tensor, padded = (IMAGE, *value[1:]), (PADDED, *value[1:])
    bench = kernel("PADV2", [tensor, PADDINGS, value], [padded])
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "temp 3", "free 0", "free 1", "free 2", "free 3"]


def test_paddings_may_be_of_int64_only_as_raw_words(kernel):
    raw = ((1, 2), T.INT64, {"data": [1, 0]})  # as int32: 1, 0
    assert len(kernel("PAD", [((3,), T.INT8), raw], [((4,), T.INT8)]).prepare()) == 6


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([(IMAGE, T.INT8)], [(PADDED, T.INT8)], ":36 NumInputs(node) == 2 || NumInputs(node) == 3 was not true."),
    ([(IMAGE, T.INT8), PADDINGS], [], ":37 NumOutputs(node) != 1 (0 != 1)"),
    ([None, PADDINGS], [(PADDED, T.INT8)], ":41 input != nullptr was not true."),
    ([(IMAGE, T.INT8), None], [(PADDED, T.INT8)], ":44 paddings != nullptr was not true."),
    # TfLiteType counts from 1: INT8 is 9, FLOAT32 is 1, INT16 is 7.
    ([(IMAGE, T.INT8), PADDINGS], [(PADDED, T.FLOAT32)], ":53 input->type != output->type (9 != 1)"),
    ([((1,) * 6, T.INT8), PADDINGS], [((1,) * 6, T.INT8)],
     ":56 NumDimensions(input) <= reference_ops::PadKernelMaxDimensionCount() was not true."),
    ([(IMAGE, T.INT8), PADDINGS, ((), T.INT16)], [(PADDED, T.INT8)],
     ":60 input->type != constant_values->type (9 != 7)"),
    ([(IMAGE, T.INT8), PADDINGS], [((6, 7, 3), T.INT8)],
     ":66 GetTensorShape(paddings).FlatSize() != output->dims->size * 2 (8 != 6)"),
    ([(IMAGE, T.INT8), ((4, 2), T.INT32)], [(PADDED, T.INT8)], " Non-constant >paddings< tensor is not supported"),
    ([(IMAGE, T.INT8), PADDINGS], [((1, 6, 6, 3), T.INT8)], ":79 output_dim != expected_dim (6 != 7)"),
    ([(IMAGE, T.INT8), PADDINGS], [(PADDED, T.INT8, {"scale": 1.0, "zero_point": -129})],
     ":103 output->params.zero_point >= std::numeric_limits<int8_t>::min() was not true."),
    ([(IMAGE, T.INT8), PADDINGS], [(PADDED, T.INT8, {"scale": 1.0, "zero_point": 128})],
     ":105 output->params.zero_point <= std::numeric_limits<int8_t>::max() was not true."),
    ([(IMAGE, T.INT8), PADDINGS, ((), T.INT8)], [(PADDED, T.INT8, {"scale": 1.0, "zero_point": 1})],
     ":110 output->params.zero_point != constant_values->params.zero_point (1 != 0)"),
    # 1.0 is 0x3FF00000_00000000; its halves are what %d finds.
    ([(IMAGE, T.INT8), PADDINGS, ((), T.INT8)], [(PADDED, T.INT8, {"scale": 1.0})],
     ":112 static_cast<double>(output->params.scale) != static_cast<double>(constant_values->params.scale)"
     " (0 != 1072693248)"),
])  # fmt: skip
def test_pad_refusals(kernel, inputs, outputs, message):
    assert kernel("PAD", inputs, outputs).refusal() == f"{KERNELS}pad_common.cc{message}"


@pytest.mark.parametrize(("target", "second"), [("x86_64", 1), ("cortex-m4", 0), ("i386", 0)])
def test_a_padding_value_with_two_elements_is_counted_in_64_bits(kernel, target, second):
    inputs = [(IMAGE, T.INT8), PADDINGS, ((2,), T.INT8)]
    message = f"pad_common.cc:62 NumElements(constant_values) != 1 (2 != {second})"
    assert kernel("PADV2", inputs, [(PADDED, T.INT8)], target=target).refusal() == KERNELS + message


@pytest.mark.parametrize(("paddings", "output"), [
    (((4, 2), T.INT32, {"data": [0] * 7}), (PADDED, T.INT8)),
    (((2,) * 7, T.INT32, {"data": [0] * 128}), (PADDED, T.INT8)),
    (((5, 2), T.INT32, {"data": [0] * 10}), ((1, 4, 4, 3, 1), T.INT8)),
])  # fmt: skip
def test_reads_past_the_paddings_or_the_dims_halt(kernel, paddings, output):
    assert kernel("PAD", [(IMAGE, T.INT8), paddings], [output]).refusal().startswith("halts: ")


def test_mirror_pad_wants_two_scratch_buffers_of_an_int_per_dimension(kernel):
    bench = kernel("MIRROR_PAD", [(IMAGE, T.INT8), PADDINGS], [(PADDED, T.INT8)], options=MIRROR_OPTIONS)
    assert bench.init() == ["persistent 20 mirror_pad.OpDataMirrorPad"]  # five ints
    assert bench.prepare() == [
        "temp 0", "temp 1", "temp 2",
        "scratch 16 output_dims_num_elements", "scratch 16 input_dims_num_elements",
        "free 0", "free 1", "free 2",
    ]  # fmt: skip


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([(IMAGE, T.INT8), ((8,), T.INT32)], [(PADDED, T.INT8)],
     KERNELS + "mirror_pad.cc:181 NumDimensions(padding_matrix) != 2 (1 != 2)"),
    ([((3,), T.INT8), PADDINGS], [(PADDED, T.INT8)],
     KERNELS + "mirror_pad.cc:182 SizeOfDimension(padding_matrix, 0) != NumDimensions(input_tensor) (4 != 1)"),
    ([(IMAGE, T.INT8)], [(PADDED, T.INT8)], f"halts: {KERNELS}mirror_pad.cc: padding_matrix{NULL}"),
    ([None, PADDINGS], [(PADDED, T.INT8)], f"halts: {KERNELS}mirror_pad.cc: input_tensor{NULL}"),
    ([(IMAGE, T.INT8), PADDINGS], [], f"halts: {KERNELS}mirror_pad.cc: output_tensor{NULL}"),
])  # fmt: skip
def test_mirror_pad_refusals(kernel, inputs, outputs, message):
    assert kernel("MIRROR_PAD", inputs, outputs, options=MIRROR_OPTIONS).refusal().startswith(message)
