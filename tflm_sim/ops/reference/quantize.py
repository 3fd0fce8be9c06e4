"""CAST, QUANTIZE and DEQUANTIZE: one tensor in, the same elements out in another type.

Source: tensorflow/lite/micro/kernels/{cast,quantize,quantize_common,dequantize,dequantize_common}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import convertible_types, ensure_counts, require_op_data
from tflm_sim.ops.reference.quantization import ensure_affine
from tflm_sim.ops.requests import Steps
from tflm_sim.ops.roles import ensure, free, input_tensor, op_data, output_tensor

_QUANTIZE, _DEQUANTIZE = "quantize_common.cc", "dequantize_common.cc"
_QUANTIZE_INPUTS = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8, TensorType.UINT8)
_QUANTIZE_OUTPUTS = (TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.UINT8)
_DEQUANTIZE_INPUTS = (TensorType.INT8, TensorType.INT16, TensorType.UINT8)
_TYPE_TEXTS = {
    TensorType.FLOAT32: "kTfLiteFloat32",
    TensorType.INT8: "kTfLiteInt8",
    TensorType.INT16: "kTfLiteInt16",
    TensorType.INT32: "kTfLiteInt32",
    TensorType.UINT8: "kTfLiteUInt8",
}


def _ensure_one_of(type_: int, types: tuple[TensorType, ...], place: str, name: str) -> None:
    """``TF_LITE_ENSURE`` of a chain of comparisons with each of ``types``."""
    ensure(type_ in types, place, " || ".join(f"{name}->type == {_TYPE_TEXTS[one]}" for one in types))


def _prepare_cast(node: Node) -> Steps[None]:
    ensure_counts(node, "cast.cc", 29, inputs=1)
    source = yield from input_tensor(node, 0, "cast.cc:36")
    output = yield from output_tensor(node, 0, "cast.cc:39")
    yield from free(source, output)


def _prepare_quantize(node: Node) -> Steps[None]:
    require_op_data(node, f"{_QUANTIZE}:33")
    ensure_counts(node, _QUANTIZE, 36, inputs=1)
    source = yield from input_tensor(node, 0, f"{_QUANTIZE}:42")
    output = yield from output_tensor(node, 0, f"{_QUANTIZE}:44")
    ensure_affine(output, f"{_QUANTIZE}:48", "output")
    assert output.affine is not None, "ensure_affine raises without quantization"
    ensure(len(output.affine.scale) == 1, f"{_QUANTIZE}:54", "affine_quantization->scale->size == 1")
    _ensure_one_of(source.type, _QUANTIZE_INPUTS, f"{_QUANTIZE}:56", "input")
    _ensure_one_of(output.type, _QUANTIZE_OUTPUTS, f"{_QUANTIZE}:60", "output")
    yield from free(source, output)


def _prepare_dequantize(node: Node) -> Steps[None]:
    require_op_data(node, f"{_DEQUANTIZE}:29")
    ensure_counts(node, _DEQUANTIZE, 32, inputs=1)
    source = yield from input_tensor(node, 0, f"{_DEQUANTIZE}:39")
    output = yield from output_tensor(node, 0, f"{_DEQUANTIZE}:41")
    _ensure_one_of(source.type, _DEQUANTIZE_INPUTS, f"{_DEQUANTIZE}:43", "input")
    _ensure_one_of(output.type, (TensorType.FLOAT32,), f"{_DEQUANTIZE}:46", "output")
    yield from free(source, output)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CAST",
        "TfLiteCastParams",
        None,
        _prepare_cast,
        "cast.cc",
        parse=convertible_types("CastOptions", "in_data_type", "out_data_type"),
    ),
    OpModel("QUANTIZE", None, op_data("OpDataQuantizeReference"), _prepare_quantize, _QUANTIZE),
    OpModel("DEQUANTIZE", None, op_data("DequantizeOpData"), _prepare_dequantize, _DEQUANTIZE),
)
