"""CAST, QUANTIZE, DEQUANTIZE."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
IN_OUT = ["temp 0", "temp 1", "free 0", "free 1"]
FLOATS, INTS = ((4,), T.FLOAT32), ((4,), T.INT32)
INT8 = ((4,), T.INT8, {"scale": 0.5})


def test_cast_looks_at_both_tensors_whatever_their_types(kernel):
    bench = kernel("CAST", [FLOATS], [((4,), T.COMPLEX64)])
    bench.parse()
    assert (bench.model.builtin_data, bench.model.init) == ("TfLiteCastParams", None)
    assert bench.prepare() == IN_OUT


def test_cast_options_with_an_unknown_type_are_refused_by_the_parser(kernel):
    bench = kernel("CAST", [FLOATS], [INTS], options={"out_data_type": 77})
    with pytest.raises(PrepareError) as refusal:
        bench.parse()
    assert refusal.value.device_message == "Unsupported data type 77 in tensor\n"


@pytest.mark.parametrize("source", [FLOATS, INTS, INT8, ((4,), T.INT16), ((4,), T.UINT8)])
def test_quantize_accepts_unquantized_inputs(kernel, source):
    bench = kernel("QUANTIZE", [source], [INT8])
    # QuantizationParams {int32, double at 8}: 16; two int32; int32 and padding: 16 + 8 + 8.
    assert bench.init() == ["persistent 32 OpDataQuantizeReference"]
    assert bench.prepare() == IN_OUT


def test_dequantize_accepts_any_scale(kernel):
    bench = kernel("DEQUANTIZE", [((4,), T.UINT8)], [FLOATS])
    # DequantizationParams {double, int32}: 16; three 32-bit members and padding: 16 + 16.
    assert bench.init() == ["persistent 32 DequantizeOpData"]
    assert bench.prepare() == IN_OUT


@pytest.mark.parametrize(("op", "inputs", "outputs", "message"), [
    ("CAST", [FLOATS, FLOATS], [INTS], "cast.cc:29 NumInputs(node) != 1 (2 != 1)"),
    ("CAST", [None], [INTS], "cast.cc:36 input != nullptr was not true."),
    ("QUANTIZE", [], [INT8], "quantize_common.cc:36 NumInputs(node) != 1 (0 != 1)"),
    ("QUANTIZE", [None], [INT8], "quantize_common.cc:42 input != nullptr was not true."),
    ("QUANTIZE", [FLOATS], [((4,), T.INT8)],
     "quantize_common.cc:48 output->quantization.type != kTfLiteAffineQuantization (0 != 1)"),
    ("QUANTIZE", [FLOATS], [((4,), T.INT8, {"scale": [1.0, 2.0]})],
     "quantize_common.cc:54 affine_quantization->scale->size == 1 was not true."),
    ("QUANTIZE", [((4,), T.BOOL)], [INT8],
     "quantize_common.cc:56 input->type == kTfLiteFloat32 || input->type == kTfLiteInt32 || input->type == kTfLiteInt16"
     " || input->type == kTfLiteInt8 || input->type == kTfLiteUInt8 was not true."),
    ("QUANTIZE", [FLOATS], [((4,), T.FLOAT32, {"scale": 1.0})],
     "quantize_common.cc:60 output->type == kTfLiteInt8 || output->type == kTfLiteInt16 || "
     "output->type == kTfLiteInt32 || output->type == kTfLiteUInt8 was not true."),
    ("DEQUANTIZE", [INT8], [], "dequantize_common.cc:33 NumOutputs(node) != 1 (0 != 1)"),
    ("DEQUANTIZE", [((4,), T.FLOAT16)], [FLOATS],
     "dequantize_common.cc:43 input->type == kTfLiteInt8 || input->type == kTfLiteInt16 || "
     "input->type == kTfLiteUInt8 was not true."),
    ("DEQUANTIZE", [INT8], [INTS], "dequantize_common.cc:46 output->type == kTfLiteFloat32 was not true."),
])  # fmt: skip
def test_refusals(kernel, op, inputs, outputs, message):
    assert kernel(op, inputs, outputs).refusal() == KERNELS + message
