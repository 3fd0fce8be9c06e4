"""Does a model work in the arena of the firmware that it is linked into? The verdict of ``tflm-sim firmware``.

A firmware's file leaves open a few things in ways that can be listed (two enums' sizes, several versions, two arrays):
each combination is a case, and the verdict is that of all cases or none. What cannot be listed is a condition of the
verdict, and is named unless the answer is the same where it does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.firmware_rooms import ArenaRoom, Subject
from tflm_sim.device.cases import words_of
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.device.resources import resource_variable_names
from tflm_sim.firmware.firmware import Firmware
from tflm_sim.firmware.set_up import InterpreterCall
from tflm_sim.firmware.target import Condition
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target
from tflm_sim.values import dataclass, field, replace

_MOST_VARIABLES = 4096
"""More resource variables than this no firmware makes room for."""
_ROOMY_TABLE = 1 << 20
"""Bytes of an arena in which any table of resource variables has room."""
_PLACES = ("first", "second", "third")
"""Places in the order in which models are allocated. More models on one allocator than these are not tried."""
_MANY_SHARE = (
    f"more than {len(_PLACES)} models are given its allocator; what they need together depends on their order, "
    "which the file does not say"
)
_TWO_ARENAS = (
    "its memory is in two arenas, one for what stays and one for the rest (MicroAllocator::Create with both): "
    "`tflm-sim size --split-arenas` says what each needs"
)


@dataclass(frozen=True, slots=True)
class CaseNeed:
    """What the model needs in one of the cases that the file leaves open.

    Attributes:
        case: What is the case: "TFLM 90b983c2b, short enums".
        needed: The smallest arena; None when no size is enough.
        fits: Whether the model works there; None where the arena is not known.
    """

    case: str
    needed: int | None
    fits: bool | None


@dataclass(frozen=True, slots=True)
class FirmwareVerdict:
    """The answer about one model.

    Attributes:
        model: What the model is called.
        model_size: Its bytes.
        place: Where it lies: a section and an address, or its file.
        arena: The arena; None where the firmware does not say which one it is.
        needed: The smallest arena at that address, bytes; None when no size is enough.
        multiple_of_16: The smallest one that is a multiple of 16.
        used: ``arena_used_bytes()`` in this arena; in a roomy one where it does not work or there is none.
        fits: Whether it works; None when that cannot be told.
        log: What the device prints there; () where it prints other lines in one case than in another.
        missing: Operators of the model that the firmware does not register, in the order in which the device asks.
        reason: Why it fails, or why it cannot be told, where the arena's size does not decide.
        cases: What the file leaves open and what the model needs in each case; () where all cases need the same. What
            is above is the most demanding then.
        conditions: What the verdict takes for granted: sentences that follow "if".
    """

    model: str
    model_size: int
    place: str
    arena: ArenaRoom | None
    needed: int | None
    multiple_of_16: int | None
    used: int
    fits: bool | None
    log: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    cases: tuple[CaseNeed, ...] = ()
    conditions: tuple[str, ...] = ()

    def exit_code(self, *, is_strict: bool) -> int:
        """0: fits, 1: does not, 3: cannot be told, or, when asked strictly, it depends on a condition."""
        return 3 if is_strict and self.conditions else {True: 0, False: 1, None: 3}[self.fits]


@dataclass(frozen=True, slots=True)
class _Case:
    """One way in which the firmware can be.

    Attributes:
        models: The subject, and the models that share its allocator, in order.
        configuration: How TFLM is set up.
        room: The arena.
        words: What is the case, by question.
    """

    models: tuple[Model, ...]
    configuration: Configuration
    room: ArenaRoom | None
    words: dict[str, str] = field(default_factory=dict)

    def at(self, **settings: object) -> _Case:
        """Return the case with other settings."""
        return replace(self, configuration=configure(self.configuration, **settings))  # type: ignore[arg-type]

    def roomy(self) -> Simulation:
        return simulate(self.models, self.configuration)

    def sized(self) -> Simulation | None:
        return None if self.room is None else simulate(self.models, self.configuration, arena_size=self.room.size)

    def fits(self) -> bool | None:
        """Whether the model works; None where the arena is not known."""
        roomy = self.roomy()
        smallest = roomy.smallest
        if smallest is None or roomy.invoke_problem is not None:
            return False
        return None if self.room is None else smallest.size <= self.room.size

    def need(self, open_ones: Sequence[str], verdict: FirmwareVerdict) -> CaseNeed:
        """Return the row of this case, which the questions on which the answers hang tell from others."""
        case = ", ".join(self.words[name] for name in open_ones if name in self.words)
        return CaseNeed(case, None if verdict.reason else verdict.needed, verdict.fits)

    def answer(self) -> object:
        """Return what a condition may change: whether the model works, or, without an arena, what it needs."""
        return self.roomy().smallest if self.room is None else self.fits()


def judge(
    subject: Subject,
    firmware: Firmware,
    configurations: Sequence[Configuration],
    conditions: Iterable[Condition] = (),
    *,
    settled: frozenset[str] = frozenset(),
) -> FirmwareVerdict:
    """Return the verdict about a model.

    Args:
        subject: The model, and the arenas that it may get.
        firmware: What the file says.
        configurations: The firmware's set-up on each target that its file leaves possible, the likeliest first.
        conditions: What those targets take for granted.
        settled: Settings that the user named, which are not looked for in the file: "planner",
            "resource_variable_count".
    """
    model = subject.model
    described = {kernel.op for kernel in configurations[0].custom_ops}
    missing = tuple(name for name in missing_operators(model, firmware) if name not in described)
    unknown = unknown_operator(model, configurations[0]) or _perhaps_own(missing, firmware)
    if unknown:
        return _undecided(subject, unknown)
    if any(call.has_two_arenas for call in firmware.set_up.interpreters):
        return _undecided(subject, _TWO_ARENAS)
    cases = _distinct(_cases(subject, firmware, configurations, settled))
    if not cases:
        return _undecided(subject, _MANY_SHARE)
    outcomes = [_outcome(case, subject) for case in cases]
    verdict = _joined(subject, cases, outcomes)
    if missing:
        return replace(verdict, fits=False, missing=missing, log=(), cases=())
    reason = _refusal(model, firmware, settled)
    if reason:
        return replace(verdict, fits=False, reason=reason, log=(), cases=())
    return replace(verdict, conditions=tuple(_conditions(subject, firmware, cases, conditions, settled, verdict.fits)))


def _perhaps_own(missing: Sequence[str], firmware: Firmware) -> str:
    """Return that an operator may have a kernel of the program's own, "" where it has no such function."""
    if not missing or not firmware.own_kernels:
        return ""
    return (
        f"Register_{missing[0]} is not in it: {missing[0]} is missing, or has a kernel of the program's own "
        f"({firmware.own_kernels[0]}), whose memory is not known: --custom-ops FILE.py"
    )


