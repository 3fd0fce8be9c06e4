"""``plan -o banks.h``: what is written compiles without a warning with TFLM of 2022-10 to today, and says its plan."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.planners import native

pytestmark = [
    pytest.mark.skipif(shutil.which("arm-none-eabi-g++") is None, reason="arm-none-eabi-g++ is not installed"),
    pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing"),
]
SPOTTER = ["plan", "sample:keyword_spotter", "--kernels", "reference", "--bank", "dtcm=9000", "--bank", "psram=2MiB"]

# What the header uses of TFLM. Of C: in no namespace, and since October 2026 in tflite::micro.
OF_C = "enum TfLiteStatus { kTfLiteOk, kTfLiteError };"
PLANNER = """
struct MicroMemoryPlanner {
  virtual ~MicroMemoryPlanner() {}
  virtual TfLiteStatus AddBuffer(int, int, int) = 0;
  virtual TfLiteStatus AddBuffer(int, int, int, int) { return kTfLiteError; }
  virtual size_t GetMaximumMemorySize() = 0;
  virtual int GetBufferCount() = 0;
  virtual TfLiteStatus GetOffsetForBuffer(int, int*) = 0;
  virtual TfLiteStatus Init(unsigned char*, int) { return kTfLiteOk; }
  PRESERVES
  virtual void PrintMemoryPlan() {}
};
struct IPersistentBufferAllocator {};
struct INonPersistentBufferAllocator {};
struct PersistentArenaBufferAllocator : IPersistentBufferAllocator {
  PersistentArenaBufferAllocator(uint8_t*, size_t);
};
struct NonPersistentArenaBufferAllocator : INonPersistentBufferAllocator {
  NonPersistentArenaBufferAllocator(uint8_t*, size_t);
};
class MicroAllocator {
 public:
  static MicroAllocator* Create(uint8_t*, size_t, MicroMemoryPlanner*);
 protected:
  MicroAllocator(IPersistentBufferAllocator*, INonPersistentBufferAllocator*, MicroMemoryPlanner*);
  virtual ~MicroAllocator();
 private:
  void operator delete(void*) {}
};
"""
DAYS = {
    "2022-10": ("tflite", False, ""),
    "2026-08": ("tflite", False, "virtual bool preserves_all_tensors() const = 0;"),
    "2026-09": ("tflite::micro", False, "virtual bool preserves_all_tensors() const = 0;"),
    "2026-10": ("tflite::micro", True, "virtual bool preserves_all_tensors() const = 0;"),
}
"""TFLM of a month -> its namespace, whether C's structs are there too, and a function that came in 2023."""
HEADERS = (
    *(f"arena_allocator/{kind}_arena_buffer_allocator.h" for kind in ("persistent", "non_persistent")),
    *("compatibility.h", "memory_planner/micro_memory_planner.h", "micro_allocator.h", "micro_log.h"),
)


def tflm(folder: Path, day: str) -> None:
    """Write headers with what the planner uses of TFLM of a month."""
    namespace, is_moved, preserves = DAYS[day]
    of_c = f"namespace {namespace} {{ {OF_C} }}" if is_moved else OF_C
    text = (
        "#pragma once\n#include <cstddef>\n#include <cstdint>\nvoid MicroPrintf(const char*, ...);\n"
        "#define TF_LITE_REMOVE_VIRTUAL_DELETE void operator delete(void*) {}\n"
        f"{of_c}\nnamespace {namespace} {{{PLANNER.replace('PRESERVES', preserves)}}}\n"
    )
    micro = folder / "tensorflow/lite/micro"
    for name in HEADERS:
        (micro / name).parent.mkdir(parents=True, exist_ok=True)
        (micro / name).write_text(
            text if name == "micro_allocator.h" else '#include "tensorflow/lite/micro/micro_allocator.h"\n'
        )


def compiled(folder: Path, source: str) -> None:
    (folder / "use.cc").write_text(source)
    warnings = "-Wall -Wextra -Wshadow -Wconversion -Wno-unused-parameter -Wno-non-virtual-dtor -Werror"
    flags = f"-mcpu=cortex-m4 -mthumb -std=c++17 -Os -fno-rtti -fno-exceptions {warnings} -I."
    done = subprocess.run(
        ["arm-none-eabi-g++", *flags.split(), "-c", "use.cc"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("dtcm", ["9000", "16KiB"])  # The tail in a bank of its own; with the head.
def test_the_header_compiles_with_every_tflm_since_october_2022(day: str, dtcm: str, tmp_path: Path) -> None:
    tflm(tmp_path, day)
    assert main([*SPOTTER[:-3], f"dtcm={dtcm}", *SPOTTER[-2:], "-o", str(tmp_path / "banks.h")]) == 0
    compiled(
        tmp_path,
        '#include "banks.h"\n#include "banks.h"\n'
        "namespace spotter = tflm_banks::keyword_spotter;\n"
        "alignas(16) static uint8_t dtcm[spotter::k_dtcm_bytes], psram[spotter::k_psram_bytes];\n"
        "spotter::Memory memory(dtcm, sizeof dtcm, psram, sizeof psram);\n"
        "bool is_good() { return memory.Check() == tflm_banks::Status::kTfLiteOk; }\n"
        "auto* allocator() { return memory.allocator(); }\n",
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
def test_a_host_of_64_bits_is_refused_by_the_compiler(tmp_path: Path) -> None:
    tflm(tmp_path, "2026-08")
    main([*SPOTTER, "-o", str(tmp_path / "banks.h")])
    command = ["g++", "-m64", "-std=c++17", "-fsyntax-only", "-I.", "-include", "banks.h", "-x", "c++", "/dev/null"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "offsets between banks wrap around in 32 bits; a host of 64 bits cannot run this" in done.stderr


def test_two_models_have_a_header_each_in_one_program(tmp_path: Path) -> None:
    tflm(tmp_path, "2026-08")
    main([*SPOTTER, "-o", str(tmp_path / "one.h")])
    main(["plan", "sample:residual", "--bank", "dtcm=20KiB", "--bank", "psram=2MiB", "-o", str(tmp_path / "two.h")])
    compiled(tmp_path, '#include "one.h"\n#include "two.h"\ntflm_banks::keyword_spotter::Memory* a;\n'
             "tflm_banks::residual::Memory* b;\n")  # fmt: skip


def test_the_table_is_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "banks.h"
    main([*SPOTTER, "-o", str(path)])
    rows = re.findall(r"^    \{(\d), (\d+)u, (\d+)u, (\d+), (\d+)\},", path.read_text(), re.MULTILINE)
    assert rows[:3] == [("0", "0", "31", "0", "1"), ("1", "0", "500", "1", "2"), ("0", "0", "500", "2", "3")]
    assert len(rows) == 14
    assert '    {"psram", 14656u, 8000u},' in path.read_text()


def test_an_old_tflm_gets_no_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SPOTTER[:-4], "--runtime", "2022-08-01", *SPOTTER[-4:], "-o", str(tmp_path / "banks.h")]) == 2
    assert "banks.h is for TFLM of October 2022 and later" in capsys.readouterr().err
    assert not (tmp_path / "banks.h").exists()
