"""SVDF: a rank-limited recurrent layer whose state is a variable tensor.

Inputs: input [batch, input_size], weights_feature [filters, input_size], weights_time [filters, memory], bias [units],
activation_state [batch, memory * filters]. Output: [batch, units]; filters = units * rank. The bias is optional in name
only: without one the device halts.

Source: tensorflow/lite/micro/kernels/svdf_common.cc @ 90b983c.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import c_div
from tflm_sim.ops.reference.node_checks import int_option, require, require_op_data
from tflm_sim.ops.reference.quantization import float32
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import (
    dim,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_types_eq,
    free,
    input_tensor,
    op_data,
    optional_input,
    output_tensor,
    size_of,
)
from tflm_sim.units import int32

_FLOAT32, _INT8, _INT16, _INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32


class _Tensors(NamedTuple):
    """The inputs under upstream's names."""

    input: KernelTensor
    weights_feature: KernelTensor
    weights_time: KernelTensor
    bias: KernelTensor | None
    activation_state: KernelTensor


class _Sizes(NamedTuple):
    """The dimensions that the tensors have to agree on."""

    batch: int
    input: int
    filters: int
    units: int
    memory: int


Place = Callable[[int], str]
"""Where a kernel library's copy of this kernel has a line of ``svdf_common.cc``."""


def _place(line: int) -> str:
    return f"svdf_common.cc:{line}"


def _prepare(node: Node) -> Steps[None]:
    yield from svdf_prepare(node, _place)


def svdf_prepare(
    node: Node, place: Place, kernel_sums: Callable[[Node, KernelTensor], Steps[None]] | None = None
) -> Steps[None]:
    """Run ``PrepareSvdf``.

    Args:
        node: The operator.
        place: Where the lines are.
        kernel_sums: What the int8 kernel of another library asks for at the end, given weights_feature.
    """
    source = yield from input_tensor(node, 0, place(379))
    weights_feature = yield from input_tensor(node, 1, place(382), "weights_feature")
    weights_time = yield from input_tensor(node, 2, place(385), "weights_time")
    bias = yield from optional_input(node, 3)
    state = yield from input_tensor(node, 4, place(390), "activation_state")
    tensors = _Tensors(source, weights_feature, weights_time, bias, state)
    sizes = _sizes(node, tensors, place)
    _ensure_type(source, (_FLOAT32, _INT8), place(402), "input->type == kTfLiteFloat32 || input->type == kTfLiteInt8")
    _ensure_rank(source, place(404), "input")
    ensure_eq(len(node.outputs), 1, place(408), "node->outputs->size", "1")
    output = yield from output_tensor(node, 0, place(411))
    _check_shapes(tensors, output, sizes, place)
    ensure_eq(int(state.eval.tensor.is_variable), 1, place(436), "activation_state->is_variable", "true")
    ensure_eq(len(node.inputs), 5, place(438), "node->inputs->size", "5")
    require_op_data(node, place(440))
    if source.type == _INT8:
        _check_int8(tensors, output, place)
    else:
        _check_float(tensors, output, place)
    yield Scratch(size_of(node, sizes.batch * sizes.filters, 4), "scratch")
    if source.type == _INT8:
        yield Scratch(size_of(node, sizes.batch * sizes.units, 4), "scratch_output")
        if kernel_sums is not None:
            yield from kernel_sums(node, weights_feature)
    yield from free(source, weights_feature, weights_time, state, output)
    yield from free(require(bias, place(513), "bias"))


def _sizes(node: Node, tensors: _Tensors, place: Place) -> _Sizes:
    """Read the sizes, before any rank is checked."""
    rank = int_option(node, "SVDFOptions", "rank")
    input_size = dim(tensors.input, 1, place(394))
    filters = dim(tensors.weights_feature, 0, place(396))
    units = c_div(filters, rank, place(397))
    ensure_eq(filters - units * rank, 0, place(397), "num_filters % rank", "0")
    memory = dim(tensors.weights_time, 1, place(399))
    return _Sizes(tensors.input.shape[0], input_size, filters, units, memory)


