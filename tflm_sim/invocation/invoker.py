"""``Invoker``: one model on the arena's bytes, operator by operator, with noise instead of numbers.

An operator checks that its inputs hold what their producers left, fills its scratch buffers, its state and its outputs
with noise of their own, and checks all of them once more before it ends. What an operator does beyond that is a row of
``invoke_kernels.EVAL``, which whoever makes an invoker hands in.

Source: tensorflow/lite/micro/micro_interpreter_graph.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from tflm_sim.arena.events import OpEvent
from tflm_sim.arena.stages import Stage
from tflm_sim.device.interpreter import MicroInterpreter
from tflm_sim.device.kernel_driver import KernelDriver
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import ModelError, SimulatedFailure
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import MAX_SCOPES, byte_length
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.invocation.arena_contents import ArenaContents, Slot
from tflm_sim.invocation.findings import BufferId, Finding, FindingCode, Place, TensorKey


class InvokeFailed(Exception):
    """The device's Invoke() returns an error; the finding says why."""


class Invoker:
    """Invokes one model of the arena, again and again (mutable).

    Args:
        interpreter: After AllocateTensors().
        number: Which model of the arena it is.
        contents: The arena's bytes, shared by all its models.
        plan: Head offset by index into the AllocationInfo array.
        kernels: What operators do with their bytes beyond computing, by name.
        while_iterations: How often the body of a WHILE runs.

    Attributes:
        operators: How many operators ran.
        has_run: The CALL_ONCE operators that ran.
        resources: The buffers of the resource variables, by id.
    """

    def __init__(
        self,
        interpreter: MicroInterpreter,
        number: int,
        contents: ArenaContents,
        *,
        plan: Mapping[int, int],
        kernels: Mapping[str, Callable[[Invoker, Place], None]],
        while_iterations: int,
    ) -> None:
        assert interpreter.allocation is not None, "AllocateTensors() came first"
        self.operators = 0
        self.contents = contents
        self.model = interpreter.model
        self.while_iterations = while_iterations
        self.has_run: set[Place] = set()
        self.resources: dict[int, Slot] = {}
        self._kernels = kernels
        self._number = number
        self._allocation: ModelAllocation = interpreter.allocation
        self._tensors: dict[TensorKey, Slot] = {}
        self._scratch: dict[tuple[int, int], list[Slot]] = {}
        self._driver = KernelDriver(interpreter.allocator, self._allocation)
        self._nodes = {(node.subgraph_index, node.index): (node, model) for node, model in interpreter.nodes}
        self._lay_out(plan)
        self._reset(interpreter.resource_variables)

    def _lay_out(self, plan: Mapping[int, int]) -> None:
        """Give every buffer of the plan, and every variable tensor, its bytes."""
        for index, offset in plan.items():
            info = self._allocation.infos[index]
            if info.tensor >= 0:
                buffer = BufferId("tensor", info.subgraph, info.tensor, self._number)
                self._tensors[info.subgraph, info.tensor] = self.contents.in_head(buffer, offset, info.size)
            else:
                buffer = BufferId("scratch", info.subgraph, info.scratch, self._number)
                slot = self.contents.in_head(buffer, offset, info.size)
                self._scratch.setdefault((info.subgraph, info.node), []).append(slot)
        for (subgraph, tensor), offset in self._allocation.variable_offsets.items():
            buffer = BufferId("tensor", subgraph, tensor, self._number)
            size = byte_length(self.eval_tensor(subgraph, tensor))
            self._tensors[subgraph, tensor] = self.contents.in_tail(buffer, offset, size)

    def _reset(self, resources: ResourceVariables | None) -> None:
        """``ResetVariableTensors``: every variable holds its zero point."""
        for key, slot in self._tensors.items():
            tensor = self.eval_tensor(*key)
            if tensor.tensor.is_variable:
                self._fill_variable(slot, tensor.affine.zero_point[0] if tensor.affine else 0)
        for resource, stored in enumerate(resources.stored if resources is not None else ()):
            if stored is not None:
                buffer = BufferId("resource variable", 0, resource, self._number)
                slot = self.resources[resource] = self.contents.in_tail(buffer, stored.offset, stored.size)
                self._fill_variable(slot, stored.default_value)

    def _fill_variable(self, slot: Slot, value: int) -> None:
        slot.is_variable = True
        self.contents.write(slot, bytes([value & 0xFF]) * slot.size, Place.moment("AllocateTensors()"))

    # -- one invocation ---------------------------------------------------------------------------------------------

    def invoke(self) -> None:
        """Write the inputs, run subgraph 0, and look at the outputs and variables."""
        for slot in self._tensors.values():
            if not slot.is_variable:
                slot.content = None
        application = Place.moment("the application, before Invoke()")
        inputs = list(self.slots(0, self.model.subgraphs[0].inputs))
        for slot in inputs:
            self.contents.fill(slot, application)
        self.check(inputs, application)
        try:
            self.run_subgraph(0)
        except InvokeFailed:
            return
        end = Place.moment("the end of Invoke()")
        self.check(self.slots(0, self.model.subgraphs[0].outputs), end, FindingCode.OUTPUT_OVERWRITTEN)
        self.check((slot for slot in self.contents.slots if slot.is_variable), end)

    def inputs_alive(self) -> tuple[bool, ...]:
        """Return, for each input of the model, whether its content is intact; True for one that has no bytes."""
        slots = (self.slot(0, tensor) for tensor in self.model.subgraphs[0].input_tensors)
        return tuple(slot is None or slot.is_intact() for slot in slots)

    def run_subgraph(self, index: int) -> None:
        """``InvokeSubgraph``: run its operators in order.

        Raises:
            SimulatedFailure: There is no such subgraph.
            ModelError: The subgraphs nest so that too many operators run.
        """
        if not 0 <= index < len(self.model.subgraphs):
            message = f"Accessing subgraph {index} but only {len(self.model.subgraphs)} subgraphs found"
            raise SimulatedFailure(message, device_message=message)
        for operator, name in enumerate(self._allocation.op_names[index]):
            self.operators += 1
            if self.operators > MAX_SCOPES:
                raise ModelError(f"more than {MAX_SCOPES:,} operators run: not simulated")
            self._kernels.get(name, Invoker._compute)(self, Place(index, operator, name))

    def _compute(self, place: Place) -> None:
        """An operator that computes: it reads its inputs, and writes scratch buffers, state and outputs."""
        inputs, outputs = self.ends(place)
        read, written = list(self.slots(place.subgraph, inputs)), list(self.slots(place.subgraph, outputs))
        self.check([*read, *(slot for slot in written if slot.is_variable and slot not in read)], place)
        self._ask(place)
        self.write(place, [slot for slot in read if slot.is_variable and slot not in written], written)
        self.check([slot for slot in read if slot not in written], place)

    def _ask(self, place: Place) -> None:
        """Carry out what the kernel's model asks for in Invoke; few have one."""
        node, op_model = self._nodes[place.subgraph, place.operator]
        if op_model.invoke is not None:
            self._driver.arena.tell(OpEvent, Stage.OP_INVOKE, place.subgraph, place.operator, place.name, True)
            self._driver.run(node, op_model.invoke(node), state="invoke")
            self._driver.arena.reset_temp_allocations()

    # -- what operators are made of ---------------------------------------------------------------------------------

    def ends(self, place: Place) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return an operator's input and output tensors."""
        operator = self.model.subgraphs[place.subgraph].operators[place.operator]
        return operator.input_tensors, operator.output_tensors

    def eval_tensor(self, subgraph: int, tensor: int) -> EvalTensor:
        return self._allocation.subgraph_tensors[subgraph][tensor]

    def slot(self, subgraph: int, tensor: int) -> Slot | None:
        """Return a tensor's bytes; None for an absent or constant one."""
        return self._tensors.get((subgraph, tensor))

    def slots(self, subgraph: int, tensors: Sequence[int] | None) -> Iterator[Slot]:
        """Yield the bytes of tensors, each once."""
        for tensor in dict.fromkeys(tensors or ()):
            if (slot := self.slot(subgraph, tensor)) is not None:
                yield slot

    def check(self, slots: Iterable[Slot], place: Place, code: FindingCode = FindingCode.TENSOR_OVERWRITTEN) -> None:
        """Note a finding for each that does not hold what its last writer left."""
        for slot in slots:
            self.contents.check(slot, place, code)

    def write(self, place: Place, state: Iterable[Slot], outputs: Sequence[Slot]) -> None:
        """Fill an operator's scratch buffers, state and outputs; scratch and outputs must all be there in the end."""
        scratch = self._scratch.get((place.subgraph, place.operator), ())
        for slot in (*scratch, *state, *outputs):
            self.contents.fill(slot, place)
        self.check(scratch, place, FindingCode.SCRATCH_OVERWRITTEN)
        self.check(outputs, place)

    def copy(self, sources: Sequence[TensorKey], targets: Sequence[TensorKey], place: Place) -> None:
        """Copy tensors, pair by pair; where two differ in size, upstream's Invoke() gives up."""
        for source, target in zip(sources, targets, strict=False):
            ends = [(BufferId("tensor", *end), byte_length(self.eval_tensor(*end))) for end in (source, target)]
            self._compare_sizes(ends, place)
            slot, resource = self.slot(*target), self.eval_tensor(*source).resource_id
            self.copy_slot(self.slot(*source), slot, place)
            if slot is not None and resource is not None:
                slot.resource_id = resource

    def copy_slot(self, source: Slot | None, target: Slot | None, place: Place) -> None:
        """Copy bytes, after a check of them; None is a constant, or a buffer that does not exist."""
        if source is not None:
            self.contents.check(source, place)
        if target is None:
            return
        if source is None:
            self.contents.fill(target, place)
        else:
            self._compare_sizes([(slot.buffer, slot.size) for slot in (source, target)], place)
            self.contents.copy(source, target, place)

    def _compare_sizes(self, ends: Sequence[tuple[BufferId, int]], place: Place) -> None:
        (source, size), (target, room) = ends
        if size != room:
            message = f"{source} has {size:,} bytes, {target} has {room:,}: the device's Invoke() fails here"
            code, noticed = FindingCode.COPY_SIZES_DIFFER, (place.subgraph, place.operator)
            self.contents.note(Finding(code, str(place), message, victim=target, offender=source, noticed=noticed))
            raise InvokeFailed
