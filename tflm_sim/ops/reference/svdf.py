"""SVDF: a rank-limited recurrent layer whose state is a variable tensor.

Inputs: input [batch, input_size], weights_feature [filters, input_size], weights_time [filters, memory], bias [units],
activation_state [batch, memory * filters]. Output: [batch, units]; filters = units * rank. The bias is optional in name
only: without one the device halts (since 2022 also in float32).

Source: tensorflow/lite/micro/kernels/svdf_common.cc @ 90b983c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import CMSIS_NN, NOT_SUPPORTED, EvalRow, Switch, known_types
from tflm_sim.ops.eval_values import ValueRow
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import op_data, size_of
from tflm_sim.units import float32, int32

_FLOAT32, _INT8, _INT16, _INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32


class _SvdfTensors(NamedTuple):
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


def svdf_prepare(
    k: Kernel,
    kernel_sums: Callable[[Kernel, KernelTensor], Steps[None]] | None = None,
    *,
    int8_state: str = "svdf_state_zero_point",
) -> Steps[None]:
    """Run ``PrepareSvdf`` of a kernel library.

    Args:
        k: The operator in the library's file.
        kernel_sums: What the int8 kernel of another library asks for at the end, given weights_feature.
        int8_state: The change since which weights_time and the state may be int8.
    """
    source = yield from k.input(0)
    weights_feature = yield from k.input(1, "weights_feature")
    weights_time = yield from k.input(2, "weights_time")
    bias = yield from k.optional_input(3)
    state = yield from k.input(4, "activation_state")
    tensors = _SvdfTensors(source, weights_feature, weights_time, bias, state)
    sizes = _sizes(k, tensors)
    k.one_of(source.type, (_FLOAT32, _INT8), "input->type")
    k.rank(source, 2, "input")
    k.ensure_eq(len(k.node.outputs), 1, "node->outputs->size")
    output = yield from k.output(0)
    _check_shapes(k, tensors, output, sizes)
    k.ensure_eq(int(state.is_variable), 1, "activation_state->is_variable", "true")
    k.ensure_eq(len(k.node.inputs), 5, "node->inputs->size")
    k.op_data()
    if source.type == _INT8:
        _check_int8(k, tensors, output, int8_state)
    else:
        _check_float(k, tensors, output)
    yield Scratch(size_of(k.node, sizes.batch * sizes.filters, 4), "scratch")
    if source.type == _INT8:
        yield Scratch(size_of(k.node, sizes.batch * sizes.units, 4), "scratch_output")
        if kernel_sums is not None:
            yield from kernel_sums(k, weights_feature)
    yield from k.free(source, weights_feature, weights_time, state, output)
    yield from k.free(k.require(bias, "bias") if k.has("temps_are_freed") else bias)


def _sizes(k: Kernel, tensors: _SvdfTensors) -> _Sizes:
    """Read the sizes, before any rank is checked."""
    rank = int_option(k.node, "SVDFOptions", "rank")
    input_size = k.dim(tensors.input, 1)
    filters = k.dim(tensors.weights_feature, 0)
    units = k.divide(filters, rank)
    k.ensure_eq(filters - units * rank, 0, "num_filters % rank")
    return _Sizes(tensors.input.shape[0], input_size, filters, units, k.dim(tensors.weights_time, 1))


def _check_shapes(k: Kernel, tensors: _SvdfTensors, output: KernelTensor, sizes: _Sizes) -> None:
    k.rank(output, 2, "output")
    _ensure_dims(k, output, "output", batch_size=sizes.batch, num_units=sizes.units)
    k.rank(tensors.weights_feature, 2, "weights_feature")
    width = k.dim(tensors.weights_feature, 1)
    k.ensure_eq(width, sizes.input, "weights_feature->dims->data[1]", "input_size")
    k.rank(tensors.weights_time, 2, "weights_time")
    _ensure_dims(k, tensors.weights_time, "weights_time", num_filters=sizes.filters)
    if tensors.bias is not None:
        _ensure_dims(k, tensors.bias, "bias", num_units=sizes.units)
    state = tensors.activation_state
    k.rank(state, 2, "activation_state")
    _ensure_dims(k, state, "activation_state", batch_size=sizes.batch)
    size = int32(sizes.memory * sizes.filters)
    k.ensure_eq(k.dim(state, 1), size, "activation_state->dims->data[1]", "memory_size * num_filters")


def _ensure_dims(k: Kernel, tensor: KernelTensor, name: str, **sizes: int) -> None:
    """Compare the first dimensions with sizes, under upstream's names."""
    for axis, (size_name, size) in enumerate(sizes.items()):
        k.ensure_eq(k.dim(tensor, axis), size, f"{name}->dims->data[{axis}]", size_name)


