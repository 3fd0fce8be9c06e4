"""UNIDIRECTIONAL_SEQUENCE_LSTM as it was ported from TFLite in April 2022, until its redesign (0a1ccdfdd, 2023-02-02).

    Prepare   input, input-to-output, recurrent-to-output         temps
              15 optional inputs                                  temps, freed again
              output, states, input-to-input                      temps
    float32   batch x cells x 4 gates (3 where the input gate is coupled)     scratch
    hybrid    eleven buffers more, the sums of the weights' rows              scratch, persistent; until 58b44f4fa
    int8      four buffers of int16, one of int8 (and one of int32)           scratch
              a bias for each weights tensor                                  persistent

Source: tensorflow/lite/micro/kernels/unidirectional_sequence_lstm.cc @ ceac958de, 419a97eb9, 95660cae5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.options import int_option
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.reference.quantization import checked_log2
from tflm_sim.ops.requests import KernelTensor, Log, Persistent, Scratch, Steps
from tflm_sim.ops.roles import fail, size_of, temp_at

_TABLE = "UnidirectionalSequenceLSTMOptions"
_GATE_NAMES = ("input", "forget", "cell", "output")
OP_DATA = "unidirectional_sequence_lstm.UnidirectionalSequenceLstmOpData"
_INPUT_COUNTS = (20, 24)
_INPUT_TO_INPUT, _INPUT_TO_OUTPUT, _RECURRENT_TO_OUTPUT = 1, 4, 8
_PROJECTION_WEIGHTS, _PROJECTION_BIAS, _HIDDEN_STATE, _CELL_STATE = 16, 17, 18, 19
_WEIGHTS, _PEEPHOLES, _LAYER_NORMS = range(1, 9), range(9, 12), range(20, 24)
_CHECKED_TOGETHER = (1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17)
"""The inputs that ``CheckInputTensorDimensions`` takes at the same time: weights, peepholes, biases, projection."""
_BIASES = (12, 13, 14, 15)
_NEEDED = (2, 3, 6, 7, 13, 14, 15)
"""Those of them that are used without a check."""
_DIMS: dict[int, tuple[str, tuple[str, ...]]] = {
    **{1 + i: (f"input_to_{gate}_weights", ("cell", "input")) for i, gate in enumerate(("input", "forget", "cell"))},
    **{
        5 + i: (f"recurrent_to_{gate}_weights", ("cell", "output"))
        for i, gate in enumerate(("input", "forget", "cell"))
    },
    **{9 + i: (f"cell_to_{gate}_weights", ("cell",)) for i, gate in enumerate(("input", "forget", "output"))},
    **{12 + i: (f"{gate}_gate_bias", ("cell",)) for i, gate in enumerate(_GATE_NAMES)},
    16: ("projection_weights", ("output", "cell")),
    17: ("projection_bias", ("output",)),
    **{20 + i: (f"{gate}_layer_norm_coefficients", ("cell",)) for i, gate in enumerate(_GATE_NAMES)},
}
"""Upstream's name of an input, and which sizes it has."""
_GATES = ((2, 6, 13), (3, 7, 14), (4, 8, 15), (1, 5, 12))
"""Input weights, recurrent weights and bias of the forget, cell, output and input gate."""
_HIDDEN = 4
"""The intermediate that tells the quantization of what is projected."""


class _Sizes(NamedTuple):
    """Elements of a step's input, of the cell and of the output; sequences at once."""

    batch: int
    input: int
    cell: int
    output: int


def init(node: Node) -> Steps[object]:
    """``UnidirectionalSequenceLstmInit``."""
    yield Persistent(node.target.sizeof(OP_DATA), OP_DATA)
    return OP_DATA


def prepare(node: Node) -> Steps[None]:
    """``UnidirectionalSequenceLstmPrepare``."""
    k = Kernel(node, "unidirectional_sequence_lstm.cc", "UnidirectionalSequenceLstmPrepare")
    if len(node.inputs) not in _INPUT_COUNTS:
        raise fail(f"The LSTM Full kernel expects 20 or 24 inputs. Got {len(node.inputs)} inputs")
    norm = yield from k.optional_input(_LAYER_NORMS[1])
    yield from k.free(norm)
    k.ensure_eq(len(node.outputs), 1, "node->outputs->size")
    source = k.require((yield from k.optional_input(0)), "input")
    to_output = k.require((yield from k.optional_input(_INPUT_TO_OUTPUT)), "input_to_output_weights")
    recurrent = k.require((yield from k.optional_input(_RECURRENT_TO_OUTPUT)), "recurrent_to_output_weights")
    sizes = _sizes(k, source, to_output, recurrent, time_major=bool(int_option(node, _TABLE, "time_major")))
    yield from _checked_together(
        k.within("CheckInputTensorDimensions"), source.type, sizes, has_layer_norm=norm is not None
    )
    output = yield from k.optional_output(0)
    hidden = yield from k.input(_HIDDEN_STATE, "output_state")
    cell = yield from k.input(_CELL_STATE, "cell_state")
    _check_shapes(k, source, (hidden, cell), k.require(output, "output"), sizes)
    if source.type == TensorType.INT8:
        k.ensure(len(node.intermediates) == 5, "num_intermediate_tensors == 5")
    to_input = yield from k.optional_input(_INPUT_TO_INPUT)
    batches, cells = sizes.batch, sizes.cell
    if source.type == TensorType.INT8:
        yield from _integer(k, batches * cells, has_layer_norm=norm is not None)
    else:
        gates = 3 if to_input is None else 4
        yield Scratch(size_of(node, batches * cells * gates, 4), "gates")
        is_hybrid = source.type == TensorType.FLOAT32 and to_output.type in (TensorType.INT8, TensorType.UINT8)
        if is_hybrid and not k.has("lstm_without_hybrid"):
            yield from _hybrid(k, (source, hidden, cell), batches, cells, gates, sizes.output)
    yield from k.free(source, to_output, recurrent, output, hidden, cell, to_input)


