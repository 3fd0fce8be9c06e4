"""Machine code as a few steps that are the same for every processor: what a call's arguments are made of.

    ARM      add.w r3, sp, #8         SetTo(r3, sp, 8)
    RISC-V   c.swsp a5, 4(sp)         Store(sp, 4, 4 bytes, a5)
    x86-64   lea rcx, [rip + 0x3ad0]  SetTo(rcx, none, 0x4e40)

Instructions that nothing of that says change the registers that they write to something unknown. Capstone decodes
them; it is an extra (``pip install tflm_sim[firmware]``), and without it nothing is read of code.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from tflm_sim.firmware.elf import Elf
from tflm_sim.values import TYPE_CHECKING, NamedTuple, dataclass

if TYPE_CHECKING:
    from typing import Any, TypeAlias

REGISTER, IMMEDIATE, MEMORY = 1, 2, 3
"""Capstone's kinds of operands, the same for every processor here."""


class SetTo(NamedTuple):
    """``register = source + offset``; a source of "" is 0."""

    register: str
    source: str
    offset: int


class Sum(NamedTuple):
    """``register = first + sign * second``."""

    register: str
    first: str
    second: str
    sign: int


class Shift(NamedTuple):
    """``register = source << bits``."""

    register: str
    source: str
    bits: int


class Or(NamedTuple):
    """``register = first | second``: how a word is put together where only aligned ones can be loaded."""

    register: str
    first: str
    second: str


class Load(NamedTuple):
    """``register = memory[base + offset]``, of ``size`` bytes; a base of "" is an address."""

    register: str
    base: str
    offset: int
    size: int


class Store(NamedTuple):
    """``memory[base + offset] = register``; None for something unknown: any offset, any value."""

    base: str
    offset: int | None
    size: int
    register: str | None


class Forget(NamedTuple):
    """The register holds something unknown."""

    register: str


class Compare(NamedTuple):
    """What the next condition "equal" is about: ``register == number``; None: nothing that is known."""

    register: str | None
    number: int


class Branch(NamedTuple):
    """A jump.

    Attributes:
        target: Where to; None where that is not known.
        is_conditional: Whether the next instruction may follow.
        equal: True where it is taken if the comparison holds, False if it does not, None for other conditions.
    """

    target: int | None
    is_conditional: bool
    equal: bool | None = None


class CallTo(NamedTuple):
    """A call; None for a target that is not known."""

    target: int | None


class Maybe(NamedTuple):
    """A step that is carried out under a condition."""

    step: Step


Step: TypeAlias = "SetTo | Sum | Shift | Or | Load | Store | Forget | Compare | Branch | CallTo | Maybe"
_Rule: TypeAlias = "Callable[[Any, str, list[Any]], list[Step] | None]"


@dataclass(frozen=True, slots=True)
class Convention:
    """How a processor's functions are called.

    Attributes:
        stack: The stack pointer.
        arguments: Registers of the first arguments.
        result: The register of the result.
        kept: Registers that a function gives back unchanged.
        word: Bytes of a register.
        pushed: Bytes between the stack pointer at a function's first instruction and its first argument there.
        constants: Registers that hold the same number everywhere.
    """

    stack: str
    arguments: tuple[str, ...]
    result: str
    kept: frozenset[str]
    word: int
    pushed: int = 0
    constants: tuple[tuple[str, int], ...] = ()


class Decoder(NamedTuple):
    """Reads a processor's instructions.

    Attributes:
        convention: How functions are called.
        decode: From bytes and their address to the instruction's size and steps; None where they are none.
    """

    convention: Convention
    decode: Callable[[bytes, int], tuple[int, list[Step]] | None]


def decoder(elf: Elf) -> Decoder | None:
    """Return what reads the file's code; None without Capstone, or for a processor that is not read."""
    try:
        import capstone  # type: ignore[import-untyped]
    except ImportError:
        return None
    if elf.machine == "ARM":
        machine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
        return _decoder(machine, _ARM, _arm_steps)
    if elf.machine == "RISC-V" and elf.bits == 32:
        mode = capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        pointer = next((s.value for s in elf.symbols if s.name == "__global_pointer$"), None)
        return _decoder(capstone.Cs(capstone.CS_ARCH_RISCV, mode), _riscv(pointer), _riscv_steps)
    if elf.machine == "x86-64" and elf.bits == 64:
        return _decoder(capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64), _X86, _x86_steps)
    return None


