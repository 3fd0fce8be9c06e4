"""BATCH_MATMUL: transposed copies in the tail, and an output shape of its own."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
FREES = ["free 0", "free 1", "free 2"]
TEMPS = ["temp 0", "temp 1", "temp 2"]


def tensor(shape, type_=T.FLOAT32, scale=0.5, zero_point=0):
    return (shape, type_, {"scale": scale, "zero_point": zero_point})


def matrices(lhs, rhs, output, type_=T.FLOAT32):
    return {"inputs": [tensor(lhs, type_), tensor(rhs, type_)], "outputs": [tensor(output, type_)]}


SMALL = matrices((2, 3), (3, 4), (2, 4))


def transposed(shape, element_size):
    """A 12-byte TfLiteEvalTensor, its dims with their length, its data."""
    rows, columns = shape
    return [
        "persistent 12 transposed TfLiteEvalTensor",
        "persistent 12 transposed dims",
        f"persistent {rows * columns * element_size} transposed data",
    ]


QUANTIZATION = "persistent 28 QuantizationOpDataBatchMatmul"


def test_init_takes_op_data(kernel):
    # Three pointers and three bools.
    assert kernel("BATCH_MATMUL", **SMALL).init() == ["persistent 16 OpDataBatchMatmul"]


@pytest.mark.parametrize(("type_", "size", "quantization"), [
    (T.FLOAT32, 4, []), (T.INT8, 1, [QUANTIZATION]), (T.INT16, 2, [QUANTIZATION]),
])  # fmt: skip
def test_the_right_side_is_transposed_by_default(kernel, type_, size, quantization):
    bench = kernel("BATCH_MATMUL", **matrices((2, 3), (3, 4), (2, 4), type_))
    # The output's dims: a length and two dimensions.
    dims = ["persistent 12 dims", "shape 2 (2, 4)"]
    assert bench.prepare() == TEMPS + quantization + transposed((3, 4), size) + dims + FREES


@pytest.mark.parametrize(("adj_x", "adj_y", "lhs", "rhs", "copies"), [
    (False, True, (2, 3), (4, 3), []),
    (True, False, (3, 2), (3, 4), [(3, 2), (3, 4)]),
    (True, True, (3, 2), (4, 3), [(3, 2)]),
])  # fmt: skip
def test_adjoints_decide_what_is_copied(kernel, adj_x, adj_y, lhs, rhs, copies):
    options = {"adj_x": adj_x, "adj_y": adj_y}
    requests = kernel("BATCH_MATMUL", **matrices(lhs, rhs, (2, 4)), options=options).prepare()
    expected = [line for shape in copies for line in transposed(shape, 4)]
    assert requests == [*TEMPS, *expected, "persistent 12 dims", "shape 2 (2, 4)", *FREES]


@pytest.mark.parametrize(("lhs", "rhs", "output", "shape"), [
    ((5, 2, 3), (3, 4), (5, 2, 4), "(5, 2, 4)"),
    ((1, 5, 2, 3), (6, 1, 3, 4), (6, 5, 2, 4), "(6, 5, 2, 4)"),
    # The output may have more dimensions than the product; they are cut off.
    ((2, 3), (3, 4), (1, 2, 4), "(2, 4)"),
    ((2, 3), (3, 4), (8, 1), "(2, 4)"),
])  # fmt: skip
def test_batches_broadcast_and_the_product_s_shape_is_written(kernel, lhs, rhs, output, shape):
    requests = kernel("BATCH_MATMUL", **matrices(lhs, rhs, output)).prepare()
    assert requests[-5:-3] == [f"persistent {4 + 4 * len(output)} dims", f"shape 2 {shape}"]


TYPES = "{0}->type == kTfLiteFloat32 || {0}->type == kTfLiteInt8 || {0}->type == kTfLiteInt16 was not true."


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([tensor((2, 3))], [tensor((2, 4))], ":180 NumInputs(node) != 2 (1 != 2)"),
    ([tensor((2, 3))] * 2, [], ":181 NumOutputs(node) != 1 (0 != 1)"),
    ([None, tensor((3, 4))], [tensor((2, 4))], ":185 lhs_data != nullptr was not true."),
    ([tensor((2, 3)), None], [tensor((2, 4))], ":187 rhs_data != nullptr was not true."),
    ([tensor((2, 3), T.INT32), tensor((3, 4))], [tensor((2, 4))], ":191 " + TYPES.format("lhs_data")),
    ([tensor((2, 3)), tensor((3, 4), T.INT32)], [tensor((2, 4))], ":194 " + TYPES.format("rhs_data")),
    ([tensor((2, 3)), tensor((3, 4), T.INT8)], [tensor((2, 4))],
     ":199 lhs_data->type == rhs_data->type was not true."),
    ([tensor((2, 3)), tensor((3, 4))], [tensor((2, 4), T.INT8)],
     ":201 lhs_data->type == output->type was not true."),
    ([tensor((3,)), tensor((3, 4))], [tensor((4,))], ":206 lhs_rank >= 2 was not true."),
    ([tensor((1,) * 6), tensor((3, 4))], [tensor((4,))], ":207 lhs_rank <= 5 was not true."),
    ([tensor((2, 3)), tensor((3,))], [tensor((4,))], ":208 rhs_rank >= 2 was not true."),
    ([tensor((2, 3)), tensor((1,) * 6)], [tensor((4,))], ":209 rhs_rank <= 5 was not true."),
    ([tensor((2, 3), T.INT16, 0.5, 1), tensor((3, 4), T.INT16)], [tensor((2, 4), T.INT16)],
     ":242 lhs_data->params.zero_point != 0 (1 != 0)"),
    ([tensor((2, 3), T.INT16), tensor((3, 4), T.INT16, 0.5, 2)], [tensor((2, 4), T.INT16)],
     ":243 rhs_data->params.zero_point != 0 (2 != 0)"),
    ([tensor((2, 3), T.INT16), tensor((3, 4), T.INT16)], [tensor((2, 4), T.INT16, 0.5, 3)],
     ":244 output->params.zero_point != 0 (3 != 0)"),
    ([tensor((5, 2, 3)), tensor((6, 3, 4))], [tensor((5, 2, 4))], ":264 rhs_dim != 1 (6 != 1)"),
    ([tensor((2, 3)), tensor((4, 4))], [tensor((2, 4))], ":276 accum_dim_lhs != accum_dim_rhs (3 != 4)"),
])  # fmt: skip
def test_refusals(kernel, inputs, outputs, message):
    assert kernel("BATCH_MATMUL", inputs, outputs).refusal() == KERNELS + "batch_matmul.cc" + message


def test_a_negative_product_of_scales_is_refused(kernel):
    bench = kernel("BATCH_MATMUL", [tensor((2, 3), T.INT8), tensor((3, 4), T.INT8, -1.0)], [tensor((2, 4), T.INT8)])
    assert bench.refusal() == "tensorflow/lite/kernels/kernel_util.cc:335 input_product_scale >= 0 was not true."


def test_an_output_of_lower_rank_is_refused(kernel):
    message = KERNELS + "batch_matmul_common.cc:38 output_rank <= NumDimensions(output) was not true."
    assert kernel("BATCH_MATMUL", **matrices((2, 3), (3, 4), (8,))).refusal() == message


@pytest.mark.parametrize(("target", "numbers"), [("x86_64", "(9 != 8)"), ("cortex-m4", "(9 != 0)")])
def test_an_output_of_another_size_is_refused_with_the_numbers_that_the_abi_prints(kernel, target, numbers):
    # Both sizes are 64 bits wide and printed with %d: in 32-bit builds the second is the first one's upper half.
    message = KERNELS + f"batch_matmul_common.cc:66 orig_size != NumElements(output) {numbers}"
    assert kernel("BATCH_MATMUL", **matrices((2, 3), (3, 4), (3, 3)), target=target).refusal() == message


def test_a_refusal_frees_what_was_taken(kernel):
    bench = kernel("BATCH_MATMUL", **SMALL, refuse="temp 2")
    assert bench.refusal() == KERNELS + "batch_matmul.cc:189 output != nullptr was not true."
    assert bench.requests == [*TEMPS, "free 0", "free 1"]


@pytest.mark.parametrize(("refuse", "message"), [
    ("persistent 28", ":146 op_data->quantization != nullptr was not true."),
    ("persistent 12 transposed T", ":153 op_data->lhs_transposed_tensor != nullptr was not true."),
    ("persistent 12 transposed d", ":153 op_data->lhs_transposed_tensor != nullptr was not true."),
    ("persistent 6 transposed data", ":153 op_data->lhs_transposed_tensor != nullptr was not true."),
    ("persistent 20 transposed data", ":163 op_data->rhs_transposed_tensor != nullptr was not true."),
])  # fmt: skip
def test_missing_memory_is_refused(kernel, refuse, message):
    sizes = matrices((2, 3), (2, 10), (3, 10), T.INT8)
    bench = kernel("BATCH_MATMUL", **sizes, options={"adj_x": True}, refuse=refuse)
    assert bench.refusal() == KERNELS + "batch_matmul.cc" + message


def test_without_memory_for_op_data_prepare_halts(kernel):
    assert "op_data != nullptr" in kernel("BATCH_MATMUL", **SMALL, refuse="persistent").refusal()
