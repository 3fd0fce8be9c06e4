"""``stream()``: a model that takes the new frames of its window only, with the same outputs, and what that costs.

Which operators run on new rows only (``stream_rows``) and how old rows are kept (``stream_rewrite``) is searched for by
sizing each candidate. The one that is kept is compared with the window as expressions (``stream_verify``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, prod

from tflm_sim.device.configuration import Where, configure_each
from tflm_sim.errors import ModelError, TflmSimError, UsageError, each_of, expect, whole_number
from tflm_sim.extensions.shrink.budget import Allowance, Budget, operator_names
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications, element_size
from tflm_sim.extensions.shrink.prove import has_state, prove
from tflm_sim.extensions.shrink.shrink import (
    adds_by_shape,
    cost_of,
    proof_numbers,
    refuse_unshrinkable,
    stopping_after,
    target_gains,
)
from tflm_sim.extensions.shrink.stopping import Stopping
from tflm_sim.extensions.shrink.stream_rewrite import Keep, NotRunnable, Ring, StreamPlan, streamed
from tflm_sim.extensions.shrink.stream_rows import Moving, moving
from tflm_sim.extensions.shrink.stream_verify import start_up
from tflm_sim.extensions.shrink.streamed import KeptRows, Streamed
from tflm_sim.extensions.shrink.symbolic import operator_name
from tflm_sim.extensions.shrink.target_sizer import TargetSizer, gains
from tflm_sim.extensions.shrink.verify import verify
from tflm_sim.extensions.shrink.windows import time_stride, window_of
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.load import ModelLike, load, parse
from tflm_sim.model.operator_facts import STATEFUL
from tflm_sim.model.types import Model
from tflm_sim.sizes import as_size

RAM, MACS = "ram", "macs"
AIMS = (RAM, MACS)
"""What a stream is for: the smallest arena, which must be smaller than the window's, or the fewest multiplications."""
MAX_CANDIDATES = 1500
"""That are sized."""
BEST_CUTS = 4
"""From which the search goes on to keep single tensors in other ways."""


class NotStreamed(TflmSimError):
    """Streaming wins nothing of what was asked for; nothing is written."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A plan, with what it gives."""

    plan: StreamPlan
    model: Model = field(repr=False)
    rings: dict[int, Ring]
    arenas: tuple[int, ...]
    macs: int


