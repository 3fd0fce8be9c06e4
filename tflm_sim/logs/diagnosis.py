"""Joins the messages of one failure into one diagnosis.

TFLM reports a failure as a chain: the allocator's line has the numbers, the next line says what the bytes were for, a
later one names the operator, and the program adds its own. A chain ends with the program's line, a reset, or the log.

What the log alone proves is a lower bound: an arena with ``missing`` bytes more passes the allocation that failed, and
can fail at a later one. The exact size takes the model and the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tflm_sim.logs.crashes import CodePlace, code_places, crash_notes
from tflm_sim.logs.log_events import ArenaConfigured, LogEvent, Message, Reset
from tflm_sim.logs.message_kinds import Role
from tflm_sim.logs.tflm_messages import BY_KIND
from tflm_sim.units import format_size

MAX_OTHER_LINES = 8
"""Lines of other text after which a chain is over."""
MAX_CHAIN = 64
_CAUSES = (
    (Role.MODEL, Role.KERNEL, Role.SEQUENCE, Role.BUILD, Role.FLASH),
    (Role.CAUSE,),
    (Role.FRAMEWORK,),
    (Role.STOPPED,),
    (Role.REPORT,),
    (Role.HANG,),
)
"""Which line of a chain is the headline, where no allocation was refused: of the first group the first."""
_OF_A_CRASH = (Role.STOPPED, Role.REPORT, Role.CAUSE)
_NO_CAUSE = (Role.NOTE, Role.ADDRESS, Role.APP)
_ONLY_WITHOUT_CAUSE = (
    "allocate_failed", "program_model", "wake_word_failed", "wake_word_flag", "node_prepare", "node_invoke",
    "build_failed", "build_errors",
)  # fmt: skip
"""Kinds whose note is for chains in which no other message says why."""
_ONCE = ("undefined", "undefined_cxx", "undefined_ethosu", "undefined_system", "not_declared", "narrowing")
"""Kinds of which the first line's remedy is that of all."""
_NAMED = ("op_missing", "custom_missing", "custom_unresolved")
"""Kinds after which ``op_registration`` says nothing new."""
_NO_NAMES = ("d", "ADD")
"""What a line that names the operator by its code prints for nothing: TFLM's own printf makes "d" of "% d" with which
the code was written until 2021, and ADD is the code 0, which newer files have in the old field for most operators."""
_FAULT = re.compile(r"(Load|Store)(Prohibited| access fault)|FAULT|[Ff]ault")
_STARTS = ("esp_reset", "restarted")
"""Kinds that say how the device started: what a log shows without any other cause."""
_SAY_MORE = {Role.STOPPED: (Role.CAUSE,), Role.REPORT: (Role.CAUSE, Role.STOPPED)}
"""Roles -> those beside which their remedy is nothing new."""
_LARGEST, _LARGEST_RATIO = 1 << 25, 64
"""Bytes: the most external RAM that an ESP32 has; and how many times what is free is no typing error of a size."""
_NO_SIZE = (
    "No model asks for so much: the number is an overflow or other bytes. Either TFLM's files were built with "
    "different "
    "flags (TF_LITE_STATIC_MEMORY for the library and not for the program, or the reverse: types and dims of tensors "
    "look "
    "wrong too; build all with the same), or the model's array was cut, overwritten or is not aligned (alignas(16)), "
    "or a "
    "pointer into memory that was freed was given."
)
_LATE = 2
"""Lines that a program's own line may be before those of TFLM that say why."""
_SAME_START = 4
"""Lines between two lines of one start."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An allocation that the arena refused. ``missing`` is None where the message does not tell."""

    section: str
    requested: int | None
    available: int | None
    missing: int | None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One failure, once.

    Attributes:
        what: One clause that says what failed.
        phase: The name of TFLM's stage in traces (``arena.stages``), "" when the log does not tell.
        op: The operator's name, "" when the log does not name one.
        node: Its index, or None.
        refusals: What the arena refused, in order; () when the arena is not the problem.
        arena_size: Bytes that the firmware gave, when known.
        at_least: Bytes that no working arena can be below, or None when the log gives no number for it.
        messages: The chain.
        notes: More that the messages prove, a sentence each.
        lines: First line of the chain, once per time that it occurred.
    """

    what: str
    phase: str
    op: str
    node: int | None
    refusals: tuple[Refusal, ...]
    arena_size: int | None
    at_least: int | None
    messages: tuple[Message, ...]
    notes: tuple[str, ...]
    lines: tuple[int, ...]

    @property
    def content(self) -> tuple[object, ...]:
        """The failure's content, without its line numbers, so that repeated failures compare equal."""
        return tuple((message.kind, message.values) for message in self.messages)

    @property
    def places(self) -> tuple[CodePlace, ...]:
        """Where the program was when it was stopped, the innermost first; () where it was not, or the log has none."""
        return code_places(self.messages)

    @property
    def is_of_the_arena(self) -> bool:
        """Whether the arena may be too small: it refused an allocation, or the log gives no other cause."""
        roles = {_role(message) for message in self.messages}
        return bool(roles & {Role.ALLOCATOR, Role.OWNER, Role.BUILD}) or roles <= {*_NO_CAUSE, Role.HANG}

    @property
    def missing(self) -> int | None:
        """The most bytes that an allocation lacked, or None."""
        return max((refusal.missing for refusal in self.refusals if refusal.missing is not None), default=None)


