"""RNN, its sequence form and the bidirectional one: hybrid layers need temporaries for what is quantized on the way.

Source: tflite/kernels/{basic_rnn,unidirectional_sequence_rnn,bidirectional_sequence_rnn}.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall
from tflm_sim.extensions.lite.kernels.dense import is_hybrid_op

_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT


def rnn(call: PrepareCall) -> None:
    first = call.reserve(6)
    value, weights, hidden = _rnn_operands(call)
    batch, units = value.shape[0], weights.shape[0]
    call.ensure_eq(value.shape[1], weights.shape[1], "input->dims->data[1]", "input_weights->dims->data[1]")
    _check_rnn_weights(call)
    call.rank(hidden, 2, "hidden_state")
    _check_hidden(call, hidden, batch, units)
    call.resize(call.output(), (batch, units))
    _hybrid_rnn(call, first, value, weights, hidden, batch)


def sequence_rnn(call: PrepareCall) -> None:
    """UNIDIRECTIONAL_SEQUENCE_RNN."""
    first = call.reserve(6)
    value, weights, hidden = _rnn_operands(call)
    ranks = zip(("input", "input_weights", "recurrent_weights", "bias", "hidden_state"), (3, 2, 2, 1, 2), strict=True)
    tensors = [call.input(place) for place in range(5)]
    for tensor, (name, rank) in zip(tensors, ranks, strict=True):
        call.ensure_eq(tensor.rank, rank, f"NumDimensions({name})")
    batch, units = value.shape[1 if call.option("time_major") else 0], weights.shape[0]
    call.ensure_eq(value.shape[2], weights.shape[1], "rnn_dims.input_size", "input_weights->dims->data[1]")
    _check_rnn_weights(call)
    _check_hidden(call, hidden, batch, units)
    call.resize(call.output(), (*value.shape[:2], units))
    _hybrid_rnn(call, first, value, weights, hidden, batch)


def _rnn_operands(call: PrepareCall) -> tuple[TfLiteTensor, TfLiteTensor, TfLiteTensor]:
    call.ensure_eq(call.input_count, 5, "node->inputs->size")
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    return call.input(0), call.input(1), call.input(4)


def _check_rnn_weights(call: PrepareCall) -> None:
    value, weights, recurrent, bias = (call.input(place) for place in range(4))
    rows = (("input", 0, weights), ("recurrent", 0, recurrent), ("recurrent", 1, recurrent))
    for name, axis, tensor in rows:
        left, right = f"{name}_weights->dims->data[{axis}]", "bias->dims->data[0]"
        call.ensure_eq(tensor.shape[axis], bias.shape[0], left, right)
    call.is_type(value, t.FLOAT32, "input")
    call.same_type(weights, recurrent, "input_weights", "recurrent_weights")


def _check_hidden(call: PrepareCall, hidden: TfLiteTensor, batch: int, units: int) -> None:
    call.ensure_eq(hidden.shape[0], batch, "hidden_state->dims->data[0]", "batch_size")
    call.ensure_eq(hidden.shape[1], units, "hidden_state->dims->data[1]", "num_units")


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
        call.ensure_eq(tensor.shape[axis], biases[way].shape[0], left, f"{way}_bias->dims->data[0]")


def bidirectional_rnn(call: PrepareCall) -> None:
    """BIDIRECTIONAL_SEQUENCE_RNN."""
    first = call.reserve(9)
    merges = call.option("merge_outputs")
    call.ensure_eq(call.input_count, 12, "node->inputs->size")
    right = "params->merge_outputs ? 1 : 2"
    call.ensure_eq(call.output_count, 1 if merges else 2, "node->outputs->size", right)
    value, forward, _, _, fw_hidden, backward, _, _, bw_hidden = [call.input(place) for place in range(9)]
    hidden = [fw_hidden, bw_hidden]
    auxiliary = call.optional_input(9) if call.optional_input(10) is not None else None
    weights = [call.optional_input(place) is None for place in (10, 11)]
    call.ensure(weights[0] == weights[1], "aux_inputs_weights_or_none")
    call.is_type(value, t.FLOAT32, "input")
    call.dims_size(3, input=value)
    for name, tensor in (("fw", forward), ("bw", backward)):
        call.ensure_eq(value.shape[2], tensor.shape[1], "input->dims->data[2]", f"{name}_input_weights->dims->data[1]")
    _check_directions(call, forward, backward)
    batch = value.shape[bool(call.option("time_major"))]
    units = (forward.shape[0], backward.shape[0])
    for state, count, name in zip(hidden, units, ("fw", "bw"), strict=True):
        call.ensure_eq(state.rank, 2, f"NumDimensions({name}_hidden_state)")
        call.ensure_eq(state.shape[0], batch, f"{name}_hidden_state->dims->data[0]", "batch_size")
        call.ensure_eq(state.shape[1], count, f"{name}_hidden_state->dims->data[1]", f"{name}_num_units")
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
