import string
from pathlib import Path

from tflm_sim.extensions.board.framing import encode_frame
from tflm_sim.extensions.board.link_events import Text, TornReport
from tflm_sim.extensions.board.monitor import Monitor, MonitorEvent, Noise, Repeated
from tflm_sim.logs.log_events import AllocationReport, BenchmarkRecord, Message

LOGS = Path(__file__).parents[2] / "logs" / "recorded"
RECORDING = (LOGS / "stm32h7_recording_two_tasks.log").read_bytes()


def read(data: bytes) -> list[MonitorEvent]:
    monitor = Monitor()
    return [*monitor.feed(data), *monitor.close()]


def test_the_log_is_shown_line_by_line_and_what_it_says_follows() -> None:
    events = read((LOGS / "esphome_micro_wake_word.log").read_bytes())
    shown = [event.raw.number for event in events if isinstance(event, Text)]
    assert shown == [1, 2, 3, 4, 5, 6]
    kinds = [event.kind for event in events if isinstance(event, Message)]
    assert kinds == ["head", "starting_failed", "allocate_failed"]


def test_a_report_that_comes_again_is_said_with_its_first_place() -> None:
    events = read(RECORDING * 3)
    assert [event for event in events if isinstance(event, Repeated)] == [Repeated(14, 2, 2), Repeated(26, 2, 3)]


def test_a_report_with_other_figures_is_no_repetition() -> None:
    events = read(RECORDING + RECORDING.replace(b"5884", b"5880"))
    assert not [event for event in events if isinstance(event, Repeated)]
    assert len([event for event in events if isinstance(event, AllocationReport)]) == 2


def test_silence_finishes_the_open_report() -> None:
    monitor = Monitor()
    assert not [event for event in monitor.feed(RECORDING) if isinstance(event, AllocationReport)]
    assert [type(event) for event in monitor.idle()] == [AllocationReport]


def test_the_wrong_baud_rate_is_said_once() -> None:
    events = read(b"x" * 256 + bytes([0x80, 0xFF, 0x00, 0x41] * 512) + b"hello\n" * 100)
    assert [event for event in events if isinstance(event, Noise)] == [Noise(256, 75)]


def test_text_in_other_alphabets_is_not_noise() -> None:
    assert not [event for event in read("Größe ist 5 äöü €\n".encode() * 100) if isinstance(event, Noise)]


def test_the_lost_connection_tears_the_open_frame_report() -> None:
    monitor = Monitor()
    monitor.feed(encode_frame(0, "begin", {"v": 1, "r": 4, "arena": 1, "skew": 0}))
    assert monitor.close("the connection was lost") == [TornReport(0, 4, "the connection was lost")]


def test_records_of_other_tools_come_through() -> None:
    events = read((LOGS / "esp32_mcufit_idf.log").read_bytes())
    assert len([event for event in events if isinstance(event, BenchmarkRecord)]) == 5


def noise(data: bytes) -> list[Noise]:
    return [event for event in Monitor().feed(data) if isinstance(event, Noise)]


def test_plain_are_printable_bytes_ends_of_lines_colours_and_the_first_bytes_of_other_letters() -> None:
    plain = {byte for byte in range(256) if not noise(bytes([byte]) * 256)}
    letters = {letter.encode()[0] for letter in map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x110000, 64)))}
    assert plain == {*map(ord, string.printable)} - {0x0B, 0x0C} | {0x1B} | letters


def test_of_64_reports_it_is_known_that_they_came() -> None:
    def report(size: int) -> bytes:
        return b"[RecordingMicroAllocator] Arena allocation total %d bytes\n" % size

    def repeated(count: int) -> list[Repeated]:
        events = read(b"".join(map(report, [*range(count), 0])))
        return [event for event in events if isinstance(event, Repeated)]

    assert repeated(64) == [Repeated(65, 1, 2, "report")]
    assert repeated(65) == []
