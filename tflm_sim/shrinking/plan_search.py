"""Which model gets the offline plan: the smallest arena without one need not lead to the smallest with one.

the steps that were kept     planned after all of them, after all but the last, ..., after none
byways                       splits that were simulated and gained nothing, or run in loops
splits for a plan            chosen on the profile that a plan gives (``sharing``), from the best so far on
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model
from tflm_sim.shrinking import peaks
from tflm_sim.shrinking.descent import split_step
from tflm_sim.shrinking.graph import draft_multiplications
from tflm_sim.shrinking.planning import plan_witnesses, planned_models
from tflm_sim.shrinking.search import PLAN, SPLITS, Search
from tflm_sim.shrinking.sharing import planned_profile
from tflm_sim.shrinking.shrunk import Kept, Rejected
from tflm_sim.values import dataclass

MOST_BYWAYS = {False: 6, True: 8}
"""Byways that are planned, without and with loops: those with the smallest estimate, which knows no greedy planner."""
MOST_SPLIT = 8
"""Split plans that are made for an offline plan in one round."""
MOST_ROUNDS = 3

Way = list[Kept]
"""Steps from the original to a model without a plan."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A model with a plan, and the steps that lead to it without one."""

    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    way: Way


def plan(search: Search) -> None:
    """Place the tensors of the result, of each model on the way to it, and of splits made for a plan."""
    best = _best_planned(search, _ways(search), None)
    way: Way | None = list(takewhile(lambda step: step.name != SPLITS, search.steps))
    for _ in range(MOST_ROUNDS):
        better = _best_planned(search, _split_for_plan(search, way), best) if way is not None else best
        if better is best:
            break
        best = better
        way = best.way if best is not None else None
    if best is None:
        search.rejected.append(Rejected(PLAN, "no plan gains"))
        return
    search.steps = best.way
    before = _end(search, best.way)
    search.keep(PLAN, best.model, best.arenas, plan_witnesses(best.model, before, search.sizer))


def _ways(search: Search) -> list[Way]:
    """Return the way that was kept, each beginning of it, and the byways that promise most."""
    ways = [search.steps[:count] for count in range(len(search.steps), -1, -1)]
    for has_loop, most in MOST_BYWAYS.items():
        byways = [byway for byway in search.byways if byway.has_loop == has_loop]
        ways += [byway.steps for byway in sorted(byways, key=lambda byway: byway.estimate)[:most]]
    return ways


def _end(search: Search, way: Way) -> Model:
    """Return the model that a way leads to."""
    return way[-1].model if way else search.unplanned()


def _best_planned(search: Search, ways: Sequence[Way], best: _Planned | None) -> _Planned | None:
    """Plan what each way leads to and return the best of them and ``best``."""
    for number, way in enumerate(ways, 1):
        search.say(f"{PLAN}, {number} of {len(ways)}")
        found = planned_models(
            _end(search, way), search.sizer, kernel_order=search.kernel_order, stopping=search.stopping
        )
        for planned, arenas in found:
            macs = draft_multiplications(Draft(planned))
            rank = search.rank(arenas, macs, planned)
            if search.objection(planned, arenas, macs) is None and (best is None or rank < best.rank):
                best = _Planned(rank, planned, arenas, way)
    return best


def _split_for_plan(search: Search, way: Way) -> list[Way]:
    """Return ways on from one with splits that are chosen for what they need with a plan."""
    if search.whole_layers:
        return []
    model = _end(search, way)
    facts = planned_profile(Draft(model), search.sizer, kernel_order=search.kernel_order)
    spare = search.allowance.spare(Draft(model))
    found = peaks.all_splits(Draft(model), facts, spare, search.stopping)
    if search.loops:
        found += peaks.loop_splits(Draft(model), facts, spare, search.stopping)
    splits, _ = search.allowance.allowed(found)
    plans = peaks.plans(facts, splits, spare, search.stopping)[:MOST_SPLIT]
    steps = (split_step(model, search.sizer, facts, each) for each in search.stopping.watch(plans))
    return [[*way, step] for step in steps if step is not None]
