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
from tflm_sim.graph.eval_tensor import type_name, type_number
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.fully_connected import fully_connected_data
from tflm_sim.ops.reference.node_checks import int_option, require, require_op_data
from tflm_sim.ops.reference.quantization import ACTIVATION_NONE, product_scale_error
from tflm_sim.ops.requests import KernelTensor, Log, Scratch, Steps
from tflm_sim.ops.roles import (
    abort,
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_count_eq,
    ensure_eq,
    fail,
    freeing,
    op_data,
    optional_input,
    optional_output,
    present,
    size_of,
)
from tflm_sim.units import int32

_FILE, _EVAL, _COMMON = "unidirectional_sequence_lstm.cc", "lstm_eval.cc", "lstm_eval_common.cc"
_INPUT_COUNT = 24
_INPUT, _HIDDEN_STATE, _CELL_STATE = 0, 18, 19
_INPUT_TO_FORGET_WEIGHTS, _FORGET_BIAS = 2, 13
_INPUT_WEIGHTS, _RECURRENT_WEIGHTS, _BIASES = range(1, 5), range(5, 9), range(12, 16)
_PEEPHOLES, _PROJECTION, _LAYER_NORM = range(9, 12), range(16, 18), range(20, 24)
# The scale of a gate's fully connected output: Q3.12.
_GATE_SCALE = 2.0**-12
# Input weights and recurrent weights of the forget, input, cell and output gate.
_GATES = ((2, 6), (1, 5), (3, 7), (4, 8))
_CELL_TYPE_SIZES: dict[int, int] = {TensorType.FLOAT32: 4, TensorType.INT16: 2}
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
        line: The line of its first check.
        check: Checks of its own, after ``ValidateTensorStatus``.
        kernel_sums: What it keeps in the tail; returns how many scratch buffers follow.
    """

    file: str
    line: int
    check: Callable[[Inputs], None]
    kernel_sums: Callable[[Node, Inputs, LstmSizes], Steps[int]]


def _four_buffers(node: Node, inputs: Inputs, sizes: LstmSizes) -> Steps[int]:
    yield from ()
    return 4


_REFERENCE = LstmLibrary(_FILE, 45, lambda inputs: None, _four_buffers)


def _prepare(node: Node) -> Steps[None]:
    yield from lstm_prepare(node, _REFERENCE)


def lstm_prepare(node: Node, library: LstmLibrary) -> Steps[None]:
    """Run ``UnidirectionalSequenceLstmPrepare`` of a kernel library."""
    file, line = library.file, library.line
    ensure_eq(len(node.outputs), 1, f"{file}:{line}", "node->outputs->size", "1")
    ensure_eq(len(node.inputs), _INPUT_COUNT, f"{file}:{line + 1}", "node->inputs->size", str(_INPUT_COUNT))
    require_op_data(node, f"{file}:{line + 4}")
    inputs: list[KernelTensor | None] = []
    for position in range(_INPUT_COUNT):
        inputs.append((yield from optional_input(node, position)))
    output = yield from optional_output(node, 0)
    try:
        yield from freeing(_with_tensors(node, library, tuple(inputs), output), *inputs, output)
    except PrepareError as error:
        if output is None and error.status != "abort":
            yield Log(error.device_message)
            raise abort(f"{_EVAL}:47", "output_tensor_ != nullptr") from error
        raise


def _with_tensors(node: Node, library: LstmLibrary, inputs: Inputs, output: KernelTensor | None) -> Steps[None]:
    sequence = _check_tensors(inputs, output)
    library.check(inputs)
    sizes = _sizes(node, inputs)
    _check_sizes(node, inputs, sequence, sizes)
    cell_type = lstm_tensor(inputs, _CELL_STATE).type
    if cell_type not in _CELL_TYPE_SIZES:
        raise fail(
            f"Cell state type {type_name(cell_type)} ({type_number(cell_type)}) not supported. The quantized "
            "Unidirectional Sequence LSTM Op only support int16 cell state"
        )
    if cell_type == TensorType.INT16:
        for input_weights, recurrent_weights in _GATES:
            yield from _gate(node, inputs, input_weights, recurrent_weights)
    for i in range((yield from library.kernel_sums(node, inputs, sizes))):
        yield Scratch(size_of(node, sizes.batch * sizes.state * _CELL_TYPE_SIZES[cell_type], 1), f"buffer{i}")


def _check_tensors(inputs: Inputs, maybe_output: KernelTensor | None) -> KernelTensor:
    """``ValidateTensorStatus``; return the output, which is there."""
    source = _present(inputs, _INPUT, 58, "kLstmInputTensor")
    hidden = _present(inputs, _HIDDEN_STATE, 60, "kLstmOutputStateTensor")
    _ensure_variable(hidden, 61, "kLstmOutputStateTensor")
    input_type = "internal_tensors_[kLstmInputTensor]->type"
    hidden_type = "internal_tensors_[kLstmOutputStateTensor]->type"
    ensure_c_types_eq(hidden.type, source.type, f"{_EVAL}:64", hidden_type, input_type)
    _ensure_variable(_present(inputs, _CELL_STATE, 67, "kLstmCellStateTensor"), 68, "kLstmCellStateTensor")
    output = present(maybe_output, f"{_EVAL}:70", "output_tensor_")
    ensure_c_types_eq(output.type, source.type, f"{_EVAL}:72", "output_tensor_->type", input_type)
    _ensure_one_type(inputs, (*_INPUT_WEIGHTS, *_RECURRENT_WEIGHTS), _INPUT_TO_FORGET_WEIGHTS, 77, "weight_type")
    _ensure_one_type(inputs, _BIASES, _FORGET_BIAS, 84, "bias_type")
    for positions, line in ((_PEEPHOLES, 92), (_PROJECTION, 96), (_LAYER_NORM, 100)):
        for position in positions:
            ensure(inputs[position] is None, f"{_EVAL}:{line}", "internal_tensors_[i] == nullptr")
    return output


def _present(inputs: Inputs, position: int, line: int, name: str) -> KernelTensor:
    return present(inputs[position], f"{_EVAL}:{line}", f"internal_tensors_[{name}]")


def lstm_tensor(inputs: Inputs, position: int) -> KernelTensor:
    """Return an input that the checks have found to be there."""
    tensor = inputs[position]
    assert tensor is not None, f"input {position} was checked"
    return tensor


def _ensure_variable(tensor: KernelTensor, line: int, name: str) -> None:
    ensure(tensor.eval.tensor.is_variable, f"{_EVAL}:{line}", f"internal_tensors_[{name}]->is_variable")


def _ensure_one_type(inputs: Inputs, positions: Iterable[int], model: int, line: int, name: str) -> None:
    """All inputs at ``positions`` are there and have the type of input ``model``, which is read first."""
    expected = require(inputs[model], f"{_EVAL}:{line}", f"internal_tensors_[{model}]").type
    for position in positions:
        tensor = _present(inputs, position, line + 2, "i")
        ensure_c_types_eq(tensor.type, expected, f"{_EVAL}:{line + 3}", "internal_tensors_[i]->type", name)


def _sizes(node: Node, inputs: Inputs) -> LstmSizes:
    """``CreateLstmSizeInfo``."""
    source, hidden = lstm_tensor(inputs, _INPUT), lstm_tensor(inputs, _HIDDEN_STATE)
    input_size = dim(source, 2, f"{_COMMON}:35")
    time_major = int_option(node, "UnidirectionalSequenceLSTMOptions", "time_major")
    return LstmSizes(source.shape[1 if time_major else 0], input_size, dim(hidden, 1, f"{_COMMON}:36"))


def _check_sizes(node: Node, inputs: Inputs, output: KernelTensor, sizes: LstmSizes) -> None:
    """``ValidateTensorSize``."""
    for position in _INPUT_WEIGHTS:
        _ensure_shape(lstm_tensor(inputs, position), 43, (sizes.state, sizes.input), ("dim1_size", "dim2_size"))
    for position in _RECURRENT_WEIGHTS:
        _ensure_shape(lstm_tensor(inputs, position), 43, (sizes.state, sizes.state), ("dim1_size", "dim2_size"))
    for position in _BIASES:
        _ensure_shape(lstm_tensor(inputs, position), 51, (sizes.state,), ("size",))
    expected, text = int32(sizes.batch * sizes.state), "size_info.batch_size * size_info.state_dimension"
    for position, line, name in ((_HIDDEN_STATE, 85, "HiddenStateTensor"), (_CELL_STATE, 87, "CellStateTensor")):
        count = lstm_tensor(inputs, position).flat_size
        ensure_count_eq(node, count, expected, f"{_COMMON}:{line}", f"NumElements(tensors.{name}())", text)
    source, name = lstm_tensor(inputs, _INPUT), "tensors.OutputTensor()->dims"
    ensure_eq(len(output.shape), 3, f"{_COMMON}:91", f"{name}->size", "3")
    for axis, line in ((0, 92), (1, 95)):
        input_text = f"tensors.GetInternalTensor(kLstmInputTensor)->dims->data[{axis}]"
        place = f"{_COMMON}:{line}"
        ensure_eq(source.shape[axis], output.shape[axis], place, input_text, f"{name}->data[{axis}]")
    ensure_eq(output.shape[2], sizes.state, f"{_COMMON}:98", f"{name}->data[2]", "size_info.state_dimension")


def _ensure_shape(tensor: KernelTensor, line: int, shape: tuple[int, ...], names: tuple[str, ...]) -> None:
    """``ValidateWeightTensorSize`` and ``ValidateBiasTensorSize``: the rank at ``line``, then axis by axis."""
    ensure_eq(len(tensor.shape), len(shape), f"{_COMMON}:{line}", "tensor->dims->size", str(len(shape)))
    for axis, (size, name) in enumerate(zip(shape, names, strict=True)):
        place = f"{_COMMON}:{line + 1 + axis}"
        ensure_eq(tensor.shape[axis], size, place, f"tensor->dims->data[{axis}]", name)


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
        error = product_scale_error(source.scale, kernel.scale) if position == _INPUT else None
        if error is not None:
            yield Log(error)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "TfLiteUnidirectionalSequenceLSTMParams",
        op_data("OpDataLSTM"),
        _prepare,
        _FILE,
    ),
)
