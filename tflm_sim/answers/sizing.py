"""``sizing()``: the figures of a model from the run that only measures; for who asks a thousand times."""

from __future__ import annotations

from tflm_sim.answers.peak import Peak, find_peak
from tflm_sim.answers.smallest_arena import SmallestArena, roomy_run, smallest_of
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.types import Model
from tflm_sim.values import TYPE_CHECKING, dataclass

if TYPE_CHECKING:
    from typing import Unpack


@dataclass(frozen=True, slots=True)
class Sizing:
    """What :class:`~tflm_sim.answers.simulation.Simulation` says of a roomy run, without its events.

    Attributes:
        configuration: How TFLM was set up.
        smallest: None where AllocateTensors() fails in any arena.
        head_bytes, tail_bytes: In a roomy arena.
        failure: What stopped it, or None.
        allocation: Tensors, lifetimes and plan, as far as they came.
    """

    configuration: Configuration
    smallest: SmallestArena | None
    head_bytes: int
    tail_bytes: int
    failure: SimulatedFailure | None
    allocation: ModelAllocation | None

    @property
    def status(self) -> str:
        """ "ok", "error" or "abort"."""
        return "ok" if self.failure is None else self.failure.status

    @property
    def arena_used_bytes(self) -> int:
        """What ``arena_used_bytes()`` reports in a roomy arena; 0 after an abort."""
        return 0 if self.status == "abort" else self.head_bytes + self.tail_bytes

    @property
    def peak(self) -> Peak | None:
        """The fullest moment of the head, None without a plan."""
        return None if self.allocation is None else find_peak(self.allocation)


def sizing(model: Model, target: Where, **settings: Unpack[Settings]) -> Sizing:
    """Return the figures of one model.

    Args:
        model: The model.
        target: What it runs on: a name, a target, or a configuration.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        UsageError: An argument has no meaning, or the configuration has two arenas.
        UnsupportedOpError: TFLM has an operator that we have no model of.
    """
    configuration = configure(target, **settings)
    if configuration.is_split:
        raise UsageError("two arenas have a smallest pair: simulate(...).split")
    device, needs, halting = roomy_run((model,), configuration)
    return Sizing(
        configuration,
        None if device.failure is not None else smallest_of(needs, configuration, halting),
        device.arena.non_persistent_used_bytes,
        device.arena.persistent_used_bytes,
        device.failure,
        device.allocations[0] if device.allocations else None,
    )