def _check_shapes(tensors: _Tensors, output: KernelTensor, sizes: _Sizes, place: Place) -> None:
    _ensure_rank(output, place(412), "output")
    _ensure_dim(output, 0, sizes.batch, place=place(413), names=("output", "batch_size"))
    _ensure_dim(output, 1, sizes.units, place=place(414), names=("output", "num_units"))
    _ensure_rank(tensors.weights_feature, place(417), "weights_feature")
    _ensure_dim(tensors.weights_feature, 1, sizes.input, place=place(418), names=("weights_feature", "input_size"))
    _ensure_rank(tensors.weights_time, place(421), "weights_time")
    _ensure_dim(tensors.weights_time, 0, sizes.filters, place=place(422), names=("weights_time", "num_filters"))
    if tensors.bias is not None:
        _ensure_dim(tensors.bias, 0, sizes.units, place=place(427), names=("bias", "num_units"))
    state = tensors.activation_state
    _ensure_rank(state, place(431), "activation_state")
    _ensure_dim(state, 0, sizes.batch, place=place(432), names=("activation_state", "batch_size"))
    state_size = int32(sizes.memory * sizes.filters)
    _ensure_dim(state, 1, state_size, place=place(433), names=("activation_state", "memory_size * num_filters"))


def _check_int8(tensors: _Tensors, output: KernelTensor, place: Place) -> None:
    state = tensors.activation_state
    ensure_c_types_eq(tensors.weights_feature.type, _INT8, place(444), "weights_feature->type", "kTfLiteInt8")
    for tensor, line, name in ((tensors.weights_time, 445, "weights_time"), (state, 447, "activation_state")):
        text = f"({name}->type == kTfLiteInt16) || ({name}->type == kTfLiteInt8)"
        _ensure_type(tensor, (_INT16, _INT8), place(line), text)
    if tensors.bias is not None:
        ensure_c_types_eq(tensors.bias.type, _INT32, place(450), "bias->type", "kTfLiteInt32")
    ensure_types_eq(output.type, _INT8, place(453), "output->type", "kTfLiteInt8")
    bias = require(tensors.bias, place(466), "bias")
    product = float32(state.scale * tensors.weights_time.scale)
    ensure(
        math.fabs(bias.scale - product) < 1e-5,
        place(464),
        "std::abs(static_cast<double>(bias->params.scale) - static_cast<double>(activation_state->params.scale * "
        "weights_time->params.scale)) < 1e-5",
    )


def _check_float(tensors: _Tensors, output: KernelTensor, place: Place) -> None:
    named = (
        (tensors.weights_feature, 492, "weights_feature"),
        (tensors.weights_time, 493, "weights_time"),
        (tensors.activation_state, 494, "activation_state"),
        (tensors.bias, 496, "bias"),
    )
    for tensor, line, name in named:
        if tensor is not None:
            ensure_c_types_eq(tensor.type, _FLOAT32, place(line), f"{name}->type", "kTfLiteFloat32")
    ensure_types_eq(output.type, _FLOAT32, place(498), "output->type", "kTfLiteFloat32")


def _ensure_type(tensor: KernelTensor, types: tuple[int, ...], place: str, text: str) -> None:
    ensure(tensor.type in types, place, text)


def _ensure_rank(tensor: KernelTensor, place: str, name: str) -> None:
    ensure_eq(len(tensor.shape), 2, place, f"NumDimensions({name})", "2")


def _ensure_dim(tensor: KernelTensor, axis: int, expected: int, *, place: str, names: tuple[str, str]) -> None:
    ensure_eq(dim(tensor, axis, place), expected, place, f"{names[0]}->dims->data[{axis}]", names[1])


MODELS: tuple[OpModel, ...] = (OpModel("SVDF", "TfLiteSVDFParams", op_data("OpDataSvdf"), _prepare, "svdf_common.cc"),)
