"""``Machine``: a model whose main subgraph runs on hashes: every element is the expression that computes it.

    machine = Machine(model)
    outputs = machine.run(fresh_inputs(machine, "any"))      its states have moved on

A loop of ``counted_loops`` runs iteration by iteration, its condition evaluated each time. Any other WHILE, and IF,
depend on everything that they read, on what their subgraphs say, whatever their numbers are, and on the states there,
all of which they change. Both ``verify`` (two files, no memory) and ``plan_check`` (one file, the arena's
bytes) run models like this.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.extensions.shrink.counted_loops import CountedLoop, Place, counted_loops
from tflm_sim.extensions.shrink.evaluators import EVALUATORS
from tflm_sim.extensions.shrink.initial_states import (
    StateKey,
    initial_states,
    resource_key,
    resources_within,
    variable_key,
)
from tflm_sim.extensions.shrink.known_numbers import computed
from tflm_sim.extensions.shrink.refusal import refuse
from tflm_sim.extensions.shrink.symbolic import (
    NAMES_SUBGRAPH,
    Call,
    Hashes,
    bits_hash,
    coefficients,
    constant,
    kind,
    mix,
    opaque,
    operator_name,
    salt,
    subgraphs_named,
    subgraphs_run,
    symbols,
)
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor, TensorType

# Not model/element_types: what checks the rewriting keeps a table of its own.
_NUMBERS: dict[int, str] = {
    TensorType.FLOAT32: "<f4",
    TensorType.FLOAT16: "<f2",
    TensorType.INT32: "<i4",
    TensorType.UINT8: "u1",
    TensorType.INT64: "<i8",
    TensorType.INT16: "<i2",
    TensorType.INT8: "i1",
    TensorType.FLOAT64: "<f8",
}


MAX_LOOP_ELEMENTS = 1 << 28
"""Elements that all iterations of a loop may compute."""
ELEMENTS_OF_A_CALL = 1 << 13
"""What each operator of an iteration counts besides, however small its tensors are."""


@dataclass(frozen=True, slots=True)
class OperatorRun:
    """An operator ran.

    Attributes:
        subgraph, number: The operator's subgraph, and its index there.
        read: The hashes of its inputs.
        known: The inputs' values, where they are known as numbers.
        written: The hashes of its outputs, by tensor.
    """

    subgraph: int
    number: int
    read: Sequence[Hashes | None]
    known: Sequence[NDArray[Any] | None]
    written: Mapping[int, Hashes]


@dataclass(frozen=True, slots=True)
class LoopCopy:
    """A loop copied a tensor's bytes to another one; TFLM copies nothing where both have the same address."""

    source: Place
    target: Place
    value: Hashes


@dataclass(frozen=True, slots=True)
class ConditionRead:
    """A loop read what its condition depends on."""

    place: Place
    value: Hashes


Event = OperatorRun | LoopCopy | ConditionRead


@dataclass(frozen=True, slots=True)
class _Loop:
    """A counted loop, with the places of the values that it carries from one iteration to the next.

    Attributes:
        condition, body: Machines of its subgraphs.
        inputs, outputs: Those of WHILE.
        condition_inputs: The inputs of the condition.
        body_inputs, body_outputs: Those of the body.
    """

    condition: Machine
    body: Machine
    inputs: Sequence[Place]
    outputs: Sequence[Place]
    condition_inputs: Sequence[Place]
    body_inputs: Sequence[Place]
    body_outputs: Sequence[Place]