def _decoder(machine: Any, convention: Convention, steps: Callable[[Any], list[Step]]) -> Decoder:
    machine.detail = True
    known: dict[int, tuple[int, list[Step]]] = {}

    def decode(code: bytes, address: int) -> tuple[int, list[Step]] | None:
        if address not in known:
            for instruction in _together(machine, code, address):
                known[instruction.address] = (instruction.size, steps(instruction))
        return known.get(address)

    return Decoder(convention, decode)


def _together(machine: Any, code: bytes, address: int) -> list[Any]:
    """Return the instruction at an address; IT of Thumb with those that it makes conditional, which do not say so."""
    found = list(machine.disasm(code, address, 1))
    if found and found[0].mnemonic in _CONDITIONAL_BLOCKS:
        return list(machine.disasm(code, address, 1 + len(found[0].mnemonic) - len("i")))
    return found


_CONDITIONAL_BLOCKS = frozenset("it" + "".join(rest) for n in range(4) for rest in product("te", repeat=n))


_ARM = Convention(
    stack="sp",
    arguments=("r0", "r1", "r2", "r3"),
    result="r0",
    kept=frozenset(("r4", "r5", "r6", "r7", "r8", "sb", "sl", "fp", "sp", "r9", "r10", "r11")),
    word=4,
)
_ALWAYS = 15
_ARM_EQUAL, _ARM_UNEQUAL = 1, 2
_ARM_SIZES = {"ldr": 4, "ldrh": 2, "ldrb": 1, "str": 4, "strh": 2, "strb": 1}


def _arm_steps(instruction: Any) -> list[Step]:
    name, condition = instruction.insn_name(), instruction.cc
    always = condition in (0, _ALWAYS)
    if name in ("b", "bx", "cbz", "cbnz", "tbb", "tbh"):
        return _arm_branch(instruction, name, always)
    operands = [_operand(instruction, one) for one in instruction.operands]
    if name in ("bl", "blx"):
        return [CallTo(operands[0] if isinstance(operands[0], int) else None)]
    steps = _arm_data(instruction, name, operands)
    if not always:
        return [*(Maybe(step) for step in steps), Compare(None, 0)]
    if instruction.update_flags and name != "cmp":
        steps.append(Compare(operands[0] if isinstance(operands[0], str) else None, 0))
    return steps


def _arm_branch(instruction: Any, name: str, always: bool) -> list[Step]:
    operands = [_operand(instruction, one) for one in instruction.operands]
    if name in ("cbz", "cbnz"):
        register, target = operands
        return [Compare(register, 0), Branch(target, True, name == "cbz")]
    target = operands[0] if name == "b" and isinstance(operands[0], int) else None
    if name == "b" and instruction.cc in (_ARM_EQUAL, _ARM_UNEQUAL):
        return [Branch(target, True, instruction.cc == _ARM_EQUAL)]
    return [Branch(target, not always)]


def _arm_data(instruction: Any, name: str, operands: list[Any]) -> list[Step]:
    """Return the steps of an instruction that is neither a jump nor a call."""
    rule = _ARM_RULES.get(name)
    steps = None if rule is None else rule(instruction, name, operands)
    return _arm_unknown(instruction, name, operands) if steps is None else steps


