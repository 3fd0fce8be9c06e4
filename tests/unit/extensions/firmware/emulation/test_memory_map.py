"""Where a program finds memory: its segments, and what its processor's rules say of all other addresses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.memory_map import MemoryKind, MemoryMap, Span, memory_map, writable

MIB = 1 << 20


def a_map(
    *used: Span, is_arm: bool = True, constant: tuple[Span, ...] = (), written: tuple[Span, ...] = ()
) -> MemoryMap:
    return MemoryMap(is_arm=is_arm, loaded=(), constant=constant, used=used, written=written)


def segment(address: int, size: int, *, held: int = 0, load: int | None = None, is_writable: bool = True) -> Any:
    return SimpleNamespace(
        address=address,
        memory_size=size,
        file_size=held,
        offset=0,
        load_address=address if load is None else load,
        is_writable=is_writable,
    )


def program(*segments: Any, machine: str = "ARM") -> Any:
    return SimpleNamespace(segments=segments, machine=machine, data=b"0123456789")


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        (0, 0xFF, MemoryKind.MEMORY),  # a segment
        (0x100, 0xFFFF, MemoryKind.NOTHING),
        (0x1_0000, 0x1FFF_FFFF, MemoryKind.DEVICE),
        (0x2000_0000, 0x3FFF_FFFF, MemoryKind.MEMORY),
        (0x4000_0000, 0x5FFF_FFFF, MemoryKind.DEVICE),
        (0x6000_0000, 0x9FFF_FFFF, MemoryKind.MEMORY),
        (0xA000_0000, 0xFFFF_FFFF, MemoryKind.DEVICE),
    ],
)
def test_the_system_address_map_of_a_cortex_m(first: int, last: int, kind: MemoryKind) -> None:
    memory = a_map(Span(0, 0x100))
    assert (memory.kind(first), memory.kind(last)) == (kind, kind)


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        (0, 0xFFF, MemoryKind.NOTHING),
        (0x1000, 0x7FFE_FFFF, MemoryKind.DEVICE),
        (0x7FFF_0000, 0x8000_1000 + 16 * MIB - 1, MemoryKind.MEMORY),  # 64 KiB before its data, 16 MiB behind
        (0x8000_1000 + 16 * MIB, 0xFFFF_FFFF, MemoryKind.DEVICE),
    ],
)
def test_a_risc_v_has_ram_around_what_its_program_writes_to(first: int, last: int, kind: MemoryKind) -> None:
    memory = a_map(is_arm=False, written=(Span(0x8000_0000, 0x8000_1000),))
    assert (memory.kind(first), memory.kind(last)) == (kind, kind)


def test_where_no_memory_is() -> None:
    assert a_map().devices() == (Span(0x4000_0000, 0x6000_0000), Span(0xA000_0000, 1 << 32))
    written = (Span(0x8000_0000, 0x8000_1000), Span(0x8010_0000, 0x8010_2000))
    assert a_map(is_arm=False, written=written).devices() == (
        Span(0, 0x7FFF_0000),
        Span(0x8010_2000 + 16 * MIB, 1 << 32),
    )
    # Data in the first 64 KiB, and none at all.
    assert a_map(is_arm=False, written=(Span(0x8000, 0x9000),)).devices()[0] == Span(0, 0)
    assert a_map(is_arm=False).devices() == (Span(0, 0), Span(16 * MIB, 1 << 32))


@pytest.mark.parametrize(
    ("used", "ends"),
    [
        ([], (0xDF00_0000, 0x9F00_0000)),
        ([Span(0xDDFF_FFFF, 0xDE00_0000), Span(0x9F00_0000, 0x9F00_0001)], (0xDF00_0000, 0x9F00_0000)),  # 16 MiB
        ([Span(0xDE00_0000, 0xDE00_0001), Span(0x9E00_0000, 0x9E00_0001)], (0xCF00_0000, 0x7F00_0000)),
        ([Span(0x9EFF_FFFF, 0x9F00_0000), Span(0x7E80_0000, 0x7E80_0001)], (0xDF00_0000, 0x6F00_0000)),
    ],
)
def test_spare_memory_for_data_and_for_code_is_16_mib_that_the_program_does_not_use(
    used: list[Span], ends: tuple[int, int]
) -> None:
    memory = a_map(*used)
    assert (memory.spare, memory.spare_code) == ends


def test_code_that_a_null_pointer_leads_to_lies_in_the_first_16_kib() -> None:
    constant = (Span(0, 0x1000), Span(0x3FFF, 0x9000), Span(0x4000, 0x5000))
    assert a_map(constant=constant).code_near_null == [Span(0, 0x1000), Span(0x3FFF, 0x4000)]


def test_64_kib_are_cut_where_constants_begin_and_end() -> None:
    memory = a_map(constant=(Span(0x1_1000, 0x1_3000), Span(0x2_F000, 0x4_0000)))
    assert [*memory.pages(0x1_0000)] == [(0x1_0000, 0x1000, True), (0x1_1000, 0x2000, False), (0x1_3000, 0xD000, True)]
    assert [*memory.pages(0x2_0000)] == [(0x2_0000, 0xF000, True), (0x2_F000, 0x1000, False)]
    assert [*memory.pages(0x3_0000)] == [(0x3_0000, 0x1_0000, False)]
    assert [*memory.pages(0x4_0000)] == [(0x4_0000, 0x1_0000, True)]


def test_what_is_loaded_stands_where_it_is_stored_until_the_program_starts() -> None:
    elf = program(
        segment(0x0800_0000, 0x3000, held=4, is_writable=False),
        segment(0x2000_0000, 0x100, held=3, load=0x0800_3000),
        segment(0x2000_0100, 0x200),
        segment(0x3000_0000, 0),
    )
    stored, started = memory_map(elf), memory_map(elf, is_started=True)
    assert stored.loaded == ((0x0800_0000, b"0123"), (0x0800_3000, b"012"))
    assert started.loaded == ((0x0800_0000, b"0123"), (0x2000_0000, b"012"))
    assert stored.is_arm
    assert stored.used == (
        Span(0x0800_0000, 0x0800_3000),
        Span(0x2000_0000, 0x2000_0100),
        Span(0x0800_3000, 0x0800_3003),
        Span(0x2000_0100, 0x2000_0300),
    )
    assert stored.written == writable(elf) == (Span(0x2000_0000, 0x2000_0100), Span(0x2000_0100, 0x2000_0300))
    assert not memory_map(program(segment(0, 1, held=1), machine="RISC-V")).is_arm


@pytest.mark.parametrize(
    ("constant", "written", "found"),
    [
        ((0x0800_0000, 0x3000), (0x2000_0000, 4), (Span(0x0800_0000, 0x0800_3000),)),
        ((0x0800_0001, 0x2FFE), (0x2000_0000, 4), (Span(0x0800_1000, 0x0800_2000),)),  # whole pages
        ((0x0800_0001, 0x1FFE), (0x2000_0000, 4), ()),
        ((0x0800_0000, 0x1000), (0x0800_0FFF, 4), ()),  # a page that holds variables, too
        ((0x0800_1000, 0x1000), (0x0800_0FFF, 1), (Span(0x0800_1000, 0x0800_2000),)),
        ((0x0800_0000, 0x1000), (0x0800_1000, 1), (Span(0x0800_0000, 0x0800_1000),)),
    ],
)
def test_whole_pages_without_variables_are_constant(
    constant: tuple[int, int], written: tuple[int, int], found: tuple[Span, ...]
) -> None:
    elf = program(segment(*constant, held=1, is_writable=False), segment(*written))
    assert memory_map(elf).constant == found


def test_64_mib_are_executed_and_no_more_and_not_without_code() -> None:
    assert memory_map(program(segment(0x6000_0000, 63 * MIB, held=1), segment(0, MIB))).used
    with pytest.raises(FirmwareError, match="segments are larger than 67,108,864 bytes"):
        memory_map(program(segment(0x6000_0000, 63 * MIB, held=1), segment(0, MIB + 1)))
    with pytest.raises(FirmwareError, match="no segment of it is loaded"):
        memory_map(program(segment(0x2000_0000, 4)))
