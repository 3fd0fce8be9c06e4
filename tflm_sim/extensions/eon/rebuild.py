"""A source of the EON compiler as a .tflite file: the same tensors, constants, operators and options."""

from __future__ import annotations

from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon.source import EonSource, EonSubgraph
from tflm_sim.model.build import ModelBuilder, SubgraphBuilder, offline_plan

_SCRATCH = {"ethos-u": (2, 3)}
"""Inputs that nothing writes before and that are no variables: what an operator takes as its scratch memory."""


def rebuilt(source: EonSource) -> bytes:
    """Return the .tflite file of a source; its tensors have the names "tensor0", "tensor1", ... of their indices.

    The NPU's commands have offsets in its scratch tensor, in which its inputs and outputs lie: what is compiled for an
    Ethos-U keeps the places of the source.

    Raises:
        ModelError: A tensor in the arena is read and nothing writes it: a variable, which the source does not say.
    """
    builder = ModelBuilder(description="rebuilt from the source of an EON compiler")
    for index, subgraph in enumerate(source.subgraphs):
        if index == 0:
            _refuse_variables(subgraph, source.inputs)
        _fill(builder.main if index == 0 else builder.add_subgraph(f"subgraph{index}"), subgraph)
    if any(row.op in _SCRATCH for row in source.subgraphs[0].operators):
        places = [-1 if tensor.offset is None else tensor.offset for tensor in source.subgraphs[0].tensors]
        builder.metadata("OfflineMemoryAllocation", offline_plan(places))
    return builder.build(inputs=source.inputs, outputs=source.outputs)


def _fill(builder: SubgraphBuilder, subgraph: EonSubgraph) -> None:
    for index, tensor in enumerate(subgraph.tensors):
        builder.tensor(
            tensor.shape,
            tensor.type,
            data=tensor.data,
            scale=tensor.scale,
            zero_point=tensor.zero_point if tensor.scale is not None else None,
            quantized_dimension=tensor.quantized_dimension,
            name=f"tensor{index}",
        )
    for row in subgraph.operators:
        if row.custom_options is None:
            builder.operator(row.op, row.inputs, row.outputs, options=row.options)
        else:
            builder.custom(row.op, row.inputs, row.outputs, options=row.custom_options)


def _refuse_variables(subgraph: EonSubgraph, inputs: tuple[int, ...]) -> None:
    written = set(inputs)
    for row in subgraph.operators:
        for position, index in enumerate(row.inputs):
            is_read = index >= 0 and position not in _SCRATCH.get(row.op, ())
            if is_read and subgraph.tensors[index].offset is not None and index not in written:
                raise ModelError(
                    f"{row.op} reads tensor {index}, which nothing writes before: it is a variable, and the source "
                    "does not say what it holds at first"
                )
        written.update(row.outputs)