def _arm_move(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match name, operands:
        case ("cmp", [str(register), int(number)]):
            return [Compare(register, number)]
        case ("mov" | "movs", [str(register), str(source)]) if not _is_shifted(instruction):
            return [SetTo(register, source, 0)]
        case ("mov" | "movw", [str(register), int(number)]):
            return [SetTo(register, "", number)]
        case ("movt", [str(register), int(number)]):
            return [SetTo(register, register, number << 16)]
        case ("adr", [str(register), int(offset)]):
            return [SetTo(register, "", _pc(instruction) + offset)]
    return None


def _arm_sum(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match name, operands:
        case ("lsl", [str(register), str(source), int(bits)]):
            return [Shift(register, source, bits)]
        case ("orr", [str(register), *rest, str(second)]) if not _is_shifted(instruction):
            return [Or(register, rest[0] if rest else register, second)]
        case ("add" | "addw" | "sub" | "subw", [str(register), *rest]) if not _is_shifted(instruction):
            return _added(register, rest or [register], -1 if name.startswith("sub") else 1)
    return None


def _is_shifted(instruction: Any) -> bool:
    return any(one.shift.value for one in instruction.operands)


def _arm_push(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    stored = (Store("sp", 4 * i, 4, register) for i, register in enumerate(registers))
    return [SetTo("sp", "sp", -4 * len(registers)), *stored]


def _arm_pop(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    loads = [Load(register, "sp", 4 * i, 4) for i, register in enumerate(registers) if register != "pc"]
    after: list[Step] = [Branch(None, False)] if "pc" in registers else []
    return [*loads, SetTo("sp", "sp", 4 * len(registers)), *after]


def _arm_vectors(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    size = sum(8 if register.startswith("d") else 4 for register in registers)
    if name == "vpush":
        return [Store("sp", -size, size, None), SetTo("sp", "sp", -size)]
    return [SetTo("sp", "sp", size)]


def _arm_word(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(register), _Memory() as place]:
            return _arm_access(instruction, name, register, place)
    return None


def _arm_two_words(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(first), str(second), _Memory() as place] if not instruction.writeback:
            above = place._replace(offset=place.offset + 4)
            kind = name[:3]
            return [*_arm_access(instruction, kind, first, place), *_arm_access(instruction, kind, second, above)]
    return None


def _arm_unknown(instruction: Any, name: str, operands: list[Any]) -> list[Step]:
    """Forget what an instruction without a rule may write to."""
    forgotten: list[Step] = _written(instruction)
    if name.startswith(("st", "vst")):
        forgotten += [Store(one.base if isinstance(one, _Memory) else one, None, 0, None) for one in operands if one]
    if instruction.update_flags:
        forgotten.append(Compare(None, 0))
    return [*forgotten, Branch(None, False)] if Forget("pc") in forgotten else forgotten


def _by_name(rules: dict[str, _Rule]) -> dict[str, _Rule]:
    """Return the rule of each instruction; ``rules``: names with spaces between them, and their rule."""
    return {name: rule for names, rule in rules.items() for name in names.split()}


_ARM_RULES = _by_name(
    {
        "cmp mov movs movw movt adr": _arm_move,
        "lsl orr add addw sub subw": _arm_sum,
        "push": _arm_push,
        "pop": _arm_pop,
        "vpush vpop": _arm_vectors,
        "ldr ldrb ldrh str strb strh": _arm_word,
        "ldrd strd": _arm_two_words,
    }
)
"""What is read of ARM's instructions; a rule says None where it does not know these operands."""


def _arm_access(instruction: Any, name: str, register: str, place: _Memory) -> list[Step]:
    if place.is_indexed or instruction.writeback or register == "pc":
        stored: list[Step] = [Store(place.base, None, 0, None)] if name.startswith("st") else []
        jump: list[Step] = [Branch(None, False)] if register == "pc" and not stored else []
        return [*stored, *_written(instruction), *jump]
    if place.base == "pc":
        place = _Memory("", _pc(instruction) + place.offset)
    if name.startswith("ld"):
        return [Load(register, place.base, place.offset, _ARM_SIZES[name])]
    return [Store(place.base, place.offset, _ARM_SIZES[name], register)]


def _pc(instruction: Any) -> int:
    """Return what an instruction of Thumb reads from pc, as the base of an address."""
    return int(instruction.address + 4) & ~3


class _Memory(NamedTuple):
    """An operand in memory."""

    base: str
    offset: int
    is_indexed: bool = False


def _operand(instruction: Any, operand: Any) -> Any:
    """Return a register's name, a number, or a :class:`_Memory`; None for other kinds."""
    if operand.type == REGISTER:
        return instruction.reg_name(operand.reg)
    if operand.type == IMMEDIATE:
        return operand.imm
    if operand.type == MEMORY:
        memory = operand.mem
        base = instruction.reg_name(memory.base) if memory.base else ""
        return _Memory(base, memory.disp, bool(getattr(memory, "index", 0)))
    return None


def _added(register: str, terms: list[Any], sign: int) -> list[Step]:
    """Return the steps of ``register = a + b`` or ``register += b``, where b is a register or a number."""
    first, second = terms if len(terms) == 2 else (register, terms[0])
    if isinstance(first, str) and isinstance(second, int):
        return [SetTo(register, first, sign * second)]
    if isinstance(first, str) and isinstance(second, str):
        return [Sum(register, first, second, sign)]
    return [Forget(register)]


def _written(instruction: Any) -> list[Step]:
    return [Forget(instruction.reg_name(register)) for register in instruction.regs_access()[1]]


def _riscv(global_pointer: int | None) -> Convention:
    constants = (("zero", 0), *((("gp", global_pointer),) if global_pointer is not None else ()))
    return Convention(
        stack="sp",
        arguments=tuple(f"a{i}" for i in range(8)),
        result="a0",
        kept=frozenset(("sp", "gp", "tp", "zero", *(f"s{i}" for i in range(12)))),
        word=4,
        constants=constants,
    )


_RISCV_LOADS = {"lw": 4, "lh": 2, "lhu": 2, "lb": 1, "lbu": 1}
_RISCV_STORES = {"sw": 4, "sh": 2, "sb": 1}


def _riscv_steps(instruction: Any) -> list[Step]:
    name = instruction.mnemonic.removeprefix("c.")
    operands = [_operand(instruction, one) for one in instruction.operands]
    stem = name.removesuffix("sp")
    if len(operands) == 3 and _RISCV_RULES.get(stem) is _riscv_access:  # Capstone takes c.lw apart.
        register, offset, base = operands
        name, operands = stem, [register, _Memory(base, offset)]
    rule = _RISCV_RULES.get(name)
    steps = None if rule is None else rule(instruction, name, operands)
    return _riscv_unknown(name, operands) if steps is None else steps


def _riscv_data(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match name, operands:
        case ("mv", [str(register), str(source)]):
            return [SetTo(register, source, 0)]
        case ("li", [str(register), int(number)]):
            return [SetTo(register, "", number)]
        case ("lui", [str(register), int(number)]):
            return [SetTo(register, "", number << 12)]
        case ("auipc", [str(register), int(number)]):
            return [SetTo(register, "", instruction.address + (number << 12))]
        case ("slli", [str(register), *rest, int(bits)]):
            return [Shift(register, rest[0] if rest else register, bits)]
        case ("or", [str(register), *rest, str(second)]):
            return [Or(register, rest[0] if rest else register, second)]
    return None


def _riscv_sum(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(register), *rest]:
            return _added(register, rest, -1 if name == "sub" else 1)
    return None


def _riscv_access(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(register), _Memory() as place] if name in _RISCV_LOADS:
            return [Load(register, place.base, place.offset, _RISCV_LOADS[name])]
        case [str(register), _Memory() as place]:
            return [Store(place.base, place.offset, _RISCV_STORES[name], register)]
    return None


def _riscv_jump(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    here = instruction.address
    match name, operands:
        case ("jal", [int(offset)]) | ("jal", ["ra", int(offset)]):
            return [CallTo(here + offset)]
        case ("jal", _):
            return None
        case ("jalr", _):
            return [CallTo(None)]
        case ("j", [int(offset)]):
            return [Branch(here + offset, False)]
        case ("j", _):
            return None
    return [Branch(None, False)]


def _riscv_branch(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [*registers, int(offset)]:
            equal = {"beqz": True, "bnez": False}.get(name)
            return [_riscv_compare(registers), Branch(instruction.address + offset, True, equal)]
    return None


def _riscv_unknown(name: str, operands: list[Any]) -> list[Step]:
    """Forget what an instruction without a rule may write to."""
    is_store = name.startswith(("s", "fs", "amo"))
    bases = [one.base if isinstance(one, _Memory) else one for one in operands[1:]]
    stored: list[Step] = [Store(base, None, 0, None) for base in bases if isinstance(base, str) and is_store]
    return [*stored, *(Forget(one) for one in operands[:1] if isinstance(one, str))]


_RISCV_RULES = _by_name(
    {
        "mv li lui auipc slli or": _riscv_data,
        "addi addi4spn add sub addi16sp": _riscv_sum,
        " ".join((*_RISCV_LOADS, *_RISCV_STORES)): _riscv_access,
        "jal jalr j jr ret mret ebreak": _riscv_jump,
        "beq bne blt bge bltu bgeu bltz bgez blez bgtz beqz bnez": _riscv_branch,
    }
)
"""What is read of RISC-V's instructions, as :data:`_ARM_RULES` for ARM's."""


def _riscv_compare(registers: list[Any]) -> Compare:
    return Compare(registers[0] if len(registers) == 1 else None, 0)


_X86 = Convention(
    stack="rsp",
    arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    result="rax",
    kept=frozenset(("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")),
    word=8,
    pushed=8,
)
_X86_32 = {f"e{name}": f"r{name}" for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")}
_X86_32 |= {f"r{i}d": f"r{i}" for i in range(8, 16)}
_X86_SMALL = {f"{letter}{half}": f"r{letter}x" for letter in "abcd" for half in "lhx"}
_X86_SMALL |= {f"{name}{end}": f"r{name}" for name in ("si", "di", "bp", "sp") for end in ("", "l")}
_X86_SMALL |= {f"r{i}{end}": f"r{i}" for i in range(8, 16) for end in "wb"}


def _x86_steps(instruction: Any) -> list[Step]:
    name = instruction.insn_name()
    operands = [_operand(instruction, one) for one in instruction.operands]
    if name.startswith("j") or name in ("ret", "hlt", "ud2", "call"):
        return [_x86_jump(name, operands)]
    wide = [_x86_operand(instruction, one) for one in operands]
    written = [instruction.reg_name(register) for register in instruction.regs_access()[1]]
    rule = _X86_RULES.get(name)
    steps = None if rule is None else rule(instruction, name, wide)
    if steps is None:
        steps = _x86_unknown(wide, written)
    if "rflags" in written and name not in ("cmp", "test"):
        steps.append(Compare(None, 0))
    return steps


def _x86_unknown(operands: list[Any], written: list[str]) -> list[Step]:
    """Forget what an instruction without a rule may write to."""
    stored = (Store(one.base, None, 0, None) for one in operands[:1] if isinstance(one, _Memory))
    return [*stored, *(Forget(_x86_register(one)) for one in written)]


def _x86_jump(name: str, operands: list[Any]) -> Step:
    if name in ("ret", "hlt", "ud2"):
        return Branch(None, False)
    target = operands[0] if isinstance(operands[0], int) else None
    if name == "call":
        return CallTo(target)
    return Branch(target, name != "jmp", {"je": True, "jne": False}.get(name))


def _x86_register(name: str) -> str:
    return _X86_32.get(name) or _X86_SMALL.get(name, name)


def _x86_operand(instruction: Any, operand: Any) -> Any:
    """Return the whole register for a half; an address of its own for one that is relative to the next instruction."""
    if isinstance(operand, str):
        return _X86_32.get(operand, operand)
    if isinstance(operand, _Memory) and operand.base == "rip":
        return _Memory("", instruction.address + instruction.size + operand.offset)
    return operand


def _x86_move(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    size, *others = (one.size for one in instruction.operands)
    match name, operands:
        case ("lea", [str(register), _Memory(base, offset, False)]):
            return [SetTo(register, base, offset)]
        case ("mov", [_Memory(base, offset, False), str(register)]):
            return [Store(base, offset, size, register if size >= 4 else None)]
        case ("mov", [_Memory(base, offset, False), int(number)]):
            return [SetTo("number", "", number), Store(base, offset, size, "number")]
        case _ if size < 4:
            return None
        case ("mov" | "movabs", [str(register), int(number)]):
            return [SetTo(register, "", number)]
        case ("mov", [str(register), str(source)]):
            return [SetTo(register, source, 0)]
        case ("mov" | "movzx", [str(register), _Memory(base, offset, False)]):
            return [Load(register, base, offset, others[0])]
    return None


def _x86_sum(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    size = instruction.operands[0].size
    match name, operands:
        case ("xor", [str(register), str(other)]) if register == other and size >= 4:
            return [SetTo(register, "", 0)]
        case ("add" | "sub", [str(register), str() | int() as term]) if size == 8:
            return _added(register, [term], -1 if name == "sub" else 1)
    return None


def _x86_stack(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match name, operands:
        case ("push", [str(register)]):
            return [SetTo("rsp", "rsp", -8), Store("rsp", 0, 8, register)]
        case ("push", [int(number)]):
            return [SetTo("rsp", "rsp", -8), SetTo("number", "", number), Store("rsp", 0, 8, "number")]
        case ("push", [_]):
            return [SetTo("rsp", "rsp", -8), Store("rsp", 0, 8, None)]
        case ("pop", [str(register)]):
            return [Load(register, "rsp", 0, 8), SetTo("rsp", "rsp", 8)]
        case ("leave", _):
            return [SetTo("rsp", "rbp", 8), Load("rbp", "rbp", 0, 8)]
    return None


def _x86_compare(instruction: Any, name: str, operands: list[Any]) -> list[Step]:
    size = instruction.operands[0].size
    match name, operands:
        case ("cmp", [str(register), int(number)]) if size >= 4:
            return [Compare(register, number)]
        case ("test", [str(register), str(other)]) if register == other and size >= 4:
            return [Compare(register, 0)]
    return [Compare(None, 0)]


_X86_RULES = _by_name(
    {
        "lea mov movabs movzx": _x86_move,
        "xor add sub": _x86_sum,
        "push pop leave": _x86_stack,
        "cmp test": _x86_compare,
    }
)
"""What is read of x86-64's instructions, as :data:`_ARM_RULES` for ARM's."""
