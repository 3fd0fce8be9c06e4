"""``Search``: a model on its way down; a candidate is kept only if no target needs more than before and one needs less.

    origin -> a pass proposes an edit -> simulated on every target -> kept, or rejected with its reason -> the next pass

TFLM's greedy planner is not monotonous: a smaller model can need a larger arena. Nothing is believed, everything is
simulated; a pass that does not pay as a whole is tried edit by edit. ``pass_table`` says which passes there are; two of
them look at many candidates, ``descent`` and ``plan_search``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from tflm_sim.errors import ModelError
from tflm_sim.extensions.shrink.bound import bound
from tflm_sim.extensions.shrink.budget import Allowance, Budget
from tflm_sim.extensions.shrink.contracts import COPY, IN_PLACE, OVERLAP
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.passes import Chooser, Pass
from tflm_sim.extensions.shrink.profile import Profile, profile
from tflm_sim.extensions.shrink.refusal import VerificationFailed
from tflm_sim.extensions.shrink.shrunk import Bound, Edit, Kept, Rejected
from tflm_sim.extensions.shrink.stopping import StoppedError, Stopping
from tflm_sim.extensions.shrink.target_sizer import TargetSizer, gains, grows
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model

ORDER, SPLITS, PLAN = "operator order", "splits", "offline plan"
"""Passes behind which the model's tensors are others, or lie elsewhere."""
MAX_SINGLE_EDITS = 24
"""Edits that are tried one by one when a pass does not pay as a whole."""

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PassRow:
    """A pass: a row of the table in docs/shrink.md. It has either ``edit`` or ``run``.

    Attributes:
        name: The name for people.
        costs: What a result may cost besides the arena that it saves.
        edit: A function that edits a draft; the search simulates the edits and keeps those that gain.
        run: A function that searches by itself, from the best model so far, and keeps what gains.
        needs: Returns whether the pass may run; None for a pass that always runs.
    """

    name: str
    costs: str
    edit: Pass | None = None
    run: Callable[[Search], object] | None = None
    needs: Callable[[Search], bool] | None = None


@dataclass(frozen=True, slots=True)
class Detour:
    """Steps that do not gain without an offline plan, but may gain with one.

    Attributes:
        estimate: The estimated bytes of arena without a plan.
        steps: All steps from the original model on.
        has_loop: Whether tiles run in a loop.
    """

    estimate: int
    steps: list[Kept]
    has_loop: bool


@dataclass(frozen=True, slots=True)
class SearchState:
    """The state of a search at a moment."""

    rank: tuple[float, ...]
    model: Model
    arenas: tuple[int, ...]
    steps: tuple[Kept, ...]


