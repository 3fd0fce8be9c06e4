"""What a sweep is made of: the names of models, cases, and who runs them."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from tflm_sim.answers.rows import cases
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep import sweep as module
from tflm_sim.extensions.sweep.engine import Serial
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.processes import Processes
from tflm_sim.extensions.sweep.sweep import items, make_pool
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS
from tflm_sim.targets.presets import PRESETS

SINE = sample_path("sine").read_bytes()


def test_models_without_a_name_are_counted_with_the_others_and_one_alone_is_a_sweep_too() -> None:
    assert [item.name for item in items([SINE, "sample:sine", bytearray(SINE)])] == [
        "model 0",
        "sample:sine",
        "model 2",
    ]
    assert [item.name for item in items(SINE)] == ["model 0"]
    assert [item.name for item in items("sample:sine")] == ["sample:sine"]
    assert [item.source for item in items(memoryview(SINE))] == [SINE]


def test_all_is_all_and_only_when_it_is_alone() -> None:
    assert [case.target for case in cases(["all"])] == list(PRESETS)
    assert [case.board for case in cases((), ["all"])] == list(BOARDS)
    with pytest.raises(UsageError, match="'all'"):
        cases(["all", "cortex-m4"])


def pool(**how: Any) -> tuple[type, int]:
    """Return what would run a sweep, and how many."""
    made = make_pool(**how)
    made.close()
    return type(made), made.workers


def test_one_job_is_this_process_where_nothing_is_limited() -> None:
    assert pool(jobs=1, limits=Limits(0)) == (Serial, 1)
    assert pool(jobs=1, limits=Limits(0, 1 << 30)) == (Processes, 1)
    assert pool(jobs=1) == (Processes, 1)
    assert pool(jobs=2, limits=Limits(0)) == (Processes, 2)
    with pytest.raises(UsageError, match=r"^processes: 0 is out of range: 1 to 1,024$"):
        make_pool(jobs=0)


def test_without_pebble_its_command_is_named_and_what_needs_no_process_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pebble", None)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "tflm_sim.extensions.sweep.processes")
    with pytest.raises(UsageError, match=r"need pebble: .* install .*--jobs 1 --row-seconds 0"):
        make_pool(jobs=2)
    assert pool(jobs=1, limits=Limits(0)) == (Serial, 1)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), 1e300])
def test_a_limit_is_a_number_of_seconds(seconds: float) -> None:
    with pytest.raises(
        UsageError, match=rf"^a row cannot take {seconds:g} seconds at the most; 0 is no limit$".replace("+", r"\+")
    ):
        Limits(seconds)


def test_by_default_each_core_that_this_process_may_use_has_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 5, 7} if pid == 0 else {1}, raising=False)
    assert pool() == (Processes, 3)
    monkeypatch.delattr(os, "sched_getaffinity")
    assert pool() == (Processes, 2)


def test_a_client_is_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(module, "Dask", lambda client: made.append(client))
    make_pool("client")
    assert made == ["client"]
