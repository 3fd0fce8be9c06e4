"""Batches of models through a pool: processes of this machine, or the workers of a dask cluster; rows come in order.

A batch is a few models at first, so that each worker has some, and seconds of work later, so that messages are few;
only so many are under way at a time, so that an endless iterable never fills the memory. A worker that dies costs
nothing but time: its batch is run again one model at a time, and a model that kills its worker twice is a row that
says so.

    models -> batches (by bytes and rows) -> [ BATCHES_PER_WORKER a worker ] -> rows, in the order of the models
"""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tflm_sim import __version__
from tflm_sim.answers.rows import Case, Row, Rows, Source, read_source
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.limits import Limits, Watchdog
from tflm_sim.extensions.sweep.urls import is_url, read_url
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model

BATCH_BYTES = 4 << 20
NAME_DIVISOR = 8
"""The weight in a batch of a model that is sent by its name alone: an eighth of its bytes."""

FIRST_ROWS, MAX_ROWS = 64, 2048
"""Of a batch: the first ones, and what they double to, once a round of all that is under way."""

BATCHES_PER_WORKER = 3
"""Batches a worker: one that it works on, the next ones waiting."""

CRASHED = "sizing it ended the process, twice"


@dataclass(frozen=True, slots=True)
class Item:
    """A model of a sweep: its name, and the model."""

    name: str
    source: Source


Batch = tuple[Item, ...]


def batches(items: Iterable[Item], cases: int = 1, workers: int = 1) -> Iterator[Batch]:
    """Yield the items in batches, in order.

    Args:
        items: The models.
        cases: Rows of each.
        workers: Who is to have a share of them.
    """
    batch: list[Item] = []
    weight = made = 0
    rows = FIRST_ROWS
    for item in items:
        batch.append(item)
        weight += _weight(item.source)
        if weight >= BATCH_BYTES or len(batch) * cases >= rows:
            yield tuple(batch)
            batch, weight, made = [], 0, made + 1
            if made % (BATCHES_PER_WORKER * workers) == 0:
                rows = min(2 * rows, MAX_ROWS)
    if batch:
        yield tuple(batch)


def _weight(source: Source) -> int:
    if isinstance(source, Model):
        return len(source.source)
    if isinstance(source, bytes):
        return len(source)
    try:
        return os.stat(source).st_size // NAME_DIVISOR
    except (OSError, ValueError):
        return 1 << 15


def size_batch(batch: Batch, cases: Sequence[Case], limits: Limits) -> list[Row]:
    """Return the rows of a batch; runs wherever the engine sends it, and leaves nothing behind there."""
    with Watchdog(limits.seconds) as watchdog:
        rows = Rows(cases, read=_read, guard=watchdog.guard)
        return [row for item in batch for row in rows.of(item.name, item.source)]


def _read(source: Source) -> tuple[bytes | memoryview, Model]:
    if not isinstance(source, str) or not is_url(source):
        return read_source(source)
    data = read_url(source)
    return data, parse(data, path=source)


def size_packed(batch: Batch, cases: Sequence[Case], limits: Limits) -> bytes:
    """Return :func:`size_batch` as one pickle: dask would send a list row by row, each with a header."""
    return pickle.dumps(size_batch(batch, cases, limits))


class Pool(Protocol):
    """What runs batches: this process, other processes, or a cluster."""

    dead: tuple[type[BaseException], ...]
    """What a result raises when its worker died; another one takes its place."""

    gone: tuple[type[BaseException], ...]
    """What it raises when the whole pool is gone."""

    @property
    def workers(self) -> int:
        """How many batches run at a time."""

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Any:
        """Start a batch and return its future, whose ``result()`` is the rows."""

    def close(self) -> None:
        """Close the pool; batches under way are abandoned."""


class Serial:
    """No pool: each batch runs in this process when its result is asked for."""

    workers = 1
    dead: tuple[type[BaseException], ...] = ()
    gone: tuple[type[BaseException], ...] = ()

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> _PendingBatch:
        """Keep the batch."""
        return _PendingBatch(lambda: size_batch(batch, cases, limits))

    def close(self) -> None:
        """Nothing to end."""


