"""What the runtime reads of a sparse constant: whether its table is whole, and the size of its ledger.

Source: tflite/core/interpreter_builder.cc ParseSparsity, tflite/kernels/fully_connected.cc CreateLedgerTensor,
tflite/schema/schema.fbs SparsityParameters @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.schema import TensorSlot
from tflm_sim.model.types import Model, Tensor

_TRAVERSAL_ORDER, _DIM_METADATA = 0, 2
_FORMAT, _SEGMENTS, _INDICES = 0, (2, 3), (4, 5)  # of a dimension; the slots of a union are its type and its value
_DENSE, _COMPRESSED = 0, 1
_ELEMENT_CODES = {1: "i", 2: "H", 3: "B"}  # Int32Vector, Uint16Vector, Uint8Vector


def _parameters(model: Model, tensor: Tensor) -> Table | None:
    return Table(FlatBuffer(model.source), tensor.offset).table(TensorSlot.SPARSITY)


def refusal(model: Model, tensor: Tensor) -> str | None:
    """Return what the runtime says of the sparsity parameters of a tensor that has some, None when it takes them."""
    table = _parameters(model, tensor)
    dimensions = table.tables(_DIM_METADATA) if table is not None else None
    if table is None or dimensions is None or not table.has(_TRAVERSAL_ORDER):
        return "Invalid sparsity parameter."
    for index, dimension in enumerate(dimensions):
        kind = dimension.scalar(_FORMAT, SCALARS["byte"])
        if kind not in (_DENSE, _COMPRESSED):
            return f"The {index}th dimension has unknown type: {kind}."
        if kind == _COMPRESSED and None in (_numbers(dimension, _SEGMENTS), _numbers(dimension, _INDICES)):
            return f"The {index}th sparse dimension has invalid parameters."
    return None


def ledger_size(model: Model, tensor: Tensor) -> int:
    """Return the bytes of a sparse tensor's ledger, 0 when its second dimension is not compressed."""
    table = _parameters(model, tensor)
    dimensions = table.tables(_DIM_METADATA) if table is not None else None
    if not dimensions or len(dimensions) < 2:
        return 0
    segments, indices = (len(_numbers(dimensions[1], slots) or ()) for slots in (_SEGMENTS, _INDICES))
    return max(indices + segments - 1, 0)


def _numbers(dimension: Table, slots: tuple[int, int]) -> tuple[int, ...] | None:
    """Return the segments or the indices of a dimension, None when they are not whole."""
    code = _ELEMENT_CODES.get(dimension.scalar(slots[0], SCALARS["ubyte"]))
    values = dimension.table(slots[1])
    return values.numbers(0, code) if values is not None and code else None
