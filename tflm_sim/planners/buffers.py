"""``Buffer`` and ``Plan``: the question that every planner gets and the answer that it gives.

A buffer needs ``size`` bytes of the arena at the moments ``lower <= time < upper``, in minimalloc's words; two buffers
that share a moment must not share a byte. TFLM's own structs, and the C core, name the first and the last moment: only
what speaks to them converts. A plan is one offset per buffer::

    bytes
    30 |     +---+
       |     | 1 |        buffer 0: size 10, lower 0, upper 2, offset  0
    10 | +---+---+        buffer 1: size 20, lower 1, upper 3, offset 10
       | | 0 |            peak 30
     0 +-0---1---2- time
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tflm_sim.errors import UsageError, whole_number
from tflm_sim.escape import html_table
from tflm_sim.short_repr import short_repr

BUFFER_ALIGNMENT = 16
"""``MicroArenaBufferAlignment()``: TFLM rounds planned buffers up to this many bytes, and aligns what kernels keep.

Source: tensorflow/lite/micro/micro_arena_constants.h @ 90b983c.
"""

_MOST = 1 << 63
"""The largest number. Planners in C refuse what they cannot add up, which is less."""
_NUMBERS = ("size", "lower", "upper", "alignment", "offset")
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Buffer:
    """Bytes that are needed for a while.

    Attributes:
        size: Bytes; 0 is allowed and occupies nothing.
        lower: The first moment (operator index) at which the bytes are needed.
        upper: The first moment after it at which they are not needed any more.
        alignment: The offset must be a multiple of this many bytes.
        offset: Where the buffer has to be (bytes from the base of the arena), or None when the planner decides.
        name: What it is called, for people; buffers that differ in nothing else are equal.

    Raises:
        UsageError: Something that is no whole number, or beyond 64 bits; a negative size or offset, an alignment below
            1, or a lifetime that ends before it begins.
    """

    size: int
    lower: int
    upper: int
    alignment: int = 1
    offset: int | None = None
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in _NUMBERS:
            number = getattr(self, name)
            if not (type(number) is int and -_MOST <= number <= _MOST) and (number is not None or name != "offset"):
                object.__setattr__(self, name, whole_number(number, f"a buffer's {name}", -_MOST, _MOST))
        if self.size < 0:
            raise UsageError(f"a buffer of {self.size} bytes: the size must not be negative")
        if self.lower >= self.upper:
            raise UsageError(f"a buffer with lower {self.lower} and upper {self.upper}: it ends before it begins")
        if self.alignment < 1:
            raise UsageError(f"a buffer aligned to {self.alignment}: the alignment must be positive")
        if self.offset is not None and self.offset < 0:
            raise UsageError(f"a buffer fixed at offset {self.offset}: the offset must not be negative")

    def is_alive_with(self, other: Buffer) -> bool:
        """Return whether both are needed at one moment."""
        return self.lower < other.upper and other.lower < self.upper


@dataclass(frozen=True, slots=True)
class Plan:
    """One offset (bytes) per buffer, in the order of the buffers, and the first byte above all of them."""

    offsets: tuple[int, ...]
    peak: int

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """For notebooks: the offsets of the first buffers."""
        rows = [(str(index), f"{offset:,}") for index, offset in enumerate(self.offsets[:_SHOWN])]
        rows += [("…", f"{len(self.offsets) - _SHOWN:,} more")] * (len(self.offsets) > _SHOWN)
        return html_table(f"{len(self.offsets):,} buffers in {self.peak:,} B", rows, head=("buffer", "offset"))


def plan_of(buffers: Sequence[Buffer], offsets: Iterable[int]) -> Plan:
    """Return the plan that places ``buffers`` at ``offsets``; its peak is the highest end, 0 without buffers."""
    placed = tuple(offsets)
    assert len(placed) == len(buffers), "a plan has one offset per buffer"
    ends = (offset + buffer.size for offset, buffer in zip(placed, buffers, strict=True))
    return Plan(placed, max(ends, default=0))
