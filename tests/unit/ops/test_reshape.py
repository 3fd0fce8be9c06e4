"""RESHAPE, SQUEEZE, EXPAND_DIMS, SHAPE."""

from __future__ import annotations

import struct

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import PrepareError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.flatbuf import FlatBuffer, Table
from tflm_sim.model.load import parse
from tflm_sim.model.schema import TensorSlot
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]
RESHAPE_FAILED = f"{KERNELS}reshape_common.cc:90 ReshapeOutput(context, node) != kTfLiteOk (1 != 0)"
SHAPE_INPUT = ((2,), T.INT32, {"data": [3, 4]})


def _int8(*shape):
    return (shape, T.INT8)


def _scalar_axis(value, **given):
    return ((), T.INT32, {"data": [value]} | given)


def test_reshape_to_a_known_shape_changes_nothing(kernel):
    assert kernel("RESHAPE", [_int8(2, 6)], [_int8(3, 4)]).prepare() == IN_OUT
    with_shape = kernel("RESHAPE", [_int8(2, 6), SHAPE_INPUT], [_int8(3, 4)])
    assert with_shape.prepare() == ["temp 0", "temp 2", "free 0", "free 2"]  # the shape tensor is not looked at


def test_an_open_dimension_is_computed_in_a_copy_of_the_dims(kernel):
    bench = kernel("RESHAPE", [_int8(2, 6)], [_int8(3, -1, 2)])
    # TfLiteIntArray of rank 3: a length and three values of 4 bytes.
    assert bench.prepare() == ["temp 0", "temp 1", "persistent 16 dims", "shape 1 (3, 2, 2)", "free 0", "free 1"]


def test_an_open_dimension_of_an_empty_tensor_halts(kernel):
    assert "halts: " in kernel("RESHAPE", [_int8(0)], [_int8(0, -1)]).refusal()


def test_the_legacy_scalar_shape_becomes_a_scalar_only_without_a_shape_tensor(kernel):
    assert kernel("RESHAPE", [_int8(1)], [_int8(0)]).prepare() == ["temp 0", "temp 1", "shape 1 ()", "free 0", "free 1"]
    assert kernel("RESHAPE", [_int8(0), SHAPE_INPUT], [_int8(0)]).prepare() == ["temp 0", "temp 2", "free 0", "free 2"]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([None], [_int8(4)], "reshape_common.cc:37 input != nullptr was not true."),
    ([_int8(4), _int8(2)], [_int8(-1, -1)], "reshape_common.cc:61 stretch_dim != -1 (0 != -1)"),
    ([_int8(4)], [((4,), T.BOOL)], "reshape_common.cc:77 input->type != output->type (INT8 != BOOL)"),
    ([_int8(4)], [_int8(5)], "reshape_common.cc:78 num_input_elements != num_output_elements (4 != 5)"),
    ([_int8(4)], [_int8(3, -1)], "reshape_common.cc:78 num_input_elements != num_output_elements (4 != 3)"),
    ([_int8(1 << 16, 1 << 16)], [_int8(1)], "reshape_common.cc:78 num_input_elements != num_output_elements (0 != 1)"),
])  # fmt: skip
def test_reshape_prints_its_refusal_twice(kernel, inputs, outputs, message):
    bench = kernel("RESHAPE", inputs, outputs)
    assert bench.refusal() == RESHAPE_FAILED
    assert bench.requests[-1] == f"log {KERNELS}{message}"


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([], [_int8(4)], "reshape_common.cc:88 NumInputs(node) == 1 || NumInputs(node) == 2 was not true."),
    ([_int8(4)] * 3, [_int8(4)], "reshape_common.cc:88 NumInputs(node) == 1 || NumInputs(node) == 2 was not true."),
    ([_int8(4)], [], "reshape_common.cc:89 NumOutputs(node) != 1 (0 != 1)"),
])  # fmt: skip
def test_reshape_counts_are_refused_once(kernel, inputs, outputs, message):
    assert kernel("RESHAPE", inputs, outputs).refusal() == KERNELS + message


@pytest.mark.parametrize(("op", "field", "name"), [
    ("RESHAPE", "new_shape", "reshape"), ("SQUEEZE", "squeeze_dims", "squeeze"),
])  # fmt: skip
def test_the_parser_takes_eight_dims_and_refuses_nine(kernel, op, field, name):
    kernel(op, [_int8(4)], [_int8(4)], options={field: (1,) * 8}).parse()
    with pytest.raises(PrepareError) as refusal:
        kernel(op, [_int8(4)], [_int8(4)], options={field: (1,) * 9}).parse()
    expected = f"Found too many dimensions in the input array of operation '{name}'.\n"
    assert refusal.value.device_message == expected


@pytest.mark.parametrize(("dims", "output"), [((), (3,)), ((0, -1), (3, 1)), ((-2,), (1, 3, 1)), ((0, 0), (9, 9, 9))])
def test_squeeze_takes_named_dims_or_all_of_size_one(kernel, dims, output):
    bench = kernel("SQUEEZE", [_int8(1, 3, 1, 1)], [_int8(*output)], options={"squeeze_dims": dims})
    assert bench.prepare() == IN_OUT


