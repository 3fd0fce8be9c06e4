"""Resource variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE.

VAR_HANDLE points its output at the id, which keeps the output out of the plan; ASSIGN_VARIABLE reads the id there and
allocates the variable's buffer in the tail, the first time.

Source: tensorflow/lite/micro/kernels/{var_handle,read_variable,assign_variable}.cc and micro_resource_variable.cc
@ 90b983c.
"""

from __future__ import annotations

import struct

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.resource_variables import StoredVariable
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, option, require, require_op_data
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    decompression_scratch,
    ensure,
    ensure_count_eq,
    fail,
    free,
    op_data,
    optional_input,
)

_RESOURCES = "tensorflow/lite/micro/micro_resource_variable.cc"


def _name(node: Node, field: str) -> str | None:
    """Return a name of the VarHandleOptions, None when the file leaves it out."""
    value = option(node, "VarHandleOptions", field)
    return value if isinstance(value, str) else None


def _prepare_var_handle(node: Node) -> Steps[None]:
    resources = node.resource_variables
    if resources is None:
        raise fail(
            "VAR_HANDLE requires resource variables. Please create ResourceVariables and pass it to the interpreter."
        )
    try:
        resource_id = resources.create_id_if_none_found(_name(node, "container"), _name(node, "shared_name"))
    except ValueError:
        raise abort(_RESOURCES, "no null pointer is used") from None
    require_op_data(node, "var_handle.cc:59", "op_data")
    if resource_id is None:
        raise fail(
            f"Failed to allocate resource variable. Maximum resource variable count ({resources.capacity}) reached."
        )
    output = node.output(0)
    if output is None:
        raise abort("var_handle.cc:66", "output != nullptr")
    output.resource_id = resource_id
    yield from ()


def _prepare_read_variable(node: Node) -> Steps[None]:
    for place, name, count in (
        ("read_variable.cc:39", "NumInputs", len(node.inputs)),
        ("read_variable.cc:40", "NumOutputs", len(node.outputs)),
    ):
        if count != 1:
            raise abort(place, f"{name}(node) == 1")
    resource = require((yield from optional_input(node, 0)), "read_variable.cc:47", "input_resource_id_tensor")
    if resource.type != TensorType.RESOURCE:
        raise abort("read_variable.cc:48", "input_resource_id_tensor->type == kTfLiteResource")
    if resource.flat_size != 1:
        raise abort("read_variable.cc:49", "NumElements(input_resource_id_tensor) == 1")
    yield from free(resource)


def _resource_id(tensor: EvalTensor) -> int | None:
    """Return ``data.i32[0]``, None when the tensor has no data yet: then the id is only known when the op runs."""
    if tensor.resource_id is not None or tensor.data is None:
        return tensor.resource_id
    if len(tensor.data) < 4:
        raise abort("assign_variable.cc:84", "the resource id has 4 bytes")
    return int(struct.unpack_from("<i", tensor.data)[0])


def _allocate(node: Node, resource_id: int, value: KernelTensor) -> Steps[None]:
    """``MicroResourceVariables::Allocate``."""
    resources = node.resource_variables
    if resources is None:
        raise abort("assign_variable.cc:84", "resources != nullptr")
    if not 0 <= resource_id < len(resources.stored):
        raise fail(f"Attempting to read non-existent resource variable {resource_id}")
    if resources.stored[resource_id] is not None:
        return
    offset = yield Persistent(value.bytes, f"resource variable {resource_id}", checked=True)
    if offset is None:
        raise fail("Failed to allocate resource buffer.")
    resources.stored[resource_id] = StoredVariable(offset, value.bytes, value.zero_point)


def _prepare_assign_variable(node: Node) -> Steps[None]:
    ensure_counts(node, "assign_variable.cc", 54, inputs=2, outputs=0)
    resource = node.input(0)
    if resource is None:
        raise abort("assign_variable.cc:65", "input_resource_id_tensor != nullptr")
    ensure(
        resource.type in (TensorType.RESOURCE, TensorType.INT32),
        "assign_variable.cc:66",
        "(input_resource_id_tensor->type == kTfLiteResource || input_resource_id_tensor->type == kTfLiteInt32)",
    )
    ensure_count_eq(
        node, resource.flat_size, 1, "assign_variable.cc:68", "NumElements(input_resource_id_tensor->dims)", "1"
    )
    value = require((yield from optional_input(node, 1)), "assign_variable.cc:73", "input_value")
    resource_id = _resource_id(resource)
    if resource_id is not None:
        yield from _allocate(node, resource_id, value)
    if node.target.runtime.compression:
        require_op_data(node, "assign_variable.cc:90")
        yield from decompression_scratch(node, 1)
    yield from free(value)


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "VAR_HANDLE",
        "TfLiteVarHandleParams",
        op_data("var_handle.OpData"),
        _prepare_var_handle,
        _K + "var_handle.cc",
    ),
    OpModel("READ_VARIABLE", None, None, _prepare_read_variable, _K + "read_variable.cc"),
    OpModel("ASSIGN_VARIABLE", None, None, _prepare_assign_variable, _K + "assign_variable.cc"),
)

COMPRESSION_MODELS: tuple[OpModel, ...] = (
    OpModel(
        "ASSIGN_VARIABLE",
        None,
        op_data("assign_variable.OpData"),
        _prepare_assign_variable,
        _K + "assign_variable.cc",
    ),
)
