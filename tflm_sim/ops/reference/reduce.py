"""MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL; ARG_MAX and ARG_MIN, which prepare nothing.

    MEAN, SUM                              REDUCE_MAX, REDUCE_MIN
    input, output, axis                    PrepareSimple: input, axis [output], freed again
    [accumulator] iterator, resolved axis  input, output, axis
    PrepareSimple                          iterator, resolved axis

REDUCE_ALL takes the three tensors first, as MEAN does, and its scratch last, as REDUCE_MAX does.

Source: tensorflow/lite/micro/kernels/{reduce,reduce_common,arg_min_max}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, Switch, known_types
from tflm_sim.ops.eval_values import ValueRow, axes_outside, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import convertible_types
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import size_of

_FILE = "reduce_common.cc"
_INT_SIZE = 4
_QUANTIZED = (TensorType.INT8, TensorType.INT16, TensorType.UINT8)
_QUANTIZED_SINCE: dict[int, str] = {TensorType.INT16: "reduce_int16", TensorType.UINT8: "uint8_kernels"}


class _ReduceTensors(NamedTuple):
    """The three tensors in the order of allocation; upstream uses each without a check for a null pointer."""

    input: KernelTensor | None
    output: KernelTensor | None
    axis: KernelTensor | None


def _take(k: Kernel, *, with_axis: bool = True) -> Steps[_ReduceTensors]:
    source = yield from k.optional_input(0)
    output = yield from k.optional_output(0)
    return _ReduceTensors(source, output, (yield from k.optional_input(1)) if with_axis else None)


def init_reduce(node: Node) -> Steps[object]:
    """``InitReduce`` clears what it got, so that it does not survive a full arena."""
    yield Persistent(node.target.sizeof("OpDataReduce"), "OpDataReduce")
    return "OpDataReduce"


def _prepare_simple(k: Kernel) -> Steps[None]:
    """``PrepareSimple``: checks counts and the axis; int8 reads the output's scale."""
    source = yield from k.optional_input(0)
    k.ensure_eq(len(k.node.inputs), 2, "node->inputs->size")
    k.ensure_eq(len(k.node.outputs), 1, "node->outputs->size")
    axis = yield from k.input(1, "axis")
    k.is_type(axis, TensorType.INT32, "axis")
    if k.require(source, "input").type == TensorType.INT8:
        output = yield from k.optional_output(0)
        yield from k.free(k.require(output, "output"))
    yield from k.free(axis, source)


def _scratch(k: Kernel, tensors: _ReduceTensors) -> Steps[None]:
    """Request the iterator (an int per input dimension) and the resolved axis (an int per axis)."""
    source, axis = k.require(tensors.input, "input"), k.require(tensors.axis, "axis")
    yield Scratch(_INT_SIZE * len(source.shape), "input_iter")
    yield Scratch(size_of(k.node, axis.flat_size, _INT_SIZE), "resolved_axis")
    if _keeps_dims(k):
        yield Scratch(size_of(k.node, source.flat_size, _INT_SIZE), "normalized_dims")


def _keeps_dims(k: Kernel) -> bool:
    """Return whether the kernels are those of the two days in June 2022 on which they kept all they need in scratch."""
    return k.has("reduce_scratch_dims") and not k.has("reduce_scratch_dims_undone")


