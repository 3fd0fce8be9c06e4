"""What a sweep is made of: the names of models, cases, and who runs them."""

from __future__ import annotations

import os
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


def test_looking_into_a_file_may_take_as_long_as_is_said_and_without_a_word_for_ever(monkeypatch: Any) -> None:
    seen = []

    def members(path: str, was_found: bool, seconds: float) -> list[tuple[str, None]]:
        seen.append(seconds)
        return [(path, None)]

    monkeypatch.setattr(module, "_members", members)
    list(items(["sample:sine"]))
    list(items(["sample:sine"], 2.5))
    assert seen == [0, 2.5]


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


def test_one_job_is_this_process_unless_its_memory_is_limited() -> None:
    assert pool(jobs=1) == (Serial, 1)
    assert pool(jobs=2) == (Processes, 2)
    assert pool(jobs=1, limits=Limits(0, 1 << 30)) == (Processes, 1)
    with pytest.raises(UsageError, match=r"^0 processes are too few$"):
        make_pool(jobs=0)


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
