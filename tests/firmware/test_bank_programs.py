"""Programs with the planner of banks.h: what is said of them names the banks, and which of them lacks how much."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.extensions.firmware.emulation.banks import banks_around, given_banks, lacks
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena, ExecutedBank, Execution
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.seen import Arena
from tflm_sim.extensions.firmware.execution_text import ExecutionDocument, verdicts
from tflm_sim.extensions.firmware.reading.bank_plans import bank_plans, banks_in
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.planners import native
from tflm_sim.samples import sample_path

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import model_program
from test_banks_header import tflm
from test_firmware_verb import MESSAGE

ARM = "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb"
pytestmark = [
    pytest.mark.skipif(not elf_program.is_there(ARM), reason="arm-none-eabi-g++ is not installed"),
    pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing"),
]
PLAN = ["plan", "sample:keyword_spotter", "--kernels", "reference", "--bank", "dtcm=9000", "--bank", "psram=64KiB"]
OPERATORS = "CONV_2D DEPTHWISE_CONV_2D AVERAGE_POOL_2D RESHAPE FULLY_CONNECTED SOFTMAX CONCATENATION"
# Of TFLM, as much as a program with banks.h calls.
STUBS = """
#include "banks.h"
void MicroPrintf(const char*, ...) {}
namespace tflite {
MicroAllocator::MicroAllocator(IPersistentBufferAllocator*, INonPersistentBufferAllocator*, MicroMemoryPlanner*) {}
MicroAllocator::~MicroAllocator() {}
MicroAllocator* MicroAllocator::Create(uint8_t*, size_t, MicroMemoryPlanner*) { return nullptr; }
PersistentArenaBufferAllocator::PersistentArenaBufferAllocator(uint8_t*, size_t) {}
NonPersistentArenaBufferAllocator::NonPersistentArenaBufferAllocator(uint8_t*, size_t) {}
}
void operator delete(void*, unsigned) noexcept {}
alignas(16) static uint8_t dtcm[PLAN::k_dtcm_bytes], psram[PLAN::k_psram_bytes];
volatile size_t psram_size = sizeof psram;
extern "C" void* memset(void* to, int, size_t) { return to; }
extern "C" int __cxa_guard_acquire(void*) { return 1; }
extern "C" void __cxa_guard_release(void*) {}
extern "C" void __cxa_pure_virtual() {}
__attribute__((used)) void* allocator() {
  static PLAN::Memory memory(dtcm, sizeof dtcm, psram, SIZE);
  return memory.allocator();
}
"""


def program(
    folder: Path, *, sample: str = "keyword_spotter", size: str = "sizeof psram", has_symbols: bool = True
) -> str:
    """Return a program with banks.h for the sample keyword_spotter; ``size``: what it says that psram has."""
    tflm(folder, "2026-08")
    assert main([*PLAN, "-o", str(folder / "banks.h")]) == 0
    rows = elf_program.all_structs()
    named = [name for name in rows if "." not in name and "::" not in name]
    source = elf_program.source_of(elf_program.in_order(rows, named))
    source += elf_program.model_source("g_model", sample) + MESSAGE
    registered = " ".join(f"void Register_{name}() {{}}" for name in OPERATORS.split())
    source += f"namespace KERNELS {{ {registered} }}\nint main() {{ return 0; }}\n"
    stubs = STUBS.replace("PLAN", "tflm_banks::keyword_spotter").replace("SIZE", size)
    conv = elf_program.own_struct(rows["concatenation.OpData"], rows)
    sources = {"main.cc": source, "banks.cc": stubs, "tensorflow/lite/micro/kernels/concatenation.cc": conv}
    return str(elf_program.build(folder, ARM, sources, "-g", "-I.", "-Os", *([] if has_symbols else ["-s"])))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main(list(arguments))
    return code, capsys.readouterr().out


def test_the_answer_names_what_each_bank_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path)
    code, text = said(capsys, "firmware", elf)
    assert text.splitlines()[0].endswith("needs 8,000 B in dtcm (of 8,000 B) and 14,656 B in psram (of 14,656 B)")
    assert (code, text.startswith("yes: model g_model")) == (0, True)
    for verb in ("size", "check --limit 22784"):
        name, *options = verb.split()
        code, text = said(capsys, name, "sample:keyword_spotter", "--firmware", elf, *options)
        first = "yes: needs 8,000 B in dtcm (of 8,000 B) and 14,656 B in psram (of 14,656 B)"
        assert (code, text.splitlines()[0]) == (0, first)
    code, text = said(capsys, "firmware", elf, "--json")
    (row,) = json.loads(text)["verdicts"]
    assert [(bank["name"], bank["size"], bank["needed"]) for bank in row["banks"]] == [
        ("dtcm", 8000, 8000),
        ("psram", 14656, 14656),
    ]
    assert row["smallest_arena"] == 22656


def test_one_byte_less_is_a_no_that_names_the_bank_and_what_the_planner_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path, size="sizeof psram - 1")
    why = (
        "psram (14,655 B) is too small by 1 B: AllocateTensors() will fail and print "
        "`bank psram has 14655 bytes, the plan needs 14656`"
    )
    code, text = said(capsys, "firmware", elf)
    assert (code, text.splitlines()[0].endswith(why)) == (1, True)
    code, text = said(capsys, "check", "sample:keyword_spotter", "--firmware", elf, "--limit", "64KiB")
    assert (code, text.splitlines()[0]) == (1, f"no: {why}")


def test_sizes_that_are_known_when_it_runs_are_a_condition_for_each_bank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(capsys, "firmware", program(tmp_path, size="psram_size"))
    assert code == 3
    assert text.startswith("yes, if dtcm has 8,000 B or more and psram has 14,656 B or more: model g_model ")


def test_a_plan_for_another_model_is_a_no_with_the_buffer_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = said(capsys, "firmware", program(tmp_path, sample="sine"))
    assert code == 1
    assert (
        "the plan of banks.h (keyword_spotter) is for another model or other kernels: AllocateTensors() will fail and "
        "print `buffer 0 has 16 bytes [0, 1], planned were 496 bytes [0, 1]: other model or kernels`"
    ) in text


class Memory:
    """A machine whose memory is the program's file, and whose stack pointer is 0."""

    def __init__(self, elf: str) -> None:
        self._pieces = load_image(elf).pieces

    def read(self, address: int, size: int) -> bytes:
        for piece in self._pieces:
            if piece.address <= address < piece.address + len(piece.data):
                return bytes(piece.data[address - piece.address :][:size])
        return bytes(size)

    def get(self, _: str) -> int:
        return 0


