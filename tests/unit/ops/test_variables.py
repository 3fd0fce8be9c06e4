"""VAR_HANDLE, READ_VARIABLE and ASSIGN_VARIABLE."""

from __future__ import annotations

import pytest

from tflm_sim.graph.resource_variables import ResourceVariables, StoredVariable
from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.reference.variables import COMPRESSION_MODELS

KERNELS = "tensorflow/lite/micro/kernels/"
HANDLE, VALUE = ((), T.RESOURCE), ((3, 4), T.FLOAT32)
ASSIGN = {"op": "ASSIGN_VARIABLE", "inputs": [HANDLE, VALUE], "outputs": []}


def _var_handle(kernel, variables, *, name="state", outputs=(HANDLE,)):
    options = {"container": "", "shared_name": name}
    return kernel("VAR_HANDLE", [], outputs, options=options, resource_variables=variables)


def _assign(kernel, *, variables=None, resource_id=0, **arguments):
    """Return ASSIGN_VARIABLE after a VAR_HANDLE that made one variable."""
    if variables is None:
        variables = ResourceVariables(1)
        variables.create_id_if_none_found("", "state")
    bench = kernel(**{**ASSIGN, **arguments}, resource_variables=variables)
    if bench.node.tensors:
        bench.node.tensors[0].resource_id = resource_id
    return bench


def test_var_handle_points_its_output_at_the_id(kernel):
    variables = ResourceVariables(2)
    variables.create_id_if_none_found("", "another")
    bench = _var_handle(kernel, variables)
    assert bench.init() == ["persistent 4 var_handle.OpData"]
    assert bench.prepare() == []
    output = bench.node.tensors[0]
    assert (output.resource_id, output.is_constant, output.has_data) == (1, False, True)


def test_var_handle_without_a_table(kernel):
    assert _var_handle(kernel, None).refusal() == (
        "VAR_HANDLE requires resource variables. Please create ResourceVariables and pass it to the interpreter."
    )


def test_var_handle_in_a_full_table(kernel):
    message = "Failed to allocate resource variable. Maximum resource variable count (0) reached."
    assert _var_handle(kernel, ResourceVariables(0)).refusal() == message


def test_var_handle_halts_without_an_output_or_a_name(kernel):
    assert _var_handle(kernel, ResourceVariables(1), outputs=[]).refusal().startswith("halts: ")
    variables = ResourceVariables(2)
    variables.create_id_if_none_found("", None)
    assert _var_handle(kernel, variables).refusal().startswith("halts: ")


def test_read_variable_takes_its_handle(kernel):
    bench = kernel("READ_VARIABLE", [HANDLE], [VALUE])
    assert bench.model.init is None
    assert bench.prepare() == ["temp 0", "free 0"]


@pytest.mark.parametrize(("inputs", "outputs"), [
    ([], [VALUE]),
    ([HANDLE], []),
    ([None], [VALUE]),
    ([((), T.INT32)], [VALUE]),
    ([((2,), T.RESOURCE)], [VALUE]),
])  # fmt: skip
def test_read_variable_halts(kernel, inputs, outputs):
    assert kernel("READ_VARIABLE", inputs, outputs).refusal().startswith("halts: ")


def test_the_first_assignment_allocates_the_variable(kernel):
    variables = ResourceVariables(1)
    variables.create_id_if_none_found("", "state")
    bench = _assign(kernel, variables=variables)
    assert bench.prepare() == ["temp 1", "persistent 48 resource variable 0", "free 1"]  # 3 * 4 floats
    assert variables.stored == [StoredVariable(0, 48, 0)]
    assert _assign(kernel, variables=variables).prepare() == ["temp 1", "free 1"]


def test_an_id_from_another_subgraph_is_not_known_yet(kernel):
    assert _assign(kernel, resource_id=None).prepare() == ["temp 1", "free 1"]


def test_a_constant_id_is_read_from_the_file(kernel):
    bench = _assign(kernel, inputs=[((), T.INT32, {"data": [0]}), VALUE], resource_id=None)
    assert bench.prepare() == ["temp 1", "persistent 48 resource variable 0", "free 1"]
    bench = _assign(kernel, inputs=[((), T.INT32, {"data": [7]}), VALUE], resource_id=None)
    assert bench.refusal() == "Attempting to read non-existent resource variable 7"


def test_compression_adds_op_data_and_scratch(kernel):
    bench = _assign(kernel, target="x86_64-compression", compressed=[1])
    (bench.model,) = COMPRESSION_MODELS
    assert bench.init() == ["persistent 4 assign_variable.OpData"]
    expected = ["temp 1", "persistent 48 resource variable 0", "scratch 48 decompressed", "free 1"]
    assert bench.prepare() == expected


@pytest.mark.parametrize(("arguments", "message"), [
    ({"inputs": [HANDLE]}, "assign_variable.cc:54 NumInputs(node) != 2 (1 != 2)"),
    ({"outputs": [VALUE]}, "assign_variable.cc:55 NumOutputs(node) != 0 (1 != 0)"),
    ({"inputs": [VALUE, VALUE]},
     "assign_variable.cc:66 (input_resource_id_tensor->type == kTfLiteResource || "
     "input_resource_id_tensor->type == kTfLiteInt32) was not true."),
    ({"inputs": [((2,), T.INT32), VALUE], "target": "x86_64"},
     "assign_variable.cc:68 NumElements(input_resource_id_tensor->dims) != 1 (2 != 1)"),
])  # fmt: skip
def test_assign_variable_refusals(kernel, arguments, message):
    assert _assign(kernel, **arguments).refusal() == KERNELS + message


def test_no_room_for_the_variable(kernel):
    assert _assign(kernel, refuse="persistent").refusal() == "Failed to allocate resource buffer."


@pytest.mark.parametrize("inputs", [[None, VALUE], [HANDLE, None], [((), T.INT32, {"data": b"\0\0"}), VALUE]])
def test_assign_variable_halts(kernel, inputs):
    assert _assign(kernel, inputs=inputs, resource_id=None).refusal().startswith("halts: ")


def test_assign_variable_halts_without_a_table(kernel):
    bench = kernel(**ASSIGN)
    bench.node.tensors[0].resource_id = 0
    assert bench.refusal().startswith("halts: ")
