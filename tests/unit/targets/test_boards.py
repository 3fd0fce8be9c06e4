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
