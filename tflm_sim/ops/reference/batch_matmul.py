"""BATCH_MATMUL: keeps a transposed copy of each operand that is not in the layout of the matrix multiplication.

    Init      OpDataBatchMatmul                                       persistent
    Prepare   lhs, rhs, output                                        temps (freed at the end, failed or not)
              int8, int16: quantization data                          persistent
              adj_x: lhs transposed: TfLiteEvalTensor, dims, data     persistent
              not adj_y: rhs transposed, likewise                     persistent
              the output's dims                                       persistent

Source: tensorflow/lite/micro/kernels/batch_matmul.cc, batch_matmul_common.cc @ 90b983c.
"""

from __future__ import annotations

from math import prod

from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import size_t
from tflm_sim.ops.reference.node_checks import ensure_counts, int_option, require_op_data
from tflm_sim.ops.reference.quantization import check_product_scale
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    ensure,
    ensure_count_eq,
    ensure_eq,
    freeing,
    int_array_size,
    op_data,
    optional_input,
    optional_output,
    present,
    writable_dims,
)

_FILE, _COMMON = "batch_matmul.cc", "batch_matmul_common.cc"
_TABLE = "BatchMatMulOptions"
_FLOAT32, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16
Shape = tuple[int, ...]


def _prepare(node: Node) -> Steps[None]:
    ensure_counts(node, _FILE, 180, inputs=2)
    lhs = yield from optional_input(node, 0)
    rhs = yield from optional_input(node, 1)
    output = yield from optional_output(node, 0)
    yield from freeing(_with_tensors(node, lhs, rhs, output), lhs, rhs, output)


def _with_tensors(
    node: Node, maybe_lhs: KernelTensor | None, maybe_rhs: KernelTensor | None, maybe_output: KernelTensor | None
) -> Steps[None]:
    lhs = present(maybe_lhs, f"{_FILE}:185", "lhs_data")
    rhs = present(maybe_rhs, f"{_FILE}:187", "rhs_data")
    output = present(maybe_output, f"{_FILE}:189", "output")
    _check_types(lhs, rhs, output)
    _check_ranks(lhs, rhs)
    yield from _temporaries(node, lhs, rhs)
    if lhs.type in (_INT8, _INT16):
        check_product_scale(lhs.scale, rhs.scale)
    if lhs.type == _INT16:
        for tensor, line, name in ((lhs, 242, "lhs_data"), (rhs, 243, "rhs_data"), (output, 244, "output")):
            ensure_eq(tensor.zero_point, 0, f"{_FILE}:{line}", f"{name}->params.zero_point", "0")
    yield from reshape_output(node, output, product_shape(node, lhs.shape, rhs.shape, (f"{_FILE}:264", f"{_FILE}:276")))


def _check_types(lhs: KernelTensor, rhs: KernelTensor, output: KernelTensor) -> None:
    for tensor, line, name in ((lhs, 191, "lhs_data"), (rhs, 194, "rhs_data")):
        text = " || ".join(f"{name}->type == kTfLite{type_}" for type_ in ("Float32", "Int8", "Int16"))
        ensure(tensor.type in (_FLOAT32, _INT8, _INT16), f"{_FILE}:{line}", text)
    ensure(lhs.type == rhs.type, f"{_FILE}:199", "lhs_data->type == rhs_data->type")
    ensure(lhs.type == output.type, f"{_FILE}:201", "lhs_data->type == output->type")


def _check_ranks(lhs: KernelTensor, rhs: KernelTensor) -> None:
    for tensor, line, name in ((lhs, 206, "lhs_rank"), (rhs, 208, "rhs_rank")):
        ensure(len(tensor.shape) >= 2, f"{_FILE}:{line}", f"{name} >= 2")
        ensure(len(tensor.shape) <= 5, f"{_FILE}:{line + 1}", f"{name} <= 5")


def _temporaries(node: Node, lhs: KernelTensor, rhs: KernelTensor) -> Steps[None]:
    """``InitializeTemporaries``."""
    require_op_data(node, f"{_FILE}:138", "op_data")
    if lhs.type in (_INT8, _INT16):
        struct = "QuantizationOpDataBatchMatmul"
        offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
        ensure(offset is not None, f"{_FILE}:146", "op_data->quantization != nullptr")
    if int_option(node, _TABLE, "adj_x"):
        is_there = yield from transposed_copy(node, lhs)
        ensure(is_there, f"{_FILE}:153", "op_data->lhs_transposed_tensor != nullptr")
    if not int_option(node, _TABLE, "adj_y"):
        is_there = yield from transposed_copy(node, rhs)
        ensure(is_there, f"{_FILE}:163", "op_data->rhs_transposed_tensor != nullptr")


def transposed_copy(node: Node, tensor: KernelTensor) -> Steps[bool]:
    """``AllocInitTransposeTensorFromTfLiteTensor``; return whether the arena had room for all three parts."""
    parts = (
        (node.target.sizeof("TfLiteEvalTensor"), "transposed TfLiteEvalTensor"),
        (int_array_size(len(tensor.shape)), "transposed dims"),
        (size_t(node, tensor.flat_size * TYPE_SIZES[tensor.type]), "transposed data"),
    )
    for size, label in parts:
        if (yield Persistent(size, label, checked=True)) is None:
            return False
    return True


def product_shape(node: Node, lhs: Shape, rhs: Shape, places: tuple[str, str]) -> Shape:
    """Check that batches broadcast (first place) and inner sizes agree (second); return the product's shape."""
    rank = max(len(lhs), len(rhs))
    lhs, rhs = ((1,) * (rank - len(shape)) + shape for shape in (lhs, rhs))
    for lhs_dim, rhs_dim in zip(lhs[:-2], rhs[:-2], strict=True):
        if lhs_dim not in (rhs_dim, 1):
            ensure_eq(rhs_dim, 1, places[0], "rhs_dim", "1")
    rows, lhs_inner = (lhs[-1], lhs[-2]) if int_option(node, _TABLE, "adj_x") else (lhs[-2], lhs[-1])
    columns, rhs_inner = (rhs[-2], rhs[-1]) if int_option(node, _TABLE, "adj_y") else (rhs[-1], rhs[-2])
    ensure_eq(lhs_inner, rhs_inner, places[1], "accum_dim_lhs", "accum_dim_rhs")
    batches = tuple(b if a == 1 else a for a, b in zip(lhs[:-2], rhs[:-2], strict=True))
    return (*batches, rows, columns)


def reshape_output(node: Node, output: KernelTensor, shape: Shape) -> Steps[None]:
    """``ReshapeOutputTensor``: the product's shape replaces the output's, whose element count must stay."""
    element_count = output.flat_size
    ensure(len(shape) <= len(output.shape), f"{_COMMON}:38", "output_rank <= NumDimensions(output)")
    yield from writable_dims(output, shape)
    place = f"{_COMMON}:66"
    ensure_count_eq(node, element_count, prod(shape), place, "orig_size", "NumElements(output)")


MODELS: tuple[OpModel, ...] = (
    OpModel("BATCH_MATMUL", "TfLiteBatchMatMulParams", op_data("OpDataBatchMatmul"), _prepare, _FILE),
)
