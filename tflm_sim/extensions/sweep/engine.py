"""Batches of models through a pool: processes of this machine, or the workers of a dask cluster; rows come in order.

A batch is a few models at first, so that each worker has some, and seconds of work later, so that messages are few;
only so many are under way at a time, so that an endless iterable never fills the memory. A batch that takes too long or
ends its worker costs nothing but time: it is run again one row at a time, and what fails alone is a row that says so.

    models -> batches (by bytes and rows) -> [ BATCHES_PER_WORKER a worker ] -> rows, in the order of the models
"""

from __future__ import annotations

import os
import pickle
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tflm_sim import __version__
from tflm_sim.answers.rows import TOO_MUCH_MEMORY, Case, Row, Rows, Source, failed_row, read_source
from tflm_sim.errors import UsageError, not_a
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.urls import is_url, read_url
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.planners.deadline import Deadline

BATCH_BYTES = 4 << 20
NAME_DIVISOR = 8
"""The weight in a batch of a model that is sent by its name alone: an eighth of its bytes."""

FIRST_ROWS, MAX_ROWS = 64, 2048
"""Of a batch: the first ones, and what they double to, once a round of all that is under way."""

BATCHES_PER_WORKER = 3
"""Batches a worker: one that it works on, the next ones waiting."""

BATCH_SECONDS = 2.0
"""Seconds after which a batch ends with the model that is under way; each of the rest is a batch of its own."""

TOO_LONG = "sizing it took longer than a row may take"
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


def size_batch(batch: Batch, cases: Sequence[Case]) -> list[Row]:
    """Return the rows of a batch's first models, of all where that takes no longer than ``BATCH_SECONDS``.

    It runs wherever the engine sends it, and leaves nothing behind there.
    """
    made, deadline = Rows(cases, read=_read), Deadline(BATCH_SECONDS)
    rows: list[Row] = []
    for item in batch:
        rows += made.of(item.name, item.source)
        if deadline.is_over:
            break
    return rows


def _read(source: Source) -> tuple[bytes | memoryview, Model]:
    if not isinstance(source, str) or not is_url(source):
        return read_source(source)
    data = read_url(source)
    return data, parse(data, path=source)


def size_packed(batch: Batch, cases: Sequence[Case]) -> bytes:
    """Return :func:`size_batch` as one pickle: dask would send a list row by row, each with a header."""
    return pickle.dumps(size_batch(batch, cases))


Wait = Callable[[], list[Row]]
"""Waits for the rows of a batch, and returns them."""


class Pool(Protocol):
    """What runs batches: this process, other processes, or a cluster."""

    failures: tuple[type[BaseException], ...]
    """What waiting raises when the batch took too much of something, or its worker died and another took its place."""

    gone: tuple[type[BaseException], ...]
    """What it raises when the whole pool is gone."""

    @property
    def workers(self) -> int:
        """How many batches run at a time."""

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Wait:
        """Start a batch."""

    def close(self) -> None:
        """Close the pool; batches under way are abandoned."""


class Serial:
    """No pool: each batch runs in this process when its result is asked for, however long that takes."""

    workers = 1
    failures: tuple[type[BaseException], ...] = ()
    gone: tuple[type[BaseException], ...] = ()

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Wait:
        return partial(size_batch, batch, cases)

    def close(self) -> None:
        """Nothing to end."""


