import pytest

from tflm_sim.logs.lines import RawLine
from tflm_sim.logs.prefixes import TextLine, read_line

MESSAGE = "Failed to resize buffer. Requested: 2, available 1, missing: 1"


def read(text: str) -> TextLine:
    return read_line(RawLine(1, 0, text.encode(), True))


@pytest.mark.parametrize(
    ("prefix", "forms", "severity", "tag"),
    [
        ("I (29) boot: ", ("esp-idf",), "I", "boot"),
        ("\x1b[0;31mE (12:34:56.789) main: ", ("esp-idf",), "E", "main"),
        ("[0;32mI (29) boot: ", ("esp-idf",), "I", "boot"),
        ("[17:02:04][E][micro_wake_word:032]: ", ("esphome",), "E", "micro_wake_word:032"),
        ("[16:34:16.844][D][ring_buffer:034][mww]: ", ("esphome",), "D", "ring_buffer:034"),
        ("[16:34:16.881]", ("esphome",), "", ""),
        ("16:34:16]", ("esphome",), "", ""),
        ("[0d00h02m34s] 2023-09-14T12:43:57 <DBG> [TFLITE] ", ("ai-on-the-edge",), "DBG", "TFLITE"),
        ("[00:00:00.123,000] <inf> mod: ", ("zephyr",), "inf", "mod"),
        ("I: ", ("zephyr-minimal",), "I", ""),
        ("12:34:56.789 -> ", ("arduino-ide",), "", ""),
        ("12:34:56.789 > ", ("arduino-ide",), "", ""),
        ("[2026-11-20 12:00:00] ", ("host-clock",), "", ""),
        ("2026-11-20 12:00:00 ", ("host-clock",), "", ""),
        ("0.000123 INFO  ", ("defmt",), "INFO", ""),
        ("ERR: ", ("edge-impulse",), "ERR", ""),
        ("[SER] ", ("edge-impulse",), "", ""),
        ("TFLM - ", ("mlek",), "TFLM", ""),
        ("[TFL_MICRO] ", ("chre",), "", ""),
        ("12:34:56.789 -> [16:34:16.844][D][x:1]: ", ("arduino-ide", "esphome"), "D", "x:1"),
        ("", (), "", ""),
    ],
)
def test_prefixes_come_off_and_say_who_spoke(prefix: str, forms: tuple[str, ...], severity: str, tag: str) -> None:
    assert read(prefix + MESSAGE) == TextLine(1, MESSAGE, True, forms, severity, tag)


def test_colours_come_off_anywhere_and_leading_blanks_stay() -> None:
    assert read("\x1b[1m   0: \x1b[32m..\x1b[0m  ").text == "   0: .."


def test_bytes_that_are_no_text_do_not_stop_the_reading() -> None:
    assert read_line(RawLine(1, 0, b"\xff\xfeok", True)).text == "��ok"
