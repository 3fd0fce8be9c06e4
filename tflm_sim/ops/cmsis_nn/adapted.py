"""The reference kernels' Prepare with what CMSIS-NN adds: ADD, AVERAGE_POOL_2D, MAX_POOL_2D, SOFTMAX, SVDF and
UNIDIRECTIONAL_SEQUENCE_LSTM.

ADD has checks of its own. The LSTM keeps eight kernel sums in the tail for int8 and int16, and one scratch less; its
weights and biases have to be constants. Until 0ec823ed2 (2024-02-09) int8 kept eight biases instead, and no scratch
less. MUL, MAXIMUM, MINIMUM, PAD, PADV2 and TRANSPOSE have CMSIS-NN kernels too, with the reference Prepare: no row, but
for the MUL of 2021, whose Prepare stood in a file of its own.

Source: tensorflow/lite/micro/kernels/cmsis_nn/{add,mul,pooling,softmax,svdf,unidirectional_sequence_lstm}.cc @ 90b983c,
c373ad48b, a37043ff7.
"""

from __future__ import annotations

from functools import partial

from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.dims import Dims
from tflm_sim.ops.cmsis_nn.geometry import buffer_sizes, check_rank_4, check_supported_input, isa, optional_scratch
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.prepare import OP_DATA, Prepare
from tflm_sim.ops.reference.arithmetic import matching_dim
from tflm_sim.ops.reference.binary_arithmetic import OPERANDS, check_product, check_sum
from tflm_sim.ops.reference.lstm import Inputs, LstmLibrary, LstmSizes, lstm_prepare, lstm_tensor
from tflm_sim.ops.reference.pooling import TABLE as POOL
from tflm_sim.ops.reference.pooling import pooling_prepare
from tflm_sim.ops.reference.quantization import check_activation_range, checked_log2
from tflm_sim.ops.reference.softmax import softmax_params, take_softmax
from tflm_sim.ops.reference.svdf import svdf_prepare
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import fail, op_data, size_of, temp_at

_INT8, _INT16 = TensorType.INT8, TensorType.INT16
_SUPPORTED = (TensorType.FLOAT32, TensorType.INT32, TensorType.INT16, TensorType.INT8)


