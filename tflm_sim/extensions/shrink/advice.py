"""One line on how much ``shrink`` would save. It is measured by running ``shrink``, never guessed."""

from __future__ import annotations

from tflm_sim.device.configuration import Where
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extensions.shrink.shrink import shrink
from tflm_sim.model.types import Model

SEARCH_SECONDS = 30.0
"""Of the search with loops, which is the longest; the line says where it ended early."""


def advice(model: Model, target: Where) -> str:
    """Return what ``shrink`` makes of a model on a target: "64,928 B with `shrink`, no additional MACs"."""
    try:
        shrunk = shrink(model, target)
    except TflmSimError as error:
        return f"`shrink` leaves it alone: {error}"
    arena = shrunk.gains[0].after.arena
    found = [
        f"{arena:,} B with `shrink`, {shrunk.macs_in_words}"
        if shrunk.has_gained
        else "`shrink` knows nothing that makes it smaller"
    ]
    found += _with_plan(model, target, arena)
    if shrunk.with_int8_io is not None:
        found.append(f"{shrunk.with_int8_io[0]:,} B with `shrink --int8-io`, which changes the interface")
    return "; ".join(found)


def _with_plan(model: Model, target: Where, arena: int) -> list[str]:
    """Return what is below ``arena`` bytes with loops or a plan, nothing where that is none or the TFLM takes none."""
    try:
        try:
            shrunk = shrink(model, target, loops=True, time_limit=SEARCH_SECONDS)
        except UsageError:  # Its TFLM has no loops.
            shrunk = shrink(model, target, offline_plan=True, time_limit=SEARCH_SECONDS)
    except TflmSimError:
        return []
    size = shrunk.gains[0].after.arena
    if size >= arena:
        return []
    option = "loops" if "WHILE" in shrunk.extra_operators else "offline-plan"
    early = ", as far as it was searched" if shrunk.stopped else ""
    return [f"{size:,} B with `shrink --{option}`, {shrunk.macs_in_words}{early}"]