def _undecided(subject: Subject, reason: str) -> FirmwareVerdict:
    return FirmwareVerdict(
        model=subject.name, model_size=subject.size, place=subject.place, arena=None, needed=None, multiple_of_16=None,
        used=0, fits=None, reason=reason,
    )  # fmt: skip


def _cases(
    subject: Subject, firmware: Firmware, configurations: Sequence[Configuration], settled: frozenset[str]
) -> Iterator[_Case]:
    """Yield every way in which the firmware can be, the likeliest first."""
    for room in subject.rooms or (None,):
        for order, shared in _orders(subject, room):
            for configuration in configurations:
                if room is not None and not room.allows(configuration.interpreter):
                    continue
                words = {
                    **words_of(configuration),
                    "arena": "" if room is None else f"in {room.name} of {room.size:,} B",
                    "allocator": shared,
                }
                case = _Case(order, configuration, room, words)
                yield from (
                    each for one in _at_addresses(case) for each in _placed(one, subject.model, firmware, settled)
                )


def _orders(subject: Subject, room: ArenaRoom | None) -> Iterator[tuple[tuple[Model, ...], str]]:
    """Yield the models that share an allocator, in every order in which they may be allocated."""
    others = _sharers(subject, room)
    if not others or room is None or room.may_be_alone:
        yield (subject.model,), "an allocator for this model alone"
    if not others or len(others) >= len(_PLACES):
        return
    models = (subject.model, *others)
    for order in permutations(range(len(models))):
        place = f"the models share an allocator, this one the {_PLACES[order.index(0)]}"
        yield tuple(models[index] for index in order), place


def _sharers(subject: Subject, room: ArenaRoom | None) -> tuple[Model, ...]:
    """Return the other models that are, or may be, on the same allocator."""
    return subject.others if room is None or room.call is None else room.shared_with


