"""Kernels that computed the shapes of their outputs, in the two short times in which upstream had that.

    2023-11-28 to 30 (50433190c, undone by 83bbff9a0)   SPACE_TO_BATCH_ND
    2024-01-02 to 11 (bb54330fd, undone by 7a63bce43)   that one, BATCH_TO_SPACE_ND, CONV_2D, DEPTHWISE_CONV_2D,
                                                        EXPAND_DIMS and RESHAPE

The convolutions and EXPAND_DIMS copy their output's dims to the tail always, the others where they change.

Source: tensorflow/lite/micro/kernels/{batch_to_space_nd,conv_common,depthwise_conv_common,expand_dims,reshape_common,
space_to_batch_nd}.cc @ bb54330fd, 50433190c, 515cfd27e.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.model.windows import PADDING_SAME, PADDING_VALID, covered
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import option
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, source
from tflm_sim.ops.reference.arithmetic import runtime_flat_size
from tflm_sim.ops.reference.window import dilations, strides
from tflm_sim.ops.requests import KernelTensor, SetShape, Steps
from tflm_sim.ops.roles import fail, writable_dims
from tflm_sim.units import int32


def check_conv(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Check dimensions and channels of a CONV_2D."""
    k.dims_size(4, input=source, filter=kernel, output=output)
    k.ensure(kernel.shape[3] > 0, "filter_input_channels > 0")
    k.ensure_eq(source.shape[3] % kernel.shape[3], 0, "input_channels % filter_input_channels")


def check_depthwise_conv(k: Kernel, source: KernelTensor, kernel: KernelTensor, output: KernelTensor) -> None:
    """Check dimensions, dilation and channels of a DEPTHWISE_CONV_2D."""
    k.dims_size(4, input=source, filter=kernel, output=output)
    for name, dilation in zip(("height", "width"), dilations(k.node, "DepthwiseConv2DOptions"), strict=True):
        k.ensure(dilation > 0, f"params.dilation_{name}_factor > 0")
    k.ensure_eq(kernel.shape[0], 1, "filter->dims->data[0]")
    k.ensure(source.shape[3] != 0, "num_input_channels != 0")
    k.ensure_eq(kernel.shape[3] % source.shape[3], 0, "num_filter_channels % num_input_channels")


def convolved_dims(
    k: Kernel, table: str, source: KernelTensor, kernel: KernelTensor, output: KernelTensor, *, channels: int
) -> Steps[None]:
    """``ConvReshapeOutputTensor`` and ``DepthwiseConvReshapeOutputTensor``.

    Args:
        k: The operator.
        table: Its builtin options.
        source: Its input.
        kernel: The filter.
        output: Whose dims are computed.
        channels: The filter's dimension of output channels.
    """
    image, window = source.shape[1:3], kernel.shape[1:3]
    height, width = (
        _positions(k, option(k.node, table, "padding"), *axis)
        for axis in zip(image, window, strides(k.node, table), dilations(k.node, table), strict=True)
    )
    yield from writable_dims(output, (source.shape[0], height, width, kernel.shape[channels]))


def _positions(k: Kernel, padding: object, image: int, window: int, stride: int, dilation: int) -> int:
    """``ComputeOutSize``."""
    if stride == 0 or padding not in (PADDING_SAME, PADDING_VALID):
        return 0
    positions = covered(padding, image=image, window=window, stride=stride, dilation=dilation)
    return k.divide(int32(positions), stride)


def expanded_dims(k: Kernel, source: KernelTensor, axis: int, output: KernelTensor) -> Steps[None]:
    """``ReshapeOutputTensor`` of EXPAND_DIMS: the input's dims with a 1 put in before dimension ``axis``."""
    yield from writable_dims(output)
    k.ensure(len(output.shape) == len(source.shape) + 1, "output_shape->size == input_shape->size + 1")
    k.ensure(axis < len(output.shape), "axis_value < output_shape->size")
    k.ensure(axis >= 0, "axis_value >= 0")
    yield SetShape(output.eval, (*source.shape[:axis], 1, *source.shape[axis:]))


def requested_shape(k: Kernel, new_shape: KernelTensor | None, output: KernelTensor) -> tuple[int, ...]:
    """Return the shape that RESHAPE's second input asks for, the output's without one."""
    if new_shape is None or not new_shape.shape:
        return output.shape
    k.is_c_type(new_shape, TensorType.INT32, "new_shape")
    if not k.has("reshape_of_any_rank"):
        k.ensure_eq(len(new_shape.shape), 1, "new_shape->dims->size")
    size = new_shape.shape[-1]
    k.ensure_eq(size, len(output.shape), "output_shape_size", "static_cast<int32_t>(output->dims->size)")
    return k.constants(new_shape, size, "new_shape")


