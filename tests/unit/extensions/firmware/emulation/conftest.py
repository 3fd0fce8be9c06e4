"""``machine``: memory and registers where nothing is executed, for what only looks at a program."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.emulator import Core

CORES = {
    "ARM": Core("Cortex-M4", True, "", "", ("r0", "r1", "r2", "r3"), "lr"),
    "RISC-V": Core("RISC-V 32", False, "", "", tuple(f"a{index}" for index in range(8)), "ra"),
}


class StillMachine:
    """Memory of zeros, and registers of zero, until something is written."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.memory: defaultdict[int, int] = defaultdict(int)
        self.registers: defaultdict[str, int] = defaultdict(int)

    def read(self, address: int, size: int) -> bytes:
        """Return bytes."""
        return bytes(self.memory[at] for at in range(address, address + size))

    def write(self, address: int, data: bytes) -> None:
        """Put bytes there."""
        self.memory.update(enumerate(data, address))

    def write_words(self, address: int, *values: int) -> None:
        """Put words there."""
        self.write(address, struct.pack(f"<{len(values)}I", *values))

    def get(self, register: str) -> int:
        """Return a register."""
        return self.registers[register]

    def set(self, register: str, value: int) -> None:
        """Change a register."""
        self.registers[register] = value


@pytest.fixture
def machine() -> Callable[[str], Any]:
    """Return what makes a machine of a processor, "ARM" or "RISC-V"."""
    return lambda processor: StillMachine(CORES[processor])
