"""A real scheduler and worker processes: the rows of the serial run, also when a worker is killed in the middle."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.rows import cases
from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.sweep import iterate_rows
from tflm_sim.extensions.sweep.tables import read_rows
from tflm_sim.samples import SAMPLES, sample_path

PATHS = [str(sample_path(name)) for name in SAMPLES] * 60
CASES = cases(["cortex-m4", "esp32-s3", "x86_64"])


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Start a scheduler and three worker processes."""
    import dask
    import distributed

    options = {"n_workers": 3, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    # dask gives a worker up that it lost 15 s ago and that is not there now, though it came back and was started again.
    patient = dask.config.set({"distributed.deploy.lost-worker-timeout": "2 minutes"})
    with patient, distributed.LocalCluster(**options) as started:
        yield started


@pytest.mark.nightly
def test_a_killed_worker_loses_nothing(cluster: Any) -> None:
    import distributed

    serial = list(iterate_rows(PATHS, CASES, jobs=1))
    with distributed.Client(cluster) as client:
        client.wait_for_workers(3)
        found = []
        for number, row in enumerate(iterate_rows(PATHS, CASES, client=client)):
            found.append(row)
            if number == 40:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    assert found == serial


def test_the_command_takes_a_scheduler(cluster: Any, tmp_path: Path) -> None:
    common = ["sweep", *PATHS[:10], "--targets", "cortex-m4,esp32"]
    assert main([*common, "--scheduler", cluster.scheduler_address, "-o", str(tmp_path / "dask.csv")]) == 0
    assert main([*common, "--jobs", "1", "-o", str(tmp_path / "serial.csv")]) == 0
    assert (tmp_path / "dask.csv").read_bytes() == (tmp_path / "serial.csv").read_bytes()


def test_ctrl_c_leaves_what_is_done_and_resume_goes_on(tmp_path: Path) -> None:
    for number in range(150):
        (tmp_path / f"m{number:03}.tflite").write_bytes(sample_path(SAMPLES[number % 5]).read_bytes())
    output = tmp_path / "rows.jsonl"
    command = [sys.executable, "-m", "tflm_sim", "sweep", str(tmp_path), "--targets", "all", "-o", str(output)]
    process = subprocess.Popen([*command, "--jobs", "2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while not (output.exists() and output.stat().st_size):
        time.sleep(0.01)
        assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 130, out
    assert "interrupted: what is done is kept; --resume goes on." in out
    assert "Traceback" not in out
    kept = list(read_rows(output))
    assert 0 < len(kept) < 150 * len(cases(["all"]))
    assert main(["sweep", str(tmp_path), "--targets", "all", "-o", str(output), "--resume"]) == 0
    whole = list(read_rows(output))
    assert len(whole) == 150 * len(cases(["all"]))
    assert whole[: len(kept)] == kept


@pytest.mark.nightly
def test_a_folder_of_ten_thousand_files_ends_with_ten_thousand_rows(tmp_path: Path) -> None:
    data = sample_path("sine").read_bytes()
    for number in range(10_000):
        broken = number % 10 == 3
        (tmp_path / f"{number:05}.tflite").write_bytes(data[: number % 2000] if broken else data)
    output = tmp_path / "rows.csv"
    assert main(["sweep", str(tmp_path), "--targets", "cortex-m4", "-o", str(output), "--jobs", "2"]) == 0
    statuses = [row.status for row in read_rows(output)]
    assert len(statuses) == 10_000
    assert statuses.count("ok") == 9_000


def test_workers_elsewhere_read_a_name_of_this_folder(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import distributed

    monkeypatch.chdir(tmp_path)  # the workers run in another folder
    Path("sine.tflite").write_bytes(sample_path("sine").read_bytes())
    Path("broken.tflite").write_bytes(b"no model")
    models = ["sine.tflite", "absent.tflite", "broken.tflite", "sample:sine"]
    serial = list(iterate_rows(models, CASES[:1], jobs=1))
    with distributed.Client(cluster) as client:
        assert list(iterate_rows(models, CASES[:1], client=client)) == serial
    assert [row.status for row in serial] == ["ok", "unreadable", "unreadable", "ok"]
    assert serial[1].error == "absent.tflite: No such file or directory"


def test_a_worker_of_another_version_is_refused(cluster: Any) -> None:
    import distributed

    with distributed.Client(cluster) as client:
        client.run(_pretend_to_be_old, workers=[next(iter(client.nthreads()))])
        with pytest.raises(UsageError, match=r"the worker tcp://\S+ has tflm_sim 0\.0\.1, this is "):
            list(iterate_rows(PATHS[:1], CASES, client=client))


def _pretend_to_be_old() -> None:
    import tflm_sim

    tflm_sim.__version__ = "0.0.1"


def hanging() -> Any:
    """Return what makes a worker never end the sizing of sine, whose operators are three."""
    from distributed import WorkerPlugin

    class Hanging(WorkerPlugin):
        def setup(self, worker: Any) -> None:
            from tflm_sim.answers.sizing import Sizer
            from tflm_sim.extensions.sweep.engine import Item, size_packed

            size_packed((Item("first", "sample:streaming"),), CASES[:1])  # All is imported before a row has its time.
            sizing = Sizer.sizing

            def slow(self: Any, model: Any, configuration: Any) -> Any:
                while len(model.subgraphs[0].operators) == 3:
                    time.sleep(0.01)
                return sizing(self, model, configuration)

            Sizer.sizing = slow  # type: ignore[method-assign]

    return Hanging()


@pytest.mark.nightly
def test_a_row_that_takes_too_long_is_a_row_and_its_worker_is_started_again(cluster: Any) -> None:
    import distributed

    models = ["sample:residual", "sample:sine", "sample:streaming"]
    with distributed.Client(cluster) as client:
        client.register_plugin(hanging())
        found = list(iterate_rows(models, CASES[:1], client=client, limits=Limits(1)))
        client.wait_for_workers(3, timeout=60)
    assert [(row.model, row.status) for row in found] == list(zip(models, ("ok", "timeout", "ok"), strict=True))


@pytest.mark.nightly
def test_a_row_that_takes_too_long_for_a_worker_without_a_nanny_is_one_sentence() -> None:
    code = """
from distributed import Client, LocalCluster
from test_dask import hanging
from tflm_sim import UsageError
from tflm_sim.answers.rows import cases
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.sweep import iterate_rows
options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
with LocalCluster(**options) as cluster, Client(cluster) as client:
    client.register_plugin(hanging())
    try:
        list(iterate_rows(["sample:sine"], cases(["cortex-m4"]), client=client, limits=Limits(1)))
    except UsageError as error:
        print(error, flush=True)
        import os
        os._exit(0)  # the worker is a thread of this process, and never ends
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False, timeout=120)
    assert re.fullmatch(r"a row takes too long on inproc://\S+, which has no nanny to end it\n", done.stdout), (
        done.stderr
    )


def test_a_scheduler_that_is_gone_is_one_sentence() -> None:
    import distributed

    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        found = iterate_rows(PATHS, CASES, client=client)
        next(found)
        cluster.close()
        with pytest.raises(UsageError, match="the scheduler does not answer any more; the finished rows are kept"):
            list(found)
