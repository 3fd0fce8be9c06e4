"""FULLY_CONNECTED and BATCH_MATMUL with CMSIS-NN.

FULLY_CONNECTED keeps the kernel sums of a constant filter in the tail (builds optimised for speed); an output of more
than two dimensions runs as a pointwise convolution, which fakes per-channel quantization in a scratch buffer.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{fully_connected,batch_matmul}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, isa, optional_scratch
from tflm_sim.ops.cmsis_nn.tensor_checks import check_supported_input, check_zero_zero_points
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_flat_size, runtime_shape
from tflm_sim.ops.reference.batch_matmul import product_shape, reshape_output, transposed_copy
from tflm_sim.ops.reference.fully_connected import fully_connected_data, parse
from tflm_sim.ops.reference.node_checks import int_option, require_op_data
from tflm_sim.ops.reference.quantization import check_product_scale, fused_activation
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_c_types_eq,
    ensure_msg,
    ensure_types_eq,
    free,
    input_tensor,
    op_data,
    optional_input,
    output_tensor,
    size_of,
)

_FULLY_CONNECTED, _BATCH_MATMUL = "cmsis_nn/fully_connected.cc", "cmsis_nn/batch_matmul.cc"
_HYBRID = "Hybrid models are not supported on TFLite Micro."
_FLOAT32, _INT4, _INT8, _INT16 = TensorType.FLOAT32, TensorType.INT4, TensorType.INT8, TensorType.INT16
_PAIRS = ((_FLOAT32, _FLOAT32), (_INT16, _INT8), (_INT8, _INT4), (_INT8, _INT8))


def _prepare_fully_connected(node: Node) -> Steps[None]:
    require_op_data(node, f"{_FULLY_CONNECTED}:55")
    source = yield from input_tensor(node, 0, f"{_FULLY_CONNECTED}:65")
    kernel = yield from input_tensor(node, 1, f"{_FULLY_CONNECTED}:68", "filter")
    bias = yield from optional_input(node, 2)
    output = yield from output_tensor(node, 0, f"{_FULLY_CONNECTED}:73")
    ensure_c_types_eq(source.type, output.type, f"{_FULLY_CONNECTED}:75", "input->type", "output->type")
    check_supported_input(source, _FULLY_CONNECTED)
    ensure_msg((source.type, kernel.type) in _PAIRS, _FULLY_CONNECTED, _HYBRID)
    if not 2 <= len(runtime_shape(output)) <= 4:
        raise abort(f"{_FULLY_CONNECTED}:94", "2 <= output_dim_count <= 4")
    accumulation_depth = runtime_dim(runtime_shape(kernel), len(kernel.shape) - 1)
    yield from fully_connected_data(
        node,
        source,
        kernel,
        bias,
        activation=fused_activation(node, "FullyConnectedOptions"),
        output_type=output.type,
        output_scale=output.scale,
    )
    per_channel = source.type != _FLOAT32 and kernel.affine is not None and len(kernel.affine.scale) > 1
    ensure(
        not per_channel or (source.type == _INT8 and kernel.type != _INT4),
        f"{_FULLY_CONNECTED}:116",
        "!data->reference_op_data.is_per_channel || (data->reference_op_data.is_per_channel && "
        "input->type == kTfLiteInt8 && filter->type != kTfLiteInt4)",
    )
    window = Dims(accumulation_depth, 1, 1, output.shape[-1])
    if source.type == _INT16:
        check_zero_zero_points(f"{_FULLY_CONNECTED}:124", input=source, output=output)
        size = buffer_sizes(node).arm_fully_connected_s16_get_buffer_size(isa(node), window)
        yield from optional_scratch(size, "fully_connected_s16")
    elif source.type == _INT8 and kernel.type != _INT4:
        constant = kernel.is_constant and (bias is None or bias.is_constant)
        yield from _int8_buffers(node, output, window, per_channel=per_channel, constant=constant)
    yield from free(output, source, kernel, bias)


def _int8_buffers(node: Node, output: KernelTensor, window: Dims, *, per_channel: bool, constant: bool) -> Steps[None]:
    """Request the buffers of an int8 layer: as a pointwise convolution where it can run as one."""
    sizes = buffer_sizes(node)
    if len(output.shape) > 2 and window.n % 4 == 0:
        if not per_channel:
            yield Scratch(size_of(node, window.c, 4 * 2), "conv_1x1 quantization")
        batches = runtime_flat_size(output.shape[:-1])
        image = Dims(batches, 1, 1, window.n)
        yield from optional_scratch(sizes.arm_convolve_1x1_s8_fast_get_buffer_size(isa(node), image), "convolve_1x1_s8")
        return
    size = sizes.arm_fully_connected_s8_get_buffer_size(isa(node), window)
    if size > 0 and constant:
        yield Persistent(size, "kernel_sums")
    else:
        yield from optional_scratch(size, "fully_connected_s8")


def _prepare_batch_matmul(node: Node) -> Steps[None]:
    require_op_data(node, f"{_BATCH_MATMUL}:190")
    lhs = yield from input_tensor(node, 0, f"{_BATCH_MATMUL}:199", "lhs_input")
    rhs = yield from input_tensor(node, 1, f"{_BATCH_MATMUL}:202", "rhs_input")
    output = yield from output_tensor(node, 0, f"{_BATCH_MATMUL}:205")
    ensure_types_eq(lhs.type, rhs.type, f"{_BATCH_MATMUL}:207", "lhs_input->type", "rhs_input->type")
    ensure_c_types_eq(lhs.type, output.type, f"{_BATCH_MATMUL}:208", "lhs_input->type", "output->type")
    check_supported_input(lhs, _BATCH_MATMUL)
    for tensor, line, name in ((lhs, 218, "lhs_rank"), (rhs, 220, "rhs_rank")):
        ensure(len(tensor.shape) >= 2, f"{_BATCH_MATMUL}:{line}", f"{name} >= 2")
        ensure(len(tensor.shape) <= 4, f"{_BATCH_MATMUL}:{line + 1}", f"{name} <= 4")
    shape = product_shape(node, lhs.shape, rhs.shape, (f"{_BATCH_MATMUL}:242", f"{_BATCH_MATMUL}:255"))
    yield from _transposed_operands(node, lhs, rhs)
    yield from reshape_output(node, output, shape)
    if lhs.type != _FLOAT32:
        yield from _quantization(node, lhs, rhs, output)
    if lhs.type == _INT8:
        result = Dims(1, 1, shape[-2], shape[-1])
        size = buffer_sizes(node).arm_fully_connected_s8_get_buffer_size(isa(node), result)
        yield from optional_scratch(size, "fully_connected_s8")
    yield from free(output, lhs, rhs)


def _transposed_operands(node: Node, lhs: KernelTensor, rhs: KernelTensor) -> Steps[None]:
    """Allocate transposed copies of the operands that CMSIS-NN wants the other way round."""
    table = "BatchMatMulOptions"
    wanted = (
        (bool(int_option(node, table, "adj_x")), lhs, 262, "lhs"),
        (not int_option(node, table, "adj_y"), rhs, 272, "rhs"),
    )
    for needed, tensor, line, side in wanted:
        if needed:
            is_there = yield from transposed_copy(node, tensor)
            text = f"data->reference_op_data.{side}_transposed_tensor != nullptr"
            ensure(is_there, f"{_BATCH_MATMUL}:{line}", text)


def _quantization(node: Node, lhs: KernelTensor, rhs: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Allocate the quantization data and check the scales and zero points."""
    struct = "QuantizationOpDataBatchMatmul"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    ensure(offset is not None, f"{_BATCH_MATMUL}:289", "data->reference_op_data.quantization != nullptr")
    check_product_scale(lhs.scale, rhs.scale)
    if lhs.type == _INT16:
        check_zero_zero_points(f"{_BATCH_MATMUL}:319", lhs_input=lhs, rhs_input=rhs, output=output)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "FULLY_CONNECTED",
        "TfLiteFullyConnectedParams",
        op_data("cmsis_nn/fully_connected.OpData"),
        _prepare_fully_connected,
        _FULLY_CONNECTED,
        parse=parse,
    ),
    OpModel(
        "BATCH_MATMUL",
        "TfLiteBatchMatMulParams",
        op_data("cmsis_nn/batch_matmul.OpData"),
        _prepare_batch_matmul,
        _BATCH_MATMUL,
    ),
)
