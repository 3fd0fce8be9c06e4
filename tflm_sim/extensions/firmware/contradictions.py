"""What reading a program says and executing it does not: findings with both figures.

An execution is measured, so it stands. That reading says something else is worth a line of its own: the program does
what its file does not show, such as a kernel of its own under TFLM's name, and every answer that was read from this
file has the same mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tflm_sim.checks.doubts import Answer
from tflm_sim.device.configuration import configure
from tflm_sim.document_types import Count
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena, Execution
from tflm_sim.extensions.firmware.execution import own_model, pairs, sum_if_known
from tflm_sim.extensions.firmware.judge import FirmwareVerdict, judge
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget
from tflm_sim.extensions.firmware.rooms import Subject, embedded_subject, rooms_for
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """What reading says of an arena where executing says something else.

    Attributes:
        address: The arena's; of two that belong together, of the one for what stays.
        model: What the model is called that is in it.
        read_answer: Whether it works there, as read.
        read_smallest_arena: The smallest arena, as read, bytes; of two both together; null where no size is enough.
        executed_smallest_arena: As measured.
        conditions: On what the answer that was read hangs: one of them does not hold, where there are some.
    """

    address: Count
    model: str
    read_answer: Answer
    read_smallest_arena: Count | None
    executed_smallest_arena: Count | None
    conditions: tuple[str, ...]


def contradictions(
    execution: Execution, firmware: Firmware, found: FirmwareTarget, other: Model | None = None, interpreter: int = 0
) -> tuple[Contradiction, ...]:
    """Return where the file of an executed program says another size, or another answer about AllocateTensors().

    What reading cannot tell contradicts nothing. Invoke() is not simulated: what it does there is no contradiction.

    Args:
        execution: What was seen.
        firmware: The same program, read.
        found: For what it was built.
        other: The model that was put in the place of its own, None where it kept that.
        interpreter: The number of the one that got it, 0 for each.
    """
    rows = []
    configurations = [configure(each) for each in found.alternatives]
    for arena, rest in pairs(execution):
        smallest = sum_if_known(one.smallest_arena for one in (arena, rest) if one is not None)
        for subject in _subjects(arena, firmware, other, interpreter):
            verdict = judge(subject, firmware, configurations, found.conditions)
            if _contradicts(verdict, arena, smallest):
                row = Contradiction(
                    address=arena.address,
                    model=subject.name,
                    read_answer=verdict.answer,
                    read_smallest_arena=verdict.needed,
                    executed_smallest_arena=smallest,
                    conditions=verdict.conditions,
                )
                rows.append(row)
    return tuple(rows)


def _contradicts(verdict: FirmwareVerdict, arena: ExecutedArena, smallest: int | None) -> bool:
    if verdict.answer == "cannot tell" or arena.fits is None:
        return False
    sizes: Sequence[int | None] = [row.needed for row in verdict.cases] or [verdict.needed]
    # A model that does not work for another reason than its arena's size has no size to compare.
    differs = not verdict.why and smallest is not None and smallest not in sizes
    return differs or (verdict.answer in ("yes", "no") and verdict.fits is not arena.fits and arena.works is not False)


def _subjects(arena: ExecutedArena, firmware: Firmware, other: Model | None, interpreter: int) -> Iterator[Subject]:
    """Yield the models of an arena as reading sees them, where it places them there, too."""
    seen = set()
    for allocation in arena.allocations:
        if other is not None and interpreter in (0, allocation.interpreter):
            name, rooms = other.path or "the model", rooms_for(firmware, None, is_named=False, into=interpreter)
            subject = Subject(name, len(other.source), "from its file", other, rooms)
        else:
            model = own_model(firmware, allocation)
            embedded = next((one for one in firmware.models if one.model is model), None)
            if embedded is None:
                continue
            subject = embedded_subject(firmware, embedded, rooms_for(firmware, embedded, is_named=False))
        is_here = all(room.size == arena.size and room.address in (None, arena.address) for room in subject.rooms)
        if subject.name not in seen and subject.rooms and is_here:
            seen.add(subject.name)
            yield subject
