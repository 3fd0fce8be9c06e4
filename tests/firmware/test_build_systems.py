"""A build gets the number before it links: CMake's module, PlatformIO's script, and the header that both write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.extensions.header import platformio
from tflm_sim.samples import sample_path

ROOT = Path(__file__).resolve().parents[2]
MAIN = """
#include <cstdio>
#include "net.h"
struct Resolver {
  int calls = 0;
  int AddFullyConnected() { ++calls; return 0; }
};
alignas(16) unsigned char tensor_arena[sine::kTensorArenaSize];
int main() {
  Resolver resolver;
  const bool is_added = sine::AddOperators(resolver);
  std::printf("%zu %u %d %d", sizeof(tensor_arena), sine::kOperatorCount, resolver.calls, is_added);
}
"""
LISTS = """
cmake_minimum_required(VERSION 3.16)
project(net CXX)
add_executable(app main.cc)
find_package(tflm_sim REQUIRED)
tflm_arena(app sine.tflite OUTPUT net.h TARGET x86_64 KERNELS reference)
"""


def header_of(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    path = tmp_path / "net.h"
    assert main(["size", *arguments, "--header", str(path)]) == 0
    assert f"written: {path}" in capsys.readouterr().out
    return path.read_text()


def compiled(tmp_path: Path, header: str, *flags: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "net.h").write_text(header)
    (tmp_path / "main.cc").write_text(MAIN)
    compiler = shutil.which("c++") or pytest.skip("no C++ compiler")
    command = [compiler, "-std=c++11", "-Wall", "-Wextra", "-Werror", *flags, "main.cc", "-o", "app"]
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)


def test_a_header_has_the_arena_and_the_operators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = header_of(capsys, tmp_path, "sample:sine", "--target", "x86_64", "--kernels", "reference")
    assert compiled(tmp_path, header.replace("sample_sine", "sine")).returncode == 0
    assert subprocess.run([tmp_path / "app"], capture_output=True, text=True).stdout == "1616 1 1 1"


def test_a_header_for_another_processor_does_not_compile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = header_of(capsys, tmp_path, "sample:sine", "--target", "cortex-m4")
    assert "kTensorArenaSize was computed for cortex-m4" in compiled(tmp_path, header).stderr


def test_the_resolver_is_listed_as_tflm_spells_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:streaming", "--resolver"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("tflite::MicroMutableOpResolver<11> resolver;")
    assert lines[at + 1 : at + 12] == [
        f"resolver.Add{name}();"
        for name in (
            *("CallOnce", "Reshape", "VarHandle", "ReadVariable", "Concatenation", "StridedSlice"),
            *("AssignVariable", "Conv2D", "DepthwiseConv2D", "FullyConnected", "Logistic"),
        )
    ]


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_cmake_writes_the_header_before_it_compiles_and_again_when_the_model_changes(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(LISTS)
    (tmp_path / "main.cc").write_text(MAIN)
    shutil.copy(sample_path("sine"), tmp_path)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    module = subprocess.run(
        [sys.executable, "-m", "tflm_sim.extensions.header"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    command = f"-DTFLM_SIM_COMMAND={sys.executable};-m;tflm_sim"
    cmake = ["cmake", "-S", ".", "-B", "build", f"-Dtflm_sim_DIR={module.stdout.strip()}", command]
    subprocess.run(cmake, cwd=tmp_path, check=True, capture_output=True, env=environment)

    def built() -> str:
        build = ["cmake", "--build", "build"]
        subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, env=environment)
        return subprocess.run([tmp_path / "build/app"], capture_output=True, text=True).stdout

    assert built() == "1616 1 1 1"
    header = tmp_path / "build/tflm_sim/net.h"
    first = header.stat().st_mtime_ns
    built()
    assert header.stat().st_mtime_ns == first
    os.utime(tmp_path / "sine.tflite")
    built()
    assert header.stat().st_mtime_ns > first


class Environment:
    """What PlatformIO hands to a script, as far as the script asks."""

    def __init__(self, root: Path, models: str) -> None:
        self.root, self.models = root, models
        self.paths: list[str] = []
        self.code: int | None = None

    def subst(self, text: str) -> str:
        return text.replace("$PROJECT_DIR", str(self.root)).replace("$BUILD_DIR", str(self.root / ".pio/build/x"))

    def GetProjectOption(self, name: str, default: Any) -> Any:
        return self.models if name == "custom_tflm_models" else default

    def Append(self, *, CPPPATH: list[str]) -> None:
        self.paths += CPPPATH

    def Exit(self, code: int) -> None:
        self.code = code


def test_platformio_gets_a_header_for_each_model_of_its_file(tmp_path: Path) -> None:
    shutil.copy(sample_path("sine"), tmp_path / "net.tflite")
    env = Environment(tmp_path, "\nnet.tflite net.h --target cortex-m4\n")
    platformio.arena_headers(env)
    assert env.code is None
    assert "kTensorArenaSize = 1168" in Path(env.paths[0], "net.h").read_text()
    other = Environment(tmp_path, "net.tflite net.h --target x86_64")
    platformio.arena_headers(other)
    assert "kTensorArenaSize = 1616" in Path(env.paths[0], "net.h").read_text(), "other options, the same model"
    wrong = Environment(tmp_path, "net.tflite other.h --target nothing")
    platformio.arena_headers(wrong)
    assert wrong.code == 2
