"""Addresses of code in a linked program -> functions, files and lines: what addr2line does for the report of a fault.

Functions are those of the symbol table, and files those that it names before local symbols. Lines are in
``.debug_line``, which pyelftools reads where it is installed and the program has it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from io import BytesIO
from typing import Any, NamedTuple

from tflm_sim.extensions.firmware.reading.elf import FUNCTION, Elf
from tflm_sim.extensions.firmware.reading.image import load_image
from tflm_sim.extensions.firmware.reading.symbol_names import function_name
from tflm_sim.logs.crashes import CodePlace

_FILE = 4
"""The type of symbols that name the source file of the local ones behind them."""
_MAX_DEBUG_BYTES = 64 << 20
"""Bytes of line tables that are read; pyelftools takes about a second for ten of them."""
_MAX_UNITS = 4000


class _Function(NamedTuple):
    start: int
    end: int
    name: str
    file: str


def places(path: str, addresses: Sequence[int]) -> tuple[CodePlace, ...]:
    """Return what lies at addresses of code, each in its place; see :class:`~tflm_sim.extension_points.Programs`."""
    image = load_image(path)
    if image.elf is None:
        return tuple(map(CodePlace, addresses))
    is_thumb = image.elf.machine == "ARM"
    plain = [address & ~1 if is_thumb else address for address in addresses]
    functions = list(_functions(image.elf, is_thumb))
    lines = _lines(bytes(image.elf.data), [each for each in plain if _function_at(functions, each) is not None])
    found = []
    for shown, address in zip(addresses, plain, strict=True):
        function = _function_at(functions, address)
        file, line = lines.get(address, ("" if function is None else function.file, 0))
        found.append(CodePlace(shown, "" if function is None else function.name, file, line))
    return tuple(found)


def _functions(elf: Elf, is_thumb: bool) -> Iterator[_Function]:
    file = ""
    for symbol in elf.symbols:
        if symbol.type == _FILE:
            file = symbol.name
        elif symbol.type == FUNCTION:
            start = symbol.value & ~1 if is_thumb else symbol.value
            yield _Function(start, start + symbol.size, function_name(symbol.name), file if symbol.is_local else "")


def _function_at(functions: Sequence[_Function], address: int) -> _Function | None:
    return next((each for each in functions if each.start <= address < each.end), None)


def _lines(data: bytes, addresses: Sequence[int]) -> dict[int, tuple[str, int]]:
    """Return file and line of addresses, as far as the program's line tables tell; {} without pyelftools."""
    try:
        elftools = import_module("elftools.elf.elffile")
    except ImportError:
        return {}
    found: dict[int, tuple[str, int]] = {}
    try:
        file = elftools.ELFFile(BytesIO(data))
        section = file.get_section_by_name(".debug_line")
        if not addresses or section is None or section.data_size > _MAX_DEBUG_BYTES:
            return {}
        debug = file.get_dwarf_info()
        for unit in _units(debug, addresses):
            found |= _of_unit(debug, unit, [each for each in addresses if each not in found])
            if len(found) == len(set(addresses)):
                break
    except Exception:  # Whatever a damaged file makes of another library: the functions are known all the same.
        return found
    return found


def _units(debug: Any, addresses: Sequence[int]) -> Iterator[Any]:
    """Yield the compilation units in which the addresses are, or all where the program has no table of them."""
    ranges = debug.get_aranges()
    if ranges is not None:
        offsets = {ranges.cu_offset_at_addr(address) for address in addresses} - {None}
        if offsets:
            yield from (debug.get_CU_at(offset) for offset in sorted(offsets))
            return
    for count, unit in enumerate(debug.iter_CUs()):
        if count == _MAX_UNITS:
            return
        yield unit


def _of_unit(debug: Any, unit: Any, addresses: Sequence[int]) -> dict[int, tuple[str, int]]:
    program = debug.line_program_for_CU(unit)
    found: dict[int, tuple[str, int]] = {}
    before = None
    for entry in program.get_entries() if program is not None else ():
        state = entry.state
        if state is None:
            continue
        if before is not None:
            for address in addresses:
                if before.address <= address < state.address:
                    found[address] = _file_name(program, before.file), before.line
        before = None if state.end_sequence else state
    return found


def _file_name(program: Any, number: int) -> str:
    """Return the name of a file of a line table with its folder; DWARF 5 counts both from 0, older ones from 1."""
    is_new = program["version"] >= 5
    files, folders = program["file_entry"], program["include_directory"]
    entry = files[number if is_new else number - 1]
    name = entry.name.decode("utf-8", "replace")
    if not is_new and not entry.dir_index:
        return str(name)
    folder = folders[entry.dir_index if is_new else entry.dir_index - 1].decode("utf-8", "replace")
    return name if os.path.isabs(name) else f"{folder}/{name}"