def test_banks_are_found_in_the_memory_of_a_program_that_runs_also_without_symbols(tmp_path: Path) -> None:
    elf = program(tmp_path, has_symbols=False, size="sizeof psram - 1")
    image = load_image(elf)
    assert image.elf is not None
    (banks,) = given_banks(Memory(elf), Program(image.elf))  # type: ignore[arg-type]
    assert [(bank.name, bank.size, bank.needed, bank.is_head, bank.is_tail) for bank in banks] == [
        ("dtcm", 8000, 8000, True, False),
        ("psram", 14655, 14656, False, True),
    ]
    assert list(lacks(banks)) == ["psram (14,655 B) is too small by 1 B"]
    tail = banks[1].address + 8000
    arena = Arena(tail, 6655, tail, True, None, None)
    assert banks_around(arena, [banks]) == banks
    elsewhere = replace(arena, address=banks[1].address + 14655)
    assert banks_around(elsewhere, [banks]) == ()


def test_what_a_planner_knows_of_its_banks_is_not_taken_for_them(tmp_path: Path) -> None:
    """It has a table of functions, the plan, where the banks are, and how many buffers there were."""
    elf = program(tmp_path)
    image = load_image(elf)
    assert image.elf is not None
    memory = Memory(elf)
    given = next(each for each in bank_plans(image) if each.banks is not None)
    plan = given.table.address.to_bytes(4, "little")
    at = next(
        piece.address + offset
        for piece in image.pieces
        for offset in range(0, len(piece.data) - 4, 4)
        if bytes(piece.data)[offset : offset + 4] == plan and any(banks_in(bytes(piece.data)[offset:], given.table))
    )
    planner = plan + (at + 4).to_bytes(4, "little") + (37).to_bytes(4, "little") + bytes(16)
    stack = {"data": planner.ljust(1 << 16, b"\0")}

    def read(address: int, size: int) -> bytes:
        return stack["data"][:size] if address == 0x30000000 else Memory.read(memory, address, size)

    memory.read = read  # type: ignore[method-assign]
    memory.get = lambda _: 0x30000000  # type: ignore[method-assign]
    assert len(given_banks(memory, Program(image.elf))) == 1  # type: ignore[arg-type]


