"""What a result may cost: multiplications, bytes of the file, and operators that the firmware must register."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.split import Split
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model
from tflm_sim.model.unkept import Appended, appended


@dataclass(frozen=True, slots=True)
class Budget:
    """What a result may cost.

    Attributes:
        goal: Bytes of arena that are enough on every target, or None.
        max_macs: Multiply-accumulates as a multiple of the original's.
        max_flash: Bytes of the file, or None.
        operators: Names of operators that may be needed in addition, None for any.
    """

    goal: int | None = None
    max_macs: float = 1.3
    max_flash: int | None = None
    operators: frozenset[str] | None = None


@dataclass(slots=True)
class Allowance:
    """The budget, applied to one model: judges every result that is made of it.

    Attributes:
        macs: Multiply-accumulates of the original model.
        operators: Names of its operators.
        appended: Bytes behind the flatbuffer in its file, which every result keeps.
    """

    budget: Budget
    origin: Model
    macs: int = field(init=False)
    operators: frozenset[str] = field(init=False)
    appended: Appended = field(init=False)

    def __post_init__(self) -> None:
        self.macs = draft_multiplications(Draft(self.origin))
        self.operators = operator_names(self.origin)
        self.appended = appended(self.origin.source)

    def objection(self, candidate: Model, macs: int) -> str | None:
        """Return in words which limit a candidate exceeds; None where it exceeds none."""
        if macs > self.budget.max_macs * self.macs:
            return f"{macs:,} multiply-accumulates are more than `max_macs=` allows"
        if missing := self._missing(operator_names(candidate)):
            return f"needs {', '.join(sorted(missing))}, which `operators=` does not allow"
        if self.budget.max_flash is not None:
            size = len(self.appended.behind(encode(candidate)))
            if size > self.budget.max_flash:
                return f"the file would have {size:,} B, more than `max_flash=` allows"
        return None

    def spare(self, draft: Draft) -> float:
        """Return the multiply-accumulates that a draft may have in addition to its own."""
        return self.budget.max_macs * self.macs - draft_multiplications(draft)

    def allowed(self, splits: Iterable[Split]) -> tuple[list[Split], str | None]:
        """Return the splits whose additional operators are allowed, and why others are left out."""
        found = [(split, self._missing(split.operators)) for split in splits]
        names = sorted({name for _, missing in found for name in missing})
        count = sum(bool(missing) for _, missing in found)
        reason = (
            f"{count} ways to split need {' or '.join(names)}, which `operators=` does not allow" if names else None
        )
        return [split for split, missing in found if not missing], reason

    def _missing(self, operators: frozenset[str]) -> frozenset[str]:
        return frozenset() if self.budget.operators is None else operators - self.operators - self.budget.operators


def operator_names(model: Model) -> frozenset[str]:
    """Return the builtin operators that the resolver must register, and the custom ones by their own names."""
    draft = Draft(model)
    operators = [operator for subgraph in model.subgraphs for operator in subgraph.operators]
    return frozenset(draft.code(operator).custom_code or draft.name(operator) for operator in operators)
