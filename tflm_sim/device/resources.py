"""``MicroResourceVariables::Create``: the table that a firmware makes for a model with VAR_HANDLE operators.

Source: tensorflow/lite/micro/micro_resource_variable.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.arena.events import Corruption, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.errors import ArenaOverflowError
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.schema import builtin_operator_code
from tflm_sim.model.types import Model


def resource_variable_names(model: Model) -> set[object]:
    """Return the distinct shared names of the model's VAR_HANDLE operators."""
    var_handle = builtin_operator_code("VAR_HANDLE")
    handles = {index for index, code in enumerate(model.operator_codes) if code.builtin_code == var_handle}
    return {
        operator.options.get("shared_name")
        for subgraph in model.subgraphs
        for operator in subgraph.operators
        if operator.opcode_index in handles
    }


def create_resource_variables(model: Model, allocator: MicroAllocator, count: int | None) -> ResourceVariables | None:
    """Allocate the table from the tail; None where the model needs no table.

    Args:
        model: The model.
        allocator: The allocator.
        count: For how many variables the table has room; None for as many as the model names.

    Raises:
        ArenaOverflowError: There is no room for the table itself, which the device constructs at a null pointer. It
            does not look whether the rows fit either, and goes on until a VAR_HANDLE writes the first.
    """
    count = len(resource_variable_names(model)) if count is None else count
    target = allocator.target
    if count == 0 or not target.runtime.has("resource_variables"):
        return None
    allocator.arena.tell(Phase, Stage.RESOURCE_VARIABLES, (("n", count),))
    table = allocator.allocate_persistent_buffer(target.sizeof("MicroResourceVariables"), "MicroResourceVariables")
    row = "MicroResourceVariables::MicroResourceVariable"
    rows = allocator.allocate_persistent_buffer(target.sizeof(row) * count, f"{row}[{count}]")
    if table is None:
        raise ArenaOverflowError("tail: no room for MicroResourceVariables: a null pointer is used", status="abort")
    if rows is None:
        allocator.arena.tell(Corruption, f"no room for {count} resource variables: their table is at a null pointer")
    return ResourceVariables(count, has_rows=rows is not None)
