"""Step one kernel's model through Init, Prepare, the plan and Invoke, and return its allocations in each step.

    probe = KernelProbe(MY_OP, [TensorSpec((1, 16), TensorType.INT8)], [TensorSpec((1, 16), TensorType.INT8)])
    assert probe.init() == [Allocation("tail", 24, "OpData")]
    assert probe.prepare() == [Allocation("temp", 32), Allocation("scratch", 64, "accumulator")]

The kernel runs on a real arena in a model of its own, so that it fails as on the device, with the device's lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, LogLine, OpEvent, Persist, ScratchRequest, Temp
from tflm_sim.arena.stages import Stage
from tflm_sim.checks.sanitizer import Sanitizer
from tflm_sim.device.interpreter import MicroInterpreter
from tflm_sim.device.kernel_driver import KernelDriver
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.errors import AllocatorSequenceError, UsageError, each_of, expect, whole_number
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.invocation.findings import Finding
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.build_values import Data
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import Model, OptionValue
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.sizes import MAX_SIZE
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor of the kernel under test; as for :meth:`~tflm_sim.model.build.SubgraphBuilder.tensor`."""

    shape: Sequence[int]
    type: int
    scale: float | Sequence[float] | None = None
    zero_point: int | Sequence[int] | None = None
    data: Data | None = None
    is_variable: bool = False


@dataclass(frozen=True, slots=True)
class Allocation:
    """Bytes that a kernel took.

    Attributes:
        section: "tail" (persistent), "temp" or "scratch".
        size: Bytes.
        label: What they are for; "" for temps.
        offset: Where they start in the arena, None for scratch buffers, which get their place in the plan. Two
            allocations that differ in it alone are equal.
    """

    section: str
    size: int
    label: str = ""
    offset: int | None = field(default=None, compare=False)


_ALLOCATIONS: dict[type, Callable[..., Allocation]] = {
    Persist: lambda event: Allocation("tail", event.size, event.label, event.offset),
    Temp: lambda event: Allocation("temp", event.size, "", event.offset),
    ScratchRequest: lambda event: Allocation("scratch", event.size, event.label),
}


