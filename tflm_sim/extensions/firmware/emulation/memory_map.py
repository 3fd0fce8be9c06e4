"""The memory map: the program's segments, and the architecture's rules for all other addresses.

    Cortex-M    0x0000_0000 code    0x2000_0000 RAM    0x4000_0000 devices    0x6000_0000 RAM    0xA000_0000 devices
    RISC-V      RAM around what the program writes to; devices elsewhere

Source: Armv7-M Architecture Reference Manual, B3.1: the system address map. RISC-V has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading.elf import Elf, Segment
from tflm_sim.units import align_up

CHUNK = 1 << 16
"""Bytes of the pieces in which memory appears."""
PAGE = 1 << 12
_MAX_BYTES = 64 << 20
"""Bytes that a program's segments may hold together."""
SPARE_DISTANCE = 16 << 20
"""How far from what a RISC-V program writes to there is RAM; and how far below its end memory is spare."""
_SPARE = (0xDF00_0000, 0xCF00_0000, 0xBF00_0000)
_SPARE_CODE = (0x9F00_0000, 0x7F00_0000, 0x6F00_0000)
"""Ends of memory that hardly any program uses; there are more than a program can use up. A Cortex-M executes nothing of
the first: Unicorn looks at each store to what may be code."""
_NULL, _NEAR_NULL = 1 << 12, 1 << 14
"""Where no memory begins unless a segment does; and how far a program may write by a null pointer to a structure."""
ADDRESSES = 1 << 32

_ARM_RAM = ((0x2000_0000, 0x4000_0000), (0x6000_0000, 0xA000_0000))


class MemoryKind(Enum):
    """What an address leads to."""

    MEMORY = "memory"
    DEVICE = "a device"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open stretch [start, end)."""

    start: int
    end: int

    def contains(self, address: int) -> bool:
        """Whether ``address`` lies in it."""
        return self.start <= address < self.end


_ARM_DEVICES = (Span(0x4000_0000, 0x6000_0000), Span(0xA000_0000, ADDRESSES))


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """Memory as a program finds it.

    Attributes:
        is_arm: Whose rules hold.
        loaded: (address, bytes) of what is loaded before the first instruction, in order.
        constant: What cannot be written.
        used: All that the segments take, bytes of the file or not.
        written: What the program's data takes.
    """

    is_arm: bool
    loaded: tuple[tuple[int, bytes], ...]
    constant: tuple[Span, ...]
    used: tuple[Span, ...]
    written: tuple[Span, ...]

    @property
    def spare(self) -> int:
        """The end of memory that the program does not use, for data."""
        return self._unused(_SPARE)

    @property
    def spare_code(self) -> int:
        """The end of memory that the program does not use, for code."""
        return self._unused(_SPARE_CODE)

    def _unused(self, ends: Sequence[int]) -> int:
        return next(
            end for end in ends if not any(span.start < end and end - SPARE_DISTANCE < span.end for span in self.used)
        )

    @property
    def code_near_null(self) -> list[Span]:
        """What is constant at address 0 and behind it: boards of QEMU let a null pointer write to code."""
        return [Span(one.start, min(one.end, _NEAR_NULL)) for one in self.constant if one.start < _NEAR_NULL]

    def kind(self, address: int) -> MemoryKind:
        """Return the kind of memory at an address that was not accessed before."""
        if any(span.contains(address) for span in self.used):
            return MemoryKind.MEMORY
        if address < _NULL:
            return MemoryKind.NOTHING
        if self.is_arm:
            if any(start <= address < end for start, end in _ARM_RAM):
                return MemoryKind.MEMORY
            return MemoryKind.NOTHING if address < CHUNK else MemoryKind.DEVICE
        near = any(span.start - CHUNK <= address < span.end + SPARE_DISTANCE for span in self.written)
        return MemoryKind.MEMORY if near else MemoryKind.DEVICE

    def devices(self) -> tuple[Span, ...]:
        """Return where no memory is that a program could damage. The rest is :attr:`MemoryKind.MEMORY`, or code."""
        if self.is_arm:
            return _ARM_DEVICES
        low = min((span.start for span in self.written), default=0) - CHUNK
        high = max((span.end for span in self.written), default=0) + SPARE_DISTANCE
        return Span(0, max(low, 0)), Span(high, ADDRESSES)

    def pages(self, base: int) -> Iterator[tuple[int, int, bool]]:
        """Yield (start, size, whether it can be written) of the parts of the 64 KiB at ``base``."""
        edges = {base, base + CHUNK}
        for span in self.constant:
            edges |= {edge for edge in (span.start, span.end) if base < edge < base + CHUNK}
        for start, end in zip(sorted(edges), sorted(edges)[1:], strict=False):
            yield start, end - start, not any(span.contains(start) for span in self.constant)


def memory_map(elf: Elf, *, is_started: bool = False) -> MemoryMap:
    """Return the memory of a program.

    Args:
        elf: The program.
        is_started: Whether its data stand where it uses them, as start-up code would have put them; otherwise where
            they are stored.

    Raises:
        FirmwareError: There is nothing to execute, or too much.
    """
    segments = [segment for segment in elf.segments if segment.memory_size]
    if sum(segment.memory_size for segment in segments) > _MAX_BYTES:
        raise FirmwareError(f"its segments are larger than {_MAX_BYTES:,} bytes")
    loaded = [
        ((one.address if is_started else one.load_address), bytes(elf.data[one.offset : one.offset + one.file_size]))
        for one in segments
        if one.file_size
    ]
    if not loaded:
        raise FirmwareError("no segment of it is loaded: is it the linked program?")
    written = writable(elf)
    constant = [segment for segment in segments if not segment.is_writable]
    return MemoryMap(
        is_arm=elf.machine == "ARM",
        loaded=tuple(loaded),
        constant=tuple(_constant(constant, written)),
        used=tuple(_spans(segments)),
        written=written,
    )


def writable(elf: Elf) -> tuple[Span, ...]:
    """Return the segments that the program can write to."""
    segments = [segment for segment in elf.segments if segment.is_writable and segment.memory_size]
    return tuple(Span(segment.address, segment.address + segment.memory_size) for segment in segments)


def _spans(segments: Sequence[Segment]) -> Iterator[Span]:
    for segment in segments:
        yield Span(segment.address, segment.address + segment.memory_size)
        if segment.load_address != segment.address:
            yield Span(segment.load_address, segment.load_address + segment.file_size)


def _constant(segments: Sequence[Segment], written: Sequence[Span]) -> Iterator[Span]:
    for segment in segments:
        start, end = align_up(segment.address, PAGE), (segment.address + segment.memory_size) & -PAGE
        if start < end and not any(span.start < end and start < span.end for span in written):
            yield Span(start, end)
