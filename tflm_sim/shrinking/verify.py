"""``verify()``: two .tflite files that compute the same, said by a method that knows none of the passes.

It reads both files and checks

1. the interface: names, shapes, types and quantization of inputs and outputs, signatures;
2. the initial states, and which state of one file is which state of the other (they take the same values over a few
   invocations from the start);
3. one invocation on unknown inputs and unknown states: every output element, and every element of every next state, is
   the same expression in both (:mod:`~tflm_sim.shrinking.symbolic`). With 2. that is an induction over all invocations;
4. for a result with an offline plan, on each target: every operator finds in the arena what its inputs should hold, and
   writes nothing that it still reads (:mod:`~tflm_sim.shrinking.plan_check`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.errors import TflmSimError
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model, Operator, Tensor
from tflm_sim.shrinking.evaluators import EVALUATORS
from tflm_sim.shrinking.symbolic import (
    Call,
    Hashes,
    constant,
    filled,
    kind,
    mix,
    opaque,
    quantization_facts,
    salt,
    symbols,
)

WARM_UP = 3
"""Invocations from the start that tell which state is which."""
StateKey = tuple[str, str]

_NUMBERS: dict[int, str] = {0: "<f4", 1: "<f2", 2: "<i4", 3: "u1", 4: "<i8", 7: "<i2", 9: "i1", 10: "<f8"}


class VerificationFailed(TflmSimError):
    """The result is not what it should be; nothing is written."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked: output elements, state elements, operators of the result."""

    outputs: int
    states: int
    operators: int

    def __str__(self) -> str:
        states = f" and {self.states:,} of state" if self.states else ""
        return (
            f"{self.outputs:,} output elements{states} are the same expressions in both files "
            f"({self.operators} operators read)"
        )


def verify(original: Model, result: Model) -> Verified:
    """Check that two files compute the same.

    Raises:
        VerificationFailed: They do not, or it cannot be told.
    """
    _check_interface(original, result)
    with np.errstate(over="ignore"):
        before, after = Machine(original), Machine(result)
        pairs = _pair_states(before, after)
        return _check_step(before, after, pairs)


def _refuse(sentence: str) -> VerificationFailed:
    return VerificationFailed(f"refused: {sentence}; nothing is written")


def _check_interface(original: Model, result: Model) -> None:
    """Refuse another interface."""
    for what, one, other in (
        ("inputs", _bound(original, "inputs"), _bound(result, "inputs")),
        ("outputs", _bound(original, "outputs"), _bound(result, "outputs")),
    ):
        if len(one) != len(other):
            raise _refuse(f"the result has {len(other)} {what} instead of {len(one)}")
        for index, (a, b) in enumerate(zip(one, other, strict=True)):
            if (a.name, a.shape, a.shape_signature, a.is_variable) != (
                b.name,
                b.shape,
                b.shape_signature,
                b.is_variable,
            ):
                raise _refuse(f"name or shape of {what[:-1]} {index} is not the original's")
            if (a.quantization and a.quantization.range) != (b.quantization and b.quantization.range):
                raise _refuse(f"minimum or maximum of {what[:-1]} {index} is not the original's")
            axis = [t.quantization.quantized_dimension if t.quantization else 0 for t in (a, b)]
            if kind(a) != kind(b) or axis[0] != axis[1]:
                raise _refuse(f"type or quantization of {what[:-1]} {index} is not the original's")
    if list(_signatures(original)) != list(_signatures(result)):
        raise _refuse("the signatures are not the original's")


def _bound(model: Model, what: str) -> list[Tensor]:
    main = model.subgraphs[0]
    return [main.tensors[index] for index in (main.inputs if what == "inputs" else main.outputs) or ()]


def _signatures(model: Model) -> Iterator[tuple[object, ...]]:
    """Yield each signature with the tensors by what they are, since their indices may change."""
    for signature in model.signatures:
        if signature.subgraph_index >= len(model.subgraphs):
            yield signature.key, signature.subgraph_index
            continue
        subgraph = model.subgraphs[signature.subgraph_index]
        places = []
        for pairs, bound in ((signature.inputs, subgraph.inputs or ()), (signature.outputs, subgraph.outputs or ())):
            for name, tensor in pairs:
                facts = subgraph.tensors[tensor] if 0 <= tensor < len(subgraph.tensors) else None
                where = bound.index(tensor) if tensor in bound else None
                places.append((name, where, facts and (facts.name, facts.shape, kind(facts))))
        yield signature.key, signature.subgraph_index == 0, tuple(places)


