"""How large is the arena of a rewritten model on every target? The function that the search minimises.

With an aim (``extension_points.Aim``) the search minimises what that counts, in the place of the arena.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.sizing import Sizer, Sizing
from tflm_sim.answers.smallest_arena import SmallestArena, SplitArenaSizes
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import TflmSimError
from tflm_sim.extension_points import Aim
from tflm_sim.model.types import Model
from tflm_sim.targets.kernel_library import KernelLibrary

Measured = Simulation | Sizing
"""A model on a target, allocated: where its buffers lie, and when they are alive."""


def smallest(measured: Measured) -> SmallestArena | SplitArenaSizes:
    """Return the smallest arena of a model that works, or the smallest pair of arenas."""
    pair = measured.split if isinstance(measured, Simulation) else None
    found = measured.smallest or pair
    assert found is not None, "only where it fails there is none"
    return found


@dataclass(slots=True)
class TargetSizer:
    """Sizes models on the targets (mutable: it counts, and remembers what operators ask for).

    Attributes:
        configurations: One a target.
        aim: What is minimised; None for the smallest arena.
        runs: How many simulations there were.
    """

    configurations: Sequence[Configuration]
    aim: Aim | None = None
    runs: int = 0
    _sizer: Sizer = field(default_factory=Sizer, init=False, repr=False, compare=False)

    @property
    def libraries(self) -> list[KernelLibrary]:
        """Whose kernels run, a target each."""
        return [configuration.target.kernel_library for configuration in self.configurations]

    def simulate(self, model: Model, index: int = 0) -> Simulation:
        """Return all that one target says of a model, event by event.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
        """
        self.runs += 1
        return simulate(model, self.configurations[index]).unwrap()

    def measure(self, model: Model, index: int = 0) -> Measured:
        """Return what one target needs for a model, and its plan: sooner than ``simulate``, without the events.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
        """
        if self.configurations[index].split_arenas:
            return self.simulate(model, index)  # A Sizer sizes one arena.
        self.runs += 1
        found = self._sizer.sizing(model, self.configurations[index])
        if found.failure is not None:
            raise found.failure
        return found

    def measure_all(self, model: Model) -> list[Measured]:
        """Return what each target needs for a model.

        Raises:
            SimulatedFailure: AllocateTensors() fails on one of them.
        """
        return [self.measure(model, index) for index in range(len(self.configurations))]

    def arena(self, model: Model, index: int = 0) -> int:
        """Return the smallest arena on one target in bytes, of both where there are two.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
        """
        return smallest(self.measure(model, index)).size

    def size(self, model: Model, index: int) -> int:
        """Return what is minimised on one target: the smallest arena in bytes, or what the aim counts.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
        """
        if self.aim is None:
            return self.arena(model, index)
        self.runs += 1
        return self.aim.cost(model, self.configurations[index])

    def arenas(self, model: Model) -> tuple[int, ...] | None:
        """Return what is minimised on each target, None where it fails on one of them."""
        try:
            return tuple(self.size(model, index) for index in range(len(self.configurations)))
        except TflmSimError:
            return None

    def said(self, size: int) -> str:
        return f"{size:,} B" if self.aim is None else self.aim.said(size)


def gains(after: Sequence[int], before: Sequence[int]) -> bool:
    """Return whether no target needs more and one needs less."""
    return all(a <= b for a, b in zip(after, before, strict=True)) and tuple(after) != tuple(before)


def grows(after: Sequence[int], before: Sequence[int]) -> bool:
    """Return whether any target needs more."""
    return any(a > b for a, b in zip(after, before, strict=True))
