"""RAM: what the firmware's sections take of each region, and what heap and stack leave.

    start |.data .bss (the arena) ...| end        | stack |  top
          |<------- static --------->|<-- free -->|<----->|

An ELF file does not hold the linker script's regions. Where a region ends is known from a symbol that linker scripts
define (``_estack``, ``__StackTop``, Zephyr's ``CONFIG_SRAM_SIZE``), or from the user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from tflm_sim.extensions.firmware.reading.elf import Elf, Section

_THREAD_LOCAL = 0x400
_CONSTRUCTOR_TABLES = {14, 15, 16}
"""Types of sections that are called writable wherever they lie: .init_array, .fini_array and .preinit_array, which
linker scripts of microcontrollers put into flash."""
_MAX_GAP = 4096
"""Sections further apart than this many bytes count as regions of their own."""
_MAX_REGION_BYTES = 64 * 1024**2
"""A symbol further than this many bytes above a region's start belongs to another one."""
_RESERVED = ("heap", "stack")
"""Sections whose names hold one of these are room for heap and stack, not data."""

STACK_TOPS = (
    "_estack", "__StackTop", "__stack_top__", "_stack_top", "__stack", "_vStackTop", "_sp", "_stack_end"
)  # fmt: skip
_TOPS = (
    "_estack", "__StackTop", "__stack_top__", "_stack_top", "__stack", "_vStackTop", "_ram_end", "__ram_end__",
    "__RAM_END__", "_ram_end_", "__ram_end", "_eram", "_heap_end", "__heap_end__", "__heap_end", "__HeapLimit", "_sp",
    "_stack_end",
)  # fmt: skip
"""Symbols for the end of RAM or of the stack that grows down from there. Sources: the linker scripts of CMSIS,
STM32Cube, the Arduino cores, pico-sdk, Zephyr, MCUXpresso and RISC-V start-up code."""
_OTHER_CORE_STACK = "__StackOneTop"
"""Where the stack of the second core begins: the Pico SDK's scripts, whose stacks lie in banks behind the RAM, have it.
Source: src/rp2_common/pico_crt0/rp2040/memmap_default.ld @ pico-sdk 2.0.0."""
_PICO_TOPS = ("__HeapLimit", "__StackTop")
_STACK_BOTTOMS = (
    "__StackBottom", "__StackLimit", "__stack_limit__", "_stack_bottom", "__stack_bottom", "_sstack"
)  # fmt: skip
"""The Pico SDK's script has the first two; the second one is the end of its RAM there."""
_STACK_SIZES = (
    "_Min_Stack_Size", "__STACK_SIZE", "__stack_size", "_stack_size", "__stack_size__", "STACK_SIZE", "_StackSize"
)  # fmt: skip
_HEAP_SIZES = (
    "_Min_Heap_Size", "__HEAP_SIZE", "__heap_size", "_heap_size", "__heap_size__", "HEAP_SIZE", "_HeapSize"
)  # fmt: skip
_HEAP_BASE, _HEAP_LIMIT = "__HeapBase", "__HeapLimit"
"""Around a heap whose section is not allocated. Source: bsp/stable/mdk/nrf_common.ld @ nrfx 4.2.1."""
_PADDING = 32
"""Bytes between two sections that a linker leaves to align the second one."""
_SRAM_BASE, _SRAM_KIBIBYTES = "CONFIG_SRAM_BASE_ADDRESS", "CONFIG_SRAM_SIZE"


@dataclass(frozen=True, slots=True)
class Region:
    """A stretch of RAM.

    Attributes:
        start: Its first address.
        static_end: Where .data, .bss and their like end.
        data: Initialised bytes.
        zeroed: Bytes that start as zeros.
        reserved: Bytes of sections for heap and stack.
        top: Where it ends; None where nothing says.
        stack: Bytes that are set aside for the stack; None where nothing says.
        heap: Bytes that the build sets aside for the heap at least; None where nothing says.
        grounds: What says where it ends.
    """

    start: int
    static_end: int
    data: int
    zeroed: int
    reserved: int
    top: int | None = None
    stack: int | None = None
    heap: int | None = None
    grounds: str = ""

    @property
    def free(self) -> int | None:
        """Bytes that sections, heap and stack do not take; None where the region's end is not known."""
        if self.top is None:
            return None
        aside = (self.stack or 0) + (self.heap or 0)
        return self.top - self.static_end - max(self.reserved, aside)

    def contains(self, address: int) -> bool:
        """Whether a static object at ``address`` lies here."""
        return self.start <= address < self.static_end


