"""What a planned subgraph means for people: its arenas, what lies in them, and the operator at which most bytes live.

Source: tflite/arena_planner.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.extensions.lite.answer import Answer, allocated, subgraph_document
from tflm_sim.extensions.lite.graph_info import AllocationType, present
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.model.load import ModelLike
from tflm_sim.short_repr import short_repr


@dataclass(frozen=True, slots=True)
class PlacedTensor:
    """A tensor with bytes of its own in the arena.

    Attributes:
        index: The tensor.
        name: The file's; a temporary has none.
        kind: "input", "output", "activation" or "temporary".
        size, offset: Bytes; from the base of the arena.
        first, last: Places in the execution plan, both inclusive.
    """

    index: int
    name: str
    kind: str
    size: int
    offset: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One subgraph's memory.

    Attributes:
        subgraph: Its number.
        arena_bytes: The arena of tensors that come and go.
        persistent_bytes: The arena of what stays.
        placed: The tensors with bytes of their own in the first arena.
        persistent: Tensor index, name, size and offset of what owns bytes of the second.
        live_bytes: By place in the execution plan, what is alive; sizes as they are.
        ops: By place in the execution plan, the operator.
        dynamic: Names of the tensors that only the running model sizes.
        computed_bytes: Constants that were computed while nodes were prepared, on the heap.
        is_complete: Whether the plan reaches the last node; a dynamic output ends it earlier.
    """

    subgraph: int
    arena_bytes: int
    persistent_bytes: int
    placed: tuple[PlacedTensor, ...]
    persistent: tuple[tuple[int, str, int, int], ...]
    live_bytes: tuple[int, ...]
    ops: tuple[str, ...]
    dynamic: tuple[str, ...]
    computed_bytes: int
    is_complete: bool

    __repr__ = short_repr

    @property
    def peak(self) -> int:
        """The first place in the execution plan with the most live bytes, -1 without nodes."""
        return max(range(len(self.live_bytes)), key=self.live_bytes.__getitem__, default=-1)

    def bytes_of(self, *kinds: str) -> int:
        """Return the bytes of all tensors of some kinds, alive together or not."""
        return sum(row.size for row in self.placed if row.kind in kinds)

    def alive(self, place: int) -> list[PlacedTensor]:
        """Return what is alive while a node runs, the largest first."""
        rows = [row for row in self.placed if row.first <= place <= row.last]
        return sorted(rows, key=lambda row: (-row.size, row.index))


def summaries(answer: Answer | ModelLike) -> list[Summary]:
    """Return a summary of every subgraph that was planned, of an answer, or of a model that is allocated for it."""
    answer = answer if isinstance(answer, Answer) else allocated(answer)
    return [summarize(subgraph) for subgraph in answer.subgraphs if subgraph.planner is not None]


def _live_bytes(placed: tuple[PlacedTensor, ...], count: int) -> tuple[int, ...]:
    """Return the bytes that are alive at each of ``count`` nodes."""
    live = [0] * count
    for row in placed:
        for place in range(row.first, min(row.last, count - 1) + 1):
            live[place] += row.size
    return tuple(live)


def summarize(subgraph: TfLiteSubgraph) -> Summary:
    """Return what a planned subgraph's memory is."""
    document = subgraph_document(subgraph)
    placed = tuple(_placed(subgraph))
    count = len(subgraph.execution_plan)
    persistent = [
        (index, tensor.name, tensor.size, tensor.offset)
        for index, tensor in enumerate(subgraph.tensors)
        if tensor.allocation_type is AllocationType.ARENA_RW_PERSISTENT and tensor.offset is not None
    ]
    kinds = (AllocationType.DYNAMIC, AllocationType.PERSISTENT_RO)
    dynamic, computed = ([tensor for tensor in subgraph.tensors if tensor.allocation_type is kind] for kind in kinds)
    return Summary(
        subgraph=subgraph.index,
        arena_bytes=document.arena_rw_span,
        persistent_bytes=document.persistent_span,
        placed=placed,
        persistent=tuple(persistent),
        live_bytes=_live_bytes(placed, count),
        ops=tuple(node.registration.name for node in subgraph.execution_nodes),
        dynamic=tuple(tensor.name for tensor in dynamic),
        computed_bytes=sum(tensor.size for tensor in computed),
        is_complete=not subgraph.has_dynamic_tensors,
    )


def _placed(subgraph: TfLiteSubgraph) -> list[PlacedTensor]:
    planner = subgraph.planner
    assert planner is not None, "a subgraph without a plan holds nothing"
    temporaries = {index for node in subgraph.execution_nodes for index in present(node.temporaries)}
    last_place = max(len(subgraph.execution_plan) - 1, 0)
    rows = []
    for index, alloc in enumerate(planner.allocs):
        tensor = subgraph.tensors[index]
        if tensor.allocation_type is not AllocationType.ARENA_RW or not alloc.size:
            continue
        kind = "activation"
        if index in temporaries:
            kind = "temporary"
        elif index in subgraph.inputs:
            kind = "input"
        elif index in subgraph.outputs:
            kind = "output"
        rows.append(
            PlacedTensor(
                index, tensor.name, kind, alloc.size, alloc.offset, alloc.first_node, min(alloc.last_node, last_place)
            )
        )
    return rows