@dataclass(frozen=True, slots=True)
class _PendingBatch:
    result: Callable[[], list[Row]]


class Dask:
    """The workers of a ``dask.distributed`` cluster; it moves a batch to another worker when one dies (mutable).

    Raises:
        UsageError: A worker has no ``tflm_sim``, or another version.
    """

    POLL_INTERVAL_S = 2.0
    """Seconds between two looks at who is there: with a thousand workers the list is long."""

    def __init__(self, client: Any) -> None:
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        self._client = client
        self._threads: dict[str, int] = {}
        self._polled = -self.POLL_INTERVAL_S
        self.dead: tuple[type[BaseException], ...] = (KilledWorker,)
        self.gone: tuple[type[BaseException], ...] = (CancelledError, CommClosedError)

    @property
    def workers(self) -> int:
        """Threads of all workers there are now; clusters grow and shrink."""
        if time.monotonic() - self._polled >= self.POLL_INTERVAL_S:
            threads: dict[str, int] = self._client.nthreads()
            if not threads.keys() <= self._threads.keys():
                self._check_versions()
            self._threads, self._polled = threads, time.monotonic()
        return max(1, sum(self._threads.values()))

    def _check_versions(self) -> None:
        # Of the code that runs there; a function of this package would not arrive where there is none.
        asked = self._client.run(eval, "__import__('tflm_sim').__version__", on_error="return")
        for address, found in asked.items():
            if found != __version__:
                has = f"tflm_sim {found}" if isinstance(found, str) else f"no tflm_sim ({found})"
                raise UsageError(
                    f"the worker {address} has {has}, this is {__version__}: install the same version there"
                )

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> _PendingBatch:
        """Send a batch, files by their whole path; the same batch twice is run twice."""
        if self._client.status == "closed":
            raise self.gone[0]
        whole = tuple(Item(item.name, _whole_path(item.source)) for item in batch)
        future = self._client.submit(size_packed, whole, cases, limits, pure=False)
        return _PendingBatch(lambda: pickle.loads(future.result()))

    def close(self) -> None:
        """Do nothing: the cluster does not belong to this process."""


def _whole_path(source: Source) -> Source:
    if not isinstance(source, str) or is_url(source) or source.startswith("sample:"):
        return source
    return os.path.abspath(source)


def run(items: Iterable[Item], cases: Sequence[Case], pool: Pool, limits: Limits) -> Iterator[list[Row]]:
    """Yield the rows of each batch, in the order of the items.

    Args:
        items: The models; read as the pool has room for them.
        cases: What each is sized for.
        pool: Who runs them; it stays open.
        limits: What each row may take.

    Raises:
        UsageError: The scheduler of a cluster is gone.
    """
    try:
        yield from _in_order(items, cases, pool, limits)
    except pool.gone as gone:
        raise UsageError("the scheduler does not answer any more; the finished rows are kept") from gone


def _in_order(items: Iterable[Item], cases: Sequence[Case], pool: Pool, limits: Limits) -> Iterator[list[Row]]:
    under_way: deque[tuple[Batch, Any]] = deque()
    waiting = batches(items, len(cases), pool.workers)
    while True:
        while len(under_way) < BATCHES_PER_WORKER * pool.workers and (batch := next(waiting, None)) is not None:
            under_way.append((batch, pool.submit(batch, cases, limits)))
        if not under_way:
            return
        batch, future = under_way.popleft()
        try:
            yield future.result()
        except pool.dead:
            yield _one_by_one(batch, cases, pool, limits)


def _one_by_one(batch: Batch, cases: Sequence[Case], pool: Pool, limits: Limits) -> list[Row]:
    """Return the rows of a batch in which a worker died: each model alone, and what kills its worker as such a row."""
    rows: list[Row] = []
    for item in batch:
        try:
            rows += pool.submit((item,), cases, limits).result()
        except pool.dead:
            rows += [_crashed(item, case) for case in cases]
    return rows


def _crashed(item: Item, case: Case) -> Row:
    return Row(
        item.name,
        target=case.target,
        board=case.board,
        settings=case.settings_text,
        limit=case.arena_limit,
        status="crash",
        error=CRASHED,
    )
