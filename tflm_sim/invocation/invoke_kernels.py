"""What operators do with their bytes in Invoke(), beyond computing: a row of ``EVAL`` each.

    IF          both ways, one after the other, as the planner's scopes run
    WHILE       the condition, then n times body and condition
    CALL_ONCE   in the first invocation
    RESHAPE, READ_VARIABLE, ASSIGN_VARIABLE and the ends of subgraphs copy, and not where the pointers are equal

Source: tensorflow/lite/micro/kernels/{if,while,call_once,reshape,read_variable,assign_variable,dynamic_update_slice,
kernel_util}.cc, micro_resource_variable.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from tflm_sim.invocation.arena_contents import Slot
from tflm_sim.invocation.findings import Place, TensorKey
from tflm_sim.invocation.invoker import Invoker

# Inputs that the NPU uses as its own memory: Vela lays the operator's other tensors inside them.
ETHOS_U_MEMORY = (2, 3)


def _keys(subgraph: int, tensors: Sequence[int] | None) -> list[TensorKey]:
    return [(subgraph, tensor) for tensor in tensors or ()]


def _nothing(run: Invoker, place: Place) -> None:
    """VAR_HANDLE: its output points at the id since Prepare."""


def _ethos_u(run: Invoker, place: Place) -> None:
    inputs, outputs = run.ends(place)
    own = [inputs[position] for position in ETHOS_U_MEMORY if position < len(inputs)]
    run.check(run.slots(place.subgraph, [tensor for tensor in inputs if tensor not in own]), place)
    for slot in run.slots(place.subgraph, own):
        run.contents.fill(slot, place)
    run.write(place, (), list(run.slots(place.subgraph, outputs)))


def _dynamic_update_slice(run: Invoker, place: Place) -> None:
    inputs, outputs = run.ends(place)
    read, written = list(run.slots(place.subgraph, inputs)), list(run.slots(place.subgraph, outputs))
    run.check(read, place)
    in_place = [slot for slot in read[:1] if slot.is_same_place(written[0])] if written else []
    run.write(place, (), written)
    run.check([slot for slot in read if slot not in in_place], place)


# -- copies ---------------------------------------------------------------------------------------------------------


def _reshape(run: Invoker, place: Place) -> None:
    inputs, outputs = run.ends(place)
    run.copy(_keys(place.subgraph, inputs), _keys(place.subgraph, outputs), place)  # To the one output from the first.
    run.check(run.slots(place.subgraph, [inputs[0], *outputs]), place)


def _read_variable(run: Invoker, place: Place) -> None:
    inputs, outputs = run.ends(place)
    variable = _resource(run, place.subgraph, inputs[0])
    for output in run.slots(place.subgraph, outputs):
        run.copy_slot(variable, output, place)
    run.check(run.slots(place.subgraph, outputs), place)


def _assign_variable(run: Invoker, place: Place) -> None:
    inputs, _ = run.ends(place)
    run.copy_slot(run.slot(place.subgraph, inputs[1]), _resource(run, place.subgraph, inputs[0]), place)


def _resource(run: Invoker, subgraph: int, tensor: int) -> Slot | None:
    """The resource variable that a tensor names; None when its id is known to the device only."""
    eval_tensor, slot = run.eval_tensor(subgraph, tensor), run.slot(subgraph, tensor)
    resource = eval_tensor.resource_id
    if resource is None and eval_tensor.data is not None and len(eval_tensor.data) >= 4:
        resource = struct.unpack_from("<i", eval_tensor.data)[0]
    if resource is None and slot is not None:
        resource = slot.resource_id
    return None if resource is None else run.resources.get(resource)


# -- other subgraphs ------------------------------------------------------------------------------------------------


def _option(run: Invoker, place: Place, name: str) -> int:
    index = run.model.subgraphs[place.subgraph].operators[place.operator].options[name]
    assert isinstance(index, int), f"{name} is an integer"
    return index


def _run(run: Invoker, subgraph: int, outputs: Sequence[TensorKey], place: Place) -> None:
    """Run a subgraph and copy its outputs to those of the operator."""
    run.run_subgraph(subgraph)
    run.copy(_keys(subgraph, run.model.subgraphs[subgraph].outputs), outputs, place)


def _if(run: Invoker, place: Place) -> None:
    inputs, outputs = (_keys(place.subgraph, tensors) for tensors in run.ends(place))
    run.check(run.slots(place.subgraph, [inputs[0][1]]), place)
    for branch in ("then_subgraph_index", "else_subgraph_index"):
        entered = _option(run, place, branch)
        run.copy(inputs[1:], _keys(entered, run.model.subgraphs[entered].inputs), place)
        _run(run, entered, outputs, place)


def _while(run: Invoker, place: Place) -> None:
    inputs, outputs = (_keys(place.subgraph, tensors) for tensors in run.ends(place))
    condition, body = (_option(run, place, name) for name in ("cond_subgraph_index", "body_subgraph_index"))
    into = {index: _keys(index, run.model.subgraphs[index].inputs) for index in (condition, body)}
    run.copy(inputs, into[condition], place)
    run.copy(inputs, outputs, place)
    _condition(run, condition, place)
    for _ in range(run.while_iterations):
        run.copy(outputs, into[body], place)
        _run(run, body, outputs, place)
        run.copy(outputs, into[condition], place)
        _condition(run, condition, place)


def _condition(run: Invoker, subgraph: int, place: Place) -> None:
    run.run_subgraph(subgraph)
    run.check(run.slots(subgraph, run.model.subgraphs[subgraph].output_tensors[:1]), place)


def _call_once(run: Invoker, place: Place) -> None:
    if place not in run.has_run:
        run.has_run.add(place)
        run.run_subgraph(_option(run, place, "init_subgraph_index"))


EVAL: dict[str, Callable[[Invoker, Place], None]] = {
    "ASSIGN_VARIABLE": _assign_variable,
    "CALL_ONCE": _call_once,
    "DYNAMIC_UPDATE_SLICE": _dynamic_update_slice,
    "IF": _if,
    "READ_VARIABLE": _read_variable,
    "RESHAPE": _reshape,
    "VAR_HANDLE": _nothing,
    "WHILE": _while,
    "ethos-u": _ethos_u,
}
