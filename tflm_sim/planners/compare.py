"""``compare``: run several planners on one problem and say how far each is from the best bound that is known.

The distance to the lower bound is a distance, *not* bytes to be won: the bound may be out of reach for any plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tflm_sim.errors import NoPlanInTime, TflmSimError, each_of, expect
from tflm_sim.escape import html_table
from tflm_sim.planners import exact
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.by_name import DEFAULT_PLANNERS, EXACT, PLANNERS, Planner, planner
from tflm_sim.planners.deadline import Deadline, out_of_time
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.problem import Problem
from tflm_sim.planners.validate import PlanFault, validate
from tflm_sim.short_repr import short_repr
from tflm_sim.units import format_time

_QUICK_SHARE = 4

VALIDATION_SECONDS = 1.0
"""How long after the limit a plan may still be judged."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one planner did.

    Attributes:
        planner: Its name.
        plan: Its plan, or None when it refused.
        seconds: Wall time.
        lower_bound: The bytes that it proved to be necessary; 0 for all but the exact planner.
        findings: What is wrong with the plan; only buffers that collide at their fixed offsets give any.
        refusal: Why there is no plan, or "".
    """

    planner: str
    plan: Plan | None
    seconds: float
    lower_bound: int = 0
    findings: tuple[PlanFault, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Outcomes on one problem, and the largest lower bound (bytes) that any of them, or the live bytes, give."""

    lower_bound: int
    outcomes: tuple[Outcome, ...]

    __repr__ = short_repr

    @property
    def best(self) -> Outcome | None:
        """The first outcome with the smallest peak among the valid plans, or None."""
        valid = [outcome for outcome in self.outcomes if self.distance(outcome) is not None]
        return min(valid, key=_peak, default=None)

    @property
    def best_plan(self) -> Plan | None:
        """The plan of the best outcome."""
        return None if self.best is None else self.best.plan

    def distance(self, outcome: Outcome) -> int | None:
        """Return the bytes between an outcome's peak and the lower bound, None without a valid plan."""
        return None if outcome.plan is None or outcome.findings else outcome.plan.peak - self.lower_bound

    def is_proved_optimal(self, outcome: Outcome) -> bool:
        """Return whether no plan can be smaller."""
        return self.distance(outcome) == 0

    def _repr_html_(self) -> str:
        """For notebooks: a row a planner."""
        rows = [(outcome.planner, *self._cells(outcome), format_time(outcome.seconds)) for outcome in self.outcomes]
        head = ("planner", "peak", "above the bound", "proved optimal", "time")
        return html_table(f"lower bound {self.lower_bound:,} B", rows, head=head)

    def _cells(self, outcome: Outcome) -> tuple[str, str, str]:
        distance = self.distance(outcome)
        if outcome.plan is None or distance is None:
            wrong = outcome.refusal or "; ".join(finding.message for finding in outcome.findings)
            return f"{outcome.plan.peak:,} B" if outcome.plan else "-", "-", wrong
        return f"{outcome.plan.peak:,} B", f"{distance:,} B", "yes" if self.is_proved_optimal(outcome) else "no"


_PLANNERS = "planners by name, as a dictionary,"


def _peak(outcome: Outcome) -> int:
    assert outcome.plan is not None, "only outcomes with a plan are compared"
    return outcome.plan.peak


def compare(
    problem: Problem | Sequence[Buffer],
    names: str | Sequence[str] = DEFAULT_PLANNERS,
    *,
    planners: Mapping[str, Planner] = PLANNERS,
    time_limit: float | None = None,
    on_progress: Callable[[exact.Progress], None] | None = None,
) -> Comparison:
    """Run the named planners one after the other, the searches last. A KeyboardInterrupt ends the one that runs.

    Those that are no searches share half of the time where there are searches too, each at most a quarter of what is
    left; the searches divide the rest, the exact planner the last. It begins with the best plan of those before it.

    Args:
        problem: What ``head_problem()`` returns, or buffers.
        names: One or several keys of ``planners``.
        planners: What there is, by name.
        time_limit: Seconds for all of them together; a search returns its best plan when its part is over, another
            planner has none then. Judging their plans counts, and takes ``VALIDATION_SECONDS`` more at most. None: as
            long as it takes, and 60 seconds for the exact planner.
        on_progress: Called by the exact planner now and then.

    Raises:
        UsageError: An unknown planner, or no problem.
    """
    buffers = _buffers(problem)
    names = [names] if isinstance(names, str) else each_of(names, str, "the names of planners")
    each_of(expect(planners, Mapping, _PLANNERS), str, _PLANNERS)
    chosen = {name: planner(name, planners) for name in names}
    deadline = Deadline(time_limit)
    judging = Deadline(None if time_limit is None else float(time_limit) + VALIDATION_SECONDS)
    quick = deadline.share(2) if any(place.is_search for place in chosen.values()) else deadline
    turns = sorted(chosen.values(), key=lambda place: (place.is_search, place.name == EXACT))
    done = Comparison(lower_bound(buffers), ())
    for place in () if deadline.is_over else turns:  # What a first call loads is no planner's time.
        _run((), place, Deadline(1), Deadline(1), None, None)
    for index, place in enumerate(turns):
        part = deadline.share(len(turns) - index) if place.is_search else quick.share(_QUICK_SHARE)
        outcome = _run(buffers, place, part, judging, done.best_plan, on_progress)
        done = Comparison(max(done.lower_bound, outcome.lower_bound), (*done.outcomes, outcome))
    by_name = {outcome.planner: outcome for outcome in done.outcomes}
    return replace(done, outcomes=tuple(by_name[name] for name in names))


def _buffers(problem: Problem | Sequence[Buffer]) -> Sequence[Buffer]:
    """Return the buffers to place; refuse what is neither a problem nor buffers."""
    if isinstance(problem, Problem):
        return problem.buffers
    rows = problem if isinstance(problem, list | tuple) else [problem]
    return each_of(rows, Buffer, "a problem (head_problem(model, target) returns one) or a list of buffers")


def _run(
    buffers: Sequence[Buffer],
    place: Planner,
    part: Deadline,
    judging: Deadline,
    best: Plan | None,
    on_progress: Callable[[exact.Progress], None] | None,
) -> Outcome:
    start = time.perf_counter()
    bound, plan, refusal = 0, None, ""
    try:
        if part.is_over:
            raise out_of_time()
        if place.name == EXACT:
            result = exact.solve(buffers, time_limit=part.seconds_left, start=best, on_progress=on_progress)
            bound, plan = result.lower_bound, result.plan
            refusal = "buffers collide at their fixed offsets" if result.infeasible else ""
        else:
            plan = place(buffers, time_limit=part.seconds_left)
    except TflmSimError as error:
        refusal = str(error)
    except KeyboardInterrupt:
        refusal = "interrupted"
    seconds = time.perf_counter() - start
    findings: tuple[PlanFault, ...] = ()
    try:
        findings = () if plan is None else tuple(validate(buffers, plan, judging))
    except NoPlanInTime:
        plan, refusal = None, "the time was over before its plan was judged"
    return Outcome(place.name, plan, seconds, bound, findings, refusal)
