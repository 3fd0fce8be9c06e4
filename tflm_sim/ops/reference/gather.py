"""Operators that look values up by index: GATHER, GATHER_ND, EMBEDDING_LOOKUP, DYNAMIC_UPDATE_SLICE.

All but the last write the output's shape anew, into a copy of its dims in the tail.

Source: tensorflow/lite/micro/kernels/{gather,gather_nd,embedding_lookup,dynamic_update_slice}.cc @ 90b983c.
"""

from __future__ import annotations

from math import prod

from tflm_sim.graph.eval_tensor import TYPE_SIZES, type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import size_t
from tflm_sim.ops.reference.node_checks import ensure_counts, int_option
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_c_types_eq,
    ensure_eq,
    ensure_types_eq,
    fail,
    free,
    input_tensor,
    output_tensor,
    writable_dims,
)

MAX_INDICES_ND = 5
_VALUE_TYPES = (TensorType.FLOAT32, TensorType.INT8)


def _prepare_gather(node: Node) -> Steps[None]:
    ensure_counts(node, "gather.cc", 103, inputs=2)
    values = yield from input_tensor(node, 0, "gather.cc:110")
    coords = yield from input_tensor(node, 1, "gather.cc:113", "coords")
    output = yield from output_tensor(node, 0, "gather.cc:116")
    if coords.type != TensorType.INT32:
        raise fail(f"Positions of type '{type_name(coords.type)}' are not supported by gather.")
    if values.type not in _VALUE_TYPES:
        raise fail(f"Type '{type_name(values.type)}' is not supported by gather.")
    yield from writable_dims(output, _gathered_shape(node, values, coords))
    yield from free(values, coords, output)


def _gathered_shape(node: Node, values: KernelTensor, coords: KernelTensor) -> tuple[int, ...]:
    """Return values[:axis] + coords[batch_dims:] + values[axis + 1:]."""
    rank = len(values.shape)
    axis = int_option(node, "GatherOptions", "axis")
    axis += rank if axis < 0 else 0
    ensure(0 <= axis < rank, "gather.cc:147", "0 <= axis && axis < NumDimensions(input)")
    batch_dims = int_option(node, "GatherOptions", "batch_dims")
    batch_dims += len(coords.shape) if batch_dims < 0 else 0
    ensure(batch_dims <= axis, "gather.cc:155", "batch_dims <= axis")
    ensure(0 <= batch_dims < rank, "gather.cc:156", "0 <= batch_dims && batch_dims < NumDimensions(input)")
    ensure(batch_dims <= len(coords.shape), "gather.cc:157", "batch_dims <= NumDimensions(coords)")
    for ours, theirs in zip(values.shape[:batch_dims], coords.shape[:batch_dims], strict=True):
        ensure_eq(ours, theirs, "gather.cc:159", "input->dims->data[i]", "coords->dims->data[i]")
    return values.shape[:axis] + coords.shape[batch_dims:] + values.shape[axis + 1 :]


def _prepare_gather_nd(node: Node) -> Steps[None]:
    ensure_counts(node, "gather_nd.cc", 34, inputs=2)
    params = yield from input_tensor(node, 0, "gather_nd.cc:38", "params")
    indices = yield from input_tensor(node, 1, "gather_nd.cc:41", "indices")
    output = yield from output_tensor(node, 0, "gather_nd.cc:44")
    if params.type not in _VALUE_TYPES:
        raise fail(f"Params of type '{type_name(params.type)}' are not supported by gather_nd.")
    if indices.type != TensorType.INT32:
        raise fail(f"Indices of type '{type_name(indices.type)}' are not supported by gather_nd.")
    yield from writable_dims(output, _gathered_nd_shape(params.shape, indices.shape))
    yield from free(params, indices, output)


def _gathered_nd_shape(params: tuple[int, ...], indices: tuple[int, ...]) -> tuple[int, ...]:
    """Return indices[:-1] + params[indices[-1]:]."""
    if not params:
        raise fail("Params must be at least a vector.")
    if not indices:
        raise fail("Indices must be at least a vector.")
    if indices[-1] > len(params):
        raise fail("Index innermost dimension length must be <= params rank.")
    if indices[-1] > MAX_INDICES_ND:
        raise fail(f"Index innermost dimension length must not exceed {MAX_INDICES_ND}.")
    if indices[-1] < 0:
        raise abort("gather_nd.cc:104", "indices_nd >= 0")
    return indices[:-1] + params[indices[-1] :]


