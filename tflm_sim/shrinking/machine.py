"""``Machine``: a model whose main subgraph runs on hashes: every element is the expression that computes it.

    machine = Machine(model)
    outputs = machine.run(fresh_inputs(machine, "any"))      its states have moved on

Both ``verify`` (two files, no memory) and ``plan_check`` (one file, the bytes of the arena) run models like this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.errors import TflmSimError
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model, Operator, Tensor, TensorType
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
from tflm_sim.values import dataclass, field

StateKey = tuple[str, str]

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


class VerificationFailed(TflmSimError):
    """The result is not what it should be; nothing is written."""

    exit_code = 1


def refuse(sentence: str) -> VerificationFailed:
    """Return the error for a result that is not accepted."""
    return VerificationFailed(f"refused: {sentence}; nothing is written")


@dataclass(slots=True)
class Machine:
    """A model whose main subgraph is run on hashes (mutable: the states are its memory).

    Attributes:
        model: The model.
        states: Hashes of variables, resource variables and hidden states of kernels, by key.
        opaque: The calls of the last invocation that no evaluator knows, by a hash of all that they read and write.
        values: Hashes of each tensor of the main subgraph after :meth:`run`; of every version that was written last.
    """

    model: Model
    states: dict[StateKey, Hashes] = field(default_factory=dict)
    values: list[Hashes | None] = field(default_factory=list)
    opaque: dict[int, str] = field(default_factory=dict)
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
            name, inputs, outputs = self.name(operator), operator.input_tensors, operator.output_tensors
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
        if not isinstance(index, int) or not 0 < index < len(self.model.subgraphs):
            raise refuse(f"CALL_ONCE runs subgraph {index}, of {len(self.model.subgraphs)}")
        subgraph = self.model.subgraphs[index]
        handles: dict[int, StateKey] = {}
        for each in subgraph.operators:
            name, inputs = self.name(each), each.input_tensors
            if name == "VAR_HANDLE":
                handles[each.output_tensors[0]] = _resource(each)
                continue
            value = constant(self.model, subgraph.tensors[inputs[1]]) if name == "ASSIGN_VARIABLE" else None
            if value is None or inputs[0] not in handles:
                raise refuse(f"a CALL_ONCE subgraph does more than set variables to constants ({name})")
            key = handles[inputs[0]]
            if key in self.states and value.size != self.states[key].size:
                raise refuse(f"CALL_ONCE sets '{key[1]}' to {value.size} elements instead of {self.states[key].size}")
            if key in self.states:
                self.states[key] = value.reshape(self.states[key].shape)

    def run(self, inputs: Sequence[Hashes]) -> list[Hashes]:
        """Invoke the model and return its outputs; the states move on."""
        main = self.model.subgraphs[0]
        self.begin(inputs)
        for _ in self.steps():
            pass
        outputs = [self._read(index) for index in main.output_tensors]
        for position, output in enumerate(outputs):
            if output is None:
                raise refuse(f"nothing writes output {position}")
        return [output for output in outputs if output is not None]

    def begin(self, inputs: Sequence[Hashes]) -> None:
        """Set the inputs of an invocation."""
        self.values, self.opaque = list(self._constants), {}
        for index, value in zip(self.model.subgraphs[0].input_tensors, inputs, strict=True):
            self.values[index] = value

    def steps(self) -> Iterator[tuple[int, list[Hashes | None], dict[int, Hashes]]]:
        """Run operator by operator; yield (operator, what it reads, what it writes by tensor) after each."""
        handles: dict[int, StateKey] = {}
        seen: dict[str, int] = {}
        for number, operator in enumerate(self.model.subgraphs[0].operators):
            name, inputs, outputs = self.name(operator), operator.input_tensors, operator.output_tensors
            read = [self._read(index) for index in inputs]
            written: dict[int, Hashes] = {}
            if name == "VAR_HANDLE":
                handles[outputs[0]] = _resource(operator)
            elif name == "READ_VARIABLE":
                written = {outputs[0]: self.states[_handle(handles, number, inputs[0])]}
            elif name == "ASSIGN_VARIABLE":
                value = read[1]
                if value is None:
                    raise refuse(f"#{number} ASSIGN_VARIABLE reads what nobody wrote")
                self.states[_handle(handles, number, inputs[0])] = value
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
        outputs = operator.output_tensors
        for index, value in zip(operator.input_tensors, read, strict=True):
            if index >= 0 and value is None:
                raise refuse(f"#{number} {name} reads tensor {index}, which nobody wrote")
        call = self._call(operator, name, read)
        variables = [index for index in operator.input_tensors if index >= 0 and self._is_variable(index)]
        if set(variables) & set(outputs):
            raise refuse(f"#{number} {name} writes the variable that it reads")
        try:
            known = _known(call)
        except _UNFIT as error:
            raise refuse(f"#{number} {name} has operands that do not fit together ({error})") from None
        return (
            self._opaque(call, name, variables, outputs, seen)
            if known is None
            else dict(zip(outputs, known, strict=True))
        )

    def _call(self, operator: Operator, name: str, read: Sequence[Hashes | None]) -> Call:
        """Return an operator with all that it reads."""
        tensors, inputs = self.model.subgraphs[0].tensors, operator.input_tensors
        return Call(
            name,
            operator,
            [tensors[index] if index >= 0 else None for index in inputs],
            [tensors[index] for index in operator.output_tensors],
            read,
            [self._numbers[index] if index >= 0 else None for index in inputs],
        )

    def _opaque(
        self, call: Call, name: str, variables: Sequence[int], outputs: Sequence[int], seen: dict[str, int]
    ) -> dict[int, Hashes]:
        """Return outputs that depend on all that is read, on the subgraphs that run, and on the kernel's own state."""
        tensors = self.model.subgraphs[0].tensors
        between = [kind(tensors[index]) for index in call.operator.intermediates or () if 0 <= index < len(tensors)]
        total = opaque(call, between, *self._nested(call.operator))
        self.opaque[int(total)] = name
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


_UNFIT = (ValueError, IndexError, ZeroDivisionError, OverflowError)
"""What numpy and arithmetic say where operands of an operator do not fit together."""


def _known(call: Call) -> list[Hashes] | None:
    """Return the outputs in their shapes, None where no evaluator knows the call."""
    evaluate = EVALUATORS.get(call.name)
    values = evaluate(call) if evaluate is not None and call.inputs and call.outputs else None
    if values is None:
        return None
    return [value.reshape(tensor.shape or ()) for tensor, value in zip(call.outputs, values, strict=True)]


def _handle(handles: dict[int, StateKey], number: int, tensor: int) -> StateKey:
    if tensor not in handles:
        raise refuse(f"#{number} names a resource variable by tensor {tensor}, which no VAR_HANDLE wrote")
    return handles[tensor]


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
    bound = machine.model.subgraphs[0].input_tensors
    shapes = [machine.model.subgraphs[0].tensors[index].shape or () for index in bound]
    return [symbols(f"input {position} {moment}", shape) for position, shape in enumerate(shapes)]
