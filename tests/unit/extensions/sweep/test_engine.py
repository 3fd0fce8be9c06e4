"""Batches by bytes and rows, who runs them, and a cluster whose client only says what it was asked."""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim import __version__, load
from tflm_sim.answers.rows import Case, Row
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep import engine
from tflm_sim.extensions.sweep.engine import Dask, Item, Serial, _weight, _whole_path, batches, run
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.samples import sample_path

MIB = 1024 * 1024


def test_four_mebibytes_are_a_batch() -> None:
    sizes = [2 * MIB, 2 * MIB - 1, 1, 4 * MIB, 4 * MIB - 1, 0, 1, 3]
    made = [[len(item.source) for item in batch] for batch in batches(Item("m", bytes(size)) for size in sizes)]  # type: ignore[arg-type]
    assert made == [[2 * MIB, 2 * MIB - 1, 1], [4 * MIB], [4 * MIB - 1, 0, 1], [3]]


def test_a_path_weighs_an_eighth_and_what_cannot_be_looked_at_as_much_as_256_kib(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(bytes(87))
    assert _weight(str(tmp_path / "m")) == 10
    assert _weight(str(tmp_path / "absent")) == _weight("nul\0l") == 256 * 1024 // 8
    assert _weight(b"12345") == 5
    assert _weight(load("sample:sine")) == len(sample_path("sine").read_bytes())


class Pool:
    """Notes what is submitted, and answers each batch with a row a model."""

    dead: tuple[type[BaseException], ...] = (KeyError,)
    gone: tuple[type[BaseException], ...] = (IndexError,)

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.submitted = 0

    def submit(self, batch: Any, cases: Any, limits: Any) -> Any:
        self.submitted += 1
        return SimpleNamespace(result=lambda: [Row(item.name) for item in batch])

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("workers", "under_way"), [(1, 3), (2, 6), (4, 12)])
def test_three_batches_a_worker_are_under_way(workers: int, under_way: int) -> None:
    pool = Pool(workers)
    found = run((Item(str(n), bytes(4 * MIB)) for n in range(20)), [Case("cortex-m4")], pool, Limits(0))
    assert next(found)[0].model == "0"
    assert pool.submitted == under_way
    assert next(found)[0].model == "1"
    assert pool.submitted == under_way + 1
    assert [rows[0].model for rows in found] == [str(n) for n in range(2, 20)]


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
        return SimpleNamespace(result=lambda: pickle.dumps(batch))


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


def test_a_cluster_gets_whole_paths_and_a_closed_one_is_gone(clock: Any) -> None:
    client = Client({})
    pool = Dask(client)
    (sent,) = pool.submit((Item("m", "a.tflite"),), [], Limits(0)).result()
    assert sent == Item("m", os.path.abspath("a.tflite"))
    client.status = "closed"
    with pytest.raises(Cancelled):
        pool.submit((), [], Limits(0))
    with pytest.raises(UsageError, match="the scheduler does not answer any more; the finished rows are kept"):
        list(run([Item("m", "a")], [Case("cortex-m4")], pool, Limits(0)))


@pytest.mark.parametrize("source", [b"bytes", "memory://a/b", "sample:sine"])
def test_what_is_no_path_is_sent_as_it_is(source: Any) -> None:
    assert _whole_path(source) is source
