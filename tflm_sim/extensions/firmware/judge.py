"""Does a model work in the arena of the firmware that it is linked into? The verdict of ``tflm-sim firmware``.

A firmware's file leaves open a few things in ways that can be listed (two enums' sizes, several versions, two arrays):
each combination is a case, and the verdict is that of all cases or none. What cannot be listed is a condition of the
verdict, and is named unless the answer is the same where it does not hold.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.checks.doubts import EXIT_CODES, Answer, Doubt, answer_of, listed, turning
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.resources import resource_variable_names
from tflm_sim.extensions.firmware.cases import PLACES, FirmwareCase, possible_cases
from tflm_sim.extensions.firmware.conditions import Conditions
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Condition
from tflm_sim.extensions.firmware.rooms import ArenaRoom, Subject, bank_rooms, has_arena_beside_banks
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.resolver import used_operators
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

_TOO_MANY_SHARE = (
    f"more than {len(PLACES)} models are given its allocator; what they need together depends on their order, "
    "which the file does not say"
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
        needed: The smallest arena at that address, bytes; of two both together. None when no size is enough.
        multiple_of_16: The smallest one that is a multiple of 16.
        split: Where there are two arenas, what each needs.
        banks: Where a plan of banks.h says what lies in which bank, what each needs.
        case: The most demanding case, of which all this is; None where there is no answer.
        all_cases: All of them.
        used: ``arena_used_bytes()`` in this arena; in a roomy one where it does not work or there is none; None where
            the tail has a bank of its own.
        fits: Whether it works; None when that cannot be told.
        log: What the device prints there; () where it prints other lines in one case than in another.
        missing: Operators of the model that the firmware does not register, in the order in which the device asks.
        reason: Why it fails, or why it cannot be told, where the arena's size does not decide.
        cases: What the file leaves open and what the model needs in each case; () where all cases need the same. What
            is above is the most demanding then.
        doubts: What the verdict takes for granted.
    """

    model: str
    model_size: int
    place: str
    arena: ArenaRoom | None
    needed: int | None
    multiple_of_16: int | None
    used: int | None
    fits: bool | None
    log: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    reason: str = ""
    cases: tuple[CaseNeed, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    split: SplitArenaSizes | None = None
    banks: tuple[BankNeed, ...] = ()
    case: FirmwareCase | None = field(default=None, compare=False, repr=False)
    all_cases: tuple[FirmwareCase, ...] = field(default=(), compare=False, repr=False)

    @property
    def why(self) -> str:
        """Why it does not work, or why that cannot be told; "" where the arena's size decides."""
        if self.missing and not self.reason:
            return f"not registered: {', '.join(self.missing)}; AllocateTensors() will fail"
        return self.reason

    @property
    def is_size_unread(self) -> bool:
        """Whether it is known what the model needs, and of none of its arenas how large it is."""
        rooms = [case.room for case in self.all_cases]
        return self.multiple_of_16 is not None and not self.reason and all(room and not room.whole for room in rooms)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The doubts that can turn the answer, as sentences that follow "if"."""
        return tuple(doubt.text for doubt in turning(self.doubts))

    @property
    def answer(self) -> Answer:
        """Whether it works, with every doubt about that."""
        return answer_of(self.fits, self.doubts)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]


def judge(
    subject: Subject,
    firmware: Firmware,
    configurations: Sequence[Configuration],
    conditions: Iterable[Condition] = (),
    *,
    settled: frozenset[str] = frozenset(),
    asks_for_room: bool = True,
) -> FirmwareVerdict:
    """Return the verdict about a model.

    Args:
        subject: The model, and the arenas that it may get.
        firmware: What the file says.
        configurations: The firmware's set-up on each target that its file leaves possible, the likeliest first.
        conditions: What those targets take for granted.
        settled: Settings that the user named, which are not looked for in the file: "planner",
            "resource_variables".
    """
    unregistered = missing_operators(subject.model, firmware, {kernel.op for kernel in configurations[0].custom_ops})
    missing = () if firmware.own_kernels else unregistered
    unknown = unknown_operator(subject.model, configurations[0])
    if unknown and missing:  # What the resolver lacks is certain, whatever another operator needs.
        return replace(_undecided(subject, ""), fits=False, missing=missing)
    cases = [] if unknown else possible_cases(subject, firmware, configurations, settled)
    in_banks = replace(subject, rooms=bank_rooms(firmware, subject.rooms))
    planned: list[FirmwareCase] = []
    if cases and in_banks.rooms:
        planned = possible_cases(in_banks, firmware, configurations, settled)
        may_be_beside = has_arena_beside_banks(firmware, subject.rooms)
        cases = [case for case in planned if case.need() is not None] or (cases if may_be_beside else planned)
    if not cases:
        return _undecided(subject, unknown or _TOO_MANY_SHARE)
    verdict = replace(_combined(subject, cases), all_cases=tuple(cases))
    reason = "" if missing else _refusal(subject.model, firmware, settled) or _fault(subject, verdict)
    if missing or reason:
        return replace(verdict, fits=False, missing=missing, reason=reason or verdict.reason, log=(), cases=())
    doubts = (
        *_own(unregistered, firmware),
        *_of_table(planned, cases),
        *Conditions(subject, firmware, cases, settled, verdict.fits).all(conditions),
    )
    if asks_for_room and verdict.fits is None and verdict.is_size_unread:
        return replace(verdict, fits=True, doubts=(Doubt(_has_room(verdict)), *doubts), arena=cases[0].room)
    return replace(verdict, doubts=doubts)


def _own(operators: Sequence[str], firmware: Firmware) -> Iterator[Doubt]:
    """Yield that operators without TFLM's kernel have one of the program's own."""
    if operators and firmware.own_kernels:
        are = "is" if len(operators) == 1 else "are"
        yield Doubt(
            f"{', '.join(operators)} {are} registered, with a kernel of the program's own (`custom_ops=FILE.py`)"
        )


def _of_table(planned: Sequence[FirmwareCase], cases: Sequence[FirmwareCase]) -> Iterator[Doubt]:
    """Yield that TFLM and its kernels are those for which the plan of banks.h was written, where others are possible.

    Args:
        planned: Every case with such a plan.
        cases: Those that are judged.
    """
    rest = [case for case in planned if case not in cases]
    if len(rest) == len(planned):
        return
    configurations = {case.configuration for case in cases}
    if any(case.configuration not in configurations for case in rest):
        yield Doubt("its TFLM and kernels are those for which banks.h was written")


def _has_room(verdict: FirmwareVerdict) -> str:
    """Return what an arena whose size the code does not say must have, in the most demanding case."""
    if verdict.banks:
        return listed([f"{bank.name} has {bank.needed:,} B or more" for bank in verdict.banks if bank.needed])
    name = "its arena" if verdict.arena is None else verdict.arena.name
    if verdict.split is None:
        return f"{name} has {verdict.multiple_of_16:,} B or more"
    rest = align_up(verdict.split.non_persistent, BUFFER_ALIGNMENT)
    return f"its arenas have {verdict.split.persistent:,} B or more for what stays, and {rest:,} B or more for the rest"


def _undecided(subject: Subject, reason: str) -> FirmwareVerdict:
    return FirmwareVerdict(
        model=subject.name, model_size=subject.size, place=subject.place, arena=None, needed=None, multiple_of_16=None,
        used=0, fits=None, reason=reason,
    )  # fmt: skip


def _outcome(case: FirmwareCase, subject: Subject) -> FirmwareVerdict:
    roomy = case.roomy()
    smallest = roomy.smallest or roomy.split
    verdict = FirmwareVerdict(
        model=subject.name,
        model_size=subject.size,
        place=subject.place,
        arena=case.room,
        needed=smallest.size if smallest else None,
        multiple_of_16=smallest.multiple_of_16 if smallest else None,
        used=roomy.arena_used_bytes,
        fits=None,
        split=roomy.split,
        case=case,
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
    if case.is_in_banks:
        return _in_banks(case, verdict)
    if case.room is not None and case.room.fault:
        return replace(verdict, fits=False, reason=case.room.fault)
    fits, sized = case.fits(), case.sized()
    if sized is None:
        return replace(verdict, fits=fits)
    return replace(verdict, fits=fits, log=sized.log, used=sized.arena_used_bytes if fits else verdict.used)


def _in_banks(case: FirmwareCase, verdict: FirmwareVerdict) -> FirmwareVerdict:
    """Return the verdict for a plan of banks.h, whose planner says itself which bank is too small."""
    assert case.room is not None, "it has banks"
    assert case.room.banks is not None, "it has banks"
    table, given, needs = case.room.banks.table, case.room.banks.banks, case.bank_needs()
    verdict = replace(verdict, arena=None, needed=None, multiple_of_16=None)
    if needs is None:
        reason = f"the plan of banks.h ({table.model}) is for another model or other kernels"
        return _refused(verdict, reason, _first_difference(case.asked(), table.buffers))
    places: Sequence[tuple[int | None, int | None]] = given or [(None, None)] * len(needs)
    rows = zip(table.banks, places, needs, strict=True)
    banks = tuple(
        BankNeed(
            bank.name, address, size, needed, bank.planned, number == table.head, number == table.tail, bank.buffers
        )
        for number, (bank, (address, size), needed) in enumerate(rows)
    )
    used = table.banks[table.head].planned + case.roomy().tail_bytes if table.head == table.tail else None
    verdict = replace(verdict, banks=banks, needed=sum(needs), multiple_of_16=sum(needs), used=used, fits=case.fits())
    if verdict.fits is not False:
        return verdict
    log, reason = _bad_bank(banks)
    return _refused(verdict, reason, log)


def _refused(verdict: FirmwareVerdict, reason: str, log: str) -> FirmwareVerdict:
    """Return that the planner of banks.h refuses to plan."""
    return replace(verdict, fits=False, reason=f"{reason}: AllocateTensors() will fail and print `{log}`", log=(log,))


def _first_difference(asked: Sequence[tuple[int, int, int]], planned: Sequence[tuple[int, int, int]]) -> str:
    """Return what the planner of banks.h prints of the first buffer that is another one."""
    for number, (one, other) in enumerate(zip(asked, planned, strict=False)):
        if one != other:
            size, first, last = other
            return (
                f"buffer {number} has {one[0]} bytes [{one[1]}, {one[2]}], planned were {size} bytes "
                f"[{first}, {last}]: other model or kernels"
            )
    more = "and there are more" if len(asked) > len(planned) else f"the model {len(asked)}"
    return f"the plan has {len(planned)} buffers, {more}"


def _bad_bank(banks: Sequence[BankNeed]) -> tuple[str, str]:
    """Return what the planner of banks.h prints of the first bank that is too small or misaligned, and all of them."""
    bad = []
    for bank in banks:
        if bank.size is not None and bank.size < bank.needed:
            log = f"bank {bank.name} has {bank.size} bytes, the plan needs {bank.needed}"
            bad.append((log, f"{bank.name} ({bank.size:,} B) is too small by {bank.needed - bank.size:,} B"))
        elif bank.needed and (bank.address or 0) % BUFFER_ALIGNMENT:
            log = f"bank {bank.name} does not begin at a multiple of {BUFFER_ALIGNMENT}"
            bad.append((log, f"{bank.name} begins at {bank.address:#x}, which is no multiple of {BUFFER_ALIGNMENT}"))
    return bad[0][0], " and ".join(text for _, text in bad)


def _combined(subject: Subject, cases: Sequence[FirmwareCase]) -> FirmwareVerdict:
    outcomes = [_outcome(case, subject) for case in cases]
    worst = max(outcomes, key=_needed)
    fits = worst.fits if _all_equal(each.fits for each in outcomes) else None
    verdict = replace(worst, fits=fits, arena=worst.arena if _all_equal(case.room for case in cases) else None)
    answers = [(each.needed, each.fits) for each in outcomes]
    if _all_equal(answers):
        return verdict
    rows = map(partial(_case_need, _deciding_questions(cases, answers)), cases, outcomes)
    log = worst.log if _all_equal(each.log for each in outcomes) else ()
    return replace(verdict, cases=tuple(dict.fromkeys(rows)), log=log)


def _needed(verdict: FirmwareVerdict) -> float:
    return math.inf if verdict.needed is None else verdict.needed


def _all_equal(values: Iterable[object]) -> bool:
    return len(set(values)) == 1


def _case_need(open_ones: Sequence[str], case: FirmwareCase, verdict: FirmwareVerdict) -> CaseNeed:
    """Return the row of a case, which the questions on which the answers hang tell from others."""
    words = ", ".join(case.words[name] for name in open_ones if name in case.words)
    return CaseNeed(words, None if verdict.reason else verdict.needed, verdict.fits)


def _deciding_questions(cases: Sequence[FirmwareCase], answers: Sequence[object]) -> list[str]:
    """Return the open questions on which the verdict depends, of those that the cases answer differently."""
    names = [name for name in cases[0].words if not _all_equal(case.words.get(name) for case in cases)]
    for name in tuple(names):
        rest = [other for other in names if other != name]
        if _decide(rest, cases, answers):
            names = rest
    return names


def _decide(names: Sequence[str], cases: Sequence[FirmwareCase], answers: Sequence[object]) -> bool:
    """Whether cases that answer these questions alike have the same answer."""
    rows = [tuple(case.words.get(name) for name in names) for case in cases]
    return len(set(zip(rows, answers, strict=True))) == len(set(rows))


def _fault(subject: Subject, verdict: FirmwareVerdict) -> str:
    """Return whose bytes TFLM would write to, where each arena that the model may get has somebody's; "" for nobody."""
    faults = dict.fromkeys(room.fault for room in subject.rooms)
    if not faults or not all(faults) or verdict.multiple_of_16 is None:
        return ""
    return f"{' or '.join(faults)}; the model needs {verdict.multiple_of_16:,} B"


def _refusal(model: Model, firmware: Firmware, settled: frozenset[str]) -> str:
    """Return why the model cannot work in a program, such as a missing operator; "" where it may."""
    if firmware.is_link_time_optimised:
        return ""
    used = len(_used(model)) + len(_used(model, custom=True))
    most = max(firmware.resolver_sizes, default=0)
    if most and used > most and not firmware.has_all_operators:
        return (
            f"MicroMutableOpResolver<{most}> has room for {most} operators, and the model has {used}: "
            "AllocateTensors() will fail"
        )
    needs_table = bool(resource_variable_names(model)) and "resource_variables" not in settled
    if needs_table and firmware.has_resource_variables is False:
        return (
            "the model has resource variables, and the program makes no table for them "
            "(MicroResourceVariables::Create is not in it): AllocateTensors() will fail"
        )
    return ""


def unknown_operator(model: Model, configuration: Configuration) -> str:
    """Return that a model has a custom operator that is no kernel of TFLM's, "" where it has none."""
    known = registrations(configuration.target, configuration.custom_ops)
    names = (name for name in _used(model, custom=True) if name not in known)
    return next((f"the memory of the custom operator {name} is not known: `custom_ops=FILE.py`" for name in names), "")


def missing_operators(model: Model, firmware: Firmware, known: Collection[str] = ()) -> tuple[str, ...]:
    """Return the builtin operators of ``model`` that ``firmware`` does not register, as far as that is proved.

    Args:
        model: The model.
        firmware: What the file says.
        known: Operators whose kernels the user described.
    """
    if firmware.operators is None or firmware.has_all_operators or not firmware.tells_operators:
        return ()
    known = {"", "CUSTOM", *known, *firmware.operators}
    return tuple(name for name in _used(model) if name not in known)


def _used(model: Model, *, custom: bool = False) -> list[str]:
    """Return the builtin or the custom operators of a model, in the order in which the device looks for them."""
    codes = used_operators(model)
    if custom:
        return list(dict.fromkeys(code.custom_code for code in codes if code.custom_code is not None))
    return list(dict.fromkeys(builtin_operator_name(code.builtin_code) for code in codes if code.custom_code is None))
