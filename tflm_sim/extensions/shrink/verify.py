"""``verify()``: do two .tflite files compute the same? The method knows none of the passes.

It reads both files and checks

0. TFLM runs the result: it is allocated, and no operator has types, options or constants that Invoke() does not know;
1. the interface: names, shapes, types and quantization of inputs and outputs, signatures;
2. the initial states, and which state of one file is which state of the other (they take the same values over a few
   invocations from the start);
3. one invocation on unknown inputs and unknown states: every output element, and every element of every next state, is
   the same expression in both (``symbolic.py``). With 2. that is an induction over all invocations.
   A loop that says how often it runs is run so often, each iteration on its own rows;
4. for a result with an offline plan, on each target: every operator finds in the arena what its inputs should hold, and
   writes nothing that it still reads (:mod:`~tflm_sim.extensions.shrink.plan_check`).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from tflm_sim.answers.invoke_problem import invoke_problem
from tflm_sim.answers.offline_plan import has_offline_plan
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Configuration, Where, configure_each
from tflm_sim.errors import ModelError, SimulatedFailure, expect, whole_number
from tflm_sim.extensions.shrink.comparison import Verified, check_opaque, compare
from tflm_sim.extensions.shrink.contracts import DENSE, NO_BIAS, promised_since
from tflm_sim.extensions.shrink.counted_loops import counted_loops
from tflm_sim.extensions.shrink.evaluators import EVALUATORS
from tflm_sim.extensions.shrink.initial_states import StateKey
from tflm_sim.extensions.shrink.interface import ChangedEnd, changed_ends, ends_of
from tflm_sim.extensions.shrink.kernel_use import Use, use_of
from tflm_sim.extensions.shrink.machine import Machine, fresh_inputs
from tflm_sim.extensions.shrink.plan_check import check_plan
from tflm_sim.extensions.shrink.refusal import VerificationFailed, refuse
from tflm_sim.extensions.shrink.stream_verify import check_windows
from tflm_sim.extensions.shrink.symbolic import NAMES_SUBGRAPH, Call, Hashes, kind, operator_name, salt, symbols
from tflm_sim.model.draft import Draft
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor

__all__ = ["VerificationFailed", "Verified", "verify"]

WARM_UP = 3
"""Invocations from the start that tell which state is which."""


MAX_ELEMENTS = 1 << 26
"""Elements of all tensors of a model: 512 MiB of hashes for each of the two."""


def verify(
    original: ModelLike,
    result: ModelLike,
    targets: Where | Iterable[Where] = ("cortex-m4",),
    *,
    int8_io: bool = False,
    stream: int | None = None,
    axis: int | None = None,
) -> Verified:
    """Check that two files compute the same.

    Args:
        original: The model before.
        result: The model after.
        targets: One or several, on which a result with an offline plan must keep every byte that is still to be read;
            what may share bytes depends on their kernels. A result without a plan is the same everywhere.
        int8_io: Let inputs and outputs of the result be integers where the original converts those: its outputs
            are then what the original gives, before it converts them, on the inputs that convert to the result's.
        stream: The frames that the result takes in each invocation, where the original takes a whole window of them;
            its outputs are then those of the window that ends with them
            (:mod:`~tflm_sim.extensions.shrink.stream_verify`).
        axis: With ``stream``: the axis of the window along which the frames lie; None for the only possible one.

    Raises:
        ModelError, UsageError: A file cannot be read, or an argument has no meaning.
        VerificationFailed: They do not, it cannot be told, or TFLM does not run the result.
    """
    int8_io = expect(int8_io, bool, "int8_io as a truth value")
    stream = None if stream is None else whole_number(stream, "stream", 1, 2**31 - 1)
    axis = None if axis is None else whole_number(axis, "axis", 0, 2**31 - 1)
    original, result, configurations = load(original), load(result), configure_each(targets)
    _allocated(original, configurations[0], "original")
    simulations = [_runs(result, configuration) for configuration in configurations]
    _check_kernels(original, result, configurations)
    ends = _check_interface(original, result, int8_io=int8_io) if stream is None else []
    for model in (original, result):  # each element is a number of eight bytes
        elements = sum(prod(tensor.dims) for subgraph in model.subgraphs for tensor in subgraph.tensors)
        if elements > MAX_ELEMENTS:
            raise refuse(
                f"its tensors have {elements:,} elements, more than the {MAX_ELEMENTS:,} that are compared here"
            )
    with np.errstate(over="ignore"):
        before, after = Machine(original), _Converted(result, ends)
        if stream is None:
            verified = _check_step(before, after, _pair_states(before, after))
        else:
            verified = check_windows(before, after, stream, axis)
        _check_unread(before, after)
    if not has_offline_plan(result):
        return verified
    for simulation in simulations:
        check_plan(result, simulation)
    return replace(verified, has_plan=True)


def _runs(result: Model, target: Where) -> Simulation:
    """Return the simulation of a result that TFLM runs, the bodies of its counted loops too; refuse any other."""
    simulation = _allocated(result, target, "result")
    bodies = {loop.body for loop in counted_loops(Draft(result))}
    problem = invoke_problem(simulation.device, simulation.configuration, bodies)
    if problem is not None:
        raise refuse(f"the result {problem}")
    return simulation


def _check_kernels(original: Model, result: Model, configurations: Sequence[Configuration]) -> None:
    """Refuse operators that only some kernels compute as those of the original, which has none like them."""
    known = {(promise, name) for promise, name, _ in _demanding(original)}
    for promise, name, use in _demanding(result):
        if (promise, name) not in known and not promised_since(use, promise, configurations):
            raise refuse(f"a {name} of the result needs a promise that not all kernels give ({promise})")


def _demanding(model: Model) -> Iterator[tuple[str, str, Use]]:
    """Yield (promise, operator, as kernels see it) of layers without a bias, and dense ones with a scale a channel."""
    for subgraph in model.subgraphs:
        for operator in subgraph.operators:
            name = operator_name(model, operator)
            if name not in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED") or not operator.output_tensors:
                continue
            inputs = (*operator.input_tensors, -1, -1, -1)
            if inputs[2] < 0:
                yield NO_BIAS, name, use_of(name, operator, subgraph.tensors)
            quantization = subgraph.tensors[inputs[1]].quantization if inputs[1] >= 0 else None
            if name == "FULLY_CONNECTED" and quantization is not None and len(quantization.scale) > 1:
                yield DENSE, name, use_of("CONV_2D", operator, subgraph.tensors)


def _allocated(model: Model, target: Where, what: str) -> Simulation:
    """Return the simulation of a model that TFLM allocates; refuse any other."""
    try:
        return simulate(model, target).unwrap()
    except (ModelError, SimulatedFailure) as error:
        raise refuse(f"TFLM does not allocate the {what} ({error})") from None


class _Converted(Machine):
    """A result whose changed inputs and outputs are converted, so that it takes and gives what the original does."""

    def __init__(self, model: Model, ends: Sequence[ChangedEnd]) -> None:
        super().__init__(model)
        self.ends = ends

    def run(self, inputs: Sequence[Hashes]) -> list[Hashes]:
        """Invoke the result on the original's inputs and return the original's outputs."""
        given = list(inputs)
        for end in self.ends:
            if end.is_input:
                given[end.position] = _converted(end, end.outer, end.inner, given[end.position])
        found = super().run(given)
        for end in self.ends:
            if not end.is_input:
                found[end.position] = _converted(end, end.inner, end.outer, found[end.position])
        return found


def _converted(end: ChangedEnd, source: Tensor, target: Tensor, value: Hashes) -> Hashes:
    """Return what the operator between an end as it was and as it is makes of a value."""
    name = end.operator
    if name is None:
        raise refuse(f"no operator that can stand at an input or output converts {end}")
    call = Call(name, Operator(0, (0,), (1,)), [source], [target], [value], [None])
    made = EVALUATORS[name](call)
    assert made is not None, "both have one shape"
    return made[0]


def _check_interface(original: Model, result: Model, *, int8_io: bool) -> list[ChangedEnd]:
    """Refuse another interface; return the inputs and outputs that may be integers and are."""
    pairs = dict(_pairs_of_ends(original, result))
    changed = changed_ends(original, result) if int8_io else []
    ends = [end for end in changed if end.operator is not None]
    may_differ = {(end.is_input, end.position) for end in ends}
    for (is_input, position), (one, other) in pairs.items():
        if fact := _difference(one, other, is_type_free=(is_input, position) in may_differ):
            raise refuse(f"{fact} of {'input' if is_input else 'output'} {position} is not the original's")
    if list(_signatures(original, may_differ)) != list(_signatures(result, may_differ)):
        raise refuse("the signatures are not the original's")
    return ends


def _pairs_of_ends(original: Model, result: Model) -> Iterator[tuple[tuple[bool, int], tuple[Tensor, Tensor]]]:
    """Yield ((is it an input, position), (as it was, as it is)); refuse another number of inputs or outputs."""
    for is_input, what in ((True, "inputs"), (False, "outputs")):
        here, there = ends_of(original, is_input), ends_of(result, is_input)
        if len(here) != len(there):
            raise refuse(f"the result has {len(there)} {what} instead of {len(here)}")
        for position, pair in enumerate(zip(here, there, strict=True)):
            yield (is_input, position), pair


def _difference(one: Tensor, other: Tensor, *, is_type_free: bool) -> str:
    """Return the first fact that is not the same of two inputs or outputs, "" where none is; names and shapes first."""
    a, b = _facts(one), _facts(other)
    return next((fact for fact in list(a)[: 1 if is_type_free else None] if a[fact] != b[fact]), "")


def _facts(tensor: Tensor) -> dict[str, object]:
    """Return what a user sees of an input or an output."""
    own = tensor.quantization
    return {
        "name or shape": (tensor.name, tensor.shape, tensor.shape_signature, tensor.is_variable),
        "minimum or maximum": own and own.range,
        "type or quantization": (kind(tensor), own.quantized_dimension if own else 0),
    }


def _check_unread(before: Machine, after: Machine) -> None:
    """Refuse an operator whose outputs nobody reads, unless the original has it: a kernel may write beyond them."""
    there = {_signature(before, operator) for operator in before.model.subgraphs[0].operators}
    for machine in (after, *after.loops):
        main = machine.subgraph
        read = {*main.output_tensors, *(index for operator in main.operators for index in operator.input_tensors)}
        for number, operator in enumerate(main.operators):
            outputs, name = operator.output_tensors, machine.name(operator)
            if outputs and not read.intersection(outputs) and _signature(machine, operator) not in there:
                raise refuse(f"the output of #{number} {name} is never read, and the original has no such operator")


def _signature(machine: Machine, operator: Operator) -> tuple[object, ...]:
    """Return what a kernel sees of an operator: its options, and the kinds and shapes of its operands."""
    tensors = machine.subgraph.tensors
    operands = [
        [index if index < 0 else (kind(tensors[index]), tensors[index].shape) for index in indices]
        for indices in (operator.input_tensors, operator.output_tensors)
    ]
    options = sorted(
        (name, str(value)) for name, value in operator.options.items() if not name.endswith(NAMES_SUBGRAPH)
    )
    return machine.name(operator), str(options), str(machine.nested(operator)), str(operands)


def _signatures(model: Model, may_differ: Container[tuple[bool, int]]) -> Iterator[tuple[object, ...]]:
    """Yield each signature with the tensors by what they are, since their indices may change.

    The types of inputs (True) and outputs (False) that may differ are left out, by their places.
    """
    for signature in model.signatures:
        if signature.subgraph_index >= len(model.subgraphs):
            yield signature.key, signature.subgraph_index
            continue
        subgraph = model.subgraphs[signature.subgraph_index]
        is_main = signature.subgraph_index == 0
        free = may_differ if is_main else ()
        places = [_signed(subgraph, *pair, free, is_input=True) for pair in signature.inputs]
        places += [_signed(subgraph, *pair, free, is_input=False) for pair in signature.outputs]
        yield signature.key, is_main, tuple(places)


def _signed(
    subgraph: Subgraph, name: str, tensor: int, may_differ: Container[tuple[bool, int]], *, is_input: bool
) -> tuple[object, ...]:
    """Return what a signature says of an input or output: its name, its place, and what the tensor there is."""
    if not 0 <= tensor < len(subgraph.tensors):
        return name, None, None
    facts, bound = subgraph.tensors[tensor], subgraph.input_tensors if is_input else subgraph.output_tensors
    place = bound.index(tensor) if tensor in bound else None
    is_free = place is not None and (is_input, place) in may_differ
    return name, place, (facts.name, facts.shape, not is_free and kind(facts))


def _pair_states(before: Machine, after: Machine) -> list[tuple[StateKey, StateKey]]:
    """Return which state of the original is which of the result, after they took the same values from the start on."""
    one, other = ({key: [_digest(value)] for key, value in machine.states.items()} for machine in (before, after))
    for moment in range(WARM_UP):
        outputs = []
        for machine, history in ((before, one), (after, other)):
            outputs.append([_digest(output) for output in machine.run(fresh_inputs(machine, f"at {moment}"))])
            for key, value in machine.states.items():
                history.setdefault(key, []).append(_digest(value))
        check_opaque(before, after)
        if outputs[0] != outputs[1]:
            raise refuse(f"invocation {moment} from the start has other outputs")
        if not one and not other:
            return []
    return _pairs_of_equal(one, other)


def _pairs_of_equal(
    one: Mapping[StateKey, Sequence[bytes]], other: Mapping[StateKey, Sequence[bytes]]
) -> list[tuple[StateKey, StateKey]]:
    """Return pairs of states with the same history; refuse a state that is left over."""
    groups: dict[tuple[bytes, ...], list[StateKey]] = {}
    for state, digests in other.items():
        groups.setdefault(tuple(digests), []).append(state)
    # States with one history may differ in what is made of them: of these, resource variables of one name are one. The
    # numbers of tensors say nothing.
    named = {state for state in one if state in other and state[0] != "variable"}
    pairs = []
    for state in sorted(one, key=lambda state: state not in named):
        twins = groups.get(tuple(one[state]))
        if not twins:
            raise refuse(f"the state '{state[1]}' of the original has no counterpart in the result")
        pairs.append((state, twins.pop(twins.index(state) if state in named and state in twins else 0)))
    if any(groups.values()):
        raise refuse("the result has a state that the original does not have")
    return pairs


def _digest(value: Hashes) -> bytes:
    return int(salt(value.tobytes())).to_bytes(8, "little")


def _check_step(before: Machine, after: Machine, pairs: Sequence[tuple[StateKey, StateKey]]) -> Verified:
    """Run one invocation from unknown states and compare outputs and next states, element by element."""
    for number, (one, other) in enumerate(pairs):
        if before.states[one].size != after.states[other].size:
            raise refuse(f"the state '{one[1]}' has another size in the result")
        before.states[one] = symbols(f"state {number}", before.states[one].shape)
        after.states[other] = symbols(f"state {number}", after.states[other].shape)
    expected = before.run(fresh_inputs(before, "any"))
    found = after.run(fresh_inputs(after, "any"))
    check_opaque(before, after)
    for position, (a, b) in enumerate(zip(expected, found, strict=True)):
        compare(f"output {position}", a, b)
    for one, other in pairs:
        compare(f"the next state '{one[1]}'", before.states[one], after.states[other])
    states = sum(before.states[one].size for one, _ in pairs)
    return Verified(sum(each.size for each in expected), states, len(after.model.subgraphs[0].operators))
