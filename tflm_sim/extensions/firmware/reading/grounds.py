"""The reasons of an answer about a firmware: what proves each part of its target, and what is assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tflm_sim.targets.target import Target


@dataclass(frozen=True, slots=True)
class Ground:
    """How a part of the target is known; without proof it is assumed.

    Attributes:
        part: "ABI", "structs", "TFLM", "kernels" or "interpreter".
        value: What it is.
        grounds: What proves it, or what is missing for a proof.
        how: "measured": the file holds it, as a size or a symbol; "concluded" from what it holds; "named" by the user;
            "assumed", since nothing tells.
    """

    part: str
    value: str
    grounds: str
    how: Literal["measured", "concluded", "named", "assumed"]

    @property
    def is_known(self) -> bool:
        """Whether the file or the user says it."""
        return self.how != "assumed"


@dataclass(frozen=True, slots=True)
class Condition:
    """An assumption of an answer.

    Attributes:
        text: "CMSIS-NN is 4ab83cc": a sentence that follows "if".
        otherwise: Targets for which it does not hold: where they give the same answer, nothing hangs on it. () where
            there is no telling what else might be.
    """

    text: str
    otherwise: tuple[Target, ...] = ()
