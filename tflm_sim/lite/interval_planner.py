"""The ``ArenaPlanner`` of 2020 to 2022: usage intervals as today's, no sharing of bytes, and inputs that may go.

With ``preserves_inputs=False``, an input's bytes are free after its last reader. Inputs 0 and 1 of the graph
0, 1 -> [2]; 2, 0 -> [4, 5]; 4, 5 -> [3], sizes 3 * (i + 1) at an alignment of 4::

    node    0       1       2
    44  |   +---0---+
    32  |   +---2---+---3---+
    16  |   .       +---4---+
     0  |   +-1-+   +---5---+

Source: tensorflow/lite/arena_planner.cc as of 2020; ``preserve_inputs`` went in 2022
"""

from __future__ import annotations

from itertools import chain

from tflm_sim.lite.arena_planner import DEFAULT_TENSOR_ALIGNMENT, ArenaPlanner
from tflm_sim.lite.graph_info import GraphInfo, present


class IntervalArenaPlanner(ArenaPlanner):
    """The memory planner of one subgraph (mutable); attributes as today's planner has them.

    Attributes:
        preserves_inputs: Whether the graph's inputs keep their bytes.
        preserves_intermediates: Whether no tensor but temporaries is freed.
    """

    def __init__(
        self,
        graph: GraphInfo,
        *,
        preserves_inputs: bool = True,
        preserves_intermediates: bool = False,
        tensor_alignment: int = DEFAULT_TENSOR_ALIGNMENT,
    ) -> None:
        super().__init__(graph, preserves_all_tensors=preserves_intermediates, tensor_alignment=tensor_alignment)
        self.preserves_inputs = preserves_inputs

    def _count_references(self, owners: dict[int, int]) -> list[int]:
        counts = super()._count_references(owners)
        for index in () if self.preserves_inputs else present(self.graph.inputs):
            counts[index] -= 1
        return counts

    def _find_shared(self) -> dict[int, int]:
        return {}

    def _assign_temporaries(self, first_node: int, last_node: int) -> None:
        super()._assign_temporaries(first_node, last_node)
        for number, node in enumerate(self.graph.execution_nodes[first_node : last_node + 1], first_node):
            for index in node.temporaries:
                self.dealloc_node[index] = number

    def _tensors_to_allocate(self, first_node: int, last_node: int) -> list[int]:
        indices = chain.from_iterable(self._node_tensors[first_node : last_node + 1])
        return sorted(index for index in set(indices) if self._needs_allocation(index))
