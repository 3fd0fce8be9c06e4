"""``invoke()``: ``Invoke()`` of every model on a simulation's arena, on the arena's real bytes.

Variables keep their content from one invocation to the next. An operator that computes in place is a finding: TFLM's
plans never do it, since an input lives until its reader ends.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

from tflm_sim.answers.simulation import Simulation, simulation_of
from tflm_sim.device.configuration import Settings, Where
from tflm_sim.errors import ModelError, whole_number
from tflm_sim.invocation.arena_contents import MAX_ARENA_BYTES, ArenaContents
from tflm_sim.invocation.findings import Finding, FindingCode
from tflm_sim.invocation.invoke_kernels import EVAL
from tflm_sim.invocation.invoker import Invoker
from tflm_sim.model.load import ModelLike
from tflm_sim.short_repr import short_repr

# What no plan can help.
MODEL_DEFECTS = frozenset({FindingCode.READ_BEFORE_WRITTEN, FindingCode.COPY_SIZES_DIFFER})


@dataclass(frozen=True, slots=True)
class Invocation:
    """What :func:`invoke` saw.

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

    __repr__ = short_repr

    @property
    def ok(self) -> bool:
        """Whether the plan kept every byte; what the model itself leaves unwritten is not the plan's fault."""
        return all(finding.code in MODEL_DEFECTS for finding in self.findings)


def _ends(simulation: Simulation, plans: Sequence[Mapping[int, int]]) -> Iterator[int]:
    """Return where each planned buffer ends, in bytes of the arena."""
    placed = [offset for plan in plans for offset in plan.values()]
    if any(offset < 0 for offset in placed):
        raise ModelError(f"a buffer is fixed at {min(placed)}: the device writes outside of its arena")
    return (offset + buffer.info.size for offset, buffer in zip(placed, simulation.buffers, strict=True))


def invoke(
    simulation: Simulation | ModelLike | Iterable[ModelLike],
    target: Where | None = None,
    *,
    count: int = 1,
    while_iterations: int = 2,
    offsets: Sequence[int] | None = None,
    **settings: Unpack[Settings],
) -> Invocation:
    """Invoke every model of a simulation's arena in turn, ``count`` times, on the arena's bytes.

    Variables start again with each call of this function.

    Args:
        simulation: AllocateTensors() as it went; or a model, to be simulated on ``target`` in a roomy arena.
        target: What a model runs on; None for a simulation, which has its own.
        count: How many times.
        while_iterations: How often the body of each WHILE runs.
        offsets: Another plan: a head offset for each of ``simulation.buffers``; None for TFLM's.
        settings: Of a model; see :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() failed, or Invoke() fails: a kernel asks for what it may not have then.
        UsageError: Too few offsets, or a negative one; a model without a target.
        ModelError: Too many operators run in nested subgraphs, or too many bytes are claimed; a negative offset.
    """
    count = whole_number(count, "how many times", 0, sys.maxsize)
    while_iterations = whole_number(while_iterations, "while_iterations", 0, sys.maxsize)
    simulation = simulation_of(simulation, target, **settings).unwrap()
    device = simulation.device
    plans = device.plans(offsets)
    ends = _ends(simulation, plans)
    # The bytes between head and tail are left out where there is no end of them, and where they are two arenas.
    has_gap = simulation.arena_size <= MAX_ARENA_BYTES and not device.is_split
    contents = ArenaContents(max(ends, default=0), device.tail_offset, simulation.tail_bytes, has_gap=has_gap)
    invokers = [
        Invoker(interpreter, number, contents, plan=plan, kernels=EVAL, while_iterations=while_iterations)
        for number, (interpreter, plan) in enumerate(zip(device.interpreters, plans, strict=True))
    ]
    for _ in range(count):
        for invoker in invokers:
            invoker.invoke()
    return Invocation(
        contents.findings,
        count,
        sum(invoker.operators for invoker in invokers),
        contents.checked_bytes,
        invokers[0].inputs_alive(),
    )