def _prepare_embedding_lookup(node: Node) -> Steps[None]:
    ensure_counts(node, "embedding_lookup.cc", 69, inputs=2)
    lookup = yield from input_tensor(node, 0, "embedding_lookup.cc:76", "lookup")
    ensure_eq(len(lookup.shape), 1, "embedding_lookup.cc:77", "NumDimensions(lookup)", "1")
    ensure_c_types_eq(lookup.type, TensorType.INT32, "embedding_lookup.cc:78", "lookup->type", "kTfLiteInt32")
    value = yield from input_tensor(node, 1, "embedding_lookup.cc:82", "value")
    rank = len(value.shape)
    ensure(rank >= 2, "embedding_lookup.cc:83", "NumDimensions(value) >= 2")
    text = "value->type == kTfLiteFloat32 || value->type == kTfLiteInt8"
    ensure(value.type in _VALUE_TYPES, "embedding_lookup.cc:84", text)
    output = yield from output_tensor(node, 0, "embedding_lookup.cc:89")
    _check_embedding_type(value.type, output.type)
    ensure(len(output.shape) >= rank, "embedding_lookup.cc:98", "output->dims->size >= NumDimensions(value)")
    shape = lookup.shape + value.shape[1:] + output.shape[rank:]
    yield from writable_dims(output, shape)
    new_size = size_t(node, prod(shape) * TYPE_SIZES[output.type])
    ensure(new_size <= size_t(node, output.bytes), "embedding_lookup.cc:112", "new_dims_size <= output->bytes")
    yield from _embedding_op_data(node, value, output)
    yield from free(lookup, value, output)


def _check_embedding_type(value: int, output: int) -> None:
    if value == TensorType.FLOAT32:
        ensure(output == TensorType.FLOAT32, "embedding_lookup.cc:91", "output->type == kTfLiteFloat32")
    else:
        text = "output->type == kTfLiteFloat32 || output->type == kTfLiteInt8"
        ensure(output in _VALUE_TYPES, "embedding_lookup.cc:93", text)


def _embedding_op_data(node: Node, value: KernelTensor, output: KernelTensor) -> Steps[None]:
    struct = "embedding_lookup.OpData"
    node.user_data = struct
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    ensure(offset is not None, "embedding_lookup.cc:56", "op_data != nullptr")
    if value.type == TensorType.INT8 and output.type == TensorType.FLOAT32:
        ensure_eq(value.zero_point, 0, "embedding_lookup.cc:59", "tensor_1->params.zero_point", "0")
    if value.shape[0] == 0:
        raise abort("embedding_lookup.cc:63", "tensor_1->dims->data[0] != 0")


def _prepare_dynamic_update_slice(node: Node) -> Steps[None]:
    file = "dynamic_update_slice.cc"
    ensure_counts(node, file, 127, inputs=3)
    operand = yield from input_tensor(node, 0, f"{file}:134", "operand")
    update = yield from input_tensor(node, 1, f"{file}:138", "update")
    starts = yield from input_tensor(node, 2, f"{file}:142", "start_indices")
    output = yield from output_tensor(node, 0, f"{file}:146")
    ensure_types_eq(operand.type, update.type, f"{file}:149", "operand->type", "update->type")
    text = "start_indices->type == kTfLiteInt32 || start_indices->type == kTfLiteInt64"
    ensure(starts.type in (TensorType.INT32, TensorType.INT64), f"{file}:150", text)
    ensure_eq(len(starts.shape), 1, f"{file}:153", "NumDimensions(start_indices)", "1")
    rank_text = "NumDimensions(operand)"
    rank = len(operand.shape)
    ensure_eq(starts.shape[0], rank, f"{file}:154", "SizeOfDimension(start_indices, 0)", rank_text)
    ensure_eq(len(update.shape), rank, f"{file}:157", "NumDimensions(update)", rank_text)
    fits = all(small <= large for small, large in zip(update.shape, operand.shape, strict=True))
    ensure(fits, f"{file}:160", "SizeOfDimension(update, i) <= SizeOfDimension(operand, i)")
    yield from free(operand, update, starts, output)


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("GATHER", "TfLiteGatherParams", None, _prepare_gather, _K + "gather.cc"),
    OpModel("GATHER_ND", None, None, _prepare_gather_nd, _K + "gather_nd.cc"),
    OpModel("EMBEDDING_LOOKUP", None, None, _prepare_embedding_lookup, _K + "embedding_lookup.cc"),
    OpModel("DYNAMIC_UPDATE_SLICE", None, None, _prepare_dynamic_update_slice, _K + "dynamic_update_slice.cc"),
)
