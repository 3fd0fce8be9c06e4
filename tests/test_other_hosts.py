"""The same figures in programs of every kind: event loops, threads on one Sizer, forks, interpreters in one process."""

from __future__ import annotations

import asyncio
import importlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tflm_sim import Sizer, load, smallest_arena
from tflm_sim.samples import SAMPLES

TARGETS = ("cortex-m4", "esp32-s3", "x86_64-pip", "cortex-m55")
CASES = [(f"sample:{name}", target) for name in SAMPLES for target in TARGETS]
ROOT = str(Path(__file__).parents[1])


@pytest.fixture(scope="module")
def sizes() -> list[int]:
    return [smallest_arena(load(model), target).size for model, target in CASES]


def test_an_event_loop_gets_the_figures_from_its_threads_and_may_stop_waiting(sizes: list[int]) -> None:
    async def ask() -> list[int]:
        forgotten = asyncio.create_task(asyncio.to_thread(smallest_arena, load(CASES[0][0]), CASES[0][1]))
        asked = [asyncio.to_thread(smallest_arena, load(model), target) for model, target in CASES]
        forgotten.cancel()
        with pytest.raises(asyncio.CancelledError):
            await forgotten
        return [found.size for found in await asyncio.gather(*asked)]

    assert asyncio.run(ask()) == sizes


def test_eight_threads_share_a_sizer(sizes: list[int]) -> None:
    sizer = Sizer()

    def ask(_: int) -> list[int]:
        return [sizer.smallest_arena(load(model), target).size for model, target in CASES]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(32))) == [sizes] * 32


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of a process with threads: that is the case here
def test_a_fork_goes_on_with_the_sizer_though_other_threads_were_using_it(sizes: list[int]) -> None:
    sizer, is_over = Sizer(), threading.Event()

    def ask() -> list[int]:
        return [sizer.smallest_arena(load(model), target).size for model, target in CASES]

    def keep_asking() -> None:
        while not is_over.is_set():
            ask()

    others = [threading.Thread(target=keep_asking) for _ in range(3)]
    for thread in others:
        thread.start()
    ends = []
    try:
        for _ in range(5):
            child = os.fork()
            if not child:
                os._exit(0 if ask() == sizes else 1)
            ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    finally:
        is_over.set()
        for thread in others:
            thread.join()
    assert ends == [0] * 5


@pytest.mark.skipif((3, 12) <= sys.version_info < (3, 12, 4), reason="'import decimal' ends sub-interpreters there")
def test_interpreters_in_one_process_size_one_after_the_other(sizes: list[int]) -> None:
    module = "_xxsubinterpreters" if sys.version_info < (3, 13) else "_interpreters"
    importlib.import_module(module)
    asked = (
        f"import sys; sys.path.insert(0, {ROOT!r}); from tflm_sim import load, smallest_arena; "
        f"print(smallest_arena(load({CASES[0][0]!r}), {CASES[0][1]!r}).size, flush=True)"
    )
    program = (
        f"import {module} as interpreters\n"
        f"run = getattr(interpreters, 'run_string', None) or interpreters.exec\n"
        f"for _ in range(3):\n    one = interpreters.create()\n    run(one, {asked!r})\n    interpreters.destroy(one)\n"
        f"{asked}"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{sizes[0]}\n" * 4, "")
