"""``tflm-sim explain``: what people paste, and what they are told."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.checks.explain_failure import MatchingSetting
from tflm_sim.cli import main
from tflm_sim.cli.explain import exact_lines
from tflm_sim.logs.kernel_texts import find_kernel_text

FULL = "Failed to resize buffer. Requested: 33488, available 20472, missing: 13016"
HINT = "--model MODEL, with --target or --library, gives the smallest arena that works"
STRIPPED = "the build strips it"


def explained(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> list[str]:
    assert main(["explain", *arguments]) == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("text", "first"), [
    ("...only 191120 was avai", "the memory plan does not fit: 191,120 B (186.6 KiB) free"),
    ("only 191120 was available.", "the memory plan does not fit: 191,120 B (186.6 KiB) free"),
    ("Axis has only one element for Expand_Dims.", "a kernel or a parser refuses the model"),
    ("region `RAM' overflowed by 1234 bytes", "the program does not fit the memory that the linker has"),
    ("region RAM overflowed by 1234 bytes", "the program does not fit the memory that the linker has"),
    ("dram0_0_seg overflowed by 38192 bytes", "the program does not fit the memory that the linker has"),
    ("ld: app.elf section `.bss' will not fit in region `RAM'",
     "the program does not fit the memory that the linker has"),
    ("cannot move location counter backwards (from 000000002003f1a8 to 0000000020030000)",
     "static data are 61,864 bytes too large"),
    ("[E][micro_wake_word:141]: Failed to allocate tensors for the streaming model", "AllocateTensors failed"),
    ("Could not allocate the streaming model's tensor arena.", "no room for the whole arena, from the heap"),
    ("Cannot allocate tensors", "AllocateTensors failed"),
])  # fmt: skip
def test_a_pasted_line_is_explained(text: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(capsys, text)[0] == f"line 1: {first}"


@pytest.mark.parametrize("text", [
    "the weather is nice today",
    "only 12 was left over",
    "stack overflowed by 12 bytes",
    "Type of plant: not supported by trellis",
])  # fmt: skip
def test_what_is_not_tflms_is_not_explained(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, text, code=3)
    assert lines[0].startswith(("nothing of TensorFlow Lite Micro is in this log", "line 1 is not known"))
    assert lines[-1].startswith("  give      --firmware")


def test_the_end_of_a_line_that_several_messages_have_is_not_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "...available 20472, missing: 13016", code=3)
    assert "its beginning is cut, and several messages end so" in lines[0]
    assert lines[1] == "what failed is not understood; these help:"


def test_a_section_that_does_not_fit_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    note = explained(capsys, "ld: app.elf section `.bss' will not fit in region `RAM'")[1]
    assert note.endswith(".bss is too large for RAM; the linker's next line says by how many bytes.")


def test_two_messages_on_one_line_are_both_explained(capsys: pytest.CaptureFixture[str]) -> None:
    second = "Failed to allocate tail memory. Requested: 120, available 100, missing: 20"
    lines = explained(capsys, FULL + second)
    assert lines[0] == "line 1: a persistent allocation does not fit: 120 B asked for, 100 B free, 20 B missing"
    assert lines[1].startswith("  before    the head (memory plan or scratch-request table) does not fit: 33,488 B")


def test_a_pasted_log_of_many_lines_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    log = "\n".join([*["I (12) main: hello"] * 40, FULL, "Node CONV_2D (number 3) failed to prepare with status 1"])
    assert len(log) > 255  # no system has a file with so long a name
    lines = explained(capsys, log)
    assert lines[0].startswith("line 41: the head (memory plan or scratch-request table) does not fit")
    assert lines[2] == "  operator  CONV_2D, node 3"
    assert lines[-1] == HINT


def test_what_is_explained_is_not_also_stripped(capsys: pytest.CaptureFixture[str]) -> None:
    assert STRIPPED not in "".join(explained(capsys, f"{FULL}\nAllocateTensors() failed"))
    assert STRIPPED in "".join(explained(capsys, "AllocateTensors() failed"))


@pytest.mark.parametrize(("op", "options", "said"), [
    ("RANGE", (), "TFLM of 2026-08-20 (90b983c2b) has no kernel for RANGE, so no resolver can add it"),
    ("SOFTMAX", (), "Add SOFTMAX to the op resolver (Add... of MicroMutableOpResolver): TFLM of 2026-08-20"),
    ("BATCH_MATMUL", ("--library", "chirale"), "TFLM of 2023-01-13 (chirale-2.0.0) has no kernel for BATCH_MATMUL"),
])  # fmt: skip
def test_an_operator_that_the_library_lacks_is_not_one_to_add(
    op: str, options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in "".join(explained(capsys, f"Didn't find op for builtin opcode '{op}'", *options))


def test_ops_lists_what_a_library_has(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "ops", "--library", "chirale", "--json"]) == 0
    names = {row["op"] for row in json.loads(capsys.readouterr().out)}
    assert "CONV_2D" in names
    assert "BATCH_MATMUL" not in names


@pytest.mark.parametrize("before", ["AllocateTensors() failed", "calling AllocateTensors"])
def test_a_panic_after_allocate_tensors_is_the_use_of_a_null_pointer(
    before: str, capsys: pytest.CaptureFixture[str]
) -> None:
    panic = "Guru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled."
    assert "input(0), output(0) and typed_input_tensor() are null pointers" in "".join(
        explained(capsys, f"{before}\n{panic}")
    )
    assert explained(capsys, f"hello world\n{panic}")[0] == "line 2: the program read an address that is none"


def test_with_a_model_the_answer_says_for_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, FULL, "--model", "sample:sine")
    assert HINT not in lines
    assert lines[:2] == [
        "for cortex-m4 (not named, so assumed: --target, --library, --kernels)",
        "TFLM of 2026-08-20 (90b983c2b), cmsis_nn@4ab83cc (dsp)",
    ]


@pytest.mark.parametrize(("text", "file"), [
    ("Axis has only one element for Expand_Dims.", "expand_dims.cc"),
    ("Fill only currently supports float32 for input 1, got 9.", "fill.cc"),
    ("The LSTM Full kernel expects 20 or 24 inputs. Got 5 inputs", "tensorflow/lite/micro/kernels"),
    ("Transpose op only supports 1D-5D input arrays.", "tensorflow/lite/micro/kernels"),
])  # fmt: skip
def test_texts_of_kernels_are_known_at_any_version(text: str, file: str) -> None:
    found = find_kernel_text(text)
    assert found is not None
    assert found.said == text
    assert found.file.endswith(file)


def test_a_text_of_several_files_names_what_their_paths_have_in_common() -> None:
    found = find_kernel_text("Hybrid models are not supported on TFLite Micro.")
    assert found is not None
    assert found.file == "tensorflow/lite/micro/kernels"


def test_the_rest_of_a_format_is_no_operator(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "Failed to get registration from op code  d")
    assert lines[0] == "line 1: some operator is not registered with the resolver, often a custom one"
    assert not [line for line in lines if line.startswith("  operator")]
    both = "Didn't find op for builtin opcode 'MUL' version '1'\nFailed to get registration from op code  d"
    assert "  operator  MUL" in explained(capsys, both)


def explanation(*arenas: tuple[int, int], **facts: Any) -> Any:
    known = {
        "place": "p",
        "arena_size": 1024,
        "contradiction": "",
        "settings": (),
        "never": "n",
        "invoke": "",
        "is_refuted": False,
    }
    smallest = SimpleNamespace(size=1590, multiple_of_16=1600)
    return SimpleNamespace(**{**known, "smallest": smallest, "arenas": arenas, **facts})


def settings(*sizes: int) -> tuple[MatchingSetting, ...]:
    return tuple(MatchingSetting(f"--x{index}", size) for index, size in enumerate(sizes))


SMALLEST = "  smallest  1,590 B; as a multiple of 16: 1,600 B"


@pytest.mark.parametrize(
    ("exact", "lines"),
    [
        (explanation((1500, 1500)), ["  exactly   in an arena of 1,500 B, at: p", SMALLEST]),
        (
            explanation((1500, 1510)),
            ["  so it is  in an arena of 1,500 to 1,510 B (the roundest: 1,024 B), at: p", SMALLEST],
        ),
        (
            explanation((5, 5), (1500, 1510)),
            ["  so it is  in an arena of 5 B or 1,500 to 1,510 B (the roundest: 1,024 B), at: p", SMALLEST],
        ),
        (
            explanation((5, 5), (7, 7)),
            ["  so it is  in an arena of 5 B or 7 B (the roundest: 1,024 B), at: p", SMALLEST],
        ),
        (explanation((5, 5), place=""), [SMALLEST]),
        (explanation(arena_size=None), [SMALLEST]),
        (explanation(place="", contradiction="c"), ["  but       c", SMALLEST]),
        (
            explanation(place="", contradiction="c", is_refuted=True),
            [
                "  but       c",
                "  smallest  not known: of no setting that was tried these numbers come; 1,600 B with the settings "
                "above, which the log refutes",
            ],
        ),
        (
            explanation(place="", contradiction="c", is_refuted=True, settings=settings(2000, 2000)),
            [
                "  but       c",
                "  with      --x0 these numbers come",
                "  with      --x1 these numbers come",
                "  smallest  2,000 B, a multiple of 16, with each of these; not the 1,600 B of the settings above",
            ],
        ),
        (
            explanation(place="", contradiction="c", is_refuted=True, settings=settings(2000, 2016, 2000)),
            [
                "  but       c",
                "  with      --x0 these numbers come",
                "  with      --x1 these numbers come",
                "  with      --x2 these numbers come",
                "  smallest  as a multiple of 16: 2,000 B with --x0 or --x2; 2,016 B with --x1; the program, or the "
                "library's version, decides which it is",
            ],
        ),
        (explanation(place="", smallest=None), ["  smallest  no arena is enough: n"]),
    ],
)
def test_what_the_simulation_adds_is_a_line_each(exact: Any, lines: list[str]) -> None:
    assert exact_lines(exact) == lines


def test_what_the_linker_lacks_says_which_arena_would_fit_and_whether_the_model_fits_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    line = "region `RAM' overflowed by 1000 bytes"
    assert "An arena of 1,032" not in "".join(explained(capsys, line))
    assert "An arena of 1,040 B would fit." in "".join(explained(capsys, line, "--arena-size", "2048"))
    yes = explained(capsys, line, "--arena-size", "4096", "--model", "sample:sine", "--library", "chirale")
    assert "yes, it works in that" in "".join(yes)
    no = explained(capsys, line, "--arena-size", "2048", "--model", "sample:keyword_spotter", "--library", "chirale")
    assert "no, 23,132 B more have to be found" in "".join(no)
    without = explained(capsys, line, "--arena-size", "512")
    assert "Without any arena it would still be 488 B too much." in "".join(without)
    flash = "region `FLASH' overflowed by 1000 bytes"
    assert "An arena of" not in "".join(explained(capsys, flash, "--arena-size", "2048"))
