"""How a program sets TFLM up: the arguments of the calls that make its interpreters, read from its code.

    MicroInterpreter(model, resolver, tensor_arena + 64, 5000, variables)     the call in the program
    MicroResourceVariables::Create(allocator, 7)                              where ``variables`` comes from

The constructor's mangled name says which argument is which, in every version of TFLM. An argument that the caller was
given itself is looked up at the caller's callers. A call that is not found (link-time optimisation puts the
constructor into its caller) or not understood leaves what it passes unknown; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.arena_stores import ArenaStore, ArenaStores
from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.code_values import (
    ALIGNED,
    ARGUMENT,
    CALL,
    CallSite,
    CodeFacts,
    CodeReader,
    Value,
    substituted,
)
from tflm_sim.extensions.firmware.reading.symbol_names import function_name, plain_name
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_MAX_DEPTH = 4
"""How many callers up an argument is followed."""
_MAX_OWN_CODE_BYTES = 48 * 1024
"""Bytes of functions outside of TFLM that are read to find what is put into variables."""
_NEAR = 4096
"""Bytes from an address in a register that an instruction reaches."""
_VARIABLE = re.compile(r"\[0x([0-9a-f]+)\]")
"""The base of a word that was loaded from a variable, with its address."""
_MAX_CALLS = 64
"""Calls of the constructor, with every way to get there, that are told apart."""
_CONSTRUCTOR = re.compile(tflm_names.CONSTRUCTOR)
_ALLOCATE = re.compile(tflm_names.ALLOCATE_TENSORS)
_INVOKE = re.compile(tflm_names.INVOKE)
_CHANGED_CONSTRUCTOR = re.compile(rf"{tflm_names.CONSTRUCTOR}\..*")
"""A copy that the compiler made of a constructor, whose arguments are others: ``.constprop.0``, ``.isra.0``."""
_CREATE_ALLOCATOR = re.compile(tflm_names.CREATE_ALLOCATOR)
_TWO_ARENAS = re.compile(tflm_names.TWO_ARENAS)
_GIVEN_ALLOCATOR = re.compile(tflm_names.CONSTRUCTOR_GIVEN_ALLOCATOR)
_OWN_REQUEST = re.compile(tflm_names.OWN_REQUEST)
_TAKES_ALLOCATOR = re.compile(f"{tflm_names.CONSTRUCTOR}|{tflm_names.CREATE_VARIABLES}|{tflm_names.OWN_REQUEST}")
"""What a program may give an allocator to, without that it is lost from sight."""
_MAKE_ARENA_ALLOCATOR = re.compile(tflm_names.MAKE_ARENA_ALLOCATOR)
_MAKE_PLANNER = re.compile(tflm_names.MAKE_PLANNER)
_ALLOCATOR_TABLE, _RECORDING_TABLE = re.compile(tflm_names.ALLOCATOR_TABLE), re.compile(tflm_names.RECORDING_TABLE)
_T = TypeVar("_T")
_CREATE_VARIABLES = re.compile(tflm_names.CREATE_VARIABLES)
_GET_MODEL = re.compile(tflm_names.GET_MODEL)
_TYPE = re.compile(r"([PRK]*)(N?S\w?_|S\d?_|[a-z])")
_HEAP = {
    "malloc": 0, "pvPortMalloc": 0, "k_malloc": 0, "ps_malloc": 0, "heap_caps_malloc": 0, "_Znaj": 0, "_Znwj": 0,
    "_Znam": 0, "_Znwm": 0, "aligned_alloc": 1, "memalign": 1, "heap_caps_aligned_alloc": 1,
    "calloc": 1, "k_calloc": 1, "pvPortCalloc": 1, "heap_caps_calloc": 1,
}  # fmt: skip
"""Functions that take memory from a heap, with the position of the size among their arguments."""
_HEAP_OF_ROWS = frozenset({"calloc", "k_calloc", "pvPortCalloc", "heap_caps_calloc"})
"""Those whose first argument is how often it is taken; that of the others with two is the alignment."""
_KINDS = {
    "5Model": "model",
    "14MicroAllocator": "allocator",
    "22MicroResourceVariables": "variables",
    "Ph": "arena",
    "15MicroOpResolver": "resolver",
    "b": "preserve",
}
_SAME_AS_BEFORE = "the type before"
_WHOLE_TYPES = {"Ph": "Ph", "S_": _SAME_AS_BEFORE}
_SIZES = ("j", "m")
_TENSOR_TAKERS = re.compile(tflm_names.TENSOR_TAKERS)
_TENSOR_SIZES = {32: True, 40: False}
"""sizeof(TfLiteTensor) of 32-bit code with TF_LITE_STATIC_MEMORY, and whether its enums are short.
Source: micro_allocator.cc, common.h @ 90b983c."""


class InterpreterCall(NamedTuple):
    """A call that makes an interpreter; None for what the code does not say.

    Attributes:
        arena: The address of the arena; of two, of the one for what stays.
        arena_size: Its bytes.
        rest_size: Where that allocator was given two arenas: the bytes of the one for the rest.
        is_on_heap: Whether the arena comes from a heap.
        is_on_stack: Whether it lies on the stack of the function that makes the interpreter, or of a caller.
        is_aligned: Whether it begins at a multiple of 16 that is not known, of a heap or a stack.
        heap_size: Bytes that are taken from the heap for it; where it begins at a multiple of 16, at least those behind
            that.
        model: An address in the model.
        resolver: The address of the resolver of operators.
        variables: How many resource variables it has room for; 0 where it is given no table.
        variable_arena: Bytes of the arena in which that table is made; 0 for the interpreter's own.
        preserves_all_tensors: Whether its planner is the linear one.
        allocator: The call of MicroAllocator::Create whose allocator it was given; 0 where it makes its own.
        is_recording: Whether that allocator is a RecordingMicroAllocator.
        has_two_arenas: Whether that allocator was given an arena for what stays, and another one.
        has_own_planner: Whether that allocator was given a memory planner that the program made.
        has_own_arena_allocator: Whether that allocator was given a SingleArenaBufferAllocator that the program made.
        own_requests: Bytes of each AllocatePersistentBuffer() that the program calls on that allocator itself; None
            where not all that it does with the allocator is read.
        model_copy: The address of the model, where its bytes are not in the file.
        site: Where the call is.
    """

    arena: int | None = None
    arena_size: int | None = None
    is_on_heap: bool = False
    is_on_stack: bool = False
    is_aligned: bool = False
    heap_size: int | None = None
    model: int | None = None
    resolver: int | None = None
    variables: int | None = None
    variable_arena: int | None = None
    preserves_all_tensors: bool | None = None
    allocator: int | None = None
    is_recording: bool = False
    has_two_arenas: bool = False
    has_own_planner: bool = False
    has_own_arena_allocator: bool = False
    own_requests: tuple[int, ...] | None = None
    model_copy: int | None = None
    site: int | None = None
    rest_size: int | None = None

    @property
    def has_arena(self) -> bool:
        """Whether it is known how large its arena is, and the other one where there are two."""
        return self.arena_size is not None and not (self.has_two_arenas and self.rest_size is None)


class Wait(NamedTuple):
    """A loop that a program may not leave, before it comes to AllocateTensors().

    Attributes:
        function: The function with the loop.
        address: What it waits for: a variable that nothing writes to, or a device that it reads before.
        name: The variable; "" for a device.
    """

    function: str
    address: int
    name: str


class OwnStack(NamedTuple):
    """Where a function of the program sets the stack pointer, before it calls what uses an interpreter."""

    function: str
    top: int


@dataclass(frozen=True, slots=True)
class SetUp:
    """What the code says.

    Attributes:
        interpreters: The calls that make one; () where none is found.
        is_read: Whether the program's code can be read here.
        tensor_enums: Whether sizeof(TfLiteTensor) in the code is that with short enums; None where it is not read.
        table_length: The number that every call of MicroResourceVariables::Create passes; None where there is none,
            one is not read, or they differ.
        allocates_again: Whether more calls lead to AllocateTensors() than to the making of an interpreter, so that one
            may allocate its tensors twice, which takes more of the arena. Calls in a loop count once.
        allocates_in_loop: Whether AllocateTensors() is called in a loop that makes no new interpreter.
        makes_in_loop: Whether an interpreter is made in a loop, each time on the same allocator.
        waits: Loops before AllocateTensors() that the program may not leave.
        stores: What the program stores into arenas that are in use.
        stacks: Stacks to which it goes before it uses an interpreter.
    """

    interpreters: tuple[InterpreterCall, ...] = ()
    is_read: bool = False
    tensor_enums: bool | None = None
    table_length: int | None = None
    allocates_again: bool = False
    allocates_in_loop: bool = False
    makes_in_loop: bool = False
    waits: tuple[Wait, ...] = ()
    stores: tuple[ArenaStore, ...] = ()
    stacks: tuple[OwnStack, ...] = ()

    @property
    def is_repeated(self) -> bool:
        """Whether something may be allocated again in the same arena."""
        return self.allocates_again or self.allocates_in_loop or self.makes_in_loop

    @property
    def arenas(self) -> tuple[InterpreterCall, ...] | None:
        """The interpreters if the arena of every one of them is known, None if not."""
        return self.interpreters if self.interpreters and all(one.has_arena for one in self.interpreters) else None

    @property
    def resolver_count(self) -> int:
        """How many resolvers of operators the interpreters may be given at most."""
        return len({(one.resolver, one.site if one.resolver is None else None) for one in self.interpreters})


def _calls_of_constructor(program: _Program, graph: CallGraph, function: Function) -> Iterator[InterpreterCall]:
    """Yield the interpreters that calls of a function make; none where it is no constructor of one."""
    match = next(filter(None, map(_CONSTRUCTOR.fullmatch, function.names)), None)
    if match is not None:
        yield from program.interpreters(function, _roles(match[1]))
    if any(map(_CHANGED_CONSTRUCTOR.fullmatch, function.names)):
        for site in graph.callers.get(function.start, ()):
            yield InterpreterCall(site=site)


def _enum_kinds(program: _Program, functions: Iterable[Function]) -> set[bool]:
    """Return whether enums are short, as the sizes of TfLiteTensor in code say; both where they contradict."""
    takers = (function for function in functions if any(map(_TENSOR_TAKERS.fullmatch, function.names)))
    sizes = {program.tensor_size(function) for function in takers}
    return {_TENSOR_SIZES[size] for size in sizes if size is not None}


def read_set_up(graph: CallGraph, reader: CodeReader | None) -> SetUp:
    """Return what the code of a program passes to TFLM; ``reader``: None where no code is read."""
    wanted = [f for f in graph.functions.values() if any(map(_RELEVANT_FUNCTIONS.fullmatch, f.names))]
    if reader is None or not wanted:
        return SetUp(allocates_again=_allocates_again(graph, 0))
    program = _Program(graph, reader)
    found = [call for function in wanted for call in _calls_of_constructor(program, graph, function)]
    calls = tuple(dict.fromkeys(found[:_MAX_CALLS]))
    enums, lengths = _only_value(_enum_kinds(program, wanted)), _only_value(_table_lengths(program, wanted))
    in_loop, makes_again = program.repeats()
    again = _allocates_again(graph, len(calls))
    return SetUp(
        calls,
        True,
        enums,
        lengths,
        again,
        allocates_in_loop=in_loop,
        makes_in_loop=makes_again,
        waits=tuple(dict.fromkeys(program.waits())),
        stores=tuple(dict.fromkeys(program.arena_stores(calls))),
        stacks=tuple(dict.fromkeys(program.own_stacks())),
    )


def _allocates_again(graph: CallGraph, found: int) -> bool:
    """Whether more calls lead to AllocateTensors() than to a constructor; Invoke() calls it only where nobody did."""
    of_tflm = _starts_of(graph, _INVOKE)
    made = max(found, sum(graph.count_call_chains(start) for start in _starts_of(graph, _CONSTRUCTOR)))
    return 0 < made < sum(graph.count_call_chains(start, of_tflm) for start in _starts_of(graph, _ALLOCATE))


def _starts_of(graph: CallGraph, pattern: re.Pattern[str]) -> frozenset[int]:
    return frozenset(one.start for one in graph.functions.values() if any(map(pattern.fullmatch, one.names)))


def _table_lengths(program: _Program, functions: Iterable[Function]) -> set[int | None]:
    """Return what calls of MicroResourceVariables::Create pass; None for one that is not read."""
    creators = (function for function in functions if any(map(_CREATE_VARIABLES.fullmatch, function.names)))
    return {length for function in creators for length in program.table_lengths(function)}


def _only_value(values: Set[_T]) -> _T | None:
    """Return the value if all values are equal; None where there are none or they differ."""
    return next(iter(values)) if len(values) == 1 else None


_RELEVANT_FUNCTIONS = re.compile(
    "|".join(one.pattern for one in (_CONSTRUCTOR, _CHANGED_CONSTRUCTOR, _CREATE_VARIABLES, _TENSOR_TAKERS))
)


def _roles(parameters: str) -> dict[str, int]:
    """Return the position of each argument that matters, by what it is: ``PKNS_5ModelERKNS_15Micro...EPhj`` ..."""
    roles: dict[str, int] = {}
    last = ""
    for position, kind in enumerate(_kinds(parameters), 1):
        last = _role(kind, is_behind_arena=last == "arena")
        if last:
            roles.setdefault(last, position)
    return roles


def _role(kind: str, *, is_behind_arena: bool) -> str:
    """Return the role of an argument, by its type; "" for one that does not matter."""
    if is_behind_arena and kind in _SIZES:
        return "size"
    return "arena" if is_behind_arena and kind == _SAME_AS_BEFORE else _KINDS.get(kind, "")


def _kinds(parameters: str) -> Iterator[str]:
    """Yield the type of each parameter, of a nested name its last part."""
    at = 0
    while match := _TYPE.match(parameters, at):
        at, kind = match.end(), _WHOLE_TYPES.get(match[0], match[2])
        if kind.startswith("N"):
            length = re.match(r"\d+", parameters[at:])
            if length is None:
                return
            end = at + len(length[0]) + int(length[0])
            kind, at = parameters[at:end], end + 1
        yield kind


class _Program:
    """The program's functions."""

    def __init__(self, graph: CallGraph, reader: CodeReader) -> None:
        self._graph, self._reader = graph, reader
        self._facts = reader.facts
        self._constants: dict[Function, frozenset[tuple[int, int]]] = {}

    def _calls_in(self, function: Function) -> tuple[CallSite, ...]:
        return self._facts(function).calls

    def _calls_of(self, target: Function) -> Iterator[tuple[Function, CallSite | None]]:
        """Yield the calls of a function; None for one that cannot be read where it should be."""
        for start in sorted(self._graph.calling_functions(target.start)):
            caller = self._graph.functions[start]
            calls = [call for call in self._calls_in(caller) if call.target == target.start]
            yield from ((caller, call) for call in calls)
            reached = {call.site for call in calls}
            sites = (site for site in self._graph.callers[target.start] if self._graph.function_at(site) == caller)
            yield from ((caller, None) for site in sites if site not in reached)

    def interpreters(self, constructor: Function, roles: Mapping[str, int]) -> Iterator[InterpreterCall]:
        """Yield what each call of a constructor passes."""
        for caller, call in self._calls_of(constructor):
            if call is None:
                yield InterpreterCall()
                continue
            facts = {name: call.arguments[position] for name, position in roles.items() if position < 10}
            is_own = "allocator" not in roles
            if not is_own:
                requests = self._own_requests(caller, facts["allocator"])
                facts |= self._allocator(caller, facts.pop("allocator"))
            self._trace_back(caller, facts)
            for known in self._in_every_context(caller, facts, _MAX_DEPTH):
                yield _interpreter(known, is_own)._replace(site=call.site, own_requests=() if is_own else requests)

    def _own_requests(self, caller: Function, allocator: Value | None) -> tuple[int, ...] | None:
        """Return what a function takes of an allocator itself; None where it may be used where it is not seen."""
        names, made = self._callee(caller, allocator)
        match = next(filter(None, map(_CREATE_ALLOCATOR.fullmatch, names)), None)
        if allocator is None or made is None or match is None or allocator.base in self._facts(caller).stored:
            return None
        table = self._virtual_functions(_RECORDING_TABLE if "Recording" in match[0] else _ALLOCATOR_TABLE)
        found = []
        for call in self._calls_in(caller):
            if allocator not in call.arguments:
                continue
            function = self._graph.functions.get(call.target) if call.target is not None else None
            if function is None and call.through is not None:
                function = table.get(call.through.base.removeprefix(f"[[{allocator.base}+0]+").removesuffix("]"))
            size = call.arguments[1]
            if function is None or not any(map(_TAKES_ALLOCATOR.fullmatch, function.names)):
                return None
            if any(map(_OWN_REQUEST.fullmatch, function.names)):
                if size is None or size.base or call.site in self._facts(caller).loops:
                    return None
                found.append(size.offset)
        return tuple(found)

    def _virtual_functions(self, table: re.Pattern[str]) -> dict[str, Function]:
        """Return the functions of a class's table, by how many bytes behind its first they stand: "28"."""
        elf = self._graph.elf
        word, mask = elf.bits // 8, ~1 if elf.machine == "ARM" else ~0
        found = {}
        for symbol in elf.symbols:
            if table.fullmatch(symbol.name):
                for offset in range(0, symbol.size - 2 * word, word):
                    address = self._reader.constant(symbol.value + 2 * word + offset, word)
                    function = None if address is None else self._graph.functions.get(address & mask)
                    if function is not None:
                        found[f"{offset}"] = function
        return found

    def repeats(self) -> tuple[bool, bool]:
        """Return whether tensors are allocated again in a loop, and interpreters made again on one allocator."""
        invoke = _starts_of(self._graph, _INVOKE)
        allocate = self._graph.leading_to(_starts_of(self._graph, _ALLOCATE), invoke)
        make, make_given = self._makers(_CONSTRUCTOR), self._makers(_GIVEN_ALLOCATOR)
        create = self._graph.leading_to(_starts_of(self._graph, _CREATE_ALLOCATOR), invoke)
        again = makes = False
        callers = {start for target in allocate | make_given for start in self._graph.calling_functions(target)}
        for start in sorted(callers):
            facts = self._facts(self._graph.functions[start])
            in_loops: dict[int, set[int | None]] = {}
            for call in facts.calls:
                if call.site in facts.loops:
                    in_loops.setdefault(facts.loops[call.site], set()).add(call.target)
            for targets in in_loops.values():
                again = again or bool(targets & allocate and not targets & make)
                makes = makes or bool(targets & make_given and not targets & create)
        return again, makes

    def waits(self) -> Iterator[Wait]:
        """Yield loops before AllocateTensors(): without a way out, or whose only one hangs on what nothing writes."""
        allocate = self._graph.leading_to(_starts_of(self._graph, _ALLOCATE), _starts_of(self._graph, _INVOKE))
        for start in sorted(allocate):
            function = self._graph.functions[start]
            if any(map(tflm_names.is_of_tflm, function.names)):
                continue
            facts = self._facts(function)
            before = _reached(facts, start, {call.site for call in facts.calls if call.target in allocate})
            name = function_name(function.names[0]) if function.names else f"{start:#x}"
            for number in {facts.loops[at] for at in before if at in facts.loops}:
                loop = {at for at, one in facts.loops.items() if one == number}
                ways_out = {(at, to) for at in loop for to in facts.following[at] if to not in loop}
                if not loop <= before or any(to not in facts.following for _, to in ways_out):
                    continue
                if not ways_out:
                    yield from (Wait(name, device, "") for device in self._devices(facts, before)[:1])
                elif len(ways_out) == 1 and next(iter(ways_out))[0] in facts.tests:  # others count
                    places = {facts.reads[at] for at in loop if at in facts.reads}
                    yield from (Wait(name, at, plain_name(self._names_at[at][0])) for at in self._never_written(places))

    def arena_stores(self, calls: Iterable[InterpreterCall]) -> Iterator[ArenaStore]:
        """Yield what stores into an arena whose interpreter is used afterwards."""
        uses = _starts_of(self._graph, _ALLOCATE) | _starts_of(self._graph, _INVOKE)
        sites: dict[range, set[int]] = {}
        for call in calls:
            if call.arena is not None and call.arena_size is not None and call.site is not None:
                sites.setdefault(range(call.arena, call.arena + call.arena_size), set()).add(call.site)
        for arena, makers in sites.items():
            named = {one for one in self._own_functions if self._may_name(one, arena.start, arena.stop)}
            yield from sorted(ArenaStores(self._graph, self._facts, arena, makers, uses, named).found())

    def own_stacks(self) -> Iterator[OwnStack]:
        """Yield the stacks to which the program goes itself, for what uses an interpreter."""
        starts = _starts_of(self._graph, _ALLOCATE) | _starts_of(self._graph, _INVOKE)
        using = self._graph.leading_to(starts, frozenset())
        for function in self._own_functions:
            code = self._reader.halfwords(function)
            if self._graph.elf.machine == "ARM" and not any(map(_is_to_stack_pointer, code)):
                continue
            facts = self._facts(function)
            if facts.stacks and any(call.target is None or call.target in using for call in facts.calls):
                yield from (OwnStack(function_name(function.names[0]), top) for top in sorted(facts.stacks))

    def _devices(self, facts: CodeFacts, before: Set[int]) -> list[int]:
        """Return places outside of all sections that a function, or one of the program's that it calls, reads."""
        places = {place for at, place in facts.reads.items() if at in before}
        own, work = (
            {one.start for one in self._own_functions},
            {call.target for call in facts.calls if call.site in before},
        )
        while work:
            target = work.pop()
            if target is not None and target in own:
                own.discard(target)
                called = self._facts(self._graph.functions[target])
                places.update(called.reads.values())
                work |= {call.target for call in called.calls}
        sections = [one for one in self._graph.elf.sections if one.is_allocated]
        return sorted(
            place for place in places if not any(one.address <= place < one.address + one.size for one in sections)
        )

    def _never_written(self, places: Set[int]) -> Iterator[int]:
        """Yield those of some places that are variables which start as 0 and that no function names but to read it."""
        zeroed = [one for one in self._graph.elf.sections if one.is_allocated and one.is_writable and not one.has_bits]
        for place in sorted(places & self._names_at.keys()):
            written = any(
                place in self._facts(function).written
                for function in self._own_functions
                if self._may_name(function, place, place + 1)
            )
            if not written and any(one.address <= place < one.address + one.size for one in zeroed):
                yield place

    def _makers(self, constructor: re.Pattern[str]) -> frozenset[int]:
        """Return the constructors, and the functions that call them each time that they are called."""
        constructors = _starts_of(self._graph, constructor)
        functions = (self._graph.functions[start] for start in constructors)
        calls = (row for function in functions for row in self._calls_of(function))
        direct = {caller.start for caller, call in calls if call is None or not self._is_made_once(call)}
        return self._graph.leading_to(frozenset(direct), frozenset()) | constructors

    def _is_made_once(self, call: CallSite) -> bool:
        """Whether a call makes a static object of a function, which is made when the function is called first."""
        this = call.arguments[0] if call.arguments else None
        if this is None or this.base:
            return False
        names = self._names_at.get(this.offset, ())
        return any(f"_ZGV{name.removeprefix('_Z')}" in self._guards for name in names)

    @cached_property
    def _names_at(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, tuple[str, ...]] = {}
        for symbol in self._graph.elf.symbols:
            found[symbol.value] = (*found.get(symbol.value, ()), symbol.name)
        return found

    @cached_property
    def _guards(self) -> frozenset[str]:
        """Names of what says whether a static object of a function was made."""
        return frozenset(one.name for one in self._graph.elf.symbols if one.name.startswith("_ZGV"))

    def _callee(self, caller: Function, value: Value | None) -> tuple[tuple[str, ...], CallSite | None]:
        """Return the names of the function that a value was returned by, and the call."""
        base = "" if value is None else value.base.removeprefix(ALIGNED)
        if value is None or not base.startswith(CALL) or value.offset:
            return (), None
        site = int(base.removeprefix(CALL), 16)
        call = next((call for call in self._calls_in(caller) if call.site == site), None)
        function = None if call is None or call.target is None else self._graph.functions.get(call.target)
        return (function.names if function else ()), call

    def _allocator(self, caller: Function, value: Value | None) -> dict[str, Value | None]:
        """Return the facts about an allocator that was made before."""
        names, call = self._callee(caller, value)
        match = next(filter(None, map(_CREATE_ALLOCATOR.fullmatch, names)), None)
        if match is None or call is None:
            return {"site": None}
        roles, is_recording = _roles(match[1]), "Recording" in match[0]
        facts: dict[str, Value | None] = {"site": Value("", call.site), "recording": Value("", int(is_recording))}
        if _TWO_ARENAS.fullmatch(match[1]):
            given = dict(zip(("arena", "size", "rest", "rest_size"), call.arguments, strict=False))
            if "MemoryPlannerType" in match[1]:
                given["preserve"] = call.arguments[4]
            return {**facts, "two": Value("", 1), **given}
        if "arena" not in roles:
            if "MemoryPlanner" not in match[1]:
                return facts
            return {**facts, **self._own_arena_allocator(caller, call)}
        arena = roles["arena"] - 1
        planner: Value | None = Value("", 0)  # MemoryPlannerType::kGreedy, the only one where none can be named.
        if "MemoryPlannerType" in match[1]:
            planner = call.arguments[arena + 2]
        elif "MemoryPlanner" in match[1]:
            planner, facts["own_planner"] = self._planner(call.arguments[arena + 2]), Value("", 1)
        return {**facts, "arena": call.arguments[arena], "size": call.arguments[arena + 1], "preserve": planner}

    def _own_arena_allocator(self, caller: Function, create: CallSite) -> dict[str, Value | None]:
        """Return the facts about MicroAllocator::Create with a SingleArenaBufferAllocator and a planner."""
        made = self._made(create.arguments[0], _MAKE_ARENA_ALLOCATOR, caller)
        facts: dict[str, Value | None] = {"own_planner": Value("", 1), "preserve": self._planner(create.arguments[1])}
        if made is None:
            return facts
        return {**facts, "own_arena_allocator": Value("", 1), "arena": made.arguments[1], "size": made.arguments[2]}

    def _planner(self, planner: Value | None) -> Value | None:
        """Return whether a planner that the program makes preserves all tensors; None for one that is not TFLM's."""
        made = self._made(planner, _MAKE_PLANNER, None)
        function = None if made is None or made.target is None else self._graph.functions.get(made.target)
        return None if function is None else Value("", int(any("Linear" in name for name in function.names)))

    def _made(self, this: Value | None, constructor: re.Pattern[str], near: Function | None) -> CallSite | None:
        """Return the only call of a constructor that makes the object at ``this``; on the stack only in ``near``."""
        if this is None or (this.base and (this.base != "sp" or near is None)):
            return None
        functions = (self._graph.functions[start] for start in _starts_of(self._graph, constructor))
        calls = (row for function in functions for row in self._calls_of(function))
        found = [
            call for caller, call in calls if call and call.arguments[0] == this and (not this.base or caller == near)
        ]
        return found[0] if len(found) == 1 else None

    def _resolved(self, function: Function, value: Value | None) -> tuple[Function, Value | None]:
        """Return what a call returned, or what was put into a variable, and in which function.

        The function is another one than ``function`` where the value stands for something there.
        """
        for _ in range(_MAX_DEPTH):
            following: tuple[Function, Value | None] = (function, None)
            if value is not None and value.base.startswith(CALL):
                following = self._returned(function, value)
            elif value is not None and (match := _VARIABLE.fullmatch(value.base)):
                following = self._only_stored(int(match[1], 16))
            if value is None or following[1] is None:
                break
            function, value = following[0], Value(following[1].base, following[1].offset + value.offset)
        return function, value

    def _returned(self, caller: Function, value: Value) -> tuple[Function, Value | None]:
        """Return what the call that ``value`` stands for returned."""
        site = int(value.base.removeprefix(CALL), 16)
        call = next((call for call in self._calls_in(caller) if call.site == site), None)
        callee = None if call is None or call.target is None else self._graph.functions.get(call.target)
        if call is None or callee is None or callee == caller or not _HEAP.keys().isdisjoint(callee.names):
            return caller, None
        returned = self._facts(callee).returned
        if returned is not None and (not returned.base or returned.base.startswith(ARGUMENT)):
            return caller, substituted(returned, dict(enumerate(call.arguments)))
        return callee, None if returned is None or returned.base == "sp" else returned

    def _only_stored(self, address: int) -> tuple[Function, Value | None]:
        """Return the only value but 0 that the program's own functions put into a variable."""
        found = {
            (function, value)
            for function in self._own_functions
            if self._may_name(function, address, address + 1)
            for value in self._facts(function).written.get(address, ())
            if value != Value("", 0)
        }
        function, value = found.pop() if len(found) == 1 else (Function(0, 0, ()), None)
        return function, None if value is None or value.base.startswith((ARGUMENT, "sp", f"{ALIGNED}sp")) else value

    @cached_property
    def _own_functions(self) -> tuple[Function, ...]:
        """The functions outside of TFLM, as far as they are read, the smallest first."""
        own = (one for one in self._graph.functions.values() if not any(map(tflm_names.is_of_tflm, one.names)))
        found, left = [], _MAX_OWN_CODE_BYTES
        for function in sorted(own, key=lambda one: one.size):
            left -= function.size
            if left >= 0:
                found.append(function)
        return tuple(found)

    def _may_name(self, function: Function, start: int, end: int) -> bool:
        """Whether code of ARM has an address from ``start`` to ``end``, or one near it, among its constants.

        Other code is not asked.
        """
        if self._graph.elf.machine != "ARM":
            return True
        if function not in self._constants:
            self._constants[function] = frozenset(self._constants_of(function))
        first = start - _NEAR
        return any(word < end and word + size > first for word, size in self._constants[function])

    def _constants_of(self, function: Function) -> Iterator[tuple[int, int]]:
        """Yield the words that code of Thumb loads from beside itself, and what MOVT makes of a register, with how
        many numbers from there on it may be.

        Every halfword is taken to begin an instruction, so that some are none.
        """
        code = self._reader.halfwords(function)
        for i, half in enumerate(code):
            following = code[i + 1] if i + 1 < len(code) else 0
            at = (function.start + 2 * i + 4) & ~3
            if half & 0xFBF0 == 0xF2C0:  # MOVT
                upper = (half & 15) << 12 | (half & 0x400) << 1 | (following & 0x7000) >> 4 | following & 0xFF
                yield upper << 16, 1 << 16
            elif half >> 11 == 9 or half in (0xF8DF, 0xF85F):  # LDR, in two bytes and in four
                offset = 4 * (half & 0xFF) if half >> 11 == 9 else following & 0xFFF
                word = self._reader.constant(at - offset if half == 0xF85F else at + offset, 4)
                if word is not None:
                    yield word, 1

    def _trace_back(self, caller: Function, facts: dict[str, Value | None]) -> None:
        """Put what the caller's other calls returned into words: a heap's memory, a model, a table of variables."""
        origin = caller
        for name in ("size", "arena"):
            origin, value = self._resolved(caller, facts.get(name))
            if value is not None and (origin == caller or not value.base):
                facts[name] = value
        value = facts.get("arena") if origin == caller else value
        names, call = self._callee(origin, value)
        taker = next((name for name in names if name in _HEAP), None)
        if taker is not None and call is not None and value is not None:
            facts["arena"] = None
            facts |= _of_heap(taker, call.arguments, is_rounded=value.base.startswith(ALIGNED))
        names, call = self._callee(caller, facts.get("model"))
        if any(map(_GET_MODEL.fullmatch, names)) and call is not None:
            facts["model"] = call.arguments[0]
        model = facts.get("model")
        if model is not None and (match := _VARIABLE.fullmatch(model.base)) and int(match[1], 16) != model.offset:
            _, known = self._resolved(caller, model)
            facts["model"] = model = known if known is not None and not known.base else model
        if model is not None and model.base == f"[{model.offset:#x}]":  # Its first word says where its table begins.
            facts["model"], facts["copy"] = None, Value("", model.offset)
        names, call = self._callee(caller, facts.get("variables"))
        if any(map(_CREATE_VARIABLES.fullmatch, names)) and call is not None:
            facts["variables"], facts["count"] = None, call.arguments[1]
            table = self._allocator(caller, call.arguments[0])
            facts["table_site"], facts["table_size"] = table["site"], table.get("size")

    def _in_every_context(
        self, caller: Function, facts: Mapping[str, Value | None], depth: int
    ) -> Iterator[dict[str, Value | None]]:
        """Yield the facts with the caller's arguments replaced, once for each way to call it."""
        if not _has_arguments(facts.values()):
            yield dict(facts)
            return
        above = list(self._calls_of(caller)) if depth else []
        if not above:
            yield {name: substituted(value, {}) for name, value in facts.items()}
        for function, call in above:
            given = dict(enumerate(call.arguments)) if call else {}
            known = {name: substituted(value, given) for name, value in facts.items()}
            if any(facts[name] != known[name] for name in facts):
                self._trace_back(function, known)
            yield from self._in_every_context(function, known, depth - 1)

    def table_lengths(self, create: Function) -> Iterator[int | None]:
        """Yield how many resource variables each call of MicroResourceVariables::Create makes room for."""
        for caller, call in self._calls_of(create):
            if call is None:
                yield None
                continue
            for known in self._in_every_context(caller, {"count": call.arguments[1]}, _MAX_DEPTH):
                count = known["count"]
                yield None if count is None or count.base else count.offset

    def tensor_size(self, function: Function) -> int | None:
        """Return sizeof(TfLiteTensor) as a function asks for it through a pointer."""
        sizes = {
            value.offset
            for call in self._calls_in(function)
            for value in call.arguments[1:2]
            if value is not None and not value.base and value.offset in _TENSOR_SIZES
        }
        return sizes.pop() if len(sizes) == 1 else None


