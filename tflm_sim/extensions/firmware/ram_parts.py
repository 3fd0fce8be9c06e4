"""What is in a program's RAM, part by part: its arenas, static data, heap, stack, and what is left.

The parts lie in this order in the memory of most linker scripts. Their sizes are those of :class:`RamFacts`: the bars
in the text and in the page say the same as the row of facts.
"""

from __future__ import annotations

from collections.abc import Iterable

from tflm_sim.extensions.firmware.document import Placed, RamFacts

FREE = "free"


def ram_parts(region: RamFacts, arenas: Iterable[Placed]) -> dict[str, int]:
    """Return the bytes of each part of a region that has any; what is free is left out where no file says the end.

    Args:
        region: The region.
        arenas: The program's arenas, of which those count that lie in it.
    """
    static = region.initialised + region.zeroed
    inside = sum(arena.size for arena in arenas if region.start <= arena.address < region.start + _extent(region))
    arena = min(inside, static)
    heap, stack = region.heap or 0, region.stack or 0
    parts = {
        "arena": arena,
        "static data": static - arena,
        "heap": heap,
        "stack": stack,
        "set aside": max(region.set_aside - heap - stack, 0),
        FREE: region.free or 0,
    }
    return {name: size for name, size in parts.items() if size > 0}


def _extent(region: RamFacts) -> int:
    """Return how far static objects reach: to the region's end, or as many bytes as they have where no file says it."""
    if region.end is not None:
        return region.end - region.start
    return region.initialised + region.zeroed + region.set_aside
