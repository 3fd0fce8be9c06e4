"""``head_problem``: the buffers that the memory planner had to place in the head, as a problem for any planner."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from tflm_sim.answers.planned_problem import problem_of
from tflm_sim.answers.simulation import Simulation, simulation_of
from tflm_sim.device.configuration import Settings, Where
from tflm_sim.model.load import ModelLike
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
    done = simulation_of(simulation, target, **settings).unwrap()
    return problem_of([planned.info for planned in done.buffers], title=title)
