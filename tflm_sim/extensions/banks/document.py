"""What is said about banks, as documents: TFLM's own ``Create``, a plan over banks, and the trade between both.

Everything that is loaded and stored is bytes of one Invoke(), with the application's writing of the inputs and reading
of the outputs; it is never a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tflm_sim.document_fields import INLINE, OPTIONAL
from tflm_sim.document_types import Count
from tflm_sim.extensions.banks.bank import RamBank
from tflm_sim.extensions.banks.placement import BankQuestion, BankUse, BestPlacement, Placement
from tflm_sim.extensions.banks.traffic import Traffic
from tflm_sim.report.document import ConfigurationFacts, ModelFacts, configuration_facts, model_facts


@dataclass(frozen=True, slots=True)
class UseFacts:
    """What a bank holds and moves.

    Attributes:
        bank: Its name.
        planned: Bytes from its start to the end of the plan.
        tail: Bytes of persistent memory at its end.
        needed: Bytes that it must have.
        loads, stores: Bytes an Invoke(), as the target's kernels do it.
        touched: The bytes of its tensors and scratch buffers, once for each operator that reads or writes them: what a
            cache or a DMA moves at least.
    """

    bank: str
    planned: Count
    tail: Count
    needed: Count
    loads: Count
    stores: Count
    touched: Count


@dataclass(frozen=True, slots=True)
class WayFacts:
    """One way to use the banks.

    Attributes:
        head: The bank of the head: temps of Prepare, scratch requests, and what is planned there.
        tail: The bank of persistent memory.
        fits: Whether every bank holds what is to be there.
        slow_bytes: Loads and stores in all banks but the fastest.
        uses: Of each bank, the fastest first.
    """

    head: str
    tail: str
    fits: bool
    slow_bytes: Count
    uses: tuple[UseFacts, ...]


@dataclass(frozen=True, slots=True)
class CountedFacts:
    """How loads and stores were counted.

    Attributes:
        kernels: Whose kernels' loops; "" where each operator touches each byte once.
        by_element: Operators whose loops are not known: each byte counts once.
        has_loops: Whether a WHILE was counted as one pass, or an IF as both branches.
    """

    kernels: str
    by_element: tuple[str, ...]
    has_loops: bool


@dataclass(frozen=True, slots=True)
class StockFacts:
    """The banks with TFLM's own ``Create``, which takes one arena, or two: one for the tail, one for all else.

    Attributes:
        banks: The fastest first.
        ways: All of them.
        better: The position of the one that fits and moves fewest bytes in slow banks; null where none fits.
    """

    banks: tuple[RamBank, ...]
    ways: tuple[WayFacts, ...]
    better: Count | None
    counted: CountedFacts = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """A buffer in its bank.

    Attributes:
        name: A tensor, or a scratch buffer of an operator.
        size: Bytes, a multiple of 16.
        first_time_used, last_time_used: As TFLM's planner gets them, both inclusive.
        offset: Bytes from the bank's first multiple of 16.
        keeps: Whether it is a variable, which nothing else shares its bytes with at any time.
    """

    name: str
    size: Count
    first_time_used: int
    last_time_used: int
    bank: str
    offset: Count
    loads: Count
    stores: Count
    touched: Count
    keeps: bool


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The best plan over the banks.

    Attributes:
        way: Where head and tail go, and what each bank then holds and moves.
        slow_bound: No plan loads and stores fewer bytes in the slow banks; of three and more, in the slowest.
        optimal: Whether it was proved that none does.
        buffers: In the order in which TFLM plans them.
    """

    way: WayFacts = field(metadata=INLINE)
    slow_bound: Count
    optimal: bool
    buffers: tuple[BufferFacts, ...]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The best plan for one size of the fastest bank.

    Attributes:
        fast_bytes: What it needs of the fastest bank.
        slow_bytes: Loads and stores in all others.
        slow_bound: No plan with so much of the fastest bank does better in the slowest.
        touched: Bytes of tensors in the others, once for each operator.
        head, tail: Their banks.
        other_bytes: What it needs of the other banks.
    """

    fast_bytes: Count
    slow_bytes: Count
    slow_bound: Count
    touched: Count
    head: str
    tail: str
    other_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BanksDocument:
    """A model's tensors over banks of RAM; sizes are bytes.

    Attributes:
        stock: Without a planner of the firmware's own.
        plan: With one; null where none fits.
        decided: Whether it is certain that there is a plan, or that there is none.
        variables: Bytes of variables in the tail, which a planner could place.
        curve: With --curve: from the smallest fastest bank to the one that holds everything.
        assumed: The options that the answer depends on and that were not given.
    """

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    stock: StockFacts
    plan: PlanFacts | None
    decided: bool
    variables: Count
    curve: tuple[CurvePoint, ...] | None = field(default=None, metadata=OPTIONAL)
    assumed: tuple[str, ...] = ()


def stock_facts(question: BankQuestion, banks: Sequence[RamBank]) -> StockFacts:
    """Return what TFLM's own ``Create`` can do with banks."""
    ways = question.stock_ways(banks)
    fitting = [number for number, way in enumerate(ways) if way.fits(banks)]
    better = min(fitting, key=lambda number: ways[number].slowest_first, default=None)
    facts = tuple(way_facts(way, banks) for way in ways)
    return StockFacts(tuple(banks), facts, better, counted_facts(question.traffic))


def counted_facts(traffic: Traffic) -> CountedFacts:
    return CountedFacts(traffic.kernels, traffic.by_element, traffic.has_loops)


def way_facts(way: Placement, banks: Sequence[RamBank]) -> WayFacts:
    uses = tuple(_use(use, bank) for use, bank in zip(way.uses, banks, strict=True))
    slow = sum(use.moved.total for use in way.uses[1:])
    return WayFacts(banks[way.head].name, banks[way.tail].name, way.fits(banks), slow, uses)


def _use(use: BankUse, bank: RamBank) -> UseFacts:
    return UseFacts(
        bank.name, use.planned, use.tail, use.needed + bank.lost * (use.needed > 0), *use.moved, use.touched
    )


def plan_facts(question: BankQuestion, placed: BestPlacement, banks: Sequence[RamBank]) -> PlanFacts | None:
    best = placed.best
    if best is None or best.plan is None or placed.slow_bound is None:
        return None
    counted = question.traffic
    rows = zip(
        question.infos, question.buffers, best.plan.banks, best.plan.offsets, counted.buffers, counted.touched,
        strict=True,
    )  # fmt: skip
    buffers = tuple(
        BufferFacts(
            each.name, each.size, info.first_created, info.last_used, banks[bank].name, offset,
            loads=moved.loads, stores=moved.stores, touched=touched, keeps=question.is_variable(info),
        )
        for info, each, bank, offset, moved, touched in rows
    )  # fmt: skip
    return PlanFacts(way_facts(best, banks), placed.slow_bound, placed.is_optimal, buffers)


def banks_document(
    question: BankQuestion,
    placed: BestPlacement,
    banks: Sequence[RamBank],
    *,
    curve: tuple[CurvePoint, ...] | None = None,
    assumed: tuple[str, ...] = (),
) -> BanksDocument:
    return BanksDocument(
        model=model_facts(question.roomy.model),
        configuration=configuration_facts(question.roomy.configuration),
        stock=stock_facts(question, banks),
        plan=plan_facts(question, placed, banks),
        decided=placed.is_decided,
        variables=question.tail_variables,
        curve=curve,
        assumed=assumed,
    )
