"""The size report as lines: the answer first, everything that is said can be checked by adding up."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.size import arena_answer
from tflm_sim.report.tables import table_lines
from tflm_sim.report.text import failure_lines, size_lines
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.values import replace

REFERENCE = preset("cortex-m4", kernels="reference")


def report(model: Model, *, is_split: bool = False) -> list[str]:
    return size_lines(simulate(model, Configuration(REFERENCE, is_split=is_split)))


def failure(model: Model, arena_size: int) -> list[str]:
    return failure_lines(arena_answer(simulate(model, REFERENCE, arena_size=arena_size)))


def test_numbers_are_right_aligned() -> None:
    assert table_lines([("bytes", "what"), ("7", "a"), ("1,024", "b")]) == ["bytes  what", "    7  a", "1,024  b"]


def test_a_dash_stands_where_its_column_has_its_numbers():
    rows = [("bytes", "proved"), ("1", "yes"), ("-", "-")]
    assert table_lines(rows) == ["bytes  proved", "    1  yes", "    -  -"]


def test_a_version_of_four_digits_is_a_name():
    assert table_lines([("version", "fits"), ("WE1 2.0", "no"), ("2209", "no")]) == [
        "version  fits",
        "WE1 2.0  no",
        "2209     no",
    ]


def test_the_report_of_one_relu(chain: Callable[..., Model]) -> None:
    lines = report(chain(8, 8))
    about = "TFLM of 2026-08-20 (90b983c2b), reference kernels, plain interpreter, greedy planner"
    assert lines[:3] == ["model on cortex-m4", about, ""]
    assert lines[3:6] == [
        "smallest arena  504 B  AllocateTensors() fails with one byte less",
        "multiple of 16  512 B  the one to put in the firmware:",
        "    alignas(16) uint8_t tensor_arena[512];",
    ]
    assert "arena_used_bytes() reports 388 B in a large arena: head 32 + tail 356" in lines
    assert "setup needs 116 B more: temporary memory that it frees afterwards, or alignment" in lines  # 504 - 388
    assert "head 32 B; fullest in step 1 (#0 RELU): 32 B; no plan can be smaller" in lines


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_rows_of_the_tail_add_up_to_it(sample: str) -> None:
    lines = report(load(sample_path(sample)))
    title = next(index for index, line in enumerate(lines) if line.startswith("tail "))
    rows = lines[title + 2 : lines.index("", title)]
    groups = [match for row in rows if (match := re.match(r" *([\d,]+) +[\d.]+ % ", row))]
    tail = int(lines[title].split()[1].replace(",", ""))
    assert sum(int(match[1].replace(",", "")) for match in groups) == tail


def test_a_group_of_a_tenth_of_the_tail_lists_its_parts_where_it_has_two() -> None:
    lines = [line.strip() for line in report(load(sample_path("streaming")))]
    nodes, tensors, data = (
        next(index for index, line in enumerate(lines) if line.endswith(what))
        for what in ("nodes and registrations", "eval tensors", "builtin data")
    )
    assert lines[nodes + 1 : nodes + 3] == ["800 in 1 of NodeAndRegistration[25]", "192 in 1 of NodeAndRegistration[6]"]
    assert lines[tensors + 1 : tensors + 3] == ["540 in 1 of TfLiteEvalTensor[45]", "72 in 1 of TfLiteEvalTensor[6]"]
    assert " in 1 of " not in lines[data + 1]  # 368 B are less than a tenth


def test_a_failure_says_what_is_needed_where_it_fails_and_what_the_device_prints(chain: Callable[..., Model]) -> None:
    assert failure(chain(8, 8), 472) == [
        "472 B is too small, 512 B are needed",
        "what fails, in 'planner arena': the planner's table is full: Too many buffers (max is 1)",
        "the device prints:",
        "    Too many buffers (max is 1)",
    ]


def test_a_failure_in_a_kernel_names_the_operator(chain: Callable[..., Model]) -> None:
    assert failure(chain(8, 8), 360)[1].startswith("what fails, in 'prepare of RELU #0 in subgraph 0': ")


def test_an_operator_without_a_kernel_fails_in_any_arena(chain: Callable[..., Model]) -> None:
    builder = ModelBuilder()
    tensor = builder.tensor((1, 8), TensorType.INT8)
    builder.custom("evil\x1b[31m", [tensor], [tensor])
    model = parse(builder.build(inputs=[tensor], outputs=[tensor]))
    assert failure(model, 1 << 16) == [
        "AllocateTensors() fails in an arena of any size",
        "what fails, in 'registration of operator #0 in subgraph 0': TFLM has no kernel for 'evil\\x1b[31m'; "
        "--custom-ops adds one of your own",
        "the device prints:",
        "    Failed to get registration from op code CUSTOM",
    ]
    assert report(model)[3:] == [
        "AllocateTensors() fails in an arena of any size: TFLM has no kernel for 'evil\\x1b[31m'; "
        "--custom-ops adds one of your own",
        "the device prints:",
        "    Failed to get registration from op code CUSTOM",
    ]


def test_of_a_line_that_the_device_prints_200_characters_are_shown(chain: Callable[..., Model]) -> None:
    answer = replace(arena_answer(simulate(chain(8, 8), REFERENCE, arena_size=256)), log=("x" * 200, " ", "y" * 201))
    assert failure_lines(answer)[-2:] == ["    " + "x" * 200, "    …" + "y" * 199]


def test_two_arenas_have_two_lines_of_c(chain: Callable[..., Model]) -> None:
    arenas = [line for line in report(chain(8, 8), is_split=True) if "uint8_t" in line]
    assert [re.sub(r"\d+]", "N]", line.strip()) for line in arenas] == [
        "alignas(16) uint8_t persistent_arena[N];",
        "alignas(16) uint8_t non_persistent_arena[N];",
    ]
