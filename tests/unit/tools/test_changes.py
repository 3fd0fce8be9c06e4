"""The commits that rows of targets/changes.py name are read from a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from upstream import changes
from upstream.places import Checkout

from tflm_sim.targets.changes import Change

RESOLVER = "tensorflow/lite/micro/micro_mutable_op_resolver.h"
KERNEL = "tensorflow/lite/micro/kernels/elu.cc"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    """Make a clone of three commits, of which the third brings ELU."""
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2021-06-21T23:00:00-0700")
    git = ("git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    subprocess.run([*git, "init", "-q"], check=True)
    for files in (
        {"README": "0"},
        {RESOLVER: "BuiltinOperator_ELU"},
        {RESOLVER: "// BuiltinOperator_ELU", KERNEL: "Register_ELU"},
    ):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "a"], check=True)
    monkeypatch.setattr(changes, "OPERATORS_SINCE", {"ELU": "ops"})
    for table in ("CMSIS_NN_PINS", "LAST_OPERATORS"):
        monkeypatch.setattr(changes, table, {})
    return Checkout(str(tmp_path))


@pytest.mark.parametrize(
    ("method", "registers", "told"),
    [
        ("AddElu", "AddBuiltin(BuiltinOperator_ELU", []),
        ("AddDelay", 'AddCustom("SignalDelay"', []),
        ("AddNewOp", "AddBuiltin(\n BuiltinOperator_NEW_OP", ["registers NEW_OP, which no row of _ARRIVALS names"]),
        ("AddElU", "AddBuiltin(BuiltinOperator_ELU", ["registers ELU; ops/resolver.py says AddElu"]),
        ("AddNew", 'AddCustom("New"', ["New, which no row of _ARRIVALS names", "New; ops/resolver.py says nothing"]),
    ],
)
def test_an_operator_of_the_resolver_that_has_no_row_is_told(method: str, registers: str, told: list[str]) -> None:
    lines = [*changes.without_rows(f"TfLiteStatus {method}(\n const R& r = f()) {{ return {registers}, r, Parse); }}")]
    assert len(lines) == len(told)
    assert all(line.endswith(end) for line, end in zip(lines, told, strict=True))


@pytest.mark.parametrize(
    ("number", "ago", "found"),
    [(3, 0, []), (4, 0, ["is number 3 of 2021-06-22, not 4 of 2021-06-22"]), (2, 1, ["ELU came with"])],
)
def test_a_row_that_names_another_commit_than_it_means_is_told(
    number: int, ago: int, found: list[str], checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = checkout.run("rev-parse", f"HEAD~{ago}").strip()
    monkeypatch.setattr(changes, "CHANGES", {"ops": Change(number, commit, "2021-06-22", "ELU came")})
    monkeypatch.setattr(Checkout, "position", lambda self, commit: 9 if commit == "HEAD" else 3 - ago)
    told = [*changes.wrong(checkout)]
    assert len(told) == len(found)
    assert all(part in line for part, line in zip(found, told, strict=True))
