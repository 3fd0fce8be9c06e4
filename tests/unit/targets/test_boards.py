import re

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.boards import BOARDS, Bank, Board, board
from tflm_sim.targets.presets import PRESETS


@pytest.mark.parametrize("name", BOARDS)
def test_every_board_names_a_preset_and_a_source(name: str) -> None:
    row = board(name)
    assert row.name == name
    assert row.preset in PRESETS
    assert row.source
    assert all(bank.size > 0 for bank in row.ram)


def test_an_arena_lies_in_one_bank() -> None:
    assert board("stm32f4-discovery").largest_bank == Bank("SRAM", 128 * 1024)
    assert sum(bank.size for bank in board("stm32f4-discovery").ram) == 192 * 1024


@pytest.mark.parametrize(
    ("name", "ram_kib", "flash_kib"),
    [
        # What the chips' data sheets say on their first page.
        ("pico", 264, 2048),  # RP2040, W25Q16
        ("pico2", 520, 4096),  # RP2350, W25Q32
        ("nano33ble", 256, 1024),  # nRF52840
        ("microbit-v2", 128, 512),  # nRF52833
        ("nrf5340dk", 512, 1024),
        ("stm32f4-discovery", 128 + 64, 1024),  # STM32F407VG: SRAM, CCM
        ("nucleo-f446re", 128, 512),
        ("nucleo-h743zi", 512 + 128 + 128 + 32 + 64 + 128, 2048),  # AXI, SRAM1 to 4, DTCM; 64 of ITCM hold no data
        ("portenta-h7", 512 + 128 + 128 + 32 + 64 + 128, 2048),
        ("teensy40", 1024, 1984),  # i.MX RT1062; 2 MiB of flash less the 64 KiB of its EEPROM
    ],
)
def test_ram_and_flash_are_those_of_the_chip(name: str, ram_kib: int, flash_kib: int) -> None:
    row = board(name)
    assert row.flash is not None
    assert (sum(bank.size for bank in row.ram) // 1024, row.flash // 1024) == (ram_kib, flash_kib)


def test_every_figure_names_the_file_it_is_from() -> None:
    assert all(re.match(r"[\w.-]+/[\w.-]+: \w", row.source) for row in BOARDS.values())
    assert all(row.ram for row in BOARDS.values())


def test_what_an_esp32_can_use_for_data() -> None:
    # SOC_DRAM_LOW to SOC_DRAM_HIGH of esp-idf's soc.h.
    assert board("esp32").largest_bank == Bank("DRAM", 0x4000_0000 - 0x3FFA_E000)
    assert board("esp32-s3").largest_bank == Bank("DRAM", 0x3FD0_0000 - 0x3FC8_8000)
    assert board("esp32-c3").largest_bank == Bank("DRAM", 0x3FCE_0000 - 0x3FC8_0000)
    assert board("esp32-c6").largest_bank == Bank("HP SRAM", 0x4088_0000 - 0x4080_0000)
    assert board("esp32-p4").largest_bank == Bank("HP L2MEM", 0x4FFC_0000 - 0x4FF0_0000)


def test_a_board_without_known_banks_has_no_largest_one() -> None:
    assert Board("new", "", "cortex-m4", (), None, "").largest_bank is None


def test_a_near_miss_is_answered_with_the_likely_names() -> None:
    with pytest.raises(UsageError, match=r"unknown board 'nano33'; did you mean nano33ble"):
        board("nano33")


def test_banks_in_words() -> None:
    assert board("stm32f4-discovery").ram_text == "SRAM 128 KiB + CCM 64 KiB"
    assert Board("mine", "", "cortex-m4", (), None, "").ram_text == "RAM that is not known"
    assert board("esp32").flash is None
