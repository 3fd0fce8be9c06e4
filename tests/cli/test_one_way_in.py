"""What is sized for is named by the same words to every verb, the project file, pytest, the page and Python."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tflm_sim import lifetimes, simulate, smallest_arena, sweep
from tflm_sim.cli import main

pytest_plugins = ("pytester",)
SINE = "sample:sine"
LOG = "'Failed to resize buffer. Requested: 33488, available 20472, missing: 13016'"
VERBS = {
    "size": (f"size {SINE}", "smallest arena  1,144 B"),
    "size --json": (f"size {SINE} --json", '"smallest_arena_bytes": 1144'),
    "check": (f"check {SINE} --ram-free 1152", "yes: needs 1,152 B of 1,152 B"),
    "check --limit": (f"check {SINE} --limit 9*128", "yes: needs 1,152 B of 1,152 B"),
    "trace": (f"trace {SINE}", "arena_size=1152"),
    "trace --lifetimes": (f"trace {SINE} --lifetimes", "for nano33ble-chirale: TFLM of 2023-01-13"),
    "plan": (f"plan {SINE}", "for nano33ble-chirale: TFLM of 2023-01-13"),
    "diff": (f"diff {SINE} {SINE}", " 1,144  1,144       0  smallest arena"),
    "report": (f"report {SINE} -o out.svg", "smallest arena 1,144 B"),
    "explain": (f"explain {LOG} --model {SINE}", "for nano33ble-chirale: TFLM of 2023-01-13"),
    "shrink": (f"shrink {SINE}", "1,144 -> 1,144"),
    "lite": (f"lite {SINE}", "TFLM on nano33ble-chirale needs 1,144 B"),
    "list ops": ("list ops ADD", "cmsis_nn/add.cc"),
    "bug-report": (f"bug-report {SINE}", '"nano33ble-chirale"'),
}
"""A command, and what it says of the sample with ArduTFLite on a Nano 33 BLE."""
WAYS = (
    "--board 'Arduino Nano 33 BLE' --library ArduTFLite.h",
    "--board arduino:mbed_nano:nano33ble --library chirale@2.0.0",
    "--board arduino_nano_33_ble_sense --library spaziochirale/Chirale_TensorFLowLite",
)
WRONG = {
    "--board stf32f4": "unknown board 'stf32f4'; did you mean stm32f4-discovery?",
    "--board esp32 --library qardutflite.hh": "unknown library 'qardutflite.hh'; did you mean ",
    "--board nano33ble --library chirale --kernels cmsis": "unknown kernel library 'cmsis'; did you mean cmsis_nn?",
    "--board nano33ble --library chirale --runtime 2023-06-15": "--library already selects the version of TFLM; ",
    "--board nano33ble --target cortexm4": "unknown target 'cortexm4'; did you mean cortex-m4?",
    "--board nano33ble --target esp32": "nano33ble runs cortex-m4 (aapcs), not esp32 (ilp32); remove --target or ",
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_knows_the_board_and_the_library_by_any_of_their_names(
    verb: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command, said = VERBS[verb]
    main(shlex.split(f"{command} {way}"))
    out, err = capsys.readouterr()
    assert said in out + err


@pytest.mark.parametrize(
    ("verb", "wrong"),
    [
        (verb, wrong)
        for verb in VERBS
        for wrong in WRONG
        # shrink takes several targets and boards, each for itself.
        if verb not in ("lite", "bug-report") and (verb, wrong) != ("shrink", "--board nano33ble --target esp32")
    ],
)
def test_every_verb_refuses_what_there_is_not_in_the_same_sentence(
    verb: str, wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(shlex.split(f"{VERBS[verb][0]} {wrong}")) == 2
    err = capsys.readouterr().err
    assert err.partition(": ")[2].replace("\n", " ").startswith(WRONG[wrong])


def test_a_sweep_takes_the_library_for_each_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    boards = "Arduino Nano 33 BLE,XIAO ESP32S3 Sense"
    assert (
        main(["sweep", SINE, "--boards", boards, "--library", "ArduTFLite.h", "-o", "rows.jsonl", "--jobs", "1"]) == 0
    )
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert [(row["board"], row["kernels"], row["smallest_arena"]) for row in rows] == [
        ("nano33ble", "cmsis_nn@e98ee09 (dsp)", 1144), ("xiao-esp32s3", "cmsis_nn@e98ee09 (scalar)", 1168)
    ]  # fmt: skip


def test_python_takes_the_same_words() -> None:
    named = {"board": "Arduino Nano 33 BLE", "library": "ArduTFLite.h"}
    assert smallest_arena(SINE, **named).size == 1144
    assert simulate(SINE, **named, arena_size="1 << 11").fits
    assert lifetimes(SINE, **named).buffers == lifetimes(SINE, "nano33ble-chirale").buffers
    pytest.importorskip("pandas")
    table = sweep([SINE], [], boards=[named["board"]], library=named["library"], jobs=1)
    assert list(table["smallest_arena"]) == [1144]


def test_the_project_file_takes_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tflm-sim.toml").write_text(
        f"models = ['{SINE}']\n[[firmware]]\nboard = 'Arduino Nano 33 BLE'\nlibrary = 'ArduTFLite.h'\n"
        "ram_free = '9 * 128'\n"
    )
    assert main(["check"]) == 0
    out = capsys.readouterr().out
    assert "yes   1,152  1,152" in out
    assert "for nano33ble-chirale: TFLM of 2023-01-13 (chirale-2.0.0), cmsis_nn@e98ee09 (dsp)" in out


def test_pytests_marker_takes_the_same_words(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.arena(model="{SINE}", board="Arduino Nano 33 BLE", library="ArduTFLite.h", limit="9 * 128")
        def test_it(arena):
            assert arena.size() == 1152
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)


def test_the_page_takes_the_same_words() -> None:
    bridge = pytest.importorskip("tflm_sim.extensions.page.bridge")
    models = bridge.OpenModels()
    (opened,) = json.loads(models.add("sine.tflite", simulate(SINE, "cortex-m4").model.source))
    settings = json.dumps({"board": "Arduino Nano 33 BLE", "library": "ArduTFLite.h"})
    document, *_ = json.loads(models.size(opened["number"], settings))
    assert document["smallest"] == 1144
