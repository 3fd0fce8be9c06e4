"""The answer of ``stream()``: a model that takes the new frames of its window, as a value and as its document says it.

Nothing here needs numpy, which the rest of the room does: whoever prints an answer only needs its shape.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tflm_sim.document_fields import HIDDEN, named
from tflm_sim.document_types import Count
from tflm_sim.extensions.shrink.shrunk import Cost, Gain, ProgramProof, Proof
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Old rows that are kept from one invocation to the next.

    Attributes:
        tensor: Whose rows, by its name in the model or its number there.
        rows: That the state holds.
        bytes: That they take.
        keep: "whole" (a variable tensor with the new rows, too), "old" (a variable tensor), "resource" (a resource
            variable).
    """

    tensor: str
    rows: Count
    bytes: Count
    keep: str


@dataclass(frozen=True, slots=True)
class Streamed:
    """A model that takes the new frames of its window.

    Attributes:
        data: The file to write.
        model: The same, parsed.
        origin: The model that takes a window.
        window_shape: The input's shape, or where the input is flat that of the RESHAPE behind it.
        axis: The axis of it along which the frames lie.
        step: Frames that each invocation takes.
        input_shape: The new input's shape.
        frame_bytes: Of a frame.
        aim: "ram" or "macs".
        gains: Before and after, a target each.
        before, after: What an invocation of both costs.
        start_up: The invocation from which on the outputs are those of the window that ends with it.
        operators: The operators, by their index in the original, that run on new rows only.
        ends: Where that ends: operators and why, a sentence each.
        rings: The old rows that are kept.
        extra_operators: What the firmware's resolver must register in addition.
        simulations: How many models were simulated.
        stopped: Why the search ended before all was tried, a sentence; empty where it ended by itself.
        verified: What was checked on the two files, unrolled, in a sentence.
        proof: What the real TFLM said; null unless asked for.
        program_proof: What the user's own program said; null unless asked for.
    """

    data: bytes = field(metadata=HIDDEN)
    model: Model = field(metadata=HIDDEN)
    origin: Model = field(metadata=HIDDEN)
    window_shape: tuple[Count, ...]
    axis: Count
    step: Count
    input_shape: tuple[Count, ...]
    frame_bytes: Count
    aim: str
    gains: tuple[Gain, ...] = field(metadata=named("targets"))
    before: Cost
    after: Cost
    start_up: Count
    operators: tuple[Count, ...]
    ends: tuple[str, ...]
    rings: tuple[KeptRows, ...]
    extra_operators: tuple[str, ...]
    simulations: Count
    stopped: str = ""
    verified: str = ""
    proof: Proof | None = None
    program_proof: ProgramProof | None = None

    def __repr__(self) -> str:
        arenas = ", ".join(f"{row.before.arena:,} B -> {row.after.arena:,} B on {row.target}" for row in self.gains[:2])
        macs = f"{self.before.macs:,} -> {self.after.macs:,} MACs"
        return f"<Streamed: {self.step} of {self.frames} frames; {arenas}; {macs}>"

    @property
    def frames(self) -> int:
        return self.window_shape[self.axis]

    @property
    def how(self) -> dict[str, Any]:
        """How the window moves on, for :func:`~tflm_sim.extensions.shrink.wheel_worker.stream_chunks`."""
        return {"layout": self.window_shape, "axis": self.axis, "step": self.step, "start_up": self.start_up}
