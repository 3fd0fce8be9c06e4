"""x86-64's instructions as steps; Capstone has decoded them."""

from __future__ import annotations

from typing import Any

from tflm_sim.extensions.firmware.reading import machine_steps as step

X86 = step.Convention(
    stack="rsp",
    arguments=("rdi", "rsi", "rdx", "rcx", "r8", "r9"),
    result="rax",
    kept=frozenset(("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15")),
    word=8,
    pushed=8,
)
_HALVES = {f"e{name}": f"r{name}" for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")}
_HALVES |= {f"r{i}d": f"r{i}" for i in range(8, 16)}
_SMALL = {f"{letter}{half}": f"r{letter}x" for letter in "abcd" for half in "lhx"}
_SMALL |= {f"{name}{end}": f"r{name}" for name in ("si", "di", "bp", "sp") for end in ("", "l")}
_SMALL |= {f"r{i}{end}": f"r{i}" for i in range(8, 16) for end in "wb"}


def steps_of(instruction: Any) -> list[step.Step]:
    name = instruction.insn_name()
    operands = [step.operand_of(instruction, one) for one in instruction.operands]
    if name.startswith("j") or name in ("ret", "hlt", "ud2", "call"):
        return [_jump(name, operands)]
    wide = [_operand(instruction, one) for one in operands]
    written = [instruction.reg_name(register) for register in instruction.regs_access()[1]]
    rule = _RULES.get(name)
    steps = None if rule is None else rule(instruction, name, wide)
    if steps is None:
        steps = _unknown(wide, written)
    if "rflags" in written and name not in ("cmp", "test"):
        steps.append(step.Compare(None, 0))
    return steps


def _unknown(operands: list[Any], written: list[str]) -> list[step.Step]:
    """Return steps that forget every register that an instruction without a rule may write to."""
    stored = (step.Store(one.base, None, 0, None) for one in operands[:1] if isinstance(one, step.InMemory))
    return [*stored, *(step.Forget(_HALVES.get(one) or _SMALL.get(one, one)) for one in written)]


def _jump(name: str, operands: list[Any]) -> step.Step:
    if name in ("ret", "hlt", "ud2"):
        return step.Branch(None, False)
    target = operands[0] if isinstance(operands[0], int) else None
    if name == "call":
        return step.CallTo(target)
    return step.Branch(target, name != "jmp", {"je": True, "jne": False}.get(name))


def _operand(instruction: Any, operand: Any) -> Any:
    """Return the whole register for a half; an address of its own for one that is relative to the next instruction."""
    if isinstance(operand, str):
        return _HALVES.get(operand, operand)
    if isinstance(operand, step.InMemory) and operand.base == "rip":
        return step.InMemory("", instruction.address + instruction.size + operand.offset)
    return operand


def _move(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    size, *others = (one.size for one in instruction.operands)
    match name, operands:
        case ("lea", [str(register), step.InMemory(base, offset, False)]):
            return [step.SetTo(register, base, offset)]
        case ("mov", [step.InMemory(base, offset, False), str(register)]):
            return [step.Store(base, offset, size, register if size >= 4 else None)]
        case ("mov", [step.InMemory(base, offset, False), int(number)]):
            return [step.SetTo("number", "", number), step.Store(base, offset, size, "number")]
        case _ if size < 4:
            return None
        case ("mov" | "movabs", [str(register), int(number)]):
            return [step.SetTo(register, "", number)]
        case ("mov", [str(register), str(source)]):
            return [step.SetTo(register, source, 0)]
        case ("mov" | "movzx", [str(register), step.InMemory(base, offset, False)]):
            return [step.Load(register, base, offset, others[0])]
    return None


def _sum(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    size = instruction.operands[0].size
    match name, operands:
        case ("xor", [str(register), str(other)]) if register == other and size >= 4:
            return [step.SetTo(register, "", 0)]
        case ("and", [str(register), int(mask)]) if size == 8:
            return step.rounded(register, register, mask)
        case ("add" | "sub", [str(register), str() | int() as term]) if size == 8:
            return step.added(register, [term], -1 if name == "sub" else 1)
    return None


def _stack(instruction: Any, name: str, operands: list[Any]) -> list[step.Step] | None:
    match name, operands:
        case ("push", [str(register)]):
            return [step.SetTo("rsp", "rsp", -8), step.Store("rsp", 0, 8, register)]
        case ("push", [int(number)]):
            return [step.SetTo("rsp", "rsp", -8), step.SetTo("number", "", number), step.Store("rsp", 0, 8, "number")]
        case ("push", [_]):
            return [step.SetTo("rsp", "rsp", -8), step.Store("rsp", 0, 8, None)]
        case ("pop", [str(register)]):
            return [step.Load(register, "rsp", 0, 8), step.SetTo("rsp", "rsp", 8)]
        case ("leave", _):
            return [step.SetTo("rsp", "rbp", 8), step.Load("rbp", "rbp", 0, 8)]
    return None


def _compare(instruction: Any, name: str, operands: list[Any]) -> list[step.Step]:
    size = instruction.operands[0].size
    match name, operands:
        case ("cmp", [str(register), int(number)]) if size >= 4:
            return [step.Compare(register, number)]
        case ("test", [str(register), str(other)]) if register == other and size >= 4:
            return [step.Compare(register, 0)]
    return [step.Compare(None, 0)]


_RULES = step.by_name(
    {"lea mov movabs movzx": _move, "xor and add sub": _sum, "push pop leave": _stack, "cmp test": _compare}
)
"""What is read of x86-64's instructions, as in arm_code.py."""
