"""``Sizer``: the sizes of many models, each from a run that only measures, with a cache of what operators request.

    >>> sizer = Sizer()
    >>> [sizer.smallest_arena(model, "cortex-m4").size for model in models]

Candidates of a search, or models of one family, have many equal operators. Only the first of several equal operators
runs its Prepare, and its requests are reused for the others. A model then takes half the time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Unpack

from tflm_sim.answers.invoke_problem import InvokeProblem, invoke_problem
from tflm_sim.answers.peak import Peak, find_peak
from tflm_sim.answers.smallest_arena import SmallestArena, in_one_arena, roomy_run, smallest_of
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.prepare_cache import PrepareCache
from tflm_sim.device.run import Device, PlannedBuffer
from tflm_sim.errors import SimulatedFailure, UsageError, expect
from tflm_sim.model.load import ModelLike, load_each
from tflm_sim.model.types import Model
from tflm_sim.short_repr import short_repr

MOST_PREPARES = 8192
"""What a ``Sizer`` remembers unless it is told otherwise, for each thread."""


@dataclass(frozen=True, slots=True)
class Sizing:
    """The figures of a :class:`~tflm_sim.answers.simulation.Simulation` in a roomy arena, without its events.

    A pickle contains only the models and the configuration; unpickling measures again.

    Attributes:
        models: The models that share the arena, in order.
        configuration: How TFLM was set up.
        smallest: None where AllocateTensors() fails in any arena.
        head_bytes, tail_bytes: In a roomy arena.
        failure: What stopped it, or None.
        allocation: Tensors, lifetimes and plan of the first model; None when it failed before its allocation began.
        device: The models as AllocateTensors() left them.
    """

    models: tuple[Model, ...]
    configuration: Configuration
    smallest: SmallestArena | None
    head_bytes: int
    tail_bytes: int
    failure: SimulatedFailure | None
    allocation: ModelAllocation | None = field(repr=False)
    device: Device = field(repr=False)

    __repr__ = short_repr

    def __reduce__(self) -> tuple[Any, ...]:
        return _sizing, (self.models, self.configuration)

    @property
    def model(self) -> Model:
        """The first model."""
        return self.models[0]

    @property
    def buffers(self) -> tuple[PlannedBuffer, ...]:
        """What the planner placed, model after model."""
        return tuple(self.device.planned_buffers())

    @property
    def invoke_problem(self) -> InvokeProblem | None:
        """Why Invoke() fails every time though AllocateTensors() succeeds, None where nothing is known to."""
        return invoke_problem(self.device, self.configuration)

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


class Sizer:
    """Sizes many models, and caches what their operators request (mutable: the cache).

    The cache is freed with the ``Sizer``. The figures are those of
    :func:`~tflm_sim.answers.smallest_arena.smallest_arena`, to the byte, whatever was sized before. Threads may share a
    ``Sizer``: each thread has its own cache, which is freed with the thread. A pickle contains no cache.

    Args:
        most_prepares: How many Prepares are cached for each thread: one for each kind of operator on a target. The
            least recently used are dropped first. The default takes up to about 12 MB.

    Raises:
        UsageError: ``most_prepares`` is less than 1.
    """

    def __init__(self, *, most_prepares: int = MOST_PREPARES) -> None:
        most_prepares = expect(most_prepares, int, "most_prepares as a number")
        if most_prepares < 1:
            raise UsageError(
                f"a Sizer that remembers {most_prepares} Prepares is useless; smallest_arena() works without a cache"
            )
        self._most_prepares = most_prepares
        self._of_thread = threading.local()

    def __repr__(self) -> str:
        return f"Sizer(most_prepares={self._most_prepares}, remembered={self.remembered})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _sizer, (self._most_prepares,)

    @property
    def remembered(self) -> int:
        """How many Prepares are cached now for the calling thread."""
        return len(self._cache())

    def forget(self) -> None:
        """Empty the calling thread's cache."""
        self._of_thread.cache = PrepareCache(self._most_prepares)

    def smallest_arena(
        self, model: ModelLike | Iterable[ModelLike], target: Where | None = None, **settings: Unpack[Settings]
    ) -> SmallestArena:
        """Return the smallest arena for one model, or for several on one allocator; exact to the byte.

        Args:
            model: One model or several: a Model, a path, bytes, ``sample:NAME``.
            target: What it runs on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
            settings: See :class:`~tflm_sim.device.configuration.Settings`.

        Raises:
            SimulatedFailure: AllocateTensors() fails in any arena.
            UsageError: An argument has no meaning, or the configuration has two arenas.
            UnsupportedOpError: TFLM has an operator that we have no model of.
        """
        sized = self.sizing(model, target, **settings)
        if sized.smallest is None:
            assert sized.failure is not None, "where there is no arena something failed"
            raise sized.failure
        return sized.smallest

    def sizing(
        self, model: ModelLike | Iterable[ModelLike], target: Where | None = None, **settings: Unpack[Settings]
    ) -> Sizing:
        """Return the figures of one model, or of several on one allocator; a failure of the device is one of them.

        Args:
            model: One model or several, as for :meth:`smallest_arena`; ``peak`` is that of the first.
            target: What it runs on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
            settings: See :class:`~tflm_sim.device.configuration.Settings`.

        Raises:
            UsageError: An argument has no meaning, or the configuration has two arenas.
            UnsupportedOpError: TFLM has an operator that we have no model of.
        """
        configuration = in_one_arena(configure(target, **settings))
        models = load_each(model)
        device, needs = roomy_run(models, configuration, cache=self._cache())
        return Sizing(
            models,
            configuration,
            None if device.failure is not None else smallest_of(needs, configuration),
            device.arena.non_persistent_used_bytes,
            device.arena.persistent_used_bytes,
            device.failure,
            device.allocations[0] if device.allocations else None,
            device,
        )

    def _cache(self) -> PrepareCache:
        if not hasattr(self._of_thread, "cache"):
            self.forget()
        cache: PrepareCache = self._of_thread.cache
        return cache


def _sizing(models: tuple[Model, ...], configuration: Configuration) -> Sizing:
    return Sizer().sizing(models, configuration)


def _sizer(most_prepares: int) -> Sizer:
    return Sizer(most_prepares=most_prepares)
