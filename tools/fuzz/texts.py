"""Feed damaged texts to the verbs that read them: an answer or one sentence must come out, within seconds of CPU.

    python tools fuzz texts --kind project --count 200000 --cpu-seconds 600
    python tools fuzz texts --kind log --seed 7 --only 4711 --keep case.json     one case again, and its files

Kinds: ``log`` (``explain``, ``board read``), ``project`` (folders of every kind that ``check`` knows), ``toml``
(``tflm-sim.toml``), ``problem`` (a CSV for ``plan``). The corpus is recorded logs of tests/, and what stands here.
Case N of seed S is the same everywhere. Exit 1, with the cases' numbers, when a verb ends in an error of its own, prints
a character that a terminal obeys, says more than a few lines about what is wrong, or takes longer than ``--limit``.
"""

# ruff: noqa: E501 - what is put into texts reads as a table
from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile
from functools import cache
from pathlib import Path

from fuzz.fuzzer import Fuzzer

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

LOGS = Path(__file__).resolve().parents[2] / "tests" / "unit" / "logs" / "recorded"
MODEL = "model.cc"
MOST_COMPLAINTS = 4
"""Lines on stderr: the age of the default TFLM, the verb that was meant, and what is wrong."""
Files = dict[str, str]
SKETCH = """#include <Chirale_TensorFlowLite.h>
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
constexpr int kTensorArenaSize = 2 * 1024 + 0x10;
#define ARENA (kTensorArenaSize)
alignas(16) static uint8_t tensor_arena[ARENA];
extern const unsigned char g_model[];
void setup() {
  const tflite::Model* model = tflite::GetModel(g_model);
  static tflite::MicroMutableOpResolver<2> resolver;
  if (resolver.AddFullyConnected() != kTfLiteOk) return;
  resolver.AddSoftmax();
  static tflite::MicroInterpreter interpreter(model, resolver, tensor_arena, kTensorArenaSize);
}
"""
SUBMODULE = '[submodule "tflm"]\n path = tflm\n url = https://github.com/tensorflow/tflite-micro.git\n'
WAKE_WORD = {"type": "micro", "version": 2, "model": "m.tflite", "micro": {"tensor_arena_size": 900, "x": [1, 0.97]}}
PROJECTS: tuple[Files, ...] = (
    {"app.ino": SKETCH, "sketch.yaml": "profiles:\n  a:\n    fqbn: esp32:esp32:esp32s3\n    libraries:\n      - Chirale_TensorFLowLite (2.0.0)\ndefault_fqbn: arduino:mbed_nano:nano33ble\n"},
    {"platformio.ini": "[platformio]\ndefault_envs = a\n[env]\nframework = arduino\n[env:a]\nboard = esp32dev\nlib_deps =\n  tanakamasayuki/TensorFlowLite_ESP32@^1.0.0\n  x@~2.3\nbuild_flags = -DARENA=2048\n", "src/main.cpp": SKETCH},
    {"idf_component.yml": 'dependencies:\n  espressif/esp-tflite-micro: "^1.3.1"\n  idf: ">=5.0"\n', "CMakeLists.txt": "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n", "sdkconfig": 'CONFIG_IDF_TARGET="esp32s3"\nCONFIG_NN_OPTIMIZED=y\n', "dependencies.lock": "dependencies:\n  espressif/esp-nn:\n    version: 1.1.2\n", "main/main.cc": SKETCH},
    {"CMakeLists.txt": "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n", "prj.conf": "CONFIG_TENSORFLOW_LITE_MICRO=y\n", "west.yml": "manifest:\n  projects:\n    - name: zephyr\n      revision: v4.1.0\n", "build/CMakeCache.txt": "BOARD:STRING=nrf52840dk/nrf52840\n", ".west/config": "[build]\nboard = nucleo_f746zg\n", "src/main.cpp": SKETCH},
    {"CMakeLists.txt": "pico_sdk_init()\ntarget_link_libraries(app pico-tflmicro)\n", "build/CMakeCache.txt": "PICO_BOARD:STRING=pico2\n", "main.cpp": SKETCH},
    {"app.ioc": "board=NUCLEO-L476RG\nMcu.CPN=STM32H743ZIT6\nMcu.Name=STM32L476RGTx\n", ".gitmodules": SUBMODULE, ".git/modules/tflm/HEAD": f"{'90b983c2b3' * 4}\n", "main.cc": SKETCH},
    {"mbed_app.json": '{"target_overrides": {"*": {}, "NRF52840_DK": {}}}', "tflite-micro.lib": "https://github.com/tensorflow/tflite-micro/#90b983c\n", ".mbed": "TARGET=NRF52840_DK\n", "main.cc": SKETCH},
    {"main.py": "import microlite\nSIZE = 1 * 1024\nmicrolite.interpreter(model, SIZE, a, b)\n", "models/m.tflite": ""},
    {"word.json": json.dumps(WAKE_WORD, indent=2), "m.tflite": ""},
)  # fmt: skip
"""Small projects of each kind; a .tflite file is a sample."""
TOML = """baseline = "arena_baseline.json"
models = ["*.tflite", "model.cc"]

[[firmware]]
name = "doorbell"
library = "esp-tflite-micro@1.3.5"
target = "esp32-s3"
limit = "200KiB"
limits = {"m.tflite" = "48*1024"}
arena_address = 0

[[firmware]]
board = "nano33ble"
ram_free = "180KiB"
models = ["m.tflite"]
resource_variables = 20
variable_arena = 1024
"""
PROBLEM = "id,lower,upper,size,alignment,offset\na,0,3,64,16,\nb,2,9,5,1,64\nc,-1,1000000,7,,\n"
TOKENS = (
    "{", "}", "[", "]", "(", ")", "=", ";", ",", '"', "'", "\\", "\n", "\r", "\t", "\0", "#", "//", "/*", "*/", "<", ">",
    "\x1b[31m", "\u202e", "\ud800", "\ufeff", "é" * 40, "::error::x", "##[error]x", "../../../etc/passwd", "/etc/passwd",
    "/dev/zero", "..", "~", "*", "**/*", "?" * 30, "$(id)", "%s%n", "nan", "inf", "-1", "0", "1e999", "9" * 5000, "1" * 20,
    "0x", "1_0", "٣", "2147483648", "18446744073709551616", "[" * 3000, "a" * 5000, "sample:person_detect", "sizeof(x)",
    "<<<<", "1/0", "1%0", "1<<99999999", "-(-(-(1", "true", "null", "\n[[firmware]]\n", "%", "@^1.2", "@" + "9" * 99 + ".1",
)  # fmt: skip
"""What is put into texts."""


