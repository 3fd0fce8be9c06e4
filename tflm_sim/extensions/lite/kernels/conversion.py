"""Kernels that turn values of one type into another: CAST, QUANTIZE, DEQUANTIZE, DENSIFY, FAKE_QUANT.

Source: tflite/kernels/{cast,quantize,dequantize,densify,fake_quant}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.extensions.lite.graph_info import AllocationType
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.model.types import TensorType


def cast(call: PrepareCall) -> None:
    """CAST: where it may, it keeps the converted constant for ever."""
    value, output = call.operands(1)
    call.resize(output, value.shape)


_DEQUANTIZED = (t.INT2, t.INT4, t.UINT4, t.UINT8, t.INT8, t.INT16, t.FLOAT16)


def dequantize(call: PrepareCall) -> None:
    """DEQUANTIZE: a constant is converted once, into the persistent arena."""
    call.counts(1)
    value = call.operand(0, "op_context.input")
    output = call.output()
    call.ensure(value.type in _DEQUANTIZED, "is_supported_type")
    if value.type == t.INT16:
        call.ensure_eq(value.zero_point, 0, "op_context.input->params.zero_point")
    output.type = t.FLOAT32
    if value.is_constant:
        output.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    call.resize(output, value.shape)


def densify(call: PrepareCall) -> None:
    """DENSIFY: a sparse constant becomes a dense one in the persistent arena."""
    value, output = call.operands(1)
    call.ensure(value.type != t.STRING, "op_context.input->type != kTfLiteString")
    call.ensure(value.is_constant, "IsConstantTensor(op_context.input)")
    call.ensure(value.is_sparse, "op_context.input->sparsity != nullptr")
    output.type = value.type
    output.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    call.resize(output, value.shape)


# What becomes of a type that is no 8-bit one.
_QUANTIZED: dict[int, tuple[TensorType, ...]] = {
    t.FLOAT32: (t.UINT8, t.INT8, t.INT16, t.INT4, t.UINT4),
    t.INT16: (t.INT8, t.INT16, t.INT32),
    t.INT32: (t.INT8, t.INT16),
}


def quantize(call: PrepareCall) -> None:
    value, output = call.operands(1)
    call.affine(output, "output")
    if value.type not in _QUANTIZED:
        call.one_of(value.type, (t.INT8, t.UINT8), "input->type")
    call.one_of(output.type, _QUANTIZED.get(value.type, (t.UINT8, t.INT8, t.INT16)), "output->type")
    if value.type == output.type == t.INT16:
        call.zero_points(input=value, output=output)
    call.resize(output, value.shape)


def fake_quant(call: PrepareCall) -> None:
    call.counts(1)
    if call.option("narrow_range"):
        raise call.failure(
            "narrow_range FakeQuant is not currently supported at runtime. narrow_range is only meant to be applied "
            "to weights, not activations"
        )
    value, output = call.input(0), call.output()
    output.type = value.type
    call.resize(output, value.shape)