def stream(
    model: ModelLike,
    step: int,
    targets: Where | Iterable[Where] = ("cortex-m4",),
    *,
    axis: int | None = None,
    aim: str = RAM,
    goal: int | str | None = None,
    operators: Iterable[str] | None = None,
    replan: bool = False,
    force_float: bool = False,
    time_limit: float | None = None,
    prove_runs: int | None = None,
    prove_program: str | os.PathLike[str] | None = None,
    into: int = 0,
    progress: Callable[[str], object] | None = None,
) -> Streamed:
    """Rewrite a model that is invoked every few frames on a window of them, so that it takes the new frames only.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``, with one input.
        step: Frames between two invocations, at least 1 and fewer than the window has.
        targets: One or several, as for :func:`~tflm_sim.extensions.shrink.shrink.shrink`.
        axis: The axis of the window along which the frames lie; None for the only possible one.
        aim: "ram" for the smallest arena, which must grow on no target; "macs" for the fewest multiply-accumulates.
        goal: Bytes of arena, or text ("64KiB"), that must be enough on every target.
        operators: Operators that may be needed in addition ("SLICE", ...); None for any.
        replan, force_float, time_limit: As for :func:`~tflm_sim.extensions.shrink.shrink.shrink`.
        prove_runs: Run both in the real TFLM, on so many windows of noise and the extreme ones; None for no run.
        prove_program, into: The linked program that runs both instead.
        progress: Called with what is being tried.

    Raises:
        UsageError: An argument has no meaning.
        ModelError: The model cannot be rewritten, or cannot be proved.
        NotStreamed: Nothing is won; the sentence says why.
        SimulatedFailure: The model fails on a target as it is.
        ProofFailed: The result does not do the same in the real TFLM: a bug of ours, and nothing to be used.
    """
    model, configurations = load(model), configure_each(targets)
    prove_runs, into = proof_numbers(prove_runs, into)
    step = expect(step, int, "a step in frames")
    axis = None if axis is None else whole_number(axis, "axis", 0, 2**31 - 1)
    replan, force_float = (
        expect(given, bool, f"{name} as a truth value")
        for name, given in (("replan", replan), ("force_float", force_float))
    )
    if expect(aim, str, "aim as a text") not in AIMS:
        raise UsageError(f"`aim={aim}`: a stream is for one of: {', '.join(AIMS)}")
    chosen = dict.fromkeys(("offline_plan", "kernel_order", "loops"), False)
    refuse_unshrinkable(model, configurations, {**chosen, "replan": replan, "force_float": force_float})
    if adds_by_shape(configurations) and not force_float:
        raise ModelError(
            "the MVP's kernels add in floating point, in an order that a layer's shape decides, so that new rows alone "
            "may be other numbers; `force_float=True` rewrites it all the same",
            path=model.path,
        )
    _refuse_states(model)
    sizer = TargetSizer(configurations)
    before = tuple(sizer.arena(model, index) for index in range(len(configurations)))
    layout, axis = window_of(model, step, axis)
    may_need = None if operators is None else frozenset(each_of(operators, str, "the names of operators"))
    allowance = Allowance(Budget(as_size(goal, "goal"), inf, None, may_need), model)
    facts = moving(Draft(model), axis, step)
    stopping = stopping_after(time_limit)
    search = _Search(model, facts, sizer, allowance, aim, before, stopping, progress or (lambda _: None))
    with stopping.noting_interrupts():
        best = search.found()
    data = allowance.appended.behind(encode(best.model))
    written = replace(parse(data), path=model.path)
    search.progress("verifying")
    verified = verify(model, written, configurations, stream=step, axis=axis)
    source = model.subgraphs[0].tensors[model.subgraphs[0].input_tensors[0]]
    result = Streamed(
        data=data,
        model=written,
        origin=model,
        window_shape=tuple(layout),
        axis=axis,
        step=step,
        input_shape=written.subgraphs[0].tensors[written.subgraphs[0].input_tensors[0]].dims,
        frame_bytes=prod(source.dims) // layout[axis] * element_size(Draft(model), model.subgraphs[0].input_tensors[0]),
        aim=aim,
        gains=target_gains(search.sizer, model, written),
        before=cost_of(Draft(model), len(model.source)),
        after=cost_of(Draft(written), len(data)),
        start_up=start_up(layout[axis], step),
        operators=tuple(sorted(best.plan.operators)),
        ends=tuple(_ends(model, search.facts, best.plan)),
        rings=tuple(_rings(model, best)),
        extra_operators=tuple(sorted(operator_names(written) - operator_names(model))),
        simulations=search.sizer.runs,
        stopped=stopping.reason,
        verified=str(verified),
    )
    if prove_runs is None:
        return result
    search.progress("proving")
    if prove_program is None:
        return replace(result, proof=prove(model, data, written, prove_runs, result.how))
    from tflm_sim.extensions.shrink.prove_program import prove_in_program  # the page has no emulator

    proof = prove_in_program(model, written, prove_runs, prove_program, into, result.how)
    return replace(result, program_proof=proof)


def _refuse_states(model: Model) -> None:
    """Refuse a model that keeps a state: it streams already, or nobody knows what its operators keep.

    Raises:
        ModelError: It does.
    """
    if not has_state(model):
        return
    draft = Draft(model)
    for number, operator in enumerate(draft.operators):
        name = operator_name(model, operator)
        if draft.name(operator) == "CUSTOM":
            raise ModelError(f"#{number} {name} is not known here: it may keep a state", path=model.path)
        if any(draft.tensors[t].is_variable for t in operator.input_tensors if t >= 0) or name in STATEFUL:
            raise ModelError(
                f"#{number} {name} keeps a state from one invocation to the next: the model streams already",
                path=model.path,
            )
    raise ModelError("a variable tensor keeps a state: the model streams already", path=model.path)


