"""The planners' C for the browser: what is asked of the compiler and the linker, and what is said where they fail."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.page import planners
from tflm_sim.extensions.page.planners import compiled_planners


def test_the_programs_that_are_absent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match=re.escape("clang and wasm-ld not found (Debian: apt install clang lld)")):
        compiled_planners()
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/clang" if name == "clang" else None)
    with pytest.raises(UsageError, match=r"^wasm-ld not found"):
        compiled_planners()


def test_every_source_but_cffis_own_is_compiled_and_linked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    commands = []

    def run(*command: str, folder: Path) -> None:
        commands.append(command)
        (folder / "planners.wasm").write_bytes(b"linked")

    for name in ("b.c", "a.c", "_native.c", "a.h"):
        (tmp_path / name).touch()
    monkeypatch.setattr(planners, "_SOURCES", tmp_path)
    monkeypatch.setattr(planners, "_run", run)
    monkeypatch.setattr(shutil, "which", lambda name: name)
    assert compiled_planners() == b"linked"
    *compiled, linked = commands
    assert {command[-1] for command in compiled} == {str(tmp_path / "a.c"), str(tmp_path / "b.c")}
    assert linked[0] == "wasm-ld"
    assert linked[-2:] == ("a.o", "b.o")


def test_a_program_that_fails_is_named_with_300_characters_of_what_it_says(tmp_path: Path) -> None:
    planners._run(sys.executable, "-c", "", folder=tmp_path)
    with pytest.raises(UsageError) as failure:
        planners._run(sys.executable, "-c", "import sys; sys.exit('e' * 301)", folder=tmp_path)
    said = "…" + "e" * 299
    assert str(failure.value) == f"{sys.executable} does not compile the planners for the browser: {said}"
