"""A sanitizer for AllocateTensors(): an observer of the event stream that keeps shadow memory and reports errors.

    simulate(model, target, arena_size=65536, observers=[sanitizer := Sanitizer()])
    sanitizer.findings

What the arena itself refuses (a resize while temps are out) and what it lets pass unseen (a persistent buffer over live
temps) are both findings, with the operator or phase at fault. Offsets count from the aligned start of the arena.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.arena import events
from tflm_sim.arena.stages import FIRST_STAGES, KERNEL_STEPS, Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.checks.shadow import Owner, ShadowMemory
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.invocation.findings import BufferId, Finding, FindingCode, TensorKey
from tflm_sim.invocation.invoke import invoke
from tflm_sim.invocation.invoke_kernels import ETHOS_U_MEMORY
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer, Plan
from tflm_sim.planners.validate import Fault, validate


@dataclass(frozen=True, slots=True)
class NpuTensors:
    """The tensors of a model's ethos-u operators.

    Attributes:
        memory: Those that the NPU uses as memory; nothing writes them before.
        operators: All tensors of each operator.
    """

    memory: frozenset[TensorKey] = frozenset()
    operators: tuple[frozenset[TensorKey], ...] = ()

    def may_share(self, first: TensorKey, second: TensorKey) -> bool:
        """Return whether two tensors may have bytes in common while both are alive."""
        if not self.memory.isdisjoint((first, second)):
            return True
        return any(first in tensors and second in tensors for tensors in self.operators)


def npu_tensors(model: Model) -> NpuTensors:
    """Return the tensors of the model's ethos-u operators."""
    custom = {index for index, code in enumerate(model.operator_codes) if code.custom_code == "ethos-u"}
    memory: set[TensorKey] = set()
    operators: list[frozenset[TensorKey]] = []
    for number, subgraph in enumerate(model.subgraphs):
        for operator in subgraph.operators:
            if operator.opcode_index in custom:
                inputs, outputs = operator.input_tensors, operator.output_tensors
                memory |= {(number, inputs[position]) for position in ETHOS_U_MEMORY if position < len(inputs)}
                operators.append(frozenset((number, tensor) for tensor in (*inputs, *outputs)))
    return NpuTensors(frozenset(memory), tuple(operators))