def _at_addresses(case: _Case) -> Iterator[_Case]:
    """Yield the case at each address modulo 16 that its arena may have."""
    if case.room is None:
        yield case
        return
    for address in case.room.addresses:
        words = case.words if len(case.room.addresses) == 1 else {**case.words, "address": f"at {address} modulo 16"}
        yield replace(case.at(arena_address=address), words=words)


def _placed(case: _Case, model: Model, firmware: Firmware, settled: frozenset[str]) -> Iterator[_Case]:
    """Yield the case with what the call in the code says of planner and resource variables, and what it leaves open."""
    call = case.room.call if case.room is not None else None
    planners = [case.configuration.planner]
    own: dict[str, object] = {} if call is None else {"has_own_planner": call.has_own_planner}
    if call is not None and "planner" not in settled and not call.is_recording:
        planners = ["linear" if call.preserves_all_tensors else "greedy"]
        if call.has_own_planner:
            planners = ["greedy", "linear"]
    is_placed = "resource_variable_count" in settled or case.configuration.variable_arena_size is not None
    for settings, where in [({}, "")] if is_placed else _tables(call, model, firmware):
        for planner in planners:
            placed = case.at(**settings, **own, planner=planner)
            yield replace(placed, words={**case.words, "planner": f"a {planner} planner", "table": where})


def _tables(call: InterpreterCall | None, model: Model, firmware: Firmware) -> Iterator[tuple[dict[str, object], str]]:
    """Yield the settings for each table of resource variables that there may be, and where it is."""
    if call is not None and call.variables is not None:
        settings: dict[str, object] = {"resource_variable_count": call.variables}
        if call.variables and call.variable_arena:
            settings["variable_arena_size"] = call.variable_arena
        yield settings, ""
    else:
        has_table = firmware.has_resource_variables is not False and bool(resource_variable_names(model))
        length = firmware.set_up.table_length if has_table else None
        made: dict[str, object] = {} if length is None else {"resource_variable_count": length}
        yield made, "the table for its resource variables in this arena"
        if has_table:
            elsewhere = {**made, "variable_arena_size": _ROOMY_TABLE}
            yield elsewhere, "the table for its resource variables in another arena"


def _distinct(cases: Iterable[_Case]) -> list[_Case]:
    found: dict[object, _Case] = {}
    for case in cases:
        found.setdefault((tuple(map(id, case.models)), case.configuration, case.room), case)
    return list(found.values())


def _outcome(case: _Case, subject: Subject) -> FirmwareVerdict:
    """Return the verdict for one case."""
    roomy = case.roomy()
    smallest = roomy.smallest
    verdict = FirmwareVerdict(
        model=subject.name,
        model_size=subject.size,
        place=subject.place,
        arena=case.room,
        needed=smallest.size if smallest else None,
        multiple_of_16=smallest.multiple_of_16 if smallest else None,
        used=roomy.arena_used_bytes,
        fits=None,
    )
    if smallest is None:
        return replace(
            verdict,
            fits=False,
            reason=f"AllocateTensors() fails in an arena of any size: {roomy.failure}",
            log=roomy.log,
        )
    problem = roomy.invoke_problem
    if problem is not None:
        return replace(verdict, fits=False, reason=str(problem), log=problem.log)
    sized = case.sized()
    if sized is None or case.room is None:
        return verdict
    fits = smallest.size <= case.room.size
    return replace(verdict, fits=fits, log=sized.log, used=sized.arena_used_bytes if fits else verdict.used)


def _joined(subject: Subject, cases: Sequence[_Case], outcomes: Sequence[FirmwareVerdict]) -> FirmwareVerdict:
    """Return one verdict of those for each case."""
    worst = max(outcomes, key=lambda each: math.inf if each.needed is None else each.needed)
    fits = worst.fits if len({each.fits for each in outcomes}) == 1 else None
    rooms = {case.room for case in cases}
    verdict = replace(worst, fits=fits, arena=worst.arena if len(rooms) == 1 else None)
    if len({(each.needed, each.fits) for each in outcomes}) == 1:
        return verdict
    open_ones = _telling(cases, [(each.needed, each.fits) for each in outcomes])
    rows = (case.need(open_ones, each) for case, each in zip(cases, outcomes, strict=True))
    log = worst.log if len({each.log for each in outcomes}) == 1 else ()
    return replace(verdict, cases=tuple(dict.fromkeys(rows)), log=log)


