"""RISC-V's instructions as steps; Capstone has decoded them."""

from __future__ import annotations

from typing import Any

from tflm_sim.extensions.firmware.reading import machine_steps as step


def riscv(global_pointer: int | None) -> step.Convention:
    constants = (("zero", 0), *((("gp", global_pointer),) if global_pointer is not None else ()))
    return step.Convention(
        stack="sp",
        arguments=tuple(f"a{i}" for i in range(8)),
        result="a0",
        kept=frozenset(("sp", "gp", "tp", "zero", *(f"s{i}" for i in range(12)))),
        word=4,
        constants=constants,
    )


_LOADS = {"lw": 4, "lh": 2, "lhu": 2, "lb": 1, "lbu": 1}
_STORES = {"sw": 4, "sh": 2, "sb": 1}


def steps_of(instruction: Any) -> list[step.Step]:
    name = instruction.mnemonic.removeprefix("c.")
    operands = [step.operand_of(instruction, one) for one in instruction.operands]
    stem = name.removesuffix("sp")
    if len(operands) == 3 and _RULES.get(stem) is _access:  # Capstone takes c.lw apart.
        register, offset, base = operands
        name, operands = stem, [register, step.InMemory(base, offset)]
    rule = _RULES.get(name)
    steps = None if rule is None else rule(instruction, name, operands)
    return _unknown(name, operands) if steps is None else steps


def _data(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match name, operands:
        case ("mv", [str(register), str(source)]):
            return [step.SetTo(register, source, 0)]
        case ("li", [str(register), int(number)]):
            return [step.SetTo(register, "", number)]
        case ("lui", [str(register), int(number)]):
            return [step.SetTo(register, "", number << 12)]
        case ("auipc", [str(register), int(number)]):
            return [step.SetTo(register, "", instruction.address + (number << 12))]
        case ("slli", [str(register), *rest, int(bits)]):
            return [step.Shift(register, rest[0] if rest else register, bits)]
        case ("andi", [str(register), *rest, int(mask)]):
            return step.rounded(register, rest[0] if rest else register, mask)
        case ("or", [str(register), *rest, str(second)]):
            return [step.Or(register, rest[0] if rest else register, second)]
    return None


def _sum(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match operands:
        case [str(register), *rest]:
            return step.added(register, rest, -1 if name == "sub" else 1)
    return None


def _access(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match operands:
        case [str(register), step.InMemory() as place] if name in _LOADS:
            return [step.Load(register, place.base, place.offset, _LOADS[name])]
        case [str(register), step.InMemory() as place]:
            return [step.Store(place.base, place.offset, _STORES[name], register)]
    return None


def _jump(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    here = instruction.address
    match name, operands:
        case ("jal", [int(offset)]) | ("jal", ["ra", int(offset)]):
            return [step.CallTo(here + offset)]
        case ("jal", _):
            return None
        case ("jalr", [str(register)]):
            return [step.CallTo(None, register)]
        case ("jalr", ["ra", str(base), int(offset)]):
            return [step.CallTo(None, base, offset)]
        case ("jalr", ["zero", str(base), int(offset)]):
            return [step.CallTo(None, base, offset), step.Branch(None, False)]
        case ("jalr", _):
            return [step.CallTo(None)]
        case ("j", [int(offset)]):
            return [step.Branch(here + offset, False)]
        case ("j", _):
            return None
    is_return = name == "ret" or operands == ["ra"]
    calls = [step.CallTo(None, operands[0])] if name == "jr" and not is_return else []
    return [*calls, step.Branch(None, False, returns=is_return)]


def _branch(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match operands:
        case [*registers, int(offset)]:
            equal = {"beqz": True, "bnez": False}.get(name)
            compared = step.Compare(registers[0] if len(registers) == 1 else None, 0)
            return [compared, step.Branch(instruction.address + offset, True, equal)]
    return None


def _unknown(name: str, operands: list[Any]) -> list[step.Step]:
    """Return steps that forget every register that an instruction without a rule may write to."""
    is_store = name.startswith(("s", "fs", "amo"))
    bases = [one.base if isinstance(one, step.InMemory) else one for one in operands[1:]]
    stored: list[step.Step] = [step.Store(base, None, 0, None) for base in bases if isinstance(base, str) and is_store]
    return [*stored, *(step.Forget(one) for one in operands[:1] if isinstance(one, str))]


_RULES = step.by_name(
    {
        "mv li lui auipc slli andi or": _data,
        "addi addi4spn add sub addi16sp": _sum,
        " ".join((*_LOADS, *_STORES)): _access,
        "jal jalr j jr ret mret ebreak": _jump,
        "beq bne blt bge bltu bgeu bltz bgez blez bgtz beqz bnez": _branch,
    }
)
"""What is read of RISC-V's instructions, as in arm_code.py."""