def _sizes(
    k: Kernel, source: KernelTensor, to_output: KernelTensor, recurrent: KernelTensor, *, time_major: bool
) -> _Sizes:
    """Read the sizes of input and weights off the tensors that must be there."""
    k.ensure(len(source.shape) > 1, "input->dims->size > 1")
    sizes = _Sizes(k.dim(source, 1 if time_major else 0), k.dim(source, 2), k.dim(to_output, 0), k.dim(recurrent, 1))
    name = "input_to_output_weights"
    k.ensure_eq(len(to_output.shape), 2, f"{name}->dims->size")
    k.ensure_eq(to_output.shape[1], sizes.input, f"{name}->dims->data[1]", "n_input")
    _check_dims(k, recurrent, "recurrent_to_output_weights", (sizes.cell, sizes.output), ("n_cell", ""))
    return sizes


def _check_dims(k: Kernel, tensor: KernelTensor, name: str, dims: tuple[int, ...], names: tuple[str, ...]) -> None:
    """Check a tensor's rank and those dims that have a name."""
    k.ensure_eq(len(tensor.shape), len(dims), f"{name}->dims->size", str(len(dims)))
    for axis, (size, size_name) in enumerate(zip(dims, names, strict=True)):
        if size_name:
            k.ensure_eq(tensor.shape[axis], size, f"{name}->dims->data[{axis}]", size_name)


def _check_shapes(
    k: Kernel, source: KernelTensor, states: tuple[KernelTensor, KernelTensor], output: KernelTensor, sizes: _Sizes
) -> None:
    """Compare the states' sizes and, since 10b122334, the output's dims with the input's."""
    for state, name, size in zip(states, ("output", "cell"), (sizes.output, sizes.cell), strict=True):
        count = f"NumElements({name}_state)"
        k.ensure_eq(flat_size(state), sizes.batch * size, count, f"n_batch * n_{name}")
    k.ensure_eq(len(output.shape), 3, "output->dims->size")
    for axis in (0, 1):
        text = f"->dims->data[{axis}]"
        if axis < len(output.shape):
            k.ensure_eq(source.shape[axis], output.shape[axis], f"input{text}", f"output{text}")
    if len(output.shape) == len(source.shape):
        k.ensure_eq(output.shape[2], sizes.output, "output->dims->data[2]", "n_output")


def _checked_together(k: Kernel, type_: int, sizes: _Sizes, *, has_layer_norm: bool) -> Steps[None]:
    """``CheckInputTensorDimensions``: the dims of all that is there, and the types of the biases."""
    positions = [*_CHECKED_TOGETHER, *(_LAYER_NORMS if has_layer_norm else ())]
    tensors = dict(zip(positions, (yield from _inputs(k, positions)), strict=True))
    for position, tensor in tensors.items():
        name, size_names = _DIMS[position]
        if tensor is None:
            if position in _NEEDED:
                raise k.abort(f"{name} != nullptr")
            continue
        dims = tuple(getattr(sizes, size_name) for size_name in size_names)
        _check_dims(k, tensor, name, dims, tuple(f"n_{size_name}" for size_name in size_names))
        if position in _BIASES:
            k.is_type(tensor, TensorType.INT32 if type_ == TensorType.INT8 else TensorType.FLOAT32, name)
    yield from k.free(*tensors.values())


def _inputs(k: Kernel, positions: Sequence[int]) -> Steps[list[KernelTensor | None]]:
    """Take inputs of which some need not be there."""
    tensors = []
    for position in positions:
        tensors.append((yield from k.optional_input(position)))
    return tensors


