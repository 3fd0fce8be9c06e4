"""``tflm-sim report`` and ``size --map``: formats, comparisons, exit codes, colour, progress."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.terminal import ProgressLine, wants_color
from tflm_sim.model.load import load
from tflm_sim.report.picture_document import read_document
from tflm_sim.samples import sample_path


class Terminal(io.StringIO):
    """A file that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("name", "start"),
    [("o.html", b"<!DOCTYPE html>"), ("o.svg", b"<svg "), ("o.json", b"{"), ("o", b"<!DOCTYPE html>")],
)
def test_the_name_decides_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    assert main(["report", "sample:sine", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / name).read_bytes().startswith(start)


def test_a_name_that_says_another_format_is_refused_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "sample:sine", "-o", str(tmp_path / "x.pdf")]) == 2
    assert "x.pdf: the name must end in .html, .htm, .svg, .png, .json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main(["report", "sample:sine", "-o", str(tmp_path / "x.pdf"), "--format", "html"]) == 0


def test_a_saved_picture_is_drawn_as_the_model_would_be(tmp_path: Path) -> None:
    saved, one, other = (str(tmp_path / name) for name in ("saved.json", "one.html", "other.html"))
    assert main(["report", "sample:residual", "-o", saved]) == 0
    assert main(["report", "sample:residual", "-o", one]) == 0
    assert main(["report", saved, "-o", other]) == 0
    assert Path(one).read_text("utf-8") == Path(other).read_text("utf-8")


def test_a_saved_picture_keeps_its_table_of_boards(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, one, other = (str(tmp_path / name) for name in ("saved.json", "one.html", "other.html"))
    for output in (saved, one):
        assert main(["report", "sample:residual", "-o", output, "--boards", "pico,esp32"]) == 0
    assert [row.board for row in read_document(Path(saved).read_text("utf-8")).boards] == ["pico", "esp32"]
    assert main(["report", saved, "-o", other]) == 0
    assert Path(one).read_text("utf-8") == Path(other).read_text("utf-8")
    assert main(["report", saved, "-o", other, "--boards", "pico"]) == 2
    assert "keeps the boards that it was saved with" in capsys.readouterr().err


def test_targets_and_planners_come_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    others = ["--compare-target", "esp32-s3", "--compare-planner", "linear", "--compare-planner", "gpu_greedy_by_size"]
    assert main(["report", "sample:residual", "-o", "-", "--format", "json", *others]) == 0
    pictures = read_document(capsys.readouterr().out).pictures
    assert [picture.size.configuration.target.name for picture in pictures] == [
        "cortex-m4",
        "esp32-s3",
        "cortex-m4",
        "cortex-m4",
    ]
    assert [picture.size.configuration.planner for picture in pictures] == ["greedy", "greedy", "linear", "greedy"]
    assert "gpu_greedy_by_size" in pictures[3].title
    assert pictures[3].size.answer.head_bytes >= max(pictures[3].live_bytes)
    # The target to compare with was named.
    assert "(not named, so assumed: --target, --library, --kernels)" in pictures[0].title
    newer = "with esp_nn 1.3.2 to 1.5.0 it may need more or less"
    assert f"(not named, so assumed: --library, --kernels; {newer})" in pictures[1].title


def test_boards_come_side_by_side_each_with_its_ram(capsys: pytest.CaptureFixture[str]) -> None:
    others = ["--compare-board", "pico", "--compare-board", "esp32-s3"]
    assert main(["report", "sample:residual", "-o", "-", "--format", "json", "--target", "cortex-m4", *others]) == 0
    _, pico, esp = read_document(capsys.readouterr().out).pictures
    assert pico.title.startswith("pico, SRAM 264 KiB: cortex-m0plus, TFLM of ")
    assert esp.size.configuration.target.name == "esp32-s3"
    assert main(["report", "sample:residual", "-o", "-", "--candidates"]) == 2
    assert "--candidates needs --firmware APP.elf, whose file can fit several targets" in capsys.readouterr().err


def test_an_arena_that_is_too_small_is_reported_with_exit_code_4(tmp_path: Path) -> None:
    path = tmp_path / "o.json"
    assert main(["report", "sample:sine", "-o", str(path), "--arena-size", "900"]) == 4
    assert read_document(path.read_text("utf-8")).pictures[0].failure


@pytest.mark.parametrize(
    ("argv", "code", "message"),
    [
        (["sample:sine", "-o", "/nowhere/at/all.html"], 2, "cannot be written"),
        (["sample:sine", "-o", "-", "--format", "png"], 2, "needs a name"),
        (["sample:sine", "-o", "x.html", "--arena-size", "1KiB", "--split-arenas"], 2, "two"),
        (["missing.json", "-o", "x.html"], 3, "cannot be read"),
        (["sample:sine", "-o", "x.html", "--compare-target", "z80"], 2, "z80"),
    ],
)
def test_what_cannot_be_done_is_said(
    capsys: pytest.CaptureFixture[str], argv: list[str], code: int, message: str
) -> None:
    assert main(["report", *argv]) == code
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("form", ["perfetto", "model-explorer"])
def test_other_viewers_get_json(capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main(["report", "sample:sine", "-o", "-", "--format", form]) == 0
    json.loads(capsys.readouterr().out)


def test_the_map_is_plain_unless_colour_is_wanted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert main(["size", "sample:sine", "--map"]) == 0
    plain = capsys.readouterr().out
    assert "\x1b" not in plain
    assert max(map(len, plain.splitlines())) <= 72
    assert main(["size", "sample:sine", "--map", "--color", "always"]) == 0
    assert "\x1b[48;5;" in capsys.readouterr().out


def test_colour_is_for_terminals_that_did_not_refuse_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert wants_color("auto", Terminal())
    assert not wants_color("auto", io.StringIO())
    assert wants_color("always", io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_color("auto", Terminal())


def test_progress_is_shown_after_a_second_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    from tflm_sim.answers.simulation import simulate
    from tflm_sim.targets.presets import preset

    monkeypatch.setattr("tflm_sim.cli.terminal.PROGRESS_DELAY_S", 0.0)
    monkeypatch.setattr("tflm_sim.cli.terminal._INTERVAL_S", 0.0)
    model, file = load(sample_path("residual")), Terminal()
    with ProgressLine("simulating", model, file=file) as progress:
        simulate(model, preset("cortex-m4"), observers=(progress,))
    text = file.getvalue()
    # 16 operators are parsed, initialised and prepared: 48 steps, never said to be done.
    assert text.count("\r") == 48 + 2
    assert "simulating: 99 %" in text
    assert text.endswith(" \r")


def test_progress_says_nothing_soon_or_where_nobody_looks() -> None:
    from tflm_sim.answers.simulation import simulate
    from tflm_sim.targets.presets import preset

    model = load(sample_path("sine"))
    for file in (Terminal(), io.StringIO()):
        with ProgressLine("simulating", model, file=file) as progress:
            simulate(model, preset("cortex-m4"), observers=(progress,))
        assert file.getvalue() == ""