@dataclass(slots=True)
class Search:
    """A model on its way down (mutable).

    Attributes:
        model: The best so far.
        arenas: Its smallest arena on each target, or what the sizer's aim counts there.
        steps: What was kept, in order.
        rejected: What was tried in vain.
        allowance: What each candidate may cost.
        detours: Steps that were simulated and not kept, which the pass "offline plan" tries again.
        stopped: Why the search ended early; "" where it did not.
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
    detours: list[Detour] = field(init=False, default_factory=list)
    steps: list[Kept] = field(init=False, default_factory=list)
    rejected: list[Rejected] = field(init=False, default_factory=list)
    allowance: Allowance = field(init=False)
    _best: SearchState | None = field(init=False, default=None)
    _reported: int = field(init=False)

    def __post_init__(self) -> None:
        self.model = self.origin
        self.arenas = tuple(self.sizer.size(self.origin, index) for index in range(len(self.sizer.configurations)))
        self.origin_arenas = self.arenas
        self._reported = max(self.arenas)
        self.allowance = Allowance(self.budget, self.origin)
        if self.replan:
            self._drop_plan()

    def _drop_plan(self) -> None:
        """Search without the model's own plan; the result must still be smaller than the model with that plan."""
        self.model = self.unplanned()
        arenas = self.sizer.arenas(self.model)
        if arenas is None:
            raise ModelError("without its offline plan TFLM refuses the model", path=self.origin.path)
        self.arenas = arenas
        what = Edit("the metadata", "loses its OfflineMemoryAllocation")
        self.steps.append(Kept("old plan", arenas, self.allowance.macs, (what,), self.model))

    def unplanned(self) -> Model:
        """Return the original without a plan of its own."""
        draft = Draft(self.origin)
        draft.set_metadata(OFFLINE_MEMORY_ALLOCATION, None)
        return draft.model()

    @property
    def is_done(self) -> bool:
        """Whether the goal is met on every target."""
        return self.budget.goal is not None and max(self.arenas) <= self.budget.goal

    def run(self, rows: Iterable[PassRow]) -> None:
        """Search until nothing gains, the goal is met, or it is stopped: then the best so far is the answer."""
        self._note()
        with self.stopping.noting_interrupts():
            try:
                for row in self.stopping.watch(rows):
                    if not self.is_done and (row.needs is None or row.needs(self)):
                        self._try(row)
            except StoppedError:
                self.stopped = self.stopping.reason
                self.rejected.append(Rejected("what was still to be tried", self.stopped))
                assert self._best is not None, "where it began is noted"
                self.restore(self._best)
        if grows(self.arenas, self.origin_arenas):
            self.rejected.append(Rejected("all of it", "the model's own plan is better", self.arenas))
            self.model, self.arenas, self.steps = self.origin, self.origin_arenas, []

    def _try(self, row: PassRow) -> None:
        """Run a pass; an edit that cannot be proved to be safe is undone."""
        self.say(row.name)
        try:
            if row.edit is not None:
                self.attempt(row.name, row.edit)
            if row.run is not None:
                row.run(self)
        except VerificationFailed as failure:
            reason = str(failure).removeprefix("refused: ").removesuffix("; nothing is written")
            self.rejected.append(Rejected(row.name, reason))

    def say(self, what: str) -> None:
        """Report what is tried now, and the best so far, also while the search has begun again from the start."""
        self._reported = min(self._reported, max(self.arenas))
        self.progress(f"{what}: {self.sizer.said(self._reported)} so far")

    def state(self) -> SearchState:
        macs = self.steps[-1].macs if self.steps else self.allowance.macs
        return SearchState(self.rank(self.arenas, macs, self.model), self.model, self.arenas, tuple(self.steps))

    def _note(self) -> None:
        """Store the present state if it is the best so far."""
        state = self.state()
        if self._best is None or state.rank < self._best.rank:
            self._best = state

    def restore(self, state: SearchState) -> None:
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
            what = Edit("the main subgraph", f"loses the names of {len(named)} tensors")
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
        found, is_kept = self._attempt(name, edit, Chooser())
        if is_kept or found <= 1:
            return is_kept
        kept = index = 0
        for _ in self.stopping.watch(range(min(found, MAX_SINGLE_EDITS))):
            made, is_kept = self._attempt(name, edit, Chooser(only=index))
            if not made:
                break
            kept += is_kept
            index += not is_kept
        return kept > 0

    def _attempt(self, name: str, edit: Pass, choose: Chooser) -> tuple[int, bool]:
        """Return how many edits a pass makes, and whether they are kept."""
        draft = Draft(self.model)
        edits = edit(draft, choose)
        candidate = draft.model() if edits else self.model
        return len(edits), bool(edits) and self.keep(name, candidate, self.sizer.arenas(candidate), edits)

    def keep(self, name: str, candidate: Model, arenas: tuple[int, ...] | None, edits: Sequence[Edit]) -> bool:
        """Make a candidate the best model if it gains and keeps the limits; say why not otherwise."""
        macs = draft_multiplications(Draft(candidate))
        reason = self.objection(candidate, arenas, macs)
        if reason is not None or arenas is None:
            self.rejected.append(Rejected(name, reason or "", arenas))
            return False
        self.adopt(Kept(name, arenas, macs, tuple(edits), candidate))
        return True

    def adopt(self, step: Kept) -> None:
        """Make what a step leads to the best model."""
        self.model, self.arenas = step.model, step.arenas
        self.steps.append(step)
        self._note()

    def objection(self, candidate: Model, arenas: tuple[int, ...] | None, macs: int) -> str | None:
        if arenas is None:
            return "TFLM refuses the rewritten model on a target"
        if not gains(arenas, self.arenas):
            return self._growth(arenas) or "no target gains"
        return self.allowance.objection(candidate, macs)

    def _growth(self, arenas: tuple[int, ...]) -> str:
        """Return which targets would need more, and how much."""
        rows = zip(self.sizer.configurations, arenas, self.arenas, strict=True)
        return ", ".join(
            f"{each.target.name} grows by {after - before:,} B" for each, after, before in rows if after > before
        )

    def rank(self, arenas: tuple[int, ...], macs: int, model: Model) -> tuple[float, ...]:
        """Return the key to minimise: the arenas, then the cost; where the goal is met, the cost first."""
        operators = len(model.subgraphs[0].operators)
        share = sum(after / max(1, before) for after, before in zip(arenas, self.origin_arenas, strict=True))
        if self.budget.goal is not None and max(arenas) <= self.budget.goal:
            return (0, macs, operators, share)
        return (1, share, macs, operators)

    def profile(self, draft: Draft) -> Profile:
        """Return the profile of a draft of the present model, on the first target."""
        return profile(draft, self.sizer.simulate(self.model))

    def bound(self) -> Bound:
        """Return the bound on the first target, of the model as it is before it is split, ordered and planned."""
        whole = takewhile(lambda step: step.name not in (ORDER, SPLITS, PLAN), self.steps)
        simplified = [self.origin, *(step.model for step in whole)][-1]
        kinds = [COPY, IN_PLACE] * self.offline_plan + [OVERLAP] * self.kernel_order
        draft = Draft(simplified)
        facts = profile(draft, self.sizer.simulate(simplified))
        found = bound(draft, facts, self.sizer.libraries, kinds)
        return replace(found, tail=min(found.tail, self.sizer.simulate(self.model).tail_bytes))