class FailureCollector:
    """Groups the events of a log into failures, as they arrive (mutable).

    A chain is over when the program has said its own, when other text went on for some lines, when the device
    restarted, or when it is longer than any: firmware that fails in a loop must not fill the memory.

    Args:
        arena_size: The arena in bytes, when the user knows it; otherwise the log's own statement is used.
    """

    def __init__(self, arena_size: int | None = None) -> None:
        self._is_known = arena_size is not None
        self._size = arena_size
        self._chain: list[Message] = []
        self._quiet = 0

    def feed(self, event: LogEvent) -> list[Diagnosis]:
        """Take an event; return the failure that it ends, if it ends one."""
        if isinstance(event, ArenaConfigured):
            self._quiet = 0
            if not self._is_known:
                self._size = event.size
            return []
        if isinstance(event, Reset):
            return self.close()
        if not isinstance(event, Message) or event.kind in _STARTS:
            return []
        done = self.close() if _begins_new_chain(self._chain, event) or len(self._chain) >= MAX_CHAIN else []
        if _role(event) is Role.STOPPED and _FAULT.search(event.text) and _is_allocating(self._chain):
            self._chain.append(Message(event.line, "panic", (), cut=False, text=event.text))
        self._chain.append(event)
        self._quiet = 0
        return done

    def feed_other_line(self) -> list[Diagnosis]:
        """Count a line that is no message; return the failure that ends with it, if one does."""
        self._quiet += 1
        return self.close() if self._quiet >= MAX_OTHER_LINES and self._chain else []

    def close(self) -> list[Diagnosis]:
        """Return the failure that is open, if one is: nothing more of it will come."""
        chain, self._chain = self._chain, []
        if all(_role(message) in (Role.NOTE, Role.ADDRESS) for message in chain):
            return []
        return [_diagnose_chain(chain, self._size)]


def diagnose(
    events: Iterable[LogEvent], *, arena_size: int | None = None, last_line: int | None = None
) -> list[Diagnosis]:
    """Return one diagnosis for each different failure of a log, in order of first occurrence.

    Args:
        events: What the log says.
        arena_size: The arena in bytes, when the user knows it; otherwise the log's own statement is used.
        last_line: The number of the log's last line, where no more can come: a program hangs that prints nothing after
            some lines.
    """
    events = [event for event in events if not _went_on(event, last_line)]
    collector = FailureCollector(arena_size)
    found: dict[tuple[object, ...], Diagnosis] = {}
    for diagnosis in [*(one for event in events for one in collector.feed(event)), *collector.close()]:
        known = found.get(diagnosis.content)
        found[diagnosis.content] = (
            diagnosis if known is None else replace(known, lines=(*known.lines, *diagnosis.lines))
        )
    return list(found.values()) or _restarts(events)


def _went_on(event: LogEvent, last_line: int | None) -> bool:
    """Whether a line is one after which programs hang, and this one did not."""
    if not isinstance(event, Message) or last_line is None:
        return False
    return _role(event) is Role.HANG and event.line < last_line


def _restarts(events: Sequence[LogEvent]) -> list[Diagnosis]:
    """Return the diagnosis of a log in which the device restarts, and nothing else says why."""
    reasons = [event for event in events if isinstance(event, Message) and event.kind == "esp_reset"]
    starts = [event.line for event in events if isinstance(event, Reset)]
    again = [line for before, line in pairwise(starts) if line - before > _SAME_START]
    silent = [Message(line, "restarted", (), cut=False, text="") for line in again[:1]]
    return [_diagnose_chain([message], None) for message in (reasons or silent)[:1]]


def _is_allocating(chain: Sequence[Message]) -> bool:
    """Whether AllocateTensors failed, or the program spoke of it, so that what is used next may not be there."""
    kinds = {message.kind for message in chain}
    return bool(kinds & {"allocate_called", "allocate_failed", "starting_failed", "program_model"}) or any(
        _role(message) in (Role.ALLOCATOR, Role.OWNER, Role.NODE, Role.KERNEL, Role.MODEL) for message in chain
    )


def _begins_new_chain(chain: Sequence[Message], message: Message) -> bool:
    """Whether a message begins a new chain: after the program's own line, only more such lines belong to a chain.

    A program that prints its own line before TFLM's are out has no cause in its chain yet, and TFLM's follow at once.
    """
    if not chain or _role(chain[-1]) is not Role.APP:
        return False
    if all(_role(each) is Role.APP for each in chain) and message.line - chain[0].line <= _LATE:
        return False
    return _role(message) not in (Role.APP, *_OF_A_CRASH) and _role(message) is not Role.ADDRESS


def _role(message: Message) -> Role:
    return BY_KIND[message.kind].role


def _meaning(message: Message) -> tuple[str, str]:
    """Return the cause and the remedy that a message stands for."""
    return BY_KIND[message.kind].meaning(dict(message.values))


