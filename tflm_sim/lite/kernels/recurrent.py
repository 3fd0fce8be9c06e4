"""RNN, LSTM and their sequence forms: scratch for the gates, and for hybrid ones everything quantized on the way.

Source: tflite/kernels/{lstm,unidirectional_sequence_lstm,bidirectional_sequence_lstm,basic_rnn,
unidirectional_sequence_rnn,bidirectional_sequence_rnn}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from tflm_sim.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.lite.kernels import types as t
from tflm_sim.lite.kernels.call import PrepareCall
from tflm_sim.lite.kernels.dense import is_hybrid_op
from tflm_sim.lite.kernels.lstm_inputs import BACKWARD, LSTM, check_weights, tell_quantization

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
    to_output, recurrent = call.input(LSTM["input_to_output_weights"]), call.input(LSTM["recurrent_to_output_weights"])
    cells, outputs = _lstm_sizes(call, depth, to_output, recurrent, is_sequence=is_sequence)
    check_weights(call, (depth, outputs, cells), has_layer_norm=has_layer_norm, is_integer=is_integer)
    output_state, cell_state = (_state(call, LSTM[name], name) for name in ("output_state", "cell_state"))
    left = "static_cast<int64_t>(n_batch) * n_"
    call.ensure_equal("NumElements(output_state)", output_state.elements, batch * outputs, f"{left}output")
    call.ensure_equal("NumElements(cell_state)", cell_state.elements, batch * cells, f"{left}cell")
    call.resize(call.output(), (*value.shape[:-1], outputs) if is_sequence else (batch, outputs))
    if is_integer:
        _check_intermediates(call, is_sequence=is_sequence)
    is_cifg = call.optional_input(LSTM["input_to_input_weights"]) is None
    if not is_integer or is_sequence:
        gates = (4 if is_cifg else 5) * cells + (16 if is_sequence else 0)
        call.temporary(first, value.type, (batch, gates))
    if is_integer:
        tell_quantization(call, cell_state, has_layer_norm=has_layer_norm)
        _integer_scratch(call, first, len(call.node.intermediates), (batch, cells))
        if is_sequence:
            _check_recurrent_ranks(call)
        return
    if not is_hybrid_op(value, to_output):
        call.take(first)
        return
    rows = (6 if is_cifg else 8) + _projection_rows(call, LSTM["projection_weights"], outputs, cells)
    _hybrid_scratch(call, first, value, to_output, (output_state, cell_state), batch, cells, rows)
    _take_hybrid(call, first, is_sparse=to_output.is_sparse and not is_sequence)


def _take_hybrid(call: PrepareCall, first: int, *, is_sparse: bool) -> None:
    call.take(*range(first, first + (21 if is_sparse else 12)))
    if is_sparse:
        _ledgers(call, first + 12)


def _check_lstm_counts(call: PrepareCall, *, is_sequence: bool) -> None:
    """Check how many tensors there are; a sequence looks at its inputs first."""
    if not is_sequence:
        call.ensure_equal("node->outputs->size", call.output_count, 1)
    if call.input_count not in (20, 24):
        raise call.failure(f"The LSTM Full kernel expects 20 or 24 inputs. Got {call.input_count} inputs")
    if is_sequence:
        call.ensure_equal("node->outputs->size", call.output_count, 1)


def _check_intermediates(call: PrepareCall, *, is_sequence: bool) -> None:
    allowed = (5,) if is_sequence else (5, 12)
    text = " || ".join(f"num_intermediate_tensors == {one}" for one in allowed)
    call.ensure(len(call.node.intermediates) in allowed, text)


def _lstm_sizes(
    call: PrepareCall, depth: int, to_output: TfLiteTensor, recurrent: TfLiteTensor, *, is_sequence: bool
) -> tuple[int, int]:
    """Return the cells and the outputs, from the weights of the output gate."""
    cells = to_output.shape[0]
    call.ensure_equal("input_to_output_weights->dims->size", to_output.rank, 2)
    call.ensure_equal("input_to_output_weights->dims->data[1]", to_output.shape[1], depth, "n_input")
    is_diagonal = is_sequence and recurrent.rank == 1
    if not is_diagonal:
        call.ensure_equal("recurrent_to_output_weights->dims->size", recurrent.rank, 2)
        if is_sequence:
            right = "input_to_output_weights->type"
            call.ensure_type_numbers("recurrent_to_output_weights->type", recurrent.type, to_output.type, right)
    call.ensure_equal("recurrent_to_output_weights->dims->data[0]", recurrent.shape[0], cells, "n_cell")
    return cells, recurrent.shape[0 if is_diagonal else 1]


def _check_recurrent_ranks(call: PrepareCall) -> None:
    for gate in ("forget", "cell", "output", "input"):
        weights = call.optional_input(LSTM[f"recurrent_to_{gate}_weights"])
        call.ensure_equal("weight_shape.DimensionsCount()", 2 if weights is None else weights.rank, 2)


def _state(call: PrepareCall, place: int, name: str) -> TfLiteTensor:
    """Return a state tensor, which has to be a variable."""
    tensor = call.variable_input(place)
    if tensor is None:
        call.ensure(False, f"{name} != nullptr", at=-1)
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


def _projection_rows(call: PrepareCall, place: int, outputs: int, cells: int) -> int:
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


def _hybrid_scratch(
    call: PrepareCall,
    first: int,
    value: TfLiteTensor,
    weights: TfLiteTensor,
    states: tuple[TfLiteTensor, TfLiteTensor],
    batch: int,
    cells: int,
    rows: int,
) -> None:
    """Place what a hybrid LSTM needs from its second temporary on."""
    for place, source in ((1, value), (2, states[0]), (3, states[1])):
        call.temporary(first + place, weights.type, source.shape)
    for place in (4, 5, 6, 9, 10):  # scaling factors and zero points
        call.temporary(first + place, t.FLOAT32, (batch,))
    call.temporary(first + 7, t.FLOAT32, (cells,))
    call.temporary(first + 8, t.INT32, (cells, batch))
    call.temporary(first + 11, t.INT32, (rows, cells), _PERSISTENT)


def _basic_lstm(call: PrepareCall) -> None:
    call.ensure(call.input_count == 5, "node->inputs->size == kInputNum")
    call.ensure(call.output_count == 4, "node->outputs->size == kOutputNum")
    value, activation, weights, bias, state = (call.input(place) for place in range(5))
    call.ensure_equal("input->dims->size", value.rank, 2)
    batch, depth = value.shape
    call.ensure_equal("prev_activation->dims->size", activation.rank, 2)
    call.ensure_equal("prev_activation->dims->data[0]", activation.shape[0], batch, "num_batches")
    width = activation.shape[1]
    total = depth + width
    call.ensure_equal("weights->dims->size", weights.rank, 2)
    call.ensure_equal("weights->dims->data[0]", weights.shape[0], 4 * width, "4 * activation_depth")
    call.ensure_equal("weights->dims->data[1]", weights.shape[1], total, "total_depth")
    call.ensure_equal("bias->dims->size", bias.rank, 1)
    call.ensure_equal("bias->dims->data[0]", bias.shape[0], 4 * width, "4 * activation_depth")
    call.ensure_equal("prev_state->dims->size", state.rank, 2)
    call.ensure_equal("prev_state->dims->data[0]", state.shape[0], batch, "num_batches")
    call.ensure_equal("prev_state->dims->data[1]", state.shape[1], width, "activation_depth")
    for place, shape in enumerate((activation.shape, state.shape, (batch, total), (batch, 4 * width))):
        call.resize(call.output(place), shape)
    for tensor in (activation, state):
        tensor.allocation_type = _PERSISTENT


def rnn(call: PrepareCall) -> None:
    """RNN."""
    first = call.reserve(6)
    value, weights, hidden = _rnn_operands(call)
    batch, units = value.shape[0], weights.shape[0]
    right = "input_weights->dims->data[1]"
    call.ensure_equal("input->dims->data[1]", value.shape[1], weights.shape[1], right)
    _check_rnn_weights(call)
    call.ensure_equal("NumDimensions(hidden_state)", hidden.rank, 2)
    _check_hidden(call, hidden, batch, units)
    call.resize(call.output(), (batch, units))
    _hybrid_rnn(call, first, value, weights, hidden, batch)


def sequence_rnn(call: PrepareCall) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    first = call.reserve(6)
    value, weights, hidden = _rnn_operands(call)
    ranks = zip(("input", "input_weights", "recurrent_weights", "bias", "hidden_state"), (3, 2, 2, 1, 2), strict=True)
    for place, (name, rank) in enumerate(ranks):
        call.ensure_equal(f"NumDimensions({name})", call.input(place).rank, rank)
    batch, units = value.shape[1 if call.option("time_major") else 0], weights.shape[0]
    right = "input_weights->dims->data[1]"
    call.ensure_equal("rnn_dims.input_size", value.shape[2], weights.shape[1], right)
    _check_rnn_weights(call)
    _check_hidden(call, hidden, batch, units)
    call.resize(call.output(), (*value.shape[:2], units))
    _hybrid_rnn(call, first, value, weights, hidden, batch)


def _rnn_operands(call: PrepareCall) -> tuple[TfLiteTensor, TfLiteTensor, TfLiteTensor]:
    call.ensure_equal("node->inputs->size", call.input_count, 5)
    call.ensure_equal("node->outputs->size", call.output_count, 1)
    return call.input(0), call.input(1), call.input(4)


def _check_rnn_weights(call: PrepareCall) -> None:
    value, weights, recurrent, bias = (call.input(place) for place in range(4))
    rows = (("input", 0, weights), ("recurrent", 0, recurrent), ("recurrent", 1, recurrent))
    for name, axis, tensor in rows:
        left, right = f"{name}_weights->dims->data[{axis}]", "bias->dims->data[0]"
        call.ensure_equal(left, tensor.shape[axis], bias.shape[0], right)
    call.ensure_types("input->type", value.type, t.FLOAT32)
    call.ensure_types("input_weights->type", weights.type, recurrent.type, "recurrent_weights->type")


def _check_hidden(call: PrepareCall, hidden: TfLiteTensor, batch: int, units: int) -> None:
    call.ensure_equal("hidden_state->dims->data[0]", hidden.shape[0], batch, "batch_size")
    call.ensure_equal("hidden_state->dims->data[1]", hidden.shape[1], units, "num_units")


def _hybrid_rnn(
    call: PrepareCall, first: int, value: TfLiteTensor, weights: TfLiteTensor, hidden: TfLiteTensor, batch: int
) -> None:
    if not is_hybrid_op(value, weights):
        return
    call.take(*range(first, first + 6))
    call.temporary(first, weights.type, value.shape)
    call.temporary(first + 1, weights.type, hidden.shape)
    call.temporary(first + 2, t.FLOAT32, (batch,))
    call.temporary(first + 3, t.INT32, (weights.shape[0], batch))
    call.temporary(first + 4, t.INT32, (batch,))
    call.temporary(first + 5, t.INT32, (2, weights.shape[0]), _PERSISTENT)


def _check_directions(call: PrepareCall, forward: TfLiteTensor, backward: TfLiteTensor) -> None:
    biases = {"fw": call.input(3), "bw": call.input(7)}
    rows = (
        ("fw", "input", 0, forward),
        ("bw", "input", 0, backward),
        ("fw", "recurrent", 0, call.input(2)),
        ("bw", "recurrent", 1, call.input(6)),
    )
    for way, name, axis, tensor in rows:
        left = f"{way}_{name}_weights->dims->data[{axis}]"
        call.ensure_equal(left, tensor.shape[axis], biases[way].shape[0], f"{way}_bias->dims->data[0]")


def _check_hidden_state(call: PrepareCall, name: str, state: TfLiteTensor, shape: tuple[int, int]) -> None:
    call.ensure_equal(f"NumDimensions({name}_hidden_state)", state.rank, 2)
    call.ensure_equal(f"{name}_hidden_state->dims->data[0]", state.shape[0], shape[0], "batch_size")
    call.ensure_equal(f"{name}_hidden_state->dims->data[1]", state.shape[1], shape[1], f"{name}_num_units")


def bidirectional_rnn(call: PrepareCall) -> None:
    """BIDIRECTIONAL_SEQUENCE_RNN."""
    first = call.reserve(9)
    merges = call.option("merge_outputs")
    call.ensure_equal("node->inputs->size", call.input_count, 12)
    right = "params->merge_outputs ? 1 : 2"
    call.ensure_equal("node->outputs->size", call.output_count, 1 if merges else 2, right)
    value, forward, backward = call.input(0), call.input(1), call.input(5)
    hidden = [call.input(4), call.input(8)]
    auxiliary = call.optional_input(9) if call.optional_input(10) is not None else None
    weights = [call.optional_input(place) is None for place in (10, 11)]
    call.ensure(weights[0] == weights[1], "aux_inputs_weights_or_none")
    call.ensure_types("input->type", value.type, t.FLOAT32)
    call.ensure_equal("input->dims->size", value.rank, 3)
    for name, tensor in (("fw", forward), ("bw", backward)):
        right = f"{name}_input_weights->dims->data[1]"
        call.ensure_equal("input->dims->data[2]", value.shape[2], tensor.shape[1], right)
    _check_directions(call, forward, backward)
    batch = value.shape[bool(call.option("time_major"))]
    units = (forward.shape[0], backward.shape[0])
    for state, count, name in zip(hidden, units, ("fw", "bw"), strict=True):
        _check_hidden_state(call, name, state, (batch, count))
    if is_hybrid_op(value, forward):
        sources = [value, *hidden]
        _place_hybrid_rnn(call, first, forward.type, [source.shape for source in sources], (batch, units), auxiliary)
    call.resize(call.output(0), (*value.shape[:2], sum(units) if merges else units[0]))
    if not merges:
        call.resize(call.output(1), (*value.shape[:2], units[1]))


def _place_hybrid_rnn(
    call: PrepareCall,
    first: int,
    kind: int,
    shapes: list[tuple[int, ...]],
    sizes: tuple[int, tuple[int, int]],
    auxiliary: TfLiteTensor | None,
) -> None:
    """Take the temporaries of two layers: what is quantized to ``kind``, scales and sums; ``sizes``: batch, units."""
    batch, units = sizes
    call.take(*range(first, first + (8 if auxiliary is None else 9)))
    for place, shape in enumerate(shapes):
        call.temporary(first + place, kind, shape)
    call.temporary(first + 3, t.FLOAT32, (batch,))
    call.temporary(first + 4, t.INT32, (max(units), batch))
    call.temporary(first + 5, t.INT32, (batch,))
    rows = 2 if auxiliary is None else 3
    call.temporary(first + 6, t.INT32, (rows, units[0]), _PERSISTENT)
    call.temporary(first + 7, t.INT32, (rows, units[1]), _PERSISTENT)
    if auxiliary is not None:
        call.temporary(first + 8, kind, auxiliary.shape)


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
_WAYS = ("fw", "bw")


def bidirectional_lstm(call: PrepareCall) -> None:
    """BIDIRECTIONAL_SEQUENCE_LSTM: two scratch buffers, 17 more when it is hybrid."""
    first = call.reserve(19)
    merges = call.option("merge_outputs")
    call.ensure_equal("node->inputs->size", call.input_count, 48)
    right = "params->merge_outputs ? 1 : 2"
    call.ensure_equal("node->outputs->size", call.output_count, 1 if merges else 2, right)
    value = call.input(0)
    call.ensure_types("input->type", value.type, t.FLOAT32)
    call.ensure_equal("input->dims->size", value.rank, 3)
    batch, depth = value.shape[1 if call.option("time_major") else 0], value.shape[2]
    cells, outputs = _bidirectional_sizes(call, depth)
    _check_both(call, (depth, outputs[0], cells[0]))
    has_auxiliary = _check_auxiliary(call, value, cells)
    is_cifg = [call.optional_input(place) is None for place in _TO_INPUT]
    is_hybrid = is_hybrid_op(value, call.input(_TO_OUTPUT[0]))
    call.take(*range(first, first + (2 if not is_hybrid else 19 if has_auxiliary else 18)))
    states = []
    for way in (0, 1):
        if way:
            _check_both(call, (depth, outputs[1], cells[1]))
        pair = [
            _state(call, place, f"{_WAYS[way]}_{kind}_state")
            for kind, place in (("activation", _ACTIVATION_STATES[way]), ("cell", _CELL_STATES[way]))
        ]
        if way and not merges:
            call.resize(call.output(1), (*value.shape[:2], outputs[1]))
        for state, kind, size in zip(pair, ("activation", "cell"), (outputs[way], cells[way]), strict=True):
            _check_state_size(call, f"{_WAYS[way]}_{kind}", state, batch, size)
        states += pair
        if not way:
            call.resize(call.output(0), (*value.shape[:2], sum(outputs) if merges else outputs[0]))
        gates = (4 if is_cifg[way] else 5) * cells[way] + (0 if way else 16)
        call.temporary(first + way, value.type, (batch, gates))
    if is_hybrid:
        _hybrid_bidirectional(call, first, value, batch, (cells, outputs), states, is_cifg)


def _bidirectional_sizes(call: PrepareCall, depth: int) -> tuple[list[int], list[int]]:
    """Return the numbers of cells and of outputs of both directions."""
    to_output, recurrent = ([call.input(place) for place in row] for row in (_TO_OUTPUT, _RECURRENT_TO_OUTPUT))
    kind_name = "fw_input_to_output_weights->type"
    for way, weights in zip(_WAYS, to_output, strict=True):
        name = f"{way}_input_to_output_weights"
        call.ensure_equal(f"{name}->dims->size", weights.rank, 2)
        call.ensure_equal(f"{name}->dims->data[1]", weights.shape[1], depth, "n_input")
        if way == "bw":
            call.ensure_type_numbers(f"{name}->type", weights.type, to_output[0].type, kind_name)
    cells = [weights.shape[0] for weights in to_output]
    for way, weights, count in zip(_WAYS, recurrent, cells, strict=True):
        name = f"{way}_recurrent_to_output_weights"
        call.ensure_equal(f"{name}->dims->size", weights.rank, 2)
        call.ensure_equal(f"{name}->dims->data[0]", weights.shape[0], count, f"n_{way}_cell")
        call.ensure_type_numbers(f"{name}->type", weights.type, to_output[0].type, kind_name)
    return cells, [weights.shape[1] for weights in recurrent]


def _check_both(call: PrepareCall, sizes: tuple[int, int, int]) -> None:
    """Check the weights of both directions, each time against the sizes of one."""
    check_weights(call, sizes)
    check_weights(call, sizes, shift=BACKWARD)


def _check_state_size(call: PrepareCall, name: str, state: TfLiteTensor, batch: int, size: int) -> None:
    right = f"static_cast<int64_t>(n_batch) * n_{name.replace('activation', 'output')}"
    call.ensure_equal(f"NumElements({name}_state)", state.elements, batch * size, right)


def _check_auxiliary(call: PrepareCall, value: TfLiteTensor, cells: list[int]) -> bool:
    """Check the auxiliary input and its weights; return whether there are any."""
    weights = [[call.optional_input(place) for place in row] for row in _AUXILIARY_WEIGHTS]
    there = {tensor is not None for row in weights for tensor in row[1:]}
    call.ensure(len(there) == 1, "aux_inputs_weights_all_or_none")
    has_weights, auxiliary = True in there, call.optional_input(_AUXILIARY)
    if auxiliary is None:
        call.ensure(not has_weights, "aux_input != nullptr")
        return has_weights
    at = 0 if has_weights else 1
    call.ensure_equal("aux_input->dims->size", auxiliary.rank, 3, at=at)
    for axis in (0, 1):
        left, right = f"aux_input->dims->data[{axis}]", f"input->dims->data[{axis}]"
        call.ensure_equal(left, auxiliary.shape[axis], value.shape[axis], right, at=at)
    if not has_weights:
        call.ensure_equal("aux_input->dims->data[2]", auxiliary.shape[2], value.shape[2], "n_input")
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
                _check_auxiliary_weights(call, name, tensor, shape)


def _check_auxiliary_weights(call: PrepareCall, name: str, tensor: TfLiteTensor, shape: tuple[int, int]) -> None:
    call.ensure_equal(f"{name}->dims->size", tensor.rank, 2)
    call.ensure_equal(f"{name}->dims->data[0]", tensor.shape[0], shape[0], "expected_cell_dim")
    call.ensure_equal(f"{name}->dims->data[1]", tensor.shape[1], shape[1], "aux_input_size")


def _hybrid_bidirectional(
    call: PrepareCall,
    first: int,
    value: TfLiteTensor,
    batch: int,
    sizes: tuple[list[int], list[int]],
    states: list[TfLiteTensor],
    is_cifg: list[bool],
) -> None:
    cells, outputs = sizes
    has_auxiliary = call.optional_input(_AUXILIARY_WEIGHTS[0][1]) is not None
    kind = call.input(_TO_OUTPUT[0]).type
    forward_state, forward_cell, backward_state, backward_cell = states
    sources = (value, forward_state, backward_state, forward_cell, backward_cell)
    for place, source in enumerate(sources, 2):
        call.temporary(first + place, kind, source.shape)
    for place in (7, 8, 9, 10, 13, 14, 15):  # scaling factors and zero points
        call.temporary(first + place, t.FLOAT32, (batch,))
    call.temporary(first + 11, t.FLOAT32, (cells[0],))
    widths = [call.input(row[-1]).shape[0] for row in _AUXILIARY_WEIGHTS] if has_auxiliary else []
    call.temporary(first + 12, t.INT32, (max(*cells, *widths), batch))
    for way in (0, 1):
        gates = 3 if is_cifg[way] else 4
        rows = gates * (3 if has_auxiliary else 2)
        rows += _projection_rows(call, _PROJECTION[way], outputs[way], cells[way])
        call.temporary(first + 16 + way, t.INT32, (rows, cells[way]), _PERSISTENT)
    auxiliary = call.optional_input(_AUXILIARY)
    if has_auxiliary and auxiliary is not None:
        call.temporary(first + 18, kind, auxiliary.shape)
