"""What a board said, in lines: each kind of event, and what counts as a difference."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.checks.device_report import ComparedFigure, ReportComparison
from tflm_sim.cli import build_parser
from tflm_sim.extensions.board import device_text
from tflm_sim.extensions.board.device_text import EventPrinter, comparison_lines, event_lines, expect_model
from tflm_sim.extensions.board.framing import BadFrame
from tflm_sim.extensions.board.link_events import (
    CountedBack,
    DuplicateFrame,
    Gap,
    Hello,
    Text,
    TornReport,
    UnknownFrame,
)
from tflm_sim.extensions.board.monitor import Noise, Repeated
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.diagnosis import Diagnosis, Refusal
from tflm_sim.logs.lines import RawLine
from tflm_sim.logs.log_events import AllocationReport, ArenaUsed, BenchmarkRecord, Damaged, Reset
from tflm_sim.report.log_text import diagnosis_lines
from tflm_sim.samples import sample_path


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ArenaUsed(3, 928, 928, "x"), "line 3: arena in use: 928 bytes (x)"),
        (ArenaUsed(3, 1024, 2047, "x"), "line 3: arena in use: 1,024 to 2,047 bytes (x)"),
        (BenchmarkRecord(4, "result", (("arena_used_bytes", 5), ("model", "m"))), "line 4: m: arena in use: 5 bytes"),
        (Damaged(5, "t", "r"), "line 5 is damaged and dropped: r"),
        (Reset(6, "power"), "line 6: the device restarted: power"),
        (Gap(7, 4, 5, 1), "line 7: frame 4 is missing"),
        (Gap(7, 4, 6, 2), "line 7: 2 frames are missing, from number 4 on"),
        (DuplicateFrame(8, 2), "line 8: frame 2 came twice"),
        (UnknownFrame(9, "r"), "line 9: frame ignored: r"),
        (TornReport(10, 2, "r"), "report 2 is torn and dropped: r"),
        (BadFrame(11, "r", "t"), "line 11 is damaged and dropped: r"),
        (Hello(1, -1, "app", 0, 0), "app: the firmware starts; it reports"),
        (Hello(1, -1, "app", 4096, 8), "app: 4,096 B of arena, 8 buffers"),
        (Noise(512, 40), "byte 512: 40 % of this is no text: the baud rate is wrong, or a wire is loose"),
        (Repeated(9, 3, 2, "report"), "  the same as the report at line 3, 2 times by now"),
        (
            CountedBack(1, 5, 2),
            "line 1: the count of frames goes back from 5 to 2: the device restarted, or an old line came late",
        ),
    ],
)
def test_each_event_is_a_sentence(event: Any, line: str) -> None:
    assert event_lines(event) == [line]


def test_layers_and_what_has_no_sentence_say_nothing() -> None:
    assert event_lines(BenchmarkRecord(4, "layer", ())) == []
    assert event_lines(SimpleNamespace()) == []  # type: ignore[arg-type]


def allocation(total: int | None, head: int | None, tail: int | None, *problems: str) -> AllocationReport:
    return AllocationReport("recording", 2, 5, total, head, tail, (), problems)


def test_a_report_is_its_figures_and_what_is_wrong_with_it() -> None:
    assert event_lines(allocation(3000, None, 0)) == ["lines 2-5: recording report: total 3,000, tail 0"]
    assert event_lines(allocation(None, None, None, "p", "q")) == [
        "lines 2-5: recording report: no figures of the arena",
        "  this log is damaged or incomplete:",
        "  not to be believed: p",
        "  not to be believed: q",
    ]
    report = ArenaReport(
        2, 9, 4, 4096, 0, (("target", "t"),), None, None, 3000, 2000, 1000, (), (),
        SimpleNamespace(touched=1500, gap_size=600, gap_offset=2048), 0, (("stack", 1234),), 0,  # type: ignore[arg-type]
    )  # fmt: skip
    assert event_lines(report) == [
        "lines 2-9: report 4 of the stub: total 3,000, head 2,000, tail 1,000",
        "  target: t",
        "  stack: 1,234",
        "  AllocateTensors() failed with status 0 in 4,096 B",
        "  painted arena: 1,500 bytes written, 600 untouched at 2,048",
    ]


def diagnosis(**facts: Any) -> Diagnosis:
    known = {"what": "w", "phase": "", "op": "", "node": None, "refusals": (), "arena_size": None, "at_least": None}
    return Diagnosis(**{**known, "messages": (), "notes": (), "lines": (4,), **facts})


def test_a_diagnosis_says_what_is_known_of_it() -> None:
    assert diagnosis_lines(diagnosis()) == ["line 4: w"]
    assert diagnosis_lines(diagnosis(lines=(4, 9), phase="op_prepare", op="CONV_2D", notes=("n",))) == [
        "line 4 (2 times): w",
        "  phase     preparing the operators",
        "  operator  CONV_2D",
        "  note      n",
    ]
    assert diagnosis_lines(diagnosis(op="ADD", node=0))[1] == "  operator  ADD, node 0"
    refusals = (Refusal("tail", 100, 60, 40), Refusal("tail", 8, 4, 4))
    lines = diagnosis_lines(diagnosis(refusals=refusals))
    assert len(lines) == 2
    assert lines[1].startswith("  before    ")
    assert diagnosis_lines(diagnosis(refusals=refusals[:1])) == ["line 4: w"]


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({"arena_size": 100, "at_least": 140}, "100 B given, at least 140 B needed; a later allocation can need more"),
        ({"arena_size": 0, "at_least": 40}, "0 B given, at least 40 B needed; a later allocation can need more"),
        (
            {"at_least": 140, "refusals": (Refusal("tail", 100, 60, 40),)},
            "at least 40 B more than now, and no less than 140 B; a later allocation can need more",
        ),
        ({"at_least": 0}, "at least 0 B more than now, and no less than 0 B; a later allocation can need more"),
    ],
)
def test_the_arena_that_is_needed_is_told_where_it_is_known(facts: dict[str, Any], line: str) -> None:
    assert diagnosis_lines(diagnosis(**facts))[-1] == f"  arena     {line}"


def figure(name: str, low: int, simulated: int) -> ComparedFigure:
    return ComparedFigure(name, low, low, simulated)


EXPECTED: Any = SimpleNamespace(
    name="m", configuration=SimpleNamespace(target=SimpleNamespace(name="t")), model=None, identity=None
)


def test_a_comparison_is_a_verdict_with_the_figures_that_differ() -> None:
    same, less = figure("head", 100, 100), figure("tail", 1000, 990)
    about = "(simulation of m on t, a)"
    for comparison, lines in (
        (ReportComparison("a", "", (same, same)), [f"  equal: all 2 figures {about}"]),
        (ReportComparison("a", "no", ()), ["  not compared: no"]),
        (ReportComparison("a", "no", (same,)), ["  not compared: no"]),
        (
            ReportComparison("a", "", (same, less)),
            [f"  different: 1 of 2 figures {about}", "    tail: device 1,000, simulation 990 (-10)"],
        ),
        (
            ReportComparison("a", "no", (less,)),
            [
                f"  not to be believed: no; different: 1 of 1 figures {about}",
                "    tail: device 1,000, simulation 990 (-10)",
            ],
        ),
    ):
        assert comparison_lines(comparison, EXPECTED) == lines


def text(line: bytes) -> Text:
    return Text(RawLine(1, 0, line, ended=True))


def said(*given: Any, **how: Any) -> tuple[EventPrinter, list[str]]:
    """Return a printer that was told events, and the lines that it printed."""
    printer = EventPrinter(io.StringIO(), **how)
    for event in given:
        printer(event)
    return printer, printer.out.getvalue().splitlines()  # type: ignore[attr-defined]


def test_the_log_is_shown_unless_somebody_says_no_and_a_clock_stands_before_each_line() -> None:
    report = ArenaUsed(3, 928, 928, "x")
    assert said(text(b"boot"), report)[1] == ["boot", "tflm-sim| line 3: arena in use: 928 bytes (x)"]
    assert said(text(b"boot"), report, show_log=False)[1] == ["tflm-sim| line 3: arena in use: 928 bytes (x)"]
    assert said(text(b"boot"), clock=lambda: "12:00 ")[1] == ["12:00 boot"]


def test_what_was_said_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    used = ArenaUsed(3, 928, 928, "x")
    assert said()[0].has_result is False
    for given, counts, has_result, code in (
        ((used, used), (2, 0, 0), True, 0),
        ((diagnosis(), diagnosis()), (0, 0, 2), True, 0),
        ((TornReport(1, 2, "r"),), (0, 1, 0), False, 3),
        ((allocation(1, 1, 1, "p"),), (1, 1, 0), True, 3),
        ((BenchmarkRecord(1, "layer", ()),), (0, 0, 0), False, 0),
        ((BenchmarkRecord(1, "result", ()),), (1, 0, 0), True, 0),
    ):
        printer, _ = said(*given)
        assert (printer.reports, printer.torn, printer.failures) == counts
        assert (printer.has_result, printer.exit_code, printer.differences) == (has_result, code, 0)
    monkeypatch.setattr(device_text, "compare_report", lambda *_, **__: ReportComparison("a", "no", ()))
    printer, lines = said(used, used, TornReport(1, 2, "r"), expected=EXPECTED)
    assert (printer.differences, printer.exit_code) == (2, 1)
    assert lines[1] == "tflm-sim|   not compared: no"


def test_why_figures_differ_is_asked_only_of_a_sound_report(monkeypatch: pytest.MonkeyPatch) -> None:
    other = SimpleNamespace(options="--kernels k")
    asked: list[Any] = []

    def explaining(*given: Any, **_: Any) -> Any:
        asked.append(given)
        return [(other, ReportComparison("a", "", (figure("x", 1, 1),) * 3))] if len(asked) == 1 else []

    monkeypatch.setattr(device_text, "explaining", explaining)
    monkeypatch.setattr(
        device_text, "compare_report", lambda *_, **__: ReportComparison("a", "", (figure("tail", 1000, 990),))
    )
    used = ArenaUsed(3, 928, 928, "x")
    assert said(used, expected=EXPECTED)[1][-1] == "tflm-sim|   why: equal with --kernels k: all 3 figures"
    assert said(used, expected=EXPECTED)[1][-1].startswith("tflm-sim|   why: no kernels, interpreter, number of res")
    assert len(asked) == 2
    said(allocation(1, 1, 1, "p"), expected=EXPECTED)
    for figures in ((), (figure("tail", 5, 5),)):
        found = ReportComparison("a", "", figures)
        monkeypatch.setattr(device_text, "compare_report", lambda *_, found=found, **__: found)
        said(used, expected=EXPECTED)
    monkeypatch.setattr(device_text, "compare_report", lambda *_, **__: ReportComparison("a", "no", ()))
    said(used, expected=EXPECTED)
    assert len(asked) == 2


def test_in_json_each_event_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    used = ArenaUsed(3, 928, 928, "x")
    (first, second) = map(json.loads, said(text(b"boot"), used, as_json=True, clock=lambda: "12:00 ")[1])
    assert first == {"schema_version": 1, "event": "Text", "line": 1, "text": "boot", "time": "12:00"}
    assert second == {
        "schema_version": 1, "event": "ArenaUsed", "line": 3, "low": 928, "high": 928, "dialect": "x", "time": "12:00",
    }  # fmt: skip
    assert said(text(b"boot"), as_json=True, show_log=False)[1] == []
    (only,) = map(json.loads, said(used, as_json=True, show_log=False)[1])
    assert "time" not in only
    assert "comparison" not in only
    printer, _ = said(as_json=True)
    printer.say("reconnecting")
    assert json.loads(printer.out.getvalue()) == {"schema_version": 1, "event": "Status", "text": "reconnecting"}  # type: ignore[attr-defined]
    found = ReportComparison("a", "", (figure("x", 1, 1),))
    monkeypatch.setattr(device_text, "compare_report", lambda *_, **__: found)
    (compared,) = map(json.loads, said(used, as_json=True, expected=EXPECTED)[1])
    assert compared["comparison"]["is_equal"] is True


def test_a_model_that_is_expected_is_a_sample_or_a_file(tmp_path: Any) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(sample_path("sine").read_bytes())
    parser = build_parser("board")
    names = (str(path), "sample:sine", "sample:residual")
    lines = (["board", "read", "run.log", "--model", name] for name in names)
    file, sine, residual = (expect_model(parser.parse_args(line)) for line in lines)
    assert file is not None
    assert sine is not None
    assert residual is not None
    assert file.identity == sine.identity != residual.identity
    assert expect_model(parser.parse_args(["board", "read", "run.log"])) is None
