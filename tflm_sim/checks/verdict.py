"""``Verdict``: does a model fit, and did it grow? What ``tflm-sim check`` says, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.model.types import Model
from tflm_sim.targets.boards import Board


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer about one model.

    Attributes:
        name: The model's path, from the user.
        key: Its name and configuration in baselines.
        needed: The smallest arena that is a multiple of 16, bytes; None when no size is enough.
        limit: Bytes that there are, None when nobody knows.
        fits: Whether it works in ``limit`` bytes; None when that cannot be told.
        before: The baseline's size, None without one.
        reason: Why it does not fit, or what is missing to tell; "" when it fits.
        log: What the device prints in an arena of ``limit`` bytes.
        model: What was judged, None where its file cannot be used.
        board: What it was judged for, None for an arena of a given size.
    """

    name: str
    key: str
    needed: int | None
    limit: int | None
    fits: bool | None
    before: int | None = None
    reason: str = ""
    log: tuple[str, ...] = ()
    model: Model | None = None
    board: Board | None = None

    @property
    def growth(self) -> int | None:
        """Bytes more than in the baseline (negative: fewer); None without one."""
        return None if self.needed is None or self.before is None else self.needed - self.before

    @property
    def is_good(self) -> bool:
        """Whether nothing speaks against the model."""
        return self.fits is not False and (self.growth or 0) <= 0

    @property
    def exit_code(self) -> int:
        """0: fits, 1: does not, or grew, 3: cannot be told."""
        return 1 if not self.is_good else 3 if self.fits is None else 0
