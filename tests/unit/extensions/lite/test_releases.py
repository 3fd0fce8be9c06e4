"""What differs between releases of the mobile runtime; each text is what the wheel of that release said."""

from __future__ import annotations

import json
from dataclasses import replace

import lite_rare_models  # noqa: F401 - its recipes, too
import pytest
from lite_models import random_model

from tflm_sim import sample_path
from tflm_sim.cli import main
from tflm_sim.extensions.lite.answer import LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

OLD, NEW = "2.3.0", "2.4.0.dev20261026"


def one(op: str, inputs: int, *, kind: TensorType = TensorType.FLOAT32, version: int = 1) -> bytes:
    """Return an operator of one input that is there, and of others that are not."""
    builder = ModelBuilder()
    value, result = builder.tensor((2, 3), TensorType.FLOAT32), builder.tensor((2, 3), kind)
    builder.operator(op, [value, *[-1] * (inputs - 1)], [result], version=version)
    return builder.build(inputs=[value], outputs=[result])


def said(data: bytes, release: str, kernels: str = "optimized") -> str:
    answer = allocated(parse(data, strict=False), LiteSettings(kernels, release=release))
    return "".join(answer.reports) or answer.status


@pytest.mark.parametrize(("recipe", "op"), [("hashtable", "HASHTABLE"), ("stablehlo_case", "STABLEHLO_CASE")])
def test_the_reference_resolver_has_all_operators_since_2_4(recipe: str, op: str) -> None:
    _, data = random_model(0, recipe)
    assert said(data, OLD, "reference").startswith(f"Didn't find op for builtin opcode '{op}' version '1'.")
    assert [said(data, release) for release in (OLD, NEW)] == ["ok", "ok"]
    assert said(data, NEW, "reference") == "ok"


def test_cast_of_version_10_came_with_2_4() -> None:
    data = one("CAST", 1, kind=TensorType.INT8, version=10)
    assert said(data, OLD).startswith("Didn't find op for builtin opcode 'CAST' version '10'.")
    assert said(data, NEW) == "ok"


def test_batch_matmul_ends_the_process_without_an_input_until_2_4() -> None:
    data = one("BATCH_MATMUL", 2)
    assert "aborted" in said(data, OLD)
    assert said(data, NEW) == (
        "Tensor at index 1 was optional but was expected\nNode number 0 (BATCH_MATMUL) failed to prepare."
    )


@pytest.mark.parametrize(("release", "line"), [(OLD, 71), (NEW, 93)])
def test_a_message_names_the_line_of_its_release(release: str, line: int) -> None:
    text = f"tflite/kernels/hashtable_lookup.cc:{line} SizeOfDimension(key, 0) != SizeOfDimension(value, 0) (3 != 4)"
    assert said(random_model(0, "hashtable_lookup")[1], release).startswith(text)


@pytest.mark.parametrize(
    ("options", "runtime"),
    [
        ([], "ai-edge-litert 2.3.0"),
        (["--release", OLD], "ai-edge-litert 2.3.0"),
        (["--release", NEW], "ai-edge-litert-nightly 2.4.0.dev20261026"),
    ],
)
def test_an_answer_names_the_release(options: list[str], runtime: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lite", str(sample_path("sine")), "--jsonl", *options]) == 0
    assert json.loads(capsys.readouterr().out)["runtime"] == runtime


def test_an_unknown_release_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lite", "sample:sine", "--release", "9.0"]) == 2
    assert "unknown release of LiteRT '9.0'; use one of: 2.3.0, 2.4.0.dev20261026" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("branches", "status"), [((1, 2), "ok"), ((1, -1), "reads"), ((-2,), "reads"), ((1, 3), "reads")]
)
def test_a_branch_that_is_not_there_is_read_all_the_same(branches: tuple[int, ...], status: str) -> None:
    """The wheel dies of each of them."""
    model = parse(random_model(0, "stablehlo_case")[1])
    main = model.subgraphs[0]
    case = replace(main.operators[0], options={"branch_subgraph_indices": branches})
    data = encode(replace(model, subgraphs=(replace(main, operators=(case,)), *model.subgraphs[1:])))
    assert status in said(data, OLD)


@pytest.mark.parametrize(("kind", "answer"), [(TensorType.INT32, "ok"), (TensorType.INT64, "(the kernel reads")])
def test_slice_takes_sizes_for_what_begins_are(kind: TensorType, answer: str) -> None:
    builder = ModelBuilder()
    value, begin = builder.tensor((2, 3), TensorType.FLOAT32), builder.tensor((2,), kind, data=[0, 0])
    size, result = builder.tensor((2,), TensorType.INT32, data=[1, 2]), builder.tensor((), TensorType.FLOAT32)
    builder.operator("SLICE", [value, begin, size], [result])
    assert said(builder.build(inputs=[value], outputs=[result]), OLD).startswith(answer)