class Dask:
    """The workers of a ``dask.distributed`` cluster; it moves a batch to another worker when one dies (mutable).

    Raises:
        UsageError: A worker has no ``tflm_sim``, or another version.
    """

    POLL_INTERVAL_S = 2.0
    """Seconds between two looks at who is there: with a thousand workers the list is long."""

    def __init__(self, client: Any) -> None:
        if not hasattr(client, "nthreads"):
            raise not_a("client as a dask.distributed.Client", client)
        from distributed import CancelledError, KilledWorker
        from distributed.comm.core import CommClosedError

        self._client = client
        self._threads: dict[str, int] = {}
        self._polled = -self.POLL_INTERVAL_S
        self.failures: tuple[type[BaseException], ...] = (TimeoutError, KilledWorker)
        self.gone: tuple[type[BaseException], ...] = (CancelledError, CommClosedError)

    @property
    def workers(self) -> int:
        """Threads of all workers there are now; clusters grow and shrink."""
        if time.monotonic() - self._polled >= self.POLL_INTERVAL_S:
            threads: dict[str, int] = self._client.nthreads()
            if not threads.keys() <= self._threads.keys():
                for lost in self._check_versions():
                    threads.pop(lost, None)
            self._threads, self._polled = threads, time.monotonic()
        return max(1, sum(self._threads.values()))

    def _check_versions(self) -> list[str]:
        """Return the workers that do not answer: they are gone, or asked again once they are back."""
        # Of the code that runs there; a function of this package would not arrive where there is none.
        asked = self._client.run(eval, "__import__('tflm_sim').__version__", on_error="return")
        for address, found in asked.items():
            if found != __version__ and not isinstance(found, OSError):
                has = f"tflm_sim {found}" if isinstance(found, str) else f"no tflm_sim ({found})"
                raise UsageError(
                    f"the worker {address} has {has}, this is {__version__}: install the same version there"
                )
        return [address for address, found in asked.items() if isinstance(found, OSError)]

    def submit(self, batch: Batch, cases: Sequence[Case], limits: Limits) -> Wait:
        """Send a batch, files by their whole path; the same batch twice is run twice."""
        if self._client.status == "closed":
            raise self.gone[0]
        whole = tuple(Item(item.name, _whole_path(item.source)) for item in batch)
        future = self._client.submit(size_packed, whole, cases, pure=False)
        seconds = limits.seconds and limits.seconds + BATCH_SECONDS
        return partial(self._rows, future, seconds or None)

    def _rows(self, future: Any, seconds: float | None) -> list[Row]:
        """Wait for a batch. One that is at work when its time begins and when it ends is given up, with its worker.

        Raises:
            TimeoutError: It took too long; the worker's nanny has started another one.
            UsageError: ... and there is no nanny.
        """
        was_at_work = False
        while True:
            try:
                rows: list[Row] = pickle.loads(future.result(timeout=seconds))
            except TimeoutError:
                workers = list(self._client.call_stack([future]))
                if not (was_at_work and workers):
                    was_at_work = bool(workers)
                    continue
                future.cancel()
                try:
                    self._client.restart_workers(workers, raise_for_error=False)
                except ValueError as without:
                    where = ", ".join(workers)
                    raise UsageError(f"a row takes too long on {where}, which has no nanny to end it") from without
                raise
            return rows

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
    work = ((batch, cases) for batch in batches(items, len(cases), pool.workers))
    try:
        yield from _in_order(work, pool, limits)
    except pool.gone as gone:
        raise UsageError("the scheduler does not answer any more; the finished rows are kept") from gone


Work = Iterable[tuple[Batch, Sequence[Case]]]


def _in_order(work: Work, pool: Pool, limits: Limits, *, is_second: bool = False) -> Iterator[list[Row]]:
    """Yield the rows of work in its order, those of each model together.

    Args:
        work: Batches and what they are sized for.
        pool: Who runs it.
        limits: What each row may take.
        is_second: Whether these are single rows that have failed among others.
    """
    for batch, cases, wait in _submitted(work, pool, limits):
        try:
            rows = wait()
        except pool.failures as failure:
            if is_second:
                yield [_failed(batch[0], cases[0], failure)]
                continue
            alone = (((item,), (case,)) for item in batch for case in cases)
            yield [row for rows in _in_order(alone, pool, limits, is_second=True) for row in rows]
        else:
            yield rows
            rest = batch[len(rows) // len(cases) :]
            yield from _in_order((((item,), cases) for item in rest), pool, limits)


def _submitted(work: Work, pool: Pool, limits: Limits) -> Iterator[tuple[Batch, Sequence[Case], Wait]]:
    """Yield work that has started, while more of it is under way."""
    under_way: deque[tuple[Batch, Sequence[Case], Wait]] = deque()
    for batch, cases in work:
        under_way.append((batch, cases, pool.submit(batch, cases, limits)))
        if len(under_way) >= BATCHES_PER_WORKER * pool.workers:
            yield under_way.popleft()
    yield from under_way


def _failed(item: Item, case: Case, failure: BaseException) -> Row:
    status, words = "crash", CRASHED
    if isinstance(failure, TimeoutError):
        status, words = "timeout", TOO_LONG
    elif isinstance(failure, MemoryError):
        status, words = "memory", TOO_MUCH_MEMORY
    return failed_row(Row(item.name), case, status, words)