def test_an_executed_program_tells_what_each_bank_needs() -> None:
    dtcm = ExecutedBank(
        name="dtcm", address=0x20000000, size=8000, needed=8000, planned=8000, is_head=True, is_tail=False
    )
    psram = replace(dtcm, name="psram", address=0x60000000, size=14655, needed=14656, is_head=False, is_tail=True)
    arena = ExecutedArena(
        symbol="psram", part="all", address=0x60001F40, size=6655, is_exact=True, fits=False, works=False,
        arena_used_bytes=0, smallest_arena=None, smallest_arena_multiple_of_16=None, arena_used_bytes_at_smallest=None,
        succeeds_from=None, log_below=(), reason="psram (14,655 B) is too small by 1 B", allocations=(), trials=0,
        tried=(), banks=(dtcm, psram),
    )  # fmt: skip
    execution = Execution(
        file=None,
        core="Cortex-M4",
        emulator="Unicorn",
        start="",
        is_guessed=False,
        ending="",
        output="",
        arenas=(arena,),
    )
    document = ExecutionDocument(execution=execution, compared=(), contradictions=(), places=(), answer="no")
    assert verdicts(document) == [
        "no: psram (14,655 B) is too small by 1 B; dtcm (8,000 B) needs 8,000 B and psram (14,655 B) needs 14,656 B"
    ]


BARE = 0x20008000
"""RAM of an emulated Cortex-M4 in which no object of the program lies."""
OWN_PLAN = """
struct Need { const char *bank; uint32_t needed, planned; };
struct Plan {
  char mark[12];
  uint8_t banks, head, tail, unused;
  const char *model;
  uint32_t count;
  const void *entries;
  const Need *needs;
};
struct Bank { uint32_t base, size; };
struct Given { const Plan *plan; Bank banks[2]; };
alignas(16) uint8_t small[96] = {1};
const Need needs[2] = {{"dtcm", 500, 0}, {"psram", 64, 64}};
const Plan plan = {"tflm_banks1", 2, 0, 0, 0, "own", 0, nullptr, needs};
__attribute__((used)) Given given = {&plan, {{(uint32_t)tensor_arena, ARENA}, {WHERE, GIVEN}}};
"""


def bare_program(folder: Path, stray: str, *, where: str = hex(BARE), given: int = 64) -> str:
    """Return a program whose planner has its arena as the one bank, and the other one at ``where``."""
    pytest.importorskip("unicorn")
    source = OWN_PLAN.replace("WHERE", where).replace("GIVEN", str(given))
    model = sample_path("sine").read_bytes()
    return str(model_program.built(folder, model, ((1, 1), (1, 1)), stray=stray, more=source))


def test_a_bank_without_a_symbol_is_the_planners_and_its_end_is_watched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inside = f"*(volatile uint8_t *)({BARE} + 63) = 1"
    code, text = said(capsys, "firmware", bare_program(tmp_path / "a", inside), "--run", "--invoke", "1")
    assert text.splitlines()[0] == "yes: dtcm (4,096 B) needs 500 B and psram (64 B) needs 64 B"
    assert (code, "outside " in text) == (0, False)
    behind = f"*(volatile uint8_t *)({BARE} + 64) = 1"
    code, text = said(capsys, "firmware", bare_program(tmp_path / "b", behind), "--run", "--invoke", "1")
    assert text.startswith("no: Invoke() stores 1 B out of bounds; dtcm ")
    assert (code, f"outside   1 B at {BARE + 64:#x}, " in text) == (1, True)


