"""The C of the stub: compilers, warnings, sanitizers, coverage, fuzzing, size, and the same answers as Python."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from boards import firmware_size
from hypothesis import example, given
from hypothesis import strategies as st

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.errors import LocalProtocolError
from tflm_sim.extensions.board.connection import Connection
from tflm_sim.extensions.board.framing import encode_frame
from tflm_sim.extensions.board.session import Session
from tflm_sim.logs.arena_report import ArenaReport

STUB = Path(__file__).resolve().parents[2] / "firmware_stub"
PLANNER = Path(__file__).resolve().parents[2] / "tflm_sim" / "planners" / "native"
SOURCES = sorted((STUB / "src").glob("*.c"))
# tflm_arena_report.h needs TensorFlow Lite Micro's headers; docs/board.md compiles it.
HEADERS = sorted(set((STUB / "include").glob("*.h")) - {STUB / "include" / "tflm_arena_report.h"})
WARNINGS = "-Wall -Wextra -Wconversion -Wshadow -Wpedantic -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Werror"


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed")


def run(*command: str, cwd: Path = STUB) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.parametrize(
    "compiler",
    [
        "gcc",
        pytest.param("clang", marks=pytest.mark.nightly),
        "arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb",
        "riscv64-unknown-elf-gcc -ffreestanding",
    ],
)
@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_every_source_is_c99_without_a_warning(compiler: str, source: Path, tmp_path: Path) -> None:
    program, *flags = compiler.split()
    need(program)
    include = ["-I", str(STUB / "include"), "-I", str(PLANNER)]
    run(program, *flags, "-std=c99", "-Os", *WARNINGS.split(), *include, "-c", str(source), "-o", str(tmp_path / "x.o"))


@pytest.mark.parametrize("header", HEADERS, ids=lambda path: path.name)
def test_every_c_header_is_cxx_too_and_stands_alone(header: Path) -> None:
    need("g++")
    include = ["-I", str(STUB / "include"), "-I", str(PLANNER)]
    run("g++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", *include, "-x", "c++",
        "-fsyntax-only", str(header))  # fmt: skip


TFLM = """
#pragma once
#include <cstddef>
OF_C enum TfLiteStatus { kTfLiteOk, kTfLiteError }; END_OF_C
int MicroPrintf(const char *, ...);
#define TF_LITE_REMOVE_VIRTUAL_DELETE void operator delete(void *) {}
namespace NAMESPACE {
struct GreedyMemoryPlanner {
  virtual TfLiteStatus Init(unsigned char *, int);
  virtual TfLiteStatus AddBuffer(int, int, int);
  virtual TfLiteStatus AddBuffer(int, int, int, int);
  virtual TfLiteStatus GetOffsetForBuffer(int, int *);
  virtual ~GreedyMemoryPlanner();
};
struct MicroInterpreter { TfLiteStatus AllocateTensors(); size_t arena_used_bytes() const; };
enum class RecordedAllocationType {
  kTfLiteEvalTensorData, kPersistentTfLiteTensorData, kPersistentTfLiteTensorQuantizationData, kPersistentBufferData,
  kTfLiteTensorVariableBufferData, kNodeAndRegistrationArray, kOpData,
};
struct RecordedAllocation { size_t requested_bytes, used_bytes, count; };
struct RecordingSingleArenaBufferAllocator {
  size_t GetUsedBytes() const;
  size_t GetNonPersistentUsedBytes() const;
  size_t GetPersistentUsedBytes() const;
};
struct RecordingMicroAllocator {
  const RecordingSingleArenaBufferAllocator *GetSimpleMemoryAllocator() const;
  RecordedAllocation GetRecordedAllocation(RecordedAllocationType) const;
};
struct RecordingMicroInterpreter : MicroInterpreter { const RecordingMicroAllocator &GetMicroAllocator() const; };
}
"""
"""What the header for TFLM uses of it."""
TFLM_HEADERS = (
    "compatibility", "memory_planner/greedy_memory_planner", "micro_interpreter", "micro_log",
    "recording_micro_interpreter",
)  # fmt: skip
USE = """
int report(NAMESPACE::MicroInterpreter &plain, NAMESPACE::RecordingMicroInterpreter &recording, void *arena) {
  tsim::ArenaReporter reporter;
  tsim::RememberingPlanner<8> planner;
  reporter.Plan(planner).ReportFailure(plain.AllocateTensors(), arena, 100);
  return reporter.Report(plain, arena, 100) + reporter.Report(recording, arena, 100);
}
"""


@pytest.mark.parametrize("namespace", ["tflite", "tflite::micro"])
def test_the_header_for_tflm_takes_it_in_either_of_its_namespaces(namespace: str, tmp_path: Path) -> None:
    need("g++")
    # The structs and enums of C stood in no namespace, before all moved to tflite::micro.
    of_c = (f"namespace {namespace} {{", "}") if "::" in namespace else ("", "")
    declared = TFLM.replace("END_OF_C", of_c[1]).replace("OF_C", of_c[0])
    if "::" in namespace:
        declared = declared.replace("int MicroPrintf", f"using namespace {namespace};\nint MicroPrintf")
    for name in TFLM_HEADERS:
        path = tmp_path / "tensorflow" / "lite" / "micro" / f"{name}.h"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('#include "tflm.h"\n', "utf-8")
    (tmp_path / "tflm.h").write_text(declared.replace("NAMESPACE", namespace), "utf-8")
    main = tmp_path / "main.cc"
    main.write_text('#include "tflm_arena_report.h"\n' + USE.replace("NAMESPACE", namespace), "utf-8")
    run("g++", "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-fsyntax-only",
        f"-I{tmp_path}", f"-I{STUB / 'include'}", str(main))  # fmt: skip


def test_the_librarys_own_tests_pass_under_the_sanitizers(tmp_path: Path) -> None:
    need("make", "cc")
    assert run("make", "-s", f"BUILD={tmp_path}", "test").strip().endswith("0 checks failed")


def test_those_tests_run_every_line(tmp_path: Path) -> None:
    need("make", "cc", "gcov")
    out = run("make", "-s", f"BUILD={tmp_path}", "coverage")
    files = re.findall(r"'src/(\w+\.c)' Lines executed:([\d.]+)% of \d+", out)
    assert dict(files) == {path.name: "100.00" for path in SOURCES}


@pytest.mark.nightly
def test_any_bytes_into_the_replay_firmware_break_no_rule(tmp_path: Path) -> None:
    need("make", "cc")
    out = run("make", "-s", f"BUILD={tmp_path}", "FUZZ_SECONDS=3", "fuzz")
    assert out.strip().endswith("no rule broken")


@pytest.mark.nightly
def test_the_report_library_is_small_on_every_cortex_m(tmp_path: Path) -> None:
    need("arm-none-eabi-gcc")
    costs = [
        cost
        for cost in firmware_size.measure(tmp_path)
        if cost.library == "report" and cost.target.startswith("Cortex-M")
    ]
    assert len(costs) == 5
    assert all(cost.code < 4096 and cost.ram < 512 for cost in costs), costs


# The same answers as the Python twins.


class Temp(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint32), ("end", ctypes.c_uint32))


class Arena(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("skew", ctypes.c_uint32),
        ("head", ctypes.c_uint32),
        ("temp", ctypes.c_uint32),
        ("tail", ctypes.c_uint32),
        ("mark", ctypes.c_uint32),
        ("temp_count", ctypes.c_uint32),
        ("temps", Temp * 128),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    need("cc")
    path = tmp_path_factory.mktemp("stub") / "stub.so"
    sources = [*map(str, SOURCES), str(PLANNER / "tflm_plan.c")]
    include = ["-I", str(STUB / "include"), "-I", str(PLANNER)]
    run("cc", "-std=c99", "-O1", "-shared", "-fPIC", *include, *sources, "-o", str(path))
    loaded = ctypes.CDLL(str(path))
    loaded.tsim_crc32.restype = ctypes.c_uint32
    return loaded


@given(data=st.binary(max_size=300))
def test_the_crc_is_zlibs(library: ctypes.CDLL, data: bytes) -> None:
    assert library.tsim_crc32(0, data, len(data)) == zlib.crc32(data)


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["tail", "temp", "free", "reset", "head"]),
        st.integers(0, 300),
        st.sampled_from([1, 2, 4, 8, 16]),
    ),
    max_size=40,
)


@example(size=1, skew=0, operations=[("head", 1, 1), ("temp", 0, 1), ("head", 0, 1)])
@given(size=st.integers(0, 1024), skew=st.integers(0, 15), operations=OPERATIONS)
def test_the_c_arena_is_the_python_arena(
    library: ctypes.CDLL, size: int, skew: int, operations: list[tuple[str, int, int]]
) -> None:
    """Offset by offset, and refusal by refusal, except where TFLM itself would overwrite bytes in use."""
    ours = SingleArenaBufferAllocator(size, address=skew)
    arena, result = Arena(), ctypes.c_uint32()
    assert library.tsim_arena_init(ctypes.byref(arena), size, skew) == 0
    live: list[int] = []
    for name, amount, alignment in operations:
        if name == "tail":
            expected = ours.allocate_persistent_buffer(amount, alignment)
            status = library.tsim_arena_persist(ctypes.byref(arena), amount, alignment, ctypes.byref(result))
            assert (result.value if status == 0 else None) == expected
        elif name == "temp":
            if ours.align_up(ours.temp, alignment) > ours.tail:
                return  # TFLM's unsigned difference wraps: it hands out bytes in use, the stub refuses
            expected = ours.allocate_temp(amount, alignment)
            status = library.tsim_arena_take_temp(ctypes.byref(arena), amount, alignment, ctypes.byref(result))
            assert (result.value if status == 0 else None) == expected
            live += [expected] if expected is not None and expected not in live else []
        elif name == "free" and live:
            offset = live.pop(amount % len(live))
            ours.deallocate_temp(offset)
            assert library.tsim_arena_free_temp(ctypes.byref(arena), offset) == 0
        elif name == "reset":
            assert (library.tsim_arena_reset_temps(ctypes.byref(arena)) == 0) == (arena.temp_count == 0)
            if arena.temp_count == 0:
                ours.temp = ours.head
        elif name == "head" and ours.align_up(0, alignment) <= ours.tail:
            status = library.tsim_arena_resize_head(ctypes.byref(arena), amount, alignment, ctypes.byref(result))
            assert (status == 0) == ours.resize_buffer(amount, alignment)
        assert (arena.head, arena.temp, arena.tail) == (ours.head, ours.temp, ours.tail)
        assert library.tsim_arena_check(ctypes.byref(arena)) == 1


WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class Config(ctypes.Structure):
    _fields_ = (("context", ctypes.c_void_p), ("write", WRITE))


@given(
    text=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=80),
    number=st.integers(0, 2**32 - 1),
)
def test_c_and_python_write_the_same_frames(library: ctypes.CDLL, text: str, number: int) -> None:
    sent: list[bytes] = []

    @WRITE
    def write(context: object, data: object, size: int) -> int:
        sent.append(data[:size])  # type: ignore[index]
        return 0

    report = ctypes.create_string_buffer(512)
    config = Config(None, write)
    assert library.tsim_report_init(report, ctypes.byref(config)) == 0
    arena = ctypes.create_string_buffer(16)
    skew = ctypes.addressof(arena) % 16
    assert library.tsim_report_begin(report, arena, ctypes.c_size_t(number)) == 0
    status = library.tsim_report_info(report, b"k", text.encode())
    assert library.tsim_report_total(report, ctypes.c_uint32(number)) == 0
    assert library.tsim_report_end(report) == 0
    assert sent[0] == encode_frame(0, "begin", {"v": 1, "r": 1, "arena": number, "skew": skew})
    try:
        assert sent[1] == encode_frame(1, "info", {"r": 1, "k": "k", "s": text})
        assert status == 0
    except LocalProtocolError:
        assert status == -3
    (event,) = [event for event in Connection().receive(b"".join(sent)) if isinstance(event, ArenaReport)]
    assert (event.arena_size, event.total, event.head) == (number, number, None)
    assert event.info == ((("k", text),) if status == 0 else ())


def test_a_session_with_the_posix_port_over_pipes(tmp_path: Path) -> None:
    need("make", "cc")
    run("make", "-s", f"BUILD={tmp_path}", "host")
    with subprocess.Popen([str(tmp_path / "replay-posix")], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        pipe = Pipe(process.stdin.fileno(), process.stdout.fileno())
        session = Session(pipe)
        assert session.hello().app == "replay/posix"
        assert session.ask("open", v=1, size=64, skew=0).type == "ok"
        assert session.ask("tail", s=16, a=16, i=1).number("o") == 48
        assert session.ask("close").number("tail") == 16
        process.stdin.close()


class Pipe:
    """A port over two descriptors."""

    def __init__(self, to: int, back: int) -> None:
        self.to, self.back = to, back

    def read(self) -> bytes:
        try:
            return os.read(self.back, 4096)
        except BlockingIOError:
            return b""

    def write(self, data: bytes) -> None:
        os.write(self.to, data)

    def close(self) -> None:
        """Nothing to close: the process owns the descriptors."""
