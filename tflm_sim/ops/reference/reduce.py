"""MEAN, SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_ALL; ARG_MAX and ARG_MIN, which prepare nothing.

    MEAN, SUM                              REDUCE_MAX, REDUCE_MIN
    input, output, axis                    PrepareSimple: input, axis [output], freed again
    [accumulator] iterator, resolved axis  input, output, axis
    PrepareSimple                          iterator, resolved axis

REDUCE_ALL takes the three tensors first, as MEAN does, and its scratch last, as REDUCE_MAX does.

Source: tensorflow/lite/micro/kernels/{reduce,reduce_common,arg_min_max}.cc @ 90b983c.
"""

from __future__ import annotations

from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import convertible_types, require
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import (
    ensure_eq,
    ensure_types_eq,
    free,
    input_tensor,
    optional_input,
    optional_output,
    size_of,
)

_FILE = "reduce_common.cc"
_INT_SIZE = 4
_QUANTIZED = (TensorType.INT8, TensorType.INT16)


class _Tensors(NamedTuple):
    """The three tensors in the order of allocation; upstream uses each without looking for a null pointer."""

    input: KernelTensor | None
    output: KernelTensor | None
    axis: KernelTensor | None


def _take(node: Node) -> Steps[_Tensors]:
    source = yield from optional_input(node, 0)
    output = yield from optional_output(node, 0)
    return _Tensors(source, output, (yield from optional_input(node, 1)))


def init_reduce(node: Node) -> Steps[object]:
    """``InitReduce`` clears what it got, so that it does not survive a full arena."""
    yield Persistent(node.target.sizeof("OpDataReduce"), "OpDataReduce")
    return "OpDataReduce"


def _prepare_simple(node: Node) -> Steps[None]:
    """``PrepareSimple``: checks counts and the axis; int8 reads the output's scale."""
    source = yield from optional_input(node, 0)
    ensure_eq(len(node.inputs), 2, f"{_FILE}:46", "node->inputs->size", "2")
    ensure_eq(len(node.outputs), 1, f"{_FILE}:47", "node->outputs->size", "1")
    axis = yield from input_tensor(node, 1, f"{_FILE}:51", "axis")
    ensure_types_eq(axis.type, TensorType.INT32, f"{_FILE}:52", "axis->type", "kTfLiteInt32")
    if require(source, f"{_FILE}:54", "input").type == TensorType.INT8:
        output = yield from optional_output(node, 0)
        yield from free(require(output, f"{_FILE}:57", "output"))
    yield from free(axis, source)


def _scratch(node: Node, tensors: _Tensors) -> Steps[None]:
    """Request the iterator (an int per input dimension) and the resolved axis (an int per axis)."""
    source, axis = require(tensors.input, _FILE, "input"), require(tensors.axis, _FILE, "axis")
    yield Scratch(_INT_SIZE * len(source.shape), "input_iter")
    yield Scratch(size_of(node, axis.flat_size, _INT_SIZE), "resolved_axis")


def _prepare_min_max(node: Node) -> Steps[None]:
    yield from _prepare_simple(node)
    tensors = yield from _take(node)
    require(tensors.input, f"{_FILE}:206", "input")
    require(tensors.output, f"{_FILE}:208", "output")
    yield from _scratch(node, tensors)
    yield from free(*tensors)


def _prepare_mean_or_sum(node: Node) -> Steps[None]:
    yield from mean_or_sum(node, iterates=True)


def mean_or_sum(node: Node, *, iterates: bool) -> Steps[None]:
    """Run ``PrepareMeanOrSumHelper``; before 0efdd51a3 (2026-01-16) it kept no iterator in scratch."""
    tensors = yield from _take(node)
    source = require(tensors.input, f"{_FILE}:229", "input")
    require(tensors.axis, f"{_FILE}:235", "axis")
    output = require(tensors.output, f"{_FILE}:236", "output")
    if source.type in _QUANTIZED:
        yield Scratch(size_of(node, output.flat_size, _INT_SIZE), "accumulator")
    if iterates:
        yield from _scratch(node, tensors)
    yield from _prepare_simple(node)
    yield from free(*tensors)


def _prepare_all(node: Node) -> Steps[None]:
    tensors = yield from _take(node)
    source = require(tensors.input, f"{_FILE}:268", "input")
    ensure_types_eq(source.type, TensorType.BOOL, f"{_FILE}:268", "input->type", "kTfLiteBool")
    yield from _prepare_simple(node)
    require(tensors.output, f"{_FILE}:275", "output")
    yield from _scratch(node, tensors)
    yield from free(*tensors)


_OUTPUT_TYPE = "output_type"

MODELS: tuple[OpModel, ...] = (
    OpModel("MEAN", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum, _FILE),
    OpModel("SUM", "TfLiteReducerParams", init_reduce, _prepare_mean_or_sum, _FILE),
    OpModel("REDUCE_MAX", "TfLiteReducerParams", init_reduce, _prepare_min_max, _FILE),
    OpModel("REDUCE_MIN", "TfLiteReducerParams", init_reduce, _prepare_min_max, _FILE),
    OpModel("REDUCE_ALL", "TfLiteReducerParams", init_reduce, _prepare_all, _FILE),
    OpModel(
        "ARG_MAX",
        "TfLiteArgMaxParams",
        None,
        None,
        "arg_min_max.cc",
        parse=convertible_types("ArgMaxOptions", _OUTPUT_TYPE),
    ),
    OpModel(
        "ARG_MIN",
        "TfLiteArgMinParams",
        None,
        None,
        "arg_min_max.cc",
        parse=convertible_types("ArgMinOptions", _OUTPUT_TYPE),
    ),
)
