"""What the states of a model are before its first invocation.

    a variable tensor      every byte is its zero point, to which TFLM resets it
    a resource variable    what CALL_ONCE assigns, else likewise the zero point of what reads or writes it

Source: tensorflow/lite/micro/micro_resource_variable.cc, kernels/call_once.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from tflm_sim.extensions.shrink.refusal import refuse
from tflm_sim.extensions.shrink.symbolic import (
    Hashes,
    constant,
    filled,
    operator_name,
    quantization_facts,
    subgraphs_run,
)
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor

StateKey = tuple[str, str]
"""What kind of state it is ("variable", "resource", "kernel ..."), and its name."""


def initial_states(model: Model, subgraph: Subgraph) -> dict[StateKey, Hashes]:
    """Return the states of a subgraph's variables, and of the resource variables that it names.

    Raises:
        VerificationFailed: A CALL_ONCE does more than setting variables to constants.
    """
    variables = (index for index, tensor in enumerate(subgraph.tensors) if tensor.is_variable)
    states = {variable_key(index): _reset(subgraph.tensors[index]) for index in variables}
    for key, tensor in _resources(model, subgraph):
        states.setdefault(key, _reset(tensor))
    for key, value in chain.from_iterable(_assigned(model, operator) for operator in subgraph.operators):
        if key not in states:
            continue
        if value.size != states[key].size:
            raise refuse(f"CALL_ONCE sets '{key[1]}' to {value.size} elements instead of {states[key].size}")
        states[key] = value.reshape(states[key].shape)
    return states


def _resources(model: Model, subgraph: Subgraph, *, is_main: bool = True) -> Iterator[tuple[StateKey, Tensor]]:
    """Yield each resource variable that a subgraph or one that it runs reads or writes, with a tensor of its values."""
    handles: dict[int, StateKey] = {}
    for operator in subgraph.operators:
        name, inputs, outputs = operator_name(model, operator), operator.input_tensors, operator.output_tensors
        if name == "VAR_HANDLE":
            handles[outputs[0]] = resource_key(operator)
        elif name in ("READ_VARIABLE", "ASSIGN_VARIABLE") and inputs[0] in handles:
            yield handles[inputs[0]], subgraph.tensors[outputs[0] if name == "READ_VARIABLE" else inputs[1]]
        elif is_main and name != "CALL_ONCE":
            for run in subgraphs_run(model, operator):
                yield from _resources(model, model.subgraphs[run], is_main=False)


def resources_within(model: Model, operator: Operator) -> list[StateKey]:
    """Return the resource variables that the subgraphs of an operator name."""
    inside = (each for run in subgraphs_run(model, operator) for each in model.subgraphs[run].operators)
    return list(dict.fromkeys(resource_key(each) for each in inside if operator_name(model, each) == "VAR_HANDLE"))


def _assigned(model: Model, operator: Operator) -> Iterator[tuple[StateKey, Hashes]]:
    """Yield the constants that the subgraph of a CALL_ONCE assigns, nothing for any other operator."""
    if operator_name(model, operator) != "CALL_ONCE":
        return
    index = operator.options.get("init_subgraph_index", 0)
    if not isinstance(index, int) or not 0 < index < len(model.subgraphs):
        raise refuse(f"CALL_ONCE runs subgraph {index}, of {len(model.subgraphs)}")
    subgraph = model.subgraphs[index]
    handles: dict[int, StateKey] = {}
    for each in subgraph.operators:
        name, inputs = operator_name(model, each), each.input_tensors
        if name == "VAR_HANDLE":
            handles[each.output_tensors[0]] = resource_key(each)
            continue
        value = constant(model, subgraph.tensors[inputs[1]]) if name == "ASSIGN_VARIABLE" else None
        if value is None or inputs[0] not in handles:
            raise refuse(f"a CALL_ONCE subgraph does more than set variables to constants ({name})")
        yield handles[inputs[0]], value


def variable_key(tensor: int) -> StateKey:
    return "variable", str(tensor)


def resource_key(operator: Operator) -> StateKey:
    """Return the key of the resource variable that a VAR_HANDLE names."""
    return "resource", f"{operator.options.get('container') or ''}/{operator.options.get('shared_name') or ''}"


def _reset(tensor: Tensor) -> Hashes:
    """Return what TFLM fills a state with: the low byte of its zero point, everywhere."""
    facts = quantization_facts(tensor.quantization)
    points = facts[1] if facts else ()
    return filled(tensor, int(points[0]) & 0xFF if isinstance(points, tuple) and points else 0)
