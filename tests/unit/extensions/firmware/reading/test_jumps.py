"""Jumps as the GNU assembler encodes them: one for each bit of a distance, and the smallest one backwards."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.firmware.reading.jumps import JUMPS, Jump, signed

THUMB_BL = (
    "f000f801 f000f802 f000f804 f000f808 f000f810 f000f820 f000f840 f000f880 f000f900 f000fa00 f000fc00 "
    "f001f800 f002f800 f004f800 f008f800 f010f800 f020f800 f040f800 f080f800 f100f800 f200f800 f000f000 "
    "f000d800 f400d000 f7ffffff"
)
"""bl to pc + 2, 4, 8 ... 2^23, - 2^24 and - 2; two half-words each. b.w is the same without bit 14 of the second."""
RISCV_JAL = (
    "002000ef 004000ef 008000ef 010000ef 020000ef 040000ef 080000ef 100000ef 200000ef 400000ef 001000ef "
    "000010ef 000020ef 000040ef 000080ef 000100ef 000200ef 000400ef 000800ef 800000ef fffff0ef"
)
"""jal ra by 2, 4 ... 2^19, - 2^20 and - 2."""
RISCV_SHORT = "a009 a011 a021 a801 a005 a081 a041 a201 a401 a101 b001 bffd"
"""c.j by 2, 4 ... 2^10, - 2^11 and - 2; c.jal is the same without bit 15."""
START = 0x200_0000


def distances(bits: int) -> list[int]:
    """Return the distances above, for those that have so many bits with the sign."""
    return [*(1 << bit for bit in range(1, bits - 1)), -(1 << bits - 1), -2]


def halves(text: str) -> bytes:
    """Return half-words as they are in memory."""
    return b"".join(int(text[at : at + 4], 16).to_bytes(2, "little") for at in range(0, len(text), 4))


@pytest.mark.parametrize(("text", "distance"), [*zip(THUMB_BL.split(), distances(25), strict=True)])
def test_each_bit_of_a_thumb_call_counts(text: str, distance: int) -> None:
    code = halves(text)
    assert [*JUMPS["ARM"](START, code)] == [Jump(START, START + 4 + distance, True)]
    jump = (int.from_bytes(code, "little") & ~(0x4000 << 16)).to_bytes(4, "little")
    assert [*JUMPS["ARM"](START, jump + b"\0")] == [Jump(START, START + 4 + distance, False)]


@pytest.mark.parametrize(("text", "distance"), [*zip(RISCV_JAL.split(), distances(21), strict=True)])
def test_each_bit_of_a_risc_v_call_counts(text: str, distance: int) -> None:
    code = int(text, 16)
    assert Jump(START, START + distance, True) in JUMPS["RISC-V"](START, code.to_bytes(4, "little"))
    for link in (0, 5):  # jal zero goes on; jal t0 is what saves registers for a function
        other = (code & ~0xF80 | link << 7).to_bytes(4, "little")
        assert Jump(START, START + distance, False) in JUMPS["RISC-V"](START, other)


@pytest.mark.parametrize(("text", "distance"), [*zip(RISCV_SHORT.split(), distances(12), strict=True)])
def test_each_bit_of_a_short_risc_v_jump_counts(text: str, distance: int) -> None:
    code = int(text, 16)
    assert [*JUMPS["RISC-V"](START, code.to_bytes(2, "little") + bytes(2))] == [Jump(START, START + distance, False)]
    call = (code & 0x7FFF).to_bytes(2, "little") + bytes(3)
    assert [*JUMPS["RISC-V"](START, call)] == [Jump(START, START + distance, True)]


@pytest.mark.parametrize(
    ("code", "jumps"),
    [
        ("97100000 e7800080", [(4, 0x1000 - 0x800, True)]),  # auipc ra, 1; jalr ra, -2048(ra)
        ("97100080 e780f07f", [(4, 0x1000 + 0x7FF - 1 - (1 << 31), True)]),  # auipc ra, 0x80001; jalr ra, 2047(ra)
        ("17130000 67000300", [(4, 0x1000, False)]),  # auipc t1, 1; jalr zero, 0(t1): a tail call
        ("97120000 e7800200", [(4, 0x1000, True)]),  # auipc t0, 1; jalr ra, 0(t0)
        ("97100000 e7000300", []),  # auipc ra, 1; jalr ra, 0(t1): another register
        ("97100000 93800000", []),  # auipc ra, 1; addi ra, ra, 0
        ("97100000 e78000", []),
    ],
)
def test_a_far_call_of_risc_v_is_a_pair(code: str, jumps: list[tuple[int, int, bool]]) -> None:
    found = [*JUMPS["RISC-V"](START, bytes.fromhex(code))]
    assert found == [Jump(START + at, START + distance, is_call) for at, distance, is_call in jumps]


def test_a_pair_may_be_the_last_of_the_code_and_stand_behind_another_instruction() -> None:
    code = bytes.fromhex("0100 97100000 e780c0ff")  # c.nop first
    assert [*JUMPS["RISC-V"](START, code)] == [Jump(START + 6, START + 2 + 0x1000 - 4, True)]


def test_the_second_half_of_an_instruction_of_risc_v_is_no_jump() -> None:
    code = bytes.fromhex("b7250920 09200100")  # lui a1, 0x20092; c.jal by 2
    assert [*JUMPS["RISC-V"](START, code)] == [Jump(START + 4, START + 6, True)]


@pytest.mark.parametrize(
    ("code", "jumps"),
    [
        ("e800000000", [Jump(START, START + 5, True)]),
        ("e9ffffff7f", [Jump(START, START + 5 + 0x7FFF_FFFF, False)]),
        ("e800000080", [Jump(START, START + 5 - 0x8000_0000, True)]),
        ("90e800000000", [Jump(START + 1, START + 6, True)]),
        ("e8000000", []),
        ("eb00000000", []),  # a short jump
    ],
)
def test_a_near_jump_of_x86(code: str, jumps: list[Jump]) -> None:
    assert [*JUMPS["x86-64"](START, bytes.fromhex(code))] == jumps


def test_numbers_have_the_sign_of_their_uppermost_bit() -> None:
    assert [signed(value, 12) for value in (0, 0x7FF, 0x800, 0xFFF, 0x1000, 0x1800)] == [0, 2047, -2048, -1, 0, -2048]
