"""Every document says which tflm_sim made it: a built package knows its commit, a checkout reads it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim import __version__

PACKAGE = Path(tflm_sim.__file__).parent
ASK = "from tflm_sim.provenance import made_by; print(made_by())"


def said(root: Path) -> str:
    """Return what a copy of the package in a folder says of itself."""
    run = subprocess.run([sys.executable, "-c", ASK], cwd=root, capture_output=True, text=True, check=True, env={})
    return run.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with as much of the package as says what it is."""
    (tmp_path / "tflm_sim").mkdir()
    for name in ("__init__.py", "provenance.py"):
        shutil.copy(PACKAGE / name, tmp_path / "tflm_sim")
    return tmp_path


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    command = ["git", "-C", str(root), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_a_built_package_says_the_commit_that_it_was_built_from(copy: Path) -> None:
    assert said(copy) == f"{__version__} (unknown)"
    (copy / "tflm_sim/commit.txt").write_text("34d7cf465" + 31 * "0" + "\n")
    assert said(copy) == f"{__version__} (34d7cf465)"


def test_a_checkout_says_the_commit_that_is_checked_out(copy: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git(copy, "init", "-q")
    git(copy, "commit", "-qm", "one", "--allow-empty")
    commit = git(copy, "rev-parse", "HEAD")
    assert said(copy) == f"{__version__} (unknown)", "somebody's repository with a copy of the package"
    (copy / "pyproject.toml").write_text('[project]\nname = "tflm_sim"\n')
    assert said(copy) == f"{__version__} ({commit[:9]})"
    git(copy, "pack-refs", "--all")
    assert said(copy) == f"{__version__} ({commit[:9]})"
    git(copy, "checkout", "-q", "--detach")
    assert said(copy) == f"{__version__} ({commit[:9]})"
    beside = tmp_path_factory.mktemp("trees") / "beside"
    git(copy, "worktree", "add", "-q", "-b", "other", str(beside))
    shutil.copytree(copy / "tflm_sim", beside / "tflm_sim")
    shutil.copy(copy / "pyproject.toml", beside)
    git(beside, "commit", "-qm", "two", "--allow-empty")
    assert said(beside) == f"{__version__} ({git(beside, 'rev-parse', 'HEAD')[:9]})"


MODEL, TARGET = "sample:mobilenet_v1_025", ("--target", "cortex-m4")


@pytest.mark.parametrize(("arguments", "output"), [
    (("size", MODEL, *TARGET, "--json"), ""),
    (("check", MODEL, *TARGET, "--limit", "90000", "--json"), ""),
    (("plan", MODEL, *TARGET, "--json"), ""),
    (("explain", "Failed to allocate tail memory. Requested: 8, available 4, missing: 4", "--json"), ""),
    (("diff", MODEL, MODEL, *TARGET, "--json"), ""),
    (("report", MODEL, *TARGET), "page.html"),
    (("report", MODEL, *TARGET), "page.svg"),
    (("report", MODEL, *TARGET, "--format", "perfetto"), "trace.json"),
    (("report", MODEL, *TARGET, "--format", "json"), "page.json"),
    (("check", MODEL, *TARGET, "--limit", "9000", "--sarif"), "page.sarif"),
    (("size", MODEL, *TARGET, "--header"), "arena.h"),
    (("sweep", MODEL, *TARGET), "rows.csv"),
])  # fmt: skip
def test_what_is_written_says_which_tflm_sim_wrote_it(arguments: tuple[str, ...], output: str, tmp_path: Path) -> None:
    for word, extension in (("--header", "header"), ("sweep", "sweep")):
        if word in arguments:
            pytest.importorskip(f"tflm_sim.extensions.{extension}")
    writes = [] if arguments[-1] in ("--sarif", "--header") else ["-o"]
    given = [*arguments, *([*writes, str(tmp_path / output)] if output else [])]
    run = subprocess.run([sys.executable, "-m", "tflm_sim", *given], capture_output=True, text=True, check=False)
    text = (tmp_path / output).read_text("utf-8") if output else run.stdout
    from tflm_sim.provenance import made_by, maker

    if text.startswith("{") and "schema_version" in json.loads(text):
        assert json.loads(text)["tflm_sim"] == maker()
    else:
        assert made_by() in text, run.stderr
    assert re.fullmatch(r"[0-9a-f]{9}|unknown", maker()["commit"])
