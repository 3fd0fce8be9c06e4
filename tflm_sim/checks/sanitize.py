"""``sanitize()``: AllocateTensors() under the sanitizer, then invocations on the arena, in the smallest arena."""

from __future__ import annotations

from tflm_sim.answers.measure import measure
from tflm_sim.answers.simulate import simulate_configuration
from tflm_sim.checks.npu import npu_tensors
from tflm_sim.checks.sanitizer import Sanitizer
from tflm_sim.device.configuration import Configuration
from tflm_sim.invocation.findings import Finding
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.types import Model


def sanitize(model: Model, configuration: Configuration, *, invocations: int = 10) -> tuple[Finding, ...]:
    """Return everything that is wrong with a model's memory; () for a sound one.

    Args:
        model: The model.
        configuration: How TFLM is set up, with one arena.
        invocations: How often to invoke it.

    Raises:
        SimulatedFailure: AllocateTensors() fails in an arena of any size.
        UsageError, UnsupportedOpError: As ``simulate``.
    """
    measurement = measure(model, configuration)
    if measurement.failure is not None:
        raise measurement.failure
    assert measurement.smallest is not None, "it works in one arena"
    # The recording interpreter does not align its arena, so that the sanitizer must know where it starts.
    address = configuration.target.arena_address if configuration.interpreter == "recording" else 0
    sanitizer = Sanitizer(address=address, npu=npu_tensors(model))
    simulation = simulate_configuration(
        [model], configuration, arena_size=measurement.smallest.multiple_of_16, observers=(sanitizer,)
    )
    invocation = invoke(simulation, invocations)
    # The sanitizer watches the invocations too, each of which finds the same.
    return tuple(dict.fromkeys((*sanitizer.findings, *invocation.findings)))
