"""One line on what ``shrink`` would give: found out by doing it, never guessed."""

from __future__ import annotations

from tflm_sim.device.configuration import Where
from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.shrinking.shrink import shrink


def advice(model: Model, target: Where) -> str:
    """Return what ``shrink`` makes of a model on a target: "64,928 B with `shrink`, no additional MACs"."""
    try:
        shrunk = shrink(model, target)
    except TflmSimError as error:
        return f"`shrink` leaves it alone: {error}"
    found = (
        f"{shrunk.gains[0].after.arena:,} B with `shrink`, {shrunk.macs_in_words}"
        if shrunk.has_gained
        else "`shrink` knows nothing that makes it smaller"
    )
    if shrunk.with_int8_io is None:
        return found
    return f"{found}; {shrunk.with_int8_io[0]:,} B with `shrink --int8-io`, which changes the interface"
