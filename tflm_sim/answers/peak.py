"""When the head is fullest: the scope with the most live bytes, and what is alive then."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class Peak:
    """The scope with the most live bytes.

    Attributes:
        scope: The scope; the first one when several are as full.
        subgraph: The subgraph whose operator runs then.
        operator: The operator's index, -1 for the start of the subgraph.
        live_bytes: Bytes alive then, each buffer rounded up to 16: no plan can be smaller.
        buffers: (info, head offset) of what is alive then, by offset.
    """

    scope: int
    subgraph: int
    operator: int
    live_bytes: int
    buffers: tuple[tuple[AllocationInfo, int], ...]


def find_peak(allocation: ModelAllocation) -> Peak | None:
    """Return the fullest moment of a finished plan, None when nothing was planned."""
    placed = [(allocation.infos[index], offset) for index, offset in allocation.offsets.items()]
    if not placed:
        return None
    live = live_bytes(allocation)
    scope = max(range(len(live)), key=live.__getitem__)
    subgraph, operator = allocation.scopes[scope]
    alive = [row for row in placed if row[0].first_created <= scope <= row[0].last_used]
    return Peak(scope, subgraph, operator, live[scope], tuple(sorted(alive, key=lambda row: row[1])))


def live_bytes(allocation: ModelAllocation) -> list[int]:
    """Return the live bytes of each scope, each buffer rounded up to 16."""
    changes = [0] * (len(allocation.scopes) + 1)
    for index in allocation.offsets:
        info = allocation.infos[index]
        if info.first_created >= 0:
            size = align_up(info.size, BUFFER_ALIGNMENT)
            changes[info.first_created] += size
            changes[info.last_used + 1] -= size
    return list(accumulate(changes))[:-1]
