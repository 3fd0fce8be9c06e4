"""RAM: what sections take, and what symbols say of the end, the stack and the heap."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tflm_sim.extensions.firmware.reading.elf import ABSOLUTE, Elf
from tflm_sim.extensions.firmware.reading.memory import Region, regions

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import Part, symbol_parts, write_elf

START = 0x20000000
DATA = Part(".data", b"d" * 100, flags=3, address=START)
BSS = Part(".bss", (0, 900), type=8, flags=3, address=START + 100)


def regions_with(*symbols: tuple[str, int], ram: int | None = None, more: tuple[Part, ...] = ()) -> tuple[Region, ...]:
    parts = (DATA, BSS, *more)
    rows = symbol_parts(len(parts) + 1, *((name, value, 0, 0, ABSOLUTE) for name, value in symbols))
    return regions(Elf(memoryview(write_elf(*parts, *rows))), ram=ram)


def test_without_a_symbol_nothing_is_free_or_full() -> None:
    (region,) = regions_with()
    assert (region.data, region.zeroed, region.static_end) == (100, 900, START + 1000)
    assert region.free is None


def test_stm32_sets_stack_and_heap_aside_by_number() -> None:
    symbols = (("_estack", START + 8192), ("_Min_Stack_Size", 1024), ("_Min_Heap_Size", 512))
    (region,) = regions_with(*symbols)
    assert region.free == 8192 - 1000 - 1024 - 512


def test_cmsis_tells_the_bottom_of_the_stack() -> None:
    (region,) = regions_with(("__StackTop", START + 8192), ("__StackLimit", START + 6144))
    assert (region.stack, region.free) == (2048, 6144 - 1000)


@pytest.mark.parametrize(
    ("bottom", "stack"), [(START + 999, None), (START + 1000, 7192), (START + 8191, 1), (START + 8192, None)]
)
def test_the_bottom_of_the_stack_lies_between_the_data_and_the_top(bottom: int, stack: int | None) -> None:
    (region,) = regions_with(("__StackTop", START + 8192), ("__StackLimit", bottom))
    assert region.stack == stack


@pytest.mark.parametrize(
    ("top", "free"), [(999, None), (1000, 0), (64 << 20, (64 << 20) - 1000), ((64 << 20) + 1, None)]
)
def test_the_end_of_ram_lies_behind_the_data_and_at_most_64_mib_from_their_start(top: int, free: int | None) -> None:
    (region,) = regions_with(("_estack", START + top))
    assert region.free == free


def test_of_two_ends_of_ram_the_one_that_is_usual_holds() -> None:
    (region,) = regions_with(("_sp", START + 2048), ("_estack", START + 4096))
    assert (region.top, region.grounds) == (START + 4096, "_estack")


def test_zephyr_exports_its_configuration() -> None:
    (region,) = regions_with(("CONFIG_SRAM_SIZE", 64), ("CONFIG_SRAM_BASE_ADDRESS", START))
    assert (region.free, region.grounds) == (65536 - 1000, "CONFIG_SRAM_SIZE")


def test_zephyrs_ram_begins_at_or_before_the_data() -> None:
    for base, top in ((START - 1024, START - 1024 + 65536), (START + 4, None)):
        (region,) = regions_with(("CONFIG_SRAM_SIZE", 64), ("CONFIG_SRAM_BASE_ADDRESS", base))
        assert region.top == top
    assert regions_with(("CONFIG_SRAM_SIZE", 64))[0].top == START + 65536


def test_a_section_for_heap_and_stack_is_no_data() -> None:
    aside = Part("._user_heap_stack", (0, 1536), type=8, flags=3, address=START + 1000)
    symbols = (("_estack", START + 8192), ("_Min_Stack_Size", 1024), ("_Min_Heap_Size", 512))
    (region,) = regions_with(*symbols, more=(aside,))
    assert (region.zeroed, region.reserved) == (900, 1536)
    assert region.free == 8192 - 1000 - 1536


def test_the_user_may_give_the_size() -> None:
    (region,) = regions_with(("_Min_Stack_Size", 1024), ram=4096)
    assert (region.free, region.grounds) == (4096 - 1000 - 1024, "as given")


def test_a_size_is_that_of_the_region_that_holds_most() -> None:
    (first, second) = regions_with(ram=4096, more=(Part(".more", (0, 1001), type=8, flags=3, address=0x30000000),))
    assert (first.top, second.top) == (None, 0x30000000 + 4096)


@pytest.mark.parametrize(("gap", "count"), [(4096, 1), (4097, 2)])
def test_a_gap_of_4_kib_is_within_a_region(gap: int, count: int) -> None:
    after = Part(".more", (0, 8), type=8, flags=3, address=START + 1000 + gap)
    assert len(regions_with(more=(after,))) == count


def test_a_static_object_lies_from_the_start_to_the_end_of_the_data() -> None:
    (region,) = regions_with()
    found = [region.contains(at) for at in (START - 1, START, START + 999, START + 1000)]
    assert found == [False, True, True, False]


def test_sections_far_apart_are_regions_of_their_own() -> None:
    other = Part(".sram2", (0, 64), type=8, flags=3, address=0x30000000)
    assert [region.start for region in regions_with(more=(other,))] == [START, 0x30000000]


def test_a_table_of_constructors_in_flash_is_no_ram() -> None:
    table = Part(".init_array", bytes(12), type=14, flags=3, address=0x63AD4)
    assert [region.start for region in regions_with(more=(table,))] == [START]
