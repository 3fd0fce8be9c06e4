"""UNIDIRECTIONAL_SEQUENCE_LSTM, without peepholes, projection and layer normalization.

Inputs: 0 input [batch, time, input_size]; 1-4 input weights [state, input_size]; 5-8 recurrent weights [state, state];
12-15 biases [state]; 18 hidden state and 19 cell state, both variable; the others are absent. Output: [batch, time,
state] (time first when ``time_major``). All 24 inputs and the output are temps at once; they are freed at the end,
failed or not.

Source: tensorflow/lite/micro/kernels/{unidirectional_sequence_lstm,lstm_eval,lstm_eval_common}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.element_types import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.reference import lstm_2022
from tflm_sim.ops.reference.fully_connected import fully_connected_data
from tflm_sim.ops.reference.quantization import ACTIVATION_NONE, check_product_scale
from tflm_sim.ops.requests import KernelTensor, Log, Scratch, Steps
from tflm_sim.ops.roles import fail, op_data, size_of
from tflm_sim.units import int32

_EVAL, _COMMON = "lstm_eval.cc", "lstm_eval_common.cc"
_INPUT_COUNT = 24
_INPUT, _HIDDEN_STATE, _CELL_STATE = 0, 18, 19
_INPUT_TO_FORGET_WEIGHTS, _FORGET_BIAS = 2, 13
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_PEEPHOLES, _PROJECTION, _LAYER_NORM = range(9, 12), range(16, 18), range(20, 24)
# The scale of a gate's fully connected output: Q3.12.
_GATE_SCALE = 2.0**-12
# Input weights and recurrent weights of the forget, input, cell and output gate.
_GATES = ((2, 6), (1, 5), (3, 7), (4, 8))
_CELL_TYPES = (TensorType.FLOAT32, TensorType.INT16)
Inputs = tuple[KernelTensor | None, ...]


class LstmSizes(NamedTuple):
    """``LstmSizeInfo``: what the input and the hidden state say."""

    batch: int
    input: int
    state: int


class LstmLibrary(NamedTuple):
    """What another kernel library's copy of this kernel does differently.

    Attributes:
        file: Its source.
        first: What it checks and asks for of its own, after ``ValidateTensorStatus``.
        kernel_sums: What it keeps in the tail; returns how many scratch buffers follow.
    """

    file: str
    first: Callable[[Kernel, Inputs], Steps[None]]
    kernel_sums: Callable[[Node, Inputs, LstmSizes], Steps[int]]


def _four_buffers(node: Node, inputs: Inputs, sizes: LstmSizes) -> Steps[int]:
    yield from ()
    return 4


def _nothing(k: Kernel, inputs: Inputs) -> Steps[None]:
    yield from ()


_REFERENCE = LstmLibrary("unidirectional_sequence_lstm.cc", _nothing, _four_buffers)


def _init(node: Node) -> Steps[object]:
    if not node.target.runtime.has("lstm_redesigned"):
        return (yield from lstm_2022.init(node))
    return (yield from op_data("OpDataLSTM")(node))


def _prepare(node: Node) -> Steps[None]:
    if node.target.runtime.has("lstm_redesigned"):
        yield from lstm_prepare(node, _REFERENCE)
    else:
        yield from lstm_2022.prepare(node)


def lstm_prepare(node: Node, library: LstmLibrary) -> Steps[None]:
    """Run ``UnidirectionalSequenceLstmPrepare`` of a kernel library."""
    k = Kernel(node, library.file)
    k.ensure_eq(len(node.outputs), 1, "node->outputs->size")
    k.ensure_eq(len(node.inputs), _INPUT_COUNT, "node->inputs->size", str(_INPUT_COUNT))
    k.op_data()
    inputs: list[KernelTensor | None] = []
    for position in range(_INPUT_COUNT):
        inputs.append((yield from k.optional_input(position)))
    output = yield from k.optional_output(0)
    try:
        yield from k.freeing(_with_tensors(k, library, tuple(inputs), output), *inputs, output)
    except PrepareError as error:
        if output is None and error.status != "abort":
            yield Log(error.device_message)
            raise _shared(k, _EVAL).abort("output_tensor_ != nullptr") from error
        raise


def _shared(k: Kernel, file: str) -> Kernel:
    """Return the operator in a file that libraries share; until c373ad48b all was in the kernel's own."""
    return Kernel(k.node, file if k.has("lstm_shared_files") else k.file)


