"""What two models computed, compared: elements that are other expressions, and operators that are not understood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tflm_sim.extensions.shrink.machine import Machine
from tflm_sim.extensions.shrink.refusal import refuse
from tflm_sim.extensions.shrink.symbolic import Hashes


@dataclass(frozen=True, slots=True)
class Verified:
    """What was checked.

    Attributes:
        outputs, states: Elements of the outputs and of the next states.
        operators: Of the result.
        has_plan: Whether it has an offline plan, which was checked, too.
        start_up: Of a result that takes the new frames of a window: the invocation from which on it is right.
    """

    outputs: int
    states: int
    operators: int
    has_plan: bool = False
    start_up: int = 0

    def __str__(self) -> str:
        plan = "; the plan keeps every byte that is still to be read" if self.has_plan else ""
        if self.start_up:
            return (
                f"{self.outputs:,} output elements are the same expressions as the window's from invocation "
                f"{self.start_up} on, whatever the {self.states:,} elements of state held before "
                f"({self.operators} operators read){plan}"
            )
        states = f" and {self.states:,} of state" if self.states else ""
        return (
            f"{self.outputs:,} output elements{states} are the same expressions in both files "
            f"({self.operators} operators read){plan}"
        )


def check_opaque(before: Machine, after: Machine) -> None:
    """Refuse an operator of the result that is not understood, unless the original has it with the same operands.

    Nobody may read what it writes, and yet it may write where it should not.
    """
    for call, name in after.opaque.items():
        if call not in before.opaque:
            raise refuse(f"{name} is used in a way that is not supported, and differently in the original")


def compare(what: str, expected: Hashes, found: Hashes) -> None:
    """Refuse what is computed otherwise, or has another size."""
    if expected.size != found.size:
        raise refuse(f"{what} has {found.size} elements instead of {expected.size}")
    wrong = np.flatnonzero(expected.ravel() != found.ravel())
    if wrong.size:
        first = np.unravel_index(int(wrong[0]), expected.shape) if expected.ndim else ()
        place = ", ".join(str(int(index)) for index in first)
        raise refuse(
            f"{wrong.size:,} of {expected.size:,} elements of {what} are computed differently, first [{place}]"
        )