class Sanitizer(ArenaState):
    """Judges every event (mutable); an :data:`~tflm_sim.arena.events.Observer`.

    Args:
        address: Where the arena's aligned start lies in memory, modulo 16.
        is_split: Whether persistent memory is an arena of its own.
        npu: The tensors that share their bytes on purpose (:func:`~tflm_sim.checks.sanitizer.npu_tensors`).

    Attributes:
        findings: What is wrong, in the order of discovery.
    """

    def __init__(self, *, address: int = 0, is_split: bool = False, npu: NpuTensors | None = None) -> None:
        self.findings: list[Finding] = []
        self._address = address
        self._is_split = is_split
        self._npu = npu or NpuTensors()
        super().__init__(
            {
                events.Run: lambda event: self._start(),
                events.Phase: self._entered,
                events.Persist: self._persisted,
                events.Temp: self._temp_taken,
                events.TempFree: self._temp_freed,
                events.TempReset: self._temps_reset,
                events.Resize: self._resized,
                events.ScratchRequest: self._scratch_request,
                events.ScratchUse: self._scratch_use,
                events.Variable: self._variable,
                events.AllocInfo: self._alloc_info,
                events.PlanAdd: lambda event: self._plan.append(event),
                events.PlanOffset: lambda event: self._offsets.append(event.offset),
                events.PlanDone: self._plan_done,
            }
        )
        self._start()

    def __call__(self, event: events.Event) -> None:
        self._time += 1
        super().__call__(event)

    def _start(self) -> None:
        self.memory = ShadowMemory()
        self.persistent_memory = ShadowMemory() if self._is_split else self.memory
        self._time = 0
        self._painted_head = 0
        self._live: dict[int, events.Temp] = {}
        self._freed: set[int] = set()
        self._leaked: set[int] = set()
        self._next_variable: int | None = None
        self._infos: dict[int, events.AllocInfo] = {}
        self._plan: list[events.PlanAdd] = []
        self._offsets: list[int] = []
        self._is_planned = False
        self._is_final = False

    def _note(
        self,
        code: FindingCode,
        message: str,
        start: int = 0,
        end: int = 0,
        *,
        victim: BufferId | None = None,
        offender: BufferId | None = None,
    ) -> None:
        place, noticed = str(self.place), self.operator
        self.findings.append(
            Finding(code, place, message, start, end, victim=victim, offender=offender, noticed=noticed)
        )

    def _entered(self, event: events.Phase) -> None:
        if event.stage in FIRST_STAGES:
            self._is_planned = self._is_final = False
        self._is_final |= event.stage is Stage.DONE

    # -- sections ---------------------------------------------------------------------------------------------------

    def _take(self, memory: ShadowMemory, start: int, end: int, owner: Owner) -> None:
        """Give bytes to an owner, and record a finding where somebody else owns them.

        Variables may lie over temps (:func:`~tflm_sim.arena.arena.overwrites_temps`).
        """
        for first, stop, former in memory.owned(start, end):
            if owner.is_variable and former.section == "temp":
                continue
            message = f"{owner.label} takes bytes {first:,} to {stop - 1:,} of {former}"
            self._note(_overlap_code(owner, former), message, first, stop)
        memory.paint(start, end, owner)

    def _check_alignment(self, what: str, offset: int, size: int, alignment: int) -> None:
        if (self._address + offset) % alignment:
            message = f"{what} at {offset:,} is not aligned to {alignment}"
            self._note(FindingCode.MISALIGNED, message, offset, offset + size)

    def _persisted(self, event: events.Persist) -> None:
        label = event.label or "a persistent buffer"
        start, end = event.offset, event.offset + event.size
        if self._is_final or (self._is_planned and self.stage in KERNEL_STEPS):
            message = f"{event.size:,} bytes for {label} are taken from the tail after the plan is final"
            self._note(FindingCode.ALLOCATION_AFTER_PLAN, message, start, end)
        self._check_alignment(label, event.offset, event.size, event.alignment)
        is_variable, self._next_variable = self._next_variable is not None, None
        owner = Owner("tail", label, self._time, str(self.place), is_variable)
        self._take(self.persistent_memory, start, end, owner)

    def _variable(self, event: events.Variable) -> None:
        self._next_variable = event.tensor

    def _temp_taken(self, event: events.Temp) -> None:
        self._check_alignment("a temp", event.offset, event.size, event.alignment)
        self._take(self.memory, event.offset, event.temp_end, Owner("temp", "a temp", self._time, str(self.place)))
        self._live[event.offset] = event
        self._freed.discard(event.offset)

    def _temp_freed(self, event: events.TempFree) -> None:
        temp = self._live.pop(event.offset, None)
        if temp is not None:
            self._give_back(temp)
            self._freed.add(event.offset)
        elif event.offset in self._freed:
            message = f"the temp at {event.offset:,} was given back before"
            self._note(FindingCode.TEMP_FREED_TWICE, message, event.offset)
        else:
            message = f"the temp at {event.offset:,} is given back, and the temps were reset since it was taken"
            self._note(FindingCode.TEMP_USED_AFTER_RESET, message, event.offset)

    def _give_back(self, temp: events.Temp) -> None:
        """Free the bytes of a temp, without those that persistent memory took in the meantime."""
        for first, stop, owner in tuple(self.memory.owned(temp.offset, temp.temp_end)):
            if owner.section == "temp":
                self.memory.paint(first, stop, None)

    def _temps_reset(self, event: events.TempReset) -> None:
        for temp in self._live.values():
            if temp.offset not in self._leaked:
                self._leaked.add(temp.offset)
                message = f"the temp of {temp.size:,} bytes at {temp.offset:,} is not given back before the reset"
                self._note(FindingCode.TEMP_NOT_RELEASED, message, temp.offset, temp.offset + temp.size)
        if event.ok:
            for temp in self._live.values():
                self._give_back(temp)
            self._live.clear()
            self._freed.clear()
            self._leaked.clear()

    def _resized(self, event: events.Resize) -> None:
        if self._live:
            message = f"the head is resized to {event.size:,} bytes while {len(self._live)} temps are out"
            self._note(FindingCode.HEAD_RESIZED_OVER_TEMPS, message, 0, event.size)
        if event.ok:
            self.memory.paint(0, self._painted_head, None)
            self._painted_head = event.head
            self._take(self.memory, 0, event.head, Owner("head", "the head", self._time, str(self.place)))

    # -- scratch buffers and the plan -------------------------------------------------------------------------------

    def _scratch_request(self, event: events.ScratchRequest) -> None:
        what = f"scratch buffer {event.request} of {event.size:,} bytes"
        if self._is_planned:
            self._note(FindingCode.ALLOCATION_AFTER_PLAN, f"{what} is asked for after the plan is final")
        if self.stage is not Stage.OP_PREPARE or self.operator is None or self.operator[0] != event.subgraph:
            message = f"{what} of subgraph {event.subgraph} is asked for outside of its operator's Prepare"
            self._note(FindingCode.SCRATCH_OUTSIDE_ITS_OPERATOR, message)

    def _scratch_use(self, event: events.ScratchUse) -> None:
        if self.operator == (event.subgraph, event.op):
            return
        whose = "nobody" if event.op < 0 else f"operator {event.op} of subgraph {event.subgraph}"
        message = f"scratch buffer {event.request} is used, and {whose} asked for it"
        self._note(
            FindingCode.SCRATCH_OUTSIDE_ITS_OPERATOR, message, victim=BufferId("scratch", event.subgraph, event.request)
        )

    def _alloc_info(self, event: events.AllocInfo) -> None:
        if event.info == 0:
            self._plan.clear()
            self._offsets.clear()
        self._infos[event.info] = event
        is_npu_memory = (event.subgraph, event.tensor) in self._npu.memory
        if event.needs_allocating and not is_npu_memory and event.first < 0 <= event.last:
            buffer = _buffer(event)
            message = f"{buffer} is used until scope {event.last}, and nothing writes it before"
            self._note(FindingCode.READ_BEFORE_WRITTEN, message, victim=buffer)

    def _plan_done(self, event: events.PlanDone) -> None:
        self._is_planned = True
        infos = [self._infos[row.info] for row in self._plan]
        for info, offset in zip(infos, self._offsets, strict=True):
            what = str(_buffer(info))
            self._check_alignment(what, offset, info.size, BUFFER_ALIGNMENT)
            self._check_tail(what, offset, offset + info.size)
        # Dimensions below zero make a size below zero, for which the planner reserves nothing.
        buffers = [Buffer(max(info.size, 0), info.first, info.last + 1) for info in infos]
        for fault in validate(buffers, Plan(tuple(self._offsets), event.head_usage)):
            if fault.fault is Fault.OVERLAP:
                self._note_overlap(*((infos[index], self._offsets[index]) for index in fault.buffers))

    def _check_tail(self, what: str, start: int, end: int) -> None:
        """The plan must stay clear of the tail; head and temps are out of use when it takes effect."""
        for first, stop, former in self.memory.owned(start, end):
            if former.section == "tail":
                code = FindingCode.VARIABLE_TOUCHED if former.is_variable else FindingCode.PERSISTENT_OVERLAPPED
                self._note(code, f"{what} is planned over bytes {first:,} to {stop - 1:,} of {former}", first, stop)

    def _note_overlap(self, one: tuple[events.AllocInfo, int], two: tuple[events.AllocInfo, int]) -> None:
        (first, offset), (second, other) = one, two
        if self._npu.may_share((first.subgraph, first.tensor), (second.subgraph, second.tensor)):
            return
        start, end = max(offset, other), min(offset + first.size, other + second.size)
        scopes = f"{max(first.first, second.first)} to {min(first.last, second.last)}"
        victim, offender = _buffer(first), _buffer(second)
        message = f"{victim} and {offender} are both alive in scopes {scopes} and share bytes {start:,} to {end - 1:,}"
        self._note(FindingCode.LIVE_BUFFERS_OVERLAP, message, start, end, victim=victim, offender=offender)


