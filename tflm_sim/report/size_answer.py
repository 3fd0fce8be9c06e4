"""What ``size`` answers, as values: the smallest arena, who holds the tail, where each buffer of the head lives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tflm_sim.answers.invoke_problem import InvokeProblem
from tflm_sim.answers.ledger import TailLedger
from tflm_sim.answers.npu import NpuMemory, npu_memory
from tflm_sim.answers.peak import Peak, alive_in
from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.arena.needs import Constraint
from tflm_sim.arena.state import ArenaState
from tflm_sim.checks.doubts import Answer, answer_of, fits_of
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.recording import RecordedAllocation
from tflm_sim.document_fields import HIDDEN, OPTIONAL
from tflm_sim.graph.lifetimes import AllocationInfo

if TYPE_CHECKING:
    from typing import Annotated, TypeAlias

    from tflm_sim.document_types import Count, IndexOrNone, OneOf

Status: TypeAlias = 'Annotated[str, OneOf("ok", "error", "abort")]'


@dataclass(frozen=True, slots=True)
class TailPart:
    """The allocations of a group that are for the same."""

    label: str
    used: int
    count: int


@dataclass(frozen=True, slots=True)
class TailGroup:
    """Persistent bytes of one kind.

    Attributes:
        what: The kind.
        requested: Bytes that were asked for.
        used: The same with padding.
        count: Allocations.
        parts: What they are for, the largest first.
    """

    what: str
    requested: Count
    used: Count
    count: Count
    parts: tuple[TailPart, ...] = field(default=(), compare=False, metadata=HIDDEN)


@dataclass(frozen=True, slots=True)
class TailOperator:
    """Persistent bytes of one operator; ``used`` is with padding."""

    subgraph: Count
    operator: Count
    op: str
    requested: Count
    used: Count
    count: Count


@dataclass(frozen=True, slots=True)
class Tail:
    """Who holds the persistent bytes: all of them by kind, those of kernels by operator too."""

    groups: tuple[TailGroup, ...]
    ops: tuple[TailOperator, ...]


@dataclass(frozen=True, slots=True)
class HeadBuffer:
    """A buffer of the head. Size and offset are negative where a broken model says so: the device computes with it.

    Attributes:
        kind: A tensor, or a scratch buffer of an operator.
        index: The tensor's in its subgraph, or the scratch buffer's.
        operator: The one that asked for the scratch buffer.
        name: The tensor's, or what the scratch buffer is for.
        first, last: Scopes, both inclusive.
        offline_offset: What the model's metadata asks for.
    """

    kind: Annotated[str, OneOf("tensor", "scratch")]
    subgraph: Count
    index: Count
    operator: Count | None
    name: str
    size: int
    offset: int
    first: IndexOrNone
    last: IndexOrNone
    offline_offset: Count | None


@dataclass(frozen=True, slots=True)
class SizeAnswer:
    """What AllocateTensors() makes of a model in a roomy arena, and the smallest arena; sizes are bytes.

    Attributes:
        status: Of AllocateTensors(); abort: the device halts or uses a null pointer.
        smallest_arena_bytes: AllocateTensors() fails with one byte less, or overwrites bytes in use; null unless the
            status is ok, for two arenas, and for banks.
        arena_used_bytes: In a roomy arena whose size is a multiple of 16; 0 after an abort.
        head_bytes, tail_bytes: Null where a program was executed that fails in its own arena: what it holds there is
            not what it holds in one that is large enough.
        recorded: By RecordedAllocationType.
        log: The lines that the device prints.
        operators: Names of the operators, by subgraph.
        passes_unnoticed_from_bytes: From here on AllocateTensors() succeeds all the same though bytes in use are
            overwritten; null where it fails with one byte less than the smallest arena.
        npu: What Vela compiled for an Ethos-U.
        invoke_problem: The first operator that no Invoke() gets past, though the model is allocated; null where none
            is known to.
        debug_build_halts: Where a build with debug checks would halt though this one goes on; omitted where it would
            not, and for a build that has them.
        release_build: What a build without debug checks (NDEBUG) does where this one halts at one, in words; omitted
            elsewhere.
        bank_needs: Where a program's plan of banks.h puts its tensors into banks of RAM, what each must have; omitted
            elsewhere. What is only true of one arena is null or empty then; ``head_bytes`` are the plan's in its bank.
    """

    status: Status
    smallest_arena_bytes: Count | None
    smallest_arena_multiple_of_16: Count | None
    arena_used_bytes_at_smallest: Count | None
    smallest_split_arenas_bytes: SplitArenaSizes | None
    arena_used_bytes: Count
    head_bytes: Count | None
    tail_bytes: Count | None
    recorded: dict[str, RecordedAllocation]
    log: tuple[str, ...]
    failure: str | None
    binding: Constraint | None
    tail: Tail
    operators: tuple[tuple[str, ...], ...]
    buffers: tuple[HeadBuffer, ...]
    peak: Peak | None
    invoke_problem: InvokeProblem | None = None
    passes_unnoticed_from_bytes: Count | None = None
    npu: tuple[NpuMemory, ...] = ()
    debug_build_halts: str | None = field(default=None, metadata=OPTIONAL)
    release_build: str | None = field(default=None, metadata=OPTIONAL)
    bank_needs: tuple[BankNeed, ...] | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class ArenaAnswer:
    """What AllocateTensors() makes of a model in an arena of a given size; sizes are bytes.

    Attributes:
        answer: Whether AllocateTensors() succeeds and overwrites nothing, and Invoke() can run; "if" where a linked
            program leaves a doubt that can turn it.
        fits: The same as true or false; null where the answer is "if" or "cannot tell".
        failed_step: The phase or operator in which it ended.
        corruptions: Where bytes in use are overwritten.
        log: The lines that the device prints.
        enough: The smallest multiple of 16 that works; None where none does.
        invoke_problem: As in the document without an arena's size.
        missing: Bytes more than the arena has, of the smallest that works; None where none does.
    """

    arena_size: Count
    answer: Answer
    fits: bool | None
    status: Status
    arena_used_bytes: Count
    failure: str | None
    failed_step: str | None
    corruptions: tuple[str, ...]
    log: tuple[str, ...]
    invoke_problem: InvokeProblem | None = None
    enough: int | None = field(default=None, compare=False, metadata=HIDDEN)
    missing: int | None = field(default=None, compare=False, metadata=HIDDEN)


def arena_answer(simulation: Simulation, answer: Answer | None = None) -> ArenaAnswer:
    """Return what happens to one model in the arena that was simulated.

    Args:
        simulation: Of that arena.
        answer: What a linked program says of it, with its doubts; None where there is none.
    """
    answer = answer or answer_of(simulation.fits and simulation.invoke_problem is None)
    failure = simulation.failure
    failed_step = None
    if failure is not None:
        failed_step = failure.where or str(ArenaState().fold(simulation.events).place)
    smallest = None if simulation.fits else simulation.smallest
    return ArenaAnswer(
        arena_size=simulation.arena_size,
        answer=answer,
        fits=fits_of(answer),
        status=simulation.status,
        arena_used_bytes=simulation.arena_used_bytes,
        failure=None if failure is None else str(failure),
        failed_step=failed_step,
        corruptions=simulation.corruptions,
        log=simulation.log,
        invoke_problem=simulation.invoke_problem,
        enough=None if smallest is None else smallest.multiple_of_16,
        missing=None if smallest is None else smallest.size - simulation.arena_size,
    )


def tail_of(ledger: TailLedger) -> Tail:
    """Return what the tail is used for."""
    return Tail(
        tuple(
            TailGroup(what, row.requested, row.used, row.count, _parts(ledger, what))
            for what, row in ledger.groups.items()
        ),
        tuple(
            TailOperator(subgraph, index, op, row.requested, row.used, row.count)
            for (subgraph, index, op), row in ledger.ops.items()
        ),
    )


def size_answer(simulation: Simulation) -> SizeAnswer:
    smallest = simulation.smallest
    allocation = simulation.allocation if simulation.status == "ok" else None
    return SizeAnswer(
        status=simulation.status,
        smallest_arena_bytes=None if smallest is None else smallest.size,
        smallest_arena_multiple_of_16=None if smallest is None else smallest.multiple_of_16,
        arena_used_bytes_at_smallest=None if smallest is None else smallest.arena_used_bytes,
        smallest_split_arenas_bytes=simulation.split,
        arena_used_bytes=simulation.arena_used_bytes,
        head_bytes=simulation.head_bytes,
        tail_bytes=simulation.tail_bytes,
        recorded=dict(simulation.recorded),
        log=tuple(simulation.log),
        failure=str(simulation.failure) if simulation.failure else None,
        binding=None if smallest is None else smallest.binding,
        tail=tail_of(simulation.ledger),
        operators=tuple(map(tuple, simulation.allocation.op_names)) if simulation.allocation else (),
        buffers=_buffers(simulation, allocation) if allocation else (),
        peak=simulation.peak if allocation else None,
        invoke_problem=simulation.invoke_problem,
        debug_build_halts=simulation.debug_build_halts,
        release_build=simulation.release_build,
        passes_unnoticed_from_bytes=simulation.unnoticed_from,
        npu=npu_memory(simulation.model),
    )


def _parts(ledger: TailLedger, group: str) -> tuple[TailPart, ...]:
    rows = ledger.labels.items()
    parts = [TailPart(label, row.used, row.count) for (what, label), row in rows if what == group and label]
    return tuple(sorted(parts, key=lambda part: -part.used))


def _buffers(simulation: Simulation, allocation: ModelAllocation) -> tuple[HeadBuffer, ...]:
    labels = simulation.ledger.scratch_labels
    return tuple(
        _buffer(allocation, allocation.infos[index], offset, labels) for index, offset in allocation.offsets.items()
    )


def _buffer(allocation: ModelAllocation, info: AllocationInfo, offset: int, labels: list[str]) -> HeadBuffer:
    is_tensor = info.tensor >= 0
    tensors, alive = allocation.model.subgraphs[info.subgraph].tensors, alive_in(allocation, info)
    return HeadBuffer(
        kind="tensor" if is_tensor else "scratch",
        subgraph=info.subgraph,
        index=info.tensor if is_tensor else info.scratch,
        operator=None if is_tensor else info.node,
        name=tensors[info.tensor].name if is_tensor else labels[info.scratch],
        size=info.size,
        offset=offset,
        first=alive.start,
        last=alive.stop - 1,
        offline_offset=info.offline_offset if info.offline_offset >= 0 else None,
    )
