"""Thumb's instructions as steps; Capstone has decoded them."""

from __future__ import annotations

from typing import Any

from tflm_sim.extensions.firmware.reading import machine_steps as step

ARM = step.Convention(
    stack="sp",
    arguments=("r0", "r1", "r2", "r3"),
    result="r0",
    kept=frozenset(("r4", "r5", "r6", "r7", "r8", "sb", "sl", "fp", "sp", "r9", "r10", "r11")),
    word=4,
    mode_bit=1,
)
_ALWAYS = 15
_EQUAL, _UNEQUAL = 1, 2
_SIZES = {"ldr": 4, "ldrh": 2, "ldrb": 1, "str": 4, "strh": 2, "strb": 1}


def steps_of(instruction: Any) -> list[step.Step]:
    name, condition = instruction.insn_name(), instruction.cc
    always = condition in (0, _ALWAYS)
    if name in ("b", "bx", "cbz", "cbnz", "tbb", "tbh"):
        return _branch(instruction, name, always)
    operands = [step.operand_of(instruction, one) for one in instruction.operands]
    if name in ("bl", "blx"):
        target = operands[0]
        return [step.CallTo(target) if isinstance(target, int) else step.CallTo(None, str(target))]
    steps = _data(instruction, name, operands)
    if not always:
        return [*(step.ConditionalStep(one) for one in steps), step.Compare(None, 0)]
    if instruction.update_flags and name != "cmp":
        steps.append(step.Compare(operands[0] if isinstance(operands[0], str) else None, 0))
    return steps


def _branch(instruction: Any, name: str, always: bool) -> list[step.Step]:
    operands = [step.operand_of(instruction, one) for one in instruction.operands]
    if name in ("cbz", "cbnz"):
        register, target = operands
        return [step.Compare(register, 0), step.Branch(target, True, name == "cbz")]
    target = operands[0] if name == "b" and isinstance(operands[0], int) else None
    if name == "b" and instruction.cc in (_EQUAL, _UNEQUAL):
        return [step.Branch(target, True, instruction.cc == _EQUAL)]
    is_return = name == "bx" and operands == ["lr"]
    calls = [step.CallTo(None, operands[0])] if name == "bx" and always and not is_return else []
    return [*calls, step.Branch(target, not always, returns=is_return)]


def _data(instruction: Any, name: str, operands: list[Any]) -> list[step.Step]:
    rule = _RULES.get(name)
    steps = None if rule is None else rule(instruction, name, operands)
    return _unknown(instruction, name, operands) if steps is None else steps


def _move(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match name, operands:
        case ("cmp", [str(register), int(number)]):
            return [step.Compare(register, number)]
        case ("mov" | "movs", [str(register), str(source)]) if not _is_shifted(instruction):
            return [step.SetTo(register, source, 0)]
        case ("mov" | "movw", [str(register), int(number)]):
            return [step.SetTo(register, "", number)]
        case ("movt", [str(register), int(number)]):
            return [step.SetTo(register, register, number << 16)]
        case ("adr", [str(register), int(offset)]):
            return [step.SetTo(register, "", _pc(instruction) + offset)]
    return None


def _sum(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match name, operands:
        case ("lsl", [str(register), str(source), int(bits)]):
            return [step.Shift(register, source, bits)]
        case ("orr", [str(register), *rest, str(second)]) if not _is_shifted(instruction):
            return [step.Or(register, rest[0] if rest else register, second)]
        case ("bic", [str(register), *rest, int(bits)]):
            return step.rounded(register, rest[0] if rest else register, ~bits)
        case ("add" | "addw" | "sub" | "subw", [str(register), *rest]) if not _is_shifted(instruction):
            return step.added(register, rest or [register], -1 if name.startswith("sub") else 1)
    return None


def _is_shifted(instruction: Any) -> bool:
    return any(one.shift.value for one in instruction.operands)


def _push(instruction: Any, name: str, registers: list[Any]) -> list[step.Step]:
    return _pushed(registers, 4 * len(registers))


def _pushed(registers: list[Any], size: int) -> list[step.Step]:
    stored = (step.Store("sp", 4 * i, 4, register) for i, register in enumerate(registers))
    return [step.SetTo("sp", "sp", -size), *stored]


def _pop(instruction: Any, name: str, registers: list[Any]) -> list[step.Step]:
    loads = [step.Load(register, "sp", 4 * i, 4) for i, register in enumerate(registers) if register != "pc"]
    after: list[step.Step] = [step.Branch(None, False, returns=True)] if "pc" in registers else []
    return [*loads, step.SetTo("sp", "sp", 4 * len(registers)), *after]


def _vectors(instruction: Any, name: str, registers: list[Any]) -> list[step.Step]:
    size = sum(8 if register.startswith("d") else 4 for register in registers)
    if name == "vpush":
        return [step.Store("sp", -size, size, None), step.SetTo("sp", "sp", -size)]
    return [step.SetTo("sp", "sp", size)]


def _word(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match operands:
        case [register, step.InMemory("sp", below)] if instruction.writeback and name == "str":
            return _pushed([register], -below)
        case [str(register), step.InMemory() as place]:
            return _access(instruction, name, register, place)
    return None


def _two_words(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match operands:
        case [*registers, step.InMemory("sp", below)] if instruction.writeback and name == "strd":
            return _pushed(registers, -below)
        case [str(first), str(second), step.InMemory() as place] if not instruction.writeback:
            above = place._replace(offset=place.offset + 4)
            kind = name[:3]
            return [*_access(instruction, kind, first, place), *_access(instruction, kind, second, above)]
    return None


def _unknown(instruction: Any, name: str, operands: list[Any]) -> list[step.Step]:
    """Return steps that forget every register that an instruction without a rule may write to."""
    forgotten: list[step.Step] = step.written(instruction)
    if name.startswith(("st", "vst")):
        bases = (one.base if isinstance(one, step.InMemory) else one for one in operands)
        forgotten += [step.Store(base, None, 0, None) for base in bases if isinstance(base, str)]
    if instruction.update_flags:
        forgotten.append(step.Compare(None, 0))
    return [*forgotten, step.Branch(None, False)] if step.Forget("pc") in forgotten else forgotten


_RULES = step.by_name(
    {
        "cmp mov movs movw movt adr": _move,
        "lsl orr bic add addw sub subw": _sum,
        "push": _push,
        "pop": _pop,
        "vpush vpop": _vectors,
        "ldr ldrb ldrh str strb strh": _word,
        "ldrd strd": _two_words,
    }
)
"""What is read of ARM's instructions; a rule says None where it does not know these operands."""


def _access(instruction: Any, name: str, register: str, place: step.InMemory) -> list[step.Step]:
    if place.is_indexed or instruction.writeback or register == "pc":
        stored: list[step.Step] = [step.Store(place.base, None, 0, None)] if name.startswith("st") else []
        jump: list[step.Step] = [step.Branch(None, False)] if register == "pc" and not stored else []
        return [*stored, *step.written(instruction), *jump]
    if place.base == "pc":
        place = step.InMemory("", _pc(instruction) + place.offset)
    if name.startswith("ld"):
        return [step.Load(register, place.base, place.offset, _SIZES[name])]
    return [step.Store(place.base, place.offset, _SIZES[name], register)]


def _pc(instruction: Any) -> int:
    """Return what an instruction of Thumb reads from pc, as the base of an address."""
    return int(instruction.address + 4) & ~3