def _telling(cases: Sequence[_Case], answers: Sequence[object]) -> list[str]:
    """Return the questions on which the answers hang, of those that the cases answer differently."""
    names = [name for name in cases[0].words if len({case.words.get(name) for case in cases}) > 1]
    for name in tuple(names):
        rest = [other for other in names if other != name]
        rows = ([*map(case.words.get, rest)] for case in cases)
        found = {(*row, answer) for row, answer in zip(rows, answers, strict=True)}
        if len(found) == len({words[:-1] for words in found}):
            names = rest
    return names


def _refusal(model: Model, firmware: Firmware, settled: frozenset[str]) -> str:
    """Return why the model cannot work in a program that has none of what it needs, "" where it may."""
    if firmware.is_link_time_optimised:
        return ""
    used = len(_used(model)) + len(_used(model, custom=True))
    most = max(firmware.resolver_sizes, default=0)
    if most and used > most and not firmware.has_all_operators:
        return (
            f"MicroMutableOpResolver<{most}> has room for {most} operators, and the model has {used}: "
            "AllocateTensors() will fail"
        )
    needs_table = bool(resource_variable_names(model)) and "resource_variable_count" not in settled
    if needs_table and firmware.has_resource_variables is False:
        return (
            "the model has resource variables, and the program makes no table for them "
            "(MicroResourceVariables::Create is not in it): AllocateTensors() will fail"
        )
    return ""


def _conditions(
    subject: Subject,
    firmware: Firmware,
    cases: Sequence[_Case],
    conditions: Iterable[Condition],
    settled: frozenset[str],
    fits: bool | None,
) -> Iterator[str]:
    """Yield what a verdict hangs on; where there is none, what the figures do."""
    rooms = list(dict.fromkeys(case.room for case in cases if case.room is not None))
    calls = [room.call for room in rooms]
    likely = [next(case for case in cases if case.room == room) for room in rooms] or list(cases[:1])
    yield from _of_arena(firmware, rooms, likely)
    if "planner" not in settled:
        yield from _of_planner(calls, likely)
    if "resource_variable_count" not in settled and not _all_say("variables", calls):
        yield from _variables(subject.model, firmware, likely, fits)
    may_share = firmware.only_takes_allocators or (not firmware.symbol_count and len(firmware.models) > 1)
    are_many = any(len(_sharers(subject, room)) >= len(_PLACES) for room in rooms or (None,))
    if are_many or (may_share and not any(calls) and not subject.others):
        yield "no other model shares its allocator"
    yield from _of_kernels(firmware, fits)
    yield from (condition.text for condition in conditions if _matters(condition, likely))


def _matters(condition: Condition, likely: Sequence[_Case]) -> bool:
    """Whether some answer would be another one without the condition, or there is no telling."""
    others = [(_on(case, target), case) for case in likely for target in condition.otherwise]
    return not others or _differ(others)


def _differ(pairs: Iterable[tuple[_Case, _Case]]) -> bool:
    """Whether the two cases of some pair have different answers."""
    return any(one.answer() != other.answer() for one, other in pairs)


def _of_arena(firmware: Firmware, rooms: Sequence[ArenaRoom], likely: Sequence[_Case]) -> Iterator[str]:
    """Yield what is taken for granted of the arena."""
    if any(room.is_assumed for room in rooms):
        whole = "all of " if any(one.arena_size is None for one in firmware.set_up.interpreters) else ""
        names = " or ".join(dict.fromkeys(f"{whole}{room.name}" for room in rooms))
        yield f"{names} is its arena" if len(rooms) == 1 else f"its arena is {names}"
    if not firmware.symbol_count and not any(room.call for room in rooms):
        yield "it has one arena"
    if not rooms and _differ((case.at(arena_address=12), case) for case in likely):
        yield "its arena is aligned to 16 bytes"


def _all_say(what: str, calls: Sequence[InterpreterCall | None]) -> bool:
    """Whether each interpreter is made by a call that was read, which says ``what``."""
    return bool(calls) and all(call and getattr(call, what) is not None for call in calls)


