"""When the head is fullest: the scope with the most live bytes, and what is alive then."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

if TYPE_CHECKING:
    from tflm_sim.document_types import Count, IndexOrNone
    from tflm_sim.graph.lifetimes import AllocationInfo


@dataclass(frozen=True, slots=True)
class Peak:
    """The scope with the most live bytes.

    Attributes:
        scope: The scope; the first one when several are as full.
        subgraph: The subgraph whose operator runs then.
        operator: The operator's index, -1 for the start of the subgraph.
        op: The operator's name, "" for none.
        live_bytes: Bytes alive then, each buffer rounded up to 16: no plan can be smaller. Negative where a broken
            model says so: the device computes with it.
        buffers: What is alive then, as indices into the plan's buffers, by their offsets.
        variable_bytes: Of them, of variables that an offline plan places, which are alive always.
    """

    scope: Count
    subgraph: Count
    operator: IndexOrNone
    op: str
    live_bytes: int
    buffers: tuple[Count, ...]
    variable_bytes: Count = 0


def find_peak(allocation: ModelAllocation) -> Peak | None:
    """Return the fullest moment of a finished plan, None when nothing was planned."""
    if not allocation.offsets:
        return None
    live = live_bytes(allocation)
    scope = max(range(len(live)), key=live.__getitem__)
    subgraph, operator = allocation.scopes[scope]
    placed = [(allocation.infos[index], offset) for index, offset in allocation.offsets.items()]
    alive = [(offset, at) for at, (info, offset) in enumerate(placed) if scope in alive_in(allocation, info)]
    variables = sum(align_up(info.size, BUFFER_ALIGNMENT) for info, _ in placed if _is_variable(allocation, info))
    op = "" if operator < 0 else allocation.op_names[subgraph][operator]
    return Peak(scope, subgraph, operator, op, live[scope], tuple(at for _, at in sorted(alive)), variables)


def alive_in(allocation: ModelAllocation, info: AllocationInfo) -> range:
    """Return the scopes in which a planned buffer is alive: a variable in all, whatever the planner is told."""
    if _is_variable(allocation, info):
        return range(len(allocation.scopes))
    return range(info.first_created, info.last_used + 1)


def _is_variable(allocation: ModelAllocation, info: AllocationInfo) -> bool:
    return info.tensor >= 0 and allocation.model.subgraphs[info.subgraph].tensors[info.tensor].is_variable


def live_bytes(allocation: ModelAllocation) -> list[int]:
    """Return the live bytes of each scope, each buffer rounded up to 16."""
    changes = [0] * (len(allocation.scopes) + 1)
    for index in allocation.offsets:
        info = allocation.infos[index]
        alive = alive_in(allocation, info)
        if alive.start >= 0:
            size = align_up(info.size, BUFFER_ALIGNMENT)
            changes[alive.start] += size
            changes[alive.stop] -= size
    return list(accumulate(changes))[:-1]
