"""Two results of a sweep side by side: what grew, what shrank, what is new or gone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tflm_sim.answers.rows import Row


@dataclass(frozen=True, slots=True)
class RowChange:
    """A model on a target, before and after; None where it has no row there.

    Attributes:
        before, after: The rows.
    """

    before: Row | None
    after: Row | None

    @property
    def bytes(self) -> int | None:
        """By how many bytes the smallest arena (multiple of 16) grew; None where there is none on a side."""
        if self.before is None or self.after is None:
            return None
        old, new = self.before.multiple_of_16, self.after.multiple_of_16
        return None if old is None or new is None else new - old

    @property
    def verdict(self) -> str:
        """What else there is to say: a side that has no row, or whether it fits now."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        if None in (self.before.may_fit, self.after.may_fit) or self.before.may_fit == self.after.may_fit:
            return ""
        return "no longer fits" if not self.after.may_fit else "fits now" if self.after.fits else "may fit now"

    @property
    def is_worse(self) -> bool:
        """Whether the arena grew, or no longer is one, or no longer fits."""
        if self.before is None or self.after is None:
            return False
        lost = self.before.multiple_of_16 is not None and self.after.multiple_of_16 is None
        return lost or (self.bytes or 0) > 0 or (self.before.may_fit is True and self.after.may_fit is False)


def changes(before: Iterable[Row], after: Iterable[Row]) -> list[RowChange]:
    """Return what differs, in the order of the later rows, then what is gone; rows meet by model name and case.

    Arenas are compared as multiples of 16, as a program declares them. Whether a model fits is compared where both
    results were compared with a limit.
    """
    old = {_key(row): row for row in before}
    found = []
    for row in after:
        earlier = old.pop(_key(row), None)
        if earlier is None or _differs(earlier, row):
            found.append(RowChange(earlier, row))
    return found + [RowChange(row, None) for row in old.values()]


def _key(row: Row) -> tuple[str, str, str, str]:
    return row.model, row.target, row.board, row.settings


def _differs(before: Row, after: Row) -> bool:
    figures = [(row.status, row.multiple_of_16) for row in (before, after)]
    verdicts = {before.may_fit, after.may_fit}
    return figures[0] != figures[1] or (None not in verdicts and len(verdicts) > 1)
