"""LSTM and its sequence form: scratch for the gates, and for hybrid layers everything that is quantized on the way.

Source: tflite/kernels/{lstm,unidirectional_sequence_lstm}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.extensions.lite.kernels.dense import is_hybrid_op
from tflm_sim.extensions.lite.kernels.lstm_inputs import LSTM, check_weights, tell_quantization

_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT
_BASIC_KERNEL = 1


def lstm(call: PrepareCall) -> None:
    """LSTM: the full kernel, or the basic one whose state tensors become persistent."""
    if call.option("kernel_type") == _BASIC_KERNEL:
        _basic_lstm(call)
    else:
        _full_lstm(call, is_sequence=False)


def sequence_lstm(call: PrepareCall) -> None:
    """UNIDIRECTIONAL_SEQUENCE_LSTM."""
    _full_lstm(call, is_sequence=True)


def lstm_temporaries(options: Mapping[str, Any]) -> int:
    """Return how many tensors LSTM's Init adds: 12 temporaries and 9 ledgers for the full kernel."""
    return 0 if options.get("kernel_type") == _BASIC_KERNEL else 21


def _full_lstm(call: PrepareCall, *, is_sequence: bool) -> None:
    first = call.reserve(12 if is_sequence else 21)
    _check_lstm_counts(call, is_sequence=is_sequence)
    has_layer_norm = call.input_count == 24 and call.optional_input(LSTM["forget_layer_norm_coefficients"]) is not None
    value = call.input(0)
    is_integer = value.type == t.INT8
    call.ensure(value.rank > 1, "input->dims->size > 1")
    steps_first = is_sequence and bool(call.option("time_major"))
    batch, depth = value.shape[int(steps_first)], value.shape[1 + is_sequence]
    cells, outputs = _lstm_sizes(call, depth, is_sequence=is_sequence)
    check_weights(call, (depth, outputs, cells), has_layer_norm=has_layer_norm, is_integer=is_integer)
    output_state, cell_state = (state_of(call, LSTM[name], name) for name in ("output_state", "cell_state"))
    left = "static_cast<int64_t>(n_batch) * n_"
    call.ensure_eq(output_state.elements, batch * outputs, "NumElements(output_state)", f"{left}output")
    call.ensure_eq(cell_state.elements, batch * cells, "NumElements(cell_state)", f"{left}cell")
    call.resize(call.output(), (*value.shape[:-1], outputs) if is_sequence else (batch, outputs))
    if is_integer:
        allowed = (5,) if is_sequence else (5, 12)
        text = " || ".join(f"num_intermediate_tensors == {one}" for one in allowed)
        call.ensure(len(call.node.intermediates) in allowed, text)
        tell_quantization(call, cell_state, has_layer_norm=has_layer_norm)
    layer = _Layer(
        value, call.input(LSTM["input_to_output_weights"]), (output_state, cell_state), batch, cells, outputs
    )
    _place_lstm(call, first, layer, is_sequence=is_sequence)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The input of an LSTM, its weights for the output gate, its states, and its sizes."""

    value: TfLiteTensor
    weights: TfLiteTensor
    states: tuple[TfLiteTensor, TfLiteTensor]
    batch: int
    cells: int
    outputs: int


def _place_lstm(call: PrepareCall, first: int, layer: _Layer, *, is_sequence: bool) -> None:
    """Take and place the temporaries: the gates, and all that integers or a hybrid layer need."""
    is_integer, cells = layer.value.type == t.INT8, layer.cells
    is_cifg = call.optional_input(LSTM["input_to_input_weights"]) is None
    if not is_integer or is_sequence:
        gates = (4 if is_cifg else 5) * cells + (16 if is_sequence else 0)
        call.temporary(first, layer.value.type, (layer.batch, gates))
    if is_integer:
        _integer_scratch(call, first, len(call.node.intermediates), (layer.batch, cells))
        if is_sequence:
            for gate in ("forget", "cell", "output", "input"):
                weights = call.optional_input(LSTM[f"recurrent_to_{gate}_weights"])
                call.ensure_eq(2 if weights is None else weights.rank, 2, "weight_shape.DimensionsCount()")
    elif is_hybrid_op(layer.value, layer.weights):
        rows = (6 if is_cifg else 8) + projection_rows(call, LSTM["projection_weights"], layer.outputs, cells)
        _hybrid_scratch(call, first, layer, rows)
        is_sparse = layer.weights.is_sparse and not is_sequence
        call.take(*range(first, first + (21 if is_sparse else 12)))
        if is_sparse:
            _ledgers(call, first + 12)
    else:
        call.take(first)


def _check_lstm_counts(call: PrepareCall, *, is_sequence: bool) -> None:
    """Check how many tensors there are; a sequence looks at its inputs first."""
    if not is_sequence:
        call.ensure_eq(call.output_count, 1, "node->outputs->size")
    if call.input_count not in (20, 24):
        raise call.failure(f"The LSTM Full kernel expects 20 or 24 inputs. Got {call.input_count} inputs")
    if is_sequence:
        call.ensure_eq(call.output_count, 1, "node->outputs->size")


def _lstm_sizes(call: PrepareCall, depth: int, *, is_sequence: bool) -> tuple[int, int]:
    """Return the cells and the outputs, from the weights of the output gate."""
    to_output = call.input(LSTM["input_to_output_weights"])
    cells = to_output.shape[0]
    call.dims_size(2, input_to_output_weights=to_output)
    call.ensure_eq(to_output.shape[1], depth, "input_to_output_weights->dims->data[1]", "n_input")
    recurrent = call.input(LSTM["recurrent_to_output_weights"])
    is_diagonal = is_sequence and recurrent.rank == 1
    if not is_diagonal:
        call.dims_size(2, recurrent_to_output_weights=recurrent)
        if is_sequence:
            right = "input_to_output_weights->type"
            call.ensure_c_types_eq(recurrent.type, to_output.type, "recurrent_to_output_weights->type", right)
    call.ensure_eq(recurrent.shape[0], cells, "recurrent_to_output_weights->dims->data[0]", "n_cell")
    return cells, recurrent.shape[0 if is_diagonal else 1]


def state_of(call: PrepareCall, place: int, name: str) -> TfLiteTensor:
    """Return a state tensor, which has to be a variable."""
    tensor = call.variable_input(place)
    if tensor is None:
        call.ensure(False, f"{name} != nullptr", number=0)
        raise AssertionError("a state that is absent is refused")
    return tensor


_SPARSE_WEIGHTS = (
    "input_to_input_weights",
    "input_to_forget_weights",
    "input_to_cell_weights",
    "input_to_output_weights",
    "recurrent_to_input_weights",
    "recurrent_to_forget_weights",
    "recurrent_to_cell_weights",
    "recurrent_to_output_weights",
    "projection_weights",
)


def _ledgers(call: PrepareCall, first: int) -> None:
    """A ledger says where the blocks of a sparse matrix are; a dense one has none."""
    for place, name in enumerate(_SPARSE_WEIGHTS):
        weights = call.optional_input(LSTM[name])
        size = (weights.ledger_size,) if weights is not None and weights.is_sparse else None
        call.temporary(first + place, t.UINT8, size, _PERSISTENT)


def projection_rows(call: PrepareCall, place: int, outputs: int, cells: int) -> int:
    """Return how many rows of sums the projection at a place adds, 0 without one."""
    return ceil(outputs / cells) if call.optional_input(place) is not None else 0


def _integer_scratch(call: PrepareCall, first: int, intermediates: int, shape: Sequence[int]) -> None:
    """The 8-bit kernels have six scratch tensors with 16-bit gates, eight with 8-bit gates."""
    if intermediates == 5:
        kinds: tuple[int, ...] = (t.INT16, t.INT16, t.INT16, t.INT16, t.INT8, t.INT32)
    else:
        kinds = (t.INT8, t.INT8, *(t.INT16,) * 6)
    call.take(*range(first, first + len(kinds)))
    for place, kind in enumerate(kinds):
        call.temporary(first + place, kind, shape)


def _hybrid_scratch(call: PrepareCall, first: int, layer: _Layer, rows: int) -> None:
    """Place what a hybrid LSTM needs from its second temporary on."""
    for place, source in enumerate((layer.value, *layer.states), 1):
        call.temporary(first + place, layer.weights.type, source.shape)
    for place in (4, 5, 6, 9, 10):  # scaling factors and zero points
        call.temporary(first + place, t.FLOAT32, (layer.batch,))
    call.temporary(first + 7, t.FLOAT32, (layer.cells,))
    call.temporary(first + 8, t.INT32, (layer.cells, layer.batch))
    call.temporary(first + 11, t.INT32, (rows, layer.cells), _PERSISTENT)


def _basic_lstm(call: PrepareCall) -> None:
    call.ensure(call.input_count == 5, "node->inputs->size == kInputNum")
    call.ensure(call.output_count == 4, "node->outputs->size == kOutputNum")
    value, activation, weights, bias, state = (call.input(place) for place in range(5))
    call.dims_size(2, input=value)
    batch, depth = value.shape
    call.dims_size(2, prev_activation=activation)
    call.ensure_eq(activation.shape[0], batch, "prev_activation->dims->data[0]", "num_batches")
    width = activation.shape[1]
    total = depth + width
    call.dims_size(2, weights=weights)
    call.ensure_eq(weights.shape[0], 4 * width, "weights->dims->data[0]", "4 * activation_depth")
    call.ensure_eq(weights.shape[1], total, "weights->dims->data[1]", "total_depth")
    call.dims_size(1, bias=bias)
    call.ensure_eq(bias.shape[0], 4 * width, "bias->dims->data[0]", "4 * activation_depth")
    call.dims_size(2, prev_state=state)
    call.ensure_eq(state.shape[0], batch, "prev_state->dims->data[0]", "num_batches")
    call.ensure_eq(state.shape[1], width, "prev_state->dims->data[1]", "activation_depth")
    for place, shape in enumerate((activation.shape, state.shape, (batch, total), (batch, 4 * width))):
        call.resize(call.output(place), shape)
    for tensor in (activation, state):
        tensor.allocation_type = _PERSISTENT
