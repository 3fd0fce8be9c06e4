"""AVERAGE_POOL_2D, MAX_POOL_2D, SOFTMAX and SVDF with CMSIS-NN: the reference Prepare, and what CMSIS-NN adds.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{pooling,softmax,svdf}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, isa, optional_scratch
from tflm_sim.ops.cmsis_nn.tensor_checks import check_rank_4, check_supported_input, matching_dim
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts
from tflm_sim.ops.reference.pooling import pooling_prepare
from tflm_sim.ops.reference.softmax import softmax_params
from tflm_sim.ops.reference.svdf import svdf_prepare
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import ensure, ensure_msg, free, freeing, input_tensor, op_data, output_tensor

_POOLING, _SOFTMAX, _SVDF = "cmsis_nn/pooling.cc", "cmsis_nn/softmax.cc", "cmsis_nn/svdf.cc"
_INT8, _INT16 = TensorType.INT8, TensorType.INT16


def _prepare_average_pool(node: Node) -> Steps[None]:
    yield from pooling_prepare(node)
    source = yield from input_tensor(node, 0, f"{_POOLING}:166")
    output = yield from output_tensor(node, 0, f"{_POOLING}:168")
    if source.type in (_INT8, _INT16):
        check_rank_4(f"{_POOLING}:172", input=source, output=output)
        depth, width = matching_dim((source.shape, 3), (output.shape, 3)), output.shape[2]
        sizes = buffer_sizes(node)
        is_int16 = source.type == _INT16
        size_of = sizes.arm_avgpool_s16_get_buffer_size if is_int16 else sizes.arm_avgpool_s8_get_buffer_size
        yield from optional_scratch(size_of(isa(node), width, depth), "avgpool")
    yield from free(output, source)


def _prepare_softmax(node: Node) -> Steps[None]:
    ensure_counts(node, _SOFTMAX, 47, inputs=1)
    source = yield from input_tensor(node, 0, f"{_SOFTMAX}:50")
    ensure(len(source.shape) >= 1, f"{_SOFTMAX}:51", "NumDimensions(input) >= 1")
    output = yield from output_tensor(node, 0, f"{_SOFTMAX}:53")
    together = source.type == output.type or (source.type, output.type) == (_INT8, _INT16)
    ensure_msg(together, _SOFTMAX, "Input and output data types are not supported together.")
    check_supported_input(source, _SOFTMAX)
    ensure(node.user_data is not None, f"{_SOFTMAX}:66", "node->user_data != nullptr")
    yield from freeing(softmax_params(node, source, output), source, output)
    _check_same_rows(source, output)


def _check_same_rows(source: KernelTensor, output: KernelTensor) -> None:
    """``MatchingFlatSizeSkipDim`` and ``MatchingDim``: the shapes agree."""
    for axis in range(len(source.shape)):
        matching_dim((source.shape, axis), (output.shape, axis))


def _prepare_svdf(node: Node) -> Steps[None]:
    yield from svdf_prepare(node, _svdf_place, _kernel_sums)


def _svdf_place(line: int) -> str:
    """Return where the line of the reference kernel is: the copy starts 304 lines earlier, its float part 268."""
    return f"{_SVDF}:{line - (304 if line < 480 else 268)}"


def _kernel_sums(node: Node, weights_feature: KernelTensor) -> Steps[None]:
    """Keep the sums of the weights in the tail, where the build is optimised for speed."""
    filters, input_size = weights_feature.shape
    size = buffer_sizes(node).arm_svdf_s8_get_buffer_size(isa(node), Dims(filters, input_size, 1, 1))
    if size > 0:
        ensure(weights_feature.is_constant, f"{_SVDF}:196", "IsConstantTensor(weights_feature)")
        yield Persistent(size, "kernel_sums")


MODELS: tuple[OpModel, ...] = (
    OpModel("AVERAGE_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), _prepare_average_pool, _POOLING),
    OpModel("MAX_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), pooling_prepare, _POOLING),
    OpModel(
        "SOFTMAX",
        "TfLiteSoftmaxParams",
        op_data("cmsis_nn/softmax.CMSISNNSoftmaxParams"),
        _prepare_softmax,
        _SOFTMAX,
    ),
    OpModel("SVDF", "TfLiteSVDFParams", op_data("cmsis_nn/svdf.CmsisNnOpDataSvdf"), _prepare_svdf, _SVDF),
)