@cache
def logs() -> tuple[str, ...]:
    """Return recorded logs, and frames of a board."""
    return tuple(path.read_text("utf-8", "replace") for path in sorted(LOGS.glob("*.log")))


@cache
def a_model() -> tuple[bytes, str]:
    """Return a sample, and a source with it."""
    data = sample_path("sine").read_bytes()
    return data, f"alignas(16) const unsigned char g_model[] = {{{', '.join(map(str, data))}}};\n"


def changed(text: str, rng: random.Random) -> str:
    """Return a text with something put in, a number changed, lines doubled, swapped or left out, or its end cut off."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        action = rng.randrange(10)
        lines = text.split("\n")
        if action < 3:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(TOKENS) * rng.choice((1, 1, 1, 2, 50)) + text[at:]
        elif action < 5 and (numbers := list(re.finditer(r"\d+", text))):
            found = rng.choice(numbers)
            text = text[: found.start()] + rng.choice(TOKENS) + text[found.end() :]
        elif action < 7 and (quoted := list(re.finditer(r'"[^"\n]*"', text))):
            found = rng.choice(quoted)
            text = f"{text[: found.start() + 1]}{rng.choice(TOKENS)}{text[found.end() - 1 :]}"
        elif action == 7:
            place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[place], lines[other] = lines[other], lines[place] * rng.choice((0, 1, 1, 2))
            text = "\n".join(lines)
        elif action == 8:
            at = rng.randrange(len(lines))
            lines[at:at] = lines[at : at + rng.randint(1, 5)] * rng.choice((1, 2, 20))
            text = "\n".join(lines)
        else:
            text = text[: rng.randrange(len(text) + 1)]
    return text[:200_000]


def of_log(rng: random.Random) -> tuple[Files, list[str]]:
    """A log, for one of its verbs, with a model or without."""
    verb = rng.choice((["explain"], ["board", "read"]))
    model = rng.choice(([], ["--model", "sample:sine"], ["--model", "sample:sine", "--arena-size", "1200"]))
    return {"boot.log": changed(rng.choice(logs()), rng)}, [*verb, "boot.log", *model]


def of_project(rng: random.Random) -> tuple[Files, list[str]]:
    """A project's folder; one to three of its files are damaged."""
    files = {**rng.choice(PROJECTS)}
    for name in rng.sample(sorted(files), min(len(files), rng.choice((1, 1, 2, 3)))):
        files[name] = changed(files[name], rng)
    name = "word.json" if "word.json" in files and rng.randrange(2) else "."
    return {**files, MODEL: a_model()[1]}, ["check", name, *rng.choice(([], ["--fix"], ["--board", "esp32"]))]


