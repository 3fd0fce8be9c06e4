"""One program with TFLM's names in ``tflite``, in ``tflite::micro``, and on the days between: it says the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import message_program
import model_program
import operators_program
import run_program
import two_arenas_program

ARM = "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb"
RISCV = "riscv64-unknown-elf-g++ -march=rv32imc -mabi=ilp32"
SINE = "sample:sine"
DAYS = tuple(elf_program.NAMESPACES)
DAYS_OF_FUNCTIONS = ("2026-08-20", "2026-09-28", "2026-10-08")
"""Days on which functions moved; execution asks for nothing else."""
Build = Callable[[Path, str], Path]
"""Builds a program in a folder as TFLM stood on a day of :data:`elf_program.NAMESPACES`."""


def of_flags(built: Callable[..., Path], *given: object) -> Build:
    """Return what builds one of the programs that are given flags."""
    return lambda folder, day: built(folder, *given, *elf_program.NAMESPACES[day])


def with_a_model(folder: Path, day: str) -> Path:
    """Build a program that allocates and computes with the sample that it holds."""
    return model_program.built(folder, sample_path("sine").read_bytes(), ((1, 1), (1, 1)), namespaces=day)


def with_operators(folder: Path, day: str) -> Path:
    """Build a program with two operators, of which one stores out of bounds."""
    return operators_program.built(folder, in_eval="fill(tensor_arena + 1020, 8)", namespaces=day)


def with_structs(compiler: str, *flags: str, more: str = "") -> Build:
    """Return what builds a program with all structs, an operator, an own kernel's Prepare, an arena and the sample.

    Args:
        compiler: Of its processor.
        flags: Of it.
        more: What it declares besides.
    """

    def build(folder: Path, day: str) -> Path:
        if not elf_program.is_there(compiler):
            pytest.skip(f"{compiler.split()[0]} not installed")
        rows = elf_program.all_structs()
        named = [name for name in rows if "." not in name and "::" not in name]
        source = elf_program.source_of(elf_program.in_order(rows, named))
        source += elf_program.model_source("g_model", "sine")
        source += "namespace { alignas(16) __attribute__((used)) unsigned char tensor_arena[4096]; }\n"
        source += "namespace KERNELS { void Register_FULLY_CONNECTED() {} }\n"
        source += "TfLiteStatus PrepareOwn(TfLiteContext *, TfLiteNode *) { return kTfLiteOk; }\n"
        source += f"{more}\nint main() {{ return 0; }}\n"
        kernel = "tensorflow/lite/micro/kernels/concatenation.cc"
        sources = {"main.cc": source, kernel: elf_program.own_struct(rows["concatenation.OpData"], rows)}
        return elf_program.build(folder, compiler, sources, *flags, *elf_program.NAMESPACES[day])

    return build


def stripped(build: Build) -> Build:
    """Return what builds a program, and strips it of its symbols."""

    def built(folder: Path, day: str) -> Path:
        program = build(folder, day)
        subprocess.run(["arm-none-eabi-strip", str(program)], check=True)
        return program

    return built


def said(
    build: Build, arguments: str, folder: Path, capsys: pytest.CaptureFixture[str], days: Iterable[str] = DAYS
) -> str:
    """Return what a command says of the program on each day, which is one text; PROGRAM stands for its file."""
    texts = {}
    for day in days:
        (folder / day).mkdir()
        program = str(build(folder / day, day))
        code = main(arguments.replace("PROGRAM", program).split())
        out = capsys.readouterr()
        lines = f"exit code {code}\n{out.out}{out.err}".replace(program, "PROGRAM").splitlines(keepends=True)
        # What reading would have said is of the TFLM of the day, whose structs differ.
        texts[day] = "".join(line for line in lines if not line.startswith("finding "))
    assert set(texts.values()) == {texts["2026-08-20"]}
    return texts["2026-08-20"]


AS_OF = "--runtime 2026-08-20"
"""Names that moved say which TFLM it is, of which some need more of the arena: the same one is named on each day."""
RUN = of_flags(run_program.built, "cortex-m4", 1024, "-DFAILED=1")
RUN_IN_QEMU = of_flags(run_program.built, "cortex-m3", 1024, "-DFAILED=1")
RUN_OPTIMISED = of_flags(run_program.built, "cortex-m4", 1024, "-DFAILED=1", "-flto", "-ffat-lto-objects")
PRINTING = of_flags(message_program.built, message_program.PLAIN, "cortex-m4")
PRINTING_ON_RISCV = of_flags(message_program.built, message_program.PLAIN, "rv32imac")
EXECUTED = {
    "its arena": (RUN, "firmware PROGRAM --run --invoke 1", "needs 228 B"),
    "in QEMU": (RUN_IN_QEMU, "firmware PROGRAM --run --emulator qemu --invoke 1", "needs 228 B"),
    "link-time optimised": (RUN_OPTIMISED, "firmware PROGRAM --run", "needs 228 B"),
    "two arenas": (of_flags(two_arenas_program.built), "firmware PROGRAM --run", "arena_that_stays"),
    "operators": (with_operators, "firmware PROGRAM --run --invoke 1", "for MUL #1"),
    "RISC-V": (PRINTING_ON_RISCV, "firmware PROGRAM --run", "needs 188 B"),
    "stripped": (stripped(PRINTING), "firmware PROGRAM --run", "TFLM's functions found by their messages"),
    "another model": (with_a_model, f"firmware PROGRAM --run --model {sample_path('sine')}", "needs 164 B"),
    "size": (with_a_model, f"size {SINE} --firmware PROGRAM --executed {AS_OF}", "smallest arena  164 B"),
    "check": (with_a_model, f"check {SINE} --firmware PROGRAM --executed --limit 163 {AS_OF}", "exit code 1"),
    "trace": (with_a_model, f"trace {SINE} --firmware PROGRAM --executed", "tail_used=164"),
    "diff": (with_a_model, f"diff {SINE} sample:residual --firmware PROGRAM --executed {AS_OF}", "before: measured: "),
}
"""A program, a command, and a part of what it says."""
READ = {
    "with debug information": (with_structs(ARM, "-g"), f"firmware PROGRAM {AS_OF}", "(TfLiteType takes 1 B"),
    "of DWARF 2": (
        with_structs(ARM, "-g", "-gdwarf-2", "-gstrict-dwarf"), f"firmware PROGRAM {AS_OF}", "(TfLiteType takes 1 B"
    ),
    "of a RISC-V": (with_structs(RISCV, "-g"), f"firmware PROGRAM {AS_OF}", "measured (debug information)"),
    "by symbols": (
        with_structs(ARM), f"firmware PROGRAM --kernels reference {AS_OF}", "operators   1 registered: FULLY_CONNECTED"
    ),
    "own kernel": (
        with_structs(ARM, "-g"),
        f"firmware PROGRAM --model sample:mobilenet_v1_025 {AS_OF}",
        "registered, with a kernel of the program's own",
    ),
    "size": (with_structs(ARM, "-g"), f"size {SINE} --firmware PROGRAM {AS_OF}", "smallest arena"),
    "check": (
        with_structs(ARM, "-g"), f"check {SINE} --firmware PROGRAM --limit 4096 {AS_OF}", "exit code 3\nyes, if "
    ),
    "shrink": (
        with_structs(ARM, "-g"), f"shrink sample:residual --firmware PROGRAM {AS_OF}", "exit code 3\nneeds 54,352 B"
    ),
    "trace": (with_structs(ARM, "-g"), f"trace {SINE} --firmware PROGRAM {AS_OF}", "exit code 0\nneeds 1,072 B, if "),
}  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.nightly if case in ("check", "trace", "diff") else ()) for case in EXECUTED],
)
def test_an_executed_program_says_the_same(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("unicorn")
    build, arguments, expected = EXECUTED[case]
    if "qemu" in arguments and shutil.which("qemu-system-arm") is None:
        pytest.skip("qemu-system-arm not installed")
    assert expected in said(build, arguments, tmp_path, capsys, DAYS_OF_FUNCTIONS)


@pytest.mark.parametrize("case", READ)
def test_a_program_that_is_read_says_the_same(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build, arguments, expected = READ[case]
    assert expected in said(build, arguments, tmp_path, capsys)


@pytest.mark.parametrize(
    ("day", "span"),
    [
        ("2026-08-20", "between a37043ff7 of 2021-04-09 and 90b983c2b of 2026-08-20 (nothing tells)"),
        (
            "2026-09-28",
            "between 23953f1 of 2026-09-28 and 1fae604 of 2026-10-02 ('tflite::micro::Register_' came with 23953f1 of "
            "2026-09-28; 'TfLiteContext' went with 3f787dc of 2026-10-02)",
        ),
        (
            "2026-10-02",
            "between 3f787dc of 2026-10-02 and 8f6596d of 2026-10-23 ('tflite::micro::TfLiteContext' came with 3f787dc "
            "of 2026-10-02)",
        ),
    ],
)
def test_where_names_stand_tells_which_tflm_it_is(
    day: str, span: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / day).mkdir()
    program = with_structs(ARM)(tmp_path / day, day)
    main(["firmware", str(program), "--kernels", "reference"])
    assert f"TFLM        concluded: {span}" in capsys.readouterr().out


def test_esp_nn_is_modelled_with_the_newest_tflm_where_its_own_copy_is_not_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    functions = 'extern "C" { void esp_nn_conv_s8_opt() {} void esp_nn_add_elementwise_s8_ansi() {} }'
    program = with_structs(RISCV, more=functions)(tmp_path, "2026-10-08")
    assert main(["firmware", str(program), "--json"]) == 3  # The file does not tell how its interpreter is made.
    document = json.loads(capsys.readouterr().out)
    grounds = {ground["part"]: ground["value"] for ground in document["grounds"]}
    assert grounds["TFLM"] == "between 3f787dc of 2026-10-02 and 8f6596d of 2026-10-23"
    assert grounds["kernels"].startswith("esp_nn@")
