"""The smallest arena: the program is resumed where an arena is created, with one size after another.

A size works if every AllocateTensors() of the program in that arena succeeds, as many of them as with the program's own
size, no request for memory fails, and no request gets bytes that are in use. TFLM itself does not check the last two.

If the program's own size is too small, larger ones are tried in memory that the program does not use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.follower import Follower, Purpose
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.seen import Arena, Result

_STEP = 16
ROOM = 4 << 20
"""Bytes of the largest arena that is tried where the program's own is too small."""
_ALIGNED = 64
_WHOLE_RUN_S = 3.0


@dataclass(frozen=True, slots=True)
class Trial:
    """What happened with one size.

    Attributes:
        size: Bytes, as the program would give them.
        succeeds: Whether every AllocateTensors() succeeded.
        is_sound: Whether no memory was refused or handed out twice on the way.
        is_cut: Whether the program neither went on nor came to an end, so that nothing is known.
        results: Each AllocateTensors().
        ending: Why the program was followed no further.
    """

    size: int
    succeeds: bool
    is_sound: bool
    is_cut: bool
    results: tuple[Result, ...]
    ending: str

    @property
    def log(self) -> tuple[str, ...]:
        """What TFLM printed in the last AllocateTensors()."""
        return tuple(self.results[-1].log) if self.results else ()


class Unfinished(Exception):
    """A trial did not end in time, so nothing can be said about its size."""

    def __init__(self, trial: Trial) -> None:
        super().__init__(trial.ending)
        self.trial = trial


