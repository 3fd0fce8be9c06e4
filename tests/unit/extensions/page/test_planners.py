"""The planners' C for the browser: what is asked of the compiler and the linker, and what is said where they fail."""

from __future__ import annotations

import re
import shutil

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.page.planners import compiled_planners


def test_the_programs_that_are_absent_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(UsageError, match=re.escape("clang and wasm-ld not found (Debian: apt install clang lld)")):
        compiled_planners()
    monkeypatch.setattr(shutil, "which", lambda name: "/bin/clang" if name == "clang" else None)
    with pytest.raises(UsageError, match=r"^wasm-ld not found"):
        compiled_planners()
