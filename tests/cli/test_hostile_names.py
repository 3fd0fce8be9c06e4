"""Every verb with names that attack terminals and CI logs, in the model, the path, the log and the arguments."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

ATTACK = "##[error]x\n::error::y\x1b[31m\u202e"
WITHOUT_A_MODEL = {"completion"}
SERVERS = {"serve"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, a log and a baseline whose names, and all names in them, are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    builder = ModelBuilder()
    names = [f"{ATTACK}{index}" for index in range(3)]
    tensors = [builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0, name=name) for name in names]
    builder.operator("RELU", [tensors[0]], [tensors[1]])
    builder.operator("RELU", [tensors[1]], [tensors[2]])
    good = builder.build(inputs=[tensors[0]], outputs=[tensors[2]])
    (folder / f"{ATTACK}.tflite").write_bytes(good)
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0, name=name) for name in names]
    builder.custom(ATTACK, [tensors[0]], [tensors[1]])
    (folder / f"{ATTACK}custom.tflite").write_bytes(builder.build(inputs=[tensors[0]], outputs=[tensors[1]]))
    (folder / f"{ATTACK}.log").write_bytes(
        f"##[error]log\r::error::log\x1b[31m\x1b]0;t\x07\nDidn't find op for builtin opcode '{ATTACK}'\n"
        "Node ##[error]\x1b[31m (number 3) failed to prepare with status 1\nAllocateTensors() failed\n"
        "  ::warning::x\n##[group]\n".encode()
    )
    (folder / f"{ATTACK}.json").write_text("{}")
    return folder


def arguments(verb: str, folder: Path) -> list[list[str]]:
    """Return command lines of a verb that show as much of its input as it can."""
    models = [str(folder / f"{ATTACK}.tflite"), str(folder / f"{ATTACK}custom.tflite")]
    log, other = str(folder / f"{ATTACK}.log"), str(folder / f"{ATTACK}.json")
    of_models = {
        "size": [
            ["--boards", "pico"],
            [],
            ["--map"],
            ["--map", "--color", "always"],
            ["--json"],
            ["--jsonl"],
            ["--arena-size", "600"],
        ],
        "check": [["--limit", "600"], ["--limit", "64K", "--json"], ["--limit", "1", "--baseline", other]],
        "diff": [[*form, "--target", "cortex-m4", "--target", "esp32"] for form in ([], ["--json"])],
        "trace": [
            *([], ["--jsonl"], ["--arena-size", "600"], ["--lifetimes"], ["--lifetimes", "--json"]),
            *(["--preserve-all"], ["--preserve", "0"], ["--preserve", ATTACK], ["--invoke", "1"]),
        ],
        "plan": [[], ["--json"], ["--csv"], ["--print-memory-plan"]],
        "report": [
            ["-o", "-"],
            *(["--tensor", name] for name in ("0", ATTACK)),
            *(["-o", "-", "--format", form] for form in ("svg", "json", "perfetto", "model-explorer")),
            ["-o", str(folder / f"{ATTACK}.html")],
            ["-o", str(folder / "no" / f"{ATTACK}.html")],
        ],
        "shrink": [["--dry-run"], []],
        "lite": [["--json"], []],
    }
    if verb in of_models:
        return [[verb, model, *more] for model in models for more in of_models[verb]]
    if verb == "explain":
        return [[verb, log], [verb, log, "--json"], [verb, log, "--model", models[0]], [verb, f"Node {ATTACK} failed"]]
    if verb == "board":
        logs = [[log], [log, "--json"], [log, "--model", models[0]], [f"{log}.absent"]]
        port = f"/dev/{ATTACK}"
        others = [["listen", port], ["replay", port, models[0]], ["ports"], ["ports", ATTACK], [ATTACK]]
        return [[verb, *words] for words in (*(["read", *each] for each in logs), *others)]
    if verb == "list":
        return [[verb, what, *word] for what in ("targets", "libraries", "boards", "ops") for word in ([], [ATTACK])]
    if verb in WITHOUT_A_MODEL:
        return [[verb, *(["bash"] if verb == "completion" else [])], [verb, ATTACK]]
    return [[verb, model] for model in models]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in SERVERS])
def test_no_name_reaches_a_terminal_or_a_runner_as_what_it_is(
    verb: str, folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for argv in arguments(verb, folder):
        try:
            code: object = main(argv)
        except SystemExit as end:
            code = end.code
        out, err = capfd.readouterr()
        assert code != 70, err
        for line in [*out.split("\n"), *err.split("\n")]:
            assert not line.lstrip().startswith("::"), argv
            assert "##[" not in line, argv
            assert "\x1b[31m" not in line, argv
            assert not {"\u202e", "\x07", "\r"} & set(line), argv
    shutil.rmtree(folder / "no", ignore_errors=True)