def of_toml(rng: random.Random) -> tuple[Files, list[str]]:
    """A project file, with a baseline that may be damaged too."""
    baseline = '{"schema_version": 1, "sizes": {"m.tflite on doorbell": 1024}}'
    files = {"tflm-sim.toml": changed(TOML, rng), "m.tflite": "", MODEL: a_model()[1]}
    files["arena_baseline.json"] = changed(baseline, rng) if rng.randrange(3) == 0 else baseline
    return files, ["check", *rng.choice(([], ["--update-baseline"], ["m.tflite"]))]


def of_problem(rng: random.Random) -> tuple[Files, list[str]]:
    """Buffers to plan."""
    return {"p.csv": changed(PROBLEM, rng)}, ["plan", "p.csv", "--time-limit", "200ms", *rng.choice(([], ["--csv"]))]


KINDS = {"log": of_log, "project": of_project, "toml": of_toml, "problem": of_problem}


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, tuple[Files, list[str]]]:
    """Return case ``number``: its command, its files as JSON, and both."""
    rng = random.Random(f"{options.seed}:{number}")
    kind = options.kind or rng.choice(sorted(KINDS))
    files, words = KINDS[kind](rng)
    words += rng.choice(([], ["--json"] if "--csv" not in words else []))
    return " ".join(words), json.dumps(files).encode(), (files, words)


def run(data: bytes, made: tuple[Files, list[str]], options: argparse.Namespace) -> str:
    """Run the command in a folder with the files; return the exit code in words.

    Raises:
        AssertionError: What it printed.
    """
    files, words = made
    before = os.getcwd()
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="fuzz-texts-") as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(
                text.encode("utf-8", "surrogatepass") or (a_model()[0] if name.endswith(".tflite") else b"")
            )
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(["--debug", *words])
        finally:
            os.chdir(before)
    said, complaint = out.getvalue(), err.getvalue()
    assert code in (0, 1, 2, 3, 4), f"exit code {code}: {complaint[-3000:]}"
    assert len(complaint.splitlines()) <= MOST_COMPLAINTS, complaint[-3000:]
    hostile = re.search(r"[^\n\t -~\xa0-\u200a\u2010-\u2027\u2030-\ud7ff\uf900-\U0010ffff]", said + complaint)
    assert hostile is None, f"{hostile[0]!r} is printed"
    return f"{words[0]}: exit code {code}"


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"memory": 4096, "limit": 10.0},
    make_case=make_case,
    run=run,
    expected=(),
    add_options=lambda parser: parser.add_argument("--kind", choices=sorted(KINDS), help="(default: all)"),
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
