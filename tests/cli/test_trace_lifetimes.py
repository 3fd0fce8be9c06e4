"""``trace --lifetimes``, ``--preserve`` and ``--invoke``, ``report --tensor``, and ``--custom-ops``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

MODEL = ("sample:keyword_spotter", "--kernels", "reference")
KWS = ("trace", *MODEL)
TENSOR = ("report", *MODEL, "--tensor")
HEADER = 2
"""Lines that say for what an answer is found."""


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_overview_answers_whether_the_input_survives(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *KWS, "--lifetimes")
    assert code == 0
    assert "input 0 is tensor 0 (features): gone after Invoke(): " in out


def test_who_shares_memory(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *TENSOR, "input")
    assert code == 0
    assert "shares memory with " in out


def test_what_keeping_costs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *KWS, "--preserve", "1", "--preserve", "output", "--preserve-all")
    assert code == 0
    assert [line.split(" to the end")[0] for line in out.splitlines()[HEADER:]] == [
        "keeping tensor 1 (conv)",
        "keeping tensor 34 (probabilities)",
        "keeping all of them",
        "keeping every tensor (preserve_all_tensors)",
    ]
    assert "costs 8,000 B" in out


def test_invocations(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *KWS, "--invoke", "10")
    assert (code, out.splitlines()[HEADER:]) == (0, ["nothing wrong in AllocateTensors() and 10 invocations"])


def test_findings_exit_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.operator("RELU", [a], [b])
    header = b"".join(number.to_bytes(4, "little") for number in (1, 0, 2, 0, 0))
    builder.metadata("OfflineMemoryAllocation", header)
    (tmp_path / "wrong.tflite").write_bytes(builder.build(inputs=[a], outputs=[b]))
    code, out, _ = run(capsys, "trace", str(tmp_path / "wrong.tflite"), "--invoke", "1")
    assert code == 1
    assert [line.split()[0] for line in out.splitlines()[HEADER:]] == ["[live-buffers-overlap]", "[tensor-overwritten]"]


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *KWS, "--lifetimes", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["scopes"][0] == "the inputs"
    assert {buffer["home"] for buffer in document["buffers"]} == {"head", "flash"}


def test_a_tensor_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, *TENSOR, "nope")
    assert code == 2
    assert "the model has no tensor 'nope'" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "no such file"), ("x = 1", "defines no OpModel"), ("1 / 0", "fails: ZeroDivisionError")],
)
def test_files_without_custom_operators(
    text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.py"
    if text is not None:
        path.write_text(text)
    code, _, err = run(capsys, "size", "sample:sine", "--custom-ops", str(path))
    assert code == 2
    assert message in err


def test_a_tensor_as_json_is_the_document_of_lifetimes_with_who_shares_its_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tensor.json"
    code, out, _ = run(capsys, *TENSOR, "input", "-o", str(path))
    document = json.loads(path.read_text("utf-8"))
    assert (code, out) == (0, "")
    (asked,) = document["sharing"]
    assert (asked["kind"], asked["index"]) == ("tensor", 0)
    assert {"kind", "subgraph", "index", "start", "end"} == set(asked["shares_memory_with"][0])
    assert document | {"sharing": []} == json.loads(run(capsys, *KWS, "--lifetimes", "--json")[1])


def test_json_has_what_keeping_costs_too(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *KWS, "--json", "--preserve", "1")
    document = json.loads(out)
    assert code == 0
    (kept,) = document["preservation"]
    assert (kept["what"], kept["cost"]) == ("tensor 1 (conv)", 8000)
    assert kept["after"] - kept["before"] == 8000


@pytest.mark.parametrize(
    "options", [("--invoke", "0"), ("--invoke", "-3"), ("--invoke", "10001"), ("--invoke", "1", "--json")]
)
def test_invocations_that_mean_nothing(options: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *KWS, *options)
    assert (code, out) == (2, "")
    assert "--invoke" in err


@pytest.mark.parametrize(("argv", "said"), [
    ((*KWS, "--json"), "--json goes with --lifetimes; --jsonl prints the events"),
    ((*KWS, "--lifetimes", "--jsonl"), "--lifetimes does not go with --jsonl; remove one of them"),
    ((*KWS, "--lifetimes", "--executed"), "--executed needs --firmware APP.elf, the program to execute"),
    ((*KWS, "--invoke", "1", "--preserve-all"), "--invoke does not go with --preserve-all; remove one of them"),
    (("trace", "--lifetimes"), "no model is given; only with --firmware APP.elf --executed can it be left out"),
    ((*TENSOR, "input", "-o", "page.html"), "--tensor answers as text, or as JSON: -o OUT.json"),
    ((*TENSOR, "input", "--format", "svg"), "--tensor answers as text, or as JSON: -o OUT.json"),
    ((*TENSOR, "input", "--boards", "all"), "--tensor does not go with --boards; remove one of them"),
    (("report", *MODEL), "-o OUT is missing, the file to write; --tensor X answers without one"),
])  # fmt: skip
def test_options_that_do_not_go_together(argv: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, *argv)
    assert (code, out, err) == (2, "", f"tflm-sim {argv[0]}: {said}\n")


LEAK = """
from tflm_sim import Node, OpModel, Steps
from tflm_sim.ops.roles import input_tensor

def prepare(node: Node) -> Steps[None]:
    yield from input_tensor(node, 0, "mine.cc:20")

KERNEL = OpModel("RELU", prepare=prepare)
"""


def test_what_is_found_until_allocate_tensors_fails_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A TfLiteTensor takes 32 bytes on a Cortex-M4; its quantization parameters are temps of their own."""
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.operator("RELU", [a], [b])
    (tmp_path / "relu.tflite").write_bytes(builder.build(inputs=[a], outputs=[b]))
    (tmp_path / "leak.py").write_text(LEAK)
    argv = ("trace", str(tmp_path / "relu.tflite"), "--custom-ops", str(tmp_path / "leak.py"), "--invoke", "1")
    code, out, err = run(capsys, *argv)
    assert code == 4
    found = out.splitlines()[HEADER:]
    assert [line.split()[0] for line in found] == 3 * ["[temp-not-released]"]
    assert "RELU #0 in subgraph 0: the temp of 32 bytes at" in found[0]
    assert "while temps are out" in err
