"""The schema of our frames: which fields each type has.

Extra fields are allowed, so that a later firmware of the same schema can say more; missing ones are not.
"""

from __future__ import annotations

import re

from tflm_sim.extensions.board.framing import Frame
from tflm_sim.recorded import CATEGORIES

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