def _check_int8(k: Kernel, tensors: _SvdfTensors, output: KernelTensor, int8_state: str) -> None:
    state = tensors.activation_state
    k.is_c_type(tensors.weights_feature, _INT8, "weights_feature")
    for tensor, name in ((tensors.weights_time, "weights_time"), (state, "activation_state")):
        if not k.has(int8_state):
            k.is_c_type(tensor, _INT16, name)
            continue
        text = f"({name}->type == kTfLiteInt16) || ({name}->type == kTfLiteInt8)"
        k.ensure(tensor.type in (_INT16, _INT8), text)
    if tensors.bias is not None:
        k.is_c_type(tensors.bias, _INT32, "bias")
    k.is_type(output, _INT8, "output")
    bias = k.require(tensors.bias, "bias")
    _check_bias_scale(k, bias.scale, state.scale * tensors.weights_time.scale)


def _check_bias_scale(k: Kernel, bias_scale: float, product: float) -> None:
    # Where CMSIS-NN's file has the text since, is not known: it is in no pip wheel.
    as_double = k.has("scales_as_double") or (k.has("svdf_scales_as_double") and k.file == "svdf_common.cc")
    near = math.fabs(bias_scale - (product if as_double else float32(product))) < 1e-5
    text = (
        "(static_cast<double>(activation_state->params.scale) * static_cast<double>(weights_time->params.scale))"
        if as_double
        else "static_cast<double>(activation_state->params.scale * weights_time->params.scale)"
    )
    k.ensure(near, f"std::abs(static_cast<double>(bias->params.scale) - {text}) < 1e-5")


def _check_float(k: Kernel, tensors: _SvdfTensors, output: KernelTensor) -> None:
    for name in ("weights_feature", "weights_time", "activation_state", "bias"):
        tensor = getattr(tensors, name)
        if tensor is not None:
            k.is_c_type(tensor, _FLOAT32, name)
    k.is_type(output, _FLOAT32, "output")


def _svdf_sums(node: Node) -> Iterator[tuple[str, str]]:
    """CMSIS-NN's kernel built for size wants the sums' scratch, which Prepare asks for with MVE only."""
    library, runtime, state = node.target.kernel_library, node.target.runtime, node.input(2)
    if (library.name, runtime.optimize_kernels_for) != ("cmsis_nn", "size") or not runtime.has("cmsis_for_size"):
        return
    if library.variant != "mve" and state is not None and state.type == TensorType.INT8:
        missing = "data.scratch_weight_tensor_index != -1 was not true."
        yield f"KERNELS_OPTIMIZED_FOR_SIZE without MVE: {missing}", missing


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "SVDF", "TfLiteSVDFParams", op_data("OpDataSvdf"), lambda node: svdf_prepare(Kernel(node, "svdf_common.cc"))
    ),
)

EVALS: tuple[EvalRow, ...] = (
    EvalRow(
        "SVDF",
        (Switch("i1", "FLOAT32 INT8", NOT_SUPPORTED), Switch("i2", "INT16 INT8", NOT_SUPPORTED, when="i1 INT8")),
        269,
    ),
    EvalRow("SVDF", (Switch("i2", "FLOAT32 INT8 INT16", NOT_SUPPORTED, named="i1"),), 650, CMSIS_NN),
    known_types("SVDF", "i1", "FLOAT32 INT8", NOT_SUPPORTED, 0, CMSIS_NN),
)

VALUES: tuple[ValueRow, ...] = (ValueRow("SVDF", refused=_svdf_sums),)
