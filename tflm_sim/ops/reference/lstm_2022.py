"""UNIDIRECTIONAL_SEQUENCE_LSTM as it was ported from TFLite in April 2022, until its redesign (0a1ccdfdd, 2023-02-02).

    input, input-to-output, recurrent-to-output | 15 optional inputs, freed again | output, states, input-to-input
    scratch: batch x cells x 4 gates (3 where the input gate is coupled) | freed

Only the float kernel is modelled; the integer and the hybrid one, which ask for more, are refused.

Source: tensorflow/lite/micro/kernels/unidirectional_sequence_lstm.cc @ 419a97eb9, 95660cae5.
"""

from __future__ import annotations

from tflm_sim.errors import UnsupportedOpError
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import int_option
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import fail, size_of

OP_DATA = "unidirectional_sequence_lstm.UnidirectionalSequenceLstmOpData"
_INPUT_COUNTS = (20, 24)
_INPUT_TO_INPUT, _INPUT_TO_OUTPUT, _RECURRENT_TO_OUTPUT = 1, 4, 8
_HIDDEN_STATE, _CELL_STATE, _FORGET_LAYER_NORM = 18, 19, 21
_CHECKED_TOGETHER = (1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17)
"""The inputs that ``CheckInputTensorDimensions`` holds at once: weights, peepholes, biases, projection."""


def init(node: Node) -> Steps[object]:
    """``UnidirectionalSequenceLstmInit``."""
    yield Persistent(node.target.sizeof(OP_DATA), OP_DATA)
    return OP_DATA


def prepare(node: Node) -> Steps[None]:
    """``UnidirectionalSequenceLstmPrepare``.

    Raises:
        UnsupportedOpError: The weights or the input are not float32.
    """
    k = Kernel(node, "unidirectional_sequence_lstm.cc")
    if len(node.inputs) not in _INPUT_COUNTS:
        raise fail(f"The LSTM Full kernel expects 20 or 24 inputs. Got {len(node.inputs)} inputs")
    yield from k.free((yield from k.optional_input(_FORGET_LAYER_NORM)))
    k.ensure_eq(len(node.outputs), 1, "node->outputs->size", "1")
    source = k.require((yield from k.optional_input(0)), "input")
    to_output = k.require((yield from k.optional_input(_INPUT_TO_OUTPUT)), "input_to_output_weights")
    recurrent = k.require((yield from k.optional_input(_RECURRENT_TO_OUTPUT)), "recurrent_to_output_weights")
    _ensure_float(node, source, to_output)
    together = []
    for position in _CHECKED_TOGETHER:
        together.append((yield from k.optional_input(position)))
    yield from k.free(*together)
    output = yield from k.optional_output(0)
    hidden = yield from k.input(_HIDDEN_STATE, "output_state")
    cell = yield from k.input(_CELL_STATE, "cell_state")
    to_input = yield from k.optional_input(_INPUT_TO_INPUT)
    time_major = int_option(node, "UnidirectionalSequenceLSTMOptions", "time_major")
    gates = 3 if to_input is None else 4
    yield Scratch(size_of(node, k.dim(source, 1 if time_major else 0) * k.dim(to_output, 0) * gates, 4), "gates")
    yield from k.free(source, to_output, recurrent, output, hidden, cell, to_input)


def _ensure_float(node: Node, source: KernelTensor, weights: KernelTensor) -> None:
    if not source.type == weights.type == TensorType.FLOAT32:
        raise UnsupportedOpError(
            f"{node.op} #{node.index}: of this kernel's time before 2023-02-02 only float32 is modelled",
            op=node.op,
            subgraph=node.subgraph_index,
            node=node.index,
        )
