"""Does an arena lie in bytes of its own? What a call passes, held against objects, RAM, stack and other arenas.

    MicroInterpreter(model, resolver, arena, 8000)        arena is an array of 5,000 B  --> its tail lies over others
    MicroInterpreter(model, resolver, (uint8_t*)0x2007f000, 8192)       over the stack  --> fault

TFLM writes at both ends of what it is passed, so bytes of somebody else in it are a fault, however little the model
needs. What a file does not say is a doubt: a sentence that follows "if".
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tflm_sim.extensions.firmware.reading.elf import DATA, Section
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.memory import STACK_TOPS, Region
from tflm_sim.extensions.firmware.reading.object_parts import ObjectPart
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.reading.symbol_names import plain_name, says_arena
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_HEAPS = frozenset({"malloc", "_malloc_r", "pvPortMalloc", "_Znwj"})
"""Functions that take memory behind the static objects, where nothing says that they take it elsewhere."""
_BESIDE_A_COPY = 64
"""Bytes that an array for a copy may have more than what is copied: for its alignment, or a rounded size."""


@dataclass(frozen=True, slots=True)
class ArenaPlace:
    """Where an arena lies.

    Attributes:
        name: The object or the member of one that holds it, "" where none does.
        behind: Bytes from the start of what ``name`` says to the arena.
        fault: Whose bytes TFLM would write to, in words; "" for nobody's that is known.
        doubts: What is taken for granted: sentences that follow "if".
    """

    name: str = ""
    behind: int = 0
    fault: str = ""
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Object:
    name: str
    start: int
    end: int


def place_arena(firmware: Firmware, call: InterpreterCall, calls: Sequence[InterpreterCall]) -> ArenaPlace:
    """Return where the static arena of a call lies.

    Args:
        firmware: What the file says.
        call: The call; its arena's address and size are known.
        calls: All calls that make interpreters, this one too.
    """
    assert call.arena is not None
    assert call.arena_size is not None
    start, end = call.arena, call.arena + call.arena_size
    objects = _objects(firmware)
    own = next((one for one in reversed(objects) if one.start <= start < one.end), None)
    doubts = [*_doubts_about_others(call, calls), *_doubts_about_stores(firmware, start)]
    if own is None:
        fault = _over_others(objects, start, end) or _over_the_stack(firmware, start, end)
        return ArenaPlace(fault=fault, doubts=(*doubts, *_doubts_about_free_ram(firmware, start, end)))
    part = dict(firmware.arena_parts).get(start) or ObjectPart("", 0, own.end - own.start)
    if part.over:
        doubts.append(f"nothing is stored in {_listed(part.over, own.name)} while the model is in use")
    name, room_end = own.name + part.path, own.start + part.end
    fault, behind = "", start - own.start - part.start
    if _is_read_only(firmware, start):
        fault = f"{name} lies in memory that cannot be written"
    elif _is_meant_otherwise(name, own, start, [other.arena for other in calls]):
        doubts.append(f"{name} is there for it (the arena begins {behind:,} B behind its start)")
    if not fault and end > room_end:
        over = end - room_end
        passed = f"{end - start:,} B are passed for {name}, which has {room_end - start:,} B"
        whose = own.name if room_end < own.end else _in_bytes(objects, room_end, end)
        if whose or _over_the_stack(firmware, start, end):
            belong = f"belong to {whose}" if whose else "are not free RAM"
            fault = f"{passed}: the {over:,} B behind it {belong}"
        else:
            doubts.append(f"nothing uses the {over:,} B behind {name} ({passed})")
    return ArenaPlace(name, behind, fault, tuple(doubts))


def _is_meant_otherwise(name: str, own: _Object, start: int, arenas: Iterable[int | None]) -> bool:
    """Whether an arena begins in the middle of an object that no name and no other arena says to be for arenas."""
    return start >= own.start + BUFFER_ALIGNMENT and not says_arena(name) and own.start not in arenas


def _listed(paths: Iterable[str], name: str) -> str:
    return " or ".join(f"{name}{path}" for path in paths)


def _objects(firmware: Firmware) -> list[_Object]:
    """Return the static objects, by address; of those at one address the largest last."""
    elf = firmware.image.elf
    found = {
        (one.value, one.value + one.size): plain_name(one.name)
        for one in (elf.symbols if elf else ())
        if one.type in DATA and one.size and _is_allocated(elf.sections if elf else (), one.section)
    }
    return [_Object(name, start, end) for (start, end), name in sorted(found.items())]


def copy_of(firmware: Firmware, size: int, arenas: Container[int | None]) -> str:
    """Return the object that may hold a copy of ``size`` bytes of the file; "" where none has just that room."""
    rows = (one for one in _objects(firmware) if size <= one.end - one.start <= size + _BESIDE_A_COPY)
    return next((one.name for one in rows if one.start not in arenas and not _is_read_only(firmware, one.start)), "")


def stack_of(firmware: Firmware, top: int) -> tuple[str, int]:
    """Return the object in which a stack grows down from ``top``, and the bytes of it below; ("", 0) for none."""
    found = ((one.name, top - one.start) for one in _objects(firmware) if one.start < top <= one.end)
    return next(found, ("", 0))


def _is_allocated(sections: tuple[Section, ...] | list[Section], index: int) -> bool:
    return index < len(sections) and sections[index].is_allocated


def _in_bytes(objects: Iterable[_Object], start: int, end: int) -> str:
    """Return the object with most bytes between two addresses, "" where none has any."""
    rows = [(min(end, one.end) - max(start, one.start), one.name) for one in objects]
    most, name = max(rows, default=(0, ""), key=lambda row: row[0])
    return name if most > 0 else ""


def _over_others(objects: Iterable[_Object], start: int, end: int) -> str:
    """Return that an arena at an address of its own lies over an object."""
    name = _in_bytes(objects, start, end)
    return f"its arena at {start:#x}, of {end - start:,} B, lies over {name}" if name else ""


def _is_read_only(firmware: Firmware, address: int) -> bool:
    elf = firmware.image.elf
    holding = (s for s in (elf.sections if elf else ()) if s.is_allocated and s.address <= address < s.address + s.size)
    return any(not section.is_writable for section in holding)


def _region_around(firmware: Firmware, address: int) -> Region | None:
    """Return the region of RAM, up to its end, that holds an address; None where none is known to."""
    around = (one for one in firmware.regions if one.top is not None and one.start <= address < one.top)
    return next(around, None)


def _over_the_stack(firmware: Firmware, start: int, end: int) -> str:
    """Return that an arena reaches over the end of RAM, from where the stack grows down; "" where it does not."""
    region = _region_around(firmware, start)
    if region is None or region.top is None or end <= region.top - (region.stack or region.grounds in STACK_TOPS):
        return ""
    where = f"its arena at {start:#x}, of {end - start:,} B, reaches"
    if end == region.top and not region.stack:  # Not one byte is left of it.
        return f"{where} up to {region.grounds} ({region.top:#x}), from where the stack grows down"
    if end > region.top:
        return (
            f"{where} {end - region.top:,} B past {region.grounds} ({region.top:#x}), from where the stack grows down"
        )
    return f"{where} into the {region.stack:,} B of the stack below {region.grounds} ({region.top:#x})"


def _doubts_about_free_ram(firmware: Firmware, start: int, end: int) -> Iterator[str]:
    """Yield what has to hold for an arena that is no object of the program."""
    region = _region_around(firmware, start)
    if region is None:
        if not any(one.start <= start and end <= one.static_end for one in firmware.regions):
            yield f"there is free RAM from {start:#x} to {end:#x}"
        return
    assert region.top is not None
    if not region.stack and end <= region.top:
        yield f"the stack needs no more than the {region.top - end:,} B between the arena and {region.grounds}"
    elf = firmware.image.elf
    if start >= region.static_end and any(one.name in _HEAPS for one in (elf.symbols if elf else ())):
        yield f"the heap stays below the arena at {start:#x}"


def _doubts_about_stores(firmware: Firmware, arena: int) -> Iterator[str]:
    """Yield that the program leaves an arena alone that it uses, where its code stores into it."""
    for store in firmware.set_up.stores:
        if store.arena == arena:
            does = f"it passes an address in it to {store.through}()" if store.through else "it stores there"
            yield f"{store.function}() leaves alone what the model needs in its arena ({does} while it is in use)"


def _doubts_about_others(call: InterpreterCall, calls: Iterable[InterpreterCall]) -> Iterator[str]:
    """Yield that an interpreter whose arena lies in the same bytes is no longer used."""
    assert call.arena is not None
    assert call.arena_size is not None
    for other in calls:
        if other.arena is None or other.arena_size is None or other.site == call.site:
            continue
        shares = bool(call.allocator) and call.allocator == other.allocator
        if not shares and other.arena < call.arena + call.arena_size and call.arena < other.arena + other.arena_size:
            yield (
                f"it is not used at the same time as the interpreter that is made at {other.site or 0:#x}, whose arena "
                "lies over this one"
            )
