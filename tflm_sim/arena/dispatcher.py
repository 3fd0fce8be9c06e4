"""``Dispatcher``: an observer as a table, kind of event to method."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tflm_sim.arena.events import Event


class Dispatcher:
    """Calls the handler for an event's kind; other kinds pass by. An :data:`~tflm_sim.arena.events.Observer`.

    Args:
        handlers: Kind of event to what takes it.
    """

    def __init__(self, handlers: Mapping[type, Callable[[Any], None]]) -> None:
        self._handlers = handlers

    def __call__(self, event: Event) -> None:
        """Take notice of an event."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(event)
