"""The inputs of the full LSTM kernels, and what they check of each other.

Source: tflite/kernels/lstm_shared.h, lstm.cc, unidirectional_sequence_lstm.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.lite.kernels import types as t
from tflm_sim.lite.kernels.call import Call

_ORDER = """
    input input_to_input_weights input_to_forget_weights input_to_cell_weights input_to_output_weights
    recurrent_to_input_weights recurrent_to_forget_weights recurrent_to_cell_weights recurrent_to_output_weights
    cell_to_input_weights cell_to_forget_weights cell_to_output_weights
    input_gate_bias forget_gate_bias cell_gate_bias output_gate_bias
    projection_weights projection_bias output_state cell_state
    input_layer_norm_coefficients forget_layer_norm_coefficients cell_layer_norm_coefficients
    output_layer_norm_coefficients
"""
LSTM = {name: place for place, name in enumerate(_ORDER.split())}
"""The place of each input."""


def check_weights(call: Call, depth: int, outputs: int, cells: int, *, has_layer_norm: bool, is_integer: bool) -> None:
    """Refuse the node unless its weights fit ``depth`` inputs, ``outputs`` outputs and ``cells`` cells."""
    for gate in ("input", "forget", "cell"):
        _check_matrix(call, f"input_to_{gate}_weights", cells, depth, "n_input", is_optional=gate == "input")
    for gate in ("input", "forget", "cell"):
        _check_matrix(call, f"recurrent_to_{gate}_weights", cells, outputs, "n_output", is_optional=gate == "input")
    present = {name: call.optional_input(place) is not None for name, place in LSTM.items()}
    is_cifg = not present["input_to_input_weights"]
    same = present["input_to_input_weights"] == present["recurrent_to_input_weights"]
    call.ensure(same, "cifg_weights_all_or_none == true")
    for gate in ("input", "forget", "output"):
        _check_vector(call, f"cell_to_{gate}_weights", cells)
    peepholes = (present["cell_to_input_weights"], present["cell_to_forget_weights"], present["cell_to_output_weights"])
    is_whole = (peepholes[0] or is_cifg) and peepholes[1] and peepholes[2]
    call.ensure(is_whole or not any(peepholes), "peephole_weights_all_or_none == true")
    if is_cifg:
        call.ensure(not present["input_gate_bias"], "input_gate_bias == nullptr")
    kind = t.INT32 if is_integer else t.FLOAT32
    for gate in ("input", "forget", "cell", "output"):
        if gate == "input" and is_cifg:
            continue
        _check_vector(call, f"{gate}_gate_bias", cells, kind, is_optional=False)
    projection = call.optional_input(LSTM["projection_weights"])
    if projection is not None:
        call.ensure_equal("projection_weights->dims->size", projection.rank, 2)
        call.ensure_equal("projection_weights->dims->data[0]", projection.shape[0], outputs, "n_output")
        call.ensure_equal("projection_weights->dims->data[1]", projection.shape[1], cells, "n_cell")
    _check_vector(call, "projection_bias", outputs, kind, count_name="n_output")
    if has_layer_norm:
        kind = t.INT16 if is_integer else t.FLOAT32
        for gate in ("forget", "cell", "output") if is_cifg else ("input", "forget", "cell", "output"):
            _check_vector(call, f"{gate}_layer_norm_coefficients", cells, kind, is_optional=False)


def _check_matrix(call: Call, name: str, rows: int, columns: int, columns_name: str, *, is_optional: bool) -> None:
    place = LSTM[name]
    weights = call.optional_input(place) if is_optional else call.input(place)
    is_sequence = call.source != "lstm.cc"
    if weights is None or (is_sequence and weights.rank == 1 and name.startswith("recurrent")):  # a diagonal matrix
        return
    call.ensure_equal(f"{name}->dims->size", weights.rank, 2)
    call.ensure_equal(f"{name}->dims->data[0]", weights.shape[0], rows, "n_cell")
    call.ensure_equal(f"{name}->dims->data[1]", weights.shape[1], columns, columns_name)


def _check_vector(
    call: Call, name: str, count: int, kind: int | None = None, *, is_optional: bool = True, count_name: str = "n_cell"
) -> None:
    place = LSTM[name]
    vector = call.optional_input(place) if is_optional else call.input(place)
    if vector is None:
        return
    call.ensure_equal(f"{name}->dims->size", vector.rank, 1)
    call.ensure_equal(f"{name}->dims->data[0]", vector.shape[0], count, count_name)
    if kind is not None:
        call.ensure_types(f"{name}->type", vector.type, kind)