def _dims_scratch(k: Kernel, source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> Steps[None]:
    """Request what MEAN and SUM had then: an int for each element of the output, of the axis, and of the input."""
    for tensor, name in ((output, "temp_index"), (output, "temp_buffer"), (axis, "axis"), (source, "normalized_dims")):
        yield Scratch(size_of(k.node, tensor.flat_size, _INT_SIZE), name)


def prepare_min_max(node: Node) -> Steps[None]:
    """``PrepareMinMaxHelper``."""
    k = Kernel(node, _FILE)
    yield from _prepare_simple(k)
    tensors = yield from _take(k)
    k.require(tensors.input, "input")
    k.require(tensors.output, "output")
    yield from _scratch(k, tensors)
    yield from k.free(*tensors)


def _prepare_mean_or_sum(node: Node) -> Steps[None]:
    k = Kernel(node, _FILE)
    has_axis = k.has("reduce_num_axis") or _keeps_dims(k)
    tensors = yield from _take(k, with_axis=has_axis)
    source = k.require(tensors.input, "input")
    if has_axis:
        k.require(tensors.axis, "axis")
    output = k.require(tensors.output, "output")
    if k.knows(source.type, _QUANTIZED, _QUANTIZED_SINCE):
        yield Scratch(size_of(node, output.flat_size, _INT_SIZE), "accumulator")
    if _keeps_dims(k):
        yield from _dims_scratch(k, source, k.require(tensors.axis, "axis"), output)
    if k.has("reduce_iterates"):
        yield from _scratch(k, tensors)
    yield from _prepare_simple(k)
    yield from k.free(*tensors)


def _prepare_all(node: Node) -> Steps[None]:
    k = Kernel(node, _FILE)
    tensors = yield from _take(k)
    k.is_type(k.require(tensors.input, "input"), TensorType.BOOL, "input")
    yield from _prepare_simple(k)
    k.require(tensors.output, "output")
    yield from _scratch(k, tensors)
    yield from k.free(*tensors)


def _reduced_axes(node: Node) -> Iterator[tuple[str, str]]:
    image, axes = node.input(0), constant_integers(node.input(1))
    if image is not None and axes is not None:
        yield from ((text, "") for text in axes_outside(axes, len(image.shape)))


def _extreme(node: Node) -> Iterator[tuple[str, str]]:
    yield from _reduced_axes(node)
    ends = node.input(0), node.output(0)
    scales = [end.affine.scale[0] if end and end.affine else 0.0 for end in ends]
    if all(end is not None and end.type == TensorType.INT8 for end in ends) and scales[0] != scales[1]:
        names = (f"static_cast<double>(op_data->{end}_scale)" for end in ("input", "output"))
        yield f"scale {scales[0]:g} in and {scales[1]:g} out", f"{' != '.join(names)} (? != ?)"


MODELS: tuple[OpModel, ...] = (
    OpModel("MEAN", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum),
    OpModel("SUM", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum),
    OpModel("REDUCE_MAX", "TfLiteReducerParams", init_reduce, prepare_min_max),
    OpModel("REDUCE_MIN", "TfLiteReducerParams", init_reduce, prepare_min_max),
    OpModel("REDUCE_ALL", "TfLiteReducerParams", init_reduce, _prepare_all),
    OpModel(
        "ARG_MAX",
        "TfLiteArgMaxParams",
        source="arg_min_max.cc",
        parse=convertible_types("ArgMaxOptions", "output_type"),
    ),
    OpModel(
        "ARG_MIN",
        "TfLiteArgMinParams",
        source="arg_min_max.cc",
        parse=convertible_types("ArgMinOptions", "output_type"),
    ),
)

_ARG_NAMED = "Only int32_t are supported currently, got {name}."

EVALS: tuple[EvalRow, ...] = (
    EvalRow(
        "ARG_MAX ARG_MIN",
        (
            Switch("i1", "INT32", _ARG_NAMED),
            Switch("o0", "INT32", _ARG_NAMED),
            Switch("i0", "FLOAT32 INT8", "Only float32, uint8_t and int8_t are supported currently, got {name}."),
        ),
    ),
    known_types(
        "MEAN",
        "i0",
        "FLOAT32 INT8 INT16",
        "tensorflow/lite/micro/kernels/reduce_common.cc Currently, only float32, int8 or int16 input type is "
        "supported.",
        687,
    ),
    known_types("SUM", "i0", "FLOAT32 INT8 INT16", "Only float32, int8, and int16 types are supported."),
    known_types("REDUCE_MAX REDUCE_MIN", "i0", "FLOAT32 INT8", "Only float32 and int8 types are supported."),
    known_types("REDUCE_ALL", "i0", "BOOL", "Only Bool is accepted as input type."),
)

VALUES: tuple[ValueRow, ...] = (
    ValueRow("MEAN SUM REDUCE_ALL", refused=_reduced_axes),
    ValueRow("REDUCE_MAX REDUCE_MIN", refused=_extreme),
)
