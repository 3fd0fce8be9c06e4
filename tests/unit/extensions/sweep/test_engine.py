"""Batches by bytes and rows, what becomes of one that fails, and a cluster whose client only says what it was asked."""

from __future__ import annotations

import os
import pickle
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim import __version__
from tflm_sim.answers.rows import Case, Row
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep import engine
from tflm_sim.extensions.sweep.engine import Dask, Item, Serial, batches, run, size_batch
from tflm_sim.extensions.sweep.limits import Limits

MIB = 1024 * 1024


def test_four_mebibytes_are_a_batch() -> None:
    sizes = [2 * MIB, 2 * MIB - 1, 1, 4 * MIB, 4 * MIB - 1, 0, 1, 3]
    made = [[len(item.source) for item in batch] for batch in batches(Item("m", bytes(size)) for size in sizes)]  # type: ignore[arg-type]
    assert made == [[2 * MIB, 2 * MIB - 1, 1], [4 * MIB], [4 * MIB - 1, 0, 1], [3]]


class Pool:
    """Notes what is submitted, and answers each batch with a row for each case of a model, or with its failure.

    Args:
        workers: How many batches it seems to run at a time.
        failures: Name of a model and target -> what a batch with both raises.
        most: The models of a batch that are sized, before its time is over.
    """

    failures = (KeyError, TimeoutError, MemoryError)
    gone: tuple[type[BaseException], ...] = (IndexError,)

    def __init__(self, workers: int, failures: dict[tuple[str, str], Exception] | None = None, most: int = 99) -> None:
        self.workers, self.most, self.fails = workers, most, failures or {}
        self.submitted: list[tuple[str, ...]] = []

    def submit(self, batch: Any, cases: Any, limits: Any) -> Any:
        self.submitted.append(tuple(item.name for item in batch))
        return lambda: self.rows(batch[: self.most], cases)

    def rows(self, batch: Any, cases: Any) -> list[Row]:
        rows = [Row(item.name, target=case.target) for item in batch for case in cases]
        for row in rows:
            if (row.model, row.target) in self.fails:
                raise self.fails[row.model, row.target]
        return rows

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("workers", "under_way"), [(1, 3), (2, 6), (4, 12)])
def test_three_batches_a_worker_are_under_way(workers: int, under_way: int) -> None:
    pool = Pool(workers)
    found = run((Item(str(n), bytes(4 * MIB)) for n in range(20)), [Case("cortex-m4")], pool, Limits(0))
    assert next(found)[0].model == "0"
    assert len(pool.submitted) == under_way
    assert next(found)[0].model == "1"
    assert len(pool.submitted) == under_way + 1
    assert [rows[0].model for rows in found] == [str(n) for n in range(2, 20)]


M4, ESP = Case("cortex-m4"), Case("esp32", "b", {"x": 1}, 7)


def test_a_batch_that_fails_is_run_row_by_row_and_what_fails_alone_says_so() -> None:
    failures = {("b", "esp32"): TimeoutError(), ("c", "cortex-m4"): KeyError(), ("d", "cortex-m4"): MemoryError()}
    pool = Pool(1, failures)
    (found,) = run((Item(name, b"") for name in "abcd"), [M4, ESP], pool, Limits(0))
    assert [(row.model, row.target, row.status, row.error) for row in found] == [
        ("a", "cortex-m4", "ok", ""),
        ("a", "esp32", "ok", ""),
        ("b", "cortex-m4", "ok", ""),
        ("b", "esp32", "timeout", "sizing it took longer than a row may take"),
        ("c", "cortex-m4", "crash", "sizing it ended the process, twice"),
        ("c", "esp32", "ok", ""),
        ("d", "cortex-m4", "memory", "sizing it took more memory than there is, or than it may take"),
        ("d", "esp32", "ok", ""),
    ]
    assert (found[3].board, found[3].settings, found[3].limit) == ("b", '{"x": 1}', 7)
    assert pool.submitted == [("a", "b", "c", "d"), *((name,) for name in "aabbccdd")]


def test_what_failed_once_and_not_alone_is_a_row_as_any_other() -> None:
    pool = Pool(1, {("a", "cortex-m4"): KeyError()})
    found = run([Item("a", b"")], [M4], pool, Limits(0))
    pool.rows = lambda batch, cases: [Row("a")] if len(pool.submitted) > 1 else Pool.rows(pool, batch, cases)  # type: ignore[method-assign]
    assert list(found) == [[Row("a")]]


