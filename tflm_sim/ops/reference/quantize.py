"""CAST, QUANTIZE and DEQUANTIZE: one tensor in, the same elements out in another type.

Source: tensorflow/lite/micro/kernels/{cast,quantize,quantize_common,dequantize,dequantize_common}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import OP_DATA, Kernel, Prepare, counts
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.options import convertible_types
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import op_data

_QUANTIZE_INPUTS = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8, TensorType.UINT8)
_QUANTIZE_OUTPUTS = (TensorType.INT8, TensorType.INT16, TensorType.INT32, TensorType.UINT8)
_QUANTIZE_SINCE: dict[int, str] = {TensorType.INT32: "quantize_int32", TensorType.UINT8: "quantize_uint8"}
_DEQUANTIZE_INPUTS = (TensorType.INT8, TensorType.INT16, TensorType.UINT8)


def _quantize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.affine(output, "output")
    one = output.affine is not None and output.affine.scale_count == 1
    k.ensure(one, "affine_quantization->scale->size == 1")
    k.one_of(source.type, k.known(_QUANTIZE_INPUTS, _QUANTIZE_SINCE), "input->type")
    outputs = _QUANTIZE_OUTPUTS if k.has("quantize_uint8") else _QUANTIZE_OUTPUTS[:-1]
    k.one_of(output.type, outputs, "output->type")


def _dequantize(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.one_of(source.type, _DEQUANTIZE_INPUTS, "input->type")
    k.one_of(output.type, (TensorType.FLOAT32,), "output->type")


MODELS: tuple[OpModel, ...] = (
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
)
