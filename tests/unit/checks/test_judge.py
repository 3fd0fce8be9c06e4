"""Verdicts to the byte. Sine needs 1,168 B of a Cortex-M4 (1,156 where the size need be no multiple of 16)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.checks.judge import Room, judge, room_on
from tflm_sim.device.configuration import configure
from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.targets.boards import BOARDS, Bank

SINE, M4 = load("sample:sine"), configure("cortex-m4")
SMALLEST, NEEDED = 1156, 1168
BOARD = replace(BOARDS["nano33ble"], name="b", ram=(Bank("RAM", NEEDED), Bank("TCM", 512)), flash=len(SINE.source))


def verdict(room: Room, before: int | None = None, **changes: Any) -> Any:
    return judge("sine.tflite", SINE, M4, room, before, **changes)


@pytest.mark.parametrize(
    ("limit", "fits", "reason"),
    [
        (NEEDED, True, ""),
        (NEEDED + 1, True, ""),
        (SMALLEST, True, ""),
        (SMALLEST - 1, False, "needs 1,168 B, 13 B more than 1,155 B"),
        (1024, False, "needs 1,168 B, 144 B more than 1,024 B"),
    ],
)
def test_a_limit_counts_to_the_byte(limit: int, fits: bool, reason: str) -> None:
    found = verdict(Room(limit, None), 5)
    assert (found.fits, found.reason, found.limit, found.needed) == (fits, reason, limit, NEEDED)
    assert (found.smallest, found.before, found.name) == (SMALLEST, 5, "sine.tflite")
    assert bool(found.log) is not fits


def answer(size: int | None, multiple: int | None, **facts: Any) -> Any:
    smallest = None if size is None else SimpleNamespace(size=size, multiple_of_16=multiple)
    known = {"smallest": smallest, "invoke_problem": None, "fits": False, "log": ("l",), "failure": "f"}
    return SimpleNamespace(model=SINE, configuration=M4, **{**known, **facts})


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        (100, "needs 96 B; 100 B are not a multiple of 16 and do not work"),
        (96, "needs 96 B; 96 B end where the device halts"),
        (112, "needs 96 B; 112 B end where the device halts"),
    ],
)
def test_a_size_that_is_enough_and_does_not_work_all_the_same_is_told_why(limit: int, reason: str) -> None:
    found = verdict(Room(limit, None), simulate=lambda *_: answer(96, 96))
    assert (found.fits, found.reason, found.log) == (False, reason, ("l",))


def test_what_fails_in_any_arena_or_never_invokes_fits_nowhere() -> None:
    found = verdict(Room(64, None), simulate=lambda *_: answer(None, None))
    assert (found.fits, found.needed, found.limit) == (False, None, 64)
    assert found.reason == "AllocateTensors() fails in an arena of any size: f"
    problem = SimpleNamespace(log=("p",))
    found = verdict(Room(64, None), simulate=lambda *_: answer(16, 16, invoke_problem=problem, fits=True))
    assert (found.fits, found.needed, found.log, found.smallest) == (False, 16, ("p",), None)


def test_on_a_board_the_largest_bank_is_the_limit_and_what_it_holds_only_the_firmware_knows() -> None:
    found = verdict(Room(None, BOARD))
    assert (found.fits, found.limit, found.board) == (None, NEEDED, BOARD)
    assert found.reason == (
        "needs 1,168 B; b has RAM 1 KiB + TCM 0 KiB; how much of it is free only your firmware knows: say it with "
        "`ram_free=`"
    )
    found = verdict(Room(None, replace(BOARD, ram=(Bank("RAM", NEEDED - 1),))))
    assert (found.fits, found.limit) == (False, NEEDED - 1)
    assert found.reason.startswith("needs 1,168 B, and the largest bank (RAM) has 1,167 B; for external RAM say with")
    found = verdict(Room(None, replace(BOARD, ram=())))
    assert (found.fits, found.limit) == (None, None)


def test_a_file_that_is_larger_than_the_flash_does_not_fit() -> None:
    small = replace(BOARD, flash=len(SINE.source) - 1)
    too_large = f"the file alone has {len(SINE.source):,} B, the flash of b {len(SINE.source) - 1:,} B"
    assert (verdict(Room(4096, small)).fits, verdict(Room(4096, small)).reason) == (False, too_large)
    assert verdict(Room(4096, BOARD)).fits
    assert verdict(Room(4096, replace(BOARD, flash=None))).fits
    both = verdict(Room(1024, small))
    assert both.reason == f"{too_large}; needs 1,168 B, 144 B more than 1,024 B"


def room(**given: Any) -> Room:
    return room_on(**{"board_name": None, "limit": None, "ram_free": None, "has_external_ram": False, **given})


def test_a_room_is_a_limit_or_a_board_with_what_is_free_of_it() -> None:
    nano = BOARDS["nano33ble"]
    assert room() == Room(None, None)
    assert room(limit="64KiB") == Room(65_536, None)
    assert room(board_name="nano33ble") == Room(None, nano)
    assert room(board_name="nano33ble", ram_free="256KiB") == Room(262_144, nano)
    assert room(board_name="Arduino Nano 33 BLE", limit="60*1024") == Room(61_440, nano)
    assert room(board_name="nano33ble", limit="1M", has_external_ram=True) == Room(1024 * 1024, nano)
    assert room(board_name="nano33ble", ram_free="257KiB", has_external_ram=True) == Room(257 * 1024, nano)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"has_external_ram": True}, "`external_ram=` needs `ram_free=`"),
        ({"has_external_ram": True, "board_name": "nano33ble"}, "`external_ram=` needs `ram_free=`"),
        ({"ram_free": "1KiB"}, "`ram_free=` needs `board=`"),
        (
            {"ram_free": "1KiB", "limit": "1KiB", "board_name": "pico"},
            "`limit=` is the arena's size, `ram_free=` what ",
        ),
        ({"limit": "1M", "board_name": "nano33ble"}, "`limit=1M` is more than nano33ble has: RAM 256 KiB"),
        ({"limit": "64"}, "`limit=64`: no TFLM works in so few bytes; did you mean `limit=64KiB`"),
        (
            {"ram_free": "262145", "board_name": "nano33ble"},
            "`ram_free=262145` is more than nano33ble has: RAM 256 KiB",
        ),
        ({"beside": "ble"}, "`beside=` needs `board=`"),
        ({"beside": "ble", "board_name": "pico", "ram_free": "64KiB"}, "and so does `ram_free=`: give one of them"),
    ],
)
def test_what_does_not_go_together_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        room(**given)


def test_free_ram_of_a_board_whose_banks_are_not_known_is_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    blank = replace(BOARDS["nano33ble"], name="blank", ram=())
    monkeypatch.setitem(BOARDS, "blank", blank)
    assert room(board_name="blank", ram_free="1MiB") == Room(1024 * 1024, blank)
