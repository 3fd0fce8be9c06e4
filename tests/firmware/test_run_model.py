"""Another model in the place of a program's own: what it takes, and what the program computes with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.execute import compute_outputs
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

sys.path.insert(0, str(Path(__file__).parent))
import model_program

pytest.importorskip("unicorn")

SHAPES = ((1, 8), (1, 4))


def model(subgraphs: int, width: int = 8) -> bytes:
    """Return a model with an input of ``width`` bytes and an output of 4, and so many subgraphs."""
    b = ModelBuilder()
    x, y = b.tensor((1, width), TensorType.INT8), b.tensor((1, 4), TensorType.INT8)
    for _ in range(subgraphs - 1):
        b.add_subgraph()
    return b.build(inputs=[x], outputs=[y])


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return model_program.built(tmp_path / "program", model(1), SHAPES)


def test_the_program_sizes_a_model_that_it_does_not_hold(program: Path) -> None:
    (own,) = tflm_sim.execute(program).arenas
    (other,) = tflm_sim.execute(program, model=model(3), invokes=1).arenas
    # 24 B for the allocator, 100 B a subgraph, 4 + 12 B for each of input and output, and their 8 and 4 B.
    assert (own.smallest_arena, own.arena_used_bytes) == (24 + 100 + 32 + 12, 168)
    assert (other.smallest_arena, other.arena_used_bytes) == (24 + 300 + 32 + 12, 368)
    assert [one.status for one in other.allocations[0].invocations] == ["ok"]


@pytest.mark.parametrize("skipped", [2, 4])
def test_a_model_in_the_middle_of_a_word_works_where_its_core_reads_such_words(skipped: int, tmp_path: Path) -> None:
    (found,) = tflm_sim.execute(model_program.built(tmp_path / "program", model(1), SHAPES, skipped=skipped)).arenas
    assert (found.fits, found.smallest_arena, found.arena_used_bytes) == (True, 168, 168)


def test_another_model_cannot_stand_where_the_programs_own_is_not_aligned(tmp_path: Path) -> None:
    program = model_program.built(tmp_path / "program", model(1), SHAPES, skipped=2)
    with pytest.raises(FirmwareError, match=r"that one's table, at 0x[0-9a-f]+, is not aligned to 4 bytes"):
        tflm_sim.execute(program, model=model(3))


def test_a_model_that_does_not_fit_fails_in_the_words_of_the_device(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "large.tflite").write_bytes(model(41))
    assert main(["firmware", str(program), "--run", "--model", str(tmp_path / "large.tflite")]) == 1
    # 41 subgraphs want 4,100 B of an arena of 4,096 B.
    assert "log       No room for 41 subgraphs" in capsys.readouterr().out


def test_the_programs_kernels_compute_with_inputs_that_are_given(program: Path) -> None:
    runs = [[bytes([3, 0, 0, 0, 0, 0, 0, 4])], [bytes(7) + b"\x10"]]
    # First byte, last byte, and the number of subgraphs.
    assert [outputs[0][0] for outputs in compute_outputs(program, model(1), runs)] == [3 + 4 + 1, 16 + 1]
    assert [outputs[0][0] for outputs in compute_outputs(program, model(2), runs)] == [3 + 4 + 2, 16 + 2]


def test_inputs_and_outputs_of_another_shape_are_not_believed(program: Path) -> None:
    with pytest.raises(FirmwareError, match="the inputs and outputs of its interpreter were not found"):
        compute_outputs(program, model(1, width=9), [[bytes(9)]])
