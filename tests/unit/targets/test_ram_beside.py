"""What a board's software leaves of its RAM: figures with a source, and which of them is taken."""

from __future__ import annotations

import re

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.boards import BOARDS
from tflm_sim.targets.ram_beside import beside_of, figures_of, ram_beside

ALL = [(board, figure) for board in BOARDS.values() for figure in figures_of(board)]


def test_every_figure_has_a_source_and_leaves_less_than_the_board_has() -> None:
    assert len(ALL) > 20
    for board, figure in ALL:
        assert board.largest_bank is not None
        assert 0 < figure.left < figure.ram <= board.largest_bank.size
        assert all(re.match(r"[\w-]+/[\w.-]+(#\d+|: | @ )", part.source) for part in figure.parts), figure
        if not figure.is_left:
            assert figure.left + sum(part.bytes for part in figure.parts) == figure.ram


def test_more_beside_the_arena_leaves_no_more() -> None:
    by_key = {(board.name, figure.software, figure.beside): figure.left for board, figure in ALL}
    for (board, software, beside), left in by_key.items():
        for less in ("core", "ble", "wifi") if beside == "ble+wifi" else ("core",):
            assert left <= by_key.get((board, software, less), left)


def test_bluetooth_on_a_nano_33_ble_takes_what_its_core_its_library_and_the_heap_take() -> None:
    found = ram_beside(BOARDS["nano33ble"], "ble", "chirale-2.0.0")
    assert found is not None
    assert (found.name, found.left) == ("Arduino's Mbed core with Bluetooth LE", 169_488)
    assert [part.bytes for part in found.parts] == [44_552, 27_952, 16_056, 4_096]


def test_the_library_says_which_software_it_is_and_else_the_least_counts() -> None:
    nano = BOARDS["nano33ble"]
    assert [ram_beside(nano, "core", library).software for library in ("zephyr@v4.4.0", "", "edge-impulse@1")] == [
        "Zephyr",
        "Arduino's Mbed core",
        "Arduino's Mbed core",
    ]
    assert ram_beside(BOARDS["esp32"], "wifi", "chirale-2.0.0").left == 144_500  # No Mbed there: what is known counts.
    assert ram_beside(BOARDS["portenta-h7"], "ble") is None


@pytest.mark.parametrize(
    ("board", "left"),
    [
        ("esp32-s3", (392_000, 267_000, 273_000, 189_000)),
        ("esp32-c3", (332_000, 205_000, 219_000, 126_000)),
        ("esp32-c6", (474_000, 358_000, 321_000, 259_000)),
    ],
)
def test_a_newer_esp32_has_left_what_espressif_s_examples_have(board: str, left: tuple[int, ...]) -> None:
    found = [ram_beside(BOARDS[board], beside) for beside in ("core", "ble", "wifi", "ble+wifi")]
    assert tuple(each.left for each in found if each is not None) == left


def test_what_is_beside_has_one_spelling() -> None:
    assert [beside_of(text) for text in ("core", "BLE", "wifi,ble", "ble + wifi", "core,ble")] == [
        "core",
        "ble",
        "ble+wifi",
        "ble+wifi",
        "ble",
    ]
    with pytest.raises(UsageError, match="`beside=zigbee` is none of core, ble, wifi, ble\\+wifi"):
        beside_of("zigbee")
