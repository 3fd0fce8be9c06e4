"""What was meant by a name that is not known."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.names import command_line, likely, meant, unknown
from tflm_sim.targets.boards import board, described_boards
from tflm_sim.targets.libraries import described_libraries
from tflm_sim.targets.presets import PRESETS, preset


@pytest.mark.parametrize(("typed", "known", "names"), [
    ("cortexm4", PRESETS, ["cortex-m4"]),
    ("crotex-m4", PRESETS, ["cortex-m4"]),
    ("siez", ("check", "size", "sweep"), ["size"]),
    ("stm32f4", described_boards(), ["stm32f4-discovery"]),
    ("stf32f4", described_boards(), ["stm32f4-discovery"]),
    ("nano 33", described_boards(), ["nano33ble"]),
    ("arduino", described_boards(), ["nano33ble", "nicla-sense-me", "portenta-h7"]),
    ("elocuent", described_libraries(), ["EloquentTinyML"]),
    ("conv2d", tuple(BUILTIN_OPERATORS), ["CONV_2D"]),
    ("cmsis", ("reference", "cmsis_nn"), ["cmsis_nn"]),
    ("", ("a", "b"), []),
    ("zzz", ("board1", "board2"), []),
])  # fmt: skip
def test_names_are_likely_that_are_spelt_otherwise_hold_the_word_or_are_alike(
    typed: str, known: dict[str, str] | tuple[str, ...], names: list[str]
) -> None:
    assert likely(typed, list(known) if known is PRESETS else known)[: len(names)] == names
    assert bool(meant(typed, tuple(known))) or not names or isinstance(known, dict)


def test_three_names_that_are_near_are_likely() -> None:
    known = ["board1", "board2", "board3", "board4"]
    assert str(unknown("board", "board", known)) == "unknown board 'board'; did you mean board1 or board2 or board3?"
    assert str(unknown("board", "zzz", known)) == f"unknown board 'zzz'; use one of: {', '.join(known)}"


@pytest.mark.parametrize(("target", "says"), [
    ("stm32f4", "did you mean `board=stm32f4-discovery` or `board=nucleo-f446re`?"),
    ("arduino", "did you mean `board=nano33ble` or `board=nicla-sense-me` or `board=portenta-h7`?"),
    ("eloquent", "did you mean `library=EloquentTinyML`"),
])  # fmt: skip
def test_a_target_that_is_like_a_board_or_a_library_is_one(target: str, says: str) -> None:
    with pytest.raises(UsageError) as refused:
        preset(target)
    assert says in str(refused.value)


@pytest.mark.parametrize(("printed", "name"), [
    ("Arduino Nano 33 BLE", "nano33ble"),
    ("arduino:mbed_nano:nano33ble", "nano33ble"),
    ("arduino_nano_33_ble_sense", "nano33ble"),
    ("XIAO ESP32S3 Sense", "xiao-esp32s3"),
    ("seeed_xiao_esp32s3", "xiao-esp32s3"),
    ("esp32:esp32:esp32s3:PSRAM=opi,FlashSize=8M", "esp32-s3"),
    ("esp32s3_devkitc/esp32s3/procpu", "esp32-s3"),
    ("esp32dev", "esp32"),
    ("STMicroelectronics:stm32:Nucleo_64:upload_method=swd,pnum=NUCLEO_F446RE", "nucleo-f446re"),
    ("nrf5340dk/nrf5340/cpuapp", "nrf5340dk"),
    ("Raspberry Pi Pico 2W", "pico2"),
    ("PICO", "pico"),
    ("Arduino Nano 33 BLE Sense Rev2", "nano33ble"),
    ("Nano 33 BLE", "nano33ble"),
    ("nRF52840-DK", "nrf52840dk"),
])  # fmt: skip
def test_a_board_is_known_by_what_is_printed_on_screens(printed: str, name: str) -> None:
    assert board(printed).name == name


def test_a_board_that_is_not_known_is_answered_with_one_whose_printed_name_is_like_it() -> None:
    with pytest.raises(UsageError, match=r"^unknown board 'Arduino Nano 33 BLE Rev9'; did you mean nano33ble\?$"):
        board("Arduino Nano 33 BLE Rev9")


def test_a_command_is_typed_as_the_shell_of_the_system_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    words = (r"C:\Program Files\python.exe", "-m", "pip", "install", "matplotlib>=3.8", "numpy")
    assert command_line("a b", "it's", "c") == "'a b' 'it'\"'\"'s' c"
    monkeypatch.setattr("tflm_sim.names.os", SimpleNamespace(name="nt"))
    assert command_line(*words) == r'"C:\Program Files\python.exe" -m pip install "matplotlib>=3.8" numpy'
