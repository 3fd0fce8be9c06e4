"""A TFLite graph as the recordings of its planners describe it."""

from __future__ import annotations

from tflm_sim.extensions.lite.graph_info import (
    AllocationType,
    GraphInfo,
    InplaceOperator,
    TfLiteNode,
    TfLiteRegistration,
    TfLiteTensor,
)


def graph_from_json(description: dict) -> GraphInfo:
    """Return the TFLite graph that a case of ``../shared/planners/arena_*`` describes."""
    tensors = [
        TfLiteTensor(tensor["bytes"], AllocationType(tensor["allocation_type"])) for tensor in description["tensors"]
    ]
    nodes = [
        TfLiteNode(
            tuple(node["inputs"]),
            tuple(node["outputs"]),
            tuple(node["temporaries"]),
            registration=TfLiteRegistration(inplace_operator=InplaceOperator(node["inplace"])),
        )
        for node in description["nodes"]
    ]
    ends = (tuple(description[key]) for key in ("inputs", "outputs", "variables"))
    return GraphInfo(tensors, nodes, *ends, list(range(len(nodes))))
