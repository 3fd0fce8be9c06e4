"""Memory of an Ethos-U operator in the terms of Vela's memory modes."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim.answers.npu import NpuMemory, npu_memory
from tflm_sim.answers.simulation import simulate
from tflm_sim.checks.explain_failure import with_vela_facts
from tflm_sim.cli import main
from tflm_sim.logs.diagnosis import diagnose
from tflm_sim.logs.parser import parse_log
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.size_answer import size_answer
from tflm_sim.report.text import size_lines
from tflm_sim.targets.presets import preset

HERE = replace(preset("cortex-m55", kernels="reference"), ethos_u=True)
U8, I8 = TensorType.UINT8, TensorType.INT8


def compiled(*scratches: int, options: bytes = b"\1\4\1") -> Model:
    """Return a model as Vela lays it out: 64 B of commands, 512 B of weights, one or two scratches at offset 0."""
    b = ModelBuilder()
    commands, weights = b.tensor((64,), U8, data=bytes(64)), b.tensor((512,), U8, data=bytes(512))
    own = [b.tensor((size,), U8) for size in scratches]
    source, result = b.tensor((1, 96), I8, scale=0.5), b.tensor((1, 2), I8, scale=0.5)
    b.custom("ethos-u", [commands, weights, own[0], own[-1], source], [result], options=options)
    offsets = [-1, -1, *(0 for _ in own), 0, 0]
    b.metadata("OfflineMemoryAllocation", struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets), *offsets))
    return load(b.build(inputs=[source], outputs=[result]))


@pytest.mark.parametrize("scratches", [(1024,), (1024, 1024)])
def test_one_scratch_or_two_of_a_size_is_a_mode_without_fast_memory(scratches: tuple[int, ...]) -> None:
    memory = npu_memory(compiled(*scratches))
    assert memory == (NpuMemory(0, 0, "Shared_Sram or Sram_Only", 64, 512, 1024, 0),)
    assert memory[0].unused == 0


def test_a_second_scratch_is_the_drivers_fast_memory() -> None:
    (memory,) = npu_memory(compiled(96, 2048))
    assert memory == NpuMemory(0, 0, "Dedicated_Sram", 64, 512, 96, 2048)
    assert memory.unused == 2048 - 96


def test_other_models_have_none() -> None:
    b = ModelBuilder()
    x, y = b.tensor((1, 4), I8, scale=0.5), b.tensor((1, 4), I8, scale=0.5)
    b.custom("mine", [x], [y], options=b"\1")
    assert npu_memory(load(b.build(inputs=[x], outputs=[y]))) == ()


def test_size_says_which_part_lies_where() -> None:
    lines = size_lines(simulate(compiled(96, 2048), HERE))
    start = lines.index(
        "Ethos-U at #0, compiled for Dedicated_Sram: 96 B of scratch in the head; the arena may be DRAM"
    )
    assert lines[start + 1 : start + 5] == [
        "    read where the model lies: 512 B of weights, 64 B of commands",
        "    fast scratch 2,048 B: the driver needs as much SRAM of its own (ethosu_init);",
        "    in the arena it lies over the scratch, where the NPU would overwrite its own data",
        "    1,952 B of the arena are there for it alone, and nothing uses them",
    ]
    assert any(line.endswith("the rest is the NPU's scratch and what Vela laid out") for line in lines)
    # A part whose tensors all lie in the scratch has no fast one.
    assert any(
        "compiled for Dedicated_Sram: 96 B of scratch in the head; the arena may be DRAM" in line
        for line in size_lines(simulate(compiled(96, 0), HERE))
    )
    answer = size_answer(simulate(compiled(1024), HERE))
    # The scratch, and for four tensors of the NPU and one output an address of 8 B and a size of 4, each of 16.
    assert answer.head_bytes == 1024 + 48 + 32
    assert answer.npu[0].scratch == 1024


@pytest.mark.parametrize(("scratches", "words"), [
    ((1024,), "1,024 B of the arena are what Vela laid out for the Ethos-U (Shared_Sram or Sram_Only): they get less"),
    ((96, 2048), "2,048 B of the arena are what Vela laid out for the Ethos-U (Dedicated_Sram): its fast scratch"),
])  # fmt: skip
def test_an_arena_that_is_too_small_is_explained_in_velas_terms(scratches: tuple[int, ...], words: str) -> None:
    (diagnosis,) = diagnose(parse_log(b"Failed to resize buffer. Requested: 1104, available 500, missing: 604\n"))
    assert with_vela_facts(diagnosis, compiled(*scratches)).notes[-1].startswith(words)


@pytest.mark.slow
def test_a_firmware_whose_arena_is_too_small_has_the_npus_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "vela.tflite"
    path.write_bytes(compiled(1024).source)
    line = "Failed to resize buffer. Requested: 1104, available 500, missing: 604"
    assert main(["explain", line, "--model", str(path), "--target", "cortex-m55"]) == 1
    assert "1,488 B" in capsys.readouterr().out


def test_an_operator_that_is_not_registered_is_velas() -> None:
    (diagnosis,) = diagnose(parse_log(b"Failed to get registration from op code CUSTOM\n"))
    assert "AddEthosU" in with_vela_facts(diagnosis, compiled(64)).notes[-1]
