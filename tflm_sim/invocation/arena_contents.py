"""The bytes of the arena while a model is invoked: who wrote what where, and whether it is still there.

Each write fills a buffer with a piece of noise that starts somewhere else each time; a check compares every byte. Two
pieces agree in a given byte by chance with 1/256, so that a buffer of one byte takes a few invocations to judge.

    | t0 t0 t0 | t1 t1 | scratch |      free      | variable | resource variable |
    0                        head size       tail offset                  arena size

All of it is one ``bytearray``. Nobody touches the free bytes, which are left out where the arena is a roomy one, and
where persistent memory is an arena of its own.
"""

from __future__ import annotations

from tflm_sim.errors import ModelError
from tflm_sim.invocation.findings import BufferId, Finding, FindingCode, Place

# The noise repeats after a prime number of bytes: no shift by a multiple of 16 below 1 MiB finds itself again.
_PERIOD = 65537
_STRIDE = 40503

MAX_ARENA_BYTES = 1 << 26
"""How many bytes of head and tail are filled and compared, more than any device has; a file can claim gigabytes."""

Content = bytes | memoryview


class Slot:
    """A buffer's bytes in the arena, and what should be in them (mutable).

    Attributes:
        buffer: Whose they are.
        memory: The arena's bytes.
        index: Where in ``memory`` they start.
        offset: Where in the arena they start, bytes.
        size: Bytes, without the padding to 16.
        is_variable: Whether it keeps its content between invocations.
        content: What the last writer left there; None before anybody wrote in this invocation.
        writer: Who that was.
        time: When that was, counted in writes.
        resource_id: The resource variable whose id the content is, None for other contents.
    """

    __slots__ = (
        "buffer",
        "content",
        "index",
        "is_variable",
        "memory",
        "offset",
        "resource_id",
        "size",
        "time",
        "writer",
    )

    def __init__(self, buffer: BufferId, memory: bytearray, index: int, *, offset: int, size: int) -> None:
        self.buffer = buffer
        self.memory = memory
        self.index = index
        self.offset = offset
        self.size = size
        self.is_variable = False
        self.content: Content | None = None
        self.writer = Place.moment("nobody")
        self.time = 0
        self.resource_id: int | None = None

    @property
    def end(self) -> int:
        """The first byte after it, from the arena's start."""
        return self.offset + self.size

    def is_intact(self) -> bool:
        """Whether it holds what its last writer left."""
        return self.content is not None and self.memory.startswith(self.content, self.index)

    def is_same_place(self, other: Slot) -> bool:
        """Whether both start at the same byte: upstream's kernels compare the pointers."""
        return self.index == other.index

    def shares_bytes(self, other: Slot) -> bool:
        """Whether a byte belongs to both."""
        return max(self.index, other.index) < min(self.index + self.size, other.index + other.size)


