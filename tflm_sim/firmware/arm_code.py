"""Thumb's instructions as steps; Capstone has decoded them."""

from __future__ import annotations

from tflm_sim.firmware.machine_steps import (
    Branch,
    CallTo,
    Compare,
    Convention,
    Forget,
    InMemory,
    Load,
    Maybe,
    Or,
    SetTo,
    Shift,
    Step,
    Store,
    added,
    by_name,
    operand_of,
    written,
)
from tflm_sim.values import Any

ARM = Convention(
    stack="sp",
    arguments=("r0", "r1", "r2", "r3"),
    result="r0",
    kept=frozenset(("r4", "r5", "r6", "r7", "r8", "sb", "sl", "fp", "sp", "r9", "r10", "r11")),
    word=4,
)
_ALWAYS = 15
_EQUAL, _UNEQUAL = 1, 2
_SIZES = {"ldr": 4, "ldrh": 2, "ldrb": 1, "str": 4, "strh": 2, "strb": 1}


def steps_of(instruction: Any) -> list[Step]:
    name, condition = instruction.insn_name(), instruction.cc
    always = condition in (0, _ALWAYS)
    if name in ("b", "bx", "cbz", "cbnz", "tbb", "tbh"):
        return _branch(instruction, name, always)
    operands = [operand_of(instruction, one) for one in instruction.operands]
    if name in ("bl", "blx"):
        return [CallTo(operands[0] if isinstance(operands[0], int) else None)]
    steps = _data(instruction, name, operands)
    if not always:
        return [*(Maybe(step) for step in steps), Compare(None, 0)]
    if instruction.update_flags and name != "cmp":
        steps.append(Compare(operands[0] if isinstance(operands[0], str) else None, 0))
    return steps


def _branch(instruction: Any, name: str, always: bool) -> list[Step]:
    operands = [operand_of(instruction, one) for one in instruction.operands]
    if name in ("cbz", "cbnz"):
        register, target = operands
        return [Compare(register, 0), Branch(target, True, name == "cbz")]
    target = operands[0] if name == "b" and isinstance(operands[0], int) else None
    if name == "b" and instruction.cc in (_EQUAL, _UNEQUAL):
        return [Branch(target, True, instruction.cc == _EQUAL)]
    return [Branch(target, not always)]


def _data(instruction: Any, name: str, operands: list[Any]) -> list[Step]:
    rule = _RULES.get(name)
    steps = None if rule is None else rule(instruction, name, operands)
    return _unknown(instruction, name, operands) if steps is None else steps


def _move(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
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


def _sum(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match name, operands:
        case ("lsl", [str(register), str(source), int(bits)]):
            return [Shift(register, source, bits)]
        case ("orr", [str(register), *rest, str(second)]) if not _is_shifted(instruction):
            return [Or(register, rest[0] if rest else register, second)]
        case ("add" | "addw" | "sub" | "subw", [str(register), *rest]) if not _is_shifted(instruction):
            return added(register, rest or [register], -1 if name.startswith("sub") else 1)
    return None


def _is_shifted(instruction: Any) -> bool:
    return any(one.shift.value for one in instruction.operands)


def _push(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    stored = (Store("sp", 4 * i, 4, register) for i, register in enumerate(registers))
    return [SetTo("sp", "sp", -4 * len(registers)), *stored]


def _pop(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    loads = [Load(register, "sp", 4 * i, 4) for i, register in enumerate(registers) if register != "pc"]
    after: list[Step] = [Branch(None, False)] if "pc" in registers else []
    return [*loads, SetTo("sp", "sp", 4 * len(registers)), *after]


def _vectors(instruction: Any, name: str, registers: list[Any]) -> list[Step]:
    size = sum(8 if register.startswith("d") else 4 for register in registers)
    if name == "vpush":
        return [Store("sp", -size, size, None), SetTo("sp", "sp", -size)]
    return [SetTo("sp", "sp", size)]


def _word(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(register), InMemory() as place]:
            return _access(instruction, name, register, place)
    return None


def _two_words(instruction: Any, name: str, operands: list[Any]) -> list[Step] | None:
    match operands:
        case [str(first), str(second), InMemory() as place] if not instruction.writeback:
            above = place._replace(offset=place.offset + 4)
            kind = name[:3]
            return [*_access(instruction, kind, first, place), *_access(instruction, kind, second, above)]
    return None


def _unknown(instruction: Any, name: str, operands: list[Any]) -> list[Step]:
    """Forget what an instruction without a rule may write to."""
    forgotten: list[Step] = written(instruction)
    if name.startswith(("st", "vst")):
        forgotten += [Store(one.base if isinstance(one, InMemory) else one, None, 0, None) for one in operands if one]
    if instruction.update_flags:
        forgotten.append(Compare(None, 0))
    return [*forgotten, Branch(None, False)] if Forget("pc") in forgotten else forgotten


_RULES = by_name(
    {
        "cmp mov movs movw movt adr": _move,
        "lsl orr add addw sub subw": _sum,
        "push": _push,
        "pop": _pop,
        "vpush vpop": _vectors,
        "ldr ldrb ldrh str strb strh": _word,
        "ldrd strd": _two_words,
    }
)
"""What is read of ARM's instructions; a rule says None where it does not know these operands."""


def _access(instruction: Any, name: str, register: str, place: InMemory) -> list[Step]:
    if place.is_indexed or instruction.writeback or register == "pc":
        stored: list[Step] = [Store(place.base, None, 0, None)] if name.startswith("st") else []
        jump: list[Step] = [Branch(None, False)] if register == "pc" and not stored else []
        return [*stored, *written(instruction), *jump]
    if place.base == "pc":
        place = InMemory("", _pc(instruction) + place.offset)
    if name.startswith("ld"):
        return [Load(register, place.base, place.offset, _SIZES[name])]
    return [Store(place.base, place.offset, _SIZES[name], register)]


def _pc(instruction: Any) -> int:
    """Return what an instruction of Thumb reads from pc, as the base of an address."""
    return int(instruction.address + 4) & ~3
