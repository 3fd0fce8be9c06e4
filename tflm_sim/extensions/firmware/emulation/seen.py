"""What is recorded of a program while it runs: arenas, and each AllocateTensors() and Invoke() in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple, TypeAlias

from tflm_sim.arena.events import Event
from tflm_sim.extensions.firmware.emulation.emulator import Snapshot
from tflm_sim.extensions.firmware.emulation.memory_map import Span

Into: TypeAlias = Literal["nothing", "arena", "behind", "data"]
_INTO: dict[Into, str] = {
    "nothing": "out of bounds",
    "arena": "in the arena that are not its own",
    "behind": "directly behind the arena",
    "data": "of the program's own data",
}
_ALIGNED = 16
"""Source: MicroArenaBufferAlignment() @ 90b983c."""


class Part(Enum):
    """What an arena holds: everything; persistent memory alone; or head and temp, beside an arena for the former."""

    ALL = "all"
    PERSISTENT = "persistent"
    REST = "rest"


@dataclass(frozen=True, slots=True)
class ObservedOperator:
    """An operator of a model as the program has it.

    Attributes:
        subgraph: Index of its subgraph.
        index: In its subgraph.
        name: The builtin operator's name, or the custom one's.
        node: Where its TfLiteNode lies.
        init: Where its Init function is, None where it has none.
        prepare: Where its Prepare function is, None where it has none.
        invoke: Where its Eval function is.
        holds: The words of its node.
    """

    subgraph: int
    index: int
    name: str
    node: int
    init: int | None
    prepare: int | None
    invoke: int | None
    holds: tuple[int, ...] = ()


class ScratchAsked(NamedTuple):
    """A scratch buffer that an operator asked for; ``operator``: (subgraph, index)."""

    operator: tuple[int, int]
    size: int


@dataclass(frozen=True, slots=True)
class StoreSeen:
    """All stores of one instruction, for one operator, to one object or outside of all.

    Attributes:
        operator: For which, None outside of operators.
        code_address: The instruction; 0 where there are too many to be told apart.
        low: The lowest byte that was written.
        end: The one after the highest.
        times: How many stores.
        into: As of an :class:`~tflm_sim.extensions.firmware.emulation.execution.ExecutedStore`.
    """

    operator: ObservedOperator | None
    code_address: int
    low: int
    end: int
    times: int
    into: Into

    @property
    def is_bad(self) -> bool:
        """Whether nobody may write there."""
        return self.into != "data"

    @property
    def where(self) -> str:
        """What they go to, for people."""
        return _INTO[self.into]


@dataclass(slots=True)
class InvokeSeen:
    """One Invoke().

    Attributes:
        status: What it returned; None where it did not return.
        ending: Why it did not return, "" where it did.
        has_crashed: Whether that is because of a fault, a failed check, or an end that it says is a failure.
        stack: Bytes of stack that it used at most; None where it did not return.
        instructions: How many it took; None where they were not counted.
        by_operator: (operator, instructions) of each call of an operator's Eval function, those it calls left out.
        stores: Stores out of bounds, and those of operators to the program's own data; None where none were watched.
        pointer: The program's stack pointer where it was called.
    """

    status: int | None = None
    ending: str = ""
    has_crashed: bool = False
    stack: int | None = None
    instructions: int | None = None
    by_operator: list[tuple[ObservedOperator, int]] = field(default_factory=list)
    stores: list[StoreSeen] | None = None
    pointer: int = 0


@dataclass(slots=True)
class Result:
    """One AllocateTensors().

    Attributes:
        status: What it returned; None where it did not return.
        used: ``arena_used_bytes()`` afterwards.
        refused: How many requests for memory were refused.
        damage: What was handed out although it was in use, "" where nothing was.
        log: What TFLM printed meanwhile.
        ending: Why it did not return, "" where it did.
        has_crashed: As of an Invoke().
        stack: Bytes of stack that it used at most; None where that was not measured.
        interpreter: Where its interpreter lies.
        number: Of that interpreter, from 1 on; 0 where that is not asked for.
        model: Where its model lies; None where that was not seen.
        events: What its allocator was asked for; the first one's since the arena was made.
        operators: Its operators, in order; () where none were found.
        invocations: Each Invoke() after it that was run.
        stores: As of an Invoke().
        pointer: As of an Invoke().
        scratch: Each scratch buffer that its operators asked for, in order.
    """

    status: int | None = None
    used: int = 0
    refused: int = 0
    damage: str = ""
    log: list[str] = field(default_factory=list)
    ending: str = ""
    has_crashed: bool = False
    stack: int | None = None
    interpreter: int = 0
    number: int = 0
    model: int | None = None
    events: list[Event] = field(default_factory=list)
    operators: tuple[ObservedOperator, ...] = ()
    invocations: list[InvokeSeen] = field(default_factory=list)
    stores: list[StoreSeen] | None = None
    pointer: int = 0
    scratch: tuple[ScratchAsked, ...] = ()

    @property
    def invocations_done(self) -> int:
        return sum(one.status is not None for one in self.invocations)


@dataclass(slots=True)
class Arena:
    """An arena as the program made it.

    Attributes:
        address: As the program gives it.
        size: Bytes, as the program gives them.
        head: Where TFLM's use of it begins, aligned.
        is_seen_whole: Whether address and size were seen, and not only what was left of them after alignment.
        point: The state in which its size can still be changed.
        owner: The allocator whose fields hold its size there; None where it is an argument.
        size_argument: The number of the argument that holds it.
        part: What it holds.
        taken: Bytes that were taken at its end before it was seen, but for what aligns that to a word.
        partner: The other one of two that belong together.
        results: Each AllocateTensors() in it; of two that belong together one list.
    """

    address: int
    size: int
    head: int
    is_seen_whole: bool
    point: Snapshot | None
    owner: int | None
    size_argument: int = 0
    part: Part = Part.ALL
    taken: int = 0
    partner: Arena | None = field(default=None, compare=False, repr=False)
    results: list[Result] = field(default_factory=list)

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.address + self.size

    @property
    def span(self) -> Span:
        return Span(self.address, self.end)

    @property
    def is_made_later(self) -> bool:
        """Whether its size can only be changed after ``point``, at the first request to its allocator."""
        return self.owner is None and not self.size_argument

    @property
    def bounds(self) -> tuple[int, int]:
        """Where the allocator's use of it begins and ends; persistent memory ends at a multiple of 16."""
        return self.head, self.end & -_ALIGNED if self.part is Part.PERSISTENT else self.end
