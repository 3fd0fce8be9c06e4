"""Cut a graph into the node subsets that a delegate takes, and those in between, in an order that can run.

A subset grows while nodes of its kind are ready: all their inputs are written by this subset, by earlier ones, or by
nobody. With X -> SIN1 -> ADD1 -> ADD2, X -> ADD1, X -> MUL -> SIN2 -> ADD2 and a delegate for SIN::

    [SIN1]  [ADD1 MUL]  [SIN2]  [ADD2]
     takes                takes

Greedily, a subset also takes nodes that stand behind nodes of the other kind; otherwise the order of execution stays.

Source: tflite/graph_info.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.graph_info import GraphInfo, present

_NOT_READY = -1
_ALWAYS_READY = -2


@dataclass(frozen=True, slots=True)
class NodeSubset:
    """Nodes of one kind that run one after the other.

    Attributes:
        is_delegated: Whether the delegate takes them.
        nodes: Node indices, in the order in which they run.
        input_tensors: What other subsets, or nobody, write; ascending.
        output_tensors: What other subsets, or the graph's caller, read; ascending.
    """

    is_delegated: bool
    nodes: tuple[int, ...]
    input_tensors: tuple[int, ...]
    output_tensors: tuple[int, ...]


def partition(
    graph: GraphInfo,
    delegated: Collection[int],
    *,
    greedily: bool = True,
    fuses_nodes: bool = True,
    control_edges: Iterable[tuple[int, int]] | None = None,
) -> list[NodeSubset]:
    """Return the node subsets of the execution plan, in an order in which they can run.

    Args:
        graph: Its execution plan is in an order that can run.
        delegated: Indices of the nodes that the delegate takes.
        greedily: Whether a subset may skip nodes of the other kind.
        fuses_nodes: Whether a subset may have more than one node.
        control_edges: Pairs of places in the execution plan, the first of which has to run first; None keeps the
            order of the nodes that may have side effects when partitioning greedily.

    Raises:
        PlanningError: A delegated node or an edge does not exist, or no order can run.
    """
    count = len(graph.execution_plan)
    if control_edges is None:
        effects = [place for place, node in enumerate(graph.execution_nodes) if node.might_have_side_effect]
        control_edges = pairwise(effects) if greedily else ()
    edges = set(control_edges)
    if not all(0 <= place < count for edge in edges for place in edge):
        raise PlanningError(f"a control edge outside of {count} nodes")
    if not all(0 <= node < len(graph.nodes) for node in delegated):
        raise PlanningError(f"the delegate takes a node outside of {len(graph.nodes)}")
    return _Partitioner(graph, set(delegated), edges, greedily, fuses_nodes).run()


class _Subset:
    """A subset while it grows (mutable); ``is_delegated`` is None until its first node decides."""

    def __init__(self) -> None:
        self.is_delegated: bool | None = None
        self.nodes: list[int] = []
        self.inputs: set[int] = set()
        self.outputs: set[int] = set()

    def frozen(self) -> NodeSubset:
        assert self.is_delegated is not None, "a finished subset has nodes"
        return NodeSubset(self.is_delegated, tuple(self.nodes), tuple(sorted(self.inputs)), tuple(sorted(self.outputs)))


class _Partitioner:
    """One partitioning (mutable); an epoch is the number of the subset that a tensor or node belongs to."""

    def __init__(
        self, graph: GraphInfo, delegated: set[int], edges: set[tuple[int, int]], greedily: bool, fuses_nodes: bool
    ) -> None:
        self._graph = graph
        self._delegated = delegated
        self._edges = edges
        self._greedily = greedily
        self._fuses_nodes = fuses_nodes
        self._nodes = graph.execution_nodes
        self._subsets: list[_Subset] = []
        self._is_done = [False] * len(self._nodes)
        self._tensor_epochs = [_ALWAYS_READY] * len(graph.tensors)
        for node in self._nodes:
            for tensor in present(node.outputs):
                self._tensor_epochs[tensor] = _NOT_READY

    def run(self) -> list[NodeSubset]:
        """Return the subsets."""
        while not all(self._is_done):
            self._subsets.append(_Subset())
            self._grow()
            if not self._subsets[-1].nodes:
                raise PlanningError("nodes wait for each other: no order of them can run")
        for tensor in present(self._graph.outputs):
            epoch = self._tensor_epochs[tensor]
            if epoch != _ALWAYS_READY:
                self._subsets[epoch].outputs.add(tensor)
        return [subset.frozen() for subset in self._subsets]

    def _grow(self) -> None:
        """Add nodes to the last subset until none is ready."""
        is_growing = True
        while is_growing:
            is_growing = False
            for place in range(len(self._nodes)):
                if self._is_addable(place):
                    self._add(place)
                    is_growing = True
                elif is_growing and not self._greedily:
                    return

    def _is_addable(self, place: int) -> bool:
        subset = self._subsets[-1]
        if self._is_done[place] or (subset.nodes and not self._fuses_nodes):
            return False
        if any(self._tensor_epochs[tensor] == _NOT_READY for tensor in present(self._nodes[place].inputs)):
            return False
        if any(after == place and not self._is_done[before] for before, after in self._edges):
            return False
        return subset.is_delegated in (None, self._graph.execution_plan[place] in self._delegated)

    def _add(self, place: int) -> None:
        epoch, subset = len(self._subsets) - 1, self._subsets[-1]
        index, node = self._graph.execution_plan[place], self._nodes[place]
        subset.is_delegated = index in self._delegated
        subset.nodes.append(index)
        self._is_done[place] = True
        for tensor in present(node.outputs):
            self._tensor_epochs[tensor] = epoch
        for tensor in present(node.inputs):
            source = self._tensor_epochs[tensor]
            if source == epoch:
                continue
            subset.inputs.add(tensor)
            if source >= 0:
                self._subsets[source].outputs.add(tensor)