def test_executed_for_check_the_answer_names_what_each_bank_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = bare_program(tmp_path / "a", f"*(volatile uint8_t *){BARE} = 1")
    check = ["check", "sample:sine", "--limit", "400", "--executed", "--firmware"]
    code, text = said(capsys, *check, elf)
    first = "yes: needs 500 B in dtcm (of 4,096 B) and 64 B in psram (of 64 B)"
    assert (code, text.splitlines()[0]) == (0, first)
    assert "the simulation differs" not in text
    code, text = said(capsys, *check, elf, "--json")
    verdict = json.loads(text)
    assert (verdict["smallest_arena_bytes"], verdict["limit"]) == (564, None)
    assert [(bank["name"], bank["size"], bank["needed"]) for bank in verdict["executed"]["banks"]] == [
        ("dtcm", 4096, 500),
        ("psram", 64, 64),
    ]
    code, text = said(capsys, *check, bare_program(tmp_path / "b", f"*(volatile uint8_t *)({BARE} + 64) = 1"))
    assert (code, text.splitlines()[0]) == (1, "no: Invoke() stores 1 B out of bounds")


BANKED = """bank   needs  has    plan  with
dtcm     500  4,096     0  head and tail
psram     64     64    64"""


def test_size_report_and_trace_of_an_executed_program_answer_bank_by_bank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = bare_program(tmp_path, f"*(volatile uint8_t *){BARE} = 1")
    code, text = said(capsys, "size", "--firmware", elf, "--executed")
    assert (code, BANKED in text) == (0, True)
    code, text = said(capsys, "size", "--firmware", elf, "--executed", "--json")
    answer = json.loads(text)
    assert (answer["smallest_arena_bytes"], answer["status"]) == (None, "ok")
    assert [(bank["name"], bank["needed"], bank["is_tail"]) for bank in answer["bank_needs"]] == [
        ("dtcm", 500, True),
        ("psram", 64, False),
    ]
    code, text = said(capsys, "trace", "--firmware", elf, "--executed")
    assert (code, text.count("persist ") > 2) == (0, True)
    assert main(["report", "--firmware", elf, "--executed", "-o", str(tmp_path / "banks.svg")]) == 0
    picture = (tmp_path / "banks.svg").read_text("utf-8")
    assert ("bank of 500 B: dtcm of 4,096 B" in picture, "bank of 64 B: psram of 64 B" in picture) == (True, True)
    assert main(["report", "--firmware", elf, "--executed", "--compare-planner", "linear", "-o", "-"]) == 3
    assert "its tensors lie in several banks of RAM, by its banks.h" in capsys.readouterr().err


def test_size_and_report_of_a_read_program_answer_bank_by_bank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path)
    _, text = said(capsys, "size", "sample:keyword_spotter", "--firmware", elf)
    assert "bank   needs   has     plan   with\ndtcm    8,000   8,000  8,000  head\n" in text
    code, text = said(capsys, "diff", *["sample:keyword_spotter"] * 2, "--firmware", elf, "--fail-on-increase")
    assert "14,656  14,656       0  bank psram\n" in text
    # Without the allocator's objects, which lie outside of the banks.
    assert " 6,644   6,644       0  tail (persistent)\n" in text
    assert (code, text.splitlines()[-1]) == (0, "yes: the smallest arena did not grow by more than 0 B")
    _, text = said(capsys, "report", "sample:keyword_spotter", "--firmware", elf, "-o", "-", "--format", "json")
    fast, slow = json.loads(text)["pictures"]
    assert [(each["arena_bytes"], len(each["residents"]["offset"])) for each in (fast, slow)] == [(8000, 9), (14656, 5)]
    assert fast["residents"]["offset"][:2] == [0, 0]
    saved = tmp_path / "saved.json"
    saved.write_text(text, "utf-8")
    code, text = said(capsys, "report", str(saved), "-o", "-", "--format", "svg")
    assert (code, text.count("bank of ")) == (0, 2)
    assert main(["report", "sample:keyword_spotter", "--firmware", elf, "--arena-size", "20000", "-o", "-"]) == 2
    assert "--arena-size is about one arena" in capsys.readouterr().err


def test_a_bank_that_is_larger_than_the_object_it_is_is_a_no(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = bare_program(tmp_path, "(void)0", where="(uint32_t)small", given=100)
    code, text = said(capsys, "firmware", elf, "--run", "--invoke", "1")
    assert (code, text.startswith("no: 100 B are passed for small, which has 96 B there; dtcm ")) == (1, True)
