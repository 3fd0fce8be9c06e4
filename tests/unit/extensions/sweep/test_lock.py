"""Two sweeps do not write the same file; a lock that a killed process left behind holds nobody up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim.answers.rows import Row, cases
from tflm_sim.cli import main
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.results import Results
from tflm_sim.extensions.sweep.tables import read_rows

CASES = cases(["cortex-m4"])
HOLDER = """
import sys
from tflm_sim.answers.rows import cases
from tflm_sim.extensions.sweep.results import Results
with Results(sys.argv[1], cases(["cortex-m4"]), resumes=False, overwrites=False):
    print("locked", flush=True)
    sys.stdin.read()
"""


def results(path: Path, *, resumes: bool = False, overwrites: bool = False) -> Results:
    """Return the rows of a sweep on their way to a file."""
    return Results(str(path), CASES, resumes=resumes, overwrites=overwrites)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize("how", ["resumes", "overwrites"])
def test_the_second_of_two_sweeps_is_refused_and_the_first_loses_nothing(tmp_path: Path, ending: str, how: str) -> None:
    path = tmp_path / f"rows.{ending}"
    with results(path) as first:
        first.write([Row("a", "1" * 64)])
        with pytest.raises(UsageError, match=rf"rows\.{ending} is being written by another sweep"):
            results(path, **{how: True})
        first.write([Row("b", "2" * 64)])
    assert [row.model for row in read_rows(path)] == ["a", "b"]
    assert sorted(os.listdir(tmp_path)) == [f"rows.{ending}"]


def test_a_link_to_a_file_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "link.csv").symlink_to(tmp_path / "rows.csv")
    with (
        results(tmp_path / "rows.csv"),
        pytest.raises(UsageError, match=r"link\.csv is being written by another sweep"),
    ):
        results(tmp_path / "link.csv", overwrites=True)


def test_a_lock_goes_with_its_process_even_when_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    sweep = ["sweep", "sample:sine", "-o", str(path), "--jobs", "1", "--overwrite"]
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        assert main(sweep) == 2
        holder.kill()
    assert (tmp_path / ".rows.csv.lock").exists()
    assert main(sweep) == 0
    assert [row.status for row in read_rows(path)] == ["ok"]
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_refused_run_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("here already")
    with pytest.raises(UsageError, match="exists: add --resume"):
        results(path)
    assert os.listdir(tmp_path) == ["rows.csv"]


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"rows.csv cannot be locked with .rows.csv.lock: No such file or directory"):
        results(tmp_path / "absent" / "rows.csv")


def test_a_lock_has_the_permissions_of_any_other_file(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with results(tmp_path / "rows.csv"):
        assert (tmp_path / ".rows.csv.lock").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_without_filelock_its_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "filelock", None)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"rows\.csv is locked with filelock: .* install "):
        results(tmp_path / "rows.csv")
    assert os.listdir(tmp_path) == []