def _hybrid(
    k: Kernel, tensors: tuple[KernelTensor, ...], batches: int, cells: int, gates: int, outputs: int
) -> Steps[None]:
    """Request what 8-bit weights with float32 inputs need: what is quantized, scales, sums of the weights' rows."""
    yield from k.free(*(yield from _inputs(k, (*_WEIGHTS, *_PEEPHOLES, _PROJECTION_WEIGHTS))))
    for tensor, name in zip(tensors, ("input", "output_state", "cell_state"), strict=True):
        yield Scratch(size_of(k.node, flat_size(tensor), 1), f"{name}_quantized")
    for name in ("scales", "input_scaling_factors", "output_state_scaling_factors", "product_scaling_factors"):
        yield Scratch(size_of(k.node, batches, 4), name)
    yield Scratch(size_of(k.node, cells, 4), "recovered_cell_weights")
    yield Scratch(size_of(k.node, cells * batches, 4), "accum_scratch")
    for name in ("input_zero_points", "output_state_zero_points"):
        yield Scratch(size_of(k.node, batches, 4), name)
    projection = yield from k.optional_input(_PROJECTION_WEIGHTS)
    rows = 2 * gates + (-(-outputs // cells) if projection is not None else 0)
    yield Persistent(size_of(k.node, rows * cells, 4), "row_sums")
    yield from k.free(projection)


def _integer(k: Kernel, states: int, *, has_layer_norm: bool) -> Steps[None]:
    """Request what int8 needs: a refusal of its scales is printed and nothing else."""
    try:
        yield from _quantized_params(k.within("PopulateQuantizedLstmParams8x8_16"), has_layer_norm=has_layer_norm)
    except PrepareError as error:
        if error.status == "abort":
            raise
        yield Log(error.device_message)
    for i, element in enumerate((2, 2, 2, 2, 1) if k.has("lstm_int8_five_buffers") else (2, 2, 2, 2, 1, 4)):
        yield Scratch(size_of(k.node, states, element), f"buffer{i}")
    yield from _effective_biases(k.within("PopulatePrecomputedZPTimesWeightsWithBias"), has_layer_norm=has_layer_norm)


def _quantized_params(k: Kernel, *, has_layer_norm: bool) -> Steps[None]:
    """``PopulateQuantizedLstmParams8x8_16``: temps and checks."""
    cell = yield from k.input(_CELL_STATE, "cell_state")
    output = k.require((yield from k.optional_output(0)), "output_tensor")
    for tensor, name in ((cell, "cell_state"), (output, "output_tensor")):
        k.ensure(tensor.affine is not None, f"{name}->quantization.type != kTfLiteNoQuantization")
    positions = (0, *_WEIGHTS, *_PEEPHOLES, *_LAYER_NORMS, _PROJECTION_WEIGHTS)
    tensors = yield from _inputs(k, positions)
    state = yield from k.input(_HIDDEN_STATE, "output_state")
    for i in (*(range(_HIDDEN) if has_layer_norm else ()), _HIDDEN):
        name = "hidden" if i == _HIDDEN else "intermediate"
        intermediate = k.require((yield from temp_at(k.node.operator.intermediates, i)), name)
        k.ensure(intermediate.affine is not None, f"{name}->quantization.type != kTfLiteNoQuantization")
        yield from k.free(intermediate)
    k.ensure(checked_log2(cell.scale) is not None, "CheckedLog2(cell_state->params.scale, &cell_scale)")
    yield from k.free(cell, output, *tensors, state)


def _effective_biases(k: Kernel, *, has_layer_norm: bool) -> Steps[None]:
    """``PopulatePrecomputedZPTimesWeightsWithBias``: a row of int32 for each weights tensor that is there."""
    source = k.require((yield from k.optional_input(0)), "input")
    state = yield from k.input(_HIDDEN_STATE, "output_state")
    positions = (*_WEIGHTS, _PROJECTION_WEIGHTS, _PROJECTION_BIAS)
    tensors = dict(zip(positions, (yield from _inputs(k, positions)), strict=True))
    hidden = k.require((yield from temp_at(k.node.operator.intermediates, _HIDDEN)), "intermediate")
    k.ensure(hidden.affine is not None, "intermediate->quantization.type != kTfLiteNoQuantization")
    biases = []
    for input_weights, recurrent_weights, position in _GATES:
        bias = None if has_layer_norm else (yield from k.optional_input(position))
        biases.append(bias)
        yield from _effective_bias(k, tensors[input_weights], bias, source.zero_point)
        yield from _effective_bias(k, tensors[recurrent_weights], None, state.zero_point)
    yield from _effective_bias(k, tensors[_PROJECTION_WEIGHTS], tensors[_PROJECTION_BIAS], hidden.zero_point)
    yield from k.free(source, state, *tensors.values(), *biases, hidden)


def _effective_bias(k: Kernel, weights: KernelTensor | None, bias: KernelTensor | None, zero_point: int) -> Steps[None]:
    """``PrecomputeZeroPointTimesWeightWithBias``, which reads the bias, and the weights unless the zero point is 0."""
    if weights is None:
        return
    k = k.within("PrecomputeZeroPointTimesWeightWithBias")
    k.ensure_eq(len(weights.shape), 2, "weight_shape.DimensionsCount()")
    yield Persistent(size_of(k.node, weights.shape[0], 4), "effective_bias")
    k.check(bias is None or bias.is_constant, "bias != nullptr")
    k.check(zero_point == 0 or weights.is_constant, "weight != nullptr")
