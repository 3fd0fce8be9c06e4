"""``Stopping``: a search that the clock or Ctrl-C ends gives the best result that it has so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from tflm_sim.planners.deadline import Deadline, deadline_in
from tflm_sim.planners.native.interrupts import interrupts_wait

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


class StoppedError(Exception):
    """What was begun is left; what was kept before is the answer."""


class Stopping:
    """Asked wherever a search can take long (mutable: Ctrl-C is noted, and acted upon at the next question).

    Args:
        seconds: Of wall time from now on, None for a search that only Ctrl-C ends.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._deadline: Deadline = deadline_in(seconds)
        self._is_interrupted = False

    @property
    def reason(self) -> str:
        """Why it is to end, "" where it is not."""
        return "it was interrupted" if self._is_interrupted else "the time was over" if self._deadline.is_over else ""

    def check(self) -> None:
        """Raise StoppedError where it is to end."""
        if self.reason:
            raise StoppedError

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items, and ask before each."""
        for item in items:
            self.check()
            yield item

    def noting_interrupts(self) -> AbstractContextManager[None]:
        """Note Ctrl-C within; the second one raises KeyboardInterrupt."""
        return interrupts_wait(self._interrupt)

    def _interrupt(self) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt
        self._is_interrupted = True


UNSTOPPED = Stopping()
"""For whoever asks for a single pass: it never ends early."""
