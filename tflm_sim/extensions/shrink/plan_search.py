"""Which model gets the offline plan: the smallest arena without one need not lead to the smallest with one.

the steps that were kept     planned after all of them, after all but the last, ..., after none
detours                       splits that were simulated and gained nothing, or run in loops
splits for a plan            chosen on the profile that a plan gives (``planned_profile``), from the best so far on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from tflm_sim.extensions.shrink import peaks
from tflm_sim.extensions.shrink.descent import split_step
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.pass_search import PLAN, SPLITS, Search
from tflm_sim.extensions.shrink.plan_candidates import plan_edits, planned_models
from tflm_sim.extensions.shrink.planned_profile import planned_profile
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Kept, Rejected
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model

MAX_DETOURS = {False: 6, True: 8}
"""Detours that are planned, without and with loops: those with the smallest estimate, which knows no greedy planner."""
MAX_SPLIT = 8
"""Split plans that are made for an offline plan in one round."""
NEAR_PEAK_SHARE = 0.8
"""Share of the best plan's head above which operators are looked at next, where those that were too small bind it."""
MAX_ROUNDS = 3
MAX_THOROUGH = 3
"""Ways that are planned once more, thoroughly."""

StepList = list[Kept]
"""Steps from the original to a model without a plan."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A model with a plan, and the steps that lead to it without one."""

    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    way: StepList


def plan(search: Search) -> None:
    """Place the tensors of the result, of each model on the way to it, and of splits made for a plan."""
    found: list[_Planned] = []
    try:
        # As without loops first, so that with them no result is larger.
        for has_loops in (False, True) if search.loops else (False,):
            _add_all_plans(search, found, has_loops=has_loops)
        if not found:
            search.rejected.append(Rejected(PLAN, "no plan gains"))
    finally:  # where the search is stopped, too, the best plan so far is kept
        if found:
            best = min(found, key=_rank)
            search.steps = best.way
            edits = plan_edits(best.model, _end(search, best.way), search.sizer)
            search.keep(PLAN, best.model, best.arenas, edits)


def _add_all_plans(search: Search, found: list[_Planned], *, has_loops: bool) -> None:
    """Add plans of what was kept, of detours and of splits made for a plan, without loops or with one at least."""
    begun = len(found)
    _add_planned(search, _ways(search, has_loops=has_loops), found)
    way: StepList | None = list(takewhile(lambda step: step.name != SPLITS, search.steps))
    for _ in range(MAX_ROUNDS):
        before = min(found, key=_rank, default=None)
        _add_planned(search, _split_for_plan(search, way, has_loops=has_loops) if way is not None else [], found)
        best = min(found, key=_rank, default=None)
        if best is before or best is None:
            break
        way = best.way
    ways = [each.way for each in sorted(found[begun:], key=_rank)[:MAX_THOROUGH]]
    _add_planned(search, ways, found, thorough=True)


def _rank(planned: _Planned) -> tuple[float, ...]:
    return planned.rank


def _ways(search: Search, *, has_loops: bool) -> list[StepList]:
    """Return the way that was kept and each beginning of it, and the detours that promise most."""
    detours = sorted((each for each in search.detours if each.has_loop == has_loops), key=lambda each: each.estimate)
    kept = [] if has_loops else [search.steps[:count] for count in range(len(search.steps), -1, -1)]
    return kept + [detour.steps for detour in detours[: MAX_DETOURS[has_loops]]]


def _end(search: Search, way: StepList) -> Model:
    return way[-1].model if way else search.unplanned()


def _add_planned(search: Search, ways: Sequence[StepList], found: list[_Planned], *, thorough: bool = False) -> None:
    """Plan what each way leads to and add the best plan of each, where one gains."""
    for number, way in enumerate(ways, 1):
        search.say(f"{PLAN}, {number} of {len(ways)}")
        models = planned_models(
            _end(search, way),
            search.sizer,
            kernel_order=search.kernel_order,
            stopping=search.stopping,
            thorough=thorough,
        )
        own: list[_Planned] = []
        for planned, arenas in models:
            macs = draft_multiplications(Draft(planned))
            if search.objection(planned, arenas, macs) is None:
                own.append(_Planned(search.rank(arenas, macs, planned), planned, arenas, way))
        found += sorted(own, key=_rank)[:1]


def _split_for_plan(search: Search, way: StepList, *, has_loops: bool) -> list[StepList]:
    """Return ways on from one with splits that are chosen for what they need with a plan."""
    if search.whole_layers:
        return []
    model = _end(search, way)
    facts = planned_profile(Draft(model), search.sizer, kernel_order=search.kernel_order)
    plans: list[peaks.SplitPlan] = []
    share: float | None = peaks.LOWEST_SHARE
    while share is not None:
        plans = _plans_above(search, Draft(model), facts, share, has_loops=has_loops)
        share = _lower_share(facts, plans, share)
    steps = (split_step(model, search.sizer, facts, each) for each in search.stopping.watch(plans))
    return [[*way, step] for step in steps if step is not None]


def _plans_above(
    search: Search, draft: Draft, facts: Profile, share: float, *, has_loops: bool
) -> list[peaks.SplitPlan]:
    """Return the split plans of operators above a share of the peak, the smallest estimated arena first."""
    spare = search.allowance.spare(draft)
    splits, _ = search.allowance.allowed(peaks.all_splits(draft, facts, spare, search.stopping, share=share))
    if not has_loops:
        return peaks.plans(facts, splits, spare, search.stopping)[:MAX_SPLIT]
    loops, _ = search.allowance.allowed(peaks.loop_splits(draft, facts, spare, search.stopping, share=share))
    plans = peaks.plans_with_loops(facts, splits, loops, spare, search.stopping)
    others = peaks.variants(plans[0], loops, spare) if plans else []
    return [*plans[:MAX_SPLIT], *others]


def _lower_share(facts: Profile, plans: Sequence[peaks.SplitPlan], share: float) -> float | None:
    """Return a lower share of the peak where the best plan is bound by operators that were too small to be split."""
    head = plans[0].head if plans else 0
    return head / facts.peak * NEAR_PEAK_SHARE if 0 < head <= facts.peak * share else None