@dataclass(slots=True)
class Machine:
    """A model whose main subgraph is run on hashes (mutable: the states are its memory).

    Attributes:
        model: The model.
        states: Hashes of variables, resource variables and hidden states of kernels, by key.
        values: Hashes of each tensor of the main subgraph after :meth:`run`; of every version that was written last.
    """

    model: Model
    states: dict[StateKey, Hashes] = field(default_factory=dict)
    values: list[Hashes | None] = field(default_factory=list)
    _constants: list[Hashes | None] = field(default_factory=list)
    _numbers: list[NDArray[Any] | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        tensors = self.model.subgraphs[0].tensors
        self._constants = [None if t.is_variable else constant(self.model, t) for t in tensors]
        self._numbers = [self._as_numbers(tensor) for tensor in tensors]
        for index, tensor in enumerate(tensors):
            if tensor.is_variable:
                self.states["variable", str(index)] = filled(tensor, _reset_byte(tensor))
        self._name_resources()

    def _as_numbers(self, tensor: Tensor) -> NDArray[Any] | None:
        data = self.model.tensor_data(tensor)
        if data is None or tensor.type not in _NUMBERS or tensor.is_variable:
            return None
        dtype = np.dtype(_NUMBERS[tensor.type])
        needed = _count(tensor) * dtype.itemsize
        return np.frombuffer(data[:needed], dtype).reshape(tensor.shape or ()) if len(data) >= needed else None

    def name(self, operator: Operator) -> str:
        """Return an operator's name; custom operators have their own."""
        code = self.model.operator_codes[operator.opcode_index]
        return f"custom {code.custom_code}" if code.custom_code is not None else BUILTIN_OPERATORS[code.builtin_code]

    def _name_resources(self) -> None:
        """Set resource variables to what CALL_ONCE assigns, the others to their zero point."""
        main = self.model.subgraphs[0]
        handles: dict[int, StateKey] = {}
        for operator in main.operators:
            name, inputs, outputs = self.name(operator), operator.inputs or (), operator.outputs or ()
            if name == "VAR_HANDLE":
                handles[outputs[0]] = _resource(operator)
            elif name in ("READ_VARIABLE", "ASSIGN_VARIABLE") and inputs[0] in handles:
                tensor = main.tensors[outputs[0] if name == "READ_VARIABLE" else inputs[1]]
                self.states.setdefault(handles[inputs[0]], filled(tensor, _reset_byte(tensor)))
        for operator in main.operators:
            if self.name(operator) == "CALL_ONCE":
                self._call_once(operator)

    def _call_once(self, operator: Operator) -> None:
        """Assign the constants that a CALL_ONCE subgraph assigns; refuse one that does more."""
        index = operator.options.get("init_subgraph_index", 0)
        assert isinstance(index, int), "a subgraph's index is a number"
        subgraph = self.model.subgraphs[index]
        handles: dict[int, StateKey] = {}
        for each in subgraph.operators:
            name, inputs = self.name(each), each.inputs or ()
            if name == "VAR_HANDLE":
                handles[(each.outputs or ())[0]] = _resource(each)
                continue
            value = constant(self.model, subgraph.tensors[inputs[1]]) if name == "ASSIGN_VARIABLE" else None
            if value is None or inputs[0] not in handles:
                raise _refuse(f"a CALL_ONCE subgraph does more than set variables to constants ({name})")
            key = handles[inputs[0]]
            if key in self.states:
                self.states[key] = value.reshape(self.states[key].shape)

    def run(self, inputs: Sequence[Hashes]) -> list[Hashes]:
        """Invoke the model and return its outputs; the states move on."""
        main = self.model.subgraphs[0]
        self.begin(inputs)
        for _ in self.steps():
            pass
        outputs = [self._read(index) for index in main.outputs or ()]
        for position, output in enumerate(outputs):
            if output is None:
                raise _refuse(f"nothing writes output {position}")
        return [output for output in outputs if output is not None]

    def begin(self, inputs: Sequence[Hashes]) -> None:
        """Set the inputs of an invocation."""
        self.values = list(self._constants)
        for index, value in zip(self.model.subgraphs[0].inputs or (), inputs, strict=True):
            self.values[index] = value

    def steps(self) -> Iterator[tuple[int, list[Hashes | None], dict[int, Hashes]]]:
        """Run operator by operator; yield (operator, what it reads, what it writes by tensor) after each."""
        handles: dict[int, StateKey] = {}
        seen: dict[str, int] = {}
        for number, operator in enumerate(self.model.subgraphs[0].operators):
            name, inputs, outputs = self.name(operator), operator.inputs or (), operator.outputs or ()
            read = [self._read(index) for index in inputs]
            written: dict[int, Hashes] = {}
            if name == "VAR_HANDLE":
                handles[outputs[0]] = _resource(operator)
            elif name == "READ_VARIABLE":
                written = {outputs[0]: self.states[handles[inputs[0]]]}
            elif name == "ASSIGN_VARIABLE":
                value = read[1]
                if value is None:
                    raise _refuse(f"#{number} ASSIGN_VARIABLE reads what nobody wrote")
                self.states[handles[inputs[0]]] = value
            elif name != "CALL_ONCE":
                written = self._evaluate(number, operator, name, read, seen)
            for index, value in written.items():
                self._write(index, value)
            yield number, read, written

    def _read(self, index: int) -> Hashes | None:
        if index < 0:
            return None
        return self.states["variable", str(index)] if self._is_variable(index) else self.values[index]

    def _write(self, index: int, value: Hashes) -> None:
        if self._is_variable(index):
            self.states["variable", str(index)] = value
        else:
            self.values[index] = value

    def _is_variable(self, index: int) -> bool:
        return self.model.subgraphs[0].tensors[index].is_variable

    def _evaluate(
        self, number: int, operator: Operator, name: str, read: Sequence[Hashes | None], seen: dict[str, int]
    ) -> dict[int, Hashes]:
        """Return what an operator writes, by tensor."""
        tensors = self.model.subgraphs[0].tensors
        inputs, outputs = operator.inputs or (), operator.outputs or ()
        for index, value in zip(inputs, read, strict=True):
            if index >= 0 and value is None:
                raise _refuse(f"#{number} {name} reads tensor {index}, which nobody wrote")
        call = Call(
            name,
            operator,
            [tensors[index] if index >= 0 else None for index in inputs],
            [tensors[index] for index in outputs],
            read,
            [self._numbers[index] if index >= 0 else None for index in inputs],
        )
        variables = [index for index in inputs if index >= 0 and self._is_variable(index)]
        if set(variables) & set(outputs):
            raise _refuse(f"#{number} {name} writes the variable that it reads")
        evaluate = EVALUATORS.get(name)
        try:
            known = evaluate(call) if evaluate is not None and inputs and outputs else None
        except (ValueError, IndexError) as error:
            raise _refuse(f"#{number} {name} has operands that do not fit together ({error})") from None
        if known is not None:
            return {
                index: value
                if value.shape == (tensors[index].shape or ())
                else value.reshape(tensors[index].shape or ())
                for index, value in zip(outputs, known, strict=True)
            }
        return self._opaque(call, name, variables, outputs, seen)

    def _opaque(
        self, call: Call, name: str, variables: Sequence[int], outputs: Sequence[int], seen: dict[str, int]
    ) -> dict[int, Hashes]:
        """Return outputs that depend on all that is read, on the subgraphs that run, and on the kernel's own state."""
        tensors = self.model.subgraphs[0].tensors
        total = opaque(call, *self._nested(call.operator))
        if name.startswith(("custom ", "RANDOM", "MULTINOMIAL")):
            seen[name] = seen.get(name, 0) + 1
            key = (f"kernel {name}", str(seen[name]))
            total = total + self.states.setdefault(key, symbols(f"first {key}", (1,)))[0]
            self.states[key] = mix(np.array([total], np.uint64))
        for position, index in enumerate(variables):
            self._write(index, symbols(f"variable {position} {int(total)}", tensors[index].shape or ()))
        return {
            index: symbols(f"output {position} {int(total)}", tensors[index].shape or ())
            for position, index in enumerate(outputs)
        }

    def _nested(self, operator: Operator) -> list[int]:
        """Return a hash of each subgraph that an operator runs, whatever its number is."""
        found = []
        for option, value in sorted(operator.options.items()):
            if option.endswith("_subgraph_index") and isinstance(value, int) and 0 <= value < len(self.model.subgraphs):
                found.append(int(self._subgraph_hash(value)))
        return found

    def _subgraph_hash(self, index: int) -> np.uint64:
        subgraph = self.model.subgraphs[index]
        tensors = [(t.shape, kind(t), t.is_variable, bytes(self.model.tensor_data(t) or b"")) for t in subgraph.tensors]
        operators = [
            (
                self.name(o),
                o.inputs,
                o.outputs,
                sorted((k, str(v)) for k, v in o.options.items() if not k.endswith("_subgraph_index")),
                bytes(o.custom_options or b""),
                self._nested(o),
            )
            for o in subgraph.operators
        ]
        return salt(tensors, operators, subgraph.inputs, subgraph.outputs)


def _count(tensor: Tensor) -> int:
    count = 1
    for size in tensor.shape or ():
        count *= size
    return count


def _resource(operator: Operator) -> StateKey:
    return "resource", f"{operator.options.get('container') or ''}/{operator.options.get('shared_name') or ''}"


def _reset_byte(tensor: Tensor) -> int:
    """Return the byte that TFLM fills a state with: the low one of its zero point."""
    facts = quantization_facts(tensor.quantization)
    points = facts[1] if facts else ()
    return int(points[0]) & 0xFF if isinstance(points, tuple) and points else 0


def fresh_inputs(machine: Machine, moment: str) -> list[Hashes]:
    """Return unknown inputs; both models get the same ones."""
    bound = machine.model.subgraphs[0].inputs or ()
    shapes = [machine.model.subgraphs[0].tensors[index].shape or () for index in bound]
    return [symbols(f"input {position} {moment}", shape) for position, shape in enumerate(shapes)]


def _pair_states(before: Machine, after: Machine) -> list[tuple[StateKey, StateKey]]:
    """Return which state of the original is which of the result, after they took the same values from the start on."""
    histories: list[dict[StateKey, list[bytes]]] = []
    for machine in (before, after):
        start = dict(machine.states)
        history = {key: [_digest(value)] for key, value in start.items()}
        for moment in range(WARM_UP):
            outputs = machine.run(fresh_inputs(machine, f"at {moment}"))
            for key, value in machine.states.items():
                history.setdefault(key, []).append(_digest(value))
            history["", f"outputs {moment}"] = [_digest(output) for output in outputs]
        histories.append(history)
    one, other = histories
    for moment in range(WARM_UP):
        key = ("", f"outputs {moment}")
        if one.pop(key) != other.pop(key):
            raise _refuse(f"invocation {moment} from the start has other outputs")
    groups: dict[tuple[bytes, ...], list[StateKey]] = {}
    for state, digests in other.items():
        groups.setdefault(tuple(digests), []).append(state)
    pairs = []
    for state, digests in one.items():
        twins = groups.get(tuple(digests))
        if not twins:
            raise _refuse(f"the state '{state[1]}' of the original has no counterpart in the result")
        pairs.append((state, twins.pop(0)))
    if any(groups.values()):
        raise _refuse("the result has a state that the original has not")
    return pairs


def _digest(value: Hashes) -> bytes:
    return int(salt(value.tobytes())).to_bytes(8, "little")


def _check_step(before: Machine, after: Machine, pairs: Sequence[tuple[StateKey, StateKey]]) -> Verified:
    """Run one invocation from unknown states and compare outputs and next states, element by element."""
    for number, (one, other) in enumerate(pairs):
        if before.states[one].size != after.states[other].size:
            raise _refuse(f"the state '{one[1]}' has another size in the result")
        before.states[one] = symbols(f"state {number}", before.states[one].shape)
        after.states[other] = symbols(f"state {number}", after.states[other].shape)
    expected = before.run(fresh_inputs(before, "any"))
    found = after.run(fresh_inputs(after, "any"))
    for position, (a, b) in enumerate(zip(expected, found, strict=True)):
        _compare(f"output {position}", a, b)
    for one, other in pairs:
        _compare(f"the next state '{one[1]}'", before.states[one], after.states[other])
    states = sum(before.states[one].size for one, _ in pairs)
    return Verified(sum(each.size for each in expected), states, len(after.model.subgraphs[0].operators))


def _compare(what: str, expected: Hashes, found: Hashes) -> None:
    """Refuse where an element is another expression."""
    if expected.size != found.size:
        raise _refuse(f"{what} has {found.size} elements instead of {expected.size}")
    wrong = np.flatnonzero(expected.ravel() != found.ravel())
    if wrong.size:
        first = np.unravel_index(int(wrong[0]), expected.shape) if expected.ndim else ()
        place = ", ".join(str(int(index)) for index in first)
        raise _refuse(f"{wrong.size:,} of {expected.size:,} elements of {what} are computed otherwise, first [{place}]")
