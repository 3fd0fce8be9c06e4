"""Answers about banks as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tflm_sim.escape import printable
from tflm_sim.extensions.banks.bank import RamBank
from tflm_sim.extensions.banks.document import BanksDocument, CountedFacts, CurvePoint, PlanFacts, StockFacts, WayFacts
from tflm_sim.report.tables import table_lines
from tflm_sim.units import format_size

_BAR = 20


def stock_lines(facts: StockFacts) -> list[str]:
    """Return what TFLM's own ``Create`` can do, the better way round marked and said with its figures."""
    lines = ["TFLM's own Create with these banks: one arena, or one for the tail and one for the head"]
    lines += _way_table(facts.banks, facts.ways, better=facts.better)
    lines += ["", *_better(facts)]
    return lines + [f"  {line}" for line in _counted(facts.counted)]


def _way_table(banks: Sequence[RamBank], ways: Sequence[WayFacts], *, better: int | None = None) -> list[str]:
    slow = ", ".join(bank.name for bank in banks[1:])
    sizes = [f"{bank.name} of {bank.size:,} B" for bank in banks]
    head = ("head", "tail", *sizes, f"moved in {slow}", "")
    rows = []
    for number, way in enumerate(ways):
        needed = [f"{use.needed:,}" if use.needed else "-" for use in way.uses]
        mark = "best" if number == better else "" if way.fits else "too large"
        rows.append((way.head, way.tail, *needed, f"{way.slow_bytes:,} B", mark))
    return table_lines([head, *rows])


def _better(facts: StockFacts) -> Iterator[str]:
    if facts.better is None:
        yield "none of these fits"
        return
    way = facts.ways[facts.better]
    slow = ", ".join(bank.name for bank in facts.banks[1:])
    if way.head == way.tail:
        needed = next(use.needed for use in way.uses if use.bank == way.head)
        yield f"best: one arena in {way.head}; {_moves(way, slow)}"
        yield f"    alignas(16) uint8_t tensor_arena[{needed}];  // in {way.head}"
        return
    other = next(each for each in facts.ways if (each.head, each.tail) == (way.tail, way.head))
    against = "does not fit" if not other.fits else f"moves {other.slow_bytes:,} B there"
    yield f"best: the head in {way.head}, the tail in {way.tail}; {_moves(way, slow)}. The other way round {against}"
    sizes = {use.bank: use.needed for use in way.uses}
    yield f"    alignas(16) uint8_t persistent_arena[{sizes[way.tail]}];  // in {way.tail}"
    yield f"    alignas(16) uint8_t non_persistent_arena[{sizes[way.head]}];  // in {way.head}"


def _moves(way: WayFacts, slow: str) -> str:
    if way.slow_bytes:
        return f"an Invoke() loads and stores {way.slow_bytes:,} B in {slow}"
    is_empty = not any(use.needed for use in way.uses[1:])
    return f"nothing is in {slow}" if is_empty else f"in {slow} nothing is loaded and stored that is counted"


def _counted(counted: CountedFacts) -> list[str]:
    lines = [
        f"counted: the loads and stores of {counted.kernels}"
        if counted.kernels
        else "counted: each byte once for each operator; how these kernels load and store is not known"
    ]
    if counted.kernels and counted.by_element:
        lines.append(f"each byte once, as their loops are not known: {printable(', '.join(counted.by_element), 400)}")
    if counted.has_loops:
        lines.append("a WHILE counts as one pass of its loop, an IF as both branches")
    return lines


def banks_lines(document: BanksDocument) -> list[str]:
    """Return a plan over banks as text."""
    banks = document.stock.banks
    lines = []
    if document.plan is None:
        lines.append("no plan fits into these banks" if document.decided else "no plan was found in this time")
    else:
        lines += _plan_lines(document.plan, banks)
    lines += [f"  {line}" for line in _counted(document.stock.counted)]
    if document.variables:
        lines.append(
            f"  {document.variables:,} B of the tail are variables; with --write FILE the plan places them, too"
        )
    if document.curve is not None:
        lines += ["", *curve_lines(document.curve, banks)]
    better = document.stock.better
    lines += ["", "without a planner of your own (TFLM's Create):"]
    lines += [f"  {line}" for line in (_better(document.stock) if better is not None else ["nothing fits"])]
    return lines


def _plan_lines(plan: PlanFacts, banks: Sequence[RamBank]) -> list[str]:
    way, slow = plan.way, ", ".join(bank.name for bank in banks[1:])
    slowest = banks[-1].name
    bound = (
        "no plan loads and stores less there"
        if plan.optimal and len(banks) == 2
        else f"the best plan ({slowest} first)"
        if plan.optimal
        else f"no plan is below {plan.slow_bound:,} B in {slowest}"
    )
    lines = [f"{way.slow_bytes:,} B are loaded and stored in {slow} for each Invoke(); {bound}", ""]
    head = ("bank", "size", "needed", "plan", "tail", "loads", "stores", "touched")
    rows = [
        (
            use.bank + (" (head)" if use.bank == way.head else ""),
            *(f"{number:,}" for number in (bank.size, use.needed, use.planned, use.tail, use.loads, use.stores)),
            f"{use.touched:,}",
        )
        for use, bank in zip(way.uses, banks, strict=True)
    ]
    lines += table_lines([head, *rows])
    cells = [
        (
            printable(each.name.removeprefix("subgraph0.")),
            f"{each.size:,}",
            "always" if each.keeps else f"{each.first_time_used} to {each.last_time_used}",
            each.bank,
            f"{each.offset:,}",
            f"{each.loads:,}",
            f"{each.stores:,}",
        )
        for each in plan.buffers
    ]
    titles = ("buffer", "size", "alive", "bank", "offset", "loads", "stores")
    return [*lines, "", *table_lines([titles, *cells])]


def curve_lines(points: Sequence[CurvePoint], banks: Sequence[RamBank]) -> list[str]:
    """Return the trade between the fastest bank and the others, with a bar for each size."""
    slow = ", ".join(bank.name for bank in banks[1:])
    most = max((point.slow_bytes for point in points), default=0) or 1
    is_open = any(point.slow_bound < point.slow_bytes for point in points)
    rows = [
        (
            format_size(point.fast_bytes),
            f"{point.slow_bytes:,}",
            *([f"{point.slow_bound:,}"] if is_open else []),
            point.head,
            point.tail,
            *(f"{size:,}" for size in point.other_bytes),
            "#" * -(-point.slow_bytes * _BAR // most),
        )
        for point in points
    ]
    needed = [f"{bank.name} needs" for bank in banks[1:]]
    bound = ["bound"] if is_open else []
    head = (f"of {banks[0].name}", f"moved in {slow}", *bound, "head", "tail", *needed, "")
    return table_lines([head, *rows])