def test_the_rest_of_a_batch_whose_time_is_over_is_sized_model_by_model() -> None:
    pool = Pool(1, {("d", "cortex-m4"): TimeoutError()}, most=2)
    found = list(run((Item(name, b"") for name in "abcde"), [M4, ESP], pool, Limits(0)))
    assert [[row.model for row in rows] for rows in found] == [["a", "a", "b", "b"], ["c", "c"], ["d", "d"], ["e", "e"]]
    assert [row.status for row in found[2]] == ["timeout", "ok"]
    assert pool.submitted[:4] == [("a", "b", "c", "d", "e"), ("c",), ("d",), ("e",)]


def test_a_batch_ends_with_the_model_that_is_under_way_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = tuple(Item(name, "sample:sine") for name in "abc")
    for seconds, sized in ((0.0, "a"), (None, "abc")):
        monkeypatch.setattr(engine, "BATCH_SECONDS", seconds)
        assert "".join(row.model for row in size_batch(batch, [M4])) == sized


def test_one_process_is_one_worker() -> None:
    assert Serial().workers == 1


class Cancelled(Exception):
    """A fault of the cluster."""


class Client:
    """What a client of dask is asked."""

    def __init__(self, versions: dict[str, object]) -> None:
        self.versions, self.threads, self.status = versions, dict.fromkeys(versions, 2), "running"
        self.looks = self.checks = 0

    def nthreads(self) -> dict[str, int]:
        self.looks += 1
        return dict(self.threads)

    def run(self, function: Any, *_: Any, **__: Any) -> dict[str, object]:
        self.checks += 1
        return self.versions

    def submit(self, function: Any, batch: Any, *_: Any, pure: bool) -> Any:
        assert not pure
        return SimpleNamespace(result=lambda timeout: pickle.dumps((batch, timeout)))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(CancelledError=Cancelled, KilledWorker=KeyError))  # type: ignore[arg-type]
    core = SimpleNamespace(CommClosedError=LookupError)
    monkeypatch.setitem(sys.modules, "distributed.comm.core", core)  # type: ignore[arg-type]
    now = [100.0]
    monkeypatch.setattr(engine, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_the_workers_are_looked_at_every_two_seconds_and_new_ones_are_asked_for_their_version(clock: Any) -> None:
    client = Client({"a": __version__, "b": __version__})
    pool = Dask(client)
    assert pool.workers == 2 + 2
    assert (client.looks, client.checks) == (1, 1)
    clock[0] = 101.9
    assert pool.workers == 4
    assert (client.looks, client.checks) == (1, 1)
    clock[0] = 102.0
    assert pool.workers == 4
    assert (client.looks, client.checks) == (2, 1)
    client.threads = {"b": 1}
    clock[0] = 104.0
    assert pool.workers == 1
    assert (client.looks, client.checks) == (3, 1)
    client.threads = {"b": 1, "c": 5}
    clock[0] = 106.0
    assert pool.workers == 6
    assert (client.looks, client.checks) == (4, 2)
    client.threads = {}
    clock[0] = 108.0
    assert pool.workers == 1  # one that may come


@pytest.mark.parametrize(("found", "has"), [("0.0.1", "tflm_sim 0.0.1"), (ImportError("x"), "no tflm_sim (x)")])
def test_a_worker_with_another_version_is_refused(clock: Any, found: object, has: str) -> None:
    with pytest.raises(UsageError) as refused:
        _ = Dask(Client({"a": __version__, "b": found})).workers
    assert str(refused.value) == f"the worker b has {has}, this is {__version__}: install the same version there"


def test_a_worker_that_is_lost_while_it_is_asked_is_asked_again(clock: Any) -> None:
    client = Client({"a": __version__, "b": OSError("the connection is closed")})
    pool = Dask(client)
    assert pool.workers == 2
    client.versions["b"] = __version__
    clock[0] = 102.0
    assert pool.workers == 2 + 2
    assert (client.looks, client.checks) == (2, 2)


def test_a_cluster_gets_whole_paths_and_a_closed_one_is_gone(clock: Any) -> None:
    client = Client({})
    pool = Dask(client)
    sent: Any = pool.submit((Item("m", "a.tflite"),), [], Limits(0))()
    assert sent == ((Item("m", os.path.abspath("a.tflite")),), None)
    timed: Any = pool.submit((), [], Limits(1))()
    assert timed == ((), 3)  # the row's second and the two of a batch
    client.status = "closed"
    with pytest.raises(Cancelled):
        pool.submit((), [], Limits(0))
    with pytest.raises(UsageError, match="the scheduler does not answer any more; the finished rows are kept"):
        list(run([Item("m", "a")], [Case("cortex-m4")], pool, Limits(0)))
