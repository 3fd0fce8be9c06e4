"""BIDIRECTIONAL_SEQUENCE_LSTM: the inputs of an LSTM twice, forward and backward, and an auxiliary input for both.

Source: tflite/kernels/bidirectional_sequence_lstm.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.extensions.lite.kernels.dense import is_hybrid_op
from tflm_sim.extensions.lite.kernels.lstm import projection_rows, state_of
from tflm_sim.extensions.lite.kernels.lstm_inputs import BACKWARD, LSTM, check_weights

_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT

# Places of inputs of BIDIRECTIONAL_SEQUENCE_LSTM: forward, backward.
_TO_INPUT, _TO_OUTPUT, _RECURRENT_TO_OUTPUT, _PROJECTION = (
    (LSTM[name], LSTM[name] + BACKWARD)
    for name in (
        "input_to_input_weights",
        "input_to_output_weights",
        "recurrent_to_output_weights",
        "projection_weights",
    )
)
_ACTIVATION_STATES, _CELL_STATES, _AUXILIARY = (35, 37), (36, 38), 39
# The weights of the auxiliary input: to input, forget, cell and output gate.
_AUXILIARY_WEIGHTS = ((40, 41, 42, 43), (44, 45, 46, 47))
_DIRECTIONS = ("fw", "bw")


def bidirectional_lstm(call: PrepareCall) -> None:
    """BIDIRECTIONAL_SEQUENCE_LSTM: two scratch buffers, 17 more when it is hybrid."""
    first = call.reserve(19)
    merges = call.option("merge_outputs")
    call.ensure_eq(call.input_count, 48, "node->inputs->size")
    call.ensure_eq(call.output_count, 1 if merges else 2, "node->outputs->size", "params->merge_outputs ? 1 : 2")
    value = call.input(0)
    call.is_type(value, t.FLOAT32, "input")
    call.dims_size(3, input=value)
    batch, depth = value.shape[1 if call.option("time_major") else 0], value.shape[2]
    cells, outputs = _bidirectional_sizes(call, depth)
    _check_both(call, (depth, outputs[0], cells[0]))
    has_auxiliary = _check_auxiliary(call, value, cells)
    is_hybrid = is_hybrid_op(value, call.input(_TO_OUTPUT[0]))
    call.take(*range(first, first + (2 if not is_hybrid else 19 if has_auxiliary else 18)))
    both = _BidirectionalInput(value, batch, depth, cells, outputs)
    states = [state for way in (0, 1) for state in _place_direction(call, first, both, way)]
    if is_hybrid:
        _hybrid_bidirectional(call, first, both, states)


@dataclass(frozen=True, slots=True)
class _BidirectionalInput:
    """The input of a bidirectional LSTM, and the sizes of both directions, forward first."""

    value: TfLiteTensor
    batch: int
    depth: int
    cells: list[int]
    outputs: list[int]


def _place_direction(call: PrepareCall, first: int, both: _BidirectionalInput, way: int) -> list[TfLiteTensor]:
    """Check the states of one direction, resize its output, place its gates, and return the states."""
    merges, cells, outputs = call.option("merge_outputs"), both.cells[way], both.outputs[way]
    if way:
        _check_both(call, (both.depth, outputs, cells))
    states = [
        state_of(call, place, f"{_DIRECTIONS[way]}_{kind}_state")
        for kind, place in (("activation", _ACTIVATION_STATES[way]), ("cell", _CELL_STATES[way]))
    ]
    if way and not merges:
        call.resize(call.output(1), (*both.value.shape[:2], outputs))
    for state, kind, size in zip(states, ("activation", "cell"), (outputs, cells), strict=True):
        name = f"{_DIRECTIONS[way]}_{kind}"
        right = f"static_cast<int64_t>(n_batch) * n_{name.replace('activation', 'output')}"
        call.ensure_eq(state.elements, both.batch * size, f"NumElements({name}_state)", right)
    if not way:
        call.resize(call.output(0), (*both.value.shape[:2], sum(both.outputs) if merges else outputs))
    gates = (4 if _is_cifg(call, way) else 5) * cells + (0 if way else 16)
    call.temporary(first + way, both.value.type, (both.batch, gates))
    return states


def _is_cifg(call: PrepareCall, way: int) -> bool:
    """Return whether a direction has no input gate of its own: it is 1 less the forget gate."""
    return call.optional_input(_TO_INPUT[way]) is None


def _bidirectional_sizes(call: PrepareCall, depth: int) -> tuple[list[int], list[int]]:
    """Return the numbers of cells and of outputs of both directions."""
    to_output, recurrent = ([call.input(place) for place in row] for row in (_TO_OUTPUT, _RECURRENT_TO_OUTPUT))
    kind_name = "fw_input_to_output_weights->type"
    for way, weights in zip(_DIRECTIONS, to_output, strict=True):
        name = f"{way}_input_to_output_weights"
        call.ensure_eq(weights.rank, 2, f"{name}->dims->size")
        call.ensure_eq(weights.shape[1], depth, f"{name}->dims->data[1]", "n_input")
        if way == "bw":
            call.ensure_c_types_eq(weights.type, to_output[0].type, f"{name}->type", kind_name)
    cells = [weights.shape[0] for weights in to_output]
    for way, weights, count in zip(_DIRECTIONS, recurrent, cells, strict=True):
        name = f"{way}_recurrent_to_output_weights"
        call.ensure_eq(weights.rank, 2, f"{name}->dims->size")
        call.ensure_eq(weights.shape[0], count, f"{name}->dims->data[0]", f"n_{way}_cell")
        call.ensure_c_types_eq(weights.type, to_output[0].type, f"{name}->type", kind_name)
    return cells, [weights.shape[1] for weights in recurrent]


def _check_both(call: PrepareCall, sizes: tuple[int, int, int]) -> None:
    """Check the weights of both directions, each time against the sizes of one."""
    check_weights(call, sizes)
    check_weights(call, sizes, shift=BACKWARD)


def _check_auxiliary(call: PrepareCall, value: TfLiteTensor, cells: list[int]) -> bool:
    """Check the auxiliary input and its weights; return whether there are any."""
    weights = [[call.optional_input(place) for place in row] for row in _AUXILIARY_WEIGHTS]
    there = {tensor is not None for row in weights for tensor in row[1:]}
    call.ensure(len(there) == 1, "aux_inputs_weights_all_or_none")
    has_weights, auxiliary = True in there, call.optional_input(_AUXILIARY)
    if auxiliary is None:
        call.ensure(not has_weights, "aux_input != nullptr")
        return has_weights
    number = 1 if has_weights else 2
    call.ensure_eq(auxiliary.rank, 3, "aux_input->dims->size", number=number)
    for axis in (0, 1):
        left, right = f"aux_input->dims->data[{axis}]", f"input->dims->data[{axis}]"
        call.ensure_eq(auxiliary.shape[axis], value.shape[axis], left, right, number=number)
    if not has_weights:
        call.ensure_eq(auxiliary.shape[2], value.shape[2], "aux_input->dims->data[2]", "n_input")
        return False
    _check_all_auxiliary_weights(call, weights, [(count, auxiliary.shape[2]) for count in cells])
    return True


def _check_all_auxiliary_weights(
    call: PrepareCall, weights: list[list[TfLiteTensor | None]], shapes: list[tuple[int, int]]
) -> None:
    names = (*["weight_tensor"] * 3, "input_weights")
    for row, shape in zip(weights, shapes, strict=True):
        for tensor, name in zip((*row[1:], row[0]), names, strict=True):
            if tensor is not None:
                call.ensure_eq(tensor.rank, 2, f"{name}->dims->size")
                call.ensure_eq(tensor.shape[0], shape[0], f"{name}->dims->data[0]", "expected_cell_dim")
                call.ensure_eq(tensor.shape[1], shape[1], f"{name}->dims->data[1]", "aux_input_size")


def _hybrid_bidirectional(call: PrepareCall, first: int, both: _BidirectionalInput, states: list[TfLiteTensor]) -> None:
    cells, outputs = both.cells, both.outputs
    has_auxiliary = call.optional_input(_AUXILIARY_WEIGHTS[0][1]) is not None
    kind = call.input(_TO_OUTPUT[0]).type
    forward_state, forward_cell, backward_state, backward_cell = states
    sources = (both.value, forward_state, backward_state, forward_cell, backward_cell)
    for place, source in enumerate(sources, 2):
        call.temporary(first + place, kind, source.shape)
    for place in (7, 8, 9, 10, 13, 14, 15):  # scaling factors and zero points
        call.temporary(first + place, t.FLOAT32, (both.batch,))
    call.temporary(first + 11, t.FLOAT32, (cells[0],))
    widths = [call.input(row[-1]).shape[0] for row in _AUXILIARY_WEIGHTS] if has_auxiliary else []
    call.temporary(first + 12, t.INT32, (max(*cells, *widths), both.batch))
    for way in (0, 1):
        gates = 3 if _is_cifg(call, way) else 4
        rows = gates * (3 if has_auxiliary else 2)
        rows += projection_rows(call, _PROJECTION[way], outputs[way], cells[way])
        call.temporary(first + 16 + way, t.INT32, (rows, cells[way]), _PERSISTENT)
    auxiliary = call.optional_input(_AUXILIARY)
    if has_auxiliary and auxiliary is not None:
        call.temporary(first + 18, kind, auxiliary.shape)
