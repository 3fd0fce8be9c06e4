"""What only a program's file says of where an executed arena lies: members of objects, and what else is meant there.

An execution sees addresses. That 24,000 B are passed for a member of 20,000, whose neighbour is a part of the same
object, or that an arena begins in the middle of another array, stands in the file.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.checks.doubts import Answer
from tflm_sim.document_types import Count
from tflm_sim.extensions.firmware.contradictions import subjects_of
from tflm_sim.extensions.firmware.emulation.execution import Execution
from tflm_sim.extensions.firmware.execution import pairs
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedPlace:
    """What the file says of where an arena lies.

    Attributes:
        address: The arena's.
        fault: Whose bytes TFLM writes to, in words; "" for nobody's.
        conditions: What is taken for granted, and no execution settles: sentences that follow "if".
    """

    address: Count
    fault: str
    conditions: tuple[str, ...]


def executed_places(
    execution: Execution, firmware: Firmware, other: Model | None = None, interpreter: int = 0
) -> tuple[ExecutedPlace, ...]:
    """Return what the file says of the executed arenas that lie in objects of the program.

    Of other memory, the execution saw where the stack and the heap are.

    Args:
        execution: What was seen.
        firmware: The same program, read.
        other: The model that was put in the place of its own, None where it kept that.
        interpreter: The number of the one that got it, 0 for each.
    """
    rows = []
    for arena, _ in pairs(execution):
        rooms = [room for one in subjects_of(arena, firmware, other, interpreter) for room in one.rooms]
        here = [room for room in rooms if arena.symbol and room.address is not None]
        fault = next((room.fault for room in here if room.fault), "")
        conditions = tuple(dict.fromkeys(doubt for room in here for doubt in room.doubts))
        if fault or conditions:
            rows.append(ExecutedPlace(address=arena.address, fault=fault, conditions=conditions))
    return tuple(rows)


def answer_with(execution: Execution, places: tuple[ExecutedPlace, ...]) -> Answer:
    """Return the answer about an executed program, with what its file says of its arenas."""
    if any(place.fault for place in places):
        return "no"
    is_open = execution.answer == "yes" and any(place.conditions for place in places)
    return "if" if is_open else execution.answer
