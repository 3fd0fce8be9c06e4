"""What machine code does, as a few steps that are the same for every processor, and what its readers share.

    ARM      add.w r3, sp, #8         SetTo(r3, sp, 8)
    RISC-V   c.swsp a5, 4(sp)         Store(sp, 4, 4 bytes, a5)
    x86-64   lea rcx, [rip + 0x3ad0]  SetTo(rcx, none, 0x4e40)

Instructions that nothing of that says change the registers that they write to something unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

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
    """``register = first | second``: joins the parts of a word on a processor that only loads aligned words."""

    register: str
    first: str
    second: str


class Round(NamedTuple):
    """``register = source & -multiple``: rounds an address down."""

    register: str
    source: str
    multiple: int


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
    """The comparison that the next condition "equal" refers to, ``register == number``; None for an unknown one."""

    register: str | None
    number: int


class Branch(NamedTuple):
    """A jump.

    Attributes:
        target: Where to; None where that is not known.
        is_conditional: Whether the next instruction may follow.
        equal: True where it is taken if the comparison holds, False if it does not, None for other conditions.
        returns: Whether it goes back to the caller.
    """

    target: int | None
    is_conditional: bool
    equal: bool | None = None
    returns: bool = False


class CallTo(NamedTuple):
    """A call: of an address, or of what a register holds and an offset; None for a target that is not said."""

    target: int | None
    register: str = ""
    offset: int = 0


class ConditionalStep(NamedTuple):
    """A step that is carried out under a condition."""

    step: Step


Step: TypeAlias = (
    "SetTo | Sum | Shift | Or | Round | Load | Store | Forget | Compare | Branch | CallTo | ConditionalStep"
)
Rule: TypeAlias = "Callable[[Any, str, list[Any]], list[Step] | None]"


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
        mode_bit: A bit of a function's address in memory that is not of its place.
    """

    stack: str
    arguments: tuple[str, ...]
    result: str
    kept: frozenset[str]
    word: int
    pushed: int = 0
    constants: tuple[tuple[str, int], ...] = ()
    mode_bit: int = 0


class Decoder(NamedTuple):
    """Reads a processor's instructions.

    Attributes:
        convention: How functions are called.
        decode: From bytes and their address to the instruction's size and steps; None where they are none.
    """

    convention: Convention
    decode: Callable[[bytes, int], tuple[int, list[Step]] | None]


class InMemory(NamedTuple):
    """An operand in memory."""

    base: str
    offset: int
    is_indexed: bool = False


def operand_of(instruction: Any, operand: Any) -> Any:
    """Return a register's name, a number, or a :class:`InMemory`; None for other kinds."""
    if operand.type == REGISTER:
        return instruction.reg_name(operand.reg)
    if operand.type == IMMEDIATE:
        return operand.imm
    if operand.type == MEMORY:
        memory = operand.mem
        base = instruction.reg_name(memory.base) if memory.base else ""
        return InMemory(base, memory.disp, bool(getattr(memory, "index", 0)))
    return None


def added(register: str, terms: list[Any], sign: int) -> list[Step]:
    """Return the steps of ``register = a + b`` or ``register += b``, where b is a register or a number."""
    first, second = terms if len(terms) == 2 else (register, terms[0])
    if isinstance(first, str) and isinstance(second, int):
        return [SetTo(register, first, sign * second)]
    if isinstance(first, str) and isinstance(second, str):
        return [Sum(register, first, second, sign)]
    return [Forget(register)]


def rounded(register: str, source: str, mask: int) -> list[Step] | None:
    """Return the steps of ``register = source & mask``; None for a mask that does not round."""
    return [Round(register, source, -mask)] if mask < 0 and -mask & (-mask - 1) == 0 else None


def written(instruction: Any) -> list[Step]:
    return [Forget(instruction.reg_name(register)) for register in instruction.regs_access()[1]]


def by_name(rules: dict[str, Rule]) -> dict[str, Rule]:
    """Return the rule of each instruction; ``rules``: names with spaces between them, and their rule."""
    return {name: rule for names, rule in rules.items() for name in names.split()}
