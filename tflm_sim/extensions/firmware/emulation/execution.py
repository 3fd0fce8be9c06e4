"""The measurements of an executed program, as one document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from tflm_sim.checks.doubts import EXIT_CODES, Answer, answer_of
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.document_types import Count
from tflm_sim.escape import html_table
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom
from tflm_sim.short_repr import short_repr

UNICORN, QEMU = "unicorn", "qemu"
EMULATORS = (UNICORN, QEMU)
"""What can execute a program, the first choice first."""
TIMEOUT_S = 120
"""Seconds of the host's processor after which an execution is given up, unless another limit is named."""


class ExecutedEvent(NamedTuple):
    """A request to the allocator, or a stage that TFLM entered; offsets are bytes from the aligned start of the arena.

    ``kind`` is "persist" (tail bytes at ``offset``; ``used``: with what alignment skips), "temp" (``used``: the end of
    all temps), "temp_free", "temp_reset" (``size``: 1 where it was not refused; ``used``: the head), "resize" of the
    head (``offset``: the head then; ``used``: 1 where it was not refused), "scratch" for a scratch buffer that a kernel
    asks for (``offset``: how many it is for the model, from 0 on), "corruption", "phase", or a step of an operator:
    "op_parse", "op_init", "op_prepare". ``name`` says which phase or operator, and of a kernel's request which function
    makes it.
    """

    kind: str
    name: str
    subgraph: int
    op: int
    size: int
    alignment: int
    offset: int
    used: int


@dataclass(frozen=True, slots=True)
class ExecutedOperator:
    """An operator while Invoke() runs.

    Attributes:
        instructions: How many its Eval function took, those of the subgraphs that it calls left out.
    """

    subgraph: int
    op: int
    name: str
    instructions: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedStore:
    """All stores of one instruction that are out of bounds, or that an operator makes to the program's own data.

    Attributes:
        into: "nothing": neither an arena, the stack, a device nor the program's own data; "arena": bytes of the arena
            that are not the operator's own: those of others, or behind what it asked for; "behind": those directly
            behind an arena, or of the object of which it is a part; "data": the program's own data besides.
        function: The function that stores, "" where no symbol says.
        code_address: The instruction; 0 for the last ones together where there would be more than 1,024 rows.
        subgraph: Of the operator for which it is executed, -1 outside of operators.
        op: That operator's index in its subgraph, or -1.
        name: Its name, "" outside of operators.
        address: The lowest byte that was written.
        size: Bytes from there to the highest one.
        times: How many stores, one for each register or element of a vector.
        symbol: The static object that holds the lowest byte, or that lies nearest; "" for none.
        offset: Bytes from the start of that object to the lowest byte; negative below it.
    """

    into: Literal["nothing", "arena", "behind", "data"]
    function: str
    code_address: Count
    subgraph: int
    op: int
    name: str
    address: Count
    size: Count
    times: Count
    symbol: str
    offset: int


@dataclass(frozen=True, slots=True)
class ExecutedInvoke:
    """One Invoke() of the program.

    Attributes:
        status: "ok"; "error": it returned an error; "stopped": it did not return.
        ending: Why it did not return, "" where it did.
        stack: Bytes of stack that it used at most, its own frame included; null where it did not return, or where that
            was not measured.
        instructions: How many instructions it took; null where they were not counted. No cycles, and no time.
        operators: Each call of an operator, in order; empty where they were not found.
        stores: Stores out of bounds, and those of operators to the program's own data; null where stores were not
            watched.
        stack_room: The stack on which it was called; null where nothing says how large it is.
    """

    status: Literal["ok", "error", "stopped"]
    ending: str
    stack: Count | None
    instructions: Count | None
    operators: tuple[ExecutedOperator, ...]
    stores: tuple[ExecutedStore, ...] | None
    stack_room: StackRoom | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedAllocation:
    """One AllocateTensors() of the program.

    Attributes:
        interpreter: The number of the interpreter, from 1 on, in the order of their first AllocateTensors().
        status: "ok"; "error": it returned an error; "stopped": it did not return.
        arena_used_bytes: What ``arena_used_bytes()`` says afterwards, bytes.
        refused: Requests for memory that were refused; TFLM goes on after some.
        damage: What the allocator handed out although it was in use, "" where nothing was.
        ending: Why it did not return, "" where it did.
        log: What TFLM printed meanwhile.
        stack: Bytes of stack that it used at most, its own frame included; null where that was not measured.
        model: The address of its model; null where that was not seen.
        events: What its allocator was asked for, with the operators that asked; of the first AllocateTensors() from
            the making of the arena on.
        invocations: Each Invoke() after it that was run.
        stores: As of an Invoke().
        stack_room: As of an Invoke().
    """

    interpreter: Count
    status: Literal["ok", "error", "stopped"]
    arena_used_bytes: Count
    refused: Count
    damage: str
    ending: str
    log: tuple[str, ...]
    stack: Count | None
    model: Count | None
    events: tuple[ExecutedEvent, ...]
    invocations: tuple[ExecutedInvoke, ...]
    stores: tuple[ExecutedStore, ...] | None
    stack_room: StackRoom | None


class TriedSize(NamedTuple):
    """A size that was tried because it was asked for; null where the program came to no end."""

    size: Count
    works: bool | None