def _with_tensors(k: Kernel, library: LstmLibrary, inputs: Inputs, output: KernelTensor | None) -> Steps[None]:
    node = k.node
    sequence = _check_tensors(_shared(k, _EVAL).within("ValidateTensorStatus"), inputs, output)
    yield from library.first(k, inputs)
    common = _shared(k, _COMMON)
    sizes = _sizes(common, inputs)
    _check_sizes(common, inputs, sequence, sizes)
    cell_type = lstm_tensor(inputs, _CELL_STATE).type
    if cell_type not in _CELL_TYPES:
        raise fail(
            f"Cell state type {type_name(cell_type)} ({type_number(cell_type)}) not supported. The quantized "
            "Unidirectional Sequence LSTM Op only support int16 cell state"
        )
    if cell_type == TensorType.FLOAT32 and k.has("lstm_prints"):
        yield Log("Prepared Float!")
    if cell_type == TensorType.INT16:
        for input_weights, recurrent_weights in _GATES:
            yield from _gate(node, inputs, input_weights, recurrent_weights)
    for i in range((yield from library.kernel_sums(node, inputs, sizes))):
        yield Scratch(size_of(node, sizes.batch * sizes.state * TYPE_SIZES[cell_type], 1), f"buffer{i}")


def _check_tensors(k: Kernel, inputs: Inputs, maybe_output: KernelTensor | None) -> KernelTensor:
    """``ValidateTensorStatus``; return the output, which is there."""
    name = "internal_tensors_[{}]".format
    source = k.present(inputs[_INPUT], name("kLstmInputTensor"))
    hidden = _variable(k, inputs[_HIDDEN_STATE], name("kLstmOutputStateTensor"))
    input_type = f"{name('kLstmInputTensor')}->type"
    k.ensure_c_types_eq(hidden.type, source.type, f"{name('kLstmOutputStateTensor')}->type", input_type)
    _variable(k, inputs[_CELL_STATE], name("kLstmCellStateTensor"))
    output = k.present(maybe_output, "output_tensor_")
    k.ensure_c_types_eq(output.type, source.type, "output_tensor_->type", input_type)
    weights = (*_INPUT_WEIGHTS, *_RECURRENT_WEIGHTS)
    _ensure_one_type(k, inputs, weights, _INPUT_TO_FORGET_WEIGHTS, name="weight_type", number=1)
    _ensure_one_type(k, inputs, _BIASES, _FORGET_BIAS, name="bias_type", number=2)
    for number, positions in enumerate((_PEEPHOLES, _PROJECTION, _LAYER_NORM), start=1):
        for position in positions:
            k.ensure(inputs[position] is None, f"{name('i')} == nullptr", number)
    return output


def _variable(k: Kernel, tensor: KernelTensor | None, name: str) -> KernelTensor:
    found = k.present(tensor, name)
    k.ensure(found.is_variable, f"{name}->is_variable")
    return found


def lstm_tensor(inputs: Inputs, position: int) -> KernelTensor:
    """Return an input that the checks have found to be there."""
    tensor = inputs[position]
    assert tensor is not None, f"input {position} was checked"
    return tensor


def _ensure_one_type(
    k: Kernel, inputs: Inputs, positions: Iterable[int], model: int, *, name: str, number: int
) -> None:
    """All inputs at ``positions`` are there and have the type of input ``model``, which is read first."""
    expected = k.require(inputs[model], f"internal_tensors_[{model}]").type
    for position in positions:
        tensor = k.present(inputs[position], "internal_tensors_[i]", number)
        k.ensure_c_types_eq(tensor.type, expected, "internal_tensors_[i]->type", name)


