"""Processes that hang, die, take too much memory or lose their parent, as whoever types the command sees it.

A program without threads has copies of itself as processes, one with a thread new Pythons; both are tested.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tflm_sim.answers.rows import Row
from tflm_sim.extensions.sweep.tables import read_rows

PROGRAM = """
import os, sys, threading, time
from tflm_sim.answers.sizing import Sizer

sizing = Sizer.sizing

def faulty(self, model, configuration):
    is_faulty = len(model.subgraphs[0].operators) == 3 and configuration.target.name == "esp32"  # sine
    fault = os.environ.get("FAULT") if is_faulty else None
    if fault == "crash":
        os._exit(1)
    if fault == "memory":
        bytearray(1 << 31)
    while fault == "hang":
        open(os.environ["PIDS"], "a").write(f"{os.getpid()}\\n")
        time.sleep(0.05)
    return sizing(self, model, configuration)

Sizer.sizing = faulty
if __name__ == "__main__":
    from tflm_sim.cli import main
    if sys.argv[1] == "new":
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    sys.exit(main(sys.argv[2:]))
"""
MODELS = ["sample:residual", "sample:sine", "sample:mobilenet_v1_025"]
KINDS = ["copies", pytest.param("new", marks=pytest.mark.slow)]


def started(folder: Path, kind: str, fault: str, *options: str) -> subprocess.Popen[str]:
    """Start a sweep in which sine has a fault on esp32."""
    (folder / "program.py").write_text(PROGRAM)
    sweep = ["sweep", *MODELS, "--targets", "cortex-m4,esp32", "-o", "rows.csv", *options]
    return subprocess.Popen(
        [sys.executable, "program.py", kind, *sweep],
        cwd=folder,
        env=os.environ | {"FAULT": fault, "PIDS": str(folder / "pids")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def swept(folder: Path, kind: str, fault: str, *options: str) -> list[Row]:
    """Return the rows of such a sweep, after it said nothing but its summary."""
    with started(folder, kind, fault, *options) as process:
        _, said = process.communicate(timeout=120)
    assert (process.returncode, said) == (0, "")
    return list(read_rows(folder / "rows.csv"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("fault", "jobs", "status", "error"),
    [
        ("hang", "1", "timeout", "sizing it took longer than a row may take"),
        ("crash", "2", "crash", "sizing it ended the process, twice"),
        ("memory", "2", "memory", "sizing it took more memory than there is, or than it may take"),
    ],
)
def test_a_row_that_fails_says_so_and_all_others_are_there_in_order(
    tmp_path: Path, kind: str, fault: str, jobs: str, status: str, error: str
) -> None:
    found = swept(tmp_path, kind, fault, "--jobs", jobs, "--row-seconds", "3", "--worker-memory", "1GiB")
    assert [(row.model, row.target) for row in found] == [(m, t) for m in MODELS for t in ("cortex-m4", "esp32")]
    assert [row.status for row in found] == ["ok", "ok", "ok", status, "ok", "ok"]
    assert found[3].error == error


def test_a_crash_without_a_limit_of_time_is_a_row_too(tmp_path: Path) -> None:
    found = swept(tmp_path, "copies", "crash", "--jobs", "2", "--row-seconds", "0")
    assert [row.status for row in found] == ["ok", "ok", "ok", "crash", "ok", "ok"]


def hanging(folder: Path, process: subprocess.Popen[str]) -> int:
    """Return the process that hangs."""
    deadline = time.monotonic() + 60
    while not (folder / "pids").exists() or not (folder / "pids").read_text().endswith("\n"):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    return int((folder / "pids").read_text().split()[0])


def ends(pid: int) -> bool:
    """Return whether a process ends within some seconds."""
    for _ in range(400):
        try:
            if not Path(f"/proc/{pid}/cmdline").read_bytes():  # nobody has taken notice of its end
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_their_parent_also_one_that_hangs(tmp_path: Path, kind: str, number: int) -> None:
    with started(tmp_path, kind, "hang", "--jobs", "2", "--row-seconds", "0") as process:
        pid = hanging(tmp_path, process)
        process.send_signal(number)
        said, errors = process.communicate(timeout=60)
    assert ends(pid)
    assert "Traceback" not in errors
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted: what is done is kept; --resume goes on." in said


def test_a_sweep_with_two_processes_in_a_script_as_simple_as_it_gets(tmp_path: Path) -> None:
    script = "import tflm_sim\nprint(*tflm_sim.sweep('sample:sine', 'cortex-m4', jobs=2).smallest_arena)\n"
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1156\n", "")


def test_a_script_with_threads_is_told_where_the_call_belongs(tmp_path: Path) -> None:
    script = """
import threading
from tflm_sim.extensions.sweep.sweep import make_pool
threading.Thread(target=threading.Event().wait, daemon=True).start()
make_pool(jobs=2)
"""
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "; a script that calls sweep() does so below 'if __name__ == \"__main__\":'\n" in done.stderr


def test_where_no_process_may_be_started_a_sentence_says_so() -> None:
    script = """
import multiprocessing
from tflm_sim import UsageError
from tflm_sim.extensions.sweep.sweep import make_pool
def sweep():
    try:
        make_pool(jobs=2)
    except UsageError as error:
        print(error)
process = multiprocessing.get_context("fork").Process(target=sweep, daemon=True)
process.start()
process.join()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "no process can be started (daemonic processes are not allowed to have children)\n"
