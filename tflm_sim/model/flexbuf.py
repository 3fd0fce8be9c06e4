"""A bounds-checked reader of FlexBuffers, the format of custom operators' options.

    ... values ... [root slot][root's packed type: 1][width of the root slot: 1]
    packed type    type << 2 | log2 of the width of what the value points to
    vector         [count] elements [packed type of each, in an untyped vector]     width bytes each
    map            [offset to keys][width of keys] then a vector of the values, sorted by key

Invariant: a read either lies inside the options or raises :class:`ModelError`, whose offset counts from their start.
Values are views; nothing recurses and nothing is converted before it is asked for.

Source: the FlexBuffers section of the FlatBuffers internals document; conversions as include/flatbuffers/flexbuffers.h
v25.9.23 does them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from struct import unpack_from

from tflm_sim.errors import ModelError


class FlexType(IntEnum):
    """Types of values. From VECTOR_INT2 on come the vectors of 2, 3 and 4 ints, uints and floats."""

    NULL = 0
    INT = 1
    UINT = 2
    FLOAT = 3
    KEY = 4
    STRING = 5
    INDIRECT_INT = 6
    INDIRECT_UINT = 7
    INDIRECT_FLOAT = 8
    MAP = 9
    VECTOR = 10
    VECTOR_INT = 11
    VECTOR_UINT = 12
    VECTOR_FLOAT = 13
    VECTOR_KEY = 14
    VECTOR_STRING = 15
    VECTOR_INT2 = 16
    VECTOR_FLOAT4 = 24
    BLOB = 25
    BOOL = 26
    VECTOR_BOOL = 36


_INLINE = frozenset({FlexType.NULL, FlexType.INT, FlexType.UINT, FlexType.FLOAT, FlexType.BOOL})
_INDIRECT = {
    FlexType.INDIRECT_INT: FlexType.INT,
    FlexType.INDIRECT_UINT: FlexType.UINT,
    FlexType.INDIRECT_FLOAT: FlexType.FLOAT,
}
_SCALARS = _INLINE | frozenset(_INDIRECT)
_TYPED_VECTORS = {
    FlexType.VECTOR_INT: FlexType.INT,
    FlexType.VECTOR_UINT: FlexType.UINT,
    FlexType.VECTOR_FLOAT: FlexType.FLOAT,
    FlexType.VECTOR_KEY: FlexType.KEY,
    FlexType.VECTOR_STRING: FlexType.STRING,
    FlexType.VECTOR_BOOL: FlexType.BOOL,
}
_VECTORS = frozenset({FlexType.MAP, FlexType.VECTOR, *_TYPED_VECTORS})

_INT_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_UINT_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
# The runtime reads floats of one and two bytes as integers: it knows no type of that width.
_FLOAT_CODES = {1: "b", 2: "h", 4: "f", 8: "d"}
_KEY_CHUNK = 256
_CODES = {FlexType.INT: _INT_CODES, FlexType.FLOAT: _FLOAT_CODES}


@dataclass(frozen=True, slots=True)
class FlexValue:
    """One value.

    Attributes:
        data: All bytes of the options.
        type: The value's type; an unknown type is a plain number.
        position: Where the value's slot is.
        slot_width: Bytes of the slot.
        width: Bytes of the elements that the slot points to.
    """

    data: memoryview
    type: int
    position: int
    slot_width: int
    width: int

    @property
    def is_null(self) -> bool:
        """Whether it is null, as a missing map entry is."""
        return self.type == FlexType.NULL

    def as_int(self) -> int:
        """Return a number or bool as an integer, floats truncated; a vector's length; 0 for null."""
        number = self._number()
        if not isfinite(number):
            raise ModelError(f"a custom option is {number} where an integer belongs", offset=self.position)
        return int(number)

    def as_float(self) -> float:
        """Return a number as a float; a vector's length; 0.0 for null."""
        return float(self._number())

    def as_bool(self) -> bool:
        """Return whether the number is not zero once it is an integer."""
        return self.as_int() != 0

    def as_text(self) -> str:
        """Return a key or string, "" for any other type."""
        if self.type == FlexType.KEY:
            return _key(self.data, self._target())
        return str(self.as_bytes(), "utf-8", "replace") if self.type == FlexType.STRING else ""

    def as_bytes(self) -> memoryview:
        """Return the bytes of a string or blob without copying them, none for any other type."""
        if self.type not in (FlexType.STRING, FlexType.BLOB):
            return self.data[:0]
        start, count = self._target(), self._length()
        _check(self.data, start, count)
        return self.data[start : start + count]

    def as_vector(self) -> tuple[FlexValue, ...]:
        """Return the elements of a vector, or the values of a map in the order of their keys; () for other types."""
        if self.type in (FlexType.VECTOR, FlexType.MAP):
            start, count = self._target(), self._length()
            _check(self.data, start, count * (self.width + 1))
            types = self.data[start + count * self.width :]
            return tuple(self._element(start, i, types[i] >> 2, 1 << (types[i] & 3)) for i in range(count))
        if self.type in _TYPED_VECTORS:
            return self._typed(_TYPED_VECTORS[FlexType(self.type)], self._length())
        if FlexType.VECTOR_INT2 <= self.type <= FlexType.VECTOR_FLOAT4:
            length, kind = divmod(self.type - FlexType.VECTOR_INT2, 3)
            return self._typed(FlexType.INT + kind, length + 2)
        return ()

    def as_map(self) -> dict[str, FlexValue]:
        """Return a map's values by key, {} for any other type."""
        if self.type != FlexType.MAP:
            return {}
        keys_slot = self._target() - 3 * self.width
        keys = self._follow(keys_slot, self.width)
        keys_width = self._unsigned(keys_slot + self.width, self.width)
        names = FlexValue(self.data, FlexType.VECTOR_KEY, keys_slot, self.width, keys_width)._typed(
            FlexType.KEY, self._unsigned(keys - keys_width, keys_width)
        )
        return {name.as_text(): value for name, value in zip(names, self.as_vector(), strict=False)}

    def _typed(self, kind: int, count: int) -> tuple[FlexValue, ...]:
        start = self._target()
        _check(self.data, start, count * self.width)
        return tuple(self._element(start, i, kind, 1) for i in range(count))

    def _element(self, start: int, index: int, kind: int, width: int) -> FlexValue:
        return FlexValue(self.data, kind, start + index * self.width, self.width, width)

    def _number(self) -> int | float:
        """Return the scalar that the slot holds or points to; 0 for null; a vector's length."""
        if self.type in _VECTORS:
            return self._length()
        if self.type not in _SCALARS:
            raise ModelError(f"a custom option of FlexBuffers type {self.type} is not a number", offset=self.position)
        if self.is_null:
            return 0
        stored = _INDIRECT.get(FlexType(self.type))
        if stored is None:
            return _read(self.data, self.position, self.slot_width, _CODES.get(FlexType(self.type), _UINT_CODES))
        return _read(self.data, self._target(), self.width, _CODES.get(stored, _UINT_CODES))

    def _length(self) -> int:
        return self._unsigned(self._target() - self.width, self.width)

    def _target(self) -> int:
        return self._follow(self.position, self.slot_width)

    def _follow(self, position: int, width: int) -> int:
        """Return what the offset at ``position`` points to: offsets count backwards."""
        return position - self._unsigned(position, width)

    def _unsigned(self, position: int, width: int) -> int:
        return int(_read(self.data, position, width, _UINT_CODES))


