"""``Invoke()`` on the arena: every operator reads and writes its real bytes, with patterns instead of numbers.

An operator checks that its inputs hold what their producers left, fills its scratch buffers, its state and its outputs
with patterns of their own, and checks all of them once more before it ends. What an operator does beyond that is a row
of ``_EVAL``: copies copy as upstream's kernels do, and not where the pointers are equal.

    IF          both ways, one after the other, as the planner's scopes run
    WHILE       the condition, then n times body and condition
    CALL_ONCE   in the first invocation
    variables   keep their content from one invocation to the next

An operator that computes in place is a finding: TFLM's plans never do it, since an input lives until its reader ends.

Source: tensorflow/lite/micro/micro_interpreter_graph.cc, kernels/{if,while,call_once,reshape,read_variable,
assign_variable,dynamic_update_slice,kernel_util}.cc, micro_resource_variable.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tflm_sim.allocator.arena_contents import ArenaContents, Slot
from tflm_sim.allocator.findings import BufferId, Finding, FindingCode, Place
from tflm_sim.allocator.interpreter import MicroInterpreter
from tflm_sim.allocator.kernel_driver import KernelDriver
from tflm_sim.allocator.model_allocation import ModelAllocation
from tflm_sim.arena.events import OpEvent
from tflm_sim.errors import ModelError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import MAX_SCOPES, byte_length

# Inputs that the NPU uses as its own memory: Vela lays the operator's other tensors inside them.
ETHOS_U_MEMORY = (2, 3)

# What no plan can help.
MODEL_DEFECTS = frozenset({FindingCode.READ_BEFORE_WRITTEN, FindingCode.COPY_SIZES_DIFFER})

Copied = tuple[tuple[int, int], tuple[int, int]]
"""(subgraph, tensor) from and to."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """What :meth:`Simulation.invoke` saw.

    Attributes:
        findings: What was wrong, each once, in the order of discovery.
        count: How many times each model was invoked.
        operators: How many operators ran.
        checked_bytes: How many bytes were compared with what should be there.
        inputs_alive: For each input of the first model, in order, whether it was still there after the last Invoke().
    """

    findings: tuple[Finding, ...]
    count: int
    operators: int
    checked_bytes: int
    inputs_alive: tuple[bool, ...]

    @property
    def ok(self) -> bool:
        """Whether the plan kept every byte; what the model itself leaves unwritten is not the plan's fault."""
        return all(finding.code in MODEL_DEFECTS for finding in self.findings)


class _InvokeFailed(Exception):
    """The device's Invoke() returns an error; the finding says why."""


