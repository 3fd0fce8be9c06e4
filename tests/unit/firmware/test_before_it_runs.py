"""What is read of a program without running it: its core, models in its memory, what its allocator did."""

from __future__ import annotations

import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.arena.events import Corruption, Persist, Temp
from tflm_sim.emulation.allocations import Allocations
from tflm_sim.emulation.cores import core_of
from tflm_sim.emulation.functions import Watched
from tflm_sim.emulation.loads import is_behind_an_end
from tflm_sim.emulation.replacing import subgraphs_of
from tflm_sim.emulation.seen import Part
from tflm_sim.firmware.elf import Elf

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import Part as Section
from elf_writer import write_elf


class Memory:
    """A machine that stands still: words by address, registers by name."""

    class core:
        arguments = ("r0", "r1", "r2", "r3")
        link = "lr"

    def __init__(self, words: dict[int, int], **registers: int) -> None:
        self.words, self.registers = words, registers

    def read(self, address: int, count: int) -> bytes:
        """Return bytes; those that nobody wrote are 0."""
        at = address & -4
        words = (self.words.get(one, 0) for one in range(at, address + count, 4))
        return struct.pack(f"<{-(-(address + count - at) // 4)}I", *words)[address - at :][:count]

    def get(self, name: str) -> int:
        """Return a register."""
        return self.registers.get(name, 0)


def arm(*attributes: int) -> Elf:
    """Return a program with the attributes (tag, value, tag, value, ...)."""
    scope = bytes([1]) + struct.pack("<I", 5 + len(attributes)) + bytes(attributes)
    rows = b"aeabi\0" + scope
    data = b"A" + struct.pack("<I", 4 + len(rows)) + rows
    return Elf(memoryview(write_elf(Section(".ARM.attributes", data, type=0x70000003))))


# Tag_CPU_arch is 6, and 13 is v7E-M; Tag_FP_arch is 10: 6 is single precision (VFPv4-D16), 7 double (FPv5-D16).
@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ((6, 13), "Cortex-M4"),
        ((6, 13, 10, 6), "Cortex-M4"),
        ((6, 13, 10, 7), "Cortex-M7"),
        ((6, 13, 10, 8), "Cortex-M4"),
        ((6, 11), "Cortex-M0"),
    ],
)
def test_a_cortex_m7_is_known_by_its_double_precision(attributes: tuple[int, ...], name: str) -> None:
    assert core_of(arm(*attributes)).name == name


def model_in_memory(subgraphs: int) -> Memory:
    """Return a memory with a Model at 0x100: vtable at 0xF0, version 3, a vector of subgraphs at 0x140."""
    vtable = {0xF0: 12 | 16 << 16, 0xF4: 4 | 8 << 16, 0xF8: 12}  # 12 bytes of vtable; fields at 4, 8 and 12
    fields = {0x100: 0x10, 0x104: 3, 0x108: 0, 0x10C: 0x140 - 0x10C}
    return Memory({**vtable, **fields, 0x140: subgraphs})


@pytest.mark.parametrize(("subgraphs", "found"), [(0, None), (1, 0x140), (1000, 0x140), (1001, None)])
def test_a_model_has_one_subgraph_to_a_thousand(subgraphs: int, found: int | None) -> None:
    memory: Any = model_in_memory(subgraphs)
    assert subgraphs_of(memory, 0x100) == found


def test_what_is_no_version_3_is_no_model() -> None:
    memory: Any = model_in_memory(1)
    memory.words[0x104] = 2
    assert subgraphs_of(memory, 0x100) is None


ARENA = (0x1000, 0x2000, 0x1000, 0x2000, 0x1000)  # head, end, planned, tail, temp


def put(memory: Any, *fields: int) -> None:
    memory.words.update({0x104 + 4 * i: value for i, value in enumerate(fields)})


@pytest.mark.parametrize(
    ("role", "after", "text"),
    [
        (  # 16 bytes in a tail that begins below the temps' end at 0x1F00
            Watched.PERSISTENT,
            (0x1000, 0x2000, 0x1000, 0x1EF0, 0x1F00),
            "tail: 16 bytes at 3824 overwrite temps that end at 3840",
        ),
        (  # 16 bytes of temp, which end at 0x1F10, in a tail that begins at 0x1F00
            Watched.TEMP,
            (0x1000, 0x2000, 0x1000, 0x1F00, 0x1F10),
            "temp: 16 bytes at 3840 overwrite the tail at 3840",
        ),
    ],
)
def test_bytes_that_are_handed_out_twice_are_told_from_the_arenas_start(
    role: Watched, after: tuple[int, ...], text: str
) -> None:
    memory: Any = Memory({}, r1=16, r2=16, sp=0x9000)
    put(memory, *((0x1000, 0x2000, 0x1000, 0x1F00, 0x1F00)))
    calls = Allocations(memory, Part.ALL)
    calls.begin(role, 0x100, 1)
    put(memory, *after)
    calls.settle()
    assert calls.damage == text
    assert [type(one) for one in calls.take()[-2:]] == [Corruption, Persist if role is Watched.PERSISTENT else Temp]


@pytest.mark.parametrize(
    ("before", "is_arm", "is_end"),
    [
        ("00bf", True, True),  # nop
        ("7047", True, True),  # bx lr
        ("10bd", True, True),  # pop {r4, pc}
        ("10b5", True, False),  # push {r4, lr}
        ("bde8f081", True, True),  # ldmia sp!, {r4-r8, pc}
        ("bde8f041", True, False),  # ldmia sp!, {r4-r8, lr}
        ("fff7feff", True, True),  # bl
        ("8280", False, True),  # ret
        ("01a0", False, True),  # j
        ("4111", False, False),  # addi sp, sp, -16
        ("73001000", False, True),  # ebreak
        ("67800000", False, True),  # jr ra
    ],
)
def test_a_function_may_begin_behind_an_instruction_that_does_not_go_on(
    before: str, is_arm: bool, is_end: bool
) -> None:
    code = bytes.fromhex(before).rjust(4, b"\x55")
    assert is_behind_an_end(code, 4, is_arm=is_arm) is is_end
