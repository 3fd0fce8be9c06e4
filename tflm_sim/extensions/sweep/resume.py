"""``--resume``: rows of an earlier run with the same model bytes, case and version are not computed again."""

from __future__ import annotations

import contextlib
import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tflm_sim.answers.rows import Case, Row, Source
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.sweep.engine import Item
from tflm_sim.extensions.sweep.urls import is_url, read_url
from tflm_sim.model.encode import encode
from tflm_sim.model.inputs import read_input
from tflm_sim.model.types import Model
from tflm_sim.provenance import made_by

Key = tuple[str, str, str, str, int | None]
# What may be otherwise the next time.
_TRIED_AGAIN = ("timeout", "memory", "crash", "unreadable")


class EarlierRows:
    """The rows of an earlier run, which are merged with new ones in the order of the models (mutable).

    Args:
        rows: Of the earlier run; those of another version, and what failed for want of time or memory, do not count.
        cases: Of this run.
    """

    def __init__(self, rows: Iterable[Row], cases: Sequence[Case]) -> None:
        self._rows = {_key(row): row for row in rows if row.version == made_by() and row.status not in _TRIED_AGAIN}
        self._cases = cases
        self._order: deque[list[Row] | None] = deque()

    def still_to_do(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items with missing rows; the complete ones are kept for :meth:`merged`."""
        for item in items:
            digest = ""
            with contextlib.suppress(TflmSimError):  # whoever sizes it says so in its row
                digest = _digest(item.source)
            known = self._known(item, digest)
            self._order.append(known)
            if known is None:
                yield item

    def _known(self, item: Item, digest: str) -> list[Row] | None:
        keys = [(digest, case.target.lower(), case.board, case.settings_text, case.arena_limit) for case in self._cases]
        rows = [self._rows.get(key) for key in keys]
        return [replace(row, model=item.name) for row in rows if row] if all(rows) else None

    def merged(self, fresh: Iterable[list[Row]]) -> Iterator[list[Row]]:
        """Yield all rows in the order of the items, given the new ones in theirs."""
        for rows in fresh:
            whole = []
            for start in range(0, len(rows), len(self._cases)):
                whole += self._before()
                self._order.popleft()
                whole += rows[start : start + len(self._cases)]
            yield whole
        yield self._before()

    def _before(self) -> list[Row]:
        """Return the known rows that come before the next new one."""
        found: list[Row] = []
        while self._order and (known := self._order[0]) is not None:
            found += known
            self._order.popleft()
        return found

    def left(self, written: Iterable[Row]) -> list[Row]:
        """Return the earlier rows that are not among those written: what an interrupted run must not lose."""
        seen = {_key(row) for row in written}
        return [row for key, row in self._rows.items() if key not in seen]


def _key(row: Row) -> Key:
    return row.sha256, row.target.lower(), row.board, row.settings, row.limit


def _digest(source: Source) -> str:
    if isinstance(source, Model):
        data = source.source if len(source.source) else encode(source)
    elif isinstance(source, bytes):
        data = source
    else:
        data = read_url(source) if is_url(source) else read_input(source).data
    return hashlib.sha256(data).hexdigest()
