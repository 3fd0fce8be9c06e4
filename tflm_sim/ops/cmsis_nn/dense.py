"""FULLY_CONNECTED and BATCH_MATMUL with CMSIS-NN.

FULLY_CONNECTED keeps the kernel sums of a constant filter in the tail (builds optimised for speed); an output of more
than two dimensions runs as a pointwise convolution, which fakes per-channel quantization in a scratch buffer.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{fully_connected,batch_matmul}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, check_pair, check_supported_input, isa, optional_scratch
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import OP_DATA, OUTPUT, Prepare, source
from tflm_sim.ops.reference.arithmetic import flat_size, runtime_dim, runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.batch_matmul import check_ranks, product_shape, reshape_output, transposed_copy
from tflm_sim.ops.reference.conv import unpacked_filter
from tflm_sim.ops.reference.fully_connected import LAYER, layer_data, parse_fully_connected
from tflm_sim.ops.reference.quantization import check_product_scale
from tflm_sim.ops.requests import FreeTempBuffer, KernelTensor, Persistent, Scratch, Steps, TempBuffer
from tflm_sim.ops.roles import op_data, size_of

_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16


def _fully_connected(
    k: Kernel, source: KernelTensor, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor
) -> Steps[None]:
    k.same_c_type(source, output)
    check_supported_input(k, source)
    check_pair(k, source, kernel)
    if k.has("fc_per_channel"):
        _check_output_rank(k, output)
    if k.has("cmsis_fc_shapes"):
        _window(kernel, output)  # It halts for a scalar, of any type.
    yield from layer_data(k.node, source, kernel, bias, output)
    per_channel = source.type != _FLOAT32 and (kernel.affine is not None and kernel.affine.scale_count > 1)
    k.ensure(
        not per_channel or (source.type == _INT8 and kernel.type != _INT4),
        "!data->reference_op_data.is_per_channel || (data->reference_op_data.is_per_channel && "
        "input->type == kTfLiteInt8 && filter->type != kTfLiteInt4)",
    )
    if source.type == _INT16:
        k.zero_points(input=source, output=output)
        window = _window(kernel, output)
        size = buffer_sizes(k.node).arm_fully_connected_s16_get_buffer_size(isa(k.node), window)
        yield from optional_scratch(size, "fully_connected_s16")
    elif source.type == _INT8 and (kernel.type != _INT4 or not k.has("cmsis_int4")):
        yield from _int8_buffers(k, kernel, bias, output, per_channel=per_channel)
    if not k.has("cmsis_int4"):
        yield from unpacked_filter(k.node, kernel)


def _window(kernel: KernelTensor, output: KernelTensor) -> Dims:
    """Return the filter's dims as CMSIS-NN is told them: the accumulation depth, and the output depth."""
    depths = [runtime_dim(runtime_shape(tensor), len(tensor.shape) - 1) for tensor in (kernel, output)]
    return Dims(depths[0], 1, 1, depths[1])


def _check_output_rank(k: Kernel, output: KernelTensor) -> None:
    k.check(2 <= len(runtime_shape(output)) <= 4, "2 <= output_dim_count <= 4")


def _pointwise_buffers(k: Kernel, output: KernelTensor, window: Dims, *, per_channel: bool) -> Steps[None]:
    node = k.node
    if not k.has("fc_per_channel"):
        yield Persistent(size_of(node, window.c, 4), "per_channel_output_multiplier")
        yield Persistent(size_of(node, window.c, 4), "per_channel_output_shift")
    elif not per_channel:
        yield Scratch(size_of(node, window.c, 4 * 2), "conv_1x1 quantization")
    image = Dims(runtime_flat_size(output.shape[:-1]), 1, 1, window.n)
    size = buffer_sizes(node).arm_convolve_1x1_s8_fast_get_buffer_size(isa(node), image)
    yield from optional_scratch(size, "convolve_1x1_s8")


