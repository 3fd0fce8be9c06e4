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
from tflm_sim.ops.eval_types import CMSIS_NN, EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import OUTPUT, Prepare, counts, source, unchecked
from tflm_sim.ops.reference.arithmetic import size_t
from tflm_sim.ops.reference.quantization import check_product_scale
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import int_array_size, op_data, writable_dims

_COMMON = "batch_matmul_common.cc"
_TABLE = "BatchMatMulOptions"
_FLOAT32, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16
Shape = tuple[int, ...]


def _batch_matmul(
    k: Kernel, maybe_lhs: KernelTensor | None, maybe_rhs: KernelTensor | None, maybe_output: KernelTensor | None
) -> Steps[None]:
    lhs, rhs = k.present(maybe_lhs, "lhs_data"), k.present(maybe_rhs, "rhs_data")
    output = k.present(maybe_output, "output")
    for tensor, name in ((lhs, "lhs_data"), (rhs, "rhs_data")):
        k.one_of(tensor.type, (_FLOAT32, _INT8, _INT16), f"{name}->type")
    k.ensure(lhs.type == rhs.type, "lhs_data->type == rhs_data->type")
    k.ensure(lhs.type == output.type, "lhs_data->type == output->type")
    check_ranks(k, lhs, rhs, most=5)
    yield from _temporaries(k.within("InitializeTemporaries"), lhs, rhs)
    if lhs.type in (_INT8, _INT16):
        check_product_scale(k.node, lhs.scale, rhs.scale)
    if lhs.type == _INT16:
        k.zero_points(lhs_data=lhs, rhs_data=rhs, output=output)
    yield from reshape_output(k.node, output, product_shape(k, lhs.shape, rhs.shape))


def check_ranks(k: Kernel, lhs: KernelTensor, rhs: KernelTensor, *, most: int) -> None:
    """Refuse operands of fewer than two dimensions, and of more than ``most``."""
    for tensor, name in ((lhs, "lhs_rank"), (rhs, "rhs_rank")):
        k.ensure(len(tensor.shape) >= 2, f"{name} >= 2")
        k.ensure(len(tensor.shape) <= most, f"{name} <= {most}")


def _temporaries(k: Kernel, lhs: KernelTensor, rhs: KernelTensor) -> Steps[None]:
    """``InitializeTemporaries``."""
    k.op_data("op_data")
    if lhs.type in (_INT8, _INT16):
        yield from k.persistent("QuantizationOpDataBatchMatmul", "op_data->quantization != nullptr")
    if int_option(k.node, _TABLE, "adj_x"):
        is_there = yield from transposed_copy(k.node, lhs)
        k.ensure(is_there, "op_data->lhs_transposed_tensor != nullptr")
    if not int_option(k.node, _TABLE, "adj_y"):
        is_there = yield from transposed_copy(k.node, rhs)
        k.ensure(is_there, "op_data->rhs_transposed_tensor != nullptr")


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


def product_shape(k: Kernel, lhs: Shape, rhs: Shape) -> Shape:
    """Check that batches broadcast and inner sizes agree; return the product's shape."""
    rank = max(len(lhs), len(rhs))
    lhs, rhs = ((1,) * (rank - len(shape)) + shape for shape in (lhs, rhs))
    for lhs_dim, rhs_dim in zip(lhs[:-2], rhs[:-2], strict=True):
        if lhs_dim not in (rhs_dim, 1):
            k.ensure_eq(rhs_dim, 1, "rhs_dim")
    rows, lhs_inner = (lhs[-1], lhs[-2]) if int_option(k.node, _TABLE, "adj_x") else (lhs[-2], lhs[-1])
    columns, rhs_inner = (rhs[-2], rhs[-1]) if int_option(k.node, _TABLE, "adj_y") else (rhs[-1], rhs[-2])
    k.ensure_eq(lhs_inner, rhs_inner, "accum_dim_lhs", "accum_dim_rhs")
    batches = tuple(b if a == 1 else a for a, b in zip(lhs[:-2], rhs[:-2], strict=True))
    return (*batches, rows, columns)


def reshape_output(node: Node, output: KernelTensor, shape: Shape) -> Steps[None]:
    """``ReshapeOutputTensor``: the product's shape replaces the output's, whose element count must stay."""
    k = Kernel(node, _COMMON)
    element_count = output.flat_size
    k.ensure(len(shape) <= len(output.shape), "output_rank <= NumDimensions(output)")
    yield from writable_dims(output, shape)
    k.ensure_count_eq(element_count, prod(shape), "orig_size", "NumElements(output)")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "BATCH_MATMUL",
        "TfLiteBatchMatMulParams",
        op_data("OpDataBatchMatmul"),
        Prepare(
            "batch_matmul.cc",
            counts(2),
            takes=(unchecked(source(0, "lhs")), unchecked(source(1, "rhs")), unchecked(OUTPUT)),
            body=_batch_matmul,
            frees_always=True,
        ),
    ),
)

EVALS: tuple[EvalRow, ...] = (
    known_types("BATCH_MATMUL", "i0", "FLOAT32 INT8 INT16", "BATCH_MATMUL doesn't support input type {name}"),
    known_types(
        "BATCH_MATMUL",
        "i0",
        "FLOAT32 INT8 INT16",
        "CMSIS-NN Batch Matmul: Type {name} ({number}) not supported.",
        1525,
        CMSIS_NN,
    ),
)