@dataclass(frozen=True, slots=True)
class ExecutedBank(BankNeed):
    """A bank of RAM that the program gives to a plan of banks.h, where it is known."""

    address: Count
    size: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedArena:
    """An arena that the program made, and what was seen in it; sizes and addresses are bytes.

    Attributes:
        symbol: The object that it is, "" for one on the heap or where no symbol says.
        part: "all": what it holds; "persistent", "rest": of two arenas that the program gives MicroAllocator::Create()
            together, what stays, and behind it the rest. The sizes of each hold while the other has the program's own.
        address: Where it lies.
        size: As the program gives it.
        is_exact: Whether the size that the program gives was seen; otherwise what alignment skipped at its start, less
            than 16 bytes, may be missing from all sizes here.
        fits: Whether every AllocateTensors() in it worked; of two arenas whether this one is large enough; null where
            that cannot be told.
        works: Whether it also lies where nothing else is, each Invoke() that was run worked, and no store went where
            it must not; null where that cannot be told.
        arena_used_bytes: After the last AllocateTensors(), of both where there are two; null where none returned.
        smallest_arena: The smallest size in which every AllocateTensors() of the program works; null where none was
            found. With one byte less it fails. Larger than ``size`` where that is too small: up to 4 MiB are tried, in
            memory that the program knows nothing of.
        smallest_arena_multiple_of_16: The smallest one that is a multiple of 16.
        arena_used_bytes_at_smallest: After the last AllocateTensors() with that size.
        succeeds_from: The size from which on AllocateTensors() succeeds; smaller than the smallest arena where TFLM
            hands out bytes twice, or ignores a refusal, and does not notice.
        log_below: What TFLM prints with one byte less than the smallest arena.
        reason: Why it does not work, or why there is no smallest arena; "" where it works.
        allocations: Each AllocateTensors(), in order; of two arenas, with the one for what stays.
        allocations_at_smallest: The same with ``smallest_arena_multiple_of_16``, where it does not fit as the program
            has it; of one arena alone.
        trials: How many sizes were tried.
        tried: The sizes that were asked for; for one of more than 4 MiB, one of that order is tried that aligns alike.
        banks: Where the planner is that of banks.h, its banks; no other sizes are tried then.
    """

    symbol: str
    part: Literal["all", "persistent", "rest"]
    address: Count
    size: Count
    is_exact: bool
    fits: bool | None
    works: bool | None
    arena_used_bytes: Count | None
    smallest_arena: Count | None
    smallest_arena_multiple_of_16: Count | None
    arena_used_bytes_at_smallest: Count | None
    succeeds_from: Count | None
    log_below: tuple[str, ...]
    reason: str
    allocations: tuple[ExecutedAllocation, ...]
    trials: Count
    tried: tuple[TriedSize, ...]
    allocations_at_smallest: tuple[ExecutedAllocation, ...] = ()
    banks: tuple[ExecutedBank, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What happened when a program was executed.

    Attributes:
        executed: The version of this document.
        file: The program.
        core: The processor that was emulated.
        emulator: What emulated it.
        start: Where it was started.
        is_guessed: Whether parts of the system around it were made up, so that it may have gone another way than on
            its board.
        ending: Why it was followed no further.
        output: What it wrote by semihosting.
        arenas: Each arena that it made, in order.
    """

    executed: Literal[1] = 1
    file: str | None
    core: str
    emulator: str
    start: str
    is_guessed: bool
    ending: str
    output: str
    arenas: tuple[ExecutedArena, ...]

    __repr__ = short_repr

    def _repr_html_(self) -> str:
        """For notebooks: each arena, and what it needs."""
        rows = [
            (
                one.symbol or f"{one.address:#x}",
                f"{one.size:,} B",
                "not known" if one.smallest_arena is None else f"{one.smallest_arena:,} B",
                {True: "works", False: one.reason or "fails", None: one.reason or "cannot be told"}[one.works],
            )
            for one in self.arenas
        ]
        title = f"{self.file or 'a program'}, executed for a {self.core} in {self.emulator}: {self.answer}"
        return html_table(title, rows, head=("arena", "size", "needs", "result"))

    @property
    def bad_stores(self) -> tuple[ExecutedStore, ...]:
        """Every store that was seen and went where it must not."""
        allocations = [one for arena in self.arenas for one in arena.allocations]
        seen = [one.stores for one in allocations] + [run.stores for one in allocations for run in one.invocations]
        return tuple(store for stores in seen for store in stores or () if store.into != "data")

    def smallest_of(self, interpreter: int) -> int | None:
        """Return an interpreter's smallest arena, bytes, of two both together; None where none was found."""
        holding = [one for one in self.arenas if any(each.interpreter == interpreter for each in one.allocations)]
        first = self.arenas.index(holding[0]) if holding else 0
        sizes = [
            one.smallest_arena for one in self.arenas[first : first + 1 + (self.arenas[first].part == "persistent")]
        ]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def is_left(self, arena: ExecutedArena) -> bool:
        """Whether an arena was too small and each interpreter in it went on to another one, which counts in its place.

        So it is where a program tries larger arenas until one is enough.
        """
        at = next(number for number, each in enumerate(self.arenas) if each is arena)
        first = at - (arena.part == "rest")  # What two arenas are used for stands with the first.
        last = {one.interpreter: number for number, each in enumerate(self.arenas) for one in each.allocations}
        users = {one.interpreter for one in self.arenas[first].allocations}
        return arena.fits is False and bool(users) and all(last[one] > first for one in users)

    @property
    def answer(self) -> Answer:
        """Yes: every arena that counts works; no: one does not, or a store goes out of bounds."""
        answers = {arena.works for arena in self.arenas if not self.is_left(arena)}
        if self.bad_stores or False in answers:
            return "no"
        return answer_of(None if None in answers or not answers else True)

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.answer]
