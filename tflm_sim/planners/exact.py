"""``solve``: the smallest arena for the buffers, or the proof that a capacity is too small.

Branch and bound in C (``native/exact_search.c`` says how it works). It is complete and sound: ``proved`` means that the
question is answered for certain. It is any-time: until then the best plan so far and a lower bound are known, and
``gap`` is the distance between them, *not* bytes to be won.

    lower_bound          optimum              peak
    ----|--------------------|------------------|----> bytes
        '------------------ gap ----------------'

The ideas of canonical plans, section inference and temporal decomposition are those of
Source: M. D. Moffitt, MiniMalloc (ASPLOS 2023), doi:10.1145/3623278.3624752
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tflm_sim.errors import NoPlanInTime, PlanningError, TflmSimError, UsageError
from tflm_sim.planners import best_of, native
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.deadline import Deadline
from tflm_sim.planners.validate import validate

DEFAULT_SECONDS = 60.0
_EASY_SECONDS = 0.1
"""What is not solved in so many seconds begins anew with the best plan of the quick planners."""
_QUICK_PARTS = 3
"""They get one of so many parts of the time that is left,"""
_LARGE, _LARGE_QUICK_PARTS = 2048, 1.5
"""and more of it above so many buffers, which no search holds as a whole: there hill climb helps more than windows."""

Progress = native.ExactStatus


@dataclass(frozen=True, slots=True)
class ExactResult:
    """What is known about the buffers when the search ends.

    Attributes:
        offsets: The best plan, bytes per buffer; None when there is none (``infeasible``).
        peak: Its highest end in bytes, or None. An unproved answer for a capacity may be above the capacity.
        lower_bound: Bytes; no plan has a smaller peak.
        proved: Without a capacity: no plan is smaller. With one: a plan fits, or none does.
        infeasible: No plan fits into the capacity, or the fixed buffers collide.
        nodes: Decisions that the search looked at.
        seconds: Wall time.
    """

    offsets: tuple[int, ...] | None
    peak: int | None
    lower_bound: int
    proved: bool
    infeasible: bool
    nodes: int
    seconds: float

    @property
    def gap(self) -> int | None:
        """Bytes between the plan and the lower bound; None without a plan."""
        return None if self.peak is None else self.peak - self.lower_bound

    @property
    def plan(self) -> Plan | None:
        return None if self.offsets is None or self.peak is None else Plan(self.offsets, self.peak)


def solve(
    buffers: Sequence[Buffer],
    *,
    capacity: int | None = None,
    time_limit: float | None = None,
    node_limit: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    cancel: threading.Event | None = None,
    workers: int = 1,
    start: Plan | None = None,
) -> ExactResult:
    """Find the plan with the smallest peak, or, given a capacity, any plan within it.

    Fixed offsets are kept as they are; alignments bind the other buffers. Above 2,048 buffers the best first-fit plan
    is improved window by window until the limit (without one, until 200 windows in vain); only the bound proves it.
    A KeyboardInterrupt ends the search like ``cancel`` does. Where only the time is limited and a tenth of a second was
    not enough, :mod:`~tflm_sim.planners.best_of` gets a third of the time or two, and the search goes on with its plan.

    Args:
        buffers: What to place.
        capacity: Bytes; stop at the first plan whose peak is not above.
        time_limit: Seconds of wall time after which the best plan so far is returned; None for 60, or for no limit
            where ``node_limit`` is one; ``math.inf`` for no limit.
        node_limit: The same, counted in nodes (checked every few hundred): the same answer on every machine.
        on_progress: Called about ten times a second on this thread. What it raises ends the search and is raised again.
        cancel: Set it (from another thread, or in ``on_progress``) to end the search. The quick planners do not ask for
            it: while they have their part of a ``time_limit``, only a KeyboardInterrupt ends them.
        workers: Threads; each has its own strategies.
        start: A plan that is known: the answer is no larger.

    Raises:
        NoPlanInTime: The time was over before ``start`` was judged.
        UsageError: A limit is negative, ``workers`` is below 1, ``start`` is not a plan for the buffers, or sizes add
            up to more than 2^60 bytes.
        TflmSimError: The C core was not built.
    """
    time_limit = _seconds(time_limit, node_limit)
    _check_limits(capacity=capacity, time_limit=time_limit, node_limit=node_limit, workers=workers)
    deadline = Deadline(time_limit)
    if start is not None and (faults := validate(buffers, start, deadline)):
        raise UsageError(f"no plan to start with: {faults[0].message}")
    if not native.available():
        raise TflmSimError("the exact planner needs the C extension: reinstall where a C compiler is present")

    search = partial(_search, buffers, capacity, node_limit, workers, on_progress, cancel)
    if time_limit is None or node_limit is not None or capacity is not None or start is not None:
        return search(deadline.seconds_left, start)[0]
    result, is_ended = search(min(time_limit, _EASY_SECONDS), None)
    if result.proved or is_ended or deadline.is_over:
        return result
    return _improved(result, search, buffers, deadline)


def _search(
    buffers: Sequence[Buffer],
    capacity: int | None,
    node_limit: int | None,
    workers: int,
    on_progress: Callable[[Progress], None] | None,
    cancel: threading.Event | None,
    seconds: float | None,
    start: Plan | None,
) -> tuple[ExactResult, bool]:
    """Return the answer, and whether somebody ended the search."""

    def is_cancelled() -> bool:
        return cancel is not None and cancel.is_set()

    def on_status(status: Progress) -> bool:
        if on_progress is not None:
            on_progress(status)
        return is_cancelled()

    answer, raised = native.ExactSearch(on_status).solve(
        buffers, capacity=capacity, node_limit=node_limit, time_limit=seconds, workers=workers, start=start
    )
    if raised is not None and not isinstance(raised, KeyboardInterrupt):
        raise raised
    return _result_of(answer), raised is not None or is_cancelled()


def _improved(
    result: ExactResult,
    search: Callable[[float | None, Plan | None], tuple[ExactResult, bool]],
    buffers: Sequence[Buffer],
    deadline: Deadline,
) -> ExactResult:
    """Return the answer of a search that goes on with the best plan of the quick planners, or with that of ``result``.

    A KeyboardInterrupt ends it with what is known.
    """
    begun = time.perf_counter()
    part = deadline.share(_QUICK_PARTS if len(buffers) <= _LARGE else _LARGE_QUICK_PARTS)
    try:
        quick = best_of.plan(buffers, time_limit=part.seconds_left)
    except (PlanningError, NoPlanInTime):
        quick = None
    except KeyboardInterrupt:
        return result
    best = min((plan for plan in (quick, result.plan) if plan is not None), key=lambda plan: plan.peak, default=None)
    last, _ = search(deadline.seconds_left, best)
    seconds = result.seconds + time.perf_counter() - begun
    return replace(last, nodes=result.nodes + last.nodes, seconds=seconds)


def plan(buffers: Sequence[Buffer], *, time_limit: float | None = None) -> Plan:
    """Return the smallest plan, or the best one found within ``time_limit`` seconds (None: 60).

    Raises:
        UsageError: Sizes add up to more than 2^60 bytes.
        PlanningError: The buffers collide at their fixed offsets.
        TflmSimError: The C core was not built.
    """
    best = solve(buffers, time_limit=time_limit).plan
    if best is None:
        raise PlanningError("the buffers collide at their fixed offsets")
    return best


def _result_of(answer: native.ExactAnswer) -> ExactResult:
    status = answer.status
    return ExactResult(
        offsets=None if answer.infeasible else answer.offsets,
        peak=None if answer.infeasible else status.peak,
        lower_bound=status.lower_bound,
        proved=answer.proved,
        infeasible=answer.infeasible,
        nodes=status.nodes,
        seconds=status.seconds,
    )


def _seconds(time_limit: float | None, node_limit: int | None) -> float | None:
    """Return the seconds that a search may take, None for any number."""
    if time_limit is None:
        return DEFAULT_SECONDS if node_limit is None else None
    return None if time_limit == math.inf else time_limit


def _check_limits(*, workers: int, **limits: float | None) -> None:
    for name, limit in limits.items():
        if limit is not None and not 0 <= limit < 2**63:
            raise UsageError(f"{name} {limit}: it must not be negative")
    if workers < 1:
        raise UsageError(f"{workers} workers: at least one is needed")
