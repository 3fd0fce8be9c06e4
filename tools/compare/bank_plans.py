"""Compare the plans of ``--bank`` with those that CP-SAT of OR-Tools finds.

    python tools compare bank_plans [MODEL ...] [--target cortex-m7] [--fast 75 50 25] [--seconds 30]

For each model (without one: ../shared/models with 12 buffers and more) the fast bank has so many percent of the arena,
and the slow one has room. CP-SAT is asked for an assignment that loads and stores less in the slow bank than ours, with
places that do not overlap: "none" where it proves that there is none, "?" where it does not decide in that time. The
exit code is 1 where it finds one below ours, and our answer did not say so (a bound above what CP-SAT found, or
"optimal").
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import frame

from tflm_sim import load, simulate
from tflm_sim.errors import TflmSimError
from tflm_sim.planners.banks import Costs
from tflm_sim.planners.buffers import Buffer
from tflm_sim.units import align_up

if TYPE_CHECKING:
    from tflm_sim.extensions.banks.bank import RamBank
    from tflm_sim.extensions.banks.placement import BankQuestion, BestPlacement

SMALLEST = 12
"""Buffers of a model that is worth a comparison."""
NONE, UNDECIDED = "none", "?"


def by_cp_sat(
    buffers: Sequence[Buffer], costs: Costs, rooms: Sequence[int], *, below: int | None = None, seconds: float = 60
) -> int | str:
    """Return the least cost of an assignment that packs, by CP-SAT.

    Args:
        buffers: With sizes of multiples of 16.
        costs: By buffer and bank.
        rooms: Bytes of each bank.
        below: Only what costs less is asked for.
        seconds: How long it may take.

    Returns:
        ``NONE`` where it proves that there is none; ``UNDECIDED`` where it proves nothing in this time.
    """
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    is_in = [[model.new_bool_var("") for _ in rooms] for _ in buffers]
    for row in is_in:
        model.add_exactly_one(row)
    for bank, room in enumerate(rooms):
        lives, places = [], []
        for row, each in zip(is_in, buffers, strict=True):
            if each.size > room:
                model.add(row[bank] == 0)
                continue
            offset = model.new_int_var(0, (room - each.size) // 16, "")
            length = each.upper - each.lower
            lives.append(model.new_optional_fixed_size_interval_var(each.lower, length, row[bank], ""))
            places.append(model.new_optional_fixed_size_interval_var(offset, each.size // 16, row[bank], ""))
        model.add_no_overlap_2d(lives, places)
        model.add_cumulative(lives, [each.size // 16 for each in buffers if each.size <= room], room // 16)
    cost = sum(
        each * one for row, costs_of in zip(is_in, costs, strict=True) for one, each in zip(row, costs_of, strict=True)
    )
    if below is not None:
        model.add(cost < below)
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return NONE
    is_answer = status == cp_model.OPTIMAL or (status == cp_model.FEASIBLE and below is not None)
    return round(solver.objective_value) if is_answer else UNDECIDED


def better(question: BankQuestion, banks: tuple[RamBank, RamBank], ours: BestPlacement, seconds: float) -> int | str:
    """Return the fewest bytes in the slow bank that CP-SAT finds below ours, over all banks of head and tail."""
    moved = question.traffic
    costs = [[0, each.total] for each in moved.buffers]
    best = None if ours.best is None else ours.best.slowest_first[0]
    answer: int | str = NONE
    for _, tail, rooms in question.ways(banks):
        of_tail = moved.tail.total if tail else 0
        below = None if best is None else best - of_tail
        if below is not None and below <= 0:
            continue
        found = by_cp_sat(question.buffers, costs, rooms, below=below, seconds=seconds)
        if isinstance(found, int):
            best = answer = of_tail + found
        elif found == UNDECIDED and answer == NONE:
            answer = UNDECIDED
    return answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each model and size, and how many of each there were."""
    # The tests of the planner ask by_cp_sat() where no extension is.
    from tflm_sim.extensions.banks.bank import RamBank
    from tflm_sim.extensions.banks.placement import BankQuestion

    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--target", default="cortex-m7")
    parser.add_argument("--fast", nargs="+", type=int, default=[75, 50, 25], metavar="PERCENT")
    parser.add_argument("--seconds", type=float, default=30, help="for CP-SAT, and each bank of the tail and the head")
    args = parser.parse_args(arguments)
    models = args.models or sorted(map(str, frame.recorded(frame.SHARED / "models").glob("*.tflite")))
    table = frame.Table(
        {
            "model": "<44", "buffers": ">7,", "fast": ">9,", "moved in slow": ">13,", "bound": ">12,",
            "CPU s": ">6.2f", "below it": ">12,",
        }
    )  # fmt: skip
    counts = {"optimal": 0, "with a bound": 0, "no plan": 0, "better": 0, "undecided": 0, "wrong": 0}
    for name in models:
        try:
            question = BankQuestion(simulate(load(name), args.target, resource_variables=40))
            whole = question.roomy.smallest
        except TflmSimError:
            continue
        if whole is None or (len(question.buffers) < SMALLEST and not args.models):
            continue
        for percent in args.fast:
            banks = RamBank("fast", align_up(whole.size * percent // 100, 16)), RamBank("slow", 64 << 20)
            started = time.process_time()
            try:
                ours = question.place(banks)
            except TflmSimError:
                break
            seconds = time.process_time() - started
            found = better(question, banks, ours, args.seconds)
            moved = None if ours.best is None else ours.best.slowest_first[0]
            counts["no plan" if moved is None else "optimal" if ours.is_optimal else "with a bound"] += 1
            counts["undecided"] += found == UNDECIDED
            is_wrong = isinstance(found, int) and (ours.is_optimal or found < (ours.slow_bound or 0))
            counts["better"] += isinstance(found, int)
            counts["wrong"] += is_wrong
            table.row(
                name.rpartition("/")[2], len(question.buffers), banks[0].size, moved, ours.slow_bound, seconds, found
            )
    print("  ".join(f"{what}: {count}" for what, count in counts.items()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
