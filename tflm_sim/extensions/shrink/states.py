"""Turn resource variables into variable tensors, which need less memory.

    READ_VARIABLE -> r ... readers of r ... w = op(...) -> ASSIGN_VARIABLE(w)        becomes
    readers of s   ... s = op(...)                                                   with s a variable tensor

It is the same where all readers of the old value run before the one operator that makes the new value, and where the
state begins at its zero point, which is what TFLM resets a variable tensor to. The read's copy, the new value's buffer
in the head, the table of resource variables and the CALL_ONCE with its subgraph all go.

Source: tensorflow/lite/micro/micro_resource_variable.cc, micro_interpreter_graph.cc ResetVariableTensors @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tflm_sim.extensions.shrink.draft_facts import replace_all, same_kind, zero_point
from tflm_sim.extensions.shrink.passes import Chooser
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.draft import Draft
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor

Key = tuple[str, str]


@dataclass(slots=True)
class _Variable:
    """The operators that name one resource variable (mutable while they are collected)."""

    handles: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    assigns: list[int] = field(default_factory=list)

    @property
    def operators(self) -> set[int]:
        return {*self.handles, *self.reads, *self.assigns}

    def values(self, draft: Draft) -> tuple[int, int]:
        """Return the tensors that hold its old and its new value, where it has one reader and one writer."""
        read, assign = draft.operators[self.reads[0]], draft.operators[self.assigns[0]]
        return read.output_tensors[0], assign.input_tensors[1]


def states_to_variables(draft: Draft, choose: Chooser) -> list[Edit]:
    """Turn resource variables into variable tensors where that is the same."""
    variables = _variables(draft)
    initial = _initial_values(draft)
    if not variables or initial is None:
        return []
    edits: list[Edit] = []
    gone: set[int] = set()
    for key, variable in variables.items():
        if refusal(draft, key, variable, initial) is not None or not choose():
            continue
        gone |= variable.operators
        state = _make_tensor(draft, variable)
        what = f"is read before operator {draft.producers()[state]} writes it, and begins at its zero point"
        facts = {"read": variable.reads[0], "assigned": variable.assigns[0]}
        edits.append(Edit(f"variable '{key[1]}'", what, facts))
    if len(edits) == len(variables):
        gone |= {index for index, operator in enumerate(draft.operators) if draft.name(operator) == "CALL_ONCE"}
    draft.drop(gone)
    return edits


def _make_tensor(draft: Draft, variable: _Variable) -> int:
    """Let a variable tensor stand for the old and the new value of a resource variable, and return it."""
    old, new = variable.values(draft)
    facts = draft.tensors[old]
    state = draft.add_tensor(facts.dims, facts.type, quantization=facts.quantization, is_variable=True, name=facts.name)
    for index in {*draft.readers(old), *draft.readers(new), *draft.writers(new)} - variable.operators:
        operator = draft.operators[index]
        inputs = replace_all(replace_all(operator.inputs, old, state), new, state)
        draft.operators[index] = replace(operator, inputs=inputs, outputs=replace_all(operator.outputs, new, state))
    return state


def refusals(draft: Draft) -> list[str]:
    """Return why resource variables of the main subgraph stay, a sentence each."""
    initial = _initial_values(draft)
    variables = _variables(draft)
    if not variables:
        return []
    if initial is None:
        return ["the resource variables are written in other subgraphs than one that only sets constants"]
    reasons = {key: refusal(draft, key, variable, initial) for key, variable in variables.items()}
    return [f"variable '{key[1]}': {reason}" for key, reason in reasons.items() if reason is not None]


def refusal(draft: Draft, key: Key, variable: _Variable, initial: dict[Key, tuple[Tensor, bytes]]) -> str | None:
    """Return why a variable cannot be a variable tensor, None where it can."""
    if len(variable.reads) != 1 or len(variable.assigns) != 1:
        return f"{len(variable.assigns)} writers and {len(variable.reads)} readers, where one of each is needed"
    old, new = variable.values(draft)
    facts, written = draft.tensors[old], draft.tensors[new]
    if (facts.type, facts.shape) != (written.type, written.shape):
        return "what is read and what is written have different shapes or types"
    if not same_kind(draft, old, new):
        return "its quantization would have to change"
    if key in initial and initial[key][1] != _reset_value(facts):
        return "its initial state is not the zero point"
    return _overwrite_obstacle(draft, variable)


def _overwrite_obstacle(draft: Draft, variable: _Variable) -> str | None:
    """Return why the new value cannot be written over the old one, None where it can."""
    old, new = variable.values(draft)
    read, assign, writers = variable.reads[0], variable.assigns[0], draft.writers(new)
    is_bound = not {*draft.inputs, *draft.outputs}.isdisjoint((old, new))
    if len(writers) != 1 or draft.is_constant(new) or is_bound or draft.tensors[new].is_variable:
        return "its new value is an input, an output or a constant of the model"
    if draft.tensors[old].is_variable:
        return "its old value is what another variable keeps"
    if read > assign:
        return f"operator {read} reads it after operator {assign} wrote it"
    last = max(draft.readers(old), default=-1)
    if last >= writers[0]:
        return f"operator {last} still reads the old value when operator {writers[0]} writes the new one"
    return None


def _reset_value(tensor: Tensor) -> bytes:
    """Return what TFLM resets a variable tensor to: its zero point as a byte, everywhere."""
    count = TYPE_SIZES.get(tensor.type, 1)
    for size in tensor.dims:
        count *= size
    return bytes([zero_point(tensor) & 0xFF]) * count


def _key(operator: Operator) -> Key:
    """Return the container and the name of a VAR_HANDLE."""
    return str(operator.options.get("container") or ""), str(operator.options.get("shared_name") or "")


def _variables(draft: Draft) -> dict[Key, _Variable]:
    """Return the resource variables that the main subgraph names."""
    found: dict[Key, _Variable] = {}
    owner: dict[int, Key] = {}
    for index, operator in enumerate(draft.operators):
        name = draft.name(operator)
        if name == "VAR_HANDLE":
            key = _key(operator)
            owner[operator.output_tensors[0]] = key
            found.setdefault(key, _Variable()).handles.append(index)
        elif name in ("READ_VARIABLE", "ASSIGN_VARIABLE") and operator.input_tensors[0] in owner:
            variable = found[owner[operator.input_tensors[0]]]
            (variable.reads if name == "READ_VARIABLE" else variable.assigns).append(index)
    return found


def _initial_values(draft: Draft) -> dict[Key, tuple[Tensor, bytes]] | None:
    """Return what CALL_ONCE sets variables to; None where another subgraph does more than that with them."""
    model = draft.origin
    called = {
        operator.options.get("init_subgraph_index")
        for operator in draft.operators
        if draft.name(operator) == "CALL_ONCE"
    }
    values: dict[Key, tuple[Tensor, bytes]] = {}
    for number, subgraph in enumerate(model.subgraphs[1:], 1):
        names = [BUILTIN_OPERATORS[model.operator_codes[op.opcode_index].builtin_code] for op in subgraph.operators]
        own = _assigned(model, subgraph, names) if number in called else None if "VAR_HANDLE" in names else {}
        if own is None:
            return None
        values.update(own)
    return values


def _assigned(model: Model, subgraph: Subgraph, names: list[str]) -> dict[Key, tuple[Tensor, bytes]] | None:
    """Return the constants that a subgraph sets variables to; None where it does anything else."""
    values: dict[Key, tuple[Tensor, bytes]] = {}
    owner: dict[int, Key] = {}
    for name, operator in zip(names, subgraph.operators, strict=True):
        if name == "VAR_HANDLE":
            owner[operator.output_tensors[0]] = _key(operator)
            continue
        inputs = operator.input_tensors
        data = model.tensor_data(subgraph.tensors[inputs[1]]) if name == "ASSIGN_VARIABLE" else None
        if data is None or inputs[0] not in owner:
            return None
        values[owner[inputs[0]]] = subgraph.tensors[inputs[1]], bytes(data)
    return values
