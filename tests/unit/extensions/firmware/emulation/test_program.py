"""What a program's symbols, segments and first bytes say: objects, stacks, vector tables."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Core
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom
from tflm_sim.extensions.firmware.reading.elf import Symbol

FUNCTION, OBJECT = 2, 1


def program(
    *symbols: tuple[str, int, int, int],
    is_arm: bool = True,
    segments: tuple[Any, ...] = (),
    sections: tuple[Any, ...] = (),
    data: bytes = b"",
    entry: int = 0,
) -> Program:
    """Return a program of (name, value, size, type) symbols that nothing was looked for in."""
    one = Program.__new__(Program)
    rows = tuple(Symbol(name, value, size, kind, 1) for name, value, size, kind in symbols)
    elf: Any = SimpleNamespace(symbols=rows, segments=segments, sections=sections, data=data, entry=entry)
    one.elf = elf
    one.core = Core("", is_arm, "", "", ("r0",), "lr")
    return one


def segment(address: int, size: int, *, flags: int = 5, offset: int = 0, load: int | None = None) -> Any:
    return SimpleNamespace(
        address=address,
        load_address=address if load is None else load,
        offset=offset,
        file_size=size,
        memory_size=size,
        flags=flags,
        is_writable=bool(flags & 2),
    )


OBJECTS = program(("b", 0x2000_0100, 0x100, OBJECT), ("a", 0x2000_0000, 0x40, OBJECT), ("none", 0x2000_0080, 0, OBJECT))


@pytest.mark.parametrize(
    ("address", "found"),
    [
        (0x1FFF_FFF0, ("a", -16)),
        (0x2000_0000, ("a", 0)),
        (0x2000_003F, ("a", 0x3F)),
        (0x2000_0040, ("a", 0x40)),
        (0x2000_009F, ("a", 0x9F)),  # 0x60 behind a's last byte, 0x61 before b
        (0x2000_00A0, ("b", -0x60)),
        (0x2000_0100, ("b", 0)),
        (0x2000_1000, ("b", 0xF00)),
    ],
)
def test_the_nearest_object(address: int, found: tuple[str, int]) -> None:
    assert OBJECTS.near(address) == found
    assert program().near(address) == ("", 0)


@pytest.mark.parametrize(
    ("head", "size", "found"),
    [
        (0x2000_0100, 0x100, (0x2000_0100, 0x100)),
        (0x2000_0100, 0x80, (0x2000_0100, 0x80)),  # its first half
        (0x2000_0100, 0x101, None),
        (0x2000_010F, 0xF1, (0x2000_0100, 0x100)),  # 15 bytes were skipped
        (0x2000_010F, 0xF0, None),
        (0x2000_0110, 0xF0, None),  # 16 are more than alignment skips
        (0x2000_0050, 16, None),
    ],
)
def test_an_arena_is_an_object_but_for_what_alignment_skips(
    head: int, size: int, found: tuple[int, int] | None
) -> None:
    assert OBJECTS.object_around(head, size) == found


def test_bounds_and_names() -> None:
    assert (OBJECTS.object_bounds(0x2000_013F), OBJECTS.object_name(0x2000_013F)) == ((0x2000_0100, 0x2000_0200), "b")
    assert (OBJECTS.object_bounds(0x2000_0050), OBJECTS.object_name(0x2000_0050)) == (None, "")
    code = program(("main", 0x8001, 8, FUNCTION), segments=(segment(0x8000, 16), segment(0x9000, 16, flags=4)))
    assert [code.place(at) for at in (0x8000, 0x8007, 0x8008)] == [
        "in main() at 0x8000",
        "in main() at 0x8007",
        "at 0x8008",
    ]
    assert [code.is_code(at) for at in (0x7FFF, 0x8000, 0x800F, 0x8010, 0x9000)] == [False, True, True, False, False]
    assert [code.is_function(at) for at in (0x8001, 0x8000)] == [True, False]
    assert program(is_arm=False, segments=(segment(0x8000, 16),)).is_function(0x8000)


def test_a_program_writes_its_objects_and_its_sections() -> None:
    section = SimpleNamespace(address=0x2000_0000, size=0x80, is_allocated=True, is_writable=True)
    constant = SimpleNamespace(address=0x2000_0100, size=0x100, is_allocated=True, is_writable=False)
    objects = [(one.name, one.value, one.size, one.type) for one in OBJECTS.elf.symbols]
    assert program(*objects, sections=(section, constant)).data_spans == (
        Span(0x2000_0000, 0x2000_0040),
        Span(0x2000_0000, 0x2000_0080),
    )
    assert program(*objects, segments=(segment(0x2000_0100, 8, flags=6),)).data_spans == (
        Span(0x2000_0100, 0x2000_0200),
        Span(0x2000_0100, 0x2000_0108),
    )


def with_table(before: bytes, *words: int, entry: int = 0x8000_0101) -> Program:
    data = before + struct.pack(f"<{len(words)}I", *words)
    return program(("_estack", 7, 0, 0), segments=(segment(0, len(data), load=0x800_0000),), data=data, entry=entry)


HANDLERS = (0x11, 0x13, 0x15, 0x17, 0x18)


def test_a_vector_table_is_a_stack_pointer_before_the_entry() -> None:
    one = with_table(b"", 0x2000_8000, 0x8000_0101, *HANDLERS)
    assert one.reset_state() == {"pc": 0x8000_0100, "sp": 0x2000_8000}
    assert one.fault_handlers() == [0x12, 0x14, 0x16]  # the third to the sixth; 0x18 is no function
    assert (one.vector_table, one.stack_top({})) == (0x800_0000, 0x2000_8000)


@pytest.mark.parametrize(
    ("before", "stack", "is_found"),
    [
        (b"1234", 0x1000_0000, True),
        (b"1234", 0x0FFF_FFFC, False),  # no RAM
        (b"1234", 0x2000_8001, False),
        (b"12", 0x2000_8000, False),  # no multiple of 4
        (bytes((1 << 16) - 8), 0x2000_8000, True),
        (bytes((1 << 16) - 4), 0x2000_8000, False),  # behind the 64 KiB that are looked at
    ],
)
def test_where_a_vector_table_may_lie(before: bytes, stack: int, is_found: bool) -> None:
    one = with_table(before, stack, 0x8000_0101, *HANDLERS)
    assert one.vector_table == (0x800_0000 + len(before) if is_found else 0)
    assert one.reset_state()["sp"] == (stack if is_found else 7)


def test_a_table_that_is_cut_short_and_an_entry_that_stands_elsewhere_too() -> None:
    assert with_table(b"", 0x2000_8000, 0x8000_0101).fault_handlers() == []
    assert with_table(struct.pack("<2I", 5, 0x8000_0101), 0x2000_8000, 0x8000_0101, 0, 3).fault_handlers() == [2]
    assert with_table(b"", 0x2000_8000, 0x8000_0101, 0, 3, entry=0x8000_0100).fault_handlers() == [2]


def test_without_a_table_the_stack_begins_at_a_symbol() -> None:
    assert program(("__stack", 9, 0, 0), ("_estack", 8, 0, 0)).reset_state()["sp"] == 8
    with pytest.raises(FirmwareError, match="neither a vector table nor a symbol says where its stack is"):
        program().reset_state()
    assert program(is_arm=False, entry=0x8001).reset_state() == {"pc": 0x8001}
    riscv = with_table(b"", 0x2000_8000, 0x8000_0101, *HANDLERS)
    riscv.core = Core("", False, "", "", ("a0",), "ra")
    assert (riscv.fault_handlers(), riscv.vector_table) == ([], 0)


STACK = (("stack", 0x2000_0000, 0x400, OBJECT),)
RESERVED = (("__StackTop", 0x2001_0000, 0, 0), ("__StackLimit", 0x2000_F000, 0, 0))


@pytest.mark.parametrize(
    ("symbols", "pointer", "is_called", "room"),
    [
        (STACK, 0x2000_0400, True, StackRoom("stack", 0x400, 0)),  # it grows down from its end
        (STACK, 0x2000_0300, True, StackRoom("stack", 0x400, 0x100)),
        (STACK, 0x2000_0300, False, StackRoom("stack", 0x400, None)),
        (STACK, 0x2000_0000, True, None),
        (RESERVED, 0x2000_FF00, True, StackRoom("__StackTop - __StackLimit", 0x1000, 0x100)),
        (RESERVED, 0x2001_0000, True, StackRoom("__StackTop - __StackLimit", 0x1000, 0)),
        (RESERVED, 0x2001_0001, True, StackRoom("__StackTop - __StackLimit", 0x1000, None)),
        (RESERVED, 0x1FF1_0000, True, StackRoom("__StackTop - __StackLimit", 0x1000, 1 << 20)),
        (RESERVED, 0x1FF0_FFFF, True, StackRoom("__StackTop - __StackLimit", 0x1000, None)),
        (RESERVED, 0x2000_FF00, False, StackRoom("__StackTop - __StackLimit", 0x1000, None)),
        ((), 0x2000_FF00, True, None),
    ],
)
def test_what_is_reserved_for_the_stack(symbols: Any, pointer: int, is_called: bool, room: StackRoom | None) -> None:
    assert program(*symbols).stack_room(pointer, is_called=is_called) == room


@pytest.mark.parametrize("has", ["esp_psram_extram_add_to_heap_allocator", "esp_spiram_add_to_heapalloc", "other"])
def test_memory_outside_of_the_chip_is_added_where_the_program_does_so(has: str) -> None:
    one = program((has, 1, 0, FUNCTION), ("heap_caps_add_region_with_caps", 5, 0, FUNCTION))
    assert one.external_heap == (None if has == "other" else 5)
    assert program((has, 1, 0, FUNCTION)).external_heap is None


def test_constructors_are_called_from_the_last_to_the_first() -> None:
    one = program(
        ("heap_caps_init", 3, 0, FUNCTION),
        ("esp_newlib_init", 4, 0, FUNCTION),
        ("esp_libc_init", 4, 0, FUNCTION),
        ("__init_array_start", 0x1004, 0, 0),
        ("__init_array_end", 0x100C, 0, 0),
        ("__global_pointer$", 0x55, 0, 0),
        segments=(segment(0x1000, 4, offset=2), segment(0x1002, 14, offset=2)),
        data=b"xx" + struct.pack("<H3I", 0, 11, 12, 13),
    )
    assert [*one.initialisers()] == [3, 4, 12, 11]
    assert (one.global_pointer, program().global_pointer) == (0x55, None)