class SizeSearch:
    """Tries sizes of one arena of a program.

    Attributes:
        trials: How many there were.
    """

    def __init__(self, machine: Emulator, program: Program, follower: Follower, arena: Arena, limit: float) -> None:
        self._machine = machine
        self._program = program
        self._follower = follower
        self._arena = arena
        self._given = arena.size
        self._wanted = len(arena.results)
        self._moved: int | None = None
        self._other: Span | None = None
        self._limit = limit
        self.trials = 0
        self._watched: dict[int, Trial] = {}

    @property
    def needs_other(self) -> bool:
        """Whether the other one of two arenas had to be moved, too: it is too small as the program has it."""
        return self._other is not None

    def move(self) -> bool:
        """Move the arena to unused memory of :data:`ROOM` bytes; return whether every AllocateTensors() works there.

        Where the other one of two that belong together is too small as well, that is moved, too.
        """
        self._moved, self._given = self._spare(self._arena), ROOM
        if self._works_moved():
            return True
        if self._arena.partner is None:
            return False
        place = self._spare(self._arena.partner)
        self._other = Span(place, place + ROOM)
        return self._works_moved()

    def _spare(self, arena: Arena) -> int:
        """Return unused memory that is aligned as an arena is."""
        return self._machine.spare(ROOM + 2 * _ALIGNED) + arena.address % _ALIGNED

    def _works_moved(self) -> bool:
        assert self._arena.point is not None, "an arena that is searched has its state kept"
        self._machine.restore(self._arena.point)
        interest = Purpose(is_brief=not self._arena.is_made_later)
        follower = self._follower.restarted(self._arena, ROOM, interest, self._moved, self._other)
        follower.run(_WHOLE_RUN_S)
        results = follower.arenas[0].results
        self._wanted = max(len(results), self._wanted)
        return bool(results) and all(result.status == 0 for result in results)

    def attempt(self, size: int, *, is_brief: bool = False) -> Trial:
        """Run the program with an arena of ``size`` bytes.

        Args:
            size: The size.
            is_brief: Whether only what AllocateTensors() returns is of interest.

        Raises:
            Unfinished: The program came to no end, and no request for memory was refused before.
        """
        self.trials += 1
        assert self._arena.point is not None, "an arena that is searched has its state kept"
        self._machine.restore(self._arena.point)
        interest = Purpose(is_brief=is_brief and not self._arena.is_made_later)
        follower = self._follower.restarted(self._arena, size, interest, self._moved, self._other)
        arena, wanted = follower.arenas[0], self._wanted
        follower.is_over = lambda: len(arena.results) >= wanted or any(one.status for one in arena.results)
        follower.run(self._limit)
        trial = self._seen(size, follower, tuple(arena.results))
        if trial.is_cut and not trial.succeeds:
            if is_brief:
                return self.attempt(size)
            if trial.is_sound:
                raise Unfinished(trial)
        return trial

    def _seen(self, size: int, follower: Follower, results: tuple[Result, ...]) -> Trial:
        return Trial(
            size,
            succeeds=len(results) >= self._wanted and all(result.status == 0 for result in results),
            is_sound=not any(result.refused or result.damage for result in results),
            is_cut=follower.is_cut,
            results=results,
            ending=follower.ending,
        )

    def smallest(self) -> tuple[Trial, int] | None:
        """Return the trial of the smallest size that works, and the size from which on AllocateTensors() succeeds.

        One byte less than each was tried, and fails. None where the size that the program gives is not sound.
        Far below what works, bytes are handed out so often twice that some sizes seem to succeed by chance.

        Raises:
            Unfinished: The program came to no end, or goes another way than before when it is resumed.
        """
        first = self.attempt(self._given, is_brief=True)
        if not first.succeeds:
            raise Unfinished(first)
        least = max(result.used for result in self._arena.results) - _STEP
        low = least if 0 < least < self._given and not self.attempt(least, is_brief=True).succeeds else 0
        succeeds = self._least(*self._around(low, self._succeeds), self._succeeds)
        sound = succeeds if self._is_sound(succeeds) else self._least_sound(succeeds)
        if sound is None:
            return None
        succeeds = self._least(*self._around_below(sound, succeeds - 1), self._succeeds)
        return self._watched[sound], succeeds

    def _around_below(self, high: int, low: int) -> tuple[int, int]:
        """Return a size from ``low`` on in which AllocateTensors() fails, and one up to ``high`` in which it succeeds.

        Args:
            high: A size in which it succeeds.
            low: One in which it fails.
        """
        step = 1
        while high - step > low and self._succeeds(high - step):
            high, step = high - step, 2 * step
        return max(high - step, low), high

    def _least_sound(self, low: int) -> int | None:
        """Return the least size above ``low`` that works, None where the size that the program gives is not sound."""
        low, high = self._around(low, self._is_sound)
        if high == self._given and not self._is_sound(high):
            if any(result.refused or result.damage for result in self._arena.results):
                return None
            raise Unfinished(self._watched[high])
        return self._least(low, high, self._is_sound)

    def _around(self, low: int, works: Callable[[int], bool]) -> tuple[int, int]:
        """Return a size from ``low`` on that does not work, and one above that does: mostly they are near."""
        step = _STEP
        while low + step < self._given and not works(low + step):
            low, step = low + step, 2 * step
        return low, min(low + step, self._given)

    def works(self, size: int) -> bool:
        """Return whether a size works, one larger than the program's own in memory that it does not use.

        Raises:
            Unfinished: The program came to no end.
        """
        size = size if size <= ROOM else ROOM - _ALIGNED + size % _ALIGNED
        if size > self._given:
            self._watched.clear()
            self.move()
        return self._is_sound(size)

    def observed(self, size: int) -> tuple[Arena, list[Result]] | None:
        """Return the arena with a size that works, and each AllocateTensors() there with its operators.

        The first run finds the operators, whose calls the second one notes. None where it came to no end.
        """
        arena = self._run_through(size, Purpose(keeps_points=True))
        found = arena.results
        if len(found) < self._wanted or any(one.status for one in found):
            return None
        arena = self._run_through(size, Purpose(operators=[one.operators for one in found]))
        for first, second in zip(found, arena.results, strict=False):
            second.operators, second.number = first.operators, first.number
        return (arena, arena.results) if len(arena.results) == len(found) else None

    def _run_through(self, size: int, interest: Purpose) -> Arena:
        assert self._arena.point is not None, "an arena that is searched has its state kept"
        self._machine.restore(self._arena.point)
        follower = self._follower.restarted(self._arena, size, interest, self._moved, self._other)
        arena = follower.arenas[0]
        follower.is_over = lambda: len(arena.results) >= self._wanted or any(one.status for one in arena.results)
        follower.run(self._limit)
        return arena

    def _succeeds(self, size: int) -> bool:
        return self.attempt(size, is_brief=True).succeeds

    def _is_sound(self, size: int) -> bool:
        if size not in self._watched:
            self._watched[size] = self.attempt(size)
        return self._watched[size].succeeds and self._watched[size].is_sound

    def _least(self, low: int, high: int, works: Callable[[int], bool]) -> int:
        """Return the least size above ``low``, which does not work, up to ``high``, which does."""
        while high - low > 1:
            middle = (low + high) // 2
            if works(middle):
                high = middle
            else:
                low = middle
        return high
