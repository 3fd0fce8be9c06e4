"""TRANSPOSE, STRIDED_SLICE, SLICE."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
TRANSPOSE_REQUESTS = ["temp 0", "temp 1", "temp 2", "free 0", "free 1", "free 2"]
STRIDED_REQUESTS = [f"{verb} {index}" for verb in ("temp", "free") for index in range(5)]


def _ints(*values, **given):
    return ((len(values),), T.INT32, {"data": values} | given)


def _int8(*shape):
    return (shape, T.INT8)


def test_transpose_checks_a_constant_permutation(kernel):
    bench = kernel("TRANSPOSE", [_int8(2, 3, 4), _ints(2, 0, 1)], [_int8(4, 2, 3)])
    assert bench.model.init is None
    assert bench.prepare() == TRANSPOSE_REQUESTS


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([_int8(*(1,) * 6), _ints(0)], _int8(1), " Transpose op only supports 1D-5D input arrays."),
    ([_int8(2, 3), _ints(1, 0)], ((3, 2), T.BOOL),
     ":35 op_context.input->type != op_context.output->type (INT8 != BOOL)"),
    ([_int8(2, 3), ((2,), T.INT32)], _int8(3, 2), " Non-constant >perm< tensor is not supported"),
    ([_int8(2, 3), ((1, 2), T.INT32, {"data": [1, 0]})], _int8(3, 2),
     ":44 NumDimensions(op_context.perm) != 1 (2 != 1)"),
    ([_int8(2, 3), _ints(0)], _int8(3, 2), ":45 op_context.perm->dims->data[0] != dims (1 != 2)"),
    ([_int8(2, 3), _ints(0, 2)], _int8(3, 2), " Transpose op permutations array is out of bounds."),
    ([_int8(2, 3), _ints(0, -1)], _int8(3, 2), " Transpose op permutations array is out of bounds."),
])  # fmt: skip
def test_transpose_frees_its_tensors_when_it_refuses(kernel, inputs, output, message):
    bench = kernel("TRANSPOSE", inputs, [output])
    assert bench.refusal() == f"{KERNELS}transpose_common.cc{message}"
    assert bench.requests == TRANSPOSE_REQUESTS


def test_transpose_counts_come_first(kernel):
    assert kernel("TRANSPOSE", [_int8(2)], [_int8(2)]).refusal() == (
        KERNELS + "transpose_common.cc:27 NumInputs(node) != 2 (1 != 2)"
    )


@pytest.mark.parametrize("inputs", [
    [None, _ints(0)],
    [_int8(2), None],
    [_int8(2, 2), ((2,), T.INT32, {"data": b"\0"})],
])  # fmt: skip
def test_transpose_halts_without_a_tensor_or_its_data(kernel, inputs):
    assert kernel("TRANSPOSE", inputs, [_int8(2)]).refusal().startswith("halts: ")


@pytest.mark.parametrize(("begin", "end", "strides", "options", "output"), [
    ((0, 0), (4, 6), (1, 1), {}, (4, 6)),
    ((1, 2), (3, 6), (1, 2), {}, (2, 2)),
    ((-3, 0), (-1, 6), (1, 4), {}, (2, 2)),              # 4 - 3 = 1 to 4 - 1 = 3; ceil(6 / 4)
    ((9, 0), (9, 6), (1, 1), {}, (0, 6)),                # clamped to the end
    ((3, 5), (-9, -9), (-1, -2), {}, (4, 3)),            # backwards down to -1: 4; ceil(6 / 2)
    ((2, 2), (3, 3), (1, 1), {"begin_mask": 1, "end_mask": 2}, (3, 4)),
    ((3, 0), (0, 6), (-1, 1), {"begin_mask": 1, "end_mask": 1}, (4, 6)),
    ((-1, 0), (0, 6), (1, 1), {"shrink_axis_mask": 1}, (6,)),
    ((2, 1), (0, 0), (1, 1), {"shrink_axis_mask": 3}, ()),
])  # fmt: skip
def test_strided_slice_computes_the_output_shape(kernel, begin, end, strides, options, output):
    bench = kernel(
        "STRIDED_SLICE", [_int8(4, 6), _ints(*begin), _ints(*end), _ints(*strides)], [_int8(*output)], options=options
    )
    # Three times a byte and five int32 (24), five uint16 and a bool (11): 83, padded to 84.
    assert bench.init() == ["persistent 84 StridedSliceParams"]
    assert bench.prepare() == STRIDED_REQUESTS


def test_a_dimension_of_size_zero_gives_nothing(kernel):
    bench = kernel("STRIDED_SLICE", [_int8(0), _ints(3), _ints(9), _ints(1)], [_int8(0)])
    assert bench.prepare() == STRIDED_REQUESTS


@pytest.mark.parametrize(("source", "begin", "strides", "output", "message"), [
    (_int8(*(1,) * 5), _ints(0), _ints(1), _int8(1), " input dim should not exceed 4"),
    (_int8(4), ((1,), T.INT32), _ints(1), _int8(4), " Non-constant >begin< tensor is not supported"),
    (_int8(4), _ints(0), ((1,), T.INT32), _int8(4), " Non-constant >strides< tensor is not supported"),
    (_int8(4), _ints(0), _ints(0), _int8(4), " stride value has to be non-zero"),
    (_int8(4), _ints(1), _ints(1), _int8(4), ":119 output_shape->data[shape_size] != dim_shape (4 != 3)"),
    (_int8(4), _ints(0), _ints(1), _int8(4, 1), ":123 output_shape->size != shape_size (2 != 1)"),
])  # fmt: skip
def test_strided_slice_frees_its_tensors_when_it_refuses(kernel, source, begin, strides, output, message):
    bench = kernel("STRIDED_SLICE", [source, begin, _ints(4), strides], [output])
    assert bench.refusal() == f"{KERNELS}strided_slice_common.cc{message}"
    assert bench.requests == STRIDED_REQUESTS


@pytest.mark.parametrize(("inputs", "outputs"), [
    ([None, _ints(0), _ints(4), _ints(1)], [_int8(4)]),
    ([_int8(4), None, _ints(4), _ints(1)], [_int8(4)]),
    ([_int8(4), _ints(0), _ints(4), _ints(1)], [_int8()]),
    ([_int8(4, 4), _ints(0), _ints(4), _ints(1)], [_int8(4, 4)]),
    ([_int8(-4), _ints(0), _ints(4), _ints(1)], [_int8(4)]),
])  # fmt: skip
def test_strided_slice_halts_outside_of_tensors_dims_and_data(kernel, inputs, outputs):
    assert kernel("STRIDED_SLICE", inputs, outputs).refusal().startswith("halts: ")


@pytest.mark.parametrize("index_type", [T.INT32, T.INT64])
def test_slice_takes_four_tensors(kernel, index_type):
    indices = ((2,), index_type)
    bench = kernel("SLICE", [_int8(4, 6), indices, indices], [_int8(2, 2)])
    assert bench.prepare() == [f"{verb} {index}" for verb in ("temp", "free") for index in range(4)]


def test_slice_counts_are_printed(kernel):
    assert kernel("SLICE", [_int8(4)], [_int8(4)]).refusal() == KERNELS + "slice.cc:50 NumInputs(node) != 3 (1 != 3)"


@pytest.mark.parametrize(("inputs", "output", "expression"), [
    ([None, _ints(0), _ints(1)], _int8(1), "slice.cc:55: input != nullptr"),
    ([_int8(4), _ints(0), None], _int8(1), "slice.cc:61: size != nullptr"),
    ([_int8(4), _ints(0), _ints(1)], ((1,), T.BOOL), "slice.cc:67: input->type == output->type"),
    ([_int8(4), _ints(0), ((1,), T.INT64)], _int8(1), "slice.cc:68: begin->type == size->type"),
    ([_int8(4), _int8(1), _int8(1)], _int8(1), "slice.cc:69: begin->type == kTfLiteInt32"),
    ([_int8(4), ((1, 1), T.INT32), _ints(1)], _int8(1), "slice.cc:71: NumDimensions(begin) == 1"),
    ([_int8(4), _ints(0), ((), T.INT32)], _int8(1), "slice.cc:72: NumDimensions(size) == 1"),
    ([_int8(4), _ints(0), _ints(1, 1)], _int8(1), "slice.cc:73: NumElements(begin) == NumElements(size)"),
    ([_int8(*(1,) * 6), _ints(0), _ints(1)], _int8(1), "slice.cc:74: NumDimensions(input) <= kMaxDim"),
])  # fmt: skip
def test_every_other_check_of_slice_halts(kernel, inputs, output, expression):
    assert kernel("SLICE", inputs, [output]).refusal().startswith(f"halts: {KERNELS}{expression}")
