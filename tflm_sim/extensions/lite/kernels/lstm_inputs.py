"""The inputs of the LSTM kernels, and what they check of each other.

Source: tflite/kernels/lstm_shared.h, lstm.cc, unidirectional_sequence_lstm.cc, bidirectional_sequence_lstm.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, checked_log2
from tflm_sim.model.types import TensorType

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

_INTERMEDIATES = 5

BACKWARD = 17
"""How much further the weights of the backward direction stand in the two-way kernel."""


@dataclass(frozen=True, slots=True)
class _CheckStyle:
    """How one kernel file checks: in which order it reads the input's weights, and the words of two conditions."""

    input_gates: tuple[str, ...]
    peephole_type: str
    projection: str
    compares_types: bool = True
    takes_diagonals: bool = False


_CHECK_STYLES = {
    "lstm.cc": _CheckStyle(
        ("forget", "input", "cell"),
        "is_integer ? kTfLiteInt16 : input_to_forget_weights->type",
        "projection_tensors_consistent == true",
    ),
    "unidirectional_sequence_lstm.cc": _CheckStyle(
        ("input", "forget", "cell"),
        "is_integer ? kTfLiteInt16 : input_to_forget_weights->type",
        "projecton_tensors_consistent == true",
        compares_types=False,
        takes_diagonals=True,
    ),
    "bidirectional_sequence_lstm.cc": _CheckStyle(
        ("forget", "input", "cell", "output"), "input_to_forget_weights->type", "projecton_tensors_consistent == true"
    ),
}
_WEIGHTS = {"lstm.cc": ("Float32", "UInt8", "Int8"), "bidirectional_sequence_lstm.cc": ("Float32", "Int8", "UInt8")}


class _Checks:
    """The checks of one direction of one node."""

    def __init__(self, call: PrepareCall, shift: int, sizes: tuple[int, int, int], *, is_integer: bool) -> None:
        self.call = call
        self.shift = shift
        self.depth, self.outputs, self.cells = sizes
        self.is_integer = is_integer
        self.style = _CHECK_STYLES[call.source]

    def optional(self, name: str) -> TfLiteTensor | None:
        return self.call.optional_input(LSTM[name] + self.shift)

    def required(self, name: str) -> TfLiteTensor:
        return self.call.input(LSTM[name] + self.shift)

    def _diagonal(self, name: str, weights: TfLiteTensor, columns: int, columns_name: str) -> None:
        if weights.rank != 1:
            self.call.ensure_eq(weights.rank, 2, f"{name}->dims->size")
            self.call.ensure_eq(weights.shape[1], columns, f"{name}->dims->data[1]", columns_name)
            self._same_type(name, weights, "input_to_forget_weights->type")
        if name == "recurrent_to_input_weights":
            self.call.ensure_eq(weights.shape[0], self.cells, f"{name}->dims->data[0]", "n_cell")

    def matrix(self, name: str, weights: TfLiteTensor, columns: int, columns_name: str) -> None:
        """Check a matrix; where the kernel takes diagonal ones, a vector is one of those."""
        if self.style.takes_diagonals and name.startswith("recurrent"):
            self._diagonal(name, weights, columns, columns_name)
            return
        self.call.ensure_eq(weights.rank, 2, f"{name}->dims->size")
        rows, rows_name = (self.outputs, "n_output") if name == "projection_weights" else (self.cells, "n_cell")
        self.call.ensure_eq(weights.shape[0], rows, f"{name}->dims->data[0]", rows_name)
        self.call.ensure_eq(weights.shape[1], columns, f"{name}->dims->data[1]", columns_name)
        if name == "input_to_forget_weights" and self.call.source in _WEIGHTS:
            kinds = _WEIGHTS[self.call.source]
            text = " || ".join(f"({name}->type == kTfLite{kind})" for kind in kinds)
            self.call.ensure(weights.type in {TensorType[kind.upper()] for kind in kinds}, text)
        elif self.style.compares_types:
            self._same_type(name, weights, "input_to_forget_weights->type")

    def _same_type(self, name: str, weights: TfLiteTensor, text: str, kind: int | None = None) -> None:
        other = self.required("input_to_forget_weights").type if kind is None else kind
        is_number = (self.call.source, name) == ("bidirectional_sequence_lstm.cc", "cell_gate_bias")
        compare = self.call.ensure_c_types_eq if is_number else self.call.ensure_types_eq
        compare(weights.type, TensorType(other), f"{name}->type", text)

    def vector(self, name: str, vector: TfLiteTensor, kind: int | None, text: str = "") -> None:
        count, count_name = (self.outputs, "n_output") if name == "projection_bias" else (self.cells, "n_cell")
        self.call.ensure_eq(vector.rank, 1, f"{name}->dims->size")
        self.call.ensure_eq(vector.shape[0], count, f"{name}->dims->data[0]", count_name)
        self._same_type(name, vector, text, kind)

    def matrices(self) -> None:
        """Check the weights of the input and of the state."""
        for gate in self.style.input_gates:
            name = f"input_to_{gate}_weights"
            weights = self.optional(name) if gate == "input" else self.required(name)
            if weights is not None:
                self.matrix(name, weights, self.depth, "n_input")
        for gate in ("input", "forget", "cell"):
            name = f"recurrent_to_{gate}_weights"
            weights = self.optional(name) if gate == "input" else self.required(name)
            if weights is not None:
                self.matrix(name, weights, self.outputs, "n_output")
        pair = [self.optional(f"{kind}_to_input_weights") is None for kind in ("input", "recurrent")]
        self.call.ensure(pair[0] == pair[1], "cifg_weights_all_or_none == true")

    def peepholes(self, *, is_cifg: bool) -> None:
        there = []
        for gate in ("input", "forget", "output"):
            name = f"cell_to_{gate}_weights"
            weights = self.optional(name)
            there.append(weights is not None)
            if weights is not None:
                self.vector(name, weights, t.INT16 if self.is_integer else None, self.style.peephole_type)
        is_whole = (there[0] or is_cifg) and there[1] and there[2]
        self.call.ensure(is_whole or not any(there), "peephole_weights_all_or_none == true")

    def biases(self, *, is_cifg: bool) -> None:
        kind = t.INT32 if self.is_integer else t.FLOAT32
        if is_cifg:
            self.call.ensure(self.optional("input_gate_bias") is None, "input_gate_bias == nullptr")
        elif self.optional("input_gate_bias") is None:
            raise self.call.abort("the kernel uses an input that is absent")
        for gate in ("forget", "cell", "output") if is_cifg else ("input", "forget", "cell", "output"):
            self.vector(f"{gate}_gate_bias", self.required(f"{gate}_gate_bias"), kind)
        weights, bias = self.optional("projection_weights"), self.optional("projection_bias")
        if weights is not None:
            self.matrix("projection_weights", weights, self.cells, "n_cell")
        if bias is not None:
            self.vector("projection_bias", bias, kind)
        self.call.ensure(weights is not None or bias is None, self.style.projection)

    def layer_norms(self, *, is_cifg: bool) -> None:
        kind = t.INT16 if self.is_integer else t.FLOAT32
        for gate in ("input", "forget", "cell", "output"):
            name = f"{gate}_layer_norm_coefficients"
            vector = self.optional(name)
            if gate == "input" and is_cifg:
                self.call.ensure(vector is None, f"{name} == nullptr")
                continue
            if gate == "input" or not self.style.takes_diagonals:
                self.call.ensure(vector is not None, f"{name} != nullptr")
            self.vector(name, self.required(name), kind)


