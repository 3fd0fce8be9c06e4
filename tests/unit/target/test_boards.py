import pytest

from tflm_sim.errors import UsageError
from tflm_sim.target.boards import BOARDS, Bank, board
from tflm_sim.target.presets import PRESETS


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


def test_a_board_without_known_banks_has_no_largest_one() -> None:
    assert board("grove-vision-ai-v2").largest_bank is None


def test_a_near_miss_is_answered_with_the_likely_names() -> None:
    with pytest.raises(UsageError, match=r"unknown board 'nano33'; did you mean nano33ble"):
        board("nano33")
