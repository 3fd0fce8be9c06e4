"""Registers of devices, which are not modelled, with values that let a program that waits for a device continue.

A register returns the value that was written to it last, and zero before. A program that reads the same register again
and again waits for a bit; it then gets all ones, zero, and each bit alone in turn.
"""

from __future__ import annotations

from collections.abc import Callable

_PATIENCE = 4
"""Reads in a row that are answered with what was written."""
_WALK = (0xFFFFFFFF, 0, *(1 << bit for bit in range(32)), *(0xFFFFFFFF ^ (1 << bit) for bit in range(32)))


class Devices:
    """All devices of a machine.

    Attributes:
        when_written: What is told what is written, by address.
    """

    def __init__(self) -> None:
        self.when_written: dict[int, Callable[[int], None]] = {}
        self._registers: dict[int, int] = {}
        self._last = -1
        self._repeats = 0

    def save(self) -> tuple[dict[int, int], int, int]:
        return dict(self._registers), self._last, self._repeats

    def restore(self, state: tuple[dict[int, int], int, int]) -> None:
        registers, self._last, self._repeats = state
        self._registers = dict(registers)

    def reader(self, base: int) -> Callable[[object, int, int, object], int]:
        """Return what answers reads of the devices from ``base`` on."""

        def read(machine: object, offset: int, size: int, data: object) -> int:
            return self._read(base + offset) & ((1 << 8 * size) - 1)

        return read

    def writer(self, base: int) -> Callable[[object, int, int, int, object], None]:
        """Return what takes writes to the devices from ``base`` on."""

        def write(machine: object, offset: int, size: int, value: int, data: object) -> None:
            self._registers[base + offset] = value
            if base + offset in self.when_written:
                self.when_written[base + offset](value)

        return write

    def written(self, address: int) -> int:
        """Return what was last written to a register, 0 where nothing was."""
        return self._registers.get(address, 0)

    def _read(self, address: int) -> int:
        self._repeats = self._repeats + 1 if address == self._last else 0
        self._last = address
        if self._repeats < _PATIENCE:
            return self._registers.get(address, 0)
        return _WALK[(self._repeats - _PATIENCE) % len(_WALK)]
