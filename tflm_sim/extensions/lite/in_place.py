"""Which outputs share the bytes of an input, as TFLite decides it today.

An operator that leaves its data alone (RESHAPE) always may; one that changes it (ADD) only where nobody else reads the
input, and the sizes are equal. Inputs and outputs of the graph never share.

Upstream counts the readers of the input and of the tensor that owns the bytes, but not those of other views of it: an
operator may overwrite what a view still shows.

Source: tflite/arena_planner.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.extensions.lite.graph_info import (
    INPUT_SHARED,
    OPTIONAL_TENSOR,
    AllocationType,
    GraphInfo,
    InplaceOperator,
    TfLiteNode,
    TfLiteTensor,
    present,
)

_SCALAR_TENSOR_BYTES = 4


def in_place_tensors(graph: GraphInfo, refcounts: Sequence[int]) -> dict[int, int]:
    """Return, for each tensor that owns no bytes, the tensor whose bytes it uses.

    Args:
        graph: The graph; sizes and allocation types may change later, so the planner checks them again.
        refcounts: How often each tensor is used: as an output, variable or input of the graph, or by a node.
    """
    owners: dict[int, int] = {}
    for node in graph.execution_nodes:
        if not present(node.outputs[:1]) or node.registration.inplace_operator == InplaceOperator.NONE:
            continue
        is_changed = not node.registration.inplace_operator & InplaceOperator.DATA_UNMODIFIED
        shared = _first_sharable_input(graph, node, refcounts, is_changed)
        if shared is None:
            continue
        owner = owners.get(shared, shared)
        if not (is_changed and refcounts[owner] > 1):
            owners[node.outputs[0]] = owner
    return owners


def _first_sharable_input(graph: GraphInfo, node: TfLiteNode, refcounts: Sequence[int], is_changed: bool) -> int | None:
    output_index = node.outputs[0]
    if output_index in graph.outputs:
        return None
    output = graph.tensors[output_index]
    for index, flag in zip(node.inputs, INPUT_SHARED, strict=False):
        if index == OPTIONAL_TENSOR or not node.registration.inplace_operator & flag or index in graph.inputs:
            continue
        tensor = graph.tensors[index]
        if (not is_changed or _may_be_overwritten(tensor, output, refcounts[index])) and _same_arena(tensor, output):
            return index
    return None


def _may_be_overwritten(tensor: TfLiteTensor, output: TfLiteTensor, refcount: int) -> bool:
    return tensor.size == output.size and tensor.size > _SCALAR_TENSOR_BYTES and refcount <= 1


def _same_arena(tensor: TfLiteTensor, output: TfLiteTensor) -> bool:
    """Return whether the types agree; an input in the arena passes with any output, as upstream has it."""
    return tensor.allocation_type in (output.allocation_type, AllocationType.ARENA_RW)
