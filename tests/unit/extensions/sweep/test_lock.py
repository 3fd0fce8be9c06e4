"""Two sweeps do not write the same file; a lock that a killed process left behind holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tflm_sim.answers.rows import Row, cases
from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep import lock
from tflm_sim.extensions.sweep.lock import file_lock
from tflm_sim.extensions.sweep.results import Results
from tflm_sim.extensions.sweep.tables import read_rows

CASES = cases(["cortex-m4"])
HOLDER = """
import sys
from pathlib import Path
from tflm_sim.extensions.sweep import lock
from tflm_sim.extensions.sweep.lock import file_lock
with file_lock(Path(sys.argv[1])):
    print("file_lock", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("how", ["resumes", "overwrites"])
def test_the_second_of_two_sweeps_is_refused_and_the_first_loses_nothing(tmp_path: Path, ending: str, how: str) -> None:
    path = tmp_path / f"rows.{ending}"
    begins = {"resumes": False, "overwrites": False}
    with Results(str(path), CASES, **begins) as first:
        first.write([Row("a", "1" * 64)])
        with pytest.raises(UsageError, match=rf"being written by another sweep \(process {os.getpid()} on "):
            Results(str(path), CASES, **begins | {how: True})
        first.write([Row("b", "2" * 64)])
    assert [row.model for row in read_rows(path)] == ["a", "b"]
    assert sorted(os.listdir(tmp_path)) == [f"rows.{ending}"]


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "rows.csv")
    with (
        file_lock(tmp_path / "rows.csv"),
        pytest.raises(UsageError, match=r"link\.csv is being written by another sweep"),
    ):
        file_lock(tmp_path / "link.csv").__enter__()


def test_a_lock_goes_with_its_process_even_when_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "file_lock\n"
        assert main(["sweep", "sample:sine", "-o", str(path), "--jobs", "1"]) == 2
        assert not path.exists()
        holder.kill()
    assert (tmp_path / ".rows.csv.lock").exists()
    assert main(["sweep", "sample:sine", "-o", str(path), "--jobs", "1"]) == 0
    assert [row.status for row in read_rows(path)] == ["ok"]
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_refused_run_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("here already")
    with pytest.raises(UsageError, match="exists: add --resume"):
        Results(str(path), CASES, resumes=False, overwrites=False)
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"rows.csv cannot be locked with .rows.csv.lock: No such file or directory"):
        Results(str(tmp_path / "absent" / "rows.csv"), CASES, resumes=False, overwrites=False)


def test_a_lock_has_the_permissions_of_any_other_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with file_lock(tmp_path / "rows.csv"):
        assert (tmp_path / ".rows.csv.lock").stat().st_mode == (tmp_path / "other").stat().st_mode
        assert (tmp_path / ".rows.csv.lock").read_text().startswith(f"process {os.getpid()} on ")


def test_of_an_owner_300_bytes_are_told_and_without_a_word_it_has_just_begun(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 301)
    (tmp_path / "b").touch()
    assert [lock._owner(tmp_path / name) for name in "abc"] == ["x" * 300, "just begun", "just ended"]


@pytest.mark.parametrize("is_free", [True, False])
def test_on_windows_a_byte_beyond_what_is_written_is_locked(monkeypatch: pytest.MonkeyPatch, is_free: bool) -> None:
    done: list[object] = []

    def locking(*how: object) -> None:
        done.append(how)
        if not is_free:
            raise PermissionError

    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))  # type: ignore[arg-type]
    file = SimpleNamespace(seek=done.append, fileno=lambda: 9)
    assert lock._lock_on_windows(file) is is_free  # type: ignore[arg-type]
    # A mebibyte from the start, one byte; what is written begins at 0.
    assert done == [1024 * 1024, (9, 2, 1), 0][: 3 if is_free else 2]