@pytest.mark.parametrize(("shape", "dims", "message"), [
    ((1,) * 9, (), "squeeze.cc:61 input_num_dims <= max_squeeze_dims was not true."),
    ((1, 3), (1,), "squeeze.cc:74 current >= 0 && current < input_num_dims && input_dims->data[current] == 1 "
     "was not true."),
    ((1, 3), (2,), "squeeze.cc:74 current >= 0 && current < input_num_dims && input_dims->data[current] == 1 "
     "was not true."),
    ((1, 3), (-3,), "squeeze.cc:74 current >= 0 && current < input_num_dims && input_dims->data[current] == 1 "
     "was not true."),
])  # fmt: skip
def test_squeeze_frees_its_tensors_when_it_refuses(kernel, shape, dims, message):
    bench = kernel("SQUEEZE", [_int8(*shape)], [_int8(3)], options={"squeeze_dims": dims})
    assert bench.refusal() == KERNELS + message
    assert bench.requests == IN_OUT


@pytest.mark.parametrize(("following", "status"), [(b"\7\0\0\0", "ok"), (b"\6\0\0\0", "abort"), (b"", "abort")])
def test_squeeze_compares_with_what_follows_the_dims_in_the_file(following, status):
    builder = ModelBuilder()
    source, output = builder.tensor((1, 7), T.INT8), builder.tensor((1,), T.INT8)
    builder.operator("SQUEEZE", [source], [output], options={"squeeze_dims": ()})
    data = bytearray(builder.build(inputs=[source], outputs=[output]))
    table = Table(FlatBuffer(memoryview(bytes(data))), parse(bytes(data)).subgraphs[0].tensors[output].offset)
    field = table.position + table.field_offset(TensorSlot.SHAPE)
    data[field : field + 4] = (len(data) - field).to_bytes(4, "little")
    data += struct.pack("<i", 0) + following  # An empty shape at the end of the file.
    assert simulate(parse(bytes(data)), "x86_64", arena_size=4096).status == status


@pytest.mark.parametrize(("inputs", "outputs"), [
    ([_int8(1, 3)], [_int8(2)]),
    ([_int8(1, 3)], [_int8()]),
    ([None], [_int8(3)]),
])  # fmt: skip
def test_squeeze_into_too_little_halts(kernel, inputs, outputs):
    bench = kernel("SQUEEZE", inputs, outputs)
    assert bench.refusal().startswith("halts: ")
    assert not any(line.startswith("free") for line in bench.requests)


@pytest.mark.parametrize(("axis", "output"), [(0, (1, 2, 3)), (1, (2, 1, 3)), (2, (2, 3, 1)), (-1, (2, 3, 1))])
def test_expand_dims_checks_where_the_one_went(kernel, axis, output):
    bench = kernel("EXPAND_DIMS", [_int8(2, 3), _scalar_axis(axis)], [_int8(*output)])
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("axis", "output", "message"), [
    (((), T.INT32), _int8(1), KERNELS + "expand_dims.cc Non-constant >axis< tensor is not supported"),
    (((1, 1), T.INT32, {"data": [0]}), _int8(1), "Axis has only one element for Expand_Dims."),
    (((1,), T.INT64, {"data": [0]}), _int8(1), "Axis type INT64 (4) not supported by Expand_Dims."),
    (_scalar_axis(3), _int8(1),
     KERNELS + "expand_dims.cc:66 axis_value <= input_shape.DimensionsCount() was not true."),
    (_scalar_axis(0), _int8(1, 2),
     KERNELS + "expand_dims.cc:73 output_shape.DimensionsCount() == input_shape.DimensionsCount() + 1 was not true."),
    (_scalar_axis(1), _int8(9, 1, 3),
     KERNELS + "expand_dims.cc:77 output_shape.Dims(i) == input_shape.Dims(i) was not true."),
    (_scalar_axis(1), _int8(2, 9, 3), KERNELS + "expand_dims.cc:79 output_shape.Dims(i) == 1 was not true."),
    (_scalar_axis(1), _int8(2, 1, 9),
     KERNELS + "expand_dims.cc:81 output_shape.Dims(i) == input_shape.Dims(i - 1) was not true."),
])  # fmt: skip
def test_expand_dims_refusals(kernel, axis, output, message):
    assert kernel("EXPAND_DIMS", [_int8(2, 3), axis], [output]).refusal() == message


@pytest.mark.parametrize("axis", [_scalar_axis(-9), _scalar_axis(0, data=b"\0\0"), ((1,) * 7, T.INT32, {"data": [0]})])
def test_expand_dims_halts_outside_of_the_dims_or_the_data(kernel, axis):
    assert kernel("EXPAND_DIMS", [_int8(2, 3), axis], [_int8(1, 2, 3)]).refusal().startswith("halts: ")


def test_shape_only_counts(kernel):
    assert kernel("SHAPE", [_int8(2, 3)], [((2,), T.INT32)]).prepare() == []
    assert kernel("SHAPE", [], [((2,), T.INT32)]).refusal() == KERNELS + "shape.cc:39 NumInputs(node) != 1 (0 != 1)"
    assert kernel("SHAPE", [_int8(2)], []).refusal() == KERNELS + "shape.cc:40 NumOutputs(node) != 1 (0 != 1)"
