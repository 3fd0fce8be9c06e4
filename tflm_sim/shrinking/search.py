"""The search: try a pass, simulate, keep it only if no target needs more and one needs less.

    tidy -> drop copies -> PAD is SAME -> states -> joined branches -> order -> splits, until nothing gains -> tidy

TFLM's greedy planner is not monotonous: a smaller model can need a larger arena. Nothing is believed, everything is
simulated; a pass that does not pay as a whole is tried edit by edit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile

from tflm_sim.errors import ModelError
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model
from tflm_sim.shrinking import choice, peaks
from tflm_sim.shrinking.bound import bound
from tflm_sim.shrinking.budget import Allowance, Budget
from tflm_sim.shrinking.contracts import COPY, DIAGONAL, IN_PLACE
from tflm_sim.shrinking.fuse import join_depthwise, pad_to_same, plain_slices
from tflm_sim.shrinking.graph import draft_multiplications
from tflm_sim.shrinking.machine import VerificationFailed
from tflm_sim.shrinking.order import reorder
from tflm_sim.shrinking.passes import Chooser, Pass
from tflm_sim.shrinking.planning import plan_witnesses, planned_models
from tflm_sim.shrinking.profile import Profile, profile
from tflm_sim.shrinking.prune import drop_copies, drop_dead, fold_constants, merge_constants
from tflm_sim.shrinking.rim import cut_rim
from tflm_sim.shrinking.sharing import planned_profile
from tflm_sim.shrinking.shrunk import Bound, Kept, Rejected, Witness
from tflm_sim.shrinking.sizing import TargetSizer, gains, grows
from tflm_sim.shrinking.split import CHANNELS, Split
from tflm_sim.shrinking.states import states_to_variables
from tflm_sim.shrinking.stopping import StoppedError, Stopping
from tflm_sim.values import dataclass, field, replace

_RIM, _ORDER, _SPLITS, _PLAN = "int8 io", "operator order", "splits", "offline plan"
MOST_ROUNDS = 8
MOST_SIMULATED = 14
"""Split plans that are simulated in one round."""
MOST_OTHERS = 6
"""Split plans that are tried with an offline plan: those with the smallest estimate, which knows no greedy planner."""
MOST_LOOPED = 8
"""Split plans with loops, likewise."""
MOST_PLANNED = 8
"""Split plans that are made for an offline plan in one round."""
MOST_PLANNED_ROUNDS = 3
MOST_SINGLE_EDITS = 24
"""Edits that are tried one by one when a pass does not pay as a whole."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Tried:
    """A split plan that was simulated and gains."""

    plan: peaks.SplitPlan
    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    witnesses: list[Witness]


@dataclass(frozen=True, slots=True)
class _Planned:
    """A model with a plan, and the steps that lead to it without one."""

    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    way: list[Kept]


@dataclass(frozen=True, slots=True)
class _State:
    """Where a search stood."""

    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    steps: tuple[Kept, ...]


