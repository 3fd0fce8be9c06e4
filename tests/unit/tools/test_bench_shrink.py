"""``bench_shrink.py``: what needs more with more options is named; processes end, also with a parent that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import bench_shrink
import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
PROGRAM = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
import bench_shrink
def run(case):
    if case[2] == "sleep":
        print(os.getpid(), flush=True)
        time.sleep(60)
    if case[2] == "die":
        os._exit(9)
    return bench_shrink.Row(*case[:2], before=os.getpid())
try:
    rows = list(bench_shrink._forked(run, [("", str(index), what) for index, what in enumerate(sys.argv[2:])], 2))
except KeyboardInterrupt:
    sys.exit(130)
for row in sorted(rows, key=lambda row: row.name):
    print(row.name, row.refused, row.differs)
print(len({row.before for row in rows if not row.refused}))
"""


def _command(*cases: str) -> list[str]:
    return [sys.executable, "-c", PROGRAM, str(TOOLS), *cases]


def test_what_needs_more_with_more_options_of_the_same_kernels_is_named() -> None:
    rows = [
        bench_shrink.Row(column, name, operators=4, before=3000, after=after)
        for name, sizes in (("a", (2000, 1900, 1950, 1800)), ("b", (2000, 2000, 1900, 1900)))
        for column, after in zip(("shrink", "plan", "M4", "M55"), sizes, strict=True)
    ]
    assert list(bench_shrink.larger_with_more(bench_shrink.OPTIONS, rows)) == [
        "larger with more options: a: plan 1,900 B, M4 1,950 B"
    ]


def test_each_case_has_a_process_and_one_that_dies_is_a_row() -> None:
    ended = subprocess.run(_command("row", "die", "row", "row"), capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.splitlines() == ["0  False", "1 its process ended with 9 True", "2  False", "3  False", "3"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent ended")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_process_ends_with_a_parent_that_is_killed_or_interrupted(number: signal.Signals, code: int) -> None:
    with subprocess.Popen(_command("sleep"), stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(worker, 0)
        parent.send_signal(number)
        assert parent.wait(10) == code
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(worker):
        time.sleep(0.05)
    assert not _runs(worker)


def _runs(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
