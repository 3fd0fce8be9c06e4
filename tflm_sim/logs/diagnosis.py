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
from string import Formatter

from tflm_sim.logs.log_events import ArenaConfigured, LogEvent, Message, Reset
from tflm_sim.logs.tflm_messages import BY_KIND, Role
from tflm_sim.units import format_size

MAX_OTHER_LINES = 8
"""Lines of other text after which a chain is over."""
MAX_CHAIN = 64
_NOT_THE_ARENA = (Role.MODEL, Role.KERNEL, Role.SEQUENCE, Role.BUILD)
_NO_CAUSE = (Role.NOTE, Role.APP)
_ONLY_WITHOUT_CAUSE = ("allocate_failed",)
"""Kinds whose note is for chains in which no other message says why."""
_UNFORMATTED_CODE = "d"
"""What TFLM's own printf makes of "% d", with which an operator's code was written until 2021."""
_FAULT = re.compile(r"(Load|Store)Prohibited|FAULT")


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
    def is_of_the_arena(self) -> bool:
        """Whether the arena may be too small: it refused an allocation, or the log gives no other cause."""
        roles = {_role(message) for message in self.messages}
        return bool(roles & {Role.ALLOCATOR, Role.OWNER, Role.BUILD}) or roles <= {Role.NOTE, Role.APP}

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
            if self._chain and _FAULT.search(event.cause):
                self._chain.append(Message(event.line, "panic", (), cut=False, text=event.cause))
            return self.close()
        if not isinstance(event, Message):
            return []
        done = self.close() if _begins_new_chain(self._chain, event) or len(self._chain) >= MAX_CHAIN else []
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
        if all(_role(message) is Role.NOTE for message in chain):
            return []
        return [_diagnose_chain(chain, self._size)]


def diagnose(events: Iterable[LogEvent], *, arena_size: int | None = None) -> list[Diagnosis]:
    """Return one diagnosis for each different failure of a log, in order of first occurrence.

    Args:
        events: What the log says.
        arena_size: The arena in bytes, when the user knows it; otherwise the log's own statement is used.
    """
    collector = FailureCollector(arena_size)
    found: dict[tuple[object, ...], Diagnosis] = {}
    for diagnosis in [*(one for event in events for one in collector.feed(event)), *collector.close()]:
        known = found.get(diagnosis.content)
        found[diagnosis.content] = (
            diagnosis if known is None else replace(known, lines=(*known.lines, *diagnosis.lines))
        )
    return list(found.values())


def _begins_new_chain(chain: Sequence[Message], message: Message) -> bool:
    """Whether a message begins a new chain: after the program's own line, only more such lines belong to a chain."""
    return bool(chain) and _role(chain[-1]) is Role.APP and _role(message) is not Role.APP


def _role(message: Message) -> Role:
    return BY_KIND[message.kind].role


def _diagnose_chain(chain: list[Message], arena_size: int | None) -> Diagnosis:
    refusals = tuple(_refusal(message) for message in chain if _role(message) is Role.ALLOCATOR)
    node = next((message for message in chain if _role(message) is Role.NODE), None)
    phases = (BY_KIND[message.kind].phase for message in sorted(chain, key=_information))
    operators = (message.value("op") for message in chain)
    diagnosis = Diagnosis(
        what=_headline(chain, refusals),
        phase=next(filter(None, phases), ""),
        op=next((op for op in operators if isinstance(op, str) and op != _UNFORMATTED_CODE), ""),
        node=node.number("node") if node is not None else None,
        refusals=refusals,
        arena_size=arena_size,
        at_least=None,
        messages=tuple(chain),
        notes=_notes(chain),
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
        Role.NODE,
        Role.OWNER,
        Role.MODEL,
        Role.SEQUENCE,
        Role.KERNEL,
        Role.ALLOCATOR,
        Role.NOTE,
        Role.APP,
    )
    return order.index(_role(message))


def _of_owner(owner: Message, refusals: Sequence[Refusal]) -> str:
    """Say that what ``owner`` names has no room."""
    what = BY_KIND[owner.kind].says
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
    other = next((message for message in chain if _role(message) in _NOT_THE_ARENA), None)
    if other is not None:
        return BY_KIND[other.kind].says
    return BY_KIND[min((each for each in chain if _role(each) is not Role.NOTE), key=_information).kind].says


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
    if diagnosis.missing is None:
        return None
    if diagnosis.arena_size is not None:
        return diagnosis.arena_size + diagnosis.missing
    return max(refusal.requested or 0 for refusal in diagnosis.refusals)


def _notes(chain: Sequence[Message]) -> tuple[str, ...]:
    notes = []
    is_explained = any(_role(message) not in _NO_CAUSE for message in chain)
    for message in chain:
        if is_explained and message.kind in _ONLY_WITHOUT_CAUSE:
            continue
        values = dict(message.values)
        note = BY_KIND[message.kind].note
        needs = {name for _, name, _, _ in Formatter().parse(note) if name}
        if note and needs <= values.keys():
            notes.append(note.format(**values))
    return tuple(dict.fromkeys(notes))
