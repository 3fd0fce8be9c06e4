"""Sizes of a rewritten model on every target: the function that the search minimises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tflm_sim.answers.measure import Measurement, measure
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model


@dataclass(slots=True)
class Sizer:
    """Sizes models on the targets (mutable: it counts).

    Attributes:
        configurations: One a target.
        runs: How many simulations there were.
    """

    configurations: Sequence[Configuration]
    runs: int = 0

    def measure(self, model: Model, index: int = 0) -> Measurement:
        """Return all that one target says of a model.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
        """
        self.runs += 1
        measurement = measure(model, self.configurations[index])
        if measurement.failure is not None:
            raise measurement.failure
        return measurement

    def arenas(self, model: Model) -> tuple[int, ...] | None:
        """Return the smallest arena on each target in bytes, None where it fails on one of them."""
        sizes: list[int] = []
        for index in range(len(self.configurations)):
            try:
                smallest = self.measure(model, index).smallest
            except TflmSimError:
                return None
            if smallest is None:
                return None
            sizes.append(smallest.size)
        return tuple(sizes)


def gains(after: Sequence[int], before: Sequence[int]) -> bool:
    """Return whether no target needs more and one needs less."""
    return all(a <= b for a, b in zip(after, before, strict=True)) and tuple(after) != tuple(before)