def _space_to_batch(
    k: Kernel, source: KernelTensor, block_shape: KernelTensor, padding: KernelTensor, output: KernelTensor
) -> Steps[None]:
    _check_tensors(k, source, output)
    blocks, amounts = _constants(k, source, block_shape, padding, "padding")
    if k.has("output_shapes"):
        _check_same_rank(k, source, output)
    batch, dims = source.shape[0], list(source.shape)
    for dim, block in enumerate(blocks):
        final = int32(dims[dim + 1] + amounts[dim * 2] + amounts[dim * 2 + 1])
        k.ensure(block != 0, "block_shape_data[dim] != 0")
        k.ensure_eq(final % abs(block), 0, "final_dim_size % block_shape_data[dim]")
        dims[dim + 1], batch = k.divide(final, block), int32(batch * block)
    shape = (batch, *dims[1:])
    if shape == output.shape:
        return
    if runtime_flat_size(shape) > output.flat_size and output.is_constant:
        raise fail("SPACE_TO_BATCH_ND: resizing flatbuffer tensor data is not supported")
    _check_same_rank(k, source, output)
    yield from writable_dims(output, shape)


def _batch_to_space(
    k: Kernel, source: KernelTensor, block_shape: KernelTensor, crops: KernelTensor, output: KernelTensor
) -> Steps[None]:
    _check_tensors(k, source, output)
    blocks, amounts = _constants(k, source, block_shape, crops, "crops")
    for amount in amounts:
        k.ensure(amount >= 0, "crops_data[i] >= 0")
    _check_same_rank(k, source, output)
    batch, dims = source.shape[0], list(source.shape)
    for dim, block in enumerate(blocks):
        k.ensure(block != 0, "block_shape_data[dim] != 0")
        k.ensure_eq(batch % abs(block), 0, "output_batch_size % block_shape_data[dim]")
        batch = k.divide(batch, block)
        dims[dim + 1] = int32(dims[dim + 1] * block - amounts[dim * 2] - amounts[dim * 2 + 1])
    shape = (batch, *dims[1:])
    if shape != output.shape:
        k.ensure(runtime_flat_size(shape) <= output.flat_size, "output_shape.FlatSize() <= old_output_shape.FlatSize()")
        yield from writable_dims(output, shape)


def check_blocks_of(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    """What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND check of their tensors in every version: 3 or 4 dims, one type."""
    named = (source, "input"), (output, "output")
    for tensor, name in named:
        k.ensure(len(tensor.shape) >= 3, f"NumDimensions({name}) >= kInputOutputMinDimensionNum")
    for tensor, name in named:
        k.ensure(len(tensor.shape) <= 4, f"NumDimensions({name}) <= kInputOutputMaxDimensionNum")
    k.same_type(source, output)


def _check_tensors(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    check_blocks_of(k, source, output)
    k.one_of(source.type, (TensorType.FLOAT32, TensorType.INT8), "input->type")
    if k.node.op == "SPACE_TO_BATCH_ND":
        k.ensure(k.node.user_data is not None, "node->user_data != nullptr")
    if source.type == TensorType.INT8:
        k.ensure(source.scale == output.scale, "input->params.scale == output->params.scale")
        k.ensure(source.zero_point == output.zero_point, "input->params.zero_point == output->params.zero_point")


def _constants(
    k: Kernel, source: KernelTensor, block_shape: KernelTensor, amounts: KernelTensor, name: str
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the blocks and the paddings or crops, two a block; both tensors have to be constants."""
    k.ensure(block_shape.is_constant, "IsConstantOrPersistentTensor(block_shape)")
    k.ensure(amounts.is_constant, f"IsConstantOrPersistentTensor({name})")
    count = len(source.shape) - 2
    k.rank(block_shape, 1, "block_shape")
    k.ensure_eq(block_shape.shape[0], count, "block_shape->dims->data[0]", "spatial_dims_num")
    k.rank(amounts, 2, name)
    k.ensure_eq(amounts.shape[0], count, f"{name}->dims->data[0]", "spatial_dims_num")
    k.ensure_eq(amounts.shape[1], 2, f"{name}->dims->data[1]")
    return k.constants(block_shape, count, "block_shape"), k.constants(amounts, count * 2, name)


def _check_same_rank(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.ensure_eq(len(source.shape), len(output.shape), "input_dims->size", "output->dims->size")


_PREPARES = {
    "SPACE_TO_BATCH_ND": Prepare(
        "space_to_batch_nd.cc",
        counts(3),
        takes=(INPUT, source(1, "block_shape"), source(2, "padding"), OUTPUT),
        body=_space_to_batch,
    ),
    "BATCH_TO_SPACE_ND": Prepare(
        "batch_to_space_nd.cc",
        counts(3),
        takes=(INPUT, source(1, "block_shape"), source(2, "crops"), OUTPUT),
        body=_batch_to_space,
    ),
}


def prepare_with_blocks(node: Node) -> Steps[None]:
    """Run ``SpaceToBatchNDPrepare`` or ``BatchToSpaceNDPrepare`` of those times."""
    yield from _PREPARES[node.op](node)