def regions(elf: Elf, *, ram: int | None = None) -> tuple[Region, ...]:
    """Return the regions that writable sections lie in, by address.

    Args:
        elf: The file.
        ram: Bytes of the region that holds most, from the user; None to use what symbols say.
    """
    values = {symbol.name: symbol.value for symbol in elf.symbols}
    groups = [group for group in _grouped(_writable(elf)) if {one.type for one in group} - _CONSTRUCTOR_TABLES]
    found = [_region(group, behind, values) for group, behind in zip_longest(groups, groups[1:])]
    if ram is not None and found:
        largest = max(range(len(found)), key=lambda i: found[i].data + found[i].zeroed)
        region = found[largest]
        found[largest] = _ended(region, region.start + ram, "as given", values)
    return tuple(found)


def _writable(elf: Elf) -> list[Section]:
    sections = [
        section
        for section in elf.sections
        if section.is_allocated and elf.is_in_ram(section) and section.size and not section.flags & _THREAD_LOCAL
    ]
    copied = [section for section in sections if elf.is_copied(section)]
    # Where some are copied, a table that stays where it is stored lies in flash, as .copy.table of CMSIS does.
    found = [section for section in sections if not copied or section in copied or not section.has_bits]
    return sorted(found, key=lambda section: section.address)


def _grouped(sections: Iterable[Section]) -> list[list[Section]]:
    groups: list[list[Section]] = []
    end = 0
    for section in sections:
        if not groups or section.address > end + _MAX_GAP:
            groups.append([])
            end = section.address
        groups[-1].append(section)
        end = max(end, section.address + section.size)
    return groups


def _is_aside(section: Section) -> bool:
    return any(word in section.name for word in _RESERVED)


def _sizes(sections: list[Section]) -> Region:
    aside = [section for section in sections if _is_aside(section)]
    used = [section for section in sections if not _is_aside(section)]
    start, data = sections[0].address, sum(section.size for section in used if section.has_bits)
    return Region(
        start=start,
        static_end=max((section.address + section.size for section in used), default=start),
        data=data,
        zeroed=sum(section.size for section in used) - data,
        reserved=sum(section.size for section in aside),
    )


def _region(sections: list[Section], behind: list[Section] | None, values: Mapping[str, int]) -> Region:
    """Return a region, which ends where the next one begins at the latest.

    Args:
        sections: Its sections.
        behind: Those of the next region.
        values: What symbols say.
    """
    start, region = sections[0].address, _sizes(sections)
    most = start + _MAX_REGION_BYTES if behind is None else min(start + _MAX_REGION_BYTES, behind[0].address)
    base = values.get(_SRAM_BASE, start)
    end = base + 1024 * values.get(_SRAM_KIBIBYTES, 0)
    if _SRAM_KIBIBYTES in values and base <= start and region.static_end <= end <= most:
        return _ended(region, end, _SRAM_KIBIBYTES, values)
    least = max(section.address + section.size for section in sections)
    names = _PICO_TOPS if _OTHER_CORE_STACK in values else _TOPS
    tops = [name for name in names if least <= values.get(name, -1) <= most]
    # A stack that lies directly behind the data, as in Renesas' scripts, does not say where the RAM ends.
    tops = [name for name in tops if values[name] > least or not _is_behind_others(sections)]
    if tops:
        return _ended(region, values[tops[0]], tops[0], values)
    if behind is not None and most == behind[0].address and all(map(_is_aside, behind)):
        return _ended(region, most, behind[0].name, values)
    return region


def _is_behind_others(sections: list[Section]) -> bool:
    """Whether the last section is room for heap or stack, and begins where the one before it ends."""
    *others, last = sections
    end = max((section.address + section.size for section in others), default=last.address - _PADDING)
    return _is_aside(last) and last.address < end + _PADDING


def _ended(region: Region, top: int, grounds: str, values: Mapping[str, int]) -> Region:
    """Return the region with its end, and with the bytes that symbols reserve for stack and heap, if they lie there."""
    tops = [values[name] for name in STACK_TOPS if name in values]
    is_here = not tops or any(region.static_end < one <= top for one in tops)
    stack = _first(_STACK_SIZES, values) if is_here else None
    bottom = _first(_STACK_BOTTOMS, values)
    if stack is None and bottom is not None and region.static_end <= bottom < top:
        stack = top - bottom
    heap = _first(_HEAP_SIZES, values) if is_here else None
    if heap is None and region.static_end <= values.get(_HEAP_BASE, 0) <= values.get(_HEAP_LIMIT, 0) < top:
        heap = values[_HEAP_LIMIT] - values[_HEAP_BASE]
    return Region(
        region.start, region.static_end, region.data, region.zeroed, region.reserved,
        top=top, stack=stack, heap=heap, grounds=grounds,
    )  # fmt: skip


def _first(names: Iterable[str], values: Mapping[str, int]) -> int | None:
    return next((values[name] for name in names if name in values), None)
