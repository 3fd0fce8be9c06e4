"""Which processor a program is for, and what its functions are to us."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation import cores
from tflm_sim.extensions.firmware.emulation.cores import core_of
from tflm_sim.extensions.firmware.emulation.functions import Entry, Watched, functions_by_role
from tflm_sim.extensions.firmware.emulation.replacing import Interpreters, Replacement, model_of, subgraphs_of
from tflm_sim.extensions.firmware.reading.elf import Symbol

ARCHITECTURE, FP, MVE = 6, 10, 48
"""Tags of abi-aa's addenda32."""


class File:
    """What core_of() asks an ELF file for."""

    def __init__(self, machine: str, bits: int = 32) -> None:
        self.machine, self.bits = machine, bits
        self.segments = ()


# Tag_CPU_arch: v7 (M), v6-M, v6S-M, v7E-M, v8-M.baseline, v8-M.mainline, v8.1-M.mainline; QEMU's boards by Arm.
@pytest.mark.parametrize(
    ("said", "name", "model", "board"),
    [
        ({ARCHITECTURE: 10}, "Cortex-M3", "UC_CPU_ARM_CORTEX_M3", "mps2-an385"),
        ({ARCHITECTURE: 11}, "Cortex-M0", "UC_CPU_ARM_CORTEX_M0", "mps2-an385"),
        ({ARCHITECTURE: 12}, "Cortex-M0", "UC_CPU_ARM_CORTEX_M0", "mps2-an385"),
        ({ARCHITECTURE: 13}, "Cortex-M4", "UC_CPU_ARM_CORTEX_M4", "mps2-an386"),
        ({}, "Cortex-M4", "UC_CPU_ARM_CORTEX_M4", "mps2-an386"),
        ({ARCHITECTURE: 13, FP: 6}, "Cortex-M4", "UC_CPU_ARM_CORTEX_M4", "mps2-an386"),  # single precision
        ({ARCHITECTURE: 13, FP: 7}, "Cortex-M7", "", "mps2-an500"),  # double
        ({ARCHITECTURE: 13, FP: 8}, "Cortex-M7", "", "mps2-an500"),  # as gcc says of fpv5-d16
        ({ARCHITECTURE: 13, FP: 8, 27: 1}, "Cortex-M4", "UC_CPU_ARM_CORTEX_M4", "mps2-an386"),  # fpv5-sp-d16
        ({ARCHITECTURE: 17, FP: 7}, "Cortex-M33", "UC_CPU_ARM_CORTEX_M33", "mps2-an505"),
        ({ARCHITECTURE: 16}, "Cortex-M23", "UC_CPU_ARM_CORTEX_M33", "mps2-an505"),
        ({ARCHITECTURE: 17}, "Cortex-M33", "UC_CPU_ARM_CORTEX_M33", "mps2-an505"),
        ({ARCHITECTURE: 17, MVE: 1}, "Cortex-M33", "", "mps2-an505"),
        ({ARCHITECTURE: 21, MVE: 1}, "Cortex-M55", "", "mps3-an547"),
    ],
)
def test_an_arm_core(monkeypatch: pytest.MonkeyPatch, said: Any, name: str, model: str, board: str) -> None:
    monkeypatch.setattr(cores, "attributes", lambda *_: said)
    file: Any = File("ARM")
    core = core_of(file)
    assert (core.name, core.model, core.board, core.is_arm, core.code_bit) == (name, model, board, True, 1)
    assert (core.arguments, core.link, core.is_windowed) == (("r0", "r1", "r2", "r3"), "lr", False)


@pytest.mark.parametrize("number", [14, 6, "v7"])
def test_other_arm_cores_are_refused(monkeypatch: pytest.MonkeyPatch, number: object) -> None:
    monkeypatch.setattr(cores, "attributes", lambda *_: {ARCHITECTURE: number})
    file: Any = File("ARM")
    with pytest.raises(FirmwareError, match=f"an Arm core of architecture {number}, which is no Cortex-M"):
        core_of(file)


def test_a_risc_v_passes_eight_arguments() -> None:
    file: Any = File("RISC-V")
    core = core_of(file)
    assert (core.name, core.is_arm, core.code_bit, core.board) == ("RISC-V 32", False, 0, "virt")
    assert (core.arguments, core.link) == (("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"), "ra")


