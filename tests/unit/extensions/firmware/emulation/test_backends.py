"""Which emulator executes a program."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.emulation import backends


@pytest.mark.parametrize(
    ("model", "has_unicorn", "has_qemu", "wanted", "sentence"),
    [
        ("M4", False, False, "", "executing a program needs an emulator"),
        ("M4", False, False, "unicorn", "executing a program needs an emulator"),
        ("", True, True, "unicorn", "Unicorn has no Cortex-M7; QEMU has one"),
        ("", True, False, "", "qemu"),
        ("M4", True, False, "qemu", "qemu"),
    ],
)
def test_unicorn_executes_the_cores_that_it_has_and_qemu_the_others(
    monkeypatch: pytest.MonkeyPatch, model: str, has_unicorn: bool, has_qemu: bool, wanted: str, sentence: str
) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: "spec" if has_unicorn else None)
    monkeypatch.setattr(backends, "_qemu", lambda program: "qemu" if has_qemu else None)
    core = SimpleNamespace(name="Cortex-M7", model=model, board="mps2", is_windowed=False, is_arm=True)
    with pytest.raises((FirmwareError, UsageError), match=f"(?i){sentence}"):
        backends.backend(SimpleNamespace(core=core), "app.elf", wanted)  # type: ignore[arg-type]