def _add(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    k.same_c_type(input1, output, "input1")
    k.ensure_msg(input1.type in _SUPPORTED, "Input data type not supported")
    k.ensure_msg(input1.type == input2.type, HYBRID)
    if input1.type == TensorType.INT16:
        k.zero_points(input1=input1, input2=input2, output=output)
    if k.knows(output.type, (_INT8, _INT16), {_INT16: "cmsis_add_int16"}):
        check_sum(k, input1, input2, output)
    if output.type == TensorType.INT32:
        k.not_quantized(input1, "input1")
        k.not_quantized(input2, "input2")


def _own_pool(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpData`` of CMSIS-NN's pooling, until 9345aa9ce."""
    k.dim(source, 2)
    if source.type != TensorType.FLOAT32:
        check_activation_range(k.node, fused_activation(k.node, POOL), output)


_OWN_MUL = Prepare("cmsis_nn/mul.cc", OP_DATA, takes=OPERANDS, body=check_product)


def _prepare_mul(node: Node) -> Steps[None]:
    """The MUL of 2021; before upstream its Prepare had the three tensors already when ``CalculateOpData`` got them."""
    if not node.target.runtime.has("cmsis_mul_once"):
        for indices, position in ((node.operator.inputs, 0), (node.operator.inputs, 1), (node.operator.outputs, 0)):
            yield from temp_at(indices, position)
    yield from _OWN_MUL(node)


_OWN_MAX_POOL = Prepare("cmsis_nn/pooling.cc", OP_DATA, body=_own_pool, function="MaxPrepare")


def _prepare_max_pool(node: Node) -> Steps[None]:
    is_common = node.target.runtime.has("cmsis_common_pooling")
    yield from pooling_prepare(node) if is_common else _OWN_MAX_POOL(node)


def _prepare_average_pool(node: Node) -> Steps[None]:
    k = Kernel(node, "cmsis_nn/pooling.cc")
    if k.has("cmsis_common_pooling"):
        yield from pooling_prepare(node)
    maybe_source = yield from k.optional_input(0)
    maybe_output = yield from k.optional_output(0)
    source, output = k.require(maybe_source, "input"), k.require(maybe_output, "output")
    if not k.has("cmsis_common_pooling"):
        k.op_data()
        _own_pool(k, source, output)
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
    k = Kernel(node, "cmsis_nn/svdf.cc")
    if k.has("cmsis_keeps_sums"):
        yield from svdf_prepare(k, _svdf_kernel_sums)
    elif k.has("cmsis_svdf_int8"):
        yield from svdf_prepare(Kernel(node, "svdf_common.cc"))
    else:
        yield from svdf_prepare(k, int8_state="cmsis_svdf_int8")


def _svdf_kernel_sums(k: Kernel, weights_feature: KernelTensor) -> Steps[None]:
    """Keep the sums of the weights: in the tail where the build is optimised for speed, in scratch for size."""
    filters, input_size = weights_feature.shape
    size = buffer_sizes(k.node).arm_svdf_s8_get_buffer_size(isa(k.node), Dims(filters, input_size, 1, 1))
    how = k.node.target.runtime.optimize_kernels_for if k.has("cmsis_for_size") else "speed"
    if size > 0 and how == "neither":
        raise fail("Either KERNELS_OPTIMIZED_FOR_SIZE or KERNELS_OPTIMIZED_FOR_SPEED must be defined")
    if how == "size":
        yield from optional_scratch(size, "kernel_sums")
    elif size > 0:
        k.ensure(weights_feature.is_constant, "IsConstantTensor(weights_feature)")
        k.check(weights_feature.is_constant, "GetTensorData<int8_t>(weights_feature) != nullptr")
        yield Persistent(size, "kernel_sums")


_LSTM_INPUT, _HIDDEN_STATE, _CELL_STATE = 0, 18, 19
_WEIGHTS, _BIASES = range(1, 9), range(12, 16)
_BIAS_SIZES: dict[int, int] = {TensorType.INT8: 4, TensorType.INT16: 8}
_GATES = ((2, 6, 13), (3, 7, 14), (4, 8, 15), (1, 5, 12))
"""Input weights, recurrent weights and bias of the forget, cell, output and input gate."""
_SUMS = tuple(f"{gate}_{of}_kernel_sum" for of in ("data", "hidden") for gate in ("input", "forget", "cell", "output"))


def _lstm_first(k: Kernel, inputs: Inputs) -> Steps[None]:
    """Refuse weights and biases that are computed; once: keep the effective biases."""
    if not k.has("cmsis_conv_groups"):
        if lstm_tensor(inputs, _LSTM_INPUT).type == TensorType.INT8:
            yield from _effective_biases(k, inputs)
        return
    for number, positions in enumerate((_WEIGHTS, _BIASES), start=1):
        for position in positions:
            constant = lstm_tensor(inputs, position).is_constant
            k.ensure(constant, "IsConstantTensor(lstm_tensors.GetInternalTensor(i))", number)


def _effective_biases(k: Kernel, inputs: Inputs) -> Steps[None]:
    """``CalculateOpData``: a bias of int32 for each of eight weights, then the scales, until 0ec823ed2."""
    source, hidden = lstm_tensor(inputs, _LSTM_INPUT), lstm_tensor(inputs, _HIDDEN_STATE)
    for input_weights, recurrent_weights, bias in _GATES:
        for position, state, added in ((input_weights, source, bias), (recurrent_weights, hidden, None)):
            weights = lstm_tensor(inputs, position)
            k.ensure_eq(len(weights.shape), 2, "weight_shape.DimensionsCount()")
            yield Persistent(size_of(k.node, weights.shape[0], 4), "effective_bias")
            k.check(added is None or lstm_tensor(inputs, added).is_constant, "bias != nullptr")
            k.check(state.zero_point == 0 or weights.is_constant, "weight != nullptr")
    yield from _check_scales(k, lstm_tensor(inputs, _CELL_STATE))


def _check_scales(k: Kernel, cell_state: KernelTensor) -> Steps[None]:
    """Hold the quantization of the fifth intermediate, and that the cell state's scale is a power of two."""
    hidden = yield from temp_at(k.node.operator.intermediates, 4)
    projected = k.require(hidden, "hidden")
    k.ensure(projected.affine is not None, "hidden->quantization.type != kTfLiteNoQuantization")
    yield from k.free(projected)
    exponent = checked_log2(cell_state.scale)
    k.ensure(exponent is not None, "CheckedLog2(cell_state->params.scale, &cell_scale)")
    k.ensure(exponent is not None and exponent <= -9, "cell_scale <= -9")


def _lstm_kernel_sums(node: Node, inputs: Inputs, sizes: LstmSizes) -> Steps[int]:
    """Keep a sum per gate for the input and for the hidden state; return how many scratch buffers follow."""
    runtime, type_ = node.target.runtime, lstm_tensor(inputs, _LSTM_INPUT).type
    element = _BIAS_SIZES.get(type_)
    if element is None or lstm_tensor(inputs, _CELL_STATE).type != TensorType.INT16:
        return 4
    if not runtime.has("cmsis_lstm_int16" if type_ == TensorType.INT16 else "cmsis_conv_groups"):
        return 4
    for label in _SUMS:
        yield Persistent(size_of(node, sizes.state, element), label)
    return 3


_LIBRARY = LstmLibrary("cmsis_nn/unidirectional_sequence_lstm.cc", _lstm_first, _lstm_kernel_sums)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "ADD",
        "TfLiteAddParams",
        op_data("cmsis_nn/add.OpData"),
        Prepare("cmsis_nn/add.cc", OP_DATA, takes=OPERANDS, body=_add),
    ),
    OpModel("MUL", "TfLiteMulParams", op_data("OpDataMul"), _prepare_mul),
    OpModel("AVERAGE_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), _prepare_average_pool),
    OpModel("MAX_POOL_2D", "TfLitePoolParams", op_data("cmsis_nn/pooling.OpData"), _prepare_max_pool),
    OpModel("SOFTMAX", "TfLiteSoftmaxParams", op_data("cmsis_nn/softmax.CMSISNNSoftmaxParams"), _prepare_softmax),
    OpModel("SVDF", "TfLiteSVDFParams", op_data("cmsis_nn/svdf.CmsisNnOpDataSvdf"), _prepare_svdf),
    OpModel(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "TfLiteUnidirectionalSequenceLSTMParams",
        op_data("cmsis_nn/unidirectional_sequence_lstm.OpData"),
        partial(lstm_prepare, library=_LIBRARY),
    ),
)