def _int8_buffers(
    k: Kernel, kernel: KernelTensor, bias: KernelTensor | None, output: KernelTensor, *, per_channel: bool
) -> Steps[None]:
    """Request the buffers of an int8 layer: as a pointwise convolution where it can run as one."""
    node, sizes = k.node, buffer_sizes(k.node)
    if not k.has("cmsis_fc_1x1") and (k.has("cmsis_fc_without_bias") or (bias is not None and bias.is_constant)):
        k.check(len(runtime_shape(output)) == 2, "output_shape.DimensionsCount() == 2")
    _check_output_rank(k, output)
    window = _window(kernel, output)
    if len(output.shape) > 2 and window.n % 4 == 0:
        yield from _pointwise_buffers(k, output, window, per_channel=per_channel)
        return
    size = sizes.arm_fully_connected_s8_get_buffer_size(isa(node), window)
    if size > 0 and _keeps_sums(k, kernel, bias):
        yield from _kernel_sums(k, kernel, size)
    else:
        yield from optional_scratch(size, "fully_connected_s8")


def _keeps_sums(k: Kernel, kernel: KernelTensor, bias: KernelTensor | None) -> bool:
    """Return whether the sums of the weights are computed in Prepare, into the tail."""
    if k.has("cmsis_for_size") and k.node.target.runtime.optimize_kernels_for != "speed":
        return False
    if k.has("cmsis_constant_sums"):
        return kernel.is_constant and (bias is None or bias.is_constant)
    if k.has("cmsis_fc_sums_of_data"):
        return kernel.is_constant
    return k.has("cmsis_keeps_sums")


def _kernel_sums(k: Kernel, kernel: KernelTensor, size: int) -> Steps[None]:
    """Keep the sums of the weights; those of int4 were unpacked into a temp buffer for it."""
    yield Persistent(size, "kernel_sums")
    k.check(kernel.is_constant, "filter_data != nullptr")
    if kernel.type == _INT4 and not k.has("cmsis_int4"):
        unpacked = yield TempBuffer(flat_size(kernel), 16, "unpacked_filter")
        k.check(unpacked is not None, "unpacked_filter_buf != nullptr")
        yield FreeTempBuffer(unpacked)


def _batch_matmul(k: Kernel, lhs: KernelTensor, rhs: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.same_type(lhs, rhs, "lhs_input", "rhs_input")
    k.same_c_type(lhs, output, "lhs_input")
    check_supported_input(k, lhs)
    check_ranks(k, lhs, rhs, most=4)
    shape = product_shape(k, lhs.shape, rhs.shape)
    yield from _transposed_operands(k, lhs, rhs)
    yield from reshape_output(k.node, output, shape)
    if lhs.type != _FLOAT32:
        yield from k.persistent("QuantizationOpDataBatchMatmul", "data->reference_op_data.quantization != nullptr")
        check_product_scale(k.node, lhs.scale, rhs.scale)
        if lhs.type == _INT16:
            k.zero_points(lhs_input=lhs, rhs_input=rhs, output=output)
    if lhs.type == _INT8:
        result = Dims(1, 1, shape[-2], shape[-1])
        size = buffer_sizes(k.node).arm_fully_connected_s8_get_buffer_size(isa(k.node), result)
        yield from optional_scratch(size, "fully_connected_s8")


def _transposed_operands(k: Kernel, lhs: KernelTensor, rhs: KernelTensor) -> Steps[None]:
    """Allocate transposed copies of the operands that CMSIS-NN wants the other way round."""
    table = "BatchMatMulOptions"
    wanted = (
        (bool(int_option(k.node, table, "adj_x")), lhs, "lhs"),
        (not int_option(k.node, table, "adj_y"), rhs, "rhs"),
    )
    for needed, tensor, side in wanted:
        if needed:
            is_there = yield from transposed_copy(k.node, tensor)
            k.ensure(is_there, f"data->reference_op_data.{side}_transposed_tensor != nullptr")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("cmsis_nn/fully_connected.OpData"),
        Prepare("cmsis_nn/fully_connected.cc", OP_DATA, takes=LAYER, body=_fully_connected, frees=(3, 0, 1, 2)),
        parse=parse_fully_connected,
    ),
    OpModel(
        "BATCH_MATMUL",
        "TfLiteBatchMatMulParams",
        op_data("cmsis_nn/batch_matmul.OpData"),
        Prepare(
            "cmsis_nn/batch_matmul.cc",
            OP_DATA,
            takes=(source(0, "lhs_input"), source(1, "rhs_input"), OUTPUT),
            body=_batch_matmul,
            frees=(2, 0, 1),
        ),
    ),
)
