"""``Deadline``: the moment at which a planner has to stop, asked wherever work can take long."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from tflm_sim.errors import NoPlanInTime, UsageError, expect

if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


_ASK_EVERY = 64


class Deadline:
    """So many seconds from now on, of wall time (immutable).

    Args:
        seconds: None for a deadline that never comes.
    """

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None:
            seconds = expect(seconds, float, "a time limit in seconds")
            if seconds != seconds:
                raise UsageError("a time limit in seconds was expected, not NaN; None is no limit")
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds_left(self) -> float | None:
        """How many are left, 0 when it is over; None when it never comes."""
        return None if self._end is None else max(self._end - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def share(self, parts: float) -> Deadline:
        """Return the end of the first of ``parts`` equal parts of the time that is left."""
        left = self.seconds_left
        return self if left is None else Deadline(left / parts)

    def watch(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items; NoPlanInTime when it is over, which is asked at every 64th item."""
        for index, item in enumerate(items):
            if index % _ASK_EVERY == _ASK_EVERY - 1 and self.is_over:
                raise out_of_time()
            yield item


NEVER = Deadline(None)


def deadline_in(seconds: float | None) -> Deadline:
    """Return the deadline in so many seconds, ``NEVER`` for None."""
    return NEVER if seconds is None else Deadline(seconds)


def out_of_time() -> NoPlanInTime:
    """Return what a planner raises that has no plan yet."""
    return NoPlanInTime("the time was over before there was a plan")