class ArenaContents:
    """The arena's bytes with every buffer in them (mutable).

    Args:
        head_size: Bytes of the head.
        tail_offset: Where the tail starts, bytes.
        tail_size: Bytes of the tail.
        has_gap: Whether the free bytes between head and tail are there too.

    Attributes:
        memory: The arena's bytes.
        findings: What was wrong so far, each once.
        checked_bytes: How many bytes were compared.

    Raises:
        ModelError: More bytes than ``MAX_ARENA_BYTES``.
    """

    def __init__(self, head_size: int, tail_offset: int, tail_size: int, *, has_gap: bool) -> None:
        tail_index = tail_offset if has_gap else head_size
        if tail_index + tail_size > MAX_ARENA_BYTES:
            raise ModelError(f"{tail_index + tail_size:,} bytes of arena are more than any device has: not invoked")
        self.memory = bytearray(tail_index + tail_size)
        self._tail_shift = tail_index - tail_offset
        self.slots: list[Slot] = []
        self.checked_bytes = 0
        self._time = 0
        self._noise = memoryview(b"")
        self._findings: dict[tuple[object, ...], Finding] = {}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was wrong so far, in the order of discovery; each once."""
        return tuple(self._findings.values())

    def in_head(self, buffer: BufferId, offset: int, size: int) -> Slot:
        """Add a planned buffer; a size below zero, from dimensions below zero, is no bytes."""
        size = max(size, 0)
        return self._add(Slot(buffer, self.memory, offset, offset=offset, size=size))

    def in_tail(self, buffer: BufferId, offset: int, size: int) -> Slot:
        return self._add(Slot(buffer, self.memory, offset + self._tail_shift, offset=offset, size=size))

    def _add(self, slot: Slot) -> Slot:
        if not 0 <= slot.index <= len(slot.memory) - slot.size:
            raise ModelError(f"a buffer is placed at {slot.offset} to {slot.end}: outside of the arena")
        self.slots.append(slot)
        return slot

    def fill(self, slot: Slot, place: Place) -> None:
        """Write a pattern of its own."""
        start = self._time * _STRIDE % _PERIOD
        if len(self._noise) < start + slot.size:
            # Once for all slots: contents are views of it, which would keep a shorter one in memory.
            self._noise = _noise(_PERIOD + max(slot.size for slot in self.slots))
        self.write(slot, self._noise[start : start + slot.size], place)

    def write(self, slot: Slot, content: Content, place: Place) -> None:
        assert len(content) == slot.size, "a content as large as its slot"
        self._time += 1
        slot.memory[slot.index : slot.index + slot.size] = content
        slot.content, slot.writer, slot.time, slot.resource_id = content, place, self._time, None

    def copy(self, source: Slot, target: Slot, place: Place) -> None:
        """Copy between buffers of one size as ``memmove`` does; nothing when both are at the same place."""
        if source.content is None:
            self.fill(target, place)
        elif source.is_same_place(target):
            target.content, target.writer, target.time = source.content, place, source.time
        else:
            self.write(target, source.content, place)
        target.resource_id = source.resource_id

    def check(self, slot: Slot, place: Place, code: FindingCode = FindingCode.TENSOR_OVERWRITTEN) -> None:
        """Note a finding unless the slot holds exactly what its last writer left."""
        self.checked_bytes += slot.size
        if slot.content is None:
            message = f"{slot.buffer} is used, and nothing wrote it before"
            self.note(_finding(FindingCode.READ_BEFORE_WRITTEN, place, message, slot, None))
        elif not slot.is_intact():
            code = FindingCode.VARIABLE_TOUCHED if slot.is_variable else code
            later = [other for other in self.slots if other.time > slot.time and slot.shares_bytes(other)]
            for offender in sorted(later, key=lambda other: other.time):
                self.note(_finding(code, place, _overwritten(slot, offender), slot, offender))

    def note(self, finding: Finding) -> None:
        """Keep a finding, unless there is one of its code, place and buffers."""
        key = (finding.code, finding.noticed, finding.place, finding.victim, finding.offender)
        self._findings.setdefault(key, finding)


def _noise(size: int) -> memoryview:
    """Return noise of at least ``size`` bytes, always the same."""
    from random import Random  # It loads a crypto library, which whoever only sizes a model need not wait for.

    return memoryview(Random(0).randbytes(_PERIOD) * -(-size // _PERIOD))


def _overwritten(victim: Slot, offender: Slot) -> str:
    start, end = max(victim.offset, offender.offset), min(victim.end, offender.end)
    return (
        f"bytes {start:,} to {end - 1:,} of {victim.buffer} (written by {victim.writer}) were overwritten with "
        f"{offender.buffer} by {offender.writer}"
    )


def _operator(place: Place) -> tuple[int, int] | None:
    return (place.subgraph, place.operator) if place.operator >= 0 else None


def _finding(code: FindingCode, place: Place, message: str, victim: Slot, offender: Slot | None) -> Finding:
    start, end = victim.offset, victim.end
    if offender is not None:
        start, end = max(start, offender.offset), min(end, offender.end)
    return Finding(
        code,
        str(place),
        message,
        start,
        end,
        victim=victim.buffer,
        offender=offender.buffer if offender else None,
        noticed=_operator(place),
        written=_operator(offender.writer) if offender else None,
    )