class Invoker:
    """Invokes one model of the arena, again and again (mutable).

    Args:
        interpreter: After AllocateTensors().
        number: Which model of the arena it is.
        contents: The arena's bytes, shared by all its models.
        offsets: The plan: head offset by index into the AllocationInfo array.
        while_iterations: How often the body of a WHILE runs.

    Attributes:
        operators: How many operators ran.
    """

    def __init__(
        self,
        interpreter: MicroInterpreter,
        number: int,
        contents: ArenaContents,
        *,
        offsets: dict[int, int],
        while_iterations: int,
    ) -> None:
        assert interpreter.allocation is not None, "AllocateTensors() came first"
        self.operators = 0
        self._contents = contents
        self._model = interpreter.model
        self._allocation: ModelAllocation = interpreter.allocation
        self._while_iterations = while_iterations
        self._has_run: set[Place] = set()
        self._tensors: dict[tuple[int, int], Slot] = {}
        self._scratch: dict[tuple[int, int], list[Slot]] = {}
        self._resources: dict[int, Slot] = {}
        self._driver = KernelDriver(interpreter.allocator, self._allocation)
        self._nodes = {(node.subgraph_index, node.index): (node, model) for node, model in interpreter.nodes}
        self._lay_out(number, offsets)
        self._reset(interpreter)

    def _lay_out(self, number: int, offsets: dict[int, int]) -> None:
        """Give every buffer its bytes."""
        for index, offset in offsets.items():
            info = self._allocation.infos[index]
            if info.tensor >= 0:
                buffer = BufferId("tensor", info.subgraph, info.tensor, number)
                self._tensors[info.subgraph, info.tensor] = self._contents.in_head(buffer, offset, info.size)
            else:
                buffer = BufferId("scratch", info.subgraph, info.scratch, number)
                slot = self._contents.in_head(buffer, offset, info.size)
                self._scratch.setdefault((info.subgraph, info.node), []).append(slot)
        for (subgraph, tensor), offset in self._allocation.variable_offsets.items():
            size = byte_length(self._allocation.subgraph_tensors[subgraph][tensor])
            buffer = BufferId("tensor", subgraph, tensor, number)
            self._tensors[subgraph, tensor] = self._contents.in_tail(buffer, offset, size)

    def _reset(self, interpreter: MicroInterpreter) -> None:
        """``ResetVariableTensors``: every variable holds its zero point."""
        place = Place(0, -1, "AllocateTensors()")
        for (subgraph, index), slot in self._tensors.items():
            tensor = self._allocation.subgraph_tensors[subgraph][index]
            if tensor.tensor.is_variable:
                slot.is_variable = True
                zero_point = tensor.affine.zero_point[0] if tensor.affine else 0
                self._contents.write(slot, bytes([zero_point & 0xFF]) * slot.size, place)
        resources = interpreter.resource_variables
        for resource, stored in enumerate(resources.stored if resources is not None else ()):
            if stored is not None:
                buffer = BufferId("resource variable", 0, resource)
                slot = self._resources[resource] = self._contents.in_tail(buffer, stored.offset, stored.size)
                slot.is_variable = True
                self._contents.write(slot, bytes([stored.default_value & 0xFF]) * slot.size, place)

    def invoke(self) -> None:
        """Write the inputs, run subgraph 0, and look at the outputs and variables."""
        for slot in self._tensors.values():
            if not slot.is_variable:
                slot.content = None
        application = Place(0, -1, "the application, before Invoke()")
        inputs = list(self._slots(0, self._model.subgraphs[0].inputs))
        for slot in inputs:
            self._contents.fill(slot, application)
        self._check(inputs, application)
        try:
            self._subgraph(0)
        except _InvokeFailed:
            return
        end = Place(0, -1, "the end of Invoke()")
        self._check(self._slots(0, self._model.subgraphs[0].outputs), end, FindingCode.OUTPUT_OVERWRITTEN)
        self._check((slot for slot in self._contents.slots if slot.is_variable), end)

    def inputs_alive(self) -> tuple[bool, ...]:
        """Return, for each input of the model, whether its content is intact; True for one that has no bytes."""
        slots = (self._tensors.get((0, tensor)) for tensor in self._model.subgraphs[0].inputs or ())
        return tuple(slot is None or slot.is_intact() for slot in slots)

    def _slots(self, subgraph: int, tensors: Sequence[int] | None) -> Iterator[Slot]:
        """The buffers of tensors, each once; absent and constant ones have none."""
        for tensor in dict.fromkeys(tensors or ()):
            if (slot := self._tensors.get((subgraph, tensor))) is not None:
                yield slot

    def _check(self, slots: Iterable[Slot], place: Place, code: FindingCode = FindingCode.TENSOR_OVERWRITTEN) -> None:
        for slot in slots:
            self._contents.check(slot, place, code)

    def _subgraph(self, index: int) -> None:
        names = self._allocation.op_names[index]
        for operator, name in enumerate(names):
            self.operators += 1
            if self.operators > MAX_SCOPES:
                raise ModelError(f"more than {MAX_SCOPES:,} operators run: not simulated")
            _EVAL.get(name, Invoker._compute)(self, Place(index, operator, name))

    def _ends(self, place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The operator's input and output tensors."""
        operator = self._model.subgraphs[place.subgraph].operators[place.operator]
        return operator.inputs or (), operator.outputs or ()

    def _eval_tensor(self, subgraph: int, tensor: int) -> EvalTensor:
        return self._allocation.subgraph_tensors[subgraph][tensor]

    # -- operators that compute -------------------------------------------------------------------------------------

    def _compute(self, place: Place) -> None:
        inputs, outputs = self._ends(place)
        read = list(self._slots(place.subgraph, inputs))
        written = list(self._slots(place.subgraph, outputs))
        self._check([*read, *(slot for slot in written if slot.is_variable and slot not in read)], place)
        self._ask(place)
        self._write(place, [slot for slot in read if slot.is_variable and slot not in written], written)
        self._check([slot for slot in read if slot not in written], place)

    def _write(self, place: Place, state: Iterable[Slot], outputs: Sequence[Slot]) -> None:
        """Fill scratch buffers, state and outputs; scratch and outputs must all be there in the end."""
        scratch = self._scratch.get((place.subgraph, place.operator), ())
        for slot in (*scratch, *state, *outputs):
            self._contents.fill(slot, place)
        self._check(scratch, place, FindingCode.SCRATCH_OVERWRITTEN)
        self._check(outputs, place)

    def _ask(self, place: Place) -> None:
        """Carry out what the kernel's model asks for in Invoke; few have one."""
        node, op_model = self._nodes[place.subgraph, place.operator]
        if op_model.invoke is not None:
            self._driver.arena.emit(OpEvent("op_invoke", place.subgraph, place.operator, place.name, has=True))
            self._driver.run(node, op_model.invoke(node), state="invoke")
            self._driver.arena.reset_temp_allocations()

    def _ethos_u(self, place: Place) -> None:
        inputs, outputs = self._ends(place)
        own = [inputs[position] for position in ETHOS_U_MEMORY if position < len(inputs)]
        self._check(self._slots(place.subgraph, [tensor for tensor in inputs if tensor not in own]), place)
        for slot in self._slots(place.subgraph, own):
            self._contents.fill(slot, place)
        self._write(place, (), list(self._slots(place.subgraph, outputs)))

    # -- operators that copy ----------------------------------------------------------------------------------------

    def _reshape(self, place: Place) -> None:
        inputs, outputs = self._ends(place)
        source, target = (place.subgraph, inputs[0]), (place.subgraph, outputs[0])
        self._copy([(source, target)], place)
        self._check(self._slots(place.subgraph, [inputs[0], outputs[0]]), place)

    def _dynamic_update_slice(self, place: Place) -> None:
        inputs, outputs = self._ends(place)
        read = list(self._slots(place.subgraph, inputs))
        written = list(self._slots(place.subgraph, outputs))
        self._check(read, place)
        in_place = [slot for slot in read[:1] if slot.is_same_place(written[0])] if written else []
        self._write(place, (), written)
        self._check([slot for slot in read if slot not in in_place], place)

    def _copy(self, pairs: Iterable[Copied], place: Place) -> None:
        """Copy tensors; the kernels give up when a pair differs in size."""
        for source, target in pairs:
            ends = [(BufferId("tensor", *end), byte_length(self._eval_tensor(*end))) for end in (source, target)]
            self._compare_sizes(ends, place)
            self._copy_slot(self._tensors.get(source), self._tensors.get(target), place)
            slot, resource = self._tensors.get(target), self._eval_tensor(*source).resource_id
            if slot is not None and resource is not None:
                slot.resource_id = resource

    def _compare_sizes(self, ends: Sequence[tuple[BufferId, int]], place: Place) -> None:
        (source, size), (target, room) = ends
        if size != room:
            message = f"{source} has {size:,} bytes, {target} has {room:,}: the device's Invoke() fails here"
            code, noticed = FindingCode.COPY_SIZES_DIFFER, (place.subgraph, place.operator)
            self._contents.note(Finding(code, str(place), message, victim=target, offender=source, noticed=noticed))
            raise _InvokeFailed

    def _copy_slot(self, source: Slot | None, target: Slot | None, place: Place) -> None:
        if source is not None:
            self._contents.check(source, place)
        if target is None:
            return
        if source is None:
            self._contents.fill(target, place)
        else:
            self._compare_sizes([(slot.buffer, slot.size) for slot in (source, target)], place)
            self._contents.copy(source, target, place)

    def _read_variable(self, place: Place) -> None:
        inputs, outputs = self._ends(place)
        variable = self._resource(place.subgraph, inputs[0])
        for output in self._slots(place.subgraph, outputs):
            self._copy_slot(variable, output, place)
        self._check(self._slots(place.subgraph, outputs), place)

    def _assign_variable(self, place: Place) -> None:
        inputs, _ = self._ends(place)
        variable = self._resource(place.subgraph, inputs[0])
        self._copy_slot(self._tensors.get((place.subgraph, inputs[1])), variable, place)

    def _resource(self, subgraph: int, tensor: int) -> Slot | None:
        """The resource variable that a tensor names; None when its id is known to the device only."""
        eval_tensor, slot = self._eval_tensor(subgraph, tensor), self._tensors.get((subgraph, tensor))
        resource = eval_tensor.resource_id
        if resource is None and eval_tensor.data is not None and len(eval_tensor.data) >= 4:
            resource = struct.unpack_from("<i", eval_tensor.data)[0]
        if resource is None and slot is not None:
            resource = slot.resource_id
        return None if resource is None else self._resources.get(resource)

    # -- operators that run other subgraphs -------------------------------------------------------------------------

    def _option(self, place: Place, name: str) -> int:
        index = self._model.subgraphs[place.subgraph].operators[place.operator].options[name]
        assert isinstance(index, int), f"{name} is an integer"
        return index

    def _pairs(self, source: Sequence[tuple[int, int]], target: Sequence[tuple[int, int]]) -> list[Copied]:
        return list(zip(source, target, strict=False))

    def _of(self, subgraph: int, tensors: Sequence[int] | None) -> list[tuple[int, int]]:
        return [(subgraph, tensor) for tensor in tensors or ()]

    def _run(self, subgraph: int, place: Place, outputs: Sequence[tuple[int, int]]) -> None:
        """Run a subgraph and copy its outputs to those of the operator."""
        self._subgraph(subgraph)
        self._copy(self._pairs(self._of(subgraph, self._model.subgraphs[subgraph].outputs), outputs), place)

    def _if(self, place: Place) -> None:
        inputs, outputs = (self._of(place.subgraph, tensors) for tensors in self._ends(place))
        self._check(self._slots(place.subgraph, [inputs[0][1]]), place)
        for branch in ("then_subgraph_index", "else_subgraph_index"):
            entered = self._option(place, branch)
            self._copy(self._pairs(inputs[1:], self._of(entered, self._model.subgraphs[entered].inputs)), place)
            self._run(entered, place, outputs)

    def _while(self, place: Place) -> None:
        inputs, outputs = (self._of(place.subgraph, tensors) for tensors in self._ends(place))
        condition, body = (self._option(place, name) for name in ("cond_subgraph_index", "body_subgraph_index"))
        into = {index: self._of(index, self._model.subgraphs[index].inputs) for index in (condition, body)}
        self._copy(self._pairs(inputs, into[condition]), place)
        self._copy(self._pairs(inputs, outputs), place)
        self._condition(condition, place)
        for _ in range(self._while_iterations):
            self._copy(self._pairs(outputs, into[body]), place)
            self._run(body, place, outputs)
            self._copy(self._pairs(outputs, into[condition]), place)
            self._condition(condition, place)

    def _condition(self, subgraph: int, place: Place) -> None:
        self._subgraph(subgraph)
        self._check(self._slots(subgraph, (self._model.subgraphs[subgraph].outputs or ())[:1]), place)

    def _call_once(self, place: Place) -> None:
        if place not in self._has_run:
            self._has_run.add(place)
            self._subgraph(self._option(place, "init_subgraph_index"))

    def _nothing(self, place: Place) -> None:
        """VAR_HANDLE: its output points at the id since Prepare."""


_EVAL: dict[str, Callable[[Invoker, Place], None]] = {
    "ASSIGN_VARIABLE": Invoker._assign_variable,
    "CALL_ONCE": Invoker._call_once,
    "DYNAMIC_UPDATE_SLICE": Invoker._dynamic_update_slice,
    "IF": Invoker._if,
    "READ_VARIABLE": Invoker._read_variable,
    "RESHAPE": Invoker._reshape,
    "VAR_HANDLE": Invoker._nothing,
    "WHILE": Invoker._while,
    "ethos-u": Invoker._ethos_u,
}
