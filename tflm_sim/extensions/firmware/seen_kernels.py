"""Kernels as an executed program was seen to run them: operators' rows that repeat what Init and Prepare asked for.

A simulation with such rows asks for what the program asks for. If it agrees with the program to the last request, all
that follows from a simulation holds for the program: lifetimes, the plan, who holds the tail, what decides the size.

    op_prepare SOFTMAX #12         as seen
      persist 5,000  own_prepare() ---------> Persistent(5000, "own_prepare()")
      temp 32 at 144               ---------> TempBuffer(32, 4)
      temp_free 144                ---------> FreeTempBuffer(where that temp lies now)
      temp_reset                              the interpreter's own, which ends the step
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from tflm_sim.arena.events import Event, OpEvent, Persist, Phase, Resize, ScratchRequest, Temp, TempFree, TempReset
from tflm_sim.arena.stages import Stage
from tflm_sim.errors import UnsupportedOpError
from tflm_sim.ops import requests
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_Place = tuple[Stage, int, int]
_KERNEL = (Persist, Temp, TempFree, ScratchRequest)


@dataclass(frozen=True, slots=True)
class SeenKernel:
    """The Init or the Prepare of an operator, by what each of its nodes asked for in one model.

    Attributes:
        stage: Which of them it is.
        nodes: (subgraph, operator) -> what was asked for, in order.
    """

    stage: Stage
    nodes: tuple[tuple[tuple[int, int], tuple[Event, ...]], ...]

    def __call__(self, node: Node) -> requests.Steps[None]:
        """Yield the requests of a node.

        Raises:
            UnsupportedOpError: It was not seen.
        """
        place = node.subgraph_index, node.index
        asked = dict(self.nodes).get(place)
        if asked is None:
            raise UnsupportedOpError(
                f"{node.op} is a kernel of the program's own, which was seen with another model only",
                op=node.op,
                subgraph=node.subgraph_index,
                node=node.index,
            )
        temps: dict[int, int | None] = {}
        for event in asked:
            if isinstance(event, Persist):
                yield requests.Persistent(event.size, event.label)
            elif isinstance(event, ScratchRequest):
                yield requests.Scratch(event.size, event.label)
            elif isinstance(event, Temp):
                temps[event.offset] = yield requests.TempBuffer(event.size, event.alignment)
            elif isinstance(event, TempFree) and (offset := temps.get(event.offset)) is not None:
                yield requests.FreeTempBuffer(offset)


def asked_by_kernels(events: Iterable[Event]) -> dict[_Place, tuple[Event, ...]]:
    """Return what each Init and Prepare of one AllocateTensors() asked for, by step, subgraph and operator."""
    found: dict[_Place, list[Event]] = {}
    at: _Place | None = None
    for event in events:
        if isinstance(event, OpEvent):
            at = (event.stage, event.subgraph, event.op) if event.stage in (Stage.OP_INIT, Stage.OP_PREPARE) else None
            if at is not None:
                found.setdefault(at, [])
        elif isinstance(event, Phase | TempReset | Resize):
            at = None
        elif at is not None and isinstance(event, _KERNEL):
            found[at].append(event)
    return {place: tuple(asked) for place, asked in found.items()}


def kernel_as_seen(
    op: str, nodes: Collection[tuple[int, int]], asked: Mapping[_Place, tuple[Event, ...]], row: OpModel | None
) -> OpModel | None:
    """Return an operator's row with Init and Prepare as they were seen; None where a request is not known exactly.

    Args:
        op: Its name.
        nodes: All of its nodes in the model, (subgraph, operator).
        asked: What each Init and Prepare asked for.
        row: The library's, whose parser stays; None where it has none.
    """
    steps: list[SeenKernel | None] = []
    for stage in (Stage.OP_INIT, Stage.OP_PREPARE):
        seen = tuple((node, asked.get((stage, *node), ())) for node in nodes)
        if any(not _is_known(event) for _, events in seen for event in events):
            return None
        steps.append(SeenKernel(stage, seen) if any((stage, *node) in asked for node in nodes) else None)
    parsed = OpModel(op) if row is None else OpModel(op, builtin_data=row.builtin_data, parse=row.parse)
    return replace(parsed, init=steps[0], prepare=steps[1])


def _is_known(event: Event) -> bool:
    """Whether a request can be repeated."""
    # A kernel's requests are aligned to 16; one that was not seen made has no alignment.
    return not isinstance(event, Persist) or event.alignment == BUFFER_ALIGNMENT
