"""The arguments of an emulated printf, as the 32-bit calling convention lays them out."""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.printf import Arguments


class Memory:
    """Whose words are their own addresses."""

    def read(self, address: int, count: int) -> bytes:
        """Return the word at an address."""
        return address.to_bytes(count, "little")


@pytest.mark.parametrize(("pointer", "low"), [(12, 16), (16, 16), (20, 24)])
def test_a_double_word_behind_a_va_list_begins_at_a_multiple_of_eight(pointer: int, low: int) -> None:
    memory: Any = Memory()
    assert Arguments(memory, 0, pointer).double_word() == low | low + 4 << 32
