"""The schema of our frames: which fields each type has, and what a report is made of.

Extra fields are allowed, so that a later firmware of the same schema can say more; missing ones are not.
"""

from __future__ import annotations

import re

from tflm_sim.board.dialects.events import CategoryUse, PlanBuffer
from tflm_sim.board.framing import Frame
from tflm_sim.recorded import CATEGORIES
from tflm_sim.values import dataclass

# What the device says about its arena, and what it answers to the host's commands.
REPORT_FIELDS: dict[str, dict[str, type]] = {
    "begin": {"v": int, "r": int, "arena": int, "skew": int},
    "info": {"r": int, "k": str, "s": str},
    "model": {"r": int, "size": int, "crc": str},
    "used": {"r": int, "total": int},  # head and tail where the firmware knows them
    "cat": {"r": int, "k": int, "u": int, "q": int, "c": int},
    "buf": {"r": int, "i": int, "s": int, "o": int, "f": int, "l": int},
    "num": {"r": int, "k": str, "v": int},
    "fail": {"r": int, "status": int},
    "high": {"r": int, "touched": int, "gap": int, "at": int},
    "end": {"r": int, "n": int, "x": str},
}
REPLY_FIELDS: dict[str, dict[str, type]] = {
    "hello": {"v": int, "app": str, "room": int, "buffers": int},
    "ok": {"q": int, "o": int},
    "no": {"q": int, "e": int, "o": int},
    "done": {"q": int, "head": int, "tail": int, "mark": int, "bad": int, "at": int},
}
FIELDS = REPORT_FIELDS | REPLY_FIELDS
_CRC_FIELDS = {"model": ("crc",), "end": ("x",)}
_HEX = re.compile(r"[0-9a-f]{8}")


def schema_problem(frame: Frame) -> str:
    """Return what is wrong with a whole frame's fields, "" when nothing is."""
    wanted = FIELDS.get(frame.type)
    if wanted is None:
        return f"the type '{frame.type}' is unknown"
    fields = dict(frame.fields)
    for name, kind in wanted.items():
        if type(fields.get(name)) is not kind:
            return f"'{frame.type}' has no {'number' if kind is int else 'text'} '{name}'"
    if any(not _HEX.fullmatch(str(fields[name])) for name in _CRC_FIELDS.get(frame.type, ())):
        return f"'{frame.type}' has no CRC of eight digits"
    if frame.type == "cat" and not 0 <= frame.number("k") < len(CATEGORIES):
        return f"category {frame.number('k')} is unknown"
    return ""


@dataclass(frozen=True, slots=True)
class HighWater:
    """What a painted arena shows, in bytes: written at least, and the longest run that was not written."""

    touched: int
    gap_size: int
    gap_offset: int


@dataclass(frozen=True, slots=True)
class ArenaReport:
    """A whole report of the stub; every line of it arrived intact.

    Attributes:
        first_line: Line number of its begin.
        last_line: Line number of its end.
        number: The device's own count of its reports since its start.
        arena_size: Bytes.
        skew: The arena's address modulo 16.
        info: What it is about: target, tflm, kernels, model, sha256.
        model_size: Bytes of the model, None when the firmware does not say.
        model_crc32: CRC-32 of the model's bytes, None when the firmware does not say.
        total: Bytes of the arena in use, None when the firmware does not say (head and tail likewise).
        head: Of these, not persistent.
        tail: Of these, persistent.
        categories: Rows as in the recording report.
        buffers: The memory plan, in the planner's order.
        high_water: What paint and scan measured, or None.
        digest: CRC over all lines; two reports with one digest say the same.
        numbers: What else the firmware counts: bytes of stack and heap, by name.
        failure: The status with which AllocateTensors() failed, None where it did not.
    """

    first_line: int
    last_line: int
    number: int
    arena_size: int
    skew: int
    info: tuple[tuple[str, str], ...]
    model_size: int | None
    model_crc32: int | None
    total: int | None
    head: int | None
    tail: int | None
    categories: tuple[CategoryUse, ...]
    buffers: tuple[PlanBuffer, ...]
    high_water: HighWater | None
    digest: int
    numbers: tuple[tuple[str, int], ...] = ()
    failure: int | None = None