def _sizes(k: Kernel, inputs: Inputs) -> LstmSizes:
    """``CreateLstmSizeInfo``."""
    source, hidden = lstm_tensor(inputs, _INPUT), lstm_tensor(inputs, _HIDDEN_STATE)
    input_size = k.dim(source, 2)
    time_major = int_option(k.node, "UnidirectionalSequenceLSTMOptions", "time_major")
    return LstmSizes(source.shape[1 if time_major else 0], input_size, k.dim(hidden, 1))


def _check_sizes(k: Kernel, inputs: Inputs, output: KernelTensor, sizes: LstmSizes) -> None:
    """``ValidateTensorSize``."""
    weights, biases = k.within("ValidateWeightTensorSize"), k.within("ValidateBiasTensorSize")
    for position in _INPUT_WEIGHTS:
        _ensure_shape(weights, lstm_tensor(inputs, position), dim1_size=sizes.state, dim2_size=sizes.input)
    for position in _RECURRENT_WEIGHTS:
        _ensure_shape(weights, lstm_tensor(inputs, position), dim1_size=sizes.state, dim2_size=sizes.state)
    for position in _BIASES:
        _ensure_shape(biases, lstm_tensor(inputs, position), size=sizes.state)
    expected, text = int32(sizes.batch * sizes.state), "size_info.batch_size * size_info.state_dimension"
    for position, name in ((_HIDDEN_STATE, "HiddenStateTensor"), (_CELL_STATE, "CellStateTensor")):
        count = lstm_tensor(inputs, position).flat_size
        k.ensure_count_eq(count, expected, f"NumElements(tensors.{name}())", text)
    source, name = lstm_tensor(inputs, _INPUT), "tensors.OutputTensor()->dims"
    k.ensure_eq(len(output.shape), 3, f"{name}->size")
    for axis in (0, 1):
        input_text = f"tensors.GetInternalTensor(kLstmInputTensor)->dims->data[{axis}]"
        k.ensure_eq(source.shape[axis], output.shape[axis], input_text, f"{name}->data[{axis}]")
    k.ensure_eq(output.shape[2], sizes.state, f"{name}->data[2]", "size_info.state_dimension")


def _ensure_shape(k: Kernel, tensor: KernelTensor, **sizes: int) -> None:
    """``ValidateWeightTensorSize`` and ``ValidateBiasTensorSize``: the rank, then axis by axis."""
    k.ensure_eq(len(tensor.shape), len(sizes), "tensor->dims->size", str(len(sizes)))
    for axis, (name, size) in enumerate(sizes.items()):
        k.ensure_eq(tensor.shape[axis], size, f"tensor->dims->data[{axis}]", name)


def _gate(node: Node, inputs: Inputs, input_weights: int, recurrent_weights: int) -> Steps[None]:
    """``CreateGateParams``: two fully connected layers; a bad product of scales between them is only printed."""
    for position, weights in ((_INPUT, input_weights), (_HIDDEN_STATE, recurrent_weights)):
        source, kernel = lstm_tensor(inputs, position), lstm_tensor(inputs, weights)
        yield from fully_connected_data(
            node,
            source,
            kernel,
            None,
            activation=ACTIVATION_NONE,
            output_type=TensorType.INT16,
            output_scale=_GATE_SCALE,
        )
        if position == _INPUT:
            try:
                check_product_scale(node, source.scale, kernel.scale)
            except PrepareError as error:
                yield Log(error.device_message)


MODELS: tuple[OpModel, ...] = (
    OpModel("UNIDIRECTIONAL_SEQUENCE_LSTM", "TfLiteUnidirectionalSequenceLSTMParams", _init, _prepare),
)
