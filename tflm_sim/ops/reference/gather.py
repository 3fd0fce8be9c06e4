"""Operators that look values up by index: GATHER, GATHER_ND, EMBEDDING_LOOKUP, DYNAMIC_UPDATE_SLICE.

All but the last write the output's shape again, into a copy of its dims in the tail.

Source: tensorflow/lite/micro/kernels/{gather,gather_nd,embedding_lookup,dynamic_update_slice}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.element_types import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, Switch
from tflm_sim.ops.eval_values import ValueRow, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, source
from tflm_sim.ops.reference.arithmetic import size_t
from tflm_sim.ops.requests import KernelTensor, SetShape, Steps
from tflm_sim.ops.roles import fail, writable_dims

MAX_INDICES_ND = 5
_MAX_DIMENSIONS = 6
"""How many an operand of DYNAMIC_UPDATE_SLICE may have, since that is checked."""
_VALUE_TYPES = (TensorType.FLOAT32, TensorType.INT8)


def _gather(k: Kernel, values: KernelTensor, coords: KernelTensor, output: KernelTensor) -> Steps[None]:
    if coords.type != TensorType.INT32:
        raise fail(f"Positions of type '{type_name(coords.type)}' are not supported by gather.")
    if values.type not in _VALUE_TYPES:
        raise fail(f"Type '{type_name(values.type)}' is not supported by gather.")
    yield from writable_dims(output, _gathered_shape(k, values, coords))


def _gathered_shape(k: Kernel, values: KernelTensor, coords: KernelTensor) -> tuple[int, ...]:
    """Return values[:axis] + coords[batch_dims:] + values[axis + 1:]."""
    rank = len(values.shape)
    axis = int_option(k.node, "GatherOptions", "axis")
    axis += rank if axis < 0 else 0
    k.ensure(0 <= axis < rank, "0 <= axis && axis < NumDimensions(input)")
    batch_dims = int_option(k.node, "GatherOptions", "batch_dims")
    batch_dims += len(coords.shape) if batch_dims < 0 else 0
    k.ensure(batch_dims <= axis, "batch_dims <= axis")
    k.ensure(0 <= batch_dims < rank, "0 <= batch_dims && batch_dims < NumDimensions(input)")
    k.ensure(batch_dims <= len(coords.shape), "batch_dims <= NumDimensions(coords)")
    for ours, theirs in zip(values.shape[:batch_dims], coords.shape[:batch_dims], strict=True):
        k.ensure_eq(ours, theirs, "input->dims->data[i]", "coords->dims->data[i]")
    return values.shape[:axis] + coords.shape[batch_dims:] + values.shape[axis + 1 :]


def _gather_nd(k: Kernel, params: KernelTensor, indices: KernelTensor, output: KernelTensor) -> Steps[None]:
    if params.type not in _VALUE_TYPES:
        raise fail(f"Params of type '{type_name(params.type)}' are not supported by gather_nd.")
    if indices.type != TensorType.INT32:
        raise fail(f"Indices of type '{type_name(indices.type)}' are not supported by gather_nd.")
    shape = _gathered_nd_shape(k, params.shape, indices.shape)
    if k.has("gather_nd_dims"):
        yield from writable_dims(output, shape)
    else:
        yield SetShape(output.eval, shape)


def _gathered_nd_shape(k: Kernel, params: tuple[int, ...], indices: tuple[int, ...]) -> tuple[int, ...]:
    if not params:
        raise fail("Params must be at least a vector.")
    if not indices:
        raise fail("Indices must be at least a vector.")
    if indices[-1] > len(params):
        raise fail("Index innermost dimension length must be <= params rank.")
    if indices[-1] > MAX_INDICES_ND:
        raise fail(f"Index innermost dimension length must not exceed {MAX_INDICES_ND}.")
    k.check(indices[-1] >= 0, "indices_nd >= 0")
    return indices[:-1] + params[indices[-1] :]


def _prepare_embedding_lookup(node: Node) -> Steps[None]:
    k = Kernel(node, "embedding_lookup.cc")
    k.counts(inputs=2)
    lookup = yield from k.input(0, "lookup")
    k.rank(lookup, 1, "lookup")
    k.is_c_type(lookup, TensorType.INT32, "lookup")
    value = yield from k.input(1, "value")
    rank = len(value.shape)
    k.ensure(rank >= 2, "NumDimensions(value) >= 2")
    k.one_of(value.type, _VALUE_TYPES, "value->type")
    output = yield from k.output(0)
    k.one_of(output.type, _VALUE_TYPES if value.type == TensorType.INT8 else _VALUE_TYPES[:1], "output->type")
    k.ensure(len(output.shape) >= rank, "output->dims->size >= NumDimensions(value)")
    shape = lookup.shape + value.shape[1:] + output.shape[rank:]
    yield from writable_dims(output, shape)
    new_size = size_t(node, prod(shape) * TYPE_SIZES[output.type])
    k.ensure(new_size <= size_t(node, output.bytes), "new_dims_size <= output->bytes")
    yield from _embedding_op_data(k, value, output)
    yield from k.free(lookup, value, output)


def _embedding_op_data(k: Kernel, value: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.node.user_data = struct = "embedding_lookup.OpData"
    yield from k.persistent(struct, "op_data != nullptr")
    if value.type == TensorType.INT8 and output.type == TensorType.FLOAT32:
        k.zero_points(tensor_1=value)
    if not k.has("prepare_checks"):
        k.check(value.shape[0] != 0, "tensor_1->dims->data[0] != 0")


def _dynamic_update_slice(
    k: Kernel, operand: KernelTensor, update: KernelTensor, starts: KernelTensor, output: KernelTensor
) -> None:
    k.same_type(operand, update, "operand", "update")
    k.one_of(starts.type, (TensorType.INT32, TensorType.INT64), "start_indices->type")
    k.rank(starts, 1, "start_indices")
    rank, rank_text = len(operand.shape), "NumDimensions(operand)"
    k.ensure_eq(starts.shape[0], rank, "SizeOfDimension(start_indices, 0)", rank_text)
    k.ensure(1 <= rank <= _MAX_DIMENSIONS, f"{rank_text} >= 1 && {rank_text} <= kMaxDimensions")
    k.ensure_eq(len(update.shape), rank, "NumDimensions(update)", rank_text)
    fits = all(small <= large for small, large in zip(update.shape, operand.shape, strict=True))
    k.ensure(fits, "SizeOfDimension(update, i) <= SizeOfDimension(operand, i)")


def _positions_outside(node: Node) -> Iterator[tuple[str, str]]:
    """Constant positions that GATHER's Eval refuses; before that was checked it read past the end."""
    values, positions = node.input(0), constant_integers(node.input(1))
    if values is not None and positions and values.shape and node.target.runtime.has("prepare_checks"):
        size = values.shape[int_option(node, "GatherOptions", "axis")]
        yield from ((f"position {at} of {size}", "") for at in positions if not 0 <= at < size)


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "GATHER",
        "TfLiteGatherParams",
        prepare=Prepare("gather.cc", counts(2), takes=(INPUT, source(1, "coords"), OUTPUT), body=_gather),
    ),
    OpModel(
        "GATHER_ND",
        prepare=Prepare(
            "gather_nd.cc", counts(2), takes=(source(0, "params"), source(1, "indices"), OUTPUT), body=_gather_nd
        ),
    ),
    OpModel("EMBEDDING_LOOKUP", prepare=_prepare_embedding_lookup),
    OpModel(
        "DYNAMIC_UPDATE_SLICE",
        prepare=Prepare(
            "dynamic_update_slice.cc",
            counts(3),
            takes=(source(0, "operand"), source(1, "update"), source(2, "start_indices"), OUTPUT),
            body=_dynamic_update_slice,
        ),
    ),
)

EVALS: tuple[EvalRow, ...] = (
    EvalRow(
        "DYNAMIC_UPDATE_SLICE",
        (
            Switch(
                "i2",
                "INT32 INT64",
                "DynamicUpdateSlice only currently supports int32 or int64 indices type, got {number}.",
            ),
            Switch("i0", "FLOAT32 INT8 INT16 INT32", "DYNAMIC_UPDATE_SLICE: Operand type {name} not supported."),
        ),
    ),
    EvalRow(
        "EMBEDDING_LOOKUP",
        (Switch("i1", "FLOAT32 INT8", "EMBEDDING_LOOKUP only supports FLOAT32 and INT8, got {name}.", named="o0"),),
    ),
    EvalRow("GATHER", (Switch("i0", "FLOAT32 INT8", "Type '{name}' is not supported by gather.", when="i1 INT32"),)),
    EvalRow(
        "GATHER_ND",
        (
            Switch("i1", "INT32", "Indices of type '{name}' are not supported by gather_nd."),
            Switch("i0", "FLOAT32 INT8", "Params type '{name}' are not supported by gather_nd."),
        ),
    ),
)

VALUES: tuple[ValueRow, ...] = (ValueRow("GATHER", refused=_positions_outside),)