@pytest.mark.parametrize(
    ("machine", "bits", "why"),
    [
        ("ARM", 64, "no emulator here has this processor"),
        ("RISC-V", 64, "no emulator here has this processor"),
        ("Xtensa", 32, "only the ESP32 is one whose programs were tried"),
        ("x86-64", 64, "it is a program for a computer: run it there"),
        ("AArch64", 64, "its processor is an application processor"),
    ],
)
def test_what_no_emulator_has_is_refused(machine: str, bits: int, why: str) -> None:
    file: Any = File(machine, bits)
    with pytest.raises(
        FirmwareError, match=rf"a program for {machine} \({bits} bits\) cannot be executed here: .*{why}"
    ):
        core_of(file)


ALLOCATE = "_ZN6tflite16MicroInterpreter15AllocateTensorsEv"
TEMP = "_ZN6tflite26SingleArenaBufferAllocator12AllocateTempEjj"
IN_BOTH_NAMESPACES = {
    Watched.ALLOCATE_TENSORS: (ALLOCATE, "_ZN6tflite5micro16MicroInterpreter15AllocateTensorsEv"),
    Watched.INVOKE: ("_ZN6tflite16MicroInterpreter6InvokeEv", "_ZN6tflite5micro16MicroInterpreter6InvokeEv"),
    Watched.INVOKE_SUBGRAPH: (
        "_ZN6tflite21MicroInterpreterGraph14InvokeSubgraphEi",
        "_ZN6tflite5micro21MicroInterpreterGraph14InvokeSubgraphEi",
    ),
    Watched.CREATE_ALLOCATOR: (
        "_ZN6tflite14MicroAllocator6CreateEPhjNS_17MemoryPlannerTypeE",
        "_ZN6tflite5micro14MicroAllocator6CreateEPhjNS0_17MemoryPlannerTypeE",
    ),
    Watched.CREATE_TWO: (
        "_ZN6tflite14MicroAllocator6CreateEPhjS1_jNS_17MemoryPlannerTypeE",
        "_ZN6tflite5micro14MicroAllocator6CreateEPhjS2_jNS0_17MemoryPlannerTypeE",
    ),
    Watched.CREATE_ARENA: (
        "_ZN6tflite26SingleArenaBufferAllocator6CreateEPhj",
        "_ZN6tflite5micro26SingleArenaBufferAllocator6CreateEPhj",
    ),
    Watched.PERSISTENT: (
        "_ZN6tflite26SingleArenaBufferAllocator24AllocatePersistentBufferEjj",
        "_ZN6tflite5micro26SingleArenaBufferAllocator24AllocatePersistentBufferEjj",
    ),
    Watched.TEMP: (TEMP, "_ZN6tflite5micro26SingleArenaBufferAllocator12AllocateTempEjj"),
    Watched.TEMP_FREE: (
        "_ZN6tflite33NonPersistentArenaBufferAllocator14DeallocateTempEPh",
        "_ZN6tflite5micro33NonPersistentArenaBufferAllocator14DeallocateTempEPh",
    ),
    Watched.TEMP_RESET: (
        "_ZN6tflite33NonPersistentArenaBufferAllocator20ResetTempAllocationsEv",
        "_ZN6tflite5micro33NonPersistentArenaBufferAllocator20ResetTempAllocationsEv",
    ),
    Watched.RESIZE: (
        "_ZN6tflite26SingleArenaBufferAllocator12ResizeBufferEPhjj",
        "_ZN6tflite5micro26SingleArenaBufferAllocator12ResizeBufferEPhjj",
    ),
    Watched.RESIZE_FREE: (
        "_ZN6tflite26SingleArenaBufferAllocator25DeallocateResizableBufferEPh",
        "_ZN6tflite5micro26SingleArenaBufferAllocator25DeallocateResizableBufferEPh",
    ),
    Watched.RESERVE: (
        "_ZN6tflite26SingleArenaBufferAllocator33ReserveNonPersistentOverlayMemoryEjj",
        "_ZN6tflite5micro26SingleArenaBufferAllocator33ReserveNonPersistentOverlayMemoryEjj",
    ),
    Watched.START_MODEL: (
        "_ZN6tflite14MicroAllocator20StartModelAllocationEPKNS_5ModelE",
        "_ZN6tflite5micro14MicroAllocator20StartModelAllocationEPKNS_5ModelE",
    ),
    Watched.COMMIT_PLAN: (
        "_ZN6tflite14MicroAllocator22CommitStaticMemoryPlanEPKNS_5ModelEPNS_19SubgraphAllocationsE"
        "PNS_19ScratchBufferHandleE",
        "_ZN6tflite5micro14MicroAllocator22CommitStaticMemoryPlanEPKNS_5ModelEPNS0_19SubgraphAllocationsE"
        "PNS0_19ScratchBufferHandleE",
    ),
}
"""A function's role -> its name until 2026-10-06, and since the wheel of 2026-10-08."""


