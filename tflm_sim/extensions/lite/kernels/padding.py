"""Kernels that pad, mirror, reverse, and move between batch, depth and space.

Source: tflite/kernels/{pad,mirror_pad,reverse,space_to_batch_nd,depth_to_space,resize_bilinear,...}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import MAX_INT, PrepareCall, Shape, values_of
from tflm_sim.model.windows import quotient

_MAX_RANK = 5


def pad(call: PrepareCall) -> None:
    """PAD and PADV2."""
    call.ensure(call.input_count in (2, 3), "num_inputs == 2 || num_inputs == 3")
    call.ensure_eq(call.output_count, 1, "NumOutputs(&node)")
    value, paddings, filling, output = call.input(0), call.input(1), call.optional_input(2), call.output()
    kinds = (t.INT8, t.INT16, t.INT32, t.INT64, t.BOOL)
    call.ensure_supported(paddings.type, kinds, "Padding type {} is currently not supported by Pad.")
    call.ensure_msg(paddings.elements <= MAX_INT, "Pad paddings size overflowed.")
    call.rank(paddings, 2, "&paddings")
    call.ensure_eq(paddings.shape[1], 2, "SizeOfDimension(&paddings, 1)")
    rows = "SizeOfDimension(op_context.paddings, 0)"
    if value.rank and not paddings.is_known:
        call.ensure_eq(paddings.shape[0], value.rank, rows, "op_context.dims")
    call.same_type(value, output, "op_context.input", "op_context.output")
    if filling is not None:
        call.ensure_types_eq(value.type, filling.type, "op_context.input->type", "op_context.constant_values->type")
        call.ensure_eq(filling.elements, 1, "constant_values_count")
    call.ensure(value.rank <= _MAX_RANK, "op_context.dims <= reference_ops::PadKernelMaxDimensionCount()")
    if value.rank == 0 or not paddings.is_known:
        call.dynamic(output)
        return
    call.ensure_eq(paddings.shape[0], value.rank, rows, "op_context.dims")
    pads = values_of(paddings, t.UINT8 if paddings.type == t.BOOL else None)  # A byte that is no bool is a number.
    message = "INT64 padding overflow. Only support value between INT32_MIN and INT32_MAX."
    call.ensure_msg(all(-MAX_INT - 1 <= size <= MAX_INT for size in pads), message)
    call.ensure_msg(min(pads, default=0) >= 0, "Pad value has to be greater than equal to 0.")
    shape = [size + before + after for size, before, after in _padded(value.shape, pads)]
    call.ensure_msg(max(shape) <= MAX_INT, "Pad output dimension overflowed.")
    call.ensure_msg(prod(shape) <= MAX_INT, "Pad output size overflowed.")
    call.resize(output, shape)


def _padded(shape: Shape, pads: Shape) -> list[tuple[int, int, int]]:
    return list(zip(shape, pads[::2], pads[1::2], strict=True))


def mirror_pad(call: PrepareCall) -> None:
    """MIRROR_PAD: no more than there is to mirror."""
    value, matrix, output = call.input(0), call.input(1), call.output()
    call.ensure_types_eq(value.type, output.type, "input_tensor->type", "output_tensor->type", number=0)
    mode = call.option("mode", -1)
    modes = ("Reflect", "Symmetric")
    kind = "TfLiteMirrorPaddingMode::kTfLiteMirrorPadding"
    call.ensure(mode in (0, 1), " || ".join(f"params->mode == {kind}{name}" for name in modes))
    offset = 1 - mode
    call.one_of(matrix.type, (t.INT32, t.INT64), "padding_matrix->type")
    call.rank(matrix, 2, "padding_matrix")
    call.ensure_eq(matrix.shape[0], value.rank, "SizeOfDimension(padding_matrix, 0)", "NumDimensions(input)")
    call.ensure_eq(matrix.shape[1], 2, "SizeOfDimension(padding_matrix, 1)")
    call.ensure_same_parameters("input_tensor", value, "output_tensor", output)
    if not matrix.is_known:
        call.dynamic(output)
        return
    shape = []
    for place, (size, before, after) in enumerate(_padded(value.shape, values_of(matrix))):
        call.ensure_msg(before >= 0 and after >= 0, "MirrorPad paddings must be non-negative.")
        message = (
            "MirrorPad paddings must be no greater than the input dimension size minus the mode offset. "
            f"Dimension {place} has input size {size}, mode offset {offset}, max padding {size - offset}, "
            f"left padding {before}, and right padding {after}."
        )
        call.ensure_msg(max(before, after) <= size - offset, message)
        call.ensure_msg(size + before + after <= MAX_INT, "MirrorPad output dimension overflowed.")
        shape.append(size + before + after)
    call.resize(output, shape)


_REVERSED = (t.INT32, t.FLOAT32, t.UINT8, t.INT8, t.INT16, t.INT64, t.BOOL, t.FLOAT16, t.BFLOAT16)


def reverse(call: PrepareCall) -> None:
    """REVERSE_V2."""
    value, axis, output = call.operands(2)
    call.rank(axis, 1, "axis")
    call.ensure(value.rank <= 8, "NumDimensions(input) <= 8")
    call.ensure(value.rank >= axis.elements, "NumDimensions(input) >= NumElements(axis)")
    call.ensure_supported(value.type, _REVERSED, "Type '{}' is not supported by reverse.")
    if axis.type != t.INT32:
        raise call.failure(f"Axis Type '{t.type_name(axis.type)}' is not supported by reverse.")
    call.same_type(output, value, "output", "input")
    call.resize(output, value.shape)


def reverse_sequence(call: PrepareCall) -> None:
    value, lengths, output = call.operands(2)
    call.rank(lengths, 1, "seq_lengths")
    call.ensure_supported(
        value.type, (t.INT32, t.FLOAT32, t.UINT8, t.INT16, t.INT64), "Type '{}' is not supported by reverse_sequence."
    )
    call.ensure_supported(
        lengths.type, (t.INT32, t.INT64), "Seq_lengths type '{}' is not supported by reverse_sequence."
    )
    call.same_type(output, value, "output", "input")
    call.resize(output, value.shape)


def space_to_batch(call: PrepareCall) -> None:
    """SPACE_TO_BATCH_ND."""
    value, block, paddings, output = _batch_operands(call, "paddings")
    if not (block.is_known and paddings.is_known):
        call.dynamic(output)
        return
    blocks, pads = _blocks(call, value, block, paddings, "paddings")
    shape, batch = list(value.shape), value.shape[0]
    for place, size in enumerate(blocks):
        final = value.shape[place + 1] + pads[2 * place] + pads[2 * place + 1]
        call.ensure(size != 0, "block_shape[dim] != 0")
        shape[place + 1] = rows = quotient(final, size)
        call.ensure_eq(final - rows * size, 0, "final_dim_size % block_shape[dim]")
        batch *= size
    call.resize(output, [batch, *shape[1:]])


def batch_to_space(call: PrepareCall) -> None:
    """BATCH_TO_SPACE_ND."""
    value, block, crops, output = _batch_operands(call, "crops")
    if not (block.is_known and crops.is_known):
        call.dynamic(output)
        return
    blocks, cuts = _blocks(call, value, block, crops, "crops")
    for cut in cuts:
        call.ensure(cut >= 0, "crops[i] >= 0")
    shape, batch = list(value.shape), value.shape[0]
    for place, size in enumerate(blocks):
        call.ensure(size != 0, "block_shape[dim] != 0")
        whole = quotient(batch, size)
        call.ensure_eq(batch - whole * size, 0, "output_batch_size % block_shape[dim]")
        batch = whole
        shape[place + 1] = value.shape[place + 1] * size - cuts[2 * place] - cuts[2 * place + 1]
    call.resize(output, [batch, *shape[1:]])


def _batch_operands(call: PrepareCall, margins: str) -> tuple[TfLiteTensor, TfLiteTensor, TfLiteTensor, TfLiteTensor]:
    value, block, margin, output = call.operands(3)
    call.ensure(value.rank >= 3, "NumDimensions(op_context.input) >= kInputMinDimensionNum")
    call.ensure(value.rank <= 4, "NumDimensions(op_context.input) <= kInputMaxDimensionNum")
    compare = call.same_type if margins == "paddings" else call.same_c_type
    compare(value, output, "op_context.input", "op_context.output")
    call.ensure_same_parameters("op_context.input", value, "op_context.output", output)
    return value, block, margin, output


def _blocks(
    call: PrepareCall, value: TfLiteTensor, block: TfLiteTensor, margins: TfLiteTensor, name: str
) -> tuple[Shape, Shape]:
    spatial, count = value.rank - 2, "spatial_dims_num"
    call.rank(block, 1, "op_context->block_shape")
    call.ensure_eq(block.shape[0], spatial, "op_context->block_shape->dims->data[0]", count)
    call.ensure_eq(margins.rank, 2, f"NumDimensions(op_context->{name})")
    call.ensure_eq(margins.shape[0], spatial, f"op_context->{name}->dims->data[0]", count)
    call.ensure_eq(margins.shape[1], 2, f"op_context->{name}->dims->data[1]")
    return values_of(block, t.INT32), values_of(margins, t.INT32)


def _image_in_blocks(call: PrepareCall) -> tuple[Shape, int, TfLiteTensor]:
    """Return the image's shape, the block's size and the output of SPACE_TO_DEPTH and its inverse, which it checks."""
    call.counts(1)
    value, output, size = call.input(0), call.output(), call.option("block_size")
    call.rank(value, 4, "input")
    call.one_of(output.type, (t.FLOAT32, t.UINT8, t.INT8, t.INT32, t.INT64), "data_type")
    call.same_type(value, output)
    call.ensure(size > 0, "block_size > 0")
    return value.shape, size, output


def space_to_depth(call: PrepareCall) -> None:
    (batch, height, width, depth), size, output = _image_in_blocks(call)
    call.ensure_eq(height, height // size * size, "input_height", "output_height * block_size")
    call.ensure_eq(width, width // size * size, "input_width", "output_width * block_size")
    call.resize(output, (batch, height // size, width // size, depth * size * size))


def depth_to_space(call: PrepareCall) -> None:
    (batch, height, width, depth), size, output = _image_in_blocks(call)
    channels = depth // size // size
    call.ensure_eq(depth, channels * size * size, "input_channels", "output_channels * block_size * block_size")
    call.resize(output, (batch, height * size, width * size, channels))


def resize_image(call: PrepareCall) -> None:
    """RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""
    value, size, output = call.operands(2)
    is_bilinear = call.source == "resize_bilinear.cc"
    call.rank(value, 4, "input")
    call.rank(size, 1, "size")
    if is_bilinear:
        call.ensure_eq(size.shape[0], 2, "size->dims->data[0]")
        call.is_c_type(size, t.INT32, "size")
    else:
        call.is_type(size, t.INT32, "size")
        call.ensure_eq(size.shape[0], 2, "size->dims->data[0]")
    output.type = value.type
    if not size.is_known:
        call.dynamic(output)
        return
    if is_bilinear and call.option("half_pixel_centers") and call.option("align_corners"):
        raise call.failure("If half_pixel_centers is True, align_corners must be False.")
    height, width = values_of(size)
    if is_bilinear:
        call.ensure(height > 0, "size_data[0] > 0")
        call.ensure(width > 0, "size_data[1] > 0")
    call.resize(output, (value.shape[0], height, width, value.shape[3]))
