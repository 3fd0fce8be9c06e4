"""Where in AllocateTensors() the event stream is: the current phase and operator."""

from __future__ import annotations

from tflm_sim.arena.events import Event, OpEvent, Phase


class PlaceTracker:
    """Remembers the last phase or operator (mutable); an :data:`~tflm_sim.arena.events.Observer`."""

    __slots__ = ("event",)

    def __init__(self) -> None:
        self.event: OpEvent | Phase | None = None

    def __call__(self, event: Event) -> None:
        """Take notice of an event."""
        if isinstance(event, OpEvent | Phase):
            self.event = event

    @property
    def phase(self) -> str:
        """The phase's name, or the operator's step ("op_parse", "op_init", "op_prepare", "op_invoke")."""
        if isinstance(self.event, OpEvent):
            return self.event.step
        return self.event.name if self.event is not None else "start"

    def __str__(self) -> str:
        if isinstance(self.event, OpEvent):
            step = self.event.step.removeprefix("op_")
            return f"{step} of {self.event.name} #{self.event.op} in subgraph {self.event.subgraph}"
        return self.phase.replace("_", " ")