def _diagnose_chain(chain: list[Message], arena_size: int | None) -> Diagnosis:
    refusals = tuple(_refusal(message) for message in chain if _role(message) is Role.ALLOCATOR)
    node = next((message for message in chain if _role(message) is Role.NODE), None)
    phases = (BY_KIND[message.kind].phase for message in sorted(chain, key=_information))
    operators = (
        message.value("op")
        for message in chain
        if message.kind != "op_registration" or message.value("op") not in _NO_NAMES
    )
    diagnosis = Diagnosis(
        what=_headline(chain, refusals),
        phase=next(filter(None, phases), ""),
        op=next((op for op in operators if isinstance(op, str)), ""),
        node=node.number("node") if node is not None else None,
        refusals=refusals,
        arena_size=arena_size,
        at_least=None,
        messages=tuple(chain),
        notes=_notes(chain, refusals),
        lines=(chain[0].line,),
    )
    return replace(diagnosis, at_least=_lower_bound(diagnosis))


def _refusal(message: Message) -> Refusal:
    requested, available = message.number("requested"), message.number("available")
    missing = message.number("missing")
    if missing is None and requested is not None and available is not None:
        missing = requested - available
    return Refusal(message.kind, requested, available, missing)


def _information(message: Message) -> int:
    """A sort key: lines that name the operator come first, then those that name the owner, then the rest."""
    order = (
        Role.BUILD,
        Role.FLASH,
        Role.NODE,
        Role.OWNER,
        Role.MODEL,
        Role.SEQUENCE,
        Role.KERNEL,
        Role.ALLOCATOR,
        Role.CAUSE,
        Role.FRAMEWORK,
        Role.STOPPED,
        Role.REPORT,
        Role.HANG,
        Role.NOTE,
        Role.ADDRESS,
        Role.APP,
    )
    return order.index(_role(message))


def _of_owner(owner: Message, refusals: Sequence[Refusal]) -> str:
    """Say that what ``owner`` names has no room."""
    what = _meaning(owner)[0]
    if refusals:
        return f"{what} does not fit{_numbers(refusals[-1])}"
    size = owner.number("bytes")
    return f"no room for {what}" + (f" of {format_size(size)}" if size is not None else "")


def _headline(chain: Sequence[Message], refusals: Sequence[Refusal]) -> str:
    owner = next((message for message in chain if _role(message) is Role.OWNER), None)
    if owner is not None:
        return _of_owner(owner, refusals)
    if refusals:
        return refusal_in_words(refusals[-1])
    if any(_role(message) is Role.STOPPED for message in chain) and _role(chain[0]) is Role.APP:
        return f"{_meaning(chain[0])[0]}, and {BY_KIND['panic'].says}"
    for roles in _CAUSES:
        for message in chain:
            if _role(message) in roles:
                return _meaning(message)[0]
    return _meaning(min((each for each in chain if _role(each) not in (Role.NOTE, Role.ADDRESS)), key=_information))[0]


def _is_no_size(refusal: Refusal) -> bool:
    """Whether so many bytes were asked for that no arena of a microcontroller is meant."""
    requested, available = refusal.requested or 0, refusal.available or 0
    return requested > _LARGEST and requested > _LARGEST_RATIO * available


def refusal_in_words(refusal: Refusal) -> str:
    """Return what the arena refused, with its numbers."""
    return BY_KIND[refusal.section].says + _numbers(refusal)


def _numbers(refusal: Refusal) -> str:
    if refusal.requested is None or refusal.available is None:
        return "" if refusal.available is None else f": {format_size(refusal.available)} free"
    return (
        f": {format_size(refusal.requested)} asked for, {format_size(refusal.available)} free, "
        f"{format_size(refusal.missing or 0)} missing"
    )


def _lower_bound(diagnosis: Diagnosis) -> int | None:
    """Bytes that no working arena is below, as far as the log proves it."""
    if diagnosis.missing is None or any(_is_no_size(refusal) for refusal in diagnosis.refusals):
        return None
    if diagnosis.arena_size is not None:
        return diagnosis.arena_size + diagnosis.missing
    return max(refusal.requested or 0 for refusal in diagnosis.refusals)


def _notes(chain: Sequence[Message], refusals: Sequence[Refusal]) -> tuple[str, ...]:
    notes = crash_notes(chain)
    if any(_is_no_size(refusal) for refusal in refusals):
        notes.append(_NO_SIZE)
    for index, message in enumerate(chain):
        others = (other for other in chain if other.kind not in _ONLY_WITHOUT_CAUSE)
        if message.kind in _ONLY_WITHOUT_CAUSE and any(_role(other) not in _NO_CAUSE for other in others):
            continue
        if any(_role(other) in _SAY_MORE.get(_role(message), ()) for other in chain):
            continue
        if message.kind in _ONCE and any(other.kind == message.kind for other in chain[:index]):
            continue
        if message.kind == "op_registration" and any(other.kind in _NAMED for other in chain):
            continue
        if note := _meaning(message)[1]:
            notes.append(note)
    return tuple(dict.fromkeys(notes))
