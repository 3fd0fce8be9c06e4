"""A program as the follower needs it: its core, where TFLM's functions are, how it starts."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property, partial
from operator import itemgetter
from struct import Struct, iter_unpack

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation import xtensa
from tflm_sim.extensions.firmware.emulation.boot_rom import Answer, rom_answer
from tflm_sim.extensions.firmware.emulation.cores import core_of
from tflm_sim.extensions.firmware.emulation.emulator import give_back
from tflm_sim.extensions.firmware.emulation.functions import Watched, functions_by_role
from tflm_sim.extensions.firmware.emulation.memory_map import Span, writable
from tflm_sim.extensions.firmware.emulation.semihosting import calls
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom, reserved_stack
from tflm_sim.extensions.firmware.emulation.unnamed import functions_by_message
from tflm_sim.extensions.firmware.emulation.vendors import answer_of
from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.call_graph import CallGraph
from tflm_sim.extensions.firmware.reading.elf import DATA, EXECUTABLE, FUNCTION, Elf, Symbol
from tflm_sim.extensions.firmware.reading.image import AddressIndex
from tflm_sim.extensions.firmware.reading.symbol_names import function_name, plain_name

_TOPS = ("__StackTop", "_estack", "__stack", "__stack_top", "_stack_top", "__initial_sp", "_sp", "__StackLimit")
_VECTORS = Struct("<7I")
_FAULTS = slice(3, 7)
_SEARCHED = 1 << 16
_LOWEST_RAM = 0x1000_0000
_WITH_REPORTER = re.compile(tflm_names.WITH_REPORTER)
_DEPTH = 6
"""Functions between the one that is started directly and AllocateTensors()."""
_STARTED = frozenset({"setup", "app_main"})
"""What Arduino's and ESP-IDF's own main() calls."""
_HEAP, _CONSTRUCTORS = "heap_caps_init", ("__init_array_start", "__init_array_end")
_LIBRARY = frozenset({"esp_newlib_init", "esp_setup_syscall_table", "esp_libc_init"})
_ADD_TO_HEAP = "heap_caps_add_region_with_caps"
_HAS_EXTERNAL = ("esp_psram_extram_add_to_heap_allocator", "esp_spiram_add_to_heapalloc")
_GLOBAL_POINTER = "__global_pointer$"
EXECUTABLE_SEGMENT = 1
_MAX_CALLERS = 1 << 20
"""Bytes of stack that callers can have taken; further away it is another stack."""
_ALIGNED = 16


class Program:
    """The facts about a program that the emulation needs: functions, objects, vector table, stack.

    Attributes:
        elf: The file.
        core: Its processor.
        functions: Where TFLM's functions are.
        is_unnamed: Whether that is known by the messages that they print, since there are no symbols.
        semihosting: Where it asks its debugger.
        has_reporter_first: Whether the allocator's Create() takes an ErrorReporter first, as it did until 2022.
    """

    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self.core = core_of(elf)
        self.functions = functions_by_role(elf.symbols, self.core.code_bit)
        self.is_unnamed = not any(symbol.type == FUNCTION for symbol in elf.symbols)
        if self.is_unnamed:
            self.functions |= {} if self.core.is_windowed else functions_by_message(elf, is_arm=self.core.is_arm)
        self.semihosting = frozenset(self._calls())
        self._calls_between = CallGraph(elf, xtensa.calls if self.core.is_windowed else None)
        self.has_reporter_first = any(_WITH_REPORTER.fullmatch(symbol.name) for symbol in elf.symbols)

    def _calls(self) -> Iterator[int]:
        for section in self.elf.sections:
            if section.flags & EXECUTABLE and section.has_bits:
                yield from calls(section.address, bytes(self.elf.bytes_of(section)), is_arm=self.core.is_arm)

    @cached_property
    def _names(self) -> AddressIndex:
        bit = self.core.code_bit
        return AddressIndex(
            (symbol.value & ~bit, symbol.size, symbol.name) for symbol in self.elf.symbols if symbol.type == FUNCTION
        )

    @cached_property
    def _data(self) -> list[tuple[int, int, str]]:
        """(address, bytes, name) of each static object, in order."""
        rows = (one for one in self.elf.symbols if one.type in DATA and one.size)
        return sorted((one.value, one.size, one.name) for one in rows)

    @cached_property
    def _objects(self) -> AddressIndex:
        return AddressIndex(self._data)

    @cached_property
    def data_spans(self) -> tuple[Span, ...]:
        """The address ranges of the program's own data: its objects, then the sections that contain them."""
        sections = [one for one in self.elf.sections if one.is_allocated and one.is_writable]
        held = [Span(one.address, one.address + one.size) for one in sections] or writable(self.elf)
        objects = (Span(start, start + size) for start, size, _ in self._data)
        return (*(one for one in objects if any(span.contains(one.start) for span in held)), *held)

    def near(self, address: int) -> tuple[str, int]:
        """Return the static object that holds an address or lies nearest, and the bytes from its start.

        Bytes below an object are negative; ("", 0) where there is none.
        """
        at = bisect_right(self._data, address, key=itemgetter(0))
        distances = [
            (max(start - address, address - start - size + 1, 0), name, address - start)
            for start, size, name in self._data[max(at - 1, 0) : at + 1]
        ]
        if not distances:
            return "", 0
        _, name, offset = min(distances)
        return plain_name(name), offset

    def name_at(self, address: int) -> str:
        """Return the function that holds an address, "" where no symbol says."""
        found = self._names.at(address)
        return function_name(found[2]) if found else ""

    def place(self, address: int) -> str:
        """Return a place in the program for people."""
        name = self.name_at(address)
        return f"in {name}() at {address:#x}" if name else f"at {address:#x}"

    def is_function(self, value: int) -> bool:
        """Whether a word is the address of code, with the Thumb bit where there is one."""
        return value & 1 == self.core.code_bit and self.is_code(value)

    def is_code(self, address: int) -> bool:
        return any(start <= address < end for start, end in self._code)

    @cached_property
    def _code(self) -> tuple[tuple[int, int], ...]:
        segments = [one for one in self.elf.segments if one.flags & EXECUTABLE_SEGMENT]
        return tuple((one.address, one.address + one.memory_size) for one in segments)

    def object_around(self, head: int, size: int) -> tuple[int, int] | None:
        """Return (address, bytes) of the static object that begins at ``head``, but for what alignment skips.

        Where alignment may have skipped bytes, the object must end with the arena: an arena that begins inside an
        object and ends before it has no known start.
        """
        found = self._objects.at(head)
        if found is None:
            return None
        start, end = found[0], found[0] + found[1]
        is_start = start == head and head + size <= end
        is_aligned = start < head < start + _ALIGNED and head + size == end
        return (start, head + size - start) if is_start or is_aligned else None

    def object_within(self, start: int, end: int) -> str:
        """Return the first static object that begins within the half-open [start, end), "" where none does."""
        at = bisect_right(self._data, start, key=itemgetter(0))
        return plain_name(self._data[at][2]) if at < len(self._data) and self._data[at][0] < end else ""

    def object_bounds(self, address: int) -> tuple[int, int] | None:
        """Return where the static object that holds an address begins and ends, None where no symbol says."""
        found = self._objects.at(address)
        return None if found is None else (found[0], found[0] + found[1])

    def object_name(self, address: int) -> str:
        """Return the static object that holds an address, "" where no symbol says."""
        found = self._objects.at(address)
        return plain_name(found[2]) if found else ""

    @cached_property
    def global_pointer(self) -> int | None:
        """What RISC-V code expects in gp; None where no symbol says."""
        return next((one.value for one in self.elf.symbols if one.name == _GLOBAL_POINTER), None)

    def initialisers(self) -> Iterator[int]:
        """Yield what ESP-IDF calls before its first task and needs no device: for heap and library, then constructors.

        Source: esp-idf components/esp_system/startup.c: do_global_ctors() @ v5.4.
        """
        values = {symbol.name: symbol.value for symbol in self.elf.symbols}
        yield from (one for one in (values.get(_HEAP), self.external_heap) if one is not None)
        yield from self.library_initialisers
        start, end = (values.get(name, 0) for name in _CONSTRUCTORS)
        for segment in self.elf.segments:
            if start in range(segment.address, segment.address + segment.file_size):
                at = segment.offset + start - segment.address
                yield from [one for (one,) in iter_unpack("<I", self.elf.data[at : at + end - start])][::-1]

    @cached_property
    def library_initialisers(self) -> list[int]:
        """The functions that prepare the C library of ESP-IDF; they need nothing of the system."""
        return list({symbol.value: None for symbol in self.elf.symbols if symbol.name in _LIBRARY})

    @cached_property
    def external_heap(self) -> int | None:
        """The function that adds memory outside of an Espressif chip to the heap; None where the program has none."""
        values = {symbol.name: symbol.value for symbol in self.elf.symbols}
        return values.get(_ADD_TO_HEAP) if any(name in values for name in _HAS_EXTERNAL) else None

    def callers(self) -> list[int]:
        """Return the functions from which AllocateTensors() is reached, the likeliest to be started directly first.

        Those first that a system starts: setup(), app_main(), and what nobody calls, such as a task; then those that
        call AllocateTensors(), then those that call these. Functions of TFLM and main() are left out.
        """
        called = {entry.address for entry in self.functions.get(Watched.ALLOCATE_TENSORS, ())}
        mains = {entry.address for entry in self.functions.get(Watched.MAIN, ())}
        found: dict[int, None] = {}
        for _ in range(_DEPTH):
            callers = {one for target in called for one in self._calls_between.calling_functions(target)}
            called = {one for one in callers if not self._is_of_tflm(one)} - set(found)
            found |= dict.fromkeys(sorted(called))
        return sorted(found.keys() - mains, key=lambda one: (not self._is_started(one), list(found).index(one)))

    def _is_started(self, address: int) -> bool:
        """Whether the system starts a function: by its name, or since nobody calls it."""
        return self.name_at(address) in _STARTED or address not in self._calls_between.callers

    def _is_of_tflm(self, address: int) -> bool:
        return any(map(tflm_names.is_of_tflm, self._calls_between.functions[address].names))

    def answered(self) -> dict[int, Answer]:
        """Return the answers to vendors' functions that are not executed, by address."""
        bit, own = self.core.code_bit, xtensa.ANSWERS if self.core.is_windowed else {}
        found: dict[int, Answer] = {}
        for one in filter(self._is_function, self.elf.symbols):
            if row := answer_of(one.name):
                found[one.value & ~bit] = partial(give_back, value=row.value)
        for one in filter(self._is_function, self.elf.symbols):
            if one.name in own:
                found[one.value] = partial(give_back, value=own[one.name])
        roms = ((one.value & ~bit, rom_answer(one.name)) for one in self.elf.symbols)
        return found | {address: answer for address, answer in roms if answer is not None}

    def _is_function(self, symbol: Symbol) -> bool:
        return symbol.type == FUNCTION or (self.core.is_windowed and xtensa.is_in_rom(symbol))

    def stack_room(self, pointer: int, *, is_called: bool) -> StackRoom | None:
        """Return what is reserved for the stack at ``pointer``; None where nothing says.

        Args:
            pointer: The stack pointer.
            is_called: Whether the program itself came there, so that what is above is its callers'.
        """
        array = self._objects.at(pointer - 1)
        if array is not None:
            start, size, name = array
            return StackRoom(plain_name(name), size, start + size - pointer if is_called else None)
        values = {symbol.name: symbol.value for symbol in self.elf.symbols}
        top = self.stack_top(values)
        found = reserved_stack(values, ((one.name, one.size) for one in self.elf.sections), top)
        if found is None:
            return None
        is_within = is_called and top is not None and 0 <= top - pointer <= _MAX_CALLERS
        return StackRoom(*found, top - pointer if is_within and top is not None else None)

    def stack_top(self, values: Mapping[str, int]) -> int | None:
        """Return where the first stack begins, None where nothing says; ``values``: of all symbols, by name."""
        if self._vectors is not None:
            return self._vectors[0]
        return next((values[name] for name in _TOPS if name in values), None)

    def reset_state(self) -> dict[str, int]:
        """Return program counter and stack pointer after a reset.

        Raises:
            FirmwareError: The file does not say where the stack is.
        """
        if not self.core.is_arm:
            return {"pc": self.elf.entry}
        return {"pc": self.elf.entry & ~1, "sp": self._stack_pointer()}

    def fault_handlers(self) -> list[int]:
        """Return where the processor goes on faults, by the vector table; [] where that was not found."""
        table = self._vectors
        return [] if table is None else [value & ~1 for value in table[_FAULTS] if value & 1]

    @property
    def vector_table(self) -> int:
        """Where the vector table of a Cortex-M lies, 0 where that was not found."""
        return self._table[0] if self._table else 0

    @property
    def _vectors(self) -> tuple[int, ...] | None:
        """The first words of the vector table: a stack pointer before the address of the first instruction."""
        return self._table[1] if self._table else None

    @cached_property
    def _table(self) -> tuple[int, tuple[int, ...]] | None:
        """Where the vector table lies, and its first words."""
        if not self.core.is_arm:
            return None
        entry = (self.elf.entry | 1).to_bytes(4, "little")
        for segment in self.elf.segments:
            data = bytes(self.elf.data[segment.offset : segment.offset + min(segment.file_size, _SEARCHED)])
            at = data.find(entry)
            while at >= 4:
                table = _VECTORS.unpack_from(data.ljust(at + _VECTORS.size, b"\0"), at - 4)
                if at % 4 == 0 and table[0] % 4 == 0 and table[0] >= _LOWEST_RAM:
                    return segment.load_address + at - 4, table
                at = data.find(entry, at + 1)
        return None

    def _stack_pointer(self) -> int:
        top = self.stack_top({symbol.name: symbol.value for symbol in self.elf.symbols})
        if top is None:
            raise FirmwareError("neither a vector table nor a symbol says where its stack is")
        return top
