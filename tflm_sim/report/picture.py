"""``Picture``: every byte of one arena over time, as values that all skins draw.

Memory is counted in bytes from the arena's start. Time has two parts::

    steps    0 .. step_count     AllocateTensors(), event by event; a *moment* is a phase or one operator's parse, init
                                 or prepare, and owns the steps until the next one
    scopes   0 .. scope_count    Invoke(): the scopes of the lifetimes, one per operator

``Block`` s live in steps, half-open; persistent ones reach ``step_count`` and stay during Invoke(). ``Resident`` s are
what the planner placed in the head; they live in scopes, inclusive at both ends.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

from tflm_sim.document_fields import INLINE, INTERNED, columns
from tflm_sim.document_types import Count, IndexOrNone, OneOf
from tflm_sim.escape import printable
from tflm_sim.palette import CATEGORIES
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.document import ModelFacts, SizeDocument
from tflm_sim.report.size_answer import SizeAnswer, Status
from tflm_sim.units import align_up, format_size


class Moment(NamedTuple):
    """A phase, or one operator's "op_parse", "op_init" or "op_prepare".

    ``subgraph`` and ``operator`` are -1 for a phase; ``step`` is its first one.
    """

    name: str
    subgraph: IndexOrNone
    operator: IndexOrNone
    step: Count


class Block(NamedTuple):
    """Bytes [offset, offset + size) that AllocateTensors() takes at step ``begin`` and holds until ``end``.

    ``padding`` bytes behind it are lost to its alignment. ``moment`` is the index of the moment that took it.
    """

    category: str
    offset: Count
    size: Count
    padding: Count
    begin: Count
    end: Count
    label: str
    moment: IndexOrNone


class Step(NamedTuple):
    """One event of AllocateTensors().

    ``kind`` is "enter", "persist", "temp", "free", "reset", "resize", "request", "place", "log", "corruption" or
    "fail". ``value`` is an index or a number: the moment ("enter"), the block ("persist", "temp", "free"), the end of
    temp after it ("reset"), the head in bytes ("resize"), the bytes asked for ("request"), the resident ("place"), else
    0. ``text`` is what is asked for, logged or wrong.
    """

    kind: str
    value: Count
    text: str = ""


class Level(NamedTuple):
    """The sections of the arena from a step on: bytes of the head, the end of temp, bytes of the tail."""

    step: Count
    head: Count
    temp: Count
    tail: Count


class Resident(NamedTuple):
    """A buffer that the planner placed: bytes [offset, offset + size), scopes [first, last], both inclusive.

    ``number`` is the tensor's in its subgraph, or the scratch buffer's; ``operator`` is the one that asked for the
    scratch buffer, -1 for a tensor. ``sharing`` counts the other residents that use some of the same bytes.
    """

    category: str
    name: str
    subgraph: Count
    number: Count
    operator: IndexOrNone
    size: int
    offset: int
    first: Count
    last: Count
    sharing: Count


class Limit(NamedTuple):
    """The tightest step of a stage: ``floor`` bytes from the start, below ``tail`` persistent bytes.

    Of the smallest arena that is a multiple of 16, which is the largest ``need`` rounded up to one; in an arena that is
    too small, of that one.

    ``stage`` is "prepare" (until the last Prepare), "planning" (the planner's own memory) or "running" (the plan, and
    all that is placed after it).
    """

    stage: Annotated[str, OneOf("prepare", "planning", "running")]
    floor: Count
    tail: Count
    step: Count

    @property
    def need(self) -> int:
        """Bytes that the arena must have for it."""
        return self.floor + self.tail


class Remedy(NamedTuple):
    """What TFLM would need without one buffer that is alive when the head is fullest: bytes of head and arena."""

    resident: Count
    head_bytes: Count
    arena_bytes: Count


class Shortage(NamedTuple):
    """What an arena lacks that is too small: bytes [start, end) would belong to the front and to the tail.

    ``missing`` bytes more are the smallest arena that works; ``step`` is where the device stops.
    """

    start: Count
    end: Count
    missing: Count
    step: Count


@dataclass(frozen=True, slots=True)
class RuntimeName:
    """What a plan is for that is not one of TFLM."""

    name: str


@dataclass(frozen=True, slots=True)
class LiteSize:
    """The figures of the mobile runtime's plan, in the terms of ``size``; the tail is the persistent arena."""

    model: ModelFacts
    target: RuntimeName
    answer: SizeAnswer = field(metadata=INLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One run of AllocateTensors() and the plan that Invoke() lives with.

    Attributes:
        title: What it is a picture of, for people.
        size: The size report of the same model and firmware (``report.document``).
        arena_bytes: The arena that is drawn; of two arenas, the non-persistent one is in front.
        split_at: Where the persistent one of two arenas starts, else 0.
        status: "ok", "error" or "abort" in this arena.
        failure: Why AllocateTensors() fails in this arena, or "".
        moments, blocks, steps: AllocateTensors().
        op_names: Of each subgraph, each operator.
        subgraph_names: Of each subgraph; where it has none, its signature's, else "main" or "subgraph_1".
        scopes: The (subgraph, operator) of each scope; the operator is -1 at the start of a subgraph.
        residents: What the planner placed, in the order in which it was asked.
        live_bytes: Of each scope, each buffer rounded up to 16.
        limits: The largest need first: what decides the arena's size, then what would next. Empty for two arenas.
        remedies: The largest saving first.
        levels: The sections of the arena wherever one moves; pictures that 0.1.0 saved have none.
        shortage: Where an arena is too small that would work if it were larger, what it lacks. The picture is then of
            the run that works, pressed into this arena, so that its head lies over its tail.
        device_log: What the device prints in this arena.
        advice: What to do where it fails, in sentences.
    """

    title: str
    size: SizeDocument | LiteSize
    arena_bytes: Count
    split_at: Count
    status: Status
    failure: str
    moments: tuple[Moment, ...] = field(metadata=columns(Moment))
    blocks: tuple[Block, ...] = field(metadata=columns(Block))
    steps: tuple[Step, ...] = field(metadata=columns(Step))
    op_names: tuple[tuple[str, ...], ...] = field(metadata=INTERNED)
    subgraph_names: tuple[str, ...]
    scopes: tuple[tuple[IndexOrNone, IndexOrNone], ...]
    residents: tuple[Resident, ...] = field(metadata=columns(Resident))
    live_bytes: tuple[int, ...]
    limits: tuple[Limit, ...]
    remedies: tuple[Remedy, ...]
    levels: tuple[Level, ...] = field(default=(), metadata=columns(Level))
    shortage: Shortage | None = None
    device_log: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = f"{self.title}: {self.status}, {len(self.residents):,} buffers in {self.arena_bytes:,} B"
        return f"<Picture of {printable(shown, 160)}>"

    @property
    def peak_scope(self) -> int:
        """The first scope with the most live bytes, -1 when nothing is planned."""
        return max(range(len(self.live_bytes)), key=self.live_bytes.__getitem__, default=-1)

    @property
    def framed_scope(self) -> int:
        """The scope to frame as the fullest; -1 where it fails, and of an NPU, into whose scratch TFLM does not see."""
        return -1 if self.failure or self.size.answer.npu else self.peak_scope

    @property
    def sections(self) -> tuple[str, str]:
        """What the memory at the front and the one at the back are called."""
        if isinstance(self.size, LiteSize):
            return "arena", "persistent arena"
        return ("head" if self.size.answer.bank_needs is None else "plan"), "tail"

    @property
    def arena_note(self) -> str:
        """What is drawn, with its size: one arena, two, or a bank."""
        if self.size.answer.bank_needs is not None:
            return f"bank of {format_size(self.arena_bytes)}"
        if self.split_at:
            return f"arenas of {format_size(self.split_at)} and {format_size(self.arena_bytes - self.split_at)}"
        return f"arena of {format_size(self.arena_bytes)}"

    @property
    def head_bytes(self) -> int:
        """The end of the plan, each resident rounded up to the planner's 16."""
        return max((row.offset + align_up(row.size, BUFFER_ALIGNMENT) for row in self.residents), default=0)

    @property
    def tail_start(self) -> int:
        """The lowest byte of persistent memory."""
        return min((row.offset for row in self.blocks if is_tail(row)), default=self.arena_bytes)

    def alive(self, scope: int) -> list[Resident]:
        return sorted((row for row in self.residents if row.first <= scope <= row.last), key=lambda row: row.offset)

    def op_at(self, scope: int) -> str:
        """Return what runs in a scope: ``#3 CONV_2D``, or ``inputs`` where a subgraph starts."""
        subgraph, operator = self.scopes[scope]
        return self._operator(subgraph, operator) if operator >= 0 else f"inputs{_of_subgraph(subgraph)}"

    def moment_name(self, moment: Moment) -> str:
        """Return ``prepare of #3 CONV_2D`` or ``eval tensors``."""
        if moment.operator < 0:
            return moment.name.replace("_", " ")
        return f"{moment.name.removeprefix('op_')} of {self._operator(moment.subgraph, moment.operator)}"

    def _operator(self, subgraph: int, operator: int) -> str:
        return f"#{operator} {self.op_names[subgraph][operator]}{_of_subgraph(subgraph)}"


def is_tail(block: Block) -> bool:
    """Return whether a block is persistent."""
    return CATEGORIES[block.category].section == "tail"


def _of_subgraph(subgraph: int) -> str:
    return f" of subgraph {subgraph}" if subgraph > 0 else ""
