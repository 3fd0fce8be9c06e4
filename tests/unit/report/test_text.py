"""The size report as lines: the answer first, everything that is said can be checked by adding up."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tflm_sim.answers.npu import NpuMemory
from tflm_sim.answers.peak import Peak
from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.needs import Constraint
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.size_answer import (
    ArenaAnswer,
    HeadBuffer,
    SizeAnswer,
    Tail,
    TailGroup,
    TailOperator,
    TailPart,
    arena_answer,
)
from tflm_sim.report.tables import table_lines
from tflm_sim.report.text import NEVER_FITS, answer_lines, failure_lines, size_lines
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

REFERENCE = preset("cortex-m4", kernels="reference")


def report(model: Model, *, split_arenas: bool = False) -> list[str]:
    return size_lines(simulate(model, Configuration(REFERENCE, split_arenas=split_arenas)))


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
    about = "TFLM of 2026-08-20 (90b983c2b), reference kernels"
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
        "no, 32 B are missing: 472 B is too small, 504 B are needed",
        "what to do: declare alignas(16) uint8_t tensor_arena[512]",
        "what fails, in 'planner arena': the planner's table is full: Too many buffers (max is 1)",
        "the device prints:",
        "    Too many buffers (max is 1)",
    ]


def test_a_failure_in_a_kernel_names_the_operator(chain: Callable[..., Model]) -> None:
    assert failure(chain(8, 8), 360)[2].startswith("what fails, in 'prepare of RELU #0 in subgraph 0': ")


def test_an_operator_without_a_kernel_fails_in_any_arena(chain: Callable[..., Model]) -> None:
    builder = ModelBuilder()
    tensor = builder.tensor((1, 8), TensorType.INT8)
    builder.custom("evil\x1b[31m", [tensor], [tensor])
    model = parse(builder.build(inputs=[tensor], outputs=[tensor]))
    assert failure(model, 1 << 16) == [
        "no: AllocateTensors() fails in an arena of any size",
        "what fails, in 'registration of operator #0 in subgraph 0': TFLM has no kernel for 'evil\\x1b[31m'; "
        "`custom_ops=` adds one of your own",
        "the device prints:",
        "    Failed to get registration from op code CUSTOM",
    ]
    assert report(model)[3:] == [
        "AllocateTensors() fails in an arena of any size: TFLM has no kernel for 'evil\\x1b[31m'; "
        "`custom_ops=` adds one of your own",
        "the device prints:",
        "    Failed to get registration from op code CUSTOM",
        NEVER_FITS,
    ]


def test_two_arenas_have_two_lines_of_c(chain: Callable[..., Model]) -> None:
    arenas = [line for line in report(chain(8, 8), split_arenas=True) if "uint8_t" in line]
    assert [re.sub(r"\d+]", "N]", line.strip()) for line in arenas] == [
        "alignas(16) uint8_t persistent_arena[N];",
        "alignas(16) uint8_t non_persistent_arena[N];",
    ]


WORKING = SizeAnswer(
    status="ok",
    smallest_arena_bytes=990,
    smallest_arena_multiple_of_16=992,
    arena_used_bytes_at_smallest=990,
    smallest_split_arenas_bytes=None,
    arena_used_bytes=990,
    head_bytes=400,
    tail_bytes=0,
    recorded={},
    log=(),
    failure=None,
    binding=None,
    tail=Tail((), ()),
    operators=(),
    buffers=(),
    peak=None,
)
SMALLEST = [
    "smallest arena  990 B  AllocateTensors() fails with one byte less",
    "multiple of 16  992 B  the one to put in the firmware:",
    "    alignas(16) uint8_t tensor_arena[992];",
    "",
    "arena_used_bytes() reports 990 B in a large arena",
]


@pytest.mark.parametrize(
    ("used", "more"),
    [(991, []), (990, []), (989, ["setup needs 1 B more: temporary memory that it frees afterwards, or alignment"])],
)
def test_what_setup_needs_more_is_said_from_one_byte(used: int, more: list[str]) -> None:
    reported = f"arena_used_bytes() reports {used} B in a large arena"
    assert answer_lines(replace(WORKING, arena_used_bytes=used), 0) == [*SMALLEST[:-1], reported, *more]


@pytest.mark.parametrize(("rounded", "address", "works"), [(992, 0, True), (990, 2, True), (990, 0, False)])
def test_no_multiple_of_16_works_where_each_halts(rounded: int, address: int, works: bool) -> None:
    row = answer_lines(replace(WORKING, smallest_arena_multiple_of_16=rounded), address)[1]
    halts = "AllocateTensors() halts in every one, for a kernel overwrites its neighbour; put in the firmware:"
    note = f"{rounded} B  the one to put in the firmware:" if works else f"none   {halts}"
    assert row == f"multiple of 16  {note}"


def test_what_does_not_fit_in_a_byte_less_stands_with_both_ends() -> None:
    answer = replace(
        WORKING, binding=Constraint(700, 0, 0, "temp", 8, 4, "", "planner"), passes_unnoticed_from_bytes=1, tail_bytes=1
    )
    lines = answer_lines(answer, 0)
    assert lines[0] == "smallest arena  990 B  passes unnoticed from 1 B, with bytes overwritten"
    assert lines[4:] == [
        "arena_used_bytes() reports 990 B in a large arena: head 400 + tail 1",
        "the last thing that does not fit in a byte less: 8 bytes (align 4), in 'planner'",
        "    with it, 700 B are in use from the arena's start (head and temporary memory), 290 B from its end (tail)",
    ]


def parts(*sizes: int) -> tuple[TailPart, ...]:
    return tuple(TailPart(f"part{number}", size, number) for number, size in enumerate(sizes))


def test_the_largest_groups_and_the_eight_largest_operators_come_first() -> None:
    groups = (TailGroup("small", 10, 10, 1), TailGroup("large", 30, 32, 1))
    ops = tuple(TailOperator(number % 2, number, f"OP{number}", 1, number + 1, 1) for number in range(9))
    lines = answer_lines(replace(WORKING, tail_bytes=42, tail=Tail(groups, ops)), 0)[len(SMALLEST) :]
    assert lines == [
        "",
        "tail 42 B, by what it is",
        "bytes  share   padding  what",
        "   32  76.2 %        2  large",
        "   10  23.8 %        0  small",
        "",
        "tail by operator, the largest",
        "9  #8  OP8",
        "8  #7  OP7 (subgraph 1)",
        "7  #6  OP6",
        "6  #5  OP5 (subgraph 1)",
        "5  #4  OP4",
        "4  #3  OP3 (subgraph 1)",
        "3  #2  OP2",
        "2  #1  OP1 (subgraph 1)",
    ]


BUFFERS = (
    HeadBuffer("tensor", 0, 3, None, "a", 300, 0, 0, 2, None),
    HeadBuffer("scratch", 0, 0, 5, "sums", 99, 300, 2, 2, None),
    HeadBuffer("scratch", 0, 1, 6, "", 1, 399, 2, 2, None),
)


@pytest.mark.parametrize(
    ("operator", "live", "end"),
    [
        (0, 400, "2 (#0 ADD): 400 B; no plan can be smaller"),
        (0, 399, "2 (#0 ADD): 399 B; 1 B of the head are the planner's gaps"),
        (-1, 400, "2 (the inputs): 400 B; no plan can be smaller"),
    ],
)
def test_the_fullest_step_has_its_buffers(operator: int, live: int, end: str) -> None:
    answer = replace(WORKING, buffers=BUFFERS, peak=Peak(2, 0, operator, "ADD", live, (2, 0, 1)))
    assert answer_lines(answer, 0)[len(SMALLEST) :] == [
        "",
        f"head 400 B; fullest in step {end}",
        "bytes  offset  steps  buffer",
        "    1     399   2..2  scratch 1 of #6",
        "  300       0   0..2  tensor 3 a",
        "   99     300   2..2  scratch 0 of #5 (sums)",
    ]


def test_an_npu_with_and_without_a_memory_of_its_own() -> None:
    shared = NpuMemory(0, 1, "Shared_Sram or Sram_Only", 7, 8, 9, 0)
    apart = (NpuMemory(2, 3, "Dedicated_Sram", 7, 8, 9, size) for size in (9, 10))
    over = "    in the arena it lies over the scratch, where the NPU would overwrite its own data"
    read = "    read where the model lies: 8 B of weights, 7 B of commands"
    fast = "    fast scratch {} B: the driver needs as much SRAM of its own (ethosu_init);"
    title = "Ethos-U at #3 (subgraph 2), compiled for Dedicated_Sram: 9 B of scratch in the head; the arena may be DRAM"
    assert answer_lines(replace(WORKING, npu=(shared, *apart)), 0)[len(SMALLEST) :] == [
        "",
        "Ethos-U at #1, compiled for Shared_Sram or Sram_Only: 9 B of scratch in the head; "
        "the arena has to be memory that the NPU reaches",
        read,
        *("", title, read, fast.format(9), over),
        *("", title, read, fast.format(10), over),
        "    1 B of the arena are there for it alone, and nothing uses them",
    ]


@pytest.mark.parametrize(
    ("enough", "line"),
    [
        (None, "no: AllocateTensors() fails in an arena of any size"),
        (992, "no: 993 B do not work, 992 B do: make the size a multiple of 16"),
        (993, "no: 993 B do not work, 993 B do: make the size a multiple of 16"),
        (994, "no, 993 B is too small, 994 B are needed"),
    ],
)
def test_an_arena_is_too_small_or_no_multiple_of_16(enough: int | None, line: str) -> None:
    answer = ArenaAnswer(993, "no", False, "ok", 0, None, None, ("a", "b"), (), None, enough)
    overwritten = "    bytes in use are overwritten: "
    what = "what to do: declare alignas(16) uint8_t tensor_arena[994], or look what shrink saves:"
    advised = [what, "  tflm-sim shrink m --goal 993"] if enough == 994 else []
    says = [line, *advised, "the device does not notice", f"{overwritten}a", f"{overwritten}b"]
    assert failure_lines(answer, "tflm-sim shrink m --goal 993") == says
