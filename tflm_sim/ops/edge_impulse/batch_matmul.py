"""Edge Impulse's BATCH_MATMUL: an older one than TFLM's, with float activations times int8 weights.

    Init      OpData                                                  persistent
    Prepare   lhs, rhs, output                                        temps
              hybrid: its data; int8: quantization data               persistent
              adj_x: lhs transposed: TfLiteEvalTensor, dims, data     persistent
              not adj_y: rhs transposed, likewise                     persistent
              hybrid: lhs quantized, scales, offsets                  scratch
              hybrid: sums of the weights' rows                       persistent
              the output's dims                                       persistent

Source: tensorflow/lite/micro/kernels/batch_matmul.cc, edgeimpulse/inferencing-sdk-cpp @ 919819f.
"""

from __future__ import annotations

from math import prod

from tflm_sim.model.types import TensorType
from tflm_sim.ops.edge_impulse.checks import refuse_unless, taken
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import OUTPUT, source
from tflm_sim.ops.reference.batch_matmul import transposed_copy
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import int_array_size, op_data, writable_dims

_TABLE = "BatchMatMulOptions"
_FLOAT32, _INT8 = TensorType.FLOAT32, TensorType.INT8
_PAIRS = ((_FLOAT32, _FLOAT32), (_FLOAT32, _INT8), (_INT8, _INT8))
_RANKS = range(2, 5)
_MAX_DIMS = 5
"""Of the output's dims, until August 2023."""


def _prepare(node: Node) -> Steps[None]:
    k, lhs, rhs, output = yield from taken(node, source(0), source(1), OUTPUT)
    refuse_unless((lhs.type, rhs.type) in _PAIRS, "types of BATCH_MATMUL")
    refuse_unless(len(lhs.shape) in _RANKS and len(rhs.shape) in _RANKS, "ranks of BATCH_MATMUL")
    is_hybrid = lhs.type != rhs.type
    if is_hybrid:
        yield Persistent(node.target.sizeof("edge_impulse/batch_matmul.HybridOpData"), "hybrid")
    elif lhs.type == _INT8:
        yield Persistent(node.target.sizeof("QuantizationOpDataBatchMatmul"), "quantization")
    if int_option(node, _TABLE, "adj_x"):
        yield from transposed_copy(node, lhs)
    if not int_option(node, _TABLE, "adj_y"):
        yield from transposed_copy(node, rhs)
    if is_hybrid:
        yield from _hybrid(node, lhs, rhs)
    shape = _product_shape(node, lhs, rhs)
    refuse_unless(prod(shape) == output.flat_size, "orig_size == NumElements(output)")
    if node.target.runtime.has("edge_impulse_kernels"):
        yield from writable_dims(output, shape)
    else:
        yield Persistent(int_array_size(_MAX_DIMS), "dims")
    yield from k.free(lhs, rhs, output)


def _hybrid(node: Node, lhs: KernelTensor, rhs: KernelTensor) -> Steps[None]:
    rows = lhs.shape[-1 if int_option(node, _TABLE, "adj_x") else -2] * prod(lhs.shape[:-2])
    yield Scratch(lhs.flat_size, "input_quantized")
    yield Scratch(4 * rows, "scaling_factors")
    yield Scratch(4 * rows, "input_offsets")
    yield Persistent(4 * prod(rhs.shape[:-2]) * rhs.shape[-1], "row_sums")


def _product_shape(node: Node, lhs: KernelTensor, rhs: KernelTensor) -> tuple[int, ...]:
    rank = max(len(lhs.shape), len(rhs.shape))
    a, b = ((1,) * (rank - len(tensor.shape)) + tensor.shape for tensor in (lhs, rhs))
    refuse_unless(all(x in (y, 1) or y == 1 for x, y in zip(a[:-2], b[:-2], strict=True)), "batches of BATCH_MATMUL")
    rows, inner = (a[-1], a[-2]) if int_option(node, _TABLE, "adj_x") else (a[-2], a[-1])
    columns, other = (b[-2], b[-1]) if int_option(node, _TABLE, "adj_y") else (b[-1], b[-2])
    refuse_unless(inner == other, "accum_dim_lhs == accum_dim_rhs")
    return (*(y if x == 1 else x for x, y in zip(a[:-2], b[:-2], strict=True)), rows, columns)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "BATCH_MATMUL", "TfLiteBatchMatMulParams", op_data("OpDataBatchMatmul"), _prepare, source="batch_matmul.cc"
    ),
)
