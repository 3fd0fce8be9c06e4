"""TRANSPOSE_CONV: its first input says the shape of the output; col2im buffers, sums and quantized inputs beside it.

Source: tflite/kernels/transpose_conv.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, Shape, values_of
from tflm_sim.extensions.lite.kernels.convolution import CONVOLVED, NO_PADDING, dynamic_temporary, ensure_steps, ensured
from tflm_sim.extensions.lite.kernels.dense import check_bias_type
from tflm_sim.extensions.lite.kernels.scales import check_convolution
from tflm_sim.model.windows import output_size


def transpose_convolution(call: PrepareCall) -> None:
    """TRANSPOSE_CONV: its buffers are dynamic tensors, sized here where the output's shape is a constant."""
    has_bias = call.input_count == 4
    call.ensure(has_bias or call.input_count == 3, "has_bias || NumInputs(node) == 3")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    shape, weights, value, output = call.input(0), call.input(1), call.input(2), call.output()
    call.rank(shape, 1, "output_shape")
    call.ensure_eq(shape.elements, 4, "NumElements(output_shape)", number=2)
    call.rank(value, 4, "input", number=2)
    call.rank(weights, 4, "weights", number=2)
    ensure_steps(call, "stride_height", "stride_width")
    for axis in (1, 2, 3):
        call.ensure(value.shape[axis] > 0, f"SizeOfDimension(input, {axis}) > 0")
    for axis in (0, 1, 2):
        call.ensure(weights.shape[axis] > 0, f"SizeOfDimension(weights, {axis}) > 0")
    call.one_of(value.type, CONVOLVED, "input->type")
    if value.type == t.FLOAT32:
        call.one_of(weights.type, (t.FLOAT32, t.INT8), "weights->type")
    elif value.type in (t.UINT8, t.INT8):
        call.is_type(weights, value.type, "weights")
    _check_transposed_bias(call, call.optional_input(3), value, weights)
    if value.type == t.INT16:
        call.is_c_type(weights, t.INT8, "weights", number=2)
        call.zero_points(input=value, output=output)
        check_bias_type(call, call.optional_input(3))
    call.same_type(output, value, "output", "input")
    call.ensure_eq(value.shape[3], weights.shape[3], "SizeOfDimension(input, 3)", "SizeOfDimension(weights, 3)")
    _place_transpose_convolution(call, shape, weights, value, output)


def _check_transposed_bias(
    call: PrepareCall, bias: TfLiteTensor | None, value: TfLiteTensor, weights: TfLiteTensor
) -> None:
    if bias is None:
        return
    if value.type in (t.UINT8, t.INT8):
        call.is_type(bias, t.INT32, "bias")
        if value.type == t.INT8:
            call.zero_points(bias=bias)
    elif value.type == t.INT16:
        call.ensure(bias.type in (t.INT64, t.INT32), "(bias->type == kTfLiteInt64) || (bias->type == kTfLiteInt32)")
        call.zero_points(bias=bias, number=2)
    else:
        call.same_type(bias, value, "bias", "input")
    call.ensure_eq(bias.elements, weights.shape[0], "NumElements(bias)", "SizeOfDimension(weights, 0)")


def _place_transpose_convolution(
    call: PrepareCall, shape: TfLiteTensor, weights: TfLiteTensor, value: TfLiteTensor, output: TfLiteTensor
) -> None:
    is_integer = value.type in (t.UINT8, t.INT8, t.INT16)
    is_hybrid = value.type == t.FLOAT32 and weights.type == t.INT8
    keys = ["col2im", "transposed_weights"] * call.is_optimized + ["scratch"] * is_integer
    keys += ["input_quantized", "scaling_factors", "input_offset"] * is_hybrid
    taken = {key: call.reserve(1, key) for key in keys}
    call.take(*taken.values())
    tensors = {key: call.subgraph.tensors[index] for key, index in taken.items()}
    wanted = _resize_transposed(call, shape, weights, value, output)
    if call.is_optimized:
        size = (prod(value.shape[1:3]), prod(weights.shape[:3]))
        kind = t.FLOAT32 if value.type == t.FLOAT32 else t.INT32
        dynamic_temporary(call, tensors["col2im"], kind, None if wanted is None else size)
        # In the order of the optimized kernel, now where they are constant.
        order = (weights.shape[1], weights.shape[2], weights.shape[0], weights.shape[3])
        now = order if weights.is_constant else None
        dynamic_temporary(call, tensors["transposed_weights"], weights.type, now)
    if is_integer:
        _place_sums(call, tensors["scratch"], value, weights, wanted)
    if is_hybrid:
        pixels = (value.elements // weights.shape[3],)
        call.temporary(taken["input_quantized"], t.INT8, value.shape)
        call.temporary(taken["scaling_factors"], t.FLOAT32, pixels)
        _check_transposed_scales(call, weights)
        call.temporary(taken["input_offset"], t.INT32, pixels)


def _resize_transposed(
    call: PrepareCall, shape: TfLiteTensor, weights: TfLiteTensor, value: TfLiteTensor, output: TfLiteTensor
) -> Shape | None:
    """Give the output the shape that the first input says, and return it; None where it is not known yet."""
    wanted = values_of(shape)
    if not shape.is_constant:
        call.dynamic(output)
        return None
    if shape.type != t.INT32:
        raise call.failure(f"Output shape is {t.type_name(shape.type)}, not int32.")
    for size in wanted:
        call.ensure(size >= 0, "dim >= 0")
    call.resize(output, wanted)
    _check_geometry(call, value, weights, wanted)
    return wanted


def _place_sums(
    call: PrepareCall, scratch: TfLiteTensor, value: TfLiteTensor, weights: TfLiteTensor, wanted: Shape | None
) -> None:
    """Place the sums of integers, one an output, before they are scaled."""
    scratch.type = _sum_type(call, value)
    dynamic_temporary(call, scratch, scratch.type, wanted)
    call.affine(weights, "weights")
    text = "(affine_quantization->scale->size == 1 || affine_quantization->scale->size == channels_out)"
    call.ensure(len(weights.scales) in (1, weights.shape[0]), text)
    check_convolution(call, value, weights, call.optional_input(3), call.output(), weights.shape[0])


def _sum_type(call: PrepareCall, value: TfLiteTensor) -> int:
    """Return the type of the sums of integers; that of the bias in the options where 16-bit values have one."""
    if value.type != t.INT16:
        return t.INT32
    stored: int = call.option("quantized_bias_type", t.FLOAT32)
    return t.INT64 if stored == t.FLOAT32 else stored


def _check_transposed_scales(call: PrepareCall, weights: TfLiteTensor) -> None:
    call.ensure(weights.quantization is not None, "affine_quantization", number=2)
    axis = weights.quantization.quantized_dimension if weights.quantization else 0
    if len(weights.scales) != weights.shape[axis]:
        call.ensure_eq(len(weights.scales), 1, "affine_quantization->scale->size")


def _check_geometry(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, wanted: Shape) -> None:
    """Refuse an output that a convolution would not make into the input."""
    axes = (("height", 1, "stride_h"), ("width", 2, "stride_w"))
    for axis in (1, 2):
        call.ensure(wanted[axis] > 0, f"SizeOfDimension(output, {axis}) > 0")
    for name, axis, stride in axes:
        padding = call.option("padding", NO_PADDING)
        found = output_size(padding, image=wanted[axis], window=weights.shape[axis], stride=call.option(stride))
        size = ensured(call, found)
        call.ensure_eq(size, value.shape[axis], f"computed_input_{name}", f"SizeOfDimension(input, {axis})")