class KernelProbe:
    """One kernel on an arena (mutable). Steps that come before the asked one are taken first.

    Args:
        op_model: The kernel's model.
        inputs: Its inputs; None for an absent one.
        outputs: Its outputs.
        target: What it runs on; by default a Cortex-M4.
        options: The builtin options, for an operator with the name of a builtin one.
        custom_options: The custom options' bytes, for the others.
        arena_size: Bytes.
        resource_variables: How many the firmware has room for; 0 for no table.

    Attributes:
        log: The lines that the device prints.
        model: The model around the kernel.
        arena: The arena.
        node: The operator, as the kernel's model sees it.
    """

    def __init__(
        self,
        op_model: OpModel,
        inputs: Sequence[TensorSpec | None],
        outputs: Sequence[TensorSpec],
        *,
        target: Target | None = None,
        options: Mapping[str, OptionValue] | None = None,
        custom_options: bytes | None = None,
        arena_size: int = 1 << 20,
        resource_variables: int = 0,
    ) -> None:
        expect(op_model, OpModel, "op_model as an OpModel")
        inputs = each_of(inputs, TensorSpec | None, "inputs as several TensorSpec or None")
        outputs = each_of(outputs, TensorSpec, "outputs as several TensorSpec")
        chosen = preset("cortex-m4") if target is None else expect(target, Target, "a Target")
        arena_size = whole_number(arena_size, "arena_size", 0, 2**31 - 1)
        resource_variables = whole_number(resource_variables, "resource_variables", 0, MAX_SIZE)
        self.log: list[str] = []
        self.model = _model(op_model.op, inputs, outputs, options=options, custom_options=custom_options)
        self._sanitizer = Sanitizer()
        self._taken: list[Allocation] = []
        self._step = 0
        self.arena = SingleArenaBufferAllocator(
            arena_size, pointer_size=chosen.abi.pointer_size, observers=(self._sanitizer, self._observe)
        )
        variables = ResourceVariables(resource_variables) if resource_variables else None
        allocator = MicroAllocator(self.arena, chosen)
        self._interpreter = MicroInterpreter(self.model, allocator, registrations(chosen, (op_model,)), variables)
        self._driver: KernelDriver = self._interpreter.start()
        self.node: Node = self._interpreter.nodes[0][0]
        self._op_model = op_model

    @property
    def findings(self) -> Sequence[Finding]:
        """What the sanitizer found so far."""
        return self._sanitizer.findings

    def _observe(self, event: Event) -> None:
        if isinstance(event, LogLine):
            self.log.append(event.text)
        elif (make := _ALLOCATIONS.get(type(event))) is not None:
            self._taken.append(make(event))

    def _take_step(self, number: int, step: Callable[[], None]) -> list[Allocation]:
        if self._step >= number:
            raise UsageError("a KernelProbe runs each step once, in order; create another one to start again")
        self._step = number
        self._taken = []
        step()
        return self._taken

    def init(self) -> list[Allocation]:
        """Run Init and return what it took.

        Raises:
            SimulatedFailure: The device would fail here.
        """
        return self._take_step(1, lambda: self._interpreter.init(self._driver))

    def prepare(self) -> list[Allocation]:
        """Run Prepare and return what it took.

        Raises:
            SimulatedFailure: The device would fail here, or later because of a temp that is not given back.
        """
        if self._step < 1:
            self.init()
        taken = self._take_step(2, lambda: self._interpreter.prepare(self._driver))
        if self.arena.live_temp_end:
            lines = "\n".join(self.log)
            raise AllocatorSequenceError(f"{self.node.op} keeps a temp after Prepare: {lines}", device_message=lines)
        return taken

    def plan(self) -> dict[str, int]:
        """Finish AllocateTensors() and return the head offset of each planned buffer: "tensor 0", "scratch 0".

        Raises:
            SimulatedFailure: The device would fail here.
        """
        if self._step < 2:
            self.prepare()
        self._take_step(3, self._interpreter.finish)
        allocation = self._interpreter.allocation
        assert allocation is not None, "finished"
        rows = ((allocation.infos[index], offset) for index, offset in allocation.offsets.items())
        return {
            f"tensor {info.tensor}" if info.tensor >= 0 else f"scratch {info.scratch}": offset for info, offset in rows
        }

    def invoke(self) -> list[Allocation]:
        """Carry out what the kernel asks for in Invoke and return what it took.

        Raises:
            SimulatedFailure: The kernel asks for what it may not have in Invoke.
        """
        if self._step < 3:
            self.plan()
        return self._take_step(4, self._invoke)

    def _invoke(self) -> None:
        if self._op_model.invoke is not None:
            self.arena.tell(OpEvent, Stage.OP_INVOKE, 0, 0, self.node.op, True)
            self._driver.run(self.node, self._op_model.invoke(self.node), state="invoke")


def _model(
    op: str,
    inputs: Sequence[TensorSpec | None],
    outputs: Sequence[TensorSpec],
    *,
    options: Mapping[str, OptionValue] | None,
    custom_options: bytes | None,
) -> Model:
    builder = ModelBuilder()

    def add(spec: TensorSpec | None) -> int:
        if spec is None:
            return -1
        return builder.tensor(
            spec.shape,
            spec.type,
            data=spec.data,
            scale=spec.scale,
            zero_point=spec.zero_point,
            is_variable=spec.is_variable,
        )

    sources, results = [add(spec) for spec in inputs], [add(spec) for spec in outputs]
    if op in BUILTIN_OPERATORS:
        builder.operator(op, sources, results, options=options)
    else:
        builder.custom(op, sources, results, options=custom_options)
    fed = [index for index, spec in zip(sources, inputs, strict=True) if spec is not None and spec.data is None]
    return parse(builder.build(inputs=fed, outputs=results))