def entries(name: str, *, size: int = 100, kind: int = 2, value: int = 0x8001) -> dict[Watched, tuple[Entry, ...]]:
    return functions_by_role([Symbol(name, value, size, kind, 1)], 1)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (ALLOCATE, {Watched.ALLOCATE_TENSORS: (Entry(0x8000, 0),)}),
        (ALLOCATE + ".isra.0", {Watched.ALLOCATE_TENSORS: (Entry(0x8000, 0),)}),
        (ALLOCATE + ".lto_priv.3", {Watched.ALLOCATE_TENSORS: (Entry(0x8000, 0),)}),
        (ALLOCATE + ".part.0", {}),
        (ALLOCATE + ".cold", {}),
        (TEMP, {Watched.TEMP: (Entry(0x8000, 0),)}),
        (TEMP + ".constprop.0", {}),  # its arguments may be others
        (TEMP + ".localalias.1", {Watched.TEMP: (Entry(0x8000, 0),)}),
        ("_ZThn4_" + TEMP[2:], {Watched.TEMP: (Entry(0x8000, 4),)}),
        ("_ZThn12_" + TEMP[2:], {Watched.TEMP: (Entry(0x8000, 12),)}),
        ("main", {Watched.MAIN: (Entry(0x8000, 0),)}),
        ("mainly", {}),
    ],
)
def test_a_function_is_known_by_its_name(name: str, found: dict[Watched, tuple[Entry, ...]]) -> None:
    assert entries(name) == found


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role, names in IN_BOTH_NAMESPACES.items() for name in names]
)
def test_a_function_of_tflm_has_one_role_in_either_namespace(role: Watched, name: str) -> None:
    assert entries(name) == {role: (Entry(0x8000, 0),)}
    assert entries(name + ".lto_priv.0") == {role: (Entry(0x8000, 0),)}
    assert entries(name.replace("_ZN6tflite", "_ZN3app", 1)) == {}, "a function of the program's own"


def test_a_thunk_is_short_and_an_object_is_no_function() -> None:
    thunk = "_ZThn4_" + TEMP[2:]
    assert [bool(entries(thunk, size=size)) for size in (15, 16)] == [False, True]
    assert entries(ALLOCATE, kind=1) == {}
    assert functions_by_role([Symbol(ALLOCATE, 0x8000, 4, 2, 1)], 0) == {Watched.ALLOCATE_TENSORS: (Entry(0x8000, 0),)}


MODEL, OTHER = 0x1000, 0x2000
"""Two models in memory: each a table behind its vtable of five fields, with a vector of subgraphs."""


@pytest.fixture
def arm(machine: Callable[[str], Any]) -> Any:
    one = machine("ARM")
    for address in (MODEL, OTHER):
        one.write_words(address - 16, 12 | 20 << 16, 4 | 8 << 16, 12)  # sizes 12 and 20; fields at 4, 8 and 12
        one.write_words(address, 16, 3, 0, 0x100 - 12)
        one.write_words(address + 0x100, 2)
    return one


@pytest.mark.parametrize(
    ("at", "values", "is_model"),
    [
        (MODEL + 4, (2,), False),  # another version
        (MODEL + 0x100, (0,), False),  # no subgraphs
        (MODEL + 0x100, (1000,), True),
        (MODEL + 0x100, (1001,), False),
        (MODEL - 16, (8 | 20 << 16,), False),  # a vtable of two fields
        (MODEL - 16, (10 | 20 << 16,), True),
        (MODEL - 16, (12 | 20 << 16, 0 | 8 << 16), False),  # without a version
        (MODEL - 16, (12 | 20 << 16, 4 | 8 << 16, 0), False),  # without subgraphs
    ],
)
def test_what_a_model_looks_like(arm: Any, at: int, values: tuple[int, ...], is_model: bool) -> None:
    assert subgraphs_of(arm, MODEL) == MODEL + 0x100
    arm.write_words(at, *values)
    assert subgraphs_of(arm, MODEL) == (MODEL + 0x100 if is_model else None)
    assert [subgraphs_of(arm, address) for address in (MODEL + 2, 0, 12)] == [None, None, None]


