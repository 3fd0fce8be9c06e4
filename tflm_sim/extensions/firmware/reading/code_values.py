"""What a function passes to the functions that it calls, as far as its code alone says.

Every path through the function is followed with what is known of registers and of its stack; where two paths meet,
what they do not agree on is unknown. A value is a number, or a number of bytes behind something that stands for itself:

    Value("", 0x20000c80)     a number: an address, a size
    Value("sp", -24)          24 bytes below the stack pointer at the function's first instruction
    Value("argument 2", 0)    the function's own argument; its callers decide
    Value("call 0x81f4", 0)   what the call at that address returned
    Value("[call 0x81f4+8]", 0)   the word that was loaded from 8 bytes behind that
    Value("aligned sp", 0)    a multiple of 16 somewhere on the function's stack
    Value("aligned call 0x81f4", 0)   the first multiple of 16 in what that call returned
    Value("[0x20000010]", 0)  the word that was loaded from that address, which the program can write to

Invariant: what is not certain is None. Memory that another function can reach is forgotten at every call. Two words
that were loaded from one place at different times may differ, though they have the same base.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.elf import Elf, Section
from tflm_sim.extensions.firmware.reading.machine_code import decoder
from tflm_sim.extensions.firmware.reading.machine_steps import (
    Branch,
    CallTo,
    Compare,
    ConditionalStep,
    Convention,
    Decoder,
    Forget,
    Load,
    Or,
    Round,
    SetTo,
    Shift,
    Step,
    Store,
    Sum,
)

_MAX_STACK_BYTES = 1 << 30
_MAX_STEPS = 40_000
"""Instructions that are read of one function, those on several paths several times."""
_MAX_ARGUMENTS = 10
_MAX_PLACE_CHARACTERS = 80
"""Characters of what stands for a place in memory; a word from deeper memory is not known."""
_MAX_ENDING_BYTES = 256
"""Bytes of a function of which it is found out whether it returns: abort() and those that call it are short."""
_MAX_INSTRUCTION_BYTES = 24
"""Bytes that are handed to the decoder: IT of Thumb with the four instructions behind it are 18."""
ARGUMENT, CALL, ALIGNED = "argument ", "call ", "aligned "
_ALIGNMENT = 16
"""What tensors are aligned to."""


class Value(NamedTuple):
    """A number, or bytes behind what ``base`` stands for; see the head of the module."""

    base: str
    offset: int


@dataclass(frozen=True, slots=True)
class CallSite:
    """A call.

    Attributes:
        site: The address of the call.
        target: What is called; None where that is not known.
        arguments: By position; None for what is not known.
        through: Of a call of what a register holds, that value; None where it is not known.
    """

    site: int
    target: int | None
    arguments: tuple[Value | None, ...]
    through: Value | None = None


@dataclass(frozen=True, slots=True)
class CodeFacts:
    """What was read of a function.

    Attributes:
        calls: The calls that some path reaches, by address.
        loops: Addresses of instructions that may be carried out again -> a number for each loop; those of nested
            loops have the number of the outermost.
        stored: Bases of the values that are written to memory of others: "call 0x81f4".
        written: Addresses of words that it writes to -> the values; None among them for one that is not known.
        returned: What it returns on every path; None where that is not known.
        reads: Addresses of instructions -> the place in memory that each loads from, where that is one place.
        stores: Addresses of instructions -> a place, or the start of what holds it, that each stores to.
        stacks: Addresses to which it sets the stack pointer.
        following: Addresses of instructions -> those that may come next.
        tests: Addresses of jumps that hang on whether two numbers are equal.
    """

    calls: tuple[CallSite, ...] = ()
    loops: Mapping[int, int] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    written: Mapping[int, frozenset[Value | None]] = field(default_factory=dict)
    returned: Value | None = None
    reads: Mapping[int, int] = field(default_factory=dict)
    stores: Mapping[int, Value] = field(default_factory=dict)
    stacks: frozenset[int] = frozenset()
    following: Mapping[int, list[int]] = field(default_factory=dict)
    tests: frozenset[int] = frozenset()


@dataclass(slots=True)
class _State:
    """What is known before an instruction about registers, flags and the stack; whatever is missing is unknown."""

    registers: dict[str, Value]
    slots: dict[int, tuple[Value, int]] = field(default_factory=dict)
    reachable_from: int | None = None
    compared: tuple[str, int] | None = None

    def copy(self) -> _State:
        return _State(dict(self.registers), dict(self.slots), self.reachable_from, self.compared)

    def common_with(self, other: _State) -> _State:
        """Return the facts on which both states agree."""
        reachable = [one for one in (self.reachable_from, other.reachable_from) if one is not None]
        return _State(
            dict(self.registers.items() & other.registers.items()),
            dict(self.slots.items() & other.slots.items()),
            min(reachable, default=None),
            self.compared if self.compared == other.compared else None,
        )

    def put(self, register: str, value: Value | None) -> None:
        if self.compared is not None and self.compared[0] == register:
            self.compared = None
        if value is None:
            self.registers.pop(register, None)
        else:
            self.registers[register] = value


class CodeReader:
    """Reads functions of a program.

    Args:
        elf: The program.
        decoder: Of its instructions.
        functions: Its functions by their first addresses. What stands behind a call of one of them that never returns
            is not what comes next.
    """

    def __init__(self, elf: Elf, decoder: Decoder, functions: Mapping[int, Function] | None = None) -> None:
        self._elf, self._decoder, self._functions = elf, decoder, functions or {}
        self._starts = sorted(self._functions)
        self._returns: dict[int, bool] = {}
        self._known: dict[Function, CodeFacts] = {}
        self._convention: Convention = decoder.convention
        self._mask = (1 << 8 * self._convention.word) - 1
        self._sections = [s for s in elf.sections if s.is_allocated and s.has_bits and s.size]
        self._copied = [section for section in self._sections if elf.is_copied(section)]
        self._stored: set[str] = set()
        self._written: dict[int, set[Value | None]] = {}
        self._reads: dict[int, int] = {}
        self._tests: set[int] = set()
        self._stores: dict[int, Value] = {}
        self._stacks: set[int] = set()
        self._constants = {name: Value("", number) for name, number in self._convention.constants}

    def calls(self, function: Function) -> tuple[CallSite, ...]:
        """Return the calls in a function that some path reaches, by address; () for a function that is too long."""
        return self.facts(function).calls

    def facts(self, function: Function) -> CodeFacts:
        """Return what a function's code does, as far as it is read; nothing of a function that is too long."""
        if function not in self._known:
            self._known[function] = self._read(function)
        return self._known[function]

    def _read(self, function: Function) -> CodeFacts:
        states: dict[int, _State] = {}
        found: dict[int, CallTo] = {}
        following: dict[int, list[int]] = {}
        self._stored, self._written, self._reads, ends = set(), {}, {}, set[Value | None]()
        self._tests, self._stores, self._stacks = set(), {}, set()
        work = [(function.start, self._at_entry())]
        left = _MAX_STEPS
        while work:
            address, state = work.pop()
            known = states.get(address)
            state = state if known is None else known.common_with(state)
            if known == state or not function.start <= address < function.start + function.size:
                continue
            left -= 1
            if not left:
                return CodeFacts()
            states[address] = state
            decoded = self._decoder.decode(self._code(address), address)
            if decoded is None:
                continue
            size, steps = decoded
            self._note_places(address, state, steps)
            self._tests.update(address for step in steps if isinstance(step, Branch) and step.equal is not None)
            ends.update(self._ends(address, state, steps, function))
            after = list(self._after(address, size, steps, state.copy(), found, function))
            following[address] = [next_one for next_one, _ in after]
            work += after
        calls = (self._call_site(states[site], site, call) for site, call in sorted(found.items()))
        return CodeFacts(
            tuple(calls),
            _loops(following),
            frozenset(self._stored),
            {address: frozenset(values) for address, values in self._written.items()},
            ends.pop() if len(ends) == 1 else None,
            self._reads,
            self._stores,
            frozenset(self._stacks),
            following,
            frozenset(self._tests),
        )

    def _does_return(self, start: int) -> bool:
        """Return whether a function may return; of a long one, and of one that is not known, it is taken that it does.

        While that is being found out of a function, its calls of itself are taken to return.
        """
        function = self._functions.get(start)
        if function is None or function.size > _MAX_ENDING_BYTES:
            return True
        if start not in self._returns:
            self._returns[start] = True
            self._returns[start] = self._reaches_an_end(function)
        return self._returns[start]

    def _reaches_an_end(self, function: Function) -> bool:
        seen: set[int] = set()
        work = [function.start]
        while work:
            address = work.pop()
            if not function.start <= address < function.start + function.size:
                if self._does_return(address):
                    return True
                continue
            if address in seen:
                continue
            seen.add(address)
            decoded = self._decoder.decode(self._code(address), address)
            if decoded is None:
                return True
            size, steps = decoded
            following = [address + size]
            for step in steps:
                if isinstance(step, Branch):
                    if step.target is None:
                        return True
                    following = [step.target, *following[: step.is_conditional]]
                elif isinstance(step, CallTo) and step.target is not None and not self._does_return(step.target):
                    following = []
            work += following
        return False

    def _note_places(self, address: int, state: _State, steps: list[Step]) -> None:
        """Note the place that an instruction loads from or stores to, and the stack to which it goes, if known.

        Of a load only the first step counts, and it is the place on every path; of a store, the place on one.
        """
        for step in steps:
            if isinstance(step, Store):
                place = self._plus(self._value(state, step.base), step.offset or 0)
                if place is not None and place.base != "sp":
                    self._stores.setdefault(address, place)
            elif isinstance(step, SetTo) and step.register == self._convention.stack:
                stack = self._result(state, step)
                if stack is not None and not stack.base:
                    self._stacks.add(stack.offset)
        for step in steps[:1]:
            load = step.step if isinstance(step, ConditionalStep) else step
            place = self._plus(self._value(state, load.base), load.offset) if isinstance(load, Load) else None
            if place is not None and not place.base:
                self._reads[address] = place.offset
            else:
                self._reads.pop(address, None)

    def _ends(self, address: int, state: _State, steps: list[Step], function: Function) -> Iterator[Value | None]:
        """Yield what a function returns behind an instruction that leaves it; None for a jump that is not followed."""
        for step in steps:
            if not isinstance(step, Branch):
                continue
            if step.target is None:
                yield state.registers.get(self._convention.result) if step.returns else None
            elif not function.start <= step.target < function.start + function.size:
                yield None if step.is_conditional else Value(f"{CALL}{address:#x}", 0)

    def _call_site(self, state: _State, site: int, call: CallTo) -> CallSite:
        arguments = tuple(self._argument(state, i) for i in range(_MAX_ARGUMENTS))
        through = self._plus(self._value(state, call.register), call.offset) if call.register else None
        target = call.target
        if target is None and through is not None and not through.base:
            target = through.offset & ~self._convention.mode_bit
        return CallSite(site, target, arguments, through)

    def _at_entry(self) -> _State:
        convention = self._convention
        arguments = [Value(f"{ARGUMENT}{i}", 0) for i in range(_MAX_ARGUMENTS)]
        registers = dict(zip(convention.arguments, arguments, strict=False))
        passed = arguments[len(registers) :]
        slots = {convention.pushed + convention.word * i: (value, convention.word) for i, value in enumerate(passed)}
        return _State({**registers, convention.stack: Value("sp", 0)}, slots)

    def _after(
        self, address: int, size: int, steps: list[Step], state: _State, found: dict[int, CallTo], function: Function
    ) -> Iterator[tuple[int, _State]]:
        """Yield where execution goes on behind an instruction, with what is known there."""
        for step in steps:
            match step:
                case Branch(target, is_conditional, equal):
                    holds = None if equal is None else self._comparison_holds(state)
                    is_taken = None if holds is None else holds == equal
                    if target is not None and is_taken is not False:
                        if not function.start <= target < function.start + function.size and not is_conditional:
                            found[address] = CallTo(target)
                        yield target, _after_comparison(state, equal is True)
                    if is_conditional and is_taken is not True:
                        yield address + size, _after_comparison(state, equal is False)
                    return
                case CallTo(called):
                    found[address] = step
                    if called is not None and not self._does_return(called):
                        return
                    self._after_call(state, address)
                case ConditionalStep(inner):
                    before = state.copy()
                    self._apply(state, inner)
                    state = state.common_with(before)
                case _:
                    self._apply(state, step)
        yield address + size, state

    def _comparison_holds(self, state: _State) -> bool | None:
        """Return whether the last comparison holds; None where that is not known.

        A check of a pointer for null, where the pointer is an object's address, has one way out: GetModel() has such.
        """
        if state.compared is None:
            return None
        value = self._value(state, state.compared[0])
        return None if value is None or value.base else value.offset == state.compared[1]

    def _apply(self, state: _State, step: Step) -> None:
        match step:
            case Store():
                self._carry_out_store(state, step)
            case Compare(register, number):
                state.compared = None if register is None else (register, number)
            case SetTo() | Sum() | Shift() | Or() | Round() | Load() | Forget():
                state.put(step.register, self._result(state, step))

    def _result(self, state: _State, step: SetTo | Sum | Shift | Or | Round | Load | Forget) -> Value | None:
        match step:
            case SetTo(_, source, offset):
                return self._plus(self._value(state, source), offset)
            case Sum(_, first, second, sign):
                return self._sum(self._value(state, first), self._value(state, second), sign)
            case Shift(_, source, bits):
                number = _number(self._value(state, source))
                return None if number is None else self._plus(Value("", number << bits), 0)
            case Or(_, first, second):
                one, other = (_number(state.registers.get(register)) for register in (first, second))
                return None if one is None or other is None else Value("", one | other)
            case Round(_, source, multiple):
                return self._rounded(self._value(state, source), multiple)
            case Load(_, base, offset, size):
                return self._loaded(state, self._plus(self._value(state, base), offset), size)
        return None

    def _value(self, state: _State, name: str) -> Value | None:
        if not name:
            return Value("", 0)
        return state.registers.get(name) or self._constants.get(name)

    def _plus(self, value: Value | None, offset: int) -> Value | None:
        if value is None:
            return None
        total = value.offset + offset
        return Value(value.base, total if value.base else total & self._mask)

    def _sum(self, first: Value | None, second: Value | None, sign: int) -> Value | None:
        if second is not None and not second.base:
            return self._plus(first, sign * second.offset)
        if first is not None and not first.base and sign == 1:
            return self._plus(second, first.offset)
        return None

    def _rounded(self, value: Value | None, multiple: int) -> Value | None:
        if value is None or not value.base:
            return None if value is None else Value("", value.offset & -multiple & self._mask)
        is_known = value.base == "sp" or (value.base.startswith(CALL) and value.offset == _ALIGNMENT - 1)
        return Value(f"{ALIGNED}{value.base}", 0) if is_known and multiple == _ALIGNMENT else None

    def _loaded(self, state: _State, place: Value | None, size: int) -> Value | None:
        if place is None:
            return None
        if not place.base:
            number = self.constant(place.offset, size)
            return _word_at(f"{place.offset:#x}", size, self._convention.word) if number is None else Value("", number)
        if place.base != "sp":
            return _word_at(f"{place.base}{place.offset:+}", size, self._convention.word)
        value, width = state.slots.get(place.offset, (None, size))
        return value if width == size else None

    def constant(self, address: int, size: int) -> int | None:
        """Return a number in memory that the program does not write to; None for other places."""
        section = self._section(address, size)
        if section is None or section.is_writable or (section in self._copied and not self._is_in_function(address)):
            return None
        start = address - section.address
        return int.from_bytes(self._elf.bytes_of(section)[start : start + size], "little")

    def halfwords(self, function: Function) -> Sequence[int]:
        """Return the code of a function in parts of two bytes; () where the file does not have it."""
        section = self._section(function.start, function.size)
        if section is None:
            return ()
        start = function.start - section.address
        return memoryview(bytes(self._elf.bytes_of(section)[start : start + function.size // 2 * 2])).cast("H")

    def _is_in_function(self, address: int) -> bool:
        """Whether an address lies in a function, whose constants stay when it is copied into RAM."""
        before = bisect_right(self._starts, address)
        return before > 0 and address < self._starts[before - 1] + self._functions[self._starts[before - 1]].size

    def _section(self, address: int, size: int) -> Section | None:
        return next((s for s in self._sections if s.address <= address and address + size <= s.address + s.size), None)

    def _code(self, address: int) -> bytes:
        section = self._section(address, 2)
        if section is None:
            return b""
        start = address - section.address
        return bytes(self._elf.bytes_of(section)[start : start + _MAX_INSTRUCTION_BYTES])

    def _carry_out_store(self, state: _State, step: Store) -> None:
        place = self._value(state, step.base)
        value = None if step.register is None else self._value(state, step.register)
        if place is not None and place.base == "sp":
            if step.offset is None:
                state.slots = {}
            else:
                _put_on_stack(state, place.offset + step.offset, step.size, value)
            return
        reachable = _on_stack(value)
        if reachable is not None:
            _mark_reachable(state, reachable)
        elif value is not None and value.base:
            self._stored.add(value.base)
        if place is None or _on_stack(place) is not None:
            state.slots = {}
        elif not place.base and step.offset is not None:
            whole = value if step.size == self._convention.word else None
            self._written.setdefault(place.offset + step.offset, set()).add(whole)
        elif place.base:
            _forget_reachable(state)

    def _after_call(self, state: _State, site: int) -> None:
        """Return the state after a call, without the registers and memory that it may change."""
        for value in [self._argument(state, i) for i in range(_MAX_ARGUMENTS)]:
            reachable_from = _on_stack(value)
            if reachable_from is not None:
                _mark_reachable(state, reachable_from)
        if state.reachable_from is not None:
            reachable = (value for at, (value, _) in state.slots.items() if at >= state.reachable_from)
            self._stored.update(value.base for value in reachable if value.base not in ("", "sp"))
        _forget_reachable(state)
        state.registers = {name: value for name, value in state.registers.items() if name in self._convention.kept}
        state.compared = None
        state.registers[self._convention.result] = Value(f"{CALL}{site:#x}", 0)

    def _argument(self, state: _State, position: int) -> Value | None:
        convention = self._convention
        if position < len(convention.arguments):
            return self._value(state, convention.arguments[position])
        stack = state.registers.get(convention.stack)
        if stack is None or stack.base != "sp":
            return None
        place = stack.offset + convention.word * (position - len(convention.arguments))
        value, _ = state.slots.get(place, (None, None))
        return value


def code_reader(graph: CallGraph) -> CodeReader | None:
    """Return what reads a program's functions; None where nothing does."""
    machine = decoder(graph.elf)
    return CodeReader(graph.elf, machine, graph.functions) if machine else None


def _word_at(place: str, size: int, word: int) -> Value | None:
    """Return the value that stands for a word that was loaded from memory; None for a part of one."""
    return Value(f"[{place}]", 0) if size == word and len(place) <= _MAX_PLACE_CHARACTERS else None


def _loops(following: Mapping[int, list[int]]) -> dict[int, int]:
    """Return the instructions that may be carried out again, with a number for each loop: its strongest component.

    Args:
        following: Addresses of instructions -> those that may come next.
    """
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_ones: list[int] = []
    is_open: set[int] = set()
    found: dict[int, int] = {}
    for root in following:
        path = [] if root in index else [(root, iter(following[root]))]
        while path:
            at, rest = path[-1]
            if at not in index:
                index[at] = low[at] = len(index)
                open_ones.append(at)
                is_open.add(at)
            for other in rest:
                if other in following and other not in index:
                    path.append((other, iter(following[other])))
                    break
                if other in is_open:
                    low[at] = min(low[at], index[other])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[at])
                if low[at] == index[at]:
                    members = open_ones[open_ones.index(at) :]
                    del open_ones[-len(members) :]
                    is_open.difference_update(members)
                    if len(members) > 1 or at in following[at]:
                        found |= dict.fromkeys(members, index[at])
    return found


def _number(value: Value | None) -> int | None:
    """Return a value that is a number; None for what stands for something else, or is not known."""
    return None if value is None or value.base else value.offset


def _put_on_stack(state: _State, start: int, size: int, value: Value | None) -> None:
    """Replace the slots that ``size`` bytes from ``start`` on touch."""
    end = start + size
    state.slots = {at: slot for at, slot in state.slots.items() if at >= end or at + slot[1] <= start}
    if value is not None:
        state.slots[start] = (value, size)


def _after_comparison(state: _State, is_equal: bool) -> _State:
    """Return the state on the branch where the last comparison was equal; unchanged on the other branch."""
    after = state.copy()
    if is_equal and state.compared is not None:
        register, number = state.compared
        after.registers[register] = Value("", number)
    return after


def _on_stack(value: Value | None) -> int | None:
    """Return from where on the stack a pointer reaches; None for one that does not point there."""
    if value is None or value.base not in ("sp", f"{ALIGNED}sp"):
        return None
    return value.offset if value.base == "sp" else -_MAX_STACK_BYTES


def _mark_reachable(state: _State, offset: int) -> None:
    """Mark the stack from ``offset`` upwards as reachable by other functions."""
    state.reachable_from = offset if state.reachable_from is None else min(state.reachable_from, offset)


def _forget_reachable(state: _State) -> None:
    limit = state.reachable_from
    if limit is not None:
        state.slots = {at: slot for at, slot in state.slots.items() if at < limit}


def substituted(value: Value | None, arguments: Mapping[int, Value | None]) -> Value | None:
    """Return a value with the function's own arguments replaced by what a caller passes."""
    if value is None or not value.base.startswith(ARGUMENT):
        return value
    given = arguments.get(int(value.base.removeprefix(ARGUMENT)))
    return None if given is None else Value(given.base, given.offset + value.offset)
