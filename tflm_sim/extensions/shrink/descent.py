"""Splits round by round until no target gains any more: each round simulates the best plans of ``peaks`` and keeps one.

    any kind first       -> round 2 -> round 3 -> nothing gains \\
    channels only first  -> round 2 -> nothing gains             > the better end of the two is kept

The first round decides much: tiles that are taken at once may stand in the way of groups of channels that gain more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain

from tflm_sim.extensions.shrink import peaks
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.pass_search import SPLITS, Detour, Search, SearchState
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Kept, Rejected
from tflm_sim.extensions.shrink.split import AXES, CHANNELS, Split
from tflm_sim.extensions.shrink.target_sizer import TargetSizer, gains
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model

MAX_ROUNDS = 8
MAX_SIMULATED = 14
"""Split plans that are simulated in one round."""
MAX_LOOP_PLANS = 8
"""Split plans with loops, likewise."""

_ALL = frozenset(AXES)
_FIRST_KINDS = (_ALL, frozenset({CHANNELS}))


def descend(search: Search) -> None:
    """Split round by round until nothing gains; begin with any split, or with one kind only: the best way stays."""
    Descent(search).run()


def split_step(model: Model, sizer: TargetSizer, facts: Profile, plan: peaks.SplitPlan) -> Kept | None:
    """Return a model split as planned and simulated, None where TFLM refuses it on a target."""
    draft = Draft(model)
    edits = peaks.apply(draft, facts, plan.splits)
    candidate = draft.model()
    arenas = sizer.arenas(candidate)
    return None if arenas is None else Kept(SPLITS, arenas, draft_multiplications(draft), tuple(edits), candidate)


@dataclass(frozen=True, slots=True)
class _SimulatedPlan:
    """A split plan that was simulated, and needs less than the present model."""

    plan: peaks.SplitPlan
    rank: tuple[float, ...]
    step: Kept


@dataclass(slots=True)
class Descent:
    """The rounds of a search (mutable: it caches the profile and the splits of the present model)."""

    search: Search
    _too_dear: list[tuple[tuple[int, ...], str]] = field(init=False, default_factory=list)
    _looked_at: tuple[Model, tuple[Profile, list[Split], float]] | None = field(init=False, default=None)

    def run(self) -> None:
        """Split from the present state on, once for each kind of first round, and keep the best result."""
        search, best = self.search, list[SearchState]()
        start = search.state()
        first_models: list[Model] = []
        for kinds in _FIRST_KINDS:
            search.restore(start)
            if not self._round(1, kinds) or search.model in first_models:
                continue
            first_models.append(search.model)
            for number in range(2, MAX_ROUNDS + 1):
                if search.is_done or not self._round(number, _ALL):
                    break
            best.append(search.state())
        search.restore(min(best, key=lambda state: state.rank, default=start))

    def _round(self, number: int, kinds: frozenset[str]) -> bool:
        """Simulate the best split plans of one round and keep the best; return whether one gained.

        Args:
            number: Of the round, from 1.
            kinds: The kinds of splits that are looked at.
        """
        search = self.search
        search.say(f"splits, round {number}")
        facts, splits, spare = self._candidates()
        splits = [split for split in splits if split.kind in kinds]
        found = peaks.plans(facts, splits, spare, search.stopping)
        tried = self._worth_trying(found)
        more = (peaks.variants(first, splits, spare) for first in tried[:2])
        tried = list(dict.fromkeys((*tried, *chain.from_iterable(more))))
        self._too_dear = []
        if search.loops and kinds == _ALL:
            self._note_loops(facts, splits, spare)
        best = self._best_of(facts, tried, None)
        if best is not None:
            best = self._best_of(facts, peaks.variants(best.plan, splits, spare), best)
        search.rejected += [
            Rejected(SPLITS, f"round {number}: {reason}", arenas) for arenas, reason in sorted(self._too_dear)[:1]
        ]
        if best is None:
            within = " within the limits" if self._too_dear else ""
            why = f"none of {len(found)} plans gains{within}" if found else "no split makes the fullest moment smaller"
            search.rejected.append(Rejected(SPLITS, f"round {number}: {why}"))
            return False
        search.adopt(best.step)
        return True

    def _candidates(self) -> tuple[Profile, list[Split], float]:
        """Return profile, splits and multiplications to spare of the present model, which is asked several times."""
        search = self.search
        if self._looked_at is None or self._looked_at[0] is not search.model:
            draft = Draft(search.model)
            facts, spare = search.profile(draft), search.allowance.spare(draft)
            share = peaks.LOWEST_SHARE if search.sizer.aim is None else 0
            splits, reason = search.allowance.allowed(
                peaks.all_splits(draft, facts, spare, search.stopping, share=share)
            )
            search.rejected += [Rejected(SPLITS, reason)] if reason else []
            self._looked_at = search.model, (facts, splits, spare)
        return self._looked_at[1]

    def _best_of(
        self, facts: Profile, found: Sequence[peaks.SplitPlan], best: _SimulatedPlan | None
    ) -> _SimulatedPlan | None:
        """Simulate plans and return the best of them and ``best``."""
        search = self.search
        for plan in search.stopping.watch(found):
            step = split_step(search.model, search.sizer, facts, plan)
            if step is None:
                continue
            does_gain = gains(step.arenas, search.arenas)
            if (reason := search.allowance.objection(step.model, step.macs)) is not None:
                self._too_dear += [(step.arenas, reason)] if does_gain else []
                continue
            if search.offline_plan:
                search.detours.append(Detour(plan.arena, [*search.steps, step], has_loop=False))
            rank = search.rank(step.arenas, step.macs, step.model)
            if does_gain and (best is None or rank < best.rank):
                best = _SimulatedPlan(plan, rank, step)
        return best

    def _note_loops(self, facts: Profile, splits: Sequence[Split], spare: float) -> None:
        """Store the split plans with loops that have the smallest estimates: they gain only with an offline plan."""
        search = self.search
        found = peaks.loop_splits(Draft(search.model), facts, spare, search.stopping)
        loops, _ = search.allowance.allowed(found)
        plans = peaks.plans(facts, [*splits, *loops], spare, search.stopping)
        with_loops = [plan for plan in plans if any(split.is_loop for split in plan.splits)]
        for plan in search.stopping.watch(with_loops[:MAX_LOOP_PLANS]):
            step = split_step(search.model, search.sizer, facts, plan)
            if step is not None and search.allowance.objection(step.model, step.macs) is None:
                search.detours.append(Detour(plan.arena, [*search.steps, step], has_loop=True))

    def _worth_trying(self, found: Sequence[peaks.SplitPlan]) -> list[peaks.SplitPlan]:
        """Return the plans to simulate: the smallest, and the cheapest that may meet a goal or a limit on flash."""
        budget = self.search.budget
        cheap: list[peaks.SplitPlan] = []
        if budget.goal is not None:
            fits = [plan for plan in found if plan.arena <= budget.goal]
            cheap += sorted(fits, key=lambda plan: (plan.macs, -plan.arena))[: MAX_SIMULATED // 2]
        if budget.max_flash is not None:
            cheap += sorted(found, key=lambda plan: plan.operators)[: MAX_SIMULATED // 2]
        if self.search.sizer.aim is not None:
            # The smallest head is not what an aim asks for: look at heads of all sizes, large and small.
            return list(dict.fromkeys((*found[:2], *found[2 :: max(1, len(found) // MAX_SIMULATED)])))[:MAX_SIMULATED]
        return list(dict.fromkeys((*cheap, *found)))[:MAX_SIMULATED]
