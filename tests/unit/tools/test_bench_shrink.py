"""Workers of ``bench_shrink.py`` do not outlive it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[3] / "tools"
PARENT = """
import multiprocessing, os, sys, time
sys.path.insert(0, sys.argv[1])
import bench_shrink
with multiprocessing.Pool(1, bench_shrink._end_with_parent) as pool:
    print(pool.apply(os.getpid), flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent ended")
def test_a_worker_ends_with_a_parent_that_is_killed() -> None:
    command = [sys.executable, "-c", PARENT, str(TOOLS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        os.kill(worker, 0)
        parent.kill()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and _runs(worker):
        time.sleep(0.05)
    assert not _runs(worker)


def _runs(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "State:\tZ" not in status.read_text()
