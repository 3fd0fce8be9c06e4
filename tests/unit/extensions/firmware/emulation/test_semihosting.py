"""Where a program asks the debugger: one instruction of Arm's, the second of three of RISC-V's."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.firmware.emulation.semihosting import calls

NOP = b"\0\xbf"
BKPT = b"\xab\xbe"
RISCV = bytes.fromhex("1310f001 73001000 13507040")  # slli x0, x0, 0x1f; ebreak; srai x0, x0, 7


@pytest.mark.parametrize(
    ("address", "code", "is_arm", "found"),
    [
        (0x8000, NOP + BKPT + BKPT, True, [0x8002, 0x8004]),
        (0x8000, RISCV + RISCV, False, [0x8004, 0x8000 + 12 + 4]),
        (0x8000, b"\0" + BKPT + b"\0", True, []),  # bytes of two instructions
        (0x8000, RISCV, True, []),
    ],
)
def test_the_instructions_that_ask_are_found(address: int, code: bytes, is_arm: bool, found: list[int]) -> None:
    assert list(calls(address, code, is_arm=is_arm)) == found
