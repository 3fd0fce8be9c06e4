"""What is given without a verb, or to the wrong one."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

SINE = sample_path("sine").read_bytes()
LOG = "Failed to resize buffer. Requested: 33488, available 20472, missing: 13016"
ARRAY = f"const unsigned char g_model[] = {{{', '.join(map(str, SINE))}}};\n"
TOML = "models = ['a.tflite']\n[[firmware]]\nlimit = 65536\n"
ELF = b"\x7fELF" + bytes(60)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, data in {
        "a.tflite": SINE, "noname": SINE, "g_model.cc": ARRAY.encode(), "boot.log": f"I (12) x: {LOG}\n".encode(),
        "app.elf": ELF, "app": ELF, "tflm-sim.toml": TOML.encode(), "p.csv": b"id,lower,upper,size\na,0,2,16\n",
        "notes.txt": b"nothing of it\n",
    }.items():  # fmt: skip
        Path(name).write_bytes(data)
    Path("below").mkdir()
    Path("below", "tflm-sim.toml").write_text(TOML)
    with zipfile.ZipFile("export.zip", "w") as file:
        file.writestr("model.tflite", SINE)
    for name, header in (("sketch", "ArduTFLite.h"), ("other", "TensorFlowLite.h"), ("plain", "Arduino.h")):
        Path(name).mkdir()
        Path(name, f"{name}.ino").write_text(f"#include <{header}>\n")
        Path(name, "model.h").write_text(ARRAY)
    return tmp_path


@pytest.mark.parametrize(("words", "verb", "code", "said"), [
    ("a.tflite", "size a.tflite", 0, "smallest arena  1,156 B"),
    ("noname --target esp32", "size noname --target esp32", 0, "noname on esp32 "),
    ("--debug a.tflite", "size a.tflite", 0, "smallest arena "),
    ("sample:sine", "size sample:sine", 0, "smallest arena "),
    ("g_model.cc --board pico", "size g_model.cc --board pico", 0, "g_model.cc:g_model on cortex-m0plus "),
    ("export.zip", "size export.zip", 0, "smallest arena "),
    ("sketch", "size sketch --library chirale", 0, "model.h:g_model on nano33ble-chirale"),
    ("sketch --library tflm_cortexm", "size sketch --library tflm_cortexm", 0, "tflm_cortexm@1.0.0"),
    ("other", "size other", 0, "on cortex-m4 "),
    ("plain --json", "size plain --json", 0, '"status": "ok"'),
    ("boot.log", "explain boot.log", 1, "13,016 B (12.7 KiB) missing"),
    ("boot.log --arena-size 1<<15", "explain boot.log --arena-size 1<<15", 1, "missing"),
    ("app", "firmware app", 3, "app"),
    ("app.elf", "firmware app.elf", 3, "app.elf"),
    ("tflm-sim.toml", "check", 0, "yes: "),
    (".", "check", 0, "yes: "),
    ("p.csv", "plan p.csv", 0, "lower bound 16 B"),
    ("*.tflite", "size *.tflite", 0, "a.tflite on cortex-m4 "),
])  # fmt: skip
def test_what_stands_alone_is_answered_by_the_verb_for_it(
    words: str, verb: str, code: int, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == code
    out, err = capsys.readouterr()
    first, *rest = err.splitlines()
    assert first.endswith(f", so this is: tflm-sim {verb}")
    assert said in f"{out}{' '.join(rest)}"


def test_a_line_of_a_log_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([LOG]) == 1
    out, err = capsys.readouterr()
    assert " is a line of a log, so this is: tflm-sim explain '" in err.replace("\n", " ").replace("     ", " ")
    assert "33,488 B" in out


def test_the_name_of_a_verb_goes_before_a_file_of_that_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("size").write_bytes(SINE)
    assert main(["size", "a.tflite"]) == 0
    assert "so this is" not in capsys.readouterr().err
    assert main(["./size"]) == 0
    assert "./size is a model, so this is: tflm-sim size ./size" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    ("siez", "tflm-sim siez: unknown verb 'siez'; did you mean size?"),
    ("qqq", "tflm-sim qqq: unknown verb 'qqq'; see 'tflm-sim --help'"),
    ("none.tflite", "tflm-sim none.tflite: 'none.tflite' is no verb, and there is no such file"),
    ("./none", "tflm-sim ./none: './none' is no verb, and there is no such file"),
    ("-", "tflm-sim -: the standard input needs a verb: 'size -' for a model, 'explain -' for a log"),
    ("below/tflm-sim.toml", "tflm-sim below/tflm-sim.toml: 'below/tflm-sim.toml' is a project file, which is checked "
     "in its folder: cd below; tflm-sim check"),
    ("https://h/m.tflite", "https://h/m.tflite is an address, so this is: tflm-sim size https://h/m.tflite\n"
     "tflm-sim size: https://h/m.tflite: nothing is downloaded from the web without --allow-download "
     "(or TFLM_SIM_ALLOW_DOWNLOAD=1)"),
    ("notes.txt", "tflm-sim notes.txt: 'notes.txt' is neither a verb nor a model, a program, an archive or a log"),
])  # fmt: skip
def test_what_is_nothing_that_is_known_is_a_line(
    words: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"{said}\n"


@pytest.mark.parametrize(("words", "said"), [
    ("firmware a.tflite", "a.tflite: this is a model: 'tflm-sim size a.tflite'"),
    ("firmware noname --run", "noname: this is a model: 'tflm-sim size noname'"),
    ("firmware export.zip", "export.zip: this is an archive: 'tflm-sim size export.zip'"),
    ("explain a.tflite", "a.tflite: this is a model: 'tflm-sim size a.tflite'"),
    ("explain app", "app: this is a linked program (ELF): 'tflm-sim firmware app'"),
    ("board read app", "app: this is a linked program (ELF): 'tflm-sim firmware app'"),
    ("size app", "app: this is not a .tflite model; it looks like an ELF file: 'tflm-sim firmware'"),
])  # fmt: skip
def test_another_kind_of_file_is_answered_with_the_verb_for_it(
    words: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 3
    err = capsys.readouterr().err
    assert err.startswith(f"tflm-sim {words.split()[0]}: {said}")
    assert err.count("\n") == 1


@pytest.mark.parametrize("words", [("size",), ("check", "--limit", "64KiB"), ("trace",), ("shrink",), ("lite",)])
def test_a_log_in_a_models_place_is_named_with_the_verb_for_it(
    words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "boot.log"
    log.write_text("Failed to resize buffer. Requested: 25344, available 6480, missing: 18864\n", "utf-8")
    assert main([words[0], str(log), *words[1:]]) == 3
    assert f"boot.log: this is a log: 'tflm-sim explain {log}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "typed", "said"),
    [
        ("--library", "cmsis", "unknown library 'cmsis'; kernels have a setting of their own: --kernels cmsis_nn"),
        ("--planner", "gredy", "unknown value of --planner 'gredy'; did you mean greedy?"),
        ("--kernels", "cmsis", "did you mean cmsis_nn?"),
        ("--board", "nano33", "did you mean nano33ble?"),
    ],
)
def test_a_wrong_word_leads_to_the_nearest(
    option: str, typed: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", "sample:sine", option, typed]) == 2
    assert said in capsys.readouterr().err