@dataclass(slots=True)
class Search:
    """A model on its way down (mutable).

    Attributes:
        model: The best so far.
        arenas: Its smallest arena on each target.
        steps: What was kept, in order.
        rejected: What was tried in vain.
        allowance: What each candidate may cost.
        stopped: Why it ended early, "" where it did not.
        whole_layers: Whether each layer keeps its shape, for kernels that add in an order that the shape decides.
    """

    origin: Model
    sizer: TargetSizer
    budget: Budget
    progress: Progress
    replan: bool = False
    offline_plan: bool = False
    kernel_order: bool = False
    int8_io: bool = False
    loops: bool = False
    whole_layers: bool = False
    stopping: Stopping = field(default_factory=Stopping)
    stopped: str = field(init=False, default="")
    model: Model = field(init=False)
    arenas: tuple[int, ...] = field(init=False)
    origin_arenas: tuple[int, ...] = field(init=False)
    _others: list[tuple[int, list[Kept]]] = field(init=False, default_factory=list)
    _looped: list[tuple[int, list[Kept]]] = field(init=False, default_factory=list)
    _too_dear: list[tuple[tuple[int, ...], str]] = field(init=False, default_factory=list)
    _looked_at: tuple[Model, tuple[Profile, list[Split], float]] | None = field(init=False, default=None)
    _best: _State | None = field(init=False, default=None)
    steps: list[Kept] = field(init=False)
    rejected: list[Rejected] = field(init=False)
    allowance: Allowance = field(init=False)

    def __post_init__(self) -> None:
        self.model = self.origin
        self.arenas = tuple(self.sizer.arena(self.origin, index) for index in range(len(self.sizer.configurations)))
        self.origin_arenas = self.arenas
        self.allowance = Allowance(self.budget, self.origin)
        self.steps, self.rejected = [], []
        if self.replan:
            self._drop_plan()

    def _drop_plan(self) -> None:
        """Go on without the model's own plan; what comes out must still beat the model with it."""
        self.model = self._unplanned()
        arenas = self.sizer.arenas(self.model)
        if arenas is None:
            raise ModelError("without its offline plan TFLM refuses the model", path=self.origin.path)
        self.arenas = arenas
        what = Witness("the metadata", "loses its OfflineMemoryAllocation")
        self.steps.append(Kept("old plan", arenas, self.allowance.macs, (what,), self.model))

    @property
    def is_done(self) -> bool:
        """Whether the goal is met on every target."""
        return self.budget.goal is not None and max(self.arenas) <= self.budget.goal

    def run(self) -> None:
        """Search until nothing gains, the goal is met, or it is stopped: then the best so far is the answer."""
        self._note()
        with self.stopping.noting_interrupts():
            try:
                for row in self.stopping.watch(PASSES):
                    if not self.is_done and (row.needs is None or row.needs(self)):
                        self._try(row)
            except StoppedError:
                self.stopped = self.stopping.reason
                self.rejected.append(Rejected("what was still to be tried", self.stopped))
                assert self._best is not None, "where it began is noted"
                self._go_back(self._best)
        if grows(self.arenas, self.origin_arenas):
            self.rejected.append(Rejected("all of it", "the model's own plan is better", self.arenas))
            self.model, self.arenas, self.steps = self.origin, self.origin_arenas, []

    def _try(self, row: PassRow) -> None:
        """Run a pass; where an edit cannot be told to be sound, it is none."""
        self.progress(f"{row.name}: {max(self.arenas):,} B so far")
        try:
            row.run(self)
        except VerificationFailed as failure:
            reason = str(failure).removeprefix("refused: ").removesuffix("; nothing is written")
            self.rejected.append(Rejected(row.name, reason))

    def _state(self) -> _State:
        macs = self.steps[-1].macs if self.steps else self.allowance.macs
        rank = self._rank(self.arenas, macs, len(self.model.subgraphs[0].operators))
        return _State(rank, self.model, self.arenas, tuple(self.steps))

    def _note(self) -> None:
        """Remember where the search stands if it never stood better."""
        state = self._state()
        if self._best is None or state.rank < self._best.rank:
            self._best = state

    def _go_back(self, state: _State) -> None:
        self.model, self.arenas, self.steps = state.model, state.arenas, list(state.steps)

    def drop_names(self) -> None:
        """Leave out the names of tensors inside of the main subgraph; no arena depends on them."""
        draft = Draft(self.model)
        bound = {*draft.inputs, *draft.outputs}
        named = [index for index, tensor in enumerate(draft.tensors) if tensor.name and index not in bound]
        for index in named:
            draft.tensors[index] = replace(draft.tensors[index], name="")
        if named:
            self.model = draft.model()
            what = Witness("the main subgraph", f"loses the names of {len(named)} tensors")
            self.steps.append(Kept("names", self.arenas, self.steps[-1].macs, (what,), self.model))

    def undo(self, reason: str) -> None:
        """Take the last step back, and those before it that pay only with it."""
        step = self.steps.pop()
        self.rejected.append(Rejected(step.name, reason, step.arenas))
        while self.steps and grows(self.steps[-1].arenas, self.origin_arenas):
            self.steps.pop()
        last = self.steps[-1] if self.steps else None
        self.model = self.origin if last is None else last.model
        self.arenas = self.origin_arenas if last is None else last.arenas

    def attempt(self, name: str, edit: Pass) -> bool:
        """Try a pass as a whole, else edit by edit; return whether anything was kept."""
        draft = Draft(self.model)
        witnesses = edit(draft, Chooser())
        if not witnesses:
            return False
        candidate = draft.model()
        arenas = self.sizer.arenas(candidate)
        if self._keep(name, candidate, arenas, witnesses):
            return True
        if len(witnesses) == 1:
            return False
        kept = index = 0
        for _ in self.stopping.watch(range(min(len(witnesses), MOST_SINGLE_EDITS))):
            draft = Draft(self.model)
            single = edit(draft, Chooser(only=index))
            if not single:
                break
            candidate = draft.model()
            if self._keep(name, candidate, self.sizer.arenas(candidate), single):
                kept += 1
            else:
                index += 1
        return kept > 0

    def _keep(self, name: str, candidate: Model, arenas: tuple[int, ...] | None, witnesses: Sequence[Witness]) -> bool:
        """Make a candidate the best model if it gains and keeps the limits; say why not otherwise."""
        draft = Draft(candidate)
        macs = draft_multiplications(draft)
        reason = self._objection(candidate, arenas, macs)
        if reason is not None or arenas is None:
            self.rejected.append(Rejected(name, reason or "", arenas))
            return False
        self.model, self.arenas = candidate, arenas
        self.steps.append(Kept(name, arenas, macs, tuple(witnesses), candidate))
        self._note()
        return True

    def _objection(self, candidate: Model, arenas: tuple[int, ...] | None, macs: int) -> str | None:
        """Return why a candidate is not kept, None where it is."""
        if arenas is None:
            return "TFLM refuses the rewritten model on a target"
        if not gains(arenas, self.arenas):
            return (
                "a target grows" if any(a < b for a, b in zip(arenas, self.arenas, strict=True)) else "no target gains"
            )
        return self.allowance.objection(candidate, macs)

    def _plan(self) -> None:
        """Place the tensors of the result, of each model on the way to it, and of splits made for a plan."""
        ways = [list(self.steps[:count]) for count in range(len(self.steps), -1, -1)]
        for others, most in ((self._others, MOST_OTHERS), (self._looped, MOST_LOOPED)):
            ways += [way for _, way in sorted(others, key=lambda other: other[0])[:most]]
        best = self._best_planned(ways, None)
        way: list[Kept] | None = list(takewhile(lambda step: step.name != _SPLITS, self.steps))
        for _ in range(MOST_PLANNED_ROUNDS):
            better = self._best_planned(self._split_for_plan(way), best) if way is not None else best
            if better is best:
                break
            best = better
            way = best.way if best is not None else None
        if best is None:
            self.rejected.append(Rejected(_PLAN, "no plan gains"))
            return
        self.steps = best.way
        before = self.steps[-1].model if self.steps else self._unplanned()
        self._keep(_PLAN, best.model, best.arenas, plan_witnesses(best.model, before, self.sizer))

    def _best_planned(self, ways: Sequence[list[Kept]], best: _Planned | None) -> _Planned | None:
        """Plan what each way leads to and return the best of them and ``best``."""
        for number, way in enumerate(ways, 1):
            self.progress(f"{_PLAN}, {number} of {len(ways)}: {max(self.arenas):,} B so far")
            unplanned = way[-1].model if way else self._unplanned()
            for planned, arenas in planned_models(
                unplanned, self.sizer, kernel_order=self.kernel_order, stopping=self.stopping
            ):
                draft = Draft(planned)
                macs = draft_multiplications(draft)
                rank = self._rank(arenas, macs, len(draft.operators))
                if self._objection(planned, arenas, macs) is None and (best is None or rank < best.rank):
                    best = _Planned(rank, planned, arenas, way)
        return best

    def _split_for_plan(self, way: list[Kept]) -> list[list[Kept]]:
        """Return ways on from one with splits that are chosen for what they need with a plan."""
        if self.whole_layers:
            return []
        model = way[-1].model if way else self._unplanned()
        facts = planned_profile(Draft(model), self.sizer, kernel_order=self.kernel_order)
        spare = self.budget.max_macs * self.allowance.macs - draft_multiplications(Draft(model))
        splits, _ = self.allowance.allowed(peaks.all_splits(Draft(model), facts, spare, self.stopping))
        ways = []
        for plan in self.stopping.watch(peaks.plans(facts, splits, spare, self.stopping)[:MOST_PLANNED]):
            draft = Draft(model)
            witnesses = peaks.apply(draft, facts, plan.splits)
            candidate = draft.model()
            arenas = self.sizer.arenas(candidate)
            if arenas is not None:
                macs = draft_multiplications(draft)
                ways.append([*way, Kept(_SPLITS, arenas, macs, tuple(witnesses), candidate)])
        return ways

    def _unplanned(self) -> Model:
        """Return the original without a plan of its own."""
        draft = Draft(self.origin)
        draft.set_metadata(OFFLINE_MEMORY_ALLOCATION, None)
        return draft.model()

    def bound(self) -> Bound:
        """Return the bound on the first target, of the model as it is before it is split, ordered and planned."""
        whole = takewhile(lambda step: step.name not in (_ORDER, _SPLITS, _PLAN), self.steps)
        simplified = [self.origin, *(step.model for step in whole)][-1]
        kinds = [COPY, IN_PLACE] * self.offline_plan + [DIAGONAL] * self.kernel_order
        draft = Draft(simplified)
        return bound(draft, profile(draft, self.sizer.simulate(simplified)), self.sizer.libraries, kinds)

    def profile(self, draft: Draft) -> Profile:
        """Return the profile of a draft of the present model, on the first target."""
        return profile(draft, self.sizer.simulate(self.model))

    def _cut_rim(self) -> None:
        """Take the operators at the rim out: all of them unless a target grows, for what comes after gains by it."""
        draft = Draft(self.model)
        witnesses = cut_rim(draft, Chooser())
        candidate = draft.model()
        arenas = self.sizer.arenas(candidate) if witnesses else None
        if arenas is None or grows(arenas, self.arenas):
            self.attempt(_RIM, cut_rim)
            return
        self.model, self.arenas = candidate, arenas
        self.steps.append(Kept(_RIM, arenas, draft_multiplications(draft), tuple(witnesses), candidate))
        self._note()

    def _choose_kernels(self) -> None:
        """Try kernels without scratch."""
        facts = self.profile(Draft(self.model))
        self.attempt(
            "kernel choice", lambda draft, choose: choice.drop_scratch(draft, facts, self.sizer.libraries, choose)
        )

    def _order(self) -> None:
        """Try another order of the operators."""
        facts = self.profile(Draft(self.model))
        self.attempt(_ORDER, lambda draft, choose: reorder(draft, facts, choose, self.stopping))

    def _descend(self) -> None:
        """Split round by round until nothing gains; begin with any split, or with one kind only: the best way stays."""
        start, best = self._state(), None
        first_models: list[Model] = []
        for kinds in _FIRST_KINDS:
            self._go_back(start)
            if not self._split(1, kinds) or self.model in first_models:
                continue
            first_models.append(self.model)
            for number in range(2, MOST_ROUNDS + 1):
                if self.is_done or not self._split(number, None):
                    break
            state = self._state()
            if best is None or state.rank < best.rank:
                best = state
        self._go_back(best or start)

    def _split(self, number: int, kinds: frozenset[str] | None) -> bool:
        """Simulate the best split plans of one round and keep the best; return whether one gained.

        Args:
            number: Of the round, from 1.
            kinds: The only kinds of splits that are looked at, None for all.
        """
        self.progress(f"splits, round {number}: {max(self.arenas):,} B so far")
        facts, splits, spare = self._candidates()
        if kinds is not None:
            splits = [split for split in splits if split.kind in kinds]
        found = peaks.plans(facts, splits, spare, self.stopping)
        tried = self._worth_trying(found)
        tried += [plan for first in tried[:2] for plan in peaks.variants(first, splits, spare)]
        self._too_dear = []
        if self.loops and kinds is None:
            self._look_at_loops(facts, splits, spare)
        best = self._best_of(facts, list(dict.fromkeys(tried)), None)
        if best is not None:
            best = self._best_of(facts, peaks.variants(best.plan, splits, spare), best)
        for arenas, reason in sorted(self._too_dear)[:1]:
            self.rejected.append(Rejected(_SPLITS, f"round {number}: {reason}", arenas))
        if best is None:
            within = " within the limits" if self._too_dear else ""
            self.rejected.append(Rejected(_SPLITS, f"round {number}: none of {len(found)} plans gains{within}"))
            return False
        return self._keep(_SPLITS, best.model, best.arenas, best.witnesses)

    def _candidates(self) -> tuple[Profile, list[Split], float]:
        """Return profile, splits and multiplications to spare of the present model, which is asked several times."""
        if self._looked_at is None or self._looked_at[0] is not self.model:
            draft = Draft(self.model)
            facts = self.profile(draft)
            spare = self.budget.max_macs * self.allowance.macs - draft_multiplications(draft)
            splits, reason = self.allowance.allowed(peaks.all_splits(draft, facts, spare, self.stopping))
            self.rejected += [Rejected(_SPLITS, reason)] if reason else []
            self._looked_at = self.model, (facts, splits, spare)
        return self._looked_at[1]

    def _best_of(self, facts: Profile, found: Sequence[peaks.SplitPlan], best: _Tried | None) -> _Tried | None:
        """Simulate plans and return the best of them and ``best``."""
        for plan in self.stopping.watch(found):
            draft = Draft(self.model)
            witnesses = peaks.apply(draft, facts, plan.splits)
            candidate = draft.model()
            arenas = self.sizer.arenas(candidate)
            macs = draft_multiplications(draft)
            if arenas is None:
                continue
            if (reason := self.allowance.objection(candidate, macs)) is not None:
                self._too_dear += [(arenas, reason)] if gains(arenas, self.arenas) else []
                continue
            if self.offline_plan:
                step = Kept(_SPLITS, arenas, macs, tuple(witnesses), candidate)
                self._others.append((plan.arena, [*self.steps, step]))
            rank = self._rank(arenas, macs, len(draft.operators))
            if gains(arenas, self.arenas) and (best is None or rank < best.rank):
                best = _Tried(plan, rank, candidate, arenas, witnesses)
        return best

    def _look_at_loops(self, facts: Profile, splits: Sequence[Split], spare: float) -> None:
        """Remember the split plans with loops that promise most: they pay only with an offline plan."""
        draft = Draft(self.model)
        loops, _ = self.allowance.allowed(peaks.loop_splits(draft, facts, spare, self.stopping))
        found = peaks.plans(facts, [*splits, *loops], spare, self.stopping)
        with_loops = [plan for plan in found if any(split.is_loop for split in plan.splits)]
        for plan in self.stopping.watch(with_loops[:MOST_LOOPED]):
            draft = Draft(self.model)
            witnesses = peaks.apply(draft, facts, plan.splits)
            candidate, macs = draft.model(), draft_multiplications(draft)
            arenas = self.sizer.arenas(candidate)
            if arenas is not None and self.allowance.objection(candidate, macs) is None:
                step = Kept(_SPLITS, arenas, macs, tuple(witnesses), candidate)
                self._looped.append((plan.arena, [*self.steps, step]))

    def _worth_trying(self, found: Sequence[peaks.SplitPlan]) -> list[peaks.SplitPlan]:
        """Return the plans to simulate: the smallest, and the cheapest that may meet a goal or a limit on flash."""
        cheap: list[peaks.SplitPlan] = []
        if self.budget.goal is not None:
            fits = [plan for plan in found if plan.arena <= self.budget.goal]
            cheap += sorted(fits, key=lambda plan: (plan.macs, -plan.arena))[: MOST_SIMULATED // 2]
        if self.budget.max_flash is not None:
            cheap += sorted(found, key=lambda plan: plan.operators)[: MOST_SIMULATED // 2]
        return list(dict.fromkeys((*cheap, *found)))[:MOST_SIMULATED]

    def _rank(self, arenas: tuple[int, ...], macs: int, operators: int) -> tuple[float, ...]:
        """Return what is to be small: the arenas, then the cost; the other way round where the goal is met."""
        share = sum(after / max(1, before) for after, before in zip(arenas, self.origin_arenas, strict=True))
        if self.budget.goal is not None and max(arenas) <= self.budget.goal:
            return (0, macs, operators, share)
        return (1, share, macs, operators)


def _tidy(draft: Draft, choose: Chooser) -> list[Witness]:
    """Leave out what nobody names: dead operators, equal constants, unused tensors and buffers."""
    tensors = len(draft.tensors)
    witnesses = drop_dead(draft, choose) + merge_constants(draft, choose)
    unused = tensors - len(draft.model().subgraphs[0].tensors)
    return witnesses or ([Witness("the main subgraph", f"has {unused} tensors that nothing names")] if unused else [])


_FIRST_KINDS: tuple[frozenset[str] | None, ...] = (None, frozenset({CHANNELS}))


@dataclass(frozen=True, slots=True)
class PassRow:
    """A pass, as the table of docs/shrink.md has it.

    Attributes:
        name: As people read it.
        costs: What a result may cost beside the arena that it saves.
        run: Tries it on the best model so far and keeps what gains.
        needs: Whether it was asked for, or may run; None for a pass that always runs.
    """

    name: str
    costs: str
    run: Callable[[Search], object]
    needs: Callable[[Search], bool] | None = None


def _edits(name: str, costs: str, edit: Pass, needs: Callable[[Search], bool] | None = None) -> PassRow:
    """Return the row of a pass that looks at nothing but the draft."""
    return PassRow(name, costs, lambda search: search.attempt(name, edit), needs)


def _may_alter(search: Search) -> bool:
    """Return whether a layer may be computed in shares, or with other windows."""
    return not search.whole_layers


PASSES: tuple[PassRow, ...] = (
    PassRow(_RIM, "another interface", Search._cut_rim, lambda s: s.int8_io),
    _edits("prune", "nothing", _tidy),
    _edits("constant folding", "flash", fold_constants),
    _edits("PAD is SAME", "MACs for taps of 0", pad_to_same, _may_alter),
    _edits("resource variables", "nothing", states_to_variables),
    _edits("copies", "nothing", drop_copies),
    _edits("depthwise branches", "a few MACs", join_depthwise, _may_alter),
    _edits("copies", "nothing", drop_copies),
    _edits("plain slices", "nothing", plain_slices),
    _edits("prune", "nothing", _tidy),
    PassRow("kernel choice", "time: these kernels are slower", Search._choose_kernels, lambda s: s.kernel_order),
    PassRow(_ORDER, "nothing", Search._order),
    PassRow(_SPLITS, "operators, per-operator memory, MACs for stripes", Search._descend, _may_alter),
    _edits("prune", "nothing", _tidy),
    PassRow(_PLAN, "flash; a plan holds for the same outputs only", Search._plan, lambda s: s.offline_plan),
)
"""Every pass in the order in which they run. Those that occur twice find more to do after the ones between."""