def check_weights(
    call: PrepareCall,
    sizes: tuple[int, int, int],
    *,
    shift: int = 0,
    has_layer_norm: bool = False,
    is_integer: bool = False,
) -> None:
    """Refuse the node unless its weights fit ``sizes``: of the input, of the output, and the number of cells.

    Args:
        call: The node.
        sizes: See above.
        shift: 0, or ``BACKWARD`` for the second direction.
        has_layer_norm: Whether the gates are normalized.
        is_integer: Whether the input is quantized.
    """
    for clip in ("cell_clip", "proj_clip"):
        call.ensure(call.option(clip, 0.0) >= 0, f"params->{clip} >= 0")
    checks = _Checks(call, shift, sizes, is_integer=is_integer)
    is_cifg = checks.optional("input_to_input_weights") is None
    checks.matrices()
    checks.peepholes(is_cifg=is_cifg)
    checks.biases(is_cifg=is_cifg)
    if has_layer_norm:
        checks.layer_norms(is_cifg=is_cifg)


def tell_quantization(call: PrepareCall, cell_state: TfLiteTensor, *, has_layer_norm: bool) -> None:
    """Report what an 8-bit kernel finds wrong with its parameters; it goes on all the same."""
    try:
        if len(call.node.intermediates) == _INTERMEDIATES:
            _check_quantization(call, cell_state, has_layer_norm=has_layer_norm)
        else:
            call.ensure_double_eq(cell_state.scale, 1 / 32768, "cell_state_params->scale->data[0]", "1.0 / 32768")
    except PrepareError as failure:
        call.subgraph.reports.append(failure.device_message)


def _check_quantization(call: PrepareCall, cell_state: TfLiteTensor, *, has_layer_norm: bool) -> None:
    if call.source == "unidirectional_sequence_lstm.cc":
        gates = range(4) if has_layer_norm else ()
        intermediates = [call.subgraph.tensors[index] for index in call.node.intermediates]
        rows = [("cell_state", cell_state), ("output_tensor", call.output())]
        rows += [("intermediate", intermediates[place]) for place in gates] + [("hidden", intermediates[4])]
        for name, tensor in rows:
            call.ensure(tensor.quantization is not None, f"{name}->quantization.type != kTfLiteNoQuantization")
    exponent = checked_log2(cell_state.scale)
    call.ensure(exponent is not None, "CheckedLog2(cell_state->params.scale, &cell_scale)")
    if call.source == "lstm.cc":
        call.ensure(exponent is not None and exponent <= -9, "cell_scale <= -9")
