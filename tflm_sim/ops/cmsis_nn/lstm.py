"""UNIDIRECTIONAL_SEQUENCE_LSTM with CMSIS-NN: int8 and int16 keep eight kernel sums in the tail, and one scratch less.

Weights and biases have to be constants. The checks before and the sizes of the scratch buffers are the reference
kernel's.

Source: tensorflow/lite/micro/kernels/cmsis_nn/unidirectional_sequence_lstm.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.lstm import Inputs, LstmLibrary, LstmSizes, lstm_prepare, lstm_tensor
from tflm_sim.ops.requests import Persistent, Steps
from tflm_sim.ops.roles import op_data, size_of

_INPUT, _CELL_STATE = 0, 19
_WEIGHTS, _BIASES = range(1, 9), range(12, 16)
_BIAS_SIZES: dict[int, int] = {TensorType.INT8: 4, TensorType.INT16: 8}
_SUMS = tuple(f"{gate}_{of}_kernel_sum" for of in ("data", "hidden") for gate in ("input", "forget", "cell", "output"))


def _check_constants(k: Kernel, inputs: Inputs) -> None:
    """Refuse weights and biases that are computed."""
    for number, positions in enumerate((_WEIGHTS, _BIASES), start=1):
        for position in positions:
            constant = lstm_tensor(inputs, position).is_constant
            k.ensure(constant, "IsConstantTensor(lstm_tensors.GetInternalTensor(i))", number)


def _kernel_sums(node: Node, inputs: Inputs, sizes: LstmSizes) -> Steps[int]:
    """Keep a sum per gate for the input and for the hidden state; return how many scratch buffers follow."""
    element = _BIAS_SIZES.get(lstm_tensor(inputs, _INPUT).type)
    if element is None or lstm_tensor(inputs, _CELL_STATE).type != TensorType.INT16:
        return 4
    for label in _SUMS:
        yield Persistent(size_of(node, sizes.state, element), label)
    return 3


_LIBRARY = LstmLibrary("cmsis_nn/unidirectional_sequence_lstm.cc", _check_constants, _kernel_sums)


def _prepare(node: Node) -> Steps[None]:
    yield from lstm_prepare(node, _LIBRARY)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        "TfLiteUnidirectionalSequenceLSTMParams",
        op_data("cmsis_nn/unidirectional_sequence_lstm.OpData"),
        _prepare,
    ),
)
