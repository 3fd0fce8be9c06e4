"""What can be wrong with memory over time, as values: a stable code, the place, both buffers and the bytes.

The sanitizer finds some of them while AllocateTensors() runs, the invocation on the arena finds the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class FindingCode(StrEnum):
    """Stable names; a code never changes its meaning."""

    TEMP_USED_AFTER_RESET = "temp-used-after-reset"
    TEMP_FREED_TWICE = "temp-freed-twice"
    TEMP_NOT_RELEASED = "temp-not-released"
    HEAD_RESIZED_OVER_TEMPS = "head-resized-over-temps"
    PERSISTENT_OVERLAPPED = "persistent-overlapped"
    SCRATCH_OUTSIDE_ITS_OPERATOR = "scratch-outside-its-operator"
    LIVE_BUFFERS_OVERLAP = "live-buffers-overlap"
    READ_BEFORE_WRITTEN = "read-before-written"
    TENSOR_OVERWRITTEN = "tensor-overwritten"
    SCRATCH_OVERWRITTEN = "scratch-overwritten"
    OUTPUT_OVERWRITTEN = "output-overwritten"
    VARIABLE_TOUCHED = "variable-touched"
    MISALIGNED = "misaligned"
    ALLOCATION_AFTER_PLAN = "allocation-after-plan"
    COPY_SIZES_DIFFER = "copy-sizes-differ"


TensorKey = tuple[int, int]
"""(subgraph, tensor)."""


@dataclass(frozen=True, slots=True)
class BufferId:
    """Which buffer: a tensor, a scratch buffer or a resource variable.

    ``kind`` is "tensor", "scratch" or "resource variable"; ``index`` counts tensors in their subgraph, the others in
    the model, whose place among the models of the arena is ``model``, from 0 on: that of interpreter ``model + 1``.
    """

    kind: str
    subgraph: int
    index: int
    model: int = 0

    def __str__(self) -> str:
        subgraph = f" of subgraph {self.subgraph}" if self.kind == "tensor" and self.subgraph else ""
        model = f" of interpreter {self.model + 1}" if self.model else ""
        return f"{self.kind} {self.index}{subgraph}{model}"


class Place(NamedTuple):
    """Where in Invoke(): an operator, or a moment around them (``operator`` is -1, ``name`` says which)."""

    subgraph: int
    operator: int
    name: str

    @classmethod
    def moment(cls, name: str) -> Place:
        return cls(0, -1, name)

    def __str__(self) -> str:
        if self.operator < 0:
            return self.name
        return f"{self.name} #{self.operator}" + (f" of subgraph {self.subgraph}" if self.subgraph else "")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        code: What kind it is.
        place: Where it was noticed, for people.
        message: One sentence with the numbers.
        start: First byte concerned, from the arena's start; 0 with ``end`` 0 where no bytes are.
        end: The byte after the last.
        victim: Whose bytes they are, None where no buffer is.
        offender: Who else uses them, None where nobody does.
        noticed: The (subgraph, operator) that ran when it was noticed, None outside of operators.
        written: The (subgraph, operator) that wrote over the bytes, None outside of operators.
    """

    code: FindingCode
    place: str
    message: str
    start: int = 0
    end: int = 0
    victim: BufferId | None = None
    offender: BufferId | None = None
    noticed: tuple[int, int] | None = None
    written: tuple[int, int] | None = None

    def __str__(self) -> str:
        return f"[{self.code}] {self.place}: {self.message}"