def read_root(data: memoryview) -> FlexValue:
    """Return the root value of custom options.

    Raises:
        ModelError: The bytes are too few, or their last byte is not a width.
    """
    if len(data) < 3:
        raise ModelError(f"{len(data)} bytes of custom options are too few for a FlexBuffer", offset=0)
    width = data[-1]
    if width not in _UINT_CODES or len(data) < width + 2:
        raise ModelError(f"the custom options end in the width {width}", offset=len(data) - 1)
    packed = data[-2]
    return FlexValue(data, packed >> 2, len(data) - 2 - width, width, 1 << (packed & 3))


@dataclass(frozen=True, slots=True)
class FlexSlots:
    """The slots of the root map or vector, read by index without a check of their types, as many kernels do.

    Attributes:
        data: All bytes of the options.
        start: Where slot 0 is.
        width: Bytes of a slot.
        count: Number of slots; 0 when the root is something else.

    Source: FlexbufferWrapper in tensorflow/lite/micro/flatbuffer_utils.cc @ 90b983c.
    """

    data: memoryview
    start: int
    width: int
    count: int

    def as_int(self, index: int) -> int:
        """Return a slot as a signed integer."""
        return int(self._read(index, _INT_CODES))

    def as_bool(self, index: int) -> bool:
        """Return whether a slot is not zero."""
        return self._read(index, _UINT_CODES) != 0

    def as_float(self, index: int) -> float:
        return float(self._read(index, _FLOAT_CODES))

    def _read(self, index: int, codes: dict[int, str]) -> int | float:
        if not 0 <= index < self.count:
            raise ModelError(f"the kernel reads custom option {index} of {self.count}", offset=self.start)
        return _read(self.data, self.start + index * self.width, self.width, codes)


def read_slots(data: memoryview) -> FlexSlots:
    """Return the slots of the root map or vector; raises ModelError as ``read_root`` does."""
    root = read_root(data)
    values = root.as_vector() if root.type in (FlexType.MAP, FlexType.VECTOR) else ()
    return FlexSlots(data, values[0].position if values else 0, root.width, len(values))


def _check(data: memoryview, start: int, size: int) -> None:
    """Refuse [start, start + size) when it is not inside the options."""
    if start < 0 or start + size > len(data):
        raise ModelError(f"a custom option would lie at [{start}, {start + size}) of {len(data)} bytes", offset=start)


def _read(data: memoryview, position: int, width: int, codes: dict[int, str]) -> int | float:
    """Return the number of ``width`` bytes at ``position``."""
    if width not in codes:
        raise ModelError(f"a custom option is {width} bytes wide", offset=position)
    _check(data, position, width)
    value: int | float = unpack_from(f"<{codes[width]}", data, position)[0]
    return value


def _key(data: memoryview, start: int) -> str:
    _check(data, start, 1)
    for chunk in range(start, len(data), _KEY_CHUNK):
        found = bytes(data[chunk : chunk + _KEY_CHUNK]).find(0)
        if found >= 0:
            return str(data[start : chunk + found], "utf-8", "replace")
    raise ModelError("a key of the custom options has no end", offset=start)