@dataclass(slots=True)
class Machine:
    """A model of which a subgraph is run on hashes (mutable: the states are its memory).

    Attributes:
        model: The model.
        index: The subgraph: the main one, or one that a loop of it runs.
        states: Hashes of variables, resource variables and hidden states of kernels, by key.
        opaque: The calls of the last invocation that no evaluator knows, by a hash of all that they read and write.
        values: Hashes of each tensor of the subgraph after :meth:`run`; of every version that was written last.
        numbers: The elements of each tensor, where it is a constant or computed from constants; else None.
    """

    model: Model
    index: int = 0
    states: dict[StateKey, Hashes] = field(default_factory=dict)
    values: list[Hashes | None] = field(default_factory=list)
    opaque: dict[int, str] = field(default_factory=dict)
    numbers: list[NDArray[Any] | None] = field(default_factory=list)
    _constants: list[Hashes | None] = field(default_factory=list)
    _numbers: list[NDArray[Any] | None] = field(default_factory=list)
    _looped: dict[int, _Loop] = field(default_factory=dict)
    _unwritten: Iterator[int] = field(default_factory=count)
    _hashes: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tensors = self.subgraph.tensors
        self._constants = [None if t.is_variable else constant(self.model, t) for t in tensors]
        self._numbers = [self._as_numbers(tensor) for tensor in tensors]
        loops = counted_loops(Draft(self.model)) if self.index == 0 else ()
        self._looped = {loop.operator: self._loop_of(loop) for loop in loops if self._is_followed(loop)}
        self.states = initial_states(self.model, self.subgraph)

    def _is_followed(self, loop: CountedLoop) -> bool:
        """Return whether a loop is run iteration by iteration: it does not take too long, and keeps no state."""
        pair = [self.model.subgraphs[index] for index in (loop.condition, loop.body)]
        calls = ELEMENTS_OF_A_CALL * sum(len(each.operators) for each in pair)
        work = loop.iterations * (calls + sum(prod(tensor.dims) for tensor in pair[1].tensors))
        return work <= MAX_LOOP_ELEMENTS and not any(map(self._has_state, pair))

    def _loop_of(self, loop: CountedLoop) -> _Loop:
        """Return a loop with machines of its own; refuse one that copies between tensors that are unlike."""
        operator = self.subgraph.operators[loop.operator]
        condition, body = Machine(self.model, loop.condition), Machine(self.model, loop.body)
        given, made = (
            [(self.index, tensor) for tensor in ends] for ends in (operator.input_tensors, operator.output_tensors)
        )
        looks, runs = ([(each.index, tensor) for tensor in each.subgraph.input_tensors] for each in (condition, body))
        gives = [(body.index, tensor) for tensor in body.subgraph.output_tensors]
        return _Loop(condition, body, given, made, looks, runs, gives)

    @property
    def subgraph(self) -> Subgraph:
        return self.model.subgraphs[self.index]

    @property
    def loops(self) -> list[Machine]:
        """The conditions and bodies of the loops that run iteration by iteration."""
        return [machine for loop in self._looped.values() for machine in (loop.condition, loop.body)]

    def _has_state(self, subgraph: Subgraph) -> bool:
        """Return whether a subgraph keeps anything from one iteration to the next, or runs others."""
        names = [self.name(operator) for operator in subgraph.operators]
        return any(tensor.is_variable for tensor in subgraph.tensors) or any(
            name in STATEFUL or name.startswith(_STATEFUL_NAMES) for name in names
        )

    def _has_hidden_state(self, subgraph: Subgraph) -> bool:
        """Return whether a subgraph itself keeps anything that no resource variable holds."""
        return any(tensor.is_variable for tensor in subgraph.tensors) or any(
            name.startswith((*_STATEFUL_NAMES, "CALL_ONCE")) for name in map(self.name, subgraph.operators)
        )

    def _as_numbers(self, tensor: Tensor) -> NDArray[Any] | None:
        data = self.model.tensor_data(tensor)
        if data is None or tensor.type not in _NUMBERS or tensor.is_variable:
            return None
        dtype = np.dtype(_NUMBERS[tensor.type])
        needed = prod(tensor.dims) * dtype.itemsize
        return np.frombuffer(data[:needed], dtype).reshape(tensor.dims) if len(data) >= needed else None

    def name(self, operator: Operator) -> str:
        """Return an operator's name; custom operators have their own."""
        return operator_name(self.model, operator)

    def forget(self) -> None:
        """Set every state to what is not known: at the first invocation it is like padding, and never again."""
        for key, value in self.states.items():
            self.states[key] = symbols(f"state {key}", value.shape)

    def run(self, inputs: Sequence[Hashes]) -> list[Hashes]:
        """Invoke the model and return its outputs; the states move on."""
        self.begin(inputs)
        for _ in self.steps():
            pass
        outputs = [self._read(index) for index in self.subgraph.output_tensors]
        for position, output in enumerate(outputs):
            if output is None:
                raise refuse(f"nothing writes output {position}")
        return [output for output in outputs if output is not None]

    def begin(self, inputs: Sequence[Hashes], numbers: Sequence[NDArray[Any] | None] = ()) -> None:
        """Set the inputs of an invocation, with what they are where that is known."""
        self.values, self.numbers, self.opaque = list(self._constants), list(self._numbers), {}
        for index, value in zip(self.subgraph.input_tensors, inputs, strict=True):
            self.values[index] = value
        for index, known in zip(self.subgraph.input_tensors, numbers, strict=False):
            self.numbers[index] = known

    def steps(self) -> Iterator[Event]:
        """Run operator by operator; yield what happened."""
        handles: dict[int, StateKey] = {}
        seen: dict[str, int] = {}
        for number, operator in enumerate(self.subgraph.operators):
            read = [self._read(index) for index in operator.input_tensors]
            known = [self.numbers[index] if index >= 0 else None for index in operator.input_tensors]
            if number in self._looped:
                yield from self._loop(number, read, known)
                continue
            name, numbers = self.name(operator), None
            if name in _OF_RESOURCES:
                written = self._use_resource(number, operator, read, handles)
            else:
                written, numbers = self._evaluate(number, operator, name, read, seen)
            for index, value in written.items():
                self._write(index, value, numbers)
            yield OperatorRun(self.index, number, read, known, written)

    def _use_resource(
        self, number: int, operator: Operator, read: Sequence[Hashes | None], handles: dict[int, StateKey]
    ) -> dict[int, Hashes]:
        """Name, read or write a resource variable and return what is written to tensors; CALL_ONCE has run before."""
        name, inputs, outputs = self.name(operator), operator.input_tensors, operator.output_tensors
        if name == "VAR_HANDLE":
            handles[outputs[0]] = resource_key(operator)
        if name in ("VAR_HANDLE", "CALL_ONCE"):
            return {}
        if inputs[0] not in handles:
            raise refuse(f"#{number} names a resource variable by tensor {inputs[0]}, which no VAR_HANDLE wrote")
        key = handles[inputs[0]]
        if name == "READ_VARIABLE":
            return {outputs[0]: self.states[key]}
        value = read[1]
        if value is None:
            raise refuse(f"#{number} ASSIGN_VARIABLE reads a value that was never written")
        self.states[key] = value
        return {}

    def _loop(
        self, number: int, read: Sequence[Hashes | None], known: Sequence[NDArray[Any] | None]
    ) -> Iterator[Event]:
        """Run a counted loop as WHILE does: copy, look, run the body, copy.

        What it carries may be what nobody wrote before, which is then unlike anything else.

        Source: tensorflow/lite/micro/kernels/while.cc @ 90b983c.
        """
        loop = self._looped[number]
        self._refuse_unlike(number, loop)
        values = [
            self._unlike(place) if value is None else value for value, place in zip(read, loop.inputs, strict=True)
        ]
        yield from _copies(loop.inputs, loop.condition_inputs, values)
        yield from _copies(loop.inputs, loop.outputs, values)
        while (yield from loop.condition.looked(values, known)):
            self.opaque.update(loop.condition.opaque)
            yield from _copies(loop.outputs, loop.body_inputs, values)
            loop.body.begin(values, known)
            yield from loop.body.steps()
            self.opaque.update(loop.body.opaque)
            values = [_written(loop.body.values[place[1]], "WHILE", *place) for place in loop.body_outputs]
            known = [loop.body.numbers[index] for _, index in loop.body_outputs]
            yield from _copies(loop.body_outputs, loop.outputs, values)
            yield from _copies(loop.outputs, loop.condition_inputs, values)
        for (_, index), value, numbers in zip(loop.outputs, values, known, strict=True):
            self._write(index, value, numbers)

    def _unlike(self, place: Place) -> Hashes:
        """Return what a tensor holds that nobody wrote: it is unlike anything else."""
        shape = self.subgraph.tensors[place[1]].dims
        return symbols(f"what nobody wrote {id(self)} {next(self._unwritten)}", shape)

    def _refuse_unlike(self, number: int, loop: _Loop) -> None:
        """Refuse a loop that copies between tensors of different kinds, or two values to one tensor."""
        for places in zip(
            loop.inputs, loop.outputs, loop.condition_inputs, loop.body_inputs, loop.body_outputs, strict=True
        ):
            tensors = [self.model.subgraphs[subgraph].tensors[index] for subgraph, index in places]
            if len({(str(kind(tensor)), tensor.shape) for tensor in tensors}) > 1:
                raise refuse(f"#{number} WHILE copies between tensors of different types, quantizations or shapes")
        if any(len(set(places)) < len(places) for places in (loop.outputs, loop.condition_inputs, loop.body_inputs)):
            raise refuse(f"#{number} WHILE copies two values to one tensor")

    def looked(self, values: Sequence[Hashes], known: Sequence[NDArray[Any] | None]) -> Generator[Event, None, bool]:
        """Run a condition and return what it says.

        Raises:
            VerificationFailed: That depends on what is not known.
        """
        self.begin(values, known)
        yield from self.steps()
        place = self.subgraph.output_tensors[0]
        value, said = self.values[place], self.numbers[place]
        if value is None or said is None:
            raise refuse("how often a WHILE runs is not known, though its counter is")
        yield ConditionRead((self.index, place), value)
        return bool(said.ravel()[0])

    def _read(self, index: int) -> Hashes | None:
        if index < 0:
            return None
        return self.states[variable_key(index)] if self._is_variable(index) else self.values[index]

    def _write(self, index: int, value: Hashes, numbers: NDArray[Any] | None = None) -> None:
        if self._is_variable(index):
            self.states[variable_key(index)] = value
        else:
            self.values[index], self.numbers[index] = value, numbers

    def _is_variable(self, index: int) -> bool:
        return index >= 0 and self.subgraph.tensors[index].is_variable

    def _evaluate(
        self, number: int, operator: Operator, name: str, read: Sequence[Hashes | None], seen: dict[str, int]
    ) -> tuple[dict[int, Hashes], NDArray[Any] | None]:
        """Return what an operator writes, by tensor, and its one output in numbers where they are known."""
        outputs = operator.output_tensors
        for index, value in zip(operator.input_tensors, read, strict=True):
            if index >= 0 and value is None:
                raise refuse(f"#{number} {name} reads tensor {index}, which was never written")
        call = self._call(operator, name, read)
        variables = [index for index in operator.input_tensors if self._is_variable(index)]
        if set(variables) & set(outputs):
            raise refuse(f"#{number} {name} writes the variable that it reads")
        try:
            numbers = computed(call)
            known = [bits_hash(numbers.view(f"u{numbers.itemsize}"))] if numbers is not None else _known(call)
        except _BAD_CALL_ERRORS as error:
            raise refuse(f"#{number} {name} has operands that do not fit together ({error})") from None
        if known is None:
            return self._opaque(call, name, variables, outputs, seen), None
        return dict(zip(outputs, known, strict=True)), numbers

    def _call(self, operator: Operator, name: str, read: Sequence[Hashes | None]) -> Call:
        tensors, inputs = self.subgraph.tensors, operator.input_tensors
        return Call(
            name,
            operator,
            [tensors[index] if index >= 0 else None for index in inputs],
            [tensors[index] for index in operator.output_tensors],
            read,
            [self.numbers[index] if index >= 0 else None for index in inputs],
        )

    def _opaque(
        self, call: Call, name: str, variables: Sequence[int], outputs: Sequence[int], seen: dict[str, int]
    ) -> dict[int, Hashes]:
        """Return outputs that depend on all that is read, on the subgraphs that run, and on the kernel's own state."""
        tensors = self.subgraph.tensors
        between = [kind(tensors[index]) for index in call.operator.intermediate_tensors if 0 <= index < len(tensors)]
        total = opaque(call, between, *self.nested(call.operator))
        self.opaque[int(total)] = name
        changed = [*resources_within(self.model, call.operator)]
        if name.startswith(_STATEFUL_NAMES):
            seen[name] = seen.get(name, 0) + 1
            changed.append((f"kernel {name}", str(seen[name])))
        for run in subgraphs_run(self.model, call.operator):
            if self._has_hidden_state(self.model.subgraphs[run]):
                # Two operators that run one subgraph share its state; the subgraph's number may change, its turn not.
                changed.append(("subgraph", str(seen.setdefault(f"subgraph {run}", len(seen)))))
        for key in changed:
            state = self.states.setdefault(key, symbols(f"first {key}", (1,))).ravel()
            read = (state * coefficients("state", state.size)).sum(dtype=np.uint64)
            total = mix(np.array([total + read + salt(key)], np.uint64))[0]
        for key in changed:
            self.states[key] = symbols(f"next {key} {int(total)}", self.states[key].shape)
        for position, index in enumerate(variables):
            self._write(index, symbols(f"variable {position} {int(total)}", tensors[index].dims))
        return {
            index: symbols(f"output {position} {int(total)}", tensors[index].dims)
            for position, index in enumerate(outputs)
        }

    def nested(self, operator: Operator) -> list[tuple[str, int]]:
        """Return for each option that names a subgraph a hash of what it says, whatever its number is."""
        return [(option, self._subgraph_hash(index)) for option, index in subgraphs_named(self.model, operator)]

    def _subgraph_hash(self, index: int) -> int:
        if index in self._hashes:
            return self._hashes[index]
        self._hashes[index] = index  # TFLM does not end where a subgraph runs itself; this does
        subgraph = self.model.subgraphs[index]
        tensors = [(t.shape, kind(t), t.is_variable, bytes(self.model.tensor_data(t) or b"")) for t in subgraph.tensors]
        operators = [
            (
                self.name(o),
                o.inputs,
                o.outputs,
                sorted((k, str(v)) for k, v in o.options.items() if not k.endswith(NAMES_SUBGRAPH)),
                bytes(o.custom_options or b""),
                self.nested(o),
            )
            for o in subgraph.operators
        ]
        self._hashes[index] = int(salt(tensors, operators, subgraph.inputs, subgraph.outputs))
        return self._hashes[index]


