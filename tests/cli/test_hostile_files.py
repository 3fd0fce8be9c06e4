"""Every file that once took all memory, or a minute, or ended in a traceback: now within 10 s of CPU and 2 GB."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HOSTILE = Path(__file__).resolve().parents[3] / "shared" / "hostile"
CPU_SECONDS, MEMORY = 10, 2 << 30
NO_ARRAY = "it looks like a source file without an array that is a model"
NO_ARCHIVE = "the archive cannot be read: "

CASES: dict[str, tuple[Sequence[str], int, str]] = {
    **dict.fromkeys(
        ("ident.h", "brack.h", "brack2.h", "comment.h", "longint.h", "instr.h"), (("size", "FILE"), 3, NO_ARRAY)
    ),
    "if0.h": (("size", "FILE"), 0, "if0.h:m on cortex-m4"),
    "neg.h": (("size", "FILE"), 0, "neg.h:m on cortex-m4"),
    "str.h": (("size", "FILE"), 0, "str.h:m on cortex-m4"),
    "zipbomb_1MB_overlapping.zip": (
        ("size", "FILE"),
        3,
        "the archive would be 42,949,672,320 bytes unpacked; at most 536,870,912 are read",
    ),
    "zlibbad.zip": (("size", "FILE"), 3, NO_ARCHIVE + "Error -3 while decompressing data"),
    "lzmabad.zip": (("size", "FILE"), 3, NO_ARCHIVE + "Corrupt input data"),
    "badname.zip": (("size", "FILE"), 3, NO_ARCHIVE + "'utf-8' codec can't decode byte 0xff"),
    "elf_compressed_overlap_145KB_128GB.elf": (("firmware", "FILE"), 3, "is loaded and compressed (at byte 52)"),
    "dwarf_abbrev_bomb_650KB.elf": (("firmware", "FILE"), 3, "no model in it"),
    "json_b.json_1.json": (
        ("check", "sample:sine", "--limit", "64KiB", "--baseline", "FILE"),
        2,
        "is not a baseline of arena sizes: sizes: '\\x1b[31m' is no object",
    ),
    "json_b.json_2.json": (("check", "sample:sine", "--limit", "64KiB", "--baseline", "FILE"), 2, "is out of range"),
    "diff_1.jsonl": (("sweep", "--diff", "FILE", "FILE"), 2, "holds no results of a sweep: "),
    "diff_2.jsonl": (("sweep", "--diff", "FILE", "FILE"), 2, "holds no results of a sweep: "),
    "diff_3.jsonl": (("sweep", "--diff", "FILE", "FILE"), 2, "holds no results of a sweep: "),
    "no_planned_buffers_1100_vs_936.tflite": (
        ("size", "FILE", "--target", "esp32-s3"), 0, "smallest arena  940 B"
    ),
    "no_planned_buffers_864_vs_856.tflite": (
        ("size", "FILE", "--target", "x86_64-pip"), 0, "smallest arena  856 B"
    ),
    "size_pip_says_halts_wheel_ok_fc_zero_point.tflite": (
        ("size", "FILE", "--target", "x86_64-pip"), 4,
        "a debug build halts here, and this one goes on: "
        "tensorflow/lite/micro/kernels/fully_connected_common.cc:147: filter->params.zero_point == 0",
    ),
    "explain_46ms_a_line_400.txt": (
        ("explain", "FILE", "--model", "sample:mobilenet_v1_025"), 1,
        "of the 7 failures are not simulated: too many for one log; give one of their lines",
    ),
    **{
        f"lite_{name}.tflite": (("lite", "FILE", "--kernels", "reference"), code, sentence)
        for name, code, sentence in (
            ("crash_options", 4, "fully_connected.cc:477 NumDimensions(filter) != 2 (4 != 2)"),
            ("exit70_kernel_type", 4, "No valid LSTM builtin options exist"),
            ("exit70_weights_format", 0, "main: arena 144 B"),
            ("ok_real_refuses_conv_options_type", 4, "conv.cc:396 params->stride_height > 0 was not true."),
            ("ok_real_refuses_output_without_scale", 4, "no_integer_overflow_from_quantization was not true."),
            ("ok_real_refuses_uint8_filter", 4, "filter->type == kTfLiteInt8 || filter->type == kTfLiteInt4"),
            ("refuses_real_ok_zero_point_int64", 0, "main: arena 10,240 B"),
            ("text_empty_zero_point_vector", 4, "QuantizationParam has 0 zero_point values and 1 scale values."),
        )
    },
}  # fmt: skip
IN_A_TABLE = "sweep_csv_raw_escapes_custom_op.tflite"


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def tflm_sim(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "tflm_sim", *arguments]
    return subprocess.run(command, preexec_fn=limited, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.shared("hostile")
@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_ends_with_its_sentence(name: str) -> None:
    arguments, code, sentence = CASES[name]
    result = tflm_sim(*(str(HOSTILE / name) if word == "FILE" else word for word in arguments))
    assert (result.returncode, sentence in result.stdout + result.stderr) == (code, True), result.stderr
    assert len(result.stderr.splitlines()) <= 1


@pytest.mark.slow
@pytest.mark.shared("hostile")
def test_every_hostile_file_has_its_case() -> None:
    assert {path.name for path in HOSTILE.iterdir() if path.is_file()} == {*CASES, IN_A_TABLE, "README.md"}


@pytest.mark.slow
@pytest.mark.shared("hostile")
def test_a_table_of_a_sweep_holds_no_command_of_a_model(tmp_path: Path) -> None:
    rows = tmp_path / "r.csv"
    result = tflm_sim("sweep", str(HOSTILE / IN_A_TABLE), "-o", str(rows), "--jobs", "1")
    assert result.returncode == 0, result.stderr
    text = rows.read_text("ascii")
    assert (r"\x1b[" in text, r"\u202e" in text, "\x1b" in text, "\n::error" in text) == (True, True, False, False)


@pytest.mark.slow
@pytest.mark.shared("hostile")
def test_in_a_sweep_each_costs_its_own_row(tmp_path: Path) -> None:
    names = [name for name, (arguments, *_) in CASES.items() if arguments == ("size", "FILE")]
    files = [str(HOSTILE / name) for name in names]
    result = tflm_sim(
        "sweep", *files, "sample:sine", "-o", str(tmp_path / "r.csv"), "--jobs", "1", "--row-seconds", "5"
    )
    assert result.returncode == 0, result.stderr
    # Three of them hold a model each; the sample is the fourth.
    assert result.stdout.lstrip().startswith(f"{len(names) + 1} models, {len(names) + 1} rows in ")
    assert f": {len(names) - 3} unreadable, 4 ok" in result.stdout
