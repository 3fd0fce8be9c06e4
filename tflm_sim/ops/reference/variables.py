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
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import option
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import decompression_scratch, fail, op_data, undefined

_RESOURCES = "tensorflow/lite/micro/micro_resource_variable.cc"


def _name(node: Node, field: str) -> str | None:
    """Return a name of the VarHandleOptions, None when the file leaves it out."""
    value = option(node, "VarHandleOptions", field)
    return value if isinstance(value, str) else None


def _prepare_var_handle(node: Node) -> Steps[None]:
    k, resources = Kernel(node, "var_handle.cc"), node.resource_variables
    if resources is None:
        raise fail(
            "VAR_HANDLE requires resource variables. Please create ResourceVariables and pass it to the interpreter."
        )
    try:
        resource_id = resources.create_id_if_none_found(_name(node, "container"), _name(node, "shared_name"))
    except ValueError:
        raise undefined(_RESOURCES, "a null pointer is used as a name") from None
    k.op_data("op_data")
    if resource_id is None:
        raise fail(
            f"Failed to allocate resource variable. Maximum resource variable count ({resources.capacity}) reached."
        )
    output = node.output(0)
    if output is None:
        raise k.abort("output != nullptr")
    output.resource_id = resource_id
    yield from ()


def _prepare_read_variable(node: Node) -> Steps[None]:
    k = Kernel(node, "read_variable.cc")
    k.check(len(node.inputs) == 1, "NumInputs(node) == 1")
    k.check(len(node.outputs) == 1, "NumOutputs(node) == 1")
    resource = k.require((yield from k.optional_input(0)), "input_resource_id_tensor")
    k.check(resource.type == TensorType.RESOURCE, "input_resource_id_tensor->type == kTfLiteResource")
    k.check(resource.flat_size == 1, "NumElements(input_resource_id_tensor) == 1")
    yield from k.free(resource)


def _resource_id(k: Kernel, tensor: EvalTensor) -> int | None:
    """Return ``data.i32[0]``, None when the tensor has no data yet: then the id is only known when the op runs."""
    if tensor.resource_id is not None or tensor.data is None:
        return tensor.resource_id
    k.check(len(tensor.data) >= 4, "the resource id has 4 bytes")
    return int(struct.unpack_from("<i", tensor.data)[0])


def _allocate(k: Kernel, resource_id: int, value: KernelTensor) -> Steps[None]:
    """``MicroResourceVariables::Allocate``."""
    resources = k.node.resource_variables
    if resources is None:
        raise k.abort("resources != nullptr")
    if not 0 <= resource_id < len(resources.stored):
        raise fail(f"Attempting to read non-existent resource variable {resource_id}")
    if resources.stored[resource_id] is not None:
        return
    offset = yield Persistent(value.bytes, f"resource variable {resource_id}", checked=True)
    if offset is None:
        raise fail("Failed to allocate resource buffer.")
    resources.stored[resource_id] = StoredVariable(offset, value.bytes, value.zero_point)


def _prepare_assign_variable(node: Node) -> Steps[None]:
    k = Kernel(node, "assign_variable.cc")
    k.counts(inputs=2, outputs=0)
    resource = node.input(0)
    if resource is None:
        raise k.abort("input_resource_id_tensor != nullptr")
    k.ensure(
        resource.type in (TensorType.RESOURCE, TensorType.INT32),
        "(input_resource_id_tensor->type == kTfLiteResource || input_resource_id_tensor->type == kTfLiteInt32)",
    )
    k.ensure_count_eq(resource.flat_size, 1, "NumElements(input_resource_id_tensor->dims)", "1")
    value = k.require((yield from k.optional_input(1)), "input_value")
    resource_id = _resource_id(k, resource)
    if resource_id is not None:
        yield from _allocate(k, resource_id, value)
    if node.target.runtime.compression:
        k.op_data()
        yield from decompression_scratch(node, 1)
    yield from k.free(value)


MODELS: tuple[OpModel, ...] = (
    OpModel("VAR_HANDLE", "TfLiteVarHandleParams", op_data("var_handle.OpData"), _prepare_var_handle),
    OpModel("READ_VARIABLE", prepare=_prepare_read_variable),
    OpModel("ASSIGN_VARIABLE", prepare=_prepare_assign_variable),
)

COMPRESSION_MODELS: tuple[OpModel, ...] = (
    OpModel("ASSIGN_VARIABLE", init=op_data("assign_variable.OpData"), prepare=_prepare_assign_variable),
)
