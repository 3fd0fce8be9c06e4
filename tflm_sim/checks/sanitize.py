"""``sanitize()``: AllocateTensors() under the sanitizer, then invocations on the arena, in the smallest arena."""

from __future__ import annotations

from typing import Unpack

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.checks.npu import npu_tensors
from tflm_sim.checks.sanitizer import Sanitizer
from tflm_sim.device.configuration import Settings, Where, configure
from tflm_sim.invocation.findings import Finding
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.types import Model


def sanitize(
    model: Model, target: Where, *, invocations: int = 10, **settings: Unpack[Settings]
) -> tuple[Finding, ...]:
    """Return everything that is wrong with a model's memory; () for a sound one.

    Args:
        model: The model.
        target: What it runs on, with one arena: a name, a target, or a configuration.
        invocations: How often to invoke it.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails in an arena of any size.
        UsageError, UnsupportedOpError: As ``simulate``.
    """
    configuration = configure(target, **settings)
    size = smallest_arena(model, configuration).multiple_of_16
    # The recording interpreter does not align its arena, so that the sanitizer must know where it starts.
    address = configuration.target.arena_address if configuration.interpreter == "recording" else 0
    sanitizer = Sanitizer(address=address, npu=npu_tensors(model))
    simulation = simulate(model, configuration, arena_size=size, observers=(sanitizer,))
    invocation = invoke(simulation, invocations)
    # The sanitizer watches the invocations too, each of which finds the same.
    return tuple(dict.fromkeys((*sanitizer.findings, *invocation.findings)))
