"""GATHER, GATHER_ND, EMBEDDING_LOOKUP and DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"


def f32(*shape):
    return (shape, T.FLOAT32)


def i32(*shape):
    return (shape, T.INT32)


@pytest.mark.parametrize(("values", "coords", "options", "dims", "shape"), [
    (f32(3, 4), i32(5), {"axis": 1}, 12, "(3, 5)"),
    (f32(3, 4), i32(5), {"axis": -2}, 12, "(5, 4)"),
    (f32(3, 4), i32(5, 6), {"axis": 0}, 12, "(5, 6, 4)"),
    (f32(3, 4, 7), i32(3, 2), {"axis": 1, "batch_dims": 1}, 12, "(3, 2, 7)"),
    (f32(3, 4, 7), i32(3, 2), {"axis": 1, "batch_dims": -1}, 12, "(3, 2, 7)"),
    (f32(3), i32(), {"axis": 0}, 12, "()"),
])  # fmt: skip
def test_gather_writes_the_gathered_shape(kernel, values, coords, options, dims, shape):
    bench = kernel("GATHER", [values, coords], [f32(9, 9)], options=options)
    # The dims of the file's output: a length and two ints.
    written = [f"persistent {dims} dims", f"shape 2 {shape}"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", *written, "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("inputs", "options", "message"), [
    ([f32(3)], {}, "gather.cc:103 NumInputs(node) != 2 (1 != 2)"),
    ([None, i32(1)], {}, "gather.cc:110 input != nullptr was not true."),
    ([f32(3), None], {}, "gather.cc:113 coords != nullptr was not true."),
    ([f32(3, 4), i32(5)], {"axis": 2}, "gather.cc:147 0 <= axis && axis < NumDimensions(input) was not true."),
    ([f32(3, 4), i32(5)], {"axis": -3}, "gather.cc:147 0 <= axis && axis < NumDimensions(input) was not true."),
    ([f32(3, 4), i32(3)], {"axis": 0, "batch_dims": 1}, "gather.cc:155 batch_dims <= axis was not true."),
    ([f32(3, 4), i32(3)], {"axis": 1, "batch_dims": -2},
     "gather.cc:156 0 <= batch_dims && batch_dims < NumDimensions(input) was not true."),
    ([f32(3, 4), i32()], {"axis": 1, "batch_dims": 1},
     "gather.cc:157 batch_dims <= NumDimensions(coords) was not true."),
    ([f32(3, 4), i32(2)], {"axis": 1, "batch_dims": 1},
     "gather.cc:159 input->dims->data[i] != coords->dims->data[i] (3 != 2)"),
])  # fmt: skip
def test_gather_refusals(kernel, inputs, options, message):
    assert kernel("GATHER", inputs, [f32(3)], options=options).refusal() == KERNELS + message


def test_gather_refuses_types(kernel):
    wide = kernel("GATHER", [f32(3), ((1,), T.INT64)], [f32(3)])
    assert wide.refusal() == "Positions of type 'INT64' are not supported by gather."
    short = kernel("GATHER", [((3,), T.INT16), i32(1)], [f32(3)])
    assert short.refusal() == "Type 'INT16' is not supported by gather."


def test_the_copied_dims_have_the_rank_of_the_file(kernel):
    assert "persistent 4 dims" in kernel("GATHER", [f32(3, 4), i32(5)], [f32()]).prepare()  # only a length


@pytest.mark.parametrize(("params", "indices", "shape"), [
    (f32(3, 4), i32(5, 1), "(5, 4)"),
    (f32(3, 4), i32(5, 6, 2), "(5, 6)"),
    (f32(3, 4), i32(0), "(3, 4)"),
])  # fmt: skip
def test_gather_nd_writes_the_gathered_shape(kernel, params, indices, shape):
    bench = kernel("GATHER_ND", [params, indices], [f32(9)])
    written = ["persistent 8 dims", f"shape 2 {shape}"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", *written, "free 0", "free 1", "free 2"]


@pytest.mark.parametrize(("params", "indices", "message"), [
    (((3,), T.INT16), i32(1), "Params of type 'INT16' are not supported by gather_nd."),
    (f32(3), f32(1), "Indices of type 'FLOAT32' are not supported by gather_nd."),
    (f32(), i32(1), "Params must be at least a vector."),
    (f32(3), i32(), "Indices must be at least a vector."),
    (f32(3), i32(2), "Index innermost dimension length must be <= params rank."),
    (f32(1, 1, 1, 1, 1, 1), i32(6), "Index innermost dimension length must not exceed 5."),
    (None, i32(2), KERNELS + "gather_nd.cc:38 params != nullptr was not true."),
    (f32(3), None, KERNELS + "gather_nd.cc:41 indices != nullptr was not true."),
])  # fmt: skip
def test_gather_nd_refusals(kernel, params, indices, message):
    assert kernel("GATHER_ND", [params, indices], [f32(3)]).refusal() == message


def test_gather_nd_halts_on_a_negative_dimension(kernel):
    assert kernel("GATHER_ND", [f32(3), i32(-1)], [f32(3)]).refusal().startswith("halts: ")


TABLE = ((5, 4, 2), T.INT8, {"scale": 0.5})


@pytest.mark.parametrize(("target", "op_data"), [("cortex-m4", 8), ("x86_64", 16)])
def test_embedding_lookup_takes_its_op_data_in_prepare(kernel, target, op_data):
    bench = kernel("EMBEDDING_LOOKUP", [i32(3), TABLE], [f32(3, 4, 2)], target=target)
    assert bench.model.init is None
    # A float and a size_t; the dims are a length and three ints.
    own = ["persistent 16 dims", "shape 2 (3, 4, 2)", f"persistent {op_data} embedding_lookup.OpData"]
    assert bench.prepare() == ["temp 0", "temp 1", "temp 2", *own, "free 0", "free 1", "free 2"]


def test_embedding_lookup_keeps_the_outputs_last_dimensions(kernel):
    bench = kernel("EMBEDDING_LOOKUP", [i32(3), ((5, 4), T.FLOAT32)], [f32(9, 9, 1)])
    assert "shape 2 (3, 4, 1)" in bench.prepare()


@pytest.mark.parametrize(("inputs", "output", "message"), [
    ([None, TABLE], f32(3, 4, 2), "76 lookup != nullptr was not true."),
    ([i32(3, 1), TABLE], f32(3, 4, 2), "77 NumDimensions(lookup) != 1 (2 != 1)"),
    ([f32(3), TABLE], f32(3, 4, 2), "78 lookup->type != kTfLiteInt32 (1 != 2)"),
    ([i32(3), None], f32(3, 4, 2), "82 value != nullptr was not true."),
    ([i32(3), f32(5)], f32(3), "83 NumDimensions(value) >= 2 was not true."),
    ([i32(3), i32(5, 4)], f32(3, 4),
     "84 value->type == kTfLiteFloat32 || value->type == kTfLiteInt8 was not true."),
    ([i32(3), TABLE], None, "89 output != nullptr was not true."),
    ([i32(3), f32(5, 4)], ((3, 4), T.INT8), "91 output->type == kTfLiteFloat32 was not true."),
    ([i32(3), TABLE], i32(3, 4, 2),
     "93 output->type == kTfLiteFloat32 || output->type == kTfLiteInt8 was not true."),
    ([i32(3), TABLE], f32(3, 8), "98 output->dims->size >= NumDimensions(value) was not true."),
    ([i32(4), TABLE], f32(3, 4, 2), "112 new_dims_size <= output->bytes was not true."),
    ([i32(3), ((5, 4), T.INT8, {"scale": 0.5, "zero_point": 3})], f32(3, 4),
     "59 tensor_1->params.zero_point != 0 (3 != 0)"),
])  # fmt: skip
def test_embedding_lookup_refusals(kernel, inputs, output, message):
    bench = kernel("EMBEDDING_LOOKUP", inputs, [output])
    assert bench.refusal() == f"{KERNELS}embedding_lookup.cc:{message}"


def test_embedding_lookup_without_memory(kernel):
    bench = kernel("EMBEDDING_LOOKUP", [i32(3), TABLE], [f32(3, 4, 2)], refuse="persistent 8")
    assert bench.refusal() == KERNELS + "embedding_lookup.cc:56 op_data != nullptr was not true."


def test_embedding_lookup_halts_on_an_empty_table(kernel):
    assert kernel("EMBEDDING_LOOKUP", [i32(3), f32(0, 4)], [f32(3, 4)]).refusal().startswith("halts: ")


def test_dynamic_update_slice_only_checks(kernel):
    bench = kernel("DYNAMIC_UPDATE_SLICE", [f32(4, 4), f32(2, 4), i32(2)], [f32(4, 4)])
    taken = ["temp 0", "temp 1", "temp 2", "temp 3"]
    assert bench.prepare() == [*taken, "free 0", "free 1", "free 2", "free 3"]


@pytest.mark.parametrize(("inputs", "message"), [
    ([f32(4), f32(2)], "127 NumInputs(node) != 3 (2 != 3)"),
    ([None, f32(2), i32(1)], "134 operand != nullptr was not true."),
    ([f32(4), None, i32(1)], "138 update != nullptr was not true."),
    ([f32(4), f32(2), None], "142 start_indices != nullptr was not true."),
    ([f32(4), i32(2), i32(1)], "149 operand->type != update->type (FLOAT32 != INT32)"),
    ([f32(4), f32(2), f32(1)],
     "150 start_indices->type == kTfLiteInt32 || start_indices->type == kTfLiteInt64 was not true."),
    ([f32(4), f32(2), i32(1, 1)], "153 NumDimensions(start_indices) != 1 (2 != 1)"),
    ([f32(4), f32(2), i32(2)], "154 SizeOfDimension(start_indices, 0) != NumDimensions(operand) (2 != 1)"),
    ([f32(4), f32(2, 1), i32(1)], "157 NumDimensions(update) != NumDimensions(operand) (2 != 1)"),
    ([f32(4), f32(5), i32(1)], "160 SizeOfDimension(update, i) <= SizeOfDimension(operand, i) was not true."),
])  # fmt: skip
def test_dynamic_update_slice_refusals(kernel, inputs, message):
    bench = kernel("DYNAMIC_UPDATE_SLICE", inputs, [f32(4)])
    assert bench.refusal() == f"{KERNELS}dynamic_update_slice.cc:{message}"
