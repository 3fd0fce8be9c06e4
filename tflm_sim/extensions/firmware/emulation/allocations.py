"""The calls of an executed program's arena allocator, as the events that the simulation also sends.

    SingleArenaBufferAllocator            head, end, planned, tail, temp
    PersistentArenaBufferAllocator        head, end, tail                     of two arenas that belong together
    NonPersistentArenaBufferAllocator     head, end, planned, temp

``alignment`` is 0 for an allocation or a resize without a call, where the compiler inlined the allocator's code.

Each call is recorded when it begins. Its effect is read from the allocator's fields when the next call begins, so that
no rule of rounding is assumed: ``head``, ``tail`` and ``temp`` have moved by then, or have not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tflm_sim.arena.events import Corruption, Event, Persist, Resize, Temp, TempFree, TempReset
from tflm_sim.extensions.firmware.emulation.emulator import Emulator, argument, words
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.seen import Part
from tflm_sim.units import align_down

_PLACES = {Part.ALL: (0, 1, 2, 3, 4), Part.PERSISTENT: (0, 1, 0, 2, 0), Part.REST: (0, 1, 2, 1, 3)}
"""Which words of an allocator stand for :class:`Fields`."""


class Fields(NamedTuple):
    """The fields of a SingleArenaBufferAllocator, as addresses; one of two arenas has no tail, or nothing else."""

    head: int
    end: int
    planned: int
    tail: int
    temp: int


class _Call(NamedTuple):
    role: Watched
    place: int
    before: Fields
    first: int
    second: int
    frame: tuple[int, int]


class Allocations:
    """Notes the calls of one arena's allocator.

    Attributes:
        events: What happened.
        refused: How many calls that wanted memory did not get it.
        damage: What was handed out although it was in use, "" where nothing was.
    """

    def __init__(self, machine: Emulator, part: Part) -> None:
        self.events: list[Event] = []
        self.refused = 0
        self.damage = ""
        self.listener: Callable[[Event], None] = self.events.append
        self._machine = machine
        self._words = _PLACES[part]
        self._place: int | None = None
        self._others: tuple[Allocations, ...] = ()
        self._call: _Call | None = None
        self._tail: int | None = None
        self._planned: int | None = None

    def join(self, other: Allocations) -> None:
        """Record the requests to another arena's allocator here too, because both belong to one interpreter."""
        self._others, other._others = (other,), (self,)
        other.events, other.listener = self.events, self.listener

    def total(self) -> tuple[int, int, str]:
        """Return the bytes in use, how many requests were refused, and the damage: of all that belong together."""
        self.settle()
        every = (self, *self._others)
        return sum(map(Allocations._used, every)), sum(one.refused for one in every), self.damage

    def _used(self) -> int:
        if self._place is None:
            return 0
        fields = self._fields(self._place)
        return max(fields.planned, fields.temp) - fields.head + fields.end - fields.tail

    def take(self) -> list[Event]:
        """Return the events since the last call of this method."""
        taken = list(self.events)
        self.events.clear()
        return taken

    def has_taken_below(self, tail: int) -> bool:
        """Whether tail bytes were taken below an address."""
        return self._tail is not None and self._tail < tail

    def _fields(self, place: int) -> Fields:
        """Return an allocator's fields, which begin at ``place``."""
        found = words(self._machine, place, 5)
        return Fields(*(found[index] for index in self._words))

    def begin(self, role: Watched, owner: int, layout: int) -> None:
        """Record that the machine is at the entry of a function of the allocator at ``owner``.

        Its fields begin ``layout`` words behind that. A call that goes on in another entry of the same function (a
        thunk, which only corrects the object's address) is one call.
        """
        if role is Watched.RESIZE_FREE:
            first, second = 0, 1
        else:
            number = 2 if role is Watched.RESIZE else 1
            first, second = argument(self._machine, number), argument(self._machine, number + 1)
        frame = self._machine.get("sp"), self._machine.get(self._machine.core.link)
        self._place = owner + 4 * layout
        before = self._fields(self._place)
        call = _Call(role, self._place, before, first, second, frame)
        if call != self._call:
            self.settle()
            self._find_unseen(before)
            self._call = call

    def _find_unseen(self, now: Fields) -> None:
        """Record what the head and the tail became without a call, where the compiler inlined the allocator's code."""
        if now.planned != (now.head if self._planned is None else self._planned):
            head = now.planned - now.head
            self.listener(Resize(head, 0, True, head, now.tail - now.head))
        self._planned = now.planned
        known = now.end if self._tail is None else self._tail
        if now.tail < known:
            taken = known - now.tail
            self.listener(Persist(taken, 0, now.tail - now.head, taken, now.end - now.tail, "", ""))
        self._tail = now.tail

    def settle(self) -> None:
        """Record what the previous call did, now that it has returned."""
        for one in (self, *self._others):
            one._settle()

    def _settle(self) -> None:
        call, self._call = self._call, None
        if call is not None:
            after = self._fields(call.place)
            self._tail = after.tail
            _HANDLERS[call.role](self, call, after)
            if call.role in _RESIZING:
                self._planned = after.planned
            self._find_unseen(after)

    def _persistent(self, call: _Call, after: Fields) -> None:
        base = after.head
        if after.tail == call.before.tail and call.first > 0:
            self.refused += 1
            return
        if after.tail < after.temp:
            end = after.temp - base
            self._damaged(f"tail: {call.first} bytes at {after.tail - base} overwrite temps that end at {end}")
        used, tail = call.before.tail - after.tail, after.tail
        if used >= call.first + max(call.second, 1):  # More than it can take: further requests were inlined behind it.
            tail = align_down(call.before.tail - call.first, max(call.second, 1))
            used = call.before.tail - tail
        self.listener(Persist(call.first, call.second, tail - base, used, after.end - tail, "", ""))
        self._tail = tail

    def _temp(self, call: _Call, after: Fields) -> None:
        base = after.head
        if after.temp == call.before.temp and call.first > 0:
            self.refused += 1
            return
        offset = after.temp - call.first - base & 0xFFFFFFFF  # The planner may ask for a size below zero, which wraps.
        if after.temp > after.tail:
            self._damaged(f"temp: {call.first} bytes at {offset} overwrite the tail at {after.tail - base}")
        self.listener(Temp(call.first, call.second, offset, after.temp - base, after.tail - base))

    def _temp_free(self, call: _Call, after: Fields) -> None:
        self.listener(TempFree(call.first - after.head))

    def _temp_reset(self, call: _Call, after: Fields) -> None:
        ok = after.temp == after.planned
        self.listener(TempReset(ok, call.before.temp - after.head, after.planned - after.head))

    def _resize(self, call: _Call, after: Fields) -> None:
        ok = 0 <= after.planned - after.head - call.first < max(call.second, 1)
        self.refused += not ok
        self.listener(Resize(call.first, call.second, ok, after.planned - after.head, after.tail - after.head))

    def _resize_inside(self, call: _Call, after: Fields) -> None:
        """Note a resize where the compiler put it into the function that asks for it; else ResizeBuffer() is seen."""
        if after.planned != call.before.planned:
            self._resize(call, after)

    def _damaged(self, text: str) -> None:
        self.damage = self.damage or text
        self.listener(Corruption(text))


_HANDLERS: dict[Watched, Callable[[Allocations, _Call, Fields], None]] = {
    Watched.PERSISTENT: Allocations._persistent,
    Watched.TEMP: Allocations._temp,
    Watched.TEMP_FREE: Allocations._temp_free,
    Watched.TEMP_RESET: Allocations._temp_reset,
    Watched.RESIZE: Allocations._resize,
    Watched.RESIZE_FREE: Allocations._resize_inside,
    Watched.RESERVE: Allocations._resize_inside,
}
ALLOCATOR_ROLES = frozenset(_HANDLERS)
_RESIZING = frozenset({Watched.RESIZE, Watched.RESIZE_FREE, Watched.RESERVE})