def _buffer(info: events.AllocInfo) -> BufferId:
    if info.tensor >= 0:
        return BufferId("tensor", info.subgraph, info.tensor)
    return BufferId("scratch", info.subgraph, info.scratch)


def _overlap_code(owner: Owner, former: Owner) -> FindingCode:
    if former.is_variable:
        return FindingCode.VARIABLE_TOUCHED
    if "tail" in (owner.section, former.section):
        return FindingCode.PERSISTENT_OVERLAPPED
    return FindingCode.LIVE_BUFFERS_OVERLAP


def sanitize(
    model: ModelLike, target: Where | None = None, *, invocations: int = 10, **settings: Unpack[Settings]
) -> tuple[Finding, ...]:
    """Return everything that is wrong with a model's memory; () for a sound one.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        target: What it runs on, with one arena: a name, a target, or a configuration.
        invocations: How often to invoke it.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails in an arena of any size.
        UsageError, UnsupportedOpError: As ``simulate``.
    """
    model, configuration = load(model), configure(target, **settings)
    size = smallest_arena(model, configuration).multiple_of_16
    sanitizer = _sanitizer(model, configuration)
    simulation = simulate(model, configuration, arena_size=size, observers=(sanitizer,))
    invocation = invoke(simulation, count=invocations)
    # The sanitizer watches the invocations too, each of which finds the same.
    return tuple(dict.fromkeys((*sanitizer.findings, *invocation.findings)))


def findings_until_failure(model: Model, configuration: Configuration) -> tuple[Finding, ...]:
    """Return what is wrong in AllocateTensors() in a roomy arena, for a model with which it fails in any."""
    sanitizer = _sanitizer(model, configuration)
    simulate(model, configuration, observers=(sanitizer,))
    return tuple(sanitizer.findings)


def _sanitizer(model: Model, configuration: Configuration) -> Sanitizer:
    # The recording interpreter does not align its arena, so that the sanitizer must know where it starts.
    address = configuration.target.arena_address if configuration.interpreter == "recording" else 0
    return Sanitizer(address=address, npu=npu_tensors(model))
