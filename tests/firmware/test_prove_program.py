"""Two models compared on the kernels of a program: what is the same, what differs, and what would not be noticed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tflm_sim import load
from tflm_sim.cli import main
from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
import model_program

pytest.importorskip("unicorn")
pytest.importorskip("numpy")

from tflm_sim.extensions.shrink.prove import ProofFailed
from tflm_sim.extensions.shrink.prove_program import prove_in_program

SHAPES = ((1, 8), (1, 4))


def model(subgraphs: int = 1, weight: int | None = 5) -> Model:
    """Return a model with 32 weights of one value, None for a model without."""
    b = ModelBuilder()
    x, y = b.tensor((1, 8), TensorType.INT8), b.tensor((1, 4), TensorType.INT8)
    if weight is not None:
        w = b.tensor((4, 8), TensorType.INT8, data=[weight] * 32)
        b.operator("FULLY_CONNECTED", [x, w], [y])
    for _ in range(subgraphs - 1):
        b.add_subgraph()
    return load(b.build(inputs=[x], outputs=[y]))


def stray(original: Model) -> str:
    """Return the statement that puts a weight of the model that is there into the output."""
    root = int.from_bytes(original.source[:4], "little")
    address = max(buffer.address for buffer in original.buffers if buffer.data)
    return f"outputs[0]->data[1] = model[{address - root}]"


def program(folder: Path, original: Model, *, reads_weights: bool) -> Path:
    """Return a program whose Invoke() adds first and last input, the number of subgraphs, and perhaps a weight."""
    statement = stray(original) if reads_weights else ""
    return model_program.built(folder / "program", bytes(original.source), SHAPES, stray=statement)


def test_what_computes_the_same_is_proved_with_the_arenas_of_the_program(tmp_path: Path) -> None:
    proof = prove_in_program(model(), model(), 3, program(tmp_path, model(), reads_weights=True))
    # Three random inputs, all smallest, all largest; 24 + 100 + 32 + 12 B of arena, see test_run_model.py.
    assert (proof.runs, proof.arena_before, proof.arena) == (5, 168, 168)
    assert proof.distinct > 1


def test_of_two_interpreters_that_one_computes_that_is_named(tmp_path: Path) -> None:
    original = model()
    first, second = bytes(model(2).source), bytes(original.source)
    path = model_program.built(tmp_path / "pair", first, SHAPES, stray=stray(original), other=second)
    proof = prove_in_program(original, original, 1, path, into=2)
    # One random input and two extreme ones; 168 B, not the 268 B of the first one, which keeps its two subgraphs.
    assert (proof.runs, proof.arena_before, proof.arena) == (3, 168, 168)


def test_a_byte_that_differs_refuses_the_result(tmp_path: Path) -> None:
    with pytest.raises(ProofFailed, match=r"the outputs of run 0 in .* differ from the original's"):
        prove_in_program(model(), model(weight=6), 3, program(tmp_path, model(), reads_weights=True))


def test_a_result_that_the_program_does_not_run_is_refused_in_its_words(tmp_path: Path) -> None:
    with pytest.raises(ProofFailed, match="4100, available 4072; No room for 41 subgraphs"):
        prove_in_program(model(), model(41), 3, program(tmp_path, model(), reads_weights=True))


def test_nothing_is_proved_where_damaged_weights_change_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="with damaged weights the outputs are the same on all inputs"):
        prove_in_program(model(), model(), 3, program(tmp_path, model(), reads_weights=False))


def test_nothing_is_proved_of_a_model_without_weights(tmp_path: Path) -> None:
    original = model(weight=None)
    path = model_program.built(tmp_path / "program", bytes(original.source), SHAPES)
    with pytest.raises(ModelError, match="it has no weights"):
        prove_in_program(original, original, 3, path)


def test_shrink_executed_writes_nothing_where_the_program_itself_does_not_need_less(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = model_program.built(tmp_path / "program", sample_path("keyword_spotter").read_bytes(), SHAPES)
    result = tmp_path / "small.tflite"
    code = main(["shrink", "sample:keyword_spotter", "--firmware", str(path), "--executed", "-o", str(result)])
    shown = capsys.readouterr().out
    # Its arena holds 8 B of input and 4 B of output, whatever the model says.
    assert (code, result.exists()) == (1, False)
    assert "nothing is written: the program itself does not need less" in shown
    assert main(["shrink", "sample:keyword_spotter", "--firmware", str(path), "--executed", "--goal", "64KiB"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("for the goal of 65,536 B: yes: needs 176 B of 65,536 B (64.0 KiB)")
    assert " B as it is\n" in shown