def _is_to_stack_pointer(code: int) -> bool:
    """Whether a halfword of Thumb is MOV of a register into sp; of r7, which holds frames, it is none of interest."""
    return code & 0xFF87 == 0x4685 and code != 0x46BD


def _reached(facts: CodeFacts, start: int, ends: Set[int]) -> Set[int]:
    """Return the instructions that a function may carry out before one of ``ends``."""
    found, work = set[int](), [start]
    while work:
        at = work.pop()
        if at in facts.following and at not in found and at not in ends:
            found.add(at)
            work += facts.following[at]
    return found


def _of_heap(name: str, arguments: Sequence[Value | None], *, is_rounded: bool) -> dict[str, Value | None]:
    """Return the facts about memory that a function takes from a heap.

    Args:
        name: The function.
        arguments: What it is passed.
        is_rounded: Whether the program goes on to the first multiple of 16 in it.
    """
    first, size = arguments[0], arguments[_HEAP[name]]
    number = None if first is None or first.base else first.offset
    if name in _HEAP_OF_ROWS and number != 1:
        size = None if number is None or size is None or size.base else Value("", number * size.offset)
    if is_rounded and size is not None:
        size = size._replace(offset=size.offset - (BUFFER_ALIGNMENT - 1))
    is_alignment = _HEAP[name] == 1 and name not in _HEAP_OF_ROWS
    is_aligned = is_rounded or (is_alignment and number is not None and number % BUFFER_ALIGNMENT == 0)
    return {"heap": size, **({"aligned": Value("", 1)} if is_aligned else {})}


