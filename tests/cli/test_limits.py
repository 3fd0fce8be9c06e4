"""What a shell or an administrator forbids is one sentence and a code: open files, file sizes, folders, processes."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

SINE = "sample:sine"
ROOT = str(Path(__file__).parents[2])
WRITERS: dict[str, tuple[str, ...]] = {
    "page": ("report", SINE, "-o", "out/page.html"),
    "picture": ("report", SINE, "-o", "out/picture.svg"),
    "rows": ("sweep", SINE, "--jobs", "1", "-o", "out/rows.csv"),
    "rows of two processes": ("sweep", SINE, "--jobs", "2", "-o", "out/rows.jsonl"),
    "table": ("sweep", SINE, "--jobs", "1", "-o", "out/rows.parquet"),
    "shrunk": ("shrink", "sample:residual", "-o", "out/shrunk.tflite"),
    "baseline": ("check", SINE, "--limit", "64KiB", "--baseline", "out/sizes.json", "--update-baseline"),
}
AS_OTHERS = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override")
"""Takes from root what lets it write anywhere."""


def run(
    command: tuple[str, ...], folder: Path, limit: Callable[[], object], before: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    argv = [*before, sys.executable, "-P", "-m", "tflm_sim", *command]
    environment = {**os.environ, "PYTHONPATH": ROOT, "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        argv, cwd=folder, env=environment, text=True, capture_output=True, check=False, preexec_fn=limit, timeout=120
    )


def is_one_sentence(done: subprocess.CompletedProcess[str]) -> bool:
    last = done.stderr.splitlines()[-1]
    return done.returncode == 2 and last.startswith("tflm-sim") and "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITERS)
def test_where_no_file_may_grow_nothing_is_left(name: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = run(WRITERS[name], tmp_path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert is_one_sentence(done), (done.returncode, done.stderr)
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() == 0 and not shutil.which("setpriv"), reason="root may write anywhere")
@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_that_may_only_be_read(name: str, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o555)
    done = run(WRITERS[name], tmp_path, lambda: None, before=() if os.getuid() else AS_OTHERS)
    assert is_one_sentence(done), (done.returncode, done.stderr)
    assert "out" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("most", [6, 8, 12, 16])
@pytest.mark.parametrize("name", ["page", "rows of two processes", "table"])
def test_few_open_files_are_enough_or_a_sentence(name: str, most: int, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    done = run(WRITERS[name], tmp_path, lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
    assert done.returncode == 0 or is_one_sentence(done), (done.returncode, done.stderr)
