"""Models inside of a firmware's image: every flatbuffer that carries TFLite's identifier and can be read as a model.

A flatbuffer does not say how long it is. Its extent is the end of the last thing that reading it touched, which is
where a converter ends it too but for padding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from struct import Struct

from tflm_sim.errors import FirmwareError, ModelError
from tflm_sim.extensions.firmware.reading.image import Piece
from tflm_sim.model.flatbuf import IDENTIFIER_POSITION, FlatBuffer
from tflm_sim.model.load import parse_flatbuffer
from tflm_sim.model.schema import FILE_IDENTIFIER
from tflm_sim.model.types import Model
from tflm_sim.model.unkept import MeasuredFlatBuffer

MAX_WORK = 6 * 1024**2
"""How many bytes may be parsed in one image, a table counted as ``TABLE_WORK``: more than its models need by far."""
TABLE_WORK = 64
MOST_MODELS = 256
"""Each is judged in each arena and set-up that the program may have."""

_U16, _U32 = Struct("<H"), Struct("<I")


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """A model in the image.

    Attributes:
        model: What it says.
        piece: The name of the section that it lies in, "" for none.
        address: Where it lies in memory.
        extent: Bytes from there to the end of what it refers to.
        symbol: The name of the object that starts there, "" where no symbol tells.
    """

    model: Model
    piece: str
    address: int
    extent: int
    symbol: str = ""


class WalkedFlatBuffer(MeasuredFlatBuffer):
    """A flatbuffer that records how far it was read, and counts the work."""

    __slots__ = ()

    def __init__(self, data: memoryview, budget: int) -> None:
        super().__init__(data)
        self._budget = min(self._budget, budget)

    @property
    def budget(self) -> int:
        """What may still be parsed."""
        return self._budget

    def fields(self, position: int) -> tuple[int, ...]:
        self.charge(TABLE_WORK, position)
        return super().fields(position)


def find_models(pieces: Iterable[Piece]) -> tuple[EmbeddedModel, ...]:
    """Return the models in ``pieces``, in their order; a model that lies at two addresses is two.

    Raises:
        FirmwareError: There are more than any program has.
    """
    found: list[EmbeddedModel] = []
    budget = MAX_WORK
    for piece in pieces:
        budget = _find_in(piece, budget, found)
    return tuple(found)


def _find_in(piece: Piece, budget: int, found: list[EmbeddedModel]) -> int:
    """Add a piece's models to ``found``; return what is left of the budget."""
    data, at = bytes(piece.data), 0
    while budget > 0:
        at = data.find(FILE_IDENTIFIER, at + IDENTIFIER_POSITION)
        if at < 0:
            break
        start = at - IDENTIFIER_POSITION
        at -= IDENTIFIER_POSITION - 1
        if start < 0 or not _has_root(data, start):
            continue
        flatbuffer = WalkedFlatBuffer(piece.data[start:], budget)
        before = flatbuffer.budget
        try:
            model = parse_flatbuffer(flatbuffer)
        except ModelError:
            continue
        finally:
            budget -= before - flatbuffer.budget + TABLE_WORK
        if model.subgraphs and model.buffers:
            extent = min(flatbuffer.end, flatbuffer.size)
            found.append(
                EmbeddedModel(_cut(model, piece.data, start, extent), piece.name, piece.address + start, extent)
            )
            if len(found) > MOST_MODELS:
                raise FirmwareError(f"more than {MOST_MODELS} models lie in it, more than any program has")
            at = start + extent
    return budget


def _cut(model: Model, data: memoryview, start: int, extent: int) -> Model:
    """Return the model without what follows it in the image, when it still reads so."""
    try:
        return parse_flatbuffer(FlatBuffer(data[start : start + extent]))
    except ModelError:
        return model


def _has_root(data: bytes, start: int) -> bool:
    """Whether what the first word refers to looks like a table: its vtable lies in the image and is not odd."""
    if start + 8 > len(data):
        return False
    root = start + int(_U32.unpack_from(data, start)[0])
    if root + 4 > len(data):
        return False
    vtable = root - int.from_bytes(data[root : root + 4], "little", signed=True)
    if not start < vtable <= len(data) - 4:
        return False
    size, table_size = int(_U16.unpack_from(data, vtable)[0]), int(_U16.unpack_from(data, vtable + 2)[0])
    return 4 <= size <= 64 and size % 2 == 0 and 4 <= table_size <= 256