def _of_planner(calls: Sequence[InterpreterCall | None], likely: Sequence[_Case]) -> Iterator[str]:
    """Yield what is taken for granted of the planner; ``calls``: those that make the interpreters, as far as read."""
    if any(call is not None and call.has_own_planner for call in calls):
        yield "the planner that it makes is TFLM's greedy or linear one"
    elif not _all_say("preserves_all_tensors", calls):
        plain = [case for case in likely if case.configuration.interpreter == "plain"]
        if _differ((case.at(planner="linear"), case) for case in plain):
            yield "preserve_all_tensors is not set"


def _of_kernels(firmware: Firmware, fits: bool | None) -> Iterator[str]:
    """Yield what is taken for granted of the kernels."""
    for name in firmware.own_kernels:
        yield f"{name}(), which is not TFLM's, asks for no memory that TFLM's kernels do not ask for"
    is_judged = firmware.has_all_operators or not (firmware.operators is None or firmware.is_link_time_optimised)
    if fits is not False and not is_judged:
        why = "link-time optimisation" if firmware.is_link_time_optimised else "no symbols"
        yield f"its operators are registered, with TFLM's kernels (not judged: {why})"
    elif fits is not False and _has_several_resolvers(firmware):
        yield "the resolver that it is given registers its operators (the program has several)"


def _has_several_resolvers(firmware: Firmware) -> bool:
    """Whether models may be given different resolvers, of which nothing tells which operators each registers."""
    if firmware.set_up.interpreters:
        return firmware.set_up.resolver_count > 1
    return len(firmware.resolver_sizes) > 1


def _on(case: _Case, target: Target) -> _Case:
    """Return the case on another target."""
    own = case.configuration.target
    moved = replace(target, arena_address=own.arena_address, ethos_u=own.ethos_u)
    return replace(case, configuration=replace(case.configuration, target=moved))


def _most_variables(least: int, cases: Sequence[_Case]) -> int:
    """Return the most resource variables with which every case fits; ``least`` where none does."""
    most, low, high = least, least, _MOST_VARIABLES
    while low <= high:
        middle = (low + high) // 2
        if all(case.at(resource_variable_count=middle).fits() is not False for case in cases):
            most, low = middle, middle + 1
        else:
            high = middle - 1
    return most


def _variables(model: Model, firmware: Firmware, cases: Sequence[_Case], fits: bool | None) -> Iterator[str]:
    """Yield for how many resource variables a verdict holds, where the program may make a table for them."""
    least = len(resource_variable_names(model))
    if firmware.has_resource_variables is False or (not least and firmware.has_resource_variables is None):
        return
    if least and firmware.set_up.table_length is not None:
        return
    if not fits:
        more = " or more" if fits is False else ""
        if least:
            yield f"MicroResourceVariables::Create makes room for {least}{more}"
        elif fits is None:
            yield "it has no MicroResourceVariables"
        return
    most = _most_variables(least, cases)
    if most < _MOST_VARIABLES or least:
        span = f"{least} or more"
        if most < _MOST_VARIABLES:
            span = f"{least} to {most} in this arena" + (f", or for {span} in another" if least else "")
        yield f"MicroResourceVariables::Create makes room for {span}"


def unknown_operator(model: Model, configuration: Configuration) -> str:
    """Return that a model has a custom operator that is no kernel of TFLM's, "" where it has none."""
    known = registrations(configuration.target, configuration.custom_ops)
    names = (name for name in _used(model, custom=True) if name not in known)
    return next((f"the memory of the custom operator {name} is not known: --custom-ops FILE.py" for name in names), "")


def missing_operators(model: Model, firmware: Firmware) -> tuple[str, ...]:
    """Return the builtin operators of ``model`` that ``firmware`` does not register, as far as that is proved."""
    if firmware.operators is None or firmware.has_all_operators or firmware.is_link_time_optimised:
        return ()
    return tuple(name for name in _used(model) if name not in firmware.operators and name not in ("", "CUSTOM"))


def _used(model: Model, *, custom: bool = False) -> list[str]:
    """Return the builtin or the custom operators of a model, in the order in which the device looks for them."""
    codes = (model.operator_codes[op.opcode_index] for subgraph in model.subgraphs for op in subgraph.operators)
    if custom:
        return list(dict.fromkeys(code.custom_code for code in codes if code.custom_code is not None))
    return list(dict.fromkeys(builtin_operator_name(code.builtin_code) for code in codes if code.custom_code is None))