def test_the_model_of_an_interpreter_is_the_first_that_one_of_its_words_points_to(arm: Any) -> None:
    arm.write_words(0x8000, 7, OTHER, MODEL)
    assert model_of(arm, 0x8000) == OTHER
    assert [model_of(arm, 0x8000, size) for size in (7, 8)] == [None, OTHER]
    arm.write_words(0x9000 + 4 * 63, MODEL)
    assert (model_of(arm, 0x9000), model_of(arm, 0x9000 - 4)) == (MODEL, None)


def test_interpreters_are_numbered_as_they_come_and_another_model_is_another_one(arm: Any) -> None:
    numbers = Interpreters()
    arm.write_words(0x8000, MODEL)
    arm.write_words(0x9000, OTHER)
    assert [numbers.number(arm, at, None) for at in (0x8000, 0x9000, 0x8000)] == [1, 2, 1]
    arm.write_words(0x8000, OTHER)
    assert [numbers.number(arm, at, None) for at in (0x8000, 0x9000)] == [3, 2]
    replacement: Any = type("", (), {"address": 0x7777})()
    arm.write_words(0x8000, 0x7777)
    assert numbers.number(arm, 0x8000, replacement) == 3  # the last one that was made there
    # Another interpreter directly before it, whose own model comes first, is another one.
    arm.write_words(0x7FF0, MODEL)
    assert numbers.number(arm, 0x7FF0, replacement) == 4


def replaced(arm: Any, wanted: int = 0, bounds: tuple[int, int] | None = None) -> Replacement:
    arm.place = lambda _data: 0x3000
    arm.write_words(0x3010 - 16, 12 | 20 << 16, 4 | 8 << 16, 12)
    arm.write_words(0x3010, 16, 3, 0, 0x100 - 12)
    arm.write_words(0x3110, 1)
    holds = bounds or (0, 0)
    program: Any = type("", (), {"object_bounds": lambda _self, at: bounds if at in range(*holds) else None})()
    return Replacement(arm, program, (0x10).to_bytes(4, "little"), wanted)


def words(arm: Any, address: int, count: int) -> list[int]:
    return [int.from_bytes(arm.read(address + 4 * at, 4), "little") for at in range(count)]


def test_a_model_is_replaced_in_every_word_that_holds_it_or_its_subgraphs(arm: Any) -> None:
    arm.write_words(0x8000, 5, MODEL, MODEL + 0x100, MODEL, 6)
    one = replaced(arm)
    assert one.address == 0x3010
    assert one.tell(0x8000, 1) == ""
    assert words(arm, 0x8000, 5) == [5, 0x3010, 0x3110, 0x3010, 6]
    assert one.tell(0x8000, 1) == ""  # it is there already
    arm.write_words(0x9000, OTHER)
    assert (
        one.tell(0x9000, 2)
        == "it holds several models; `into=N` says whose is replaced, by the number of its interpreter"
    )
    assert one.tell(0xA000, 3) == "the interpreter in which its model stands was not found"


def test_only_the_wanted_interpreter_gets_it(arm: Any) -> None:
    arm.write_words(0x8000, MODEL)
    one = replaced(arm, wanted=2)
    assert (one.tell(0x8000, 1), words(arm, 0x8000, 1)) == ("", [MODEL])
    assert (one.tell(0x8000, 2), words(arm, 0x8000, 1)) == ("", [0x3010])


@pytest.mark.parametrize(
    ("value", "is_known"), [(MODEL - 0x100, True), (MODEL - 0xFF, False), (MODEL + 0x1FF, False), (MODEL + 0x200, True)]
)
def test_an_interpreter_that_holds_other_parts_of_its_model_is_left_alone(arm: Any, value: int, is_known: bool) -> None:
    arm.write_words(0x8000, value, MODEL, MODEL + 0x180)  # what stands behind the last known word does not count
    one = replaced(arm, bounds=(MODEL - 0x100, MODEL + 0x200))
    told = one.tell(0x8000, 1)
    assert told == ("" if is_known else "its interpreter holds parts of its model that are not known here")
    assert words(arm, 0x8000, 2) == [value, 0x3010 if is_known else MODEL]
