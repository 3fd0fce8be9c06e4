"""Operators that map each element on its own: ABS, RSQRT, SIN ... LOGICAL_NOT, CEIL, ROUND, EXP; CAST, QUANTIZE and
DEQUANTIZE; and L2_NORMALIZATION.

NEG, FLOOR, LOGICAL_AND and LOGICAL_OR have neither Init nor Prepare: whatever the model says, they ask for nothing.
Prepare in ``elementwise.cc`` accepts every type: what looks there like a call of the template's ``IsSupportedType`` is
a cast to the function pointer type of that name, and no type's number is a null pointer.

Source: tensorflow/lite/micro/kernels/{elementwise,ceil,round,exp,neg,floor,logical,cast,quantize,quantize_common,
dequantize,dequantize_common,l2norm}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import BOTH_TYPES, INPUT_TYPE, OUTPUT_TYPE, PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import convertible_types, fused_activation
from tflm_sim.ops.prepare import OP_DATA, Prepare, counts
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import op_data
from tflm_sim.units import int32

_FILE = "elementwise.cc"


def _abs_rsqrt(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    """``PrepareAbsRsqrt``: int8 and quantized int16 need both quantizations, and int16 no zero points."""
    k.same_type(source, output)
    k.op_data("op_data")
    if source.type == TensorType.INT8 or (source.type == TensorType.INT16 and source.affine):
        k.affine(source, "input")
        k.affine(output, "output")
        if source.type == TensorType.INT16:
            k.ensure_eq(source.zero_point, 0, "op_data->input_offset")
            k.ensure_eq(output.zero_point, 0, "op_data->output_offset")


def _same_float(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.is_type(source, TensorType.FLOAT32, "input")
    k.same_type(output, source, "output", "input")
    k.ensure_eq(int32(output.bytes), int32(source.bytes), "output->bytes", "input->bytes")
    k.ensure_eq(len(output.shape), len(source.shape), "output->dims->size", "input->dims->size")
    for i, size in enumerate(output.shape):
        k.ensure_eq(size, k.dim(source, i), "output->dims->data[i]", "input->dims->data[i]")


def _counted_same_float(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    """CEIL and ROUND take the tensors before they count them."""
    k.counts(inputs=1)
    _same_float(k, source, output)


def _abs_rsqrt_init(node: Node) -> Steps[object]:
    """``Init`` of ABS and RSQRT, which older versions do without."""
    if node.target.runtime.has("abs_rsqrt_quantized"):
        return (yield from op_data("elementwise.OpDataAbsRsqrt")(node))
    return None


def _abs_rsqrt_prepare(node: Node) -> Steps[None]:
    yield from (_ABS_RSQRT if node.target.runtime.has("abs_rsqrt_quantized") else _GENERIC)(node)


_GENERIC = Prepare(_FILE, counts(1), body=Kernel.same_type, function="GenericPrepare")
_ABS_RSQRT = Prepare(_FILE, counts(1), body=_abs_rsqrt, function="PrepareAbsRsqrt")


_QUANTIZE_INPUTS = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8, TensorType.UINT8)
_QUANTIZE_OUTPUTS = (TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.UINT8)
_QUANTIZE_SINCE: dict[int, str] = {TensorType.INT32: "quantize_int32", TensorType.UINT8: "quantize_uint8"}
_OLD_DEQUANTIZE_INPUTS = (TensorType.UINT8, TensorType.INT8, TensorType.INT16)
_QUANTIZE_UINT8_SINCE: dict[int, str] = {TensorType.UINT8: "quantize_uint8"}
_DEQUANTIZE_INPUTS = (TensorType.INT8, TensorType.INT16, TensorType.UINT8)


def _quantize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.affine(output, "output")
    one = output.affine is not None and output.affine.scale_count == 1
    k.ensure(one, "affine_quantization->scale->size == 1")
    k.one_of(source.type, k.known(_QUANTIZE_INPUTS, _QUANTIZE_SINCE), "input->type")
    *older, uint8 = _QUANTIZE_OUTPUTS
    outputs = (uint8, *older) if k.has("tensorflow_uint8") else k.known(_QUANTIZE_OUTPUTS, _QUANTIZE_UINT8_SINCE)
    k.one_of(output.type, outputs, "output->type")


def _dequantize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    types: tuple[int, ...] = _DEQUANTIZE_INPUTS
    if not k.has("dequantize_uint8"):
        types = k.known(_OLD_DEQUANTIZE_INPUTS, {TensorType.UINT8: "uint8_kernels"})
    k.one_of(source.type, types, "input->type")
    outputs = (TensorType.FLOAT32, TensorType.INT32) if k.has("dequantize_int32") else (TensorType.FLOAT32,)
    k.one_of(output.type, outputs, "output->type")


def _normalize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.ensure(len(source.shape) <= 4, "NumDimensions(input) <= 4")
    types = (TensorType.FLOAT32, TensorType.UINT8, TensorType.INT8)
    k.one_of(output.type, k.known(types, {TensorType.UINT8: "uint8_kernels"}), "output->type")
    k.same_type(source, output)
    k.ensure_eq(fused_activation(k.node, "L2NormOptions"), 0, "params->activation", "kTfLiteActNone")


MODELS: tuple[OpModel, ...] = (
    *(OpModel(op, init=_abs_rsqrt_init, prepare=_abs_rsqrt_prepare, source=_FILE) for op in ("ABS", "RSQRT")),
    *(OpModel(op, prepare=_GENERIC) for op in ("SIN", "COS", "LOG", "SQRT", "SQUARE", "LOGICAL_NOT")),
    OpModel("CEIL", prepare=Prepare("ceil.cc", body=_counted_same_float)),
    OpModel("ROUND", prepare=Prepare("round.cc", body=_counted_same_float)),
    OpModel("EXP", prepare=Prepare("exp.cc", counts(1), body=_same_float)),
    OpModel("NEG", source="neg.cc"),
    OpModel("FLOOR", source="floor.cc"),
    OpModel("LOGICAL_AND", source="logical.cc"),
    OpModel("LOGICAL_OR", source="logical.cc"),
    OpModel(
        "CAST",
        "TfLiteCastParams",
        prepare=Prepare("cast.cc", counts(1)),
        parse=convertible_types("CastOptions", "in_data_type", "out_data_type"),
    ),
    OpModel(
        "QUANTIZE",
        init=op_data("OpDataQuantizeReference"),
        prepare=Prepare("quantize_common.cc", OP_DATA, counts(1), body=_quantize),
    ),
    OpModel(
        "DEQUANTIZE",
        init=op_data("DequantizeOpData"),
        prepare=Prepare("dequantize_common.cc", OP_DATA, counts(1), body=_dequantize),
    ),
    OpModel(
        "L2_NORMALIZATION",
        "TfLiteL2NormParams",
        op_data("L2NormalizationParams"),
        Prepare("l2norm.cc", OP_DATA, counts(1), body=_normalize),
    ),
)


def _cast(inputs: str, outputs: str, since: int = 0) -> EvalRow:
    return EvalRow("CAST", (Switch("i0", inputs, INPUT_TYPE), Switch("o0", outputs, OUTPUT_TYPE)), since)


EVALS: tuple[EvalRow, ...] = (
    _cast("INT8 INT16 INT32 UINT32 FLOAT32 BOOL", "INT8 INT16 INT32 UINT32 FLOAT32 BOOL", 1940),
    _cast("INT8 INT16 INT32 UINT32 FLOAT32 BOOL", "INT8 INT16 INT32 UINT32 FLOAT32", 1418),
    _cast("INT8 INT16 INT32 UINT32 FLOAT32", "INT8 INT16 INT32 UINT32 FLOAT32", 1334),
    _cast("INT8 INT16 INT32 UINT32 FLOAT32", "INT8 INT16 INT32 FLOAT32", 484),
    _cast("INT8 INT16 INT32 FLOAT32", "INT8 INT16 INT32 FLOAT32", 350),
    _cast("INT8 INT16 FLOAT32", "INT8 INT16 FLOAT32", 295),
    _cast("INT8 FLOAT32", "INT8 FLOAT32"),
    known_types("EXP", "i0", "FLOAT32", "Type {name} ({number}) currently not supported by Exp."),
    known_types("FLOOR", "i0", "FLOAT32", "input->type != kTfLiteFloat32 ({name} != FLOAT32)"),
    known_types("SIN COS LOG SQRT SQUARE", "i0", "FLOAT32", "input->type != expected_type ({name} != FLOAT32)"),
    known_types("LOGICAL_NOT", "i0", "BOOL", "input->type != expected_type ({name} != BOOL)"),
    known_types("L2_NORMALIZATION", "o0", "FLOAT32 INT8", "Output type is {name}, requires float."),
    known_types("NEG", "i0", "FLOAT32", PLAIN),
    EvalRow(
        "QUANTIZE",
        (
            Switch("i0", "FLOAT32 INT32 INT16 INT8 UINT8", BOTH_TYPES),
            Switch("o0", "INT8 INT16", BOTH_TYPES, when="i0 FLOAT32"),
            Switch("o0", "INT8 INT16", BOTH_TYPES, when="i0 INT32"),
            Switch("o0", "INT8 INT16 INT32", BOTH_TYPES, when="i0 INT16"),
            Switch("o0", "INT8 UINT8 INT16 INT32", BOTH_TYPES, when="i0 INT8"),
            Switch("o0", "INT8", BOTH_TYPES, when="i0 UINT8"),
        ),
        657,
    ),
)
