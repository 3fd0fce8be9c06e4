"""The one size that the mobile kernels take from a sparse constant: its ledger, a byte a block and a row.

Source: tflite/kernels/fully_connected.cc CreateLedgerTensor, tflite/schema/schema.fbs SparsityParameters
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.schema import TensorSlot
from tflm_sim.model.types import Model, Tensor

_DIM_METADATA = 2
_SEGMENTS, _INDICES = (2, 3), (4, 5)  # the slots of a union: its type, its value
_ELEMENT_CODES = {1: "i", 2: "H", 3: "B"}  # Int32Vector, Uint16Vector, Uint8Vector


def ledger_size(model: Model, tensor: Tensor) -> int:
    """Return the bytes of a sparse tensor's ledger, 0 when its second dimension is not compressed."""
    table = Table(FlatBuffer(model.source), tensor.offset).table(TensorSlot.SPARSITY)
    dimensions = table.tables(_DIM_METADATA) if table is not None else None
    if not dimensions or len(dimensions) < 2:
        return 0
    segments, indices = (_count(dimensions[1], slots) for slots in (_SEGMENTS, _INDICES))
    return max(indices + segments - 1, 0)


def _count(dimension: Table, slots: tuple[int, int]) -> int:
    code = _ELEMENT_CODES.get(dimension.scalar(slots[0], SCALARS["ubyte"]))
    values = dimension.table(slots[1])
    return len(values.numbers(0, code) or ()) if values is not None and code else 0
