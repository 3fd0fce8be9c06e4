"""AVERAGE_POOL_2D, MAX_POOL_2D, SOFTMAX and SVDF with CMSIS-NN: the reference Prepare, and what CMSIS-NN adds.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{pooling,softmax,svdf}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, isa, optional_scratch
from tflm_sim.ops.cmsis_nn.tensor_checks import check_rank_4, check_supported_input
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import matching_dim
from tflm_sim.ops.reference.pooling import pooling_prepare
from tflm_sim.ops.reference.softmax import softmax_params, take_softmax
from tflm_sim.ops.reference.svdf import svdf_prepare
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import op_data

_INT8, _INT16 = TensorType.INT8, TensorType.INT16


def _prepare_average_pool(node: Node) -> Steps[None]:
    yield from pooling_prepare(node)
    k = Kernel(node, "cmsis_nn/pooling.cc")
    maybe_source = yield from k.optional_input(0)
    maybe_output = yield from k.optional_output(0)
    source, output = k.require(maybe_source, "input"), k.require(maybe_output, "output")
    if source.type == _INT8 or (source.type == _INT16 and k.has("pooling_int16")):
        check_rank_4(k, input=source, output=output)
        depth, width = matching_dim((source.shape, 3), (output.shape, 3)), output.shape[2]
        sizes = buffer_sizes(node)
        is_int16 = source.type == _INT16
        size_of = sizes.arm_avgpool_s16_get_buffer_size if is_int16 else sizes.arm_avgpool_s8_get_buffer_size
        yield from optional_scratch(size_of(isa(node), width, depth), "avgpool")
    yield from k.free(output, source)


def _prepare_softmax(node: Node) -> Steps[None]:
    k = Kernel(node, "cmsis_nn/softmax.cc")
    source, output = yield from take_softmax(k)
    together = source.type == output.type or (source.type, output.type) == (_INT8, _INT16)
    k.ensure_msg(together, "Input and output data types are not supported together.")
    check_supported_input(k, source)
    k.ensure(node.user_data is not None, "node->user_data != nullptr")
    yield from k.freeing(softmax_params(node, source, output), source, output)
    _check_same_rows(source, output)


def _check_same_rows(source: KernelTensor, output: KernelTensor) -> None:
    """``MatchingFlatSizeSkipDim`` and ``MatchingDim``: the shapes agree."""
    for axis in range(len(source.shape)):
        matching_dim((source.shape, axis), (output.shape, axis))


def _prepare_svdf(node: Node) -> Steps[None]:
    yield from svdf_prepare(Kernel(node, "cmsis_nn/svdf.cc"), _kernel_sums)


def _kernel_sums(k: Kernel, weights_feature: KernelTensor) -> Steps[None]:
    """Keep the sums of the weights in the tail, where the build is optimised for speed."""
    filters, input_size = weights_feature.shape
    size = buffer_sizes(k.node).arm_svdf_s8_get_buffer_size(isa(k.node), Dims(filters, input_size, 1, 1))
    if size > 0:
        k.ensure(weights_feature.is_constant, "IsConstantTensor(weights_feature)")
        yield Persistent(size, "kernel_sums")


MODELS: tuple[OpModel, ...] = (
    OpModel("AVERAGE_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), _prepare_average_pool),
    OpModel("MAX_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), pooling_prepare),
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("cmsis_nn/softmax.CMSISNNSoftmaxParams"), _prepare_softmax),
    OpModel("SVDF", "TfLiteSVDFParams", op_data("cmsis_nn/svdf.CmsisNnOpDataSvdf"), _prepare_svdf),
)