_OF_RESOURCES = frozenset({"VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE", "CALL_ONCE"})
_STATEFUL_NAMES = ("custom ", "RANDOM", "MULTINOMIAL")
"""How operators begin whose kernels may keep something from one invocation to the next."""
_BAD_CALL_ERRORS = (ValueError, IndexError, ZeroDivisionError, OverflowError)
"""What numpy and arithmetic say where operands of an operator do not fit together."""


def _known(call: Call) -> list[Hashes] | None:
    """Return the outputs in their shapes, None where no evaluator knows the call."""
    evaluate = EVALUATORS.get(call.name)
    values = evaluate(call) if evaluate is not None and call.inputs and call.outputs else None
    if values is None:
        return None
    return [value.reshape(tensor.dims) for tensor, value in zip(call.outputs, values, strict=True)]


def _copies(sources: Sequence[Place], targets: Sequence[Place], values: Sequence[Hashes]) -> Iterator[LoopCopy]:
    return map(LoopCopy, sources, targets, values)


def _written(value: Hashes | None, who: str, subgraph: int, tensor: int) -> Hashes:
    if value is None:
        raise refuse(f"{who} reads tensor {tensor} of subgraph {subgraph}, which was never written")
    return value


def fresh_inputs(machine: Machine, moment: str) -> list[Hashes]:
    """Return unknown inputs; both models get the same ones."""
    bound = machine.model.subgraphs[0].input_tensors
    shapes = [machine.model.subgraphs[0].tensors[index].dims for index in bound]
    return [symbols(f"input {position} {moment}", shape) for position, shape in enumerate(shapes)]