@dataclass(slots=True)
class _Search:
    """Looks for the plan that gives most of what is asked for (mutable: it remembers what it sized)."""

    origin: Model
    facts: Moving
    sizer: TargetSizer
    allowance: Allowance
    aim: str
    before: tuple[int, ...]
    stopping: Stopping
    progress: Callable[[str], object]
    sized: dict[StreamPlan, _Candidate | None] = field(default_factory=dict)

    def found(self) -> _Candidate:
        """Return the best candidate.

        Raises:
            NotStreamed: None is worth it.
        """
        candidates = [each for each in map(self._candidate, self._uniform()) if each is not None]
        if not candidates:
            raise NotStreamed(f"nothing is won: {self._why_nothing()}")
        best = self._best(candidates)
        self._refuse_loss(best, candidates)
        return best

    def _best(self, candidates: Sequence[_Candidate]) -> _Candidate:
        return min((self._improved(each) for each in self._beginnings(candidates)), key=self._worth)

    def _uniform(self) -> Iterator[StreamPlan]:
        """Yield the plans that keep all old rows in one way: each cut, each way."""
        order, ways = sorted(self.facts.rules), (Keep.OLD, Keep.WHOLE, Keep.RESOURCE)
        for count in range(1, len(order) + 1):
            for keep, is_padded, lasting in product(ways, (True, False), (frozenset(), frozenset(self.facts.rows))):
                yield StreamPlan(frozenset(order[:count]), keep, (), is_padded, lasting)

    def _beginnings(self, candidates: Sequence[_Candidate]) -> Iterator[_Candidate]:
        """Yield the best candidate of each of the best cuts."""
        cuts: dict[frozenset[int], _Candidate] = {}
        for each in sorted(candidates, key=self._worth):
            cuts.setdefault(each.plan.operators, each)
        yield from list(cuts.values())[:BEST_CUTS]

    def _improved(self, best: _Candidate) -> _Candidate:
        """Keep the rows of single tensors in another way as long as that is worth anything."""
        has_gained = True
        while has_gained:
            has_gained = False
            for tensor, keep in product(sorted(self.facts.rows), (*Keep, None)):
                plan = best.plan
                if keep is plan.kept(tensor) or (tensor == self.facts.source and keep in (Keep.AGAIN, None)):
                    continue
                if keep is None:
                    changed = replace(plan, lasting=plan.lasting ^ {tensor})
                else:
                    others = [*(one for one in plan.others if one[0] != tensor), (tensor, keep)]
                    changed = replace(plan, others=tuple(sorted(others, key=str)))
                other = self._candidate(changed)
                if other is not None and self._worth(other) < self._worth(best):
                    best, has_gained = other, True
        return best

    def _worth(self, candidate: _Candidate) -> tuple[int, ...]:
        """Return what is to be least; resource variables, which the firmware has to create, are the last choice."""
        ways = [ring.keep for ring in candidate.rings.values()]
        over = sum(max(0, now - self._limit(at)) for at, now in enumerate(candidate.arenas))
        arena, last = sum(candidate.arenas), (ways.count(Keep.RESOURCE), len(candidate.plan.operators))
        return (over, candidate.macs, arena, *last) if self.aim == MACS else (over, arena, candidate.macs, *last)

    def _limit(self, at: int) -> int:
        """Return the bytes that a target's arena may have at most."""
        goal = self.allowance.budget.goal
        own = [] if self.aim == MACS else [self.before[at]]
        return min([*own, *([] if goal is None else [goal])], default=1 << 62)

    def _candidate(self, plan: StreamPlan) -> _Candidate | None:
        """Return what a plan gives; None where TFLM does not run it, or it may not be."""
        if plan not in self.sized:
            if self.sized and (self.stopping.reason or len(self.sized) >= MAX_CANDIDATES):
                return None
            self.progress(f"streaming {len(plan.operators)} operators, {len(self.sized)} candidates")
            self.sized[plan] = self._new(plan)
        return self.sized[plan]

    def _new(self, plan: StreamPlan) -> _Candidate | None:
        try:
            model, rings = streamed(self.origin, self.facts, plan)
        except NotRunnable:
            return None
        macs, arenas = draft_multiplications(Draft(model)), self.sizer.arenas(model)
        if arenas is None or self.allowance.objection(model, macs) is not None:
            return None
        return _Candidate(plan, model, rings, arenas, macs)

    def _why_nothing(self) -> str:
        """Say where streaming ends before it has begun."""
        if self.facts.rules:
            return "no rewriting of it is allocated, or needs no more operators than it may"
        ends = "; ".join(_ends(self.origin, self.facts, StreamPlan(frozenset())))
        return (ends or "no operator reads the window") + self._of_strides()

    def _of_strides(self) -> str:
        """Return what to do where the step is no multiple of the model's stride, "" where it is one."""
        stride, step = time_stride(Draft(self.origin)), self.facts.rows[self.facts.source].step
        return f"; its strides make a row of {stride} frames, so S should be a multiple of {stride}" * (
            step % stride > 0
        )

    def _refuse_loss(self, best: _Candidate, candidates: Sequence[_Candidate]) -> None:
        """Refuse a candidate that is not worth what was asked for."""
        goal, macs = self.allowance.budget.goal, draft_multiplications(Draft(self.origin))
        has_grown = self.aim == RAM and not gains(best.arenas, self.before)
        if goal is not None and max(best.arenas) > goal and not has_grown:
            raise NotStreamed(
                f"no stream needs {goal:,} B or less: the smallest that was found needs {max(best.arenas):,} B"
            )
        if self.aim == MACS and best.macs >= macs:
            costs = f"a step takes {best.macs:,} multiply-accumulates, the window {macs:,}"
            raise NotStreamed(f"nothing is won: {costs}{self._of_strides()}")
        if not has_grown:
            return
        targets = [configuration.target.name for configuration in self.sizer.configurations]
        rows = dict.fromkeys(zip(targets, self.before, best.arenas, strict=True))
        sizes = ", ".join(f"{was:,} B -> {now:,} B on {target}" for target, was, now in rows)
        self.aim = MACS
        fewest = self._best(candidates)
        other = f". --for macs takes that for fewer multiply-accumulates: {max(fewest.arenas):,} B, and "
        other = f"{other}{fewest.macs:,} a step instead of {macs:,}" if fewest.macs < macs else ""
        raise NotStreamed(f"the arena would not become smaller ({sizes}){self._of_strides()}{other}")


def _ends(model: Model, facts: Moving, plan: StreamPlan) -> Iterator[str]:
    """Yield the operators that read what moves on and run on all of it, with the reason."""
    main = model.subgraphs[0]
    made = {facts.source, *(main.operators[number].output_tensors[0] for number in plan.operators)}
    for number, operator in enumerate(main.operators):
        if number in plan.operators or number in facts.views or not made.intersection(operator.input_tensors):
            continue
        reason = facts.ends.get(number, "more would be lost than won behind it")
        yield f"#{number} {operator_name(model, operator)}: {reason}"


def _rings(model: Model, best: _Candidate) -> Iterator[KeptRows]:
    draft = Draft(model)
    for tensor, ring in sorted(best.rings.items()):
        size = ring.rows * ring.elements * element_size(draft, tensor)
        yield KeptRows(draft.tensors[tensor].name or str(tensor), ring.rows, size, ring.keep.value)
