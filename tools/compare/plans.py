"""Invoke models on TFLM's plans, and on plans that were broken on purpose.

    python tools compare plans                     both tables
    python tools compare plans --preset esp32-s3   for another target

1. Every model in ../shared/models that allocates is invoked ten times on TFLM's plan: no byte may be corrupted.
2. Each sample gets a hundred random plans in which one buffer was moved onto another that is alive with it. Invoking
   must name that pair, the bytes that both use and the operator that wrote them, and notice it by the last use.

Exit code 1 unless everything passes and every broken plan is caught.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import frame

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.run import PlannedBuffer
from tflm_sim.errors import TflmSimError
from tflm_sim.invocation.findings import BufferId, Finding
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.load import load
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
INVOCATIONS = 10
BROKEN_PLANS = 100
ALIGNMENT = 16


@dataclass(frozen=True)
class BrokenPlan:
    """A plan with one fault, and what there is to find.

    Attributes:
        offsets: Of every buffer.
        pair: The two buffers that share bytes.
        start: The first byte that both use.
        end: The byte after the last.
        scopes: From the write that does the damage to the last use of either, inclusive.
    """

    offsets: list[int]
    pair: frozenset[BufferId]
    start: int
    end: int
    scopes: tuple[int, int]


def identity(buffer: PlannedBuffer) -> BufferId:
    """Return the name that findings use."""
    info = buffer.info
    return (
        BufferId("tensor", info.subgraph, info.tensor)
        if info.tensor >= 0
        else BufferId("scratch", info.subgraph, info.scratch)
    )


def live_pairs(simulation: Simulation) -> list[tuple[int, int]]:
    """Return the positions of buffers that are alive together."""
    infos = [buffer.info for buffer in simulation.buffers]
    return [
        (a, b)
        for a, first in enumerate(infos)
        for b, second in enumerate(infos)
        if a != b
        and first.size
        and second.size
        and min(first.first_created, second.first_created) >= 0
        and max(first.first_created, second.first_created) <= min(first.last_used, second.last_used)
    ]


def reshaped(simulation: Simulation) -> set[frozenset[BufferId]]:
    """Return input and output of each RESHAPE: at one place they are no fault, because the kernel copies nothing."""
    interpreter = simulation.device.interpreters[0]
    return {
        frozenset(BufferId("tensor", node.subgraph_index, tensor) for tensor in (node.inputs[0], node.outputs[0]))
        for node, _ in interpreter.nodes
        if node.op == "RESHAPE"
    }


def break_plan(simulation: Simulation, random: Random) -> BrokenPlan:
    """Move one buffer so that it shares bytes with one that is alive at the same time."""
    buffers, in_place = simulation.buffers, reshaped(simulation)
    pairs = live_pairs(simulation)
    while True:
        moved, other = random.choice(pairs)
        size, fixed = buffers[moved].info.size, buffers[other]
        lowest = max(0, fixed.offset - size) // ALIGNMENT
        offset = ALIGNMENT * random.randint(lowest, (fixed.offset + fixed.info.size) // ALIGNMENT)
        start, end = max(offset, fixed.offset), min(offset + size, fixed.offset + fixed.info.size)
        pair = frozenset((identity(buffers[moved]), identity(fixed)))
        if start < end and not (offset == fixed.offset and pair in in_place):
            break
    offsets = [buffer.offset for buffer in buffers]
    offsets[moved] = offset
    infos = buffers[moved].info, fixed.info
    scopes = max(info.first_created for info in infos), max(info.last_used for info in infos)
    return BrokenPlan(offsets, pair, start, end, scopes)


def is_named(finding: Finding, broken: BrokenPlan, scopes: Sequence[tuple[int, int]]) -> bool:
    """Return whether a finding says what is wrong with the plan: pair, bytes, writer, and when it was noticed."""
    first, last = broken.scopes
    return (
        {finding.victim, finding.offender} == broken.pair
        and (finding.start, finding.end) == (broken.start, broken.end)
        and (finding.written or (0, -1)) == scopes[first]
        and (finding.noticed or (0, -1)) in {*scopes[first : last + 1], (0, -1)}
    )


def caught(simulation: Simulation, broken: BrokenPlan) -> bool:
    """Return whether invoking on the broken plan names its fault."""
    allocation = simulation.device.interpreters[0].allocation
    assert allocation is not None, "the simulation succeeded"
    findings = invoke(simulation, count=INVOCATIONS, offsets=broken.offsets).findings
    return any(is_named(finding, broken, allocation.scopes) for finding in findings)


def check_models(target: Target) -> bool:
    """Invoke every shared model and print the figures; False when a plan corrupts anything."""
    allocated, passed, compared, others = 0, 0, 0, []
    for path in sorted(MODELS.glob("*.tflite")):
        try:
            simulation = simulate(load(path), target)
        except TflmSimError:
            continue
        if simulation.status != "ok":
            continue
        allocated += 1
        invocation = invoke(simulation, count=INVOCATIONS)
        passed += invocation.ok
        compared += invocation.checked_bytes
        others += [f"  {path.name}: {finding}" for finding in invocation.findings]
    print(f"{passed} of {allocated} models pass {INVOCATIONS} invocations on TFLM's plan ({compared:,} bytes compared)")
    if others:
        print("findings, among them what the models themselves leave unwritten:", *others, sep="\n")
    return passed == allocated


def check_broken_plans(target: Target) -> bool:
    """Break plans of every sample and print the figures; False when one is not caught."""
    all_caught = True
    for name in SAMPLES:
        simulation, random = simulate(load(sample_path(name)), target), Random(name)
        count = sum(caught(simulation, break_plan(simulation, random)) for _ in range(BROKEN_PLANS))
        print(f"{name:<18} {count} of {BROKEN_PLANS} broken plans caught, with operator, both buffers and byte range")
        all_caught &= count == BROKEN_PLANS
    return all_caught


def main(arguments: Sequence[str] | None = None) -> int:
    """Print both tables and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--preset", default="cortex-m4", metavar="T", help="target (default: %(default)s)")
    target = replace(preset(parser.parse_args(arguments).preset), ethos_u=True)
    passed = check_models(target)
    return 0 if check_broken_plans(target) and passed else 1


if __name__ == "__main__":
    sys.exit(main())
