"""Xtensa's machine code, written out by the tables of its instruction set."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tflm_sim.extensions.firmware.emulation.xtensa import CHIPS, calls, chip_of, is_entry, is_in_rom, window_of_call
from tflm_sim.extensions.firmware.reading.elf import Symbol
from tflm_sim.extensions.firmware.reading.jumps import Jump


@pytest.mark.parametrize(
    ("code", "window"),
    [
        ("050000", 0),  # call0
        ("150000", 1),  # call4
        ("e5ffff", 2),  # call8, whose offset begins in the uppermost bits of the first byte
        ("350000", 3),  # call12
        ("c00000", 0),  # callx0 a0
        ("d00f00", 1),  # callx4 a15
        ("e00800", 2),  # callx8 a8
        ("f00800", 3),  # callx12 a8
        ("e01800", None),
        ("e00801", None),
        ("a00800", None),  # jx a8
        ("860000", None),  # j
    ],
)
def test_a_call_moves_the_window_by_its_number_of_fours(code: str, window: int | None) -> None:
    assert window_of_call(bytes.fromhex(code)) == window


@pytest.mark.parametrize(
    ("code", "is_first"), [("364100", True), ("368101", True), ("364200", False), ("374100", False)]
)
def test_a_function_begins_with_entry_of_the_stack_pointer(code: str, is_first: bool) -> None:
    assert is_entry(bytes.fromhex(code)) is is_first


@pytest.mark.parametrize(
    ("at", "offset", "target"),
    [
        (0x400D_0000, 1, 0x400D_0008),  # 4 (offset + 1) behind the word of the call
        (0x400D_0003, 1, 0x400D_0008),
        (0x400D_0004, 1, 0x400D_000C),
        (0x400D_0004, -1, 0x400D_0004),
        (0x400D_0004, 0x1_FFFF, 0x400D_0004 + 0x8_0000),
        (0x400D_0004, -0x2_0000, 0x400D_0008 - 0x8_0000),
    ],
)
def test_where_a_near_call_goes(at: int, offset: int, target: int) -> None:
    code = ((offset & 0x3_FFFF) << 6 | 0x25).to_bytes(3, "little")
    assert [*calls(at, code)] == [Jump(at, target, True)]
    assert [*calls(at - 1, b"\0" + code)] == [Jump(at, target, True)]
    assert [*calls(at, code[:2])] == []


LITERAL, LOAD, CALL = bytes.fromhex("44332211"), bytes.fromhex("81ffff"), bytes.fromhex("e00800")
"""A word; l32r a8 of the word before; callx8 a8."""


@pytest.mark.parametrize(
    ("code", "where"),
    [
        (LITERAL + LOAD + CALL, 4),
        (LITERAL + LOAD + bytes(6) + CALL, 4),  # six bytes between
        (LITERAL + LOAD + bytes(7) + CALL, None),
        (bytes(4) + LITERAL + LOAD + CALL, 8),
        (LITERAL + LOAD + bytes.fromhex("e00900"), None),  # callx8 a9
        (bytes(4) + bytes.fromhex("910000") + bytes.fromhex("e00900"), None),  # 256 KiB before it
        (bytes.fromhex("91ffff") + bytes.fromhex("e00900"), None),  # before the code
        (LITERAL + bytes(3) + bytes.fromhex("91feff") + bytes.fromhex("e00900"), 7),  # from (7 + 3 & -4) 8 back
    ],
)
def test_a_far_call_goes_to_the_literal_that_was_loaded(code: bytes, where: int | None) -> None:
    start = 0x400D_0000
    far = [] if where is None else [Jump(start + where, 0x1122_3344, True)]
    assert [jump for jump in calls(start, code) if jump.target == 0x1122_3344] == far


def test_what_is_called_far_may_be_the_last_word_of_the_code() -> None:
    code = bytes.fromhex("810000 e00800 00000000") + LITERAL  # the load is of the word at 3 & -4, less 256 KiB
    assert [*calls(0x400D_0000, code)] == []
    assert [*calls(0x400D_0000, LITERAL + bytes(4) + bytes.fromhex("91ffff e00900"))] == [Jump(0x400D_0008, 0, True)]


def elf(*segments: tuple[int, int]) -> Any:
    return SimpleNamespace(segments=[SimpleNamespace(address=at, memory_size=size) for at, size in segments])


@pytest.mark.parametrize(
    ("segments", "is_known"),
    [
        ([(0x3F40_0000, 1)], True),
        ([(0x3FFB_0000, 1), (0x3F7F_FFFF, 1)], True),
        ([(0x3F3F_FFFF, 1)], False),
        ([(0x3F80_0000, 1)], False),
        ([(0x3F40_0000, 0)], False),  # nothing is there
        ([(0x3C00_0020, 1)], False),  # an ESP32-S3
    ],
)
def test_an_esp32_is_known_by_constants_in_its_flash(segments: list[tuple[int, int]], is_known: bool) -> None:
    chip = chip_of(elf(*segments))
    assert (chip is CHIPS[0]) is is_known
    assert (chip is None) is not is_known


@pytest.mark.parametrize(
    ("address", "is_in"), [(0x3FFF_FFFF, False), (0x4000_0000, True), (0x4006_FFFF, True), (0x4007_0000, False)]
)
def test_the_boot_rom_is_448_kib(address: int, is_in: bool) -> None:
    assert is_in_rom(cast("Symbol", SimpleNamespace(value=address))) is is_in


def test_an_esp32_has_its_memory_behind_its_flash_and_4_mib_more_outside() -> None:
    (chip,) = CHIPS
    # memory_layout.c, soc.h @ v5.4: DRAM from 0x3FFAE000 to 0x40000000, 328 KiB; SOC_EXTRAM_DATA 4 MiB from 0x3F800000.
    assert chip.memory.end - chip.memory.start == 328 << 10
    assert chip.external.end - chip.external.start == chip.constants.end - chip.constants.start == 4 << 20
    assert chip.constants.end == chip.external.start
    assert chip.rom_constants[1] + chip.rom_constants[2] == 448 << 10  # the last 64 KiB of the ROM
