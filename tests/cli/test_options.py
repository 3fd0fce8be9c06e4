"""Options that several verbs share: times, help, pairs, and what goes with ``--executed``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tflm_sim import numbers
from tflm_sim.cli import main, options
from tflm_sim.device.configuration import configure
from tflm_sim.errors import EXIT_CODES, UsageError
from tflm_sim.samples import sample_path

BANKS = ("--bank", "a=8KiB", "--bank", "b=1MiB")
Capsys: TypeAlias = "pytest.CaptureFixture[str]"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("60", 60), ("60s", 60), ("1.5 s", 1.5), ("500ms", 0.5), ("2m", 120), ("0.5min", 30), (" 7 ", 7)],
)
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert options.typed(numbers.seconds)(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1", "1h", "1 2"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a time; write 60s, 500ms or 2m"):
        options.typed(numbers.seconds)(text)


def verb(**how: Any) -> argparse.ArgumentParser:
    subparsers: Any = argparse.ArgumentParser().add_subparsers()
    how = {"summary": "tell it", **how}
    return options.add_verb(subparsers, "v", "\ntflm-sim v a\n  tflm-sim v b\n", about="When.\n", **how)


def test_help_says_when_and_how_and_which_exit_codes_there_are() -> None:
    parser = verb(exits={1: "no", 3: "nobody knows"})
    assert parser.description == "Tell it.\n\nWhen.\n\nexamples:\n  tflm-sim v a\n  tflm-sim v b"
    assert (parser.epilog or "").split("\n") == [
        "exit codes:",
        f"  0    {EXIT_CODES[0]}",
        "  1    no",
        f"  2    {EXIT_CODES[2]}",
        "  3    nobody knows",
        f"  70   {EXIT_CODES[70]}",
        f"  130  {EXIT_CODES[130]}",
    ]
    codes = [line.split()[0] for line in (verb().epilog or "").split("exit codes:\n")[1].splitlines()]
    assert codes == ["0", "2", "3", "70", "130"]


def given(**how: Any) -> argparse.Namespace:
    known = {"executed": False, "into": 0, "firmware": None, "board": None, "planner": None, "target": None}
    return argparse.Namespace(parser=argparse.ArgumentParser(), **{**known, **how})


def test_executed_and_into_need_a_program() -> None:
    assert options.is_executed(given()) is False
    assert options.is_executed(given(executed=True, firmware="f")) is True
    assert options.is_executed(given(executed=True, firmware="f", into=2), "board") is True
    assert options.is_executed(given(into=1, firmware="f")) is False
    for how in (
        {"into": 1},
        {"into": -1},
        {"into": -1, "executed": True, "firmware": "f"},
        {"into": -1, "firmware": "f"},
    ):
        with pytest.raises(UsageError, match=r"--into N needs --firmware APP\.elf, and N starts at 1"):
            options.is_executed(given(**how))
    with pytest.raises(UsageError, match=r"--executed needs --firmware APP\.elf"):
        options.is_executed(given(executed=True))
    with pytest.raises(UsageError, match="--executed does not go with --ram-free; remove one of them"):
        options.is_executed(given(executed=True, firmware="f", ram_free="1"), "board", "ram_free")


def test_of_several_targets_the_first_is_assumed_and_it_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    one, *others = (configure(name) for name in ("cortex-m4", "esp32", "esp32-s3"))
    assert options._likeliest((one,)) is one
    assert capsys.readouterr().err == ""
    assert options._likeliest((one, *others)) is one
    assert "is assumed; the file fits 3 targets" in capsys.readouterr().err.replace("\n    ", " ")


@pytest.mark.parametrize(("how", "target", "kernels"), [
    ({}, "cortex-m4", "cmsis_nn"),
    ({"board": "esp32"}, "esp32", "esp_nn"),
    ({"board": "Arduino Nano 33 BLE", "library": "ArduTFLite.h"}, "nano33ble-chirale", "cmsis_nn"),
    ({"library": "tflm_esp32"}, "esp32", "reference"),
    ({"target": "cortex-m7", "board": "portenta-h7", "kernels": "reference"}, "cortex-m7", "reference"),
])  # fmt: skip
def test_what_is_named_says_what_is_sized_for(how: dict[str, str], target: str, kernels: str) -> None:
    found = options.configuration(given(**how)).target
    assert (found.name, found.kernel_library.name) == (target, kernels)


def test_a_pair_is_what_is_given_twice_and_what_is_given_once_holds_for_both() -> None:
    args = argparse.Namespace(**dict.fromkeys(options.PAIRED), other="o")
    args.target, args.kernels = ["a", "b"], ["k"]
    before, after = options.pair(args)
    assert (before.target, after.target) == ("a", "b")
    assert before.kernels == after.kernels == "k"
    assert (before.library, after.other) == (None, "o")
    args.arena_address = [1, 2, 3]
    with pytest.raises(UsageError, match=r"^--arena-address is given 3 times; give it at most twice"):
        options.pair(args)


def test_an_arena_has_a_size_where_it_is_given() -> None:
    assert options.arena_size(given(arena_size=None)) is None
    assert options.arena_size(given(arena_size="1KiB")) == 1024


@pytest.mark.parametrize(("name", "is_taken"), [("a.svg", True), ("a", True), ("a.PNG", False), ("a.pdf", False)])
def test_a_picture_is_an_svg(name: str, is_taken: bool) -> None:
    if is_taken:
        assert options.svg_file(name) == name
    else:
        with pytest.raises(argparse.ArgumentTypeError, match=r"the picture is an SVG; name it \.svg"):
            options.svg_file(name)


def test_custom_operators_are_those_that_a_file_defines(tmp_path: Any) -> None:
    path = tmp_path / "ops.py"
    path.write_text("from tflm_sim import OpModel\nA = OpModel('A')\nB = OpModel('B')\n")
    assert [row.op for row in options.load_custom_ops(str(path))] == ["A", "B"]
    for text, words in (
        ("x = 1", "defines no OpModel"),
        ("1 / 0", "fails: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "fails: SystemExit: 0"),
    ):
        path.write_text(text)
        with pytest.raises(UsageError, match=words):
            options.load_custom_ops(str(path))


def test_an_error_in_a_kernel_of_the_user_s_own_is_called_that(
    tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ops.py"
    path.write_text(
        "from tflm_sim import OpModel, Persistent\n"
        "def prepare(node):\n"
        "    yield Persistent(1 // 0)\n"
        "MINE = OpModel('FULLY_CONNECTED', prepare=prepare)\n"
    )
    assert main(["size", "sample:sine", "--custom-ops", str(path)]) == 2
    assert capsys.readouterr().err == (
        f"tflm-sim size: {path}, line 3: ZeroDivisionError: integer division or modulo by zero\n"
    )


def test_what_few_people_need_is_listed_by_help_all(capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for words in (["size", "--help"], ["size", "--help", "all"]):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0
        shown.append(capsys.readouterr().out)
    short, whole = shown
    assert "--arena-address" in whole
    assert "--arena-address" not in short
    assert short.startswith("usage: tflm-sim size [options] [MODEL ...]\n\n")
    assert short.splitlines()[-1] == "11 more options say what the firmware is: tflm-sim size --help all"
    assert short.index("tflm-sim size model.tflite") < short.index("--target T  ") < short.index("exit codes:")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "m.tflite", "--write", "m.tflite"), "m.tflite: --write would overwrite what the command reads"),
        (("plan", "m.tflite", "--write", "./same.tflite"), "./same.tflite: --write would overwrite what the command"),
        (("plan", "m.tflite", "--write", "x", "--picture", "x.svg"), ""),
        (
            ("plan", "m.tflite", *BANKS, "--write", "x.h", "-o", "./x.h"),
            "x.h is what both --output and --write would write",
        ),
        (("plan", "m.tflite", *BANKS, "-o", "m.tflite"), "m.tflite: --output would overwrite what the command reads"),
        (
            ("shrink", "m.tflite", "-o", "m.tflite"),
            "m.tflite: --output would overwrite what the command reads; add --in-place to overwrite it",
        ),
        (("report", "m.tflite", "-o", "/dev/null", "--format", "text"), ""),
    ],
)
def test_no_file_is_written_twice_or_over_what_is_read(
    arguments: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    data = sample_path("streaming").read_bytes()
    Path("m.tflite").write_bytes(data)
    Path("same.tflite").symlink_to("m.tflite")
    code = main(arguments)
    assert (says in capsys.readouterr().err, code) == (True, 2 if says else code)
    assert code < 3
    assert Path("m.tflite").read_bytes() == data
