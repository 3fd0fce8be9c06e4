"""``head_problem``: the buffers that the memory planner had to place in the head, as a problem for any planner.

``compare_planners`` runs planners on it, or on any other problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Unpack

from tflm_sim.answers.planned_problem import problem_of
from tflm_sim.answers.simulation import Simulation, simulation_of
from tflm_sim.device.configuration import Settings, Where
from tflm_sim.errors import UsageError, expect
from tflm_sim.model.load import ModelLike
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.by_name import DEFAULT_PLANNERS, PLANNERS, Planner
from tflm_sim.planners.compare import Comparison, compare
from tflm_sim.planners.exact import Progress
from tflm_sim.planners.problem import Problem


def head_problem(
    simulation: Simulation | ModelLike | Iterable[ModelLike],
    target: Where | None = None,
    *,
    title: str = "",
    **settings: Unpack[Settings],
) -> Problem:
    """Return the buffers of a simulation of one model, in the order in which TFLM plans them.

    Args:
        simulation: A simulation; or a model, which is simulated on ``target`` in a roomy arena.
        target: What the model runs on; None for a simulation, which has its own target.
        title: The problem's title, for people.
        settings: Settings for a model; see :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: The simulation failed.
        UsageError: The model fixes a buffer at a negative offset, which TFLM accepts and no planner can; or a model
            without a target.
    """
    expect(title, str, "title as a text")
    done = simulation_of(simulation, target, **settings).unwrap()
    return problem_of([planned.info for planned in done.buffers], title=title)


def compare_planners(
    problem: Problem | Sequence[Buffer] | Simulation | ModelLike,
    target: Where | None = None,
    *,
    names: str | Sequence[str] = DEFAULT_PLANNERS,
    planners: Mapping[str, Planner] | None = None,
    time_limit: float | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Unpack[Settings],
) -> Comparison:
    """Run memory planners on one problem and return their plans, each judged, with the largest lower bound.

    Args:
        problem: A model or a simulation, whose head is planned; or what ``head_problem()`` returns, or buffers.
        target: What a model runs on; None for everything else.
        names: One or several planners; the searches run last and divide the time that is left.
        planners: What there is, by name; None: all that come with the package.
        time_limit: Seconds for all together. None: as long as it takes, and 60 for the exact planner.
        on_progress: Called by the exact planner now and then.
        settings: Settings for a model; see :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        UsageError: An unknown planner, no problem, or a target for what is none of a model.
        SimulatedFailure: The model fails.
    """
    if isinstance(problem, Simulation | Model | str | PathLike | bytes | bytearray | memoryview):
        given: Problem | Sequence[Buffer] = head_problem(problem, target, **settings)
    elif target is not None or settings:
        raise UsageError("only a model takes a target and settings; planners are named by `names=`")
    else:
        given = problem
    known = PLANNERS if planners is None else planners
    return compare(given, names, planners=known, time_limit=time_limit, on_progress=on_progress)
