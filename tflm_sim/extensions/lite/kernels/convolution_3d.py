"""Convolutions of volumes, and their im2col and col2im buffers.

Source: tflite/kernels/{conv3d,conv3d_transpose}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, values_of
from tflm_sim.extensions.lite.kernels.convolution import NO_PADDING, dynamic_temporary, ensured
from tflm_sim.model.windows import output_size

_AXES = ("d", "h", "w")


def convolution_3d(call: PrepareCall) -> None:
    """CONV_3D."""
    call.ensure(call.input_count in (2, 3), "node->inputs->size == 2 || node->inputs->size == 3")
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    output, value, weights = call.output(), call.input(0), call.input(1)
    call.dims_size(5, input=value, filter=weights)
    call.ensure_eq(value.shape[4], weights.shape[3], "input->dims->data[4]", "filter->dims->data[3]")
    _ensure_sizes(call, ("input", value, range(1, 5)), ("filter", weights, (0, 1, 2, 4)))
    call.ensure_types_eq(value.type, t.FLOAT32, "input_type")
    call.is_type(weights, t.FLOAT32, "filter")
    call.ensure_types_eq(output.type, value.type, "output->type", "input_type")
    _check_bias_3d(call, call.optional_input(2), "input_type", ("SizeOfDimension(filter, 4)", weights.shape[4]))
    _ensure_steps_3d(call)
    strides = [call.option(f"stride_{axis}") for axis in _AXES]
    dilations = [call.option(f"dilation_{axis}_factor") for axis in _AXES]
    padding = call.option("padding", NO_PADDING)
    sizes = [
        ensured(call, output_size(padding, image=image, window=window, stride=stride, dilation=dilation))
        for image, window, stride, dilation in zip(value.shape[1:4], weights.shape[:3], strides, dilations, strict=True)
    ]
    call.resize(output, (value.shape[0], *sizes, weights.shape[4]))
    is_windowed = weights.shape[:3] != (1, 1, 1) or strides != [1, 1, 1] or dilations != [1, 1, 1]
    if not (call.is_optimized and is_windowed):
        call.take()
        return
    call.take(call.reserve(1, "im2col"))
    call.temporary(call.node.temporaries[0], value.type, (value.shape[0], *sizes, prod(weights.shape[:4])))


def _ensure_sizes(call: PrepareCall, *rows: tuple[str, TfLiteTensor, Iterable[int]]) -> None:
    for name, tensor, axes in rows:
        for axis in axes:
            call.ensure(tensor.shape[axis] > 0, f"{name}->dims->data[{axis}] > 0")


def _check_bias_3d(call: PrepareCall, bias: TfLiteTensor | None, kind: str, size: tuple[str, int]) -> None:
    if bias is not None:
        call.ensure_types_eq(bias.type, t.FLOAT32, "bias->type", kind)
        call.ensure_eq(bias.elements, size[1], "NumElements(bias)", size[0])


def _ensure_steps_3d(call: PrepareCall) -> None:
    names = (("depth", "d"), ("height", "h"), ("width", "w"))
    for name, axis in names:
        call.ensure(call.option(f"stride_{axis}") > 0, f"params->stride_{name} > 0")
    for name, axis in names:
        call.ensure(call.option(f"dilation_{axis}_factor") > 0, f"params->dilation_{name}_factor > 0")


def transpose_convolution_3d(call: PrepareCall) -> None:
    """CONV_3D_TRANSPOSE."""
    call.ensure(call.input_count in (3, 4), "node->inputs->size == 3 || node->inputs->size == 4")
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    output, shape, weights, value = call.output(), call.input(0), call.input(1), call.input(2)
    call.dims_size(1, output_shape=shape)
    call.ensure_eq(shape.elements, 5, "NumElements(output_shape)")
    call.dims_size(5, input=value, filter=weights)
    right = "SizeOfDimension(filter, 4)"
    call.ensure_eq(value.shape[4], weights.shape[4], "SizeOfDimension(input, 4)", right)
    _ensure_sizes(call, ("input", value, range(1, 5)), ("filter", weights, range(4)))
    _ensure_steps_3d(call)
    call.is_type(value, t.FLOAT32, "input")
    call.is_type(weights, t.FLOAT32, "filter")
    call.same_type(output, value, "output", "input")
    call.is_type(shape, t.INT32, "output_shape")
    _check_bias_3d(call, call.optional_input(3), "input->type", ("SizeOfDimension(filter, 3)", weights.shape[3]))
    is_dilated = any(call.option(f"dilation_{axis}_factor") > 1 for axis in _AXES)
    taken = [call.reserve(1, "col2im")] if call.is_optimized and not is_dilated else []
    call.take(*taken)
    columns = [call.subgraph.tensors[index] for index in taken]
    if not shape.is_known:
        call.dynamic(output, *columns)
        return
    wanted = values_of(shape)
    call.ensure_msg(all(size >= 0 for size in wanted), "Conv3DTranspose output shape has a negative dimension.")
    call.ensure_eq(wanted[0], value.shape[0], "shape_data[0]", "SizeOfDimension(input, 0)")
    call.ensure_eq(wanted[4], weights.shape[3], "shape_data[4]", "filter_output_channels")
    for place, (name, axis) in enumerate((("depth", "d"), ("height", "h"), ("width", "w"))):
        found = output_size(
            call.option("padding", NO_PADDING),
            image=wanted[place + 1],
            window=weights.shape[place],
            stride=call.option(f"stride_{axis}"),
            dilation=call.option(f"dilation_{axis}_factor"),
        )
        size = ensured(call, found)
        call.ensure_eq(size, value.shape[place + 1], f"unused_out_{name}", f"SizeOfDimension(input, {place + 1})")
    call.resize(output, wanted)
    for tensor in columns:
        dynamic_temporary(call, tensor, t.FLOAT32, (prod(value.shape[1:4]), prod(weights.shape[:4])))
