"""What a pass is: a function that edits a draft where a ``Chooser`` lets it and returns each ``Edit``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.model.draft import Draft


@dataclass(slots=True)
class Chooser:
    """Decides which of the edits that a pass finds are made (mutable): all, or only one.

    Attributes:
        only: Index of the one, None for all.
        seen: How many were found.
    """

    only: int | None = None
    seen: int = 0

    def __call__(self) -> bool:
        """Return whether to make the edit that was found now."""
        self.seen += 1
        return self.only is None or self.seen - 1 == self.only


Pass = Callable[[Draft, Chooser], list[Edit]]


def label_of(draft: Draft, index: int) -> str:
    """Return an operator as people name it: "#12 RESHAPE"."""
    return f"#{index} {draft.name(draft.operators[index])}"
