"""Addresses of a fault's report are found in the program: function, file, line, and the operator of the kernel."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from tflm_sim.cli import main
from tflm_sim.extensions.firmware import programs
from tflm_sim.extensions.firmware.reading.image import load_image

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

KERNEL = "tensorflow/lite/micro/kernels/strided_slice.cc"
SOURCES = {
    "main.cc": 'namespace tflite { int Prepare(const int*); }\nextern "C" int main() { return tflite::Prepare(0); }\n',
    KERNEL: (
        "namespace tflite { namespace {\n"
        "__attribute__((noinline)) int BuildStridedSliceParams(const int* begin) {\n"
        "  return begin[1];\n"
        "}\n"
        "} int Prepare(const int* begin) { return BuildStridedSliceParams(begin) + 1; } }\n"
    ),
}
COMPILERS = (
    "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb",
    "riscv64-unknown-elf-g++ -march=rv32imc -mabi=ilp32",
    "g++ -no-pie",
)


def built(folder: Path, compiler: str, *flags: str) -> tuple[Path, int]:
    """Return a program and the address of the function that reads the pointer."""
    if not elf_program.is_there(compiler):
        pytest.skip(f"{compiler.split()[0]} not installed")
    path = elf_program.build(folder, compiler, SOURCES, *flags)
    elf = load_image(path).elf
    assert elf is not None
    (symbol,) = (each for each in elf.symbols if "BuildStridedSliceParams" in each.name)
    return path, symbol.value


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_program_with_debug_information_tells_function_file_and_line(
    compiler: str, version: str, tmp_path: Path
) -> None:
    path, address = built(tmp_path, compiler, "-g", version)
    (place,) = programs.places(str(path), [address])
    assert (place.address, place.function, place.line) == (address, "BuildStridedSliceParams", 2)
    assert programs.places(str(path), [address & ~1])[0].function == "BuildStridedSliceParams"
    assert place.file.endswith(KERNEL)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_without_debug_information_the_symbols_tell_function_and_file(compiler: str, tmp_path: Path) -> None:
    path, address = built(tmp_path, compiler)
    found, nowhere = programs.places(str(path), [address, 0xFFFFFFF0])
    assert (found.function, found.file, found.line) == ("BuildStridedSliceParams", "strided_slice.cc", 0)
    assert (nowhere.function, nowhere.file, nowhere.line) == ("", "", 0)


def test_explain_names_the_operator_and_says_that_the_program_cannot_be_executed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, address = built(tmp_path, COMPILERS[0], "-g")
    log = (
        f"E: ***** MPU FAULT *****\nE:   MMFAR Address: 0x4\nE: Faulting instruction address (r15/pc): 0x{address:08x}"
    )
    assert main(["explain", log, "--firmware", str(path)]) == 1
    assert "  more      with --run the program is executed" in capsys.readouterr().out
    assert main(["explain", log, "--firmware", str(path), "--run"]) == 1
    text = capsys.readouterr().out
    assert "BuildStridedSliceParams" in text
    assert f"{KERNEL}:2, the kernel of STRIDED_SLICE" in text
    assert "It used address 0x4, a null pointer." in text
    assert "  executed  not: " in text


def test_explain_executes_no_program_that_was_only_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = built(tmp_path, COMPILERS[0], "-g")
    monkeypatch.setattr(programs, "seen", Mock(side_effect=AssertionError("it was executed")))
    for form in ([], ["--json"]):
        assert main(["explain", "abort() was called", "--firmware", str(path), *form]) == 1
        assert "it was executed" not in capsys.readouterr().err
    assert main(["explain", "abort() was called", "--run"]) == 2
    assert "--run needs --firmware" in capsys.readouterr().err
