"""Find the checks in a wheel of TFLM or LiteRT: what its code prints where a ``TF_LITE_ENSURE*`` fails, and which line.

    lea    0x8e84a(%rip),%rsi     "%s:%d %s != %s (%d != %d)"
    lea    0x870ec(%rip),%rdx     "tensorflow/lite/micro/kernels/squeeze.cc"
    mov    $0x30,%ecx             48
    lea    0x8e84b(%rip),%r8      "NumInputs(node)"
    lea    0x8e855(%rip),%r9      "1"
    call   MicroContextReportOpError

The compiler merges the ends of several checks, and loads a line long before the branch that decides about it. So the
constants in registers are followed along every path of a function up to each call. A check that the compiler proved
to hold is not there, nor is a ``TFLITE_DCHECK``, which wheels are built without.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import capstone  # type: ignore[import-untyped]
from capstone import x86
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_MODULE = "_runtime.so"
_SIDES = {
    "%s:%d %s was not true.": "",
    "%s:%d %s != %s (%d != %d)": " != ",
    "%s:%d %s != %s (%s != %s)": " != ",
    "%s:%d %s not near %s (%f != %f)": " not near ",
}
"""The formats of the macros, and what stands between the two sides that a check says; "" where it has one."""
_ARGUMENTS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9")
_LOST = ("rax", *_ARGUMENTS, "r10", "r11")
"""The registers that a call may change."""
_MOST_STATES = 400
"""How many states of the registers are followed at one instruction."""
_WIDTHS = {
    narrow: names.split()[0]
    for names in (
        "rax eax ax al",
        "rbx ebx bx bl",
        "rcx ecx cx cl",
        "rdx edx dx dl",
        "rsi esi si sil",
        "rdi edi di dil",
        "rbp ebp bp bpl",
        "rsp esp sp spl",
        *(f"r{number} r{number}d r{number}w r{number}b" for number in range(8, 16)),
    )
    for narrow in names.split()
}
_LEA = re.compile(rb"[\x48\x4c]\x8d[\x05\x0d\x15\x1d\x25\x2d\x35\x3d](?=(.{4}))", re.DOTALL)
"""``lea DISTANCE(%rip), REGISTER``, with the distance from the end of the instruction."""
Registers = dict[str, int]


class Printed(NamedTuple):
    """A check that a wheel prints: its file and line, what it says, the function in whose code it lies.

    ``right`` is the right side of a comparison, "" for a condition that is none.
    """

    file: str
    line: int
    text: str
    function: str
    right: str = ""


class Wheel:
    """The code of a wheel.

    Args:
        path: A ``.whl``, or its file with the code, of one that is installed.
        module: How the name of that file ends.
        said: Formats of messages that begin with a file and a line and are none of the macros': of such a check what
            is said is the rest of its format.
    """

    def __init__(self, path: Path, module: str = _MODULE, said: Collection[str] = ()) -> None:
        self._said = {f"%s:%d {text}": text for text in said}
        self._code = path.read_bytes()
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                self._code = archive.read(next(name for name in archive.namelist() if name.endswith(module)))
        elf = ELFFile(io.BytesIO(self._code))
        loaded = (part for part in elf.iter_segments() if part["p_type"] == "PT_LOAD")
        self._segments = [(part["p_vaddr"], part["p_filesz"], part["p_offset"]) for part in loaded]
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection), "the wheels' code is not stripped"
        functions = (one for one in table.iter_symbols() if one["st_info"]["type"] == "STT_FUNC" and one["st_size"])
        self._functions = sorted({(one["st_value"], one["st_size"], one.name) for one in functions})

    def names(self) -> set[str]:
        """Return the names of all functions, without namespaces and arguments."""
        return {_function(symbol) for _, _, symbol in self._functions}

    def functions(
        self, wanted: Callable[[str], bool]
    ) -> Iterator[tuple[str, list[capstone.CsInsn], Iterator[Registers]]]:
        """Yield the name, the instructions, and the registers at each call of the functions of wanted names."""
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.detail = True
        for address, size, symbol in self._functions:
            offset = self._offset(address) if wanted(_function(symbol)) else None
            if offset is not None:
                code = list(decoder.disasm(self._code[offset : offset + size], address))
                yield _function(symbol), code, _calls(code)

    def messages(self, file: str) -> set[str]:
        """Return what each ``TF_LITE_ENSURE_MSG`` of a file says: its file stands before it, in the same string."""
        found = re.findall(rb"\0" + re.escape(file).encode() + rb" ([^\0]+)(?=\0)", self._code)
        return {text.decode() for text in found}

    def checks(self) -> set[Printed]:
        """Return every check that is printed, without those of functions that only run when a model does."""
        return {check for check in self.all_checks() if "Eval" not in check.function and "Invoke" not in check.function}

    def all_checks(self) -> Iterator[Printed]:
        """Yield every check that is printed; one may come more than once."""
        decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        decoder.detail = True
        for address, size, symbol in self._functions:
            offset = self._offset(address)
            code = b"" if offset is None else self._code[offset : offset + size]
            if self._names_a_format(code, address):
                for registers in _calls(list(decoder.disasm(code, address))):
                    yield from self._check(registers, _function(symbol))

    def _names_a_format(self, code: bytes, address: int) -> bool:
        """Return whether any instruction loads the address of a format; of most functions none does."""
        ends = ((address + found.end() + 4, found[1]) for found in _LEA.finditer(code))
        return any(
            self._string(end + int.from_bytes(distance, "little", signed=True)) in {**_SIDES, **self._said}
            for end, distance in ends
        )

    def _offset(self, address: int) -> int | None:
        return next((address - at + offset for at, size, offset in self._segments if at <= address < at + size), None)

    def _string(self, address: int | None) -> str:
        """Return the string constant at an address, "" where there is none."""
        offset = None if address is None else self._offset(address)
        if offset is None:
            return ""
        return self._code[offset : self._code.index(b"\0", offset)].decode("ascii", errors="ignore")

    def _check(self, registers: Registers, function: str) -> Iterator[Printed]:
        """Yield the check that a call prints, if it prints one: the format is the first argument or the second."""
        for first in (0, 1):
            form, file, line, *sides = (registers.get(name) for name in _ARGUMENTS[first : first + 5])
            between, said = _SIDES.get(self._string(form)), self._said.get(self._string(form))
            if said is not None and line is not None:
                yield Printed(self._string(file), line, said, function)
            if between is not None and line is not None:
                texts = [self._string(side) for side in sides[: 2 if between else 1]]
                right = texts[1] if between else ""
                yield Printed(self._string(file), line, between.join(texts), function, right)


def _function(symbol: str) -> str:
    """Return the name of a function without its namespaces and arguments."""
    name, rest = symbol, symbol.removeprefix("_ZN")
    while rest != symbol and (length := re.match(r"[LK]*(\d+)", rest)):
        end = length.end() + int(length[1])
        name, rest = rest[length.end() : end], rest[end:]
    return name


def _calls(code: list[capstone.CsInsn]) -> Iterator[Registers]:
    """Yield the registers that are known at each call of a function, and at each jump out of it, on each path."""
    at = {one.address: index for index, one in enumerate(code)}
    seen: list[set[frozenset[tuple[str, int]]]] = [set() for _ in code]
    # Where a table of jumps leads is not read: what no path reached begins one with nothing known.
    for start in range(len(code)):
        todo: list[tuple[int, Registers]] = [] if seen[start] else [(start, {})]
        while todo:
            index, registers = todo.pop()
            while index < len(code):
                state = frozenset(registers.items())
                if state in seen[index] or len(seen[index]) > _MOST_STATES:
                    break
                seen[index].add(state)
                one = code[index]
                if one.mnemonic == "call":
                    yield registers
                    registers = {name: value for name, value in registers.items() if name not in _LOST}
                elif one.group(capstone.CS_GRP_JUMP):
                    target = one.operands[0].imm if one.operands[0].type == x86.X86_OP_IMM else None
                    if target in at:
                        todo.append((at[target], dict(registers)))
                    else:
                        yield registers
                    if one.mnemonic == "jmp":
                        break
                elif one.group(capstone.CS_GRP_RET):
                    break
                else:
                    registers = _step(one, registers)
                index += 1


def _step(one: capstone.CsInsn, registers: Registers) -> Registers:
    """Return what is known behind an instruction that does not jump."""
    after = {name: value for name, value in registers.items() if name not in _written(one)}
    if len(one.operands) < 2 or one.operands[0].type != x86.X86_OP_REG:
        return after
    target, source = _register(one, 0), one.operands[1]
    if one.mnemonic == "lea" and source.mem.base == x86.X86_REG_RIP:
        after[target] = one.address + one.size + source.mem.disp
    elif one.mnemonic in ("mov", "movabs") and source.type == x86.X86_OP_IMM:
        after[target] = source.imm
    elif one.mnemonic == "mov" and source.type == x86.X86_OP_REG and _register(one, 1) in registers:
        after[target] = registers[_register(one, 1)]
    return after


def _written(one: capstone.CsInsn) -> set[str]:
    return {_WIDTHS.get(one.reg_name(number), "") for number in one.regs_access()[1]}


def _register(one: capstone.CsInsn, operand: int) -> str:
    name: str = one.reg_name(one.operands[operand].reg)
    return _WIDTHS.get(name, name)