def _numbers(facts: Mapping[str, Value | None]) -> dict[str, int]:
    return {name: value.offset for name, value in facts.items() if value is not None and not value.base}


def _interpreter(facts: Mapping[str, Value | None], is_own: bool) -> InterpreterCall:
    """Return the interpreter that a call makes, from what is known of its arguments."""
    numbers = _numbers(facts)
    has_table = facts.get("variables", Value("", 0)) != Value("", 0)
    shares = not is_own and "table_site" in numbers and numbers["table_site"] == numbers.get("site")
    preserve = numbers.get("preserve") if "preserve" in facts else 0
    base = "" if (arena := facts.get("arena")) is None else arena.base
    return InterpreterCall(
        arena=numbers.get("arena"),
        arena_size=numbers.get("size"),
        is_on_heap="heap" in facts,
        is_on_stack=base.removeprefix(ALIGNED) == "sp",
        is_aligned=base.startswith(ALIGNED) or "aligned" in facts,
        heap_size=numbers.get("heap"),
        model=numbers.get("model"),
        resolver=numbers.get("resolver"),
        variables=numbers.get("count") if has_table else 0,
        variable_arena=numbers.get("table_size") if has_table and not shares else 0,
        preserves_all_tensors=None if preserve is None else bool(preserve & 0xFF),
        allocator=0 if is_own else numbers.get("site"),
        is_recording=bool(numbers.get("recording")),
        has_two_arenas="two" in facts,
        has_own_planner="own_planner" in facts,
        has_own_arena_allocator="own_arena_allocator" in facts,
        model_copy=numbers.get("copy"),
        rest_size=numbers.get("rest_size"),
    )


def _has_arguments(values: Iterable[Value | None]) -> bool:
    return any(value is not None and value.base.startswith(ARGUMENT) for value in values)
