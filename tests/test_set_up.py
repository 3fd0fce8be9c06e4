"""After the README's first command every command of the pages runs, and after CONTRIBUTING's every check of it."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "docs"))
from commands import Command, Served, furnish, serving, words_of  # noqa: E402
from test_commands import RUN  # noqa: E402

pytestmark = pytest.mark.nightly
PAGES = {page: list(of_page) for page, of_page in groupby(RUN, key=lambda command: command.page)}
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
CHECKS = re.findall(r"^\| `([^`]+ [^`]+)` \|", CONTRIBUTING.partition("\n## Checks\n")[2], re.MULTILINE)


def copy_of_the_repository(folder: Path) -> None:
    """Copy the files that are committed, or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in listed.split("\0"):
        if name and (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


def bare(folder: Path) -> dict[str, str]:
    """Return the environment of somebody who has Python and nothing of ours, in a home of their own."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    return {**kept, "HOME": str(folder), "LANG": "C.UTF-8", "PATH": f"{sys.base_prefix}/bin:/usr/bin:/bin"}


Run = Callable[[str, Path], subprocess.CompletedProcess[str]]


def copy_after(command: str, name: str, factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository in which a command was typed: one for all processes of pytest-xdist."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name / "tflm_sim"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            copy_of_the_repository(folder)
            subprocess.run(["bash", "-c", command], cwd=folder, env=bare(folder.parent), check=True, timeout=900)
    return folder


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy in which the README's first command was typed."""
    first = re.findall(r"^\$ (.+)$", README, re.MULTILINE)[0]
    assert first == "bash tools/install.sh"
    return copy_after(first, "set_up", tmp_path_factory)


def typed(line: str, folder: Path, clone: Path, *, seconds: float = 300) -> subprocess.CompletedProcess[str]:
    """Type a line into a shell in which a copy's environment is activated."""
    return subprocess.run(
        ["bash", "-c", f"source {clone}/.venv/bin/activate && {line}"],
        cwd=folder,
        env=bare(clone.parent),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def activated(clone: Path) -> Run:
    """Return what types a line into a shell with the environment that the README's second line activates."""
    return lambda line, folder: typed(line, folder, clone)


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("furnished")
    furnish(folder)
    return folder


@pytest.fixture(scope="module")
def served(furnished: Path) -> Iterator[Served]:
    with serving((furnished / "run.log").read_bytes()) as addresses:
        yield addresses


def shell_words(words: Sequence[str]) -> str:
    """Return words as they are typed, with what is piped in where a command reads it."""
    line = shlex.join(words)
    return f"{line} < run.log" if "-" in words else line


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_runs_after_the_first_command_alone(
    page: str, activated: Run, furnished: Path, served: Served, tmp_path: Path
) -> None:
    wrong = []
    for number, command in enumerate(PAGES[page]):
        folder = tmp_path / str(number)
        shutil.copytree(furnished, folder)
        done = activated(shell_words(_fresh(command, served, folder)), folder)
        said = f"{done.stdout}{done.stderr}"
        # 3 is an answer too, "it depends", but for a file that cannot be used.
        is_answered = done.returncode in (0, 1) or (done.returncode == 3 and "tflm-sim " not in done.stderr[:9])
        if not is_answered or not said or "Traceback" in said or " -m pip install " in said:
            wrong.append(f"{command.text}: exit code {done.returncode}: {said[-400:]}")
        shutil.rmtree(folder)
    assert wrong == []


def _fresh(command: Command, served: Served, folder: Path) -> list[str]:
    """Return a command's words; what it writes is not there."""
    words = words_of(command.text, served)
    for option, name in pairwise(words):
        if option in ("-o", "--record"):
            (folder / name).unlink(missing_ok=True)
    return words


def test_the_lines_of_the_first_block_run_one_after_the_other(clone: Path, activated: Run) -> None:
    block = re.findall(r"```console\n(.*?)```", README, re.DOTALL)[0]
    lines = [line.removeprefix("$ ") for line in block.splitlines()]
    assert lines[:2] == ["bash tools/install.sh", "source .venv/bin/activate"]
    done = activated(lines[2], clone)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("mobilenet_v1_025.tflite on cortex-m4")


def test_pytest_is_there_with_its_plugin(activated: Run, furnished: Path) -> None:
    done = activated("pytest tflm-sim.toml", furnished)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^=+ 6 passed in", done.stdout, re.MULTILINE)


def test_a_tool_that_needs_another_package_says_which_in_one_sentence(activated: Run, clone: Path) -> None:
    done = activated("python tools fuzz lite", clone)
    assert done.returncode == 3
    assert done.stderr.startswith("fuzz lite: No module named 'ai_edge_litert'; 'bash tools/test.sh' installs ")
    assert done.stderr.count("\n") == 1


def test_without_the_recordings_the_sample_of_nine_models_is_compared(clone: Path, activated: Run) -> None:
    done = activated("python tools/golden_report.py cm4_ref", clone)
    assert done.returncode == 0, done.stderr
    first, _, row = done.stdout.splitlines()
    assert first == "the recordings of 283 models are not here (../shared/golden): the committed sample of them"
    assert row.split()[:3] == ["cm4_ref", "9", "9"]


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ("history_report.py", "../shared/history/SNAPSHOTS.json"),
        ("lite_report.py", "../shared/mobile/litert-2.3.0.json.gz"),
        ("bench_exact.py", "../shared/planners/minimalloc.json"),
        ("bench_exact.py --hard", "../shared/planners/hard"),
        ("bench_exact.py --models", "../shared/models"),
    ],
)
def test_a_tool_that_needs_recordings_says_which_in_one_sentence(
    tool: str, path: str, clone: Path, activated: Run
) -> None:
    done = activated(f"python tools/{tool}", clone)
    assert done.returncode == 3
    assert done.stderr == f"this compares with recordings of other programs, which are not here: {path}\n"


@pytest.mark.parametrize("command", [command for command in CHECKS if "tools/test.sh" not in command])
def test_a_check_passes_after_the_set_up_of_contributing_alone(
    command: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = re.findall(r"^\$ (.+)$", CONTRIBUTING.partition("\n## Set up\n")[2], re.MULTILINE)
    set_up, _, activate = lines[0].partition(" && ")
    assert activate == "source .venv/bin/activate"
    folder = copy_after(set_up, "contributing", tmp_path_factory)
    done = typed(command.replace("FILE", "tflm_sim/planners/greedy.py"), folder, folder, seconds=1800)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]


def test_contributing_names_the_checks() -> None:
    assert 'pytest -n auto -m "not slow"' in CHECKS
    assert len(CHECKS) == 7
