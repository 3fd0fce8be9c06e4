import os
import shutil
import subprocess

import pytest
from compare import abi as measure_abi

CASES = [
    ("x86_64", ["gcc"], "nm"),
    ("x86_64-compression", ["gcc"], "nm"),
    ("i386", ["gcc", "-m32"], "nm"),
    ("cortex-m0plus", ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus"], "arm-none-eabi-nm"),
    ("cortex-m4", ["arm-none-eabi-gcc", "-mcpu=cortex-m4"], "arm-none-eabi-nm"),
    ("cortex-m4-int-enums", ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-fno-short-enums"], "arm-none-eabi-nm"),
    ("riscv32", ["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"], "riscv64-unknown-elf-nm"),
    ("esp32", ["xtensa-lx106-elf-gcc"], "xtensa-lx106-elf-nm"),
    ("esp32-s3", ["xtensa-lx106-elf-gcc", "-mabi=windowed"], "xtensa-lx106-elf-nm"),
]


def usable(compiler: list[str], nm: str) -> bool:
    if shutil.which(compiler[0]) is None or shutil.which(nm) is None:
        return False
    return subprocess.run([*compiler, "-x", "c", "-c", os.devnull, "-o", os.devnull], check=False).returncode == 0


@pytest.mark.parametrize("runtime", ["90b983c", "8f6596d"])
@pytest.mark.parametrize(("name", "compiler", "nm"), CASES, ids=[case[0] for case in CASES])
def test_the_compiler_lays_out_every_struct_as_computed(name: str, compiler: list[str], nm: str, runtime: str) -> None:
    if not usable(compiler, nm):
        pytest.skip(f"{' '.join(compiler)} does not work here")
    of = measure_abi.preset(name, kernels="reference", runtime=runtime)
    assert measure_abi.differences(of, measure_abi.measure(measure_abi.c_source(of), compiler, nm)) == []


def test_a_wrong_answer_is_named() -> None:
    of = measure_abi.preset("cortex-m4")
    measured = measure_abi.expected(of) | {"size_s_TfLiteTensor": 40}
    assert measure_abi.differences(of, measured) == ["size_s_TfLiteTensor: computed 32, measured 40"]
