"""``RecordingMicroAllocator``'s categories, as an observer of the event stream.

The categories partition what TFLM's own report counts; everything else of the tail (allocator objects, graph structs,
input and output arrays) carries no category there and is attributed by ``Persist.label``.

Source: tensorflow/lite/micro/recording_micro_allocator.cc @ 90b983c.
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.arena.events import Event, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.recorded import RecordedAllocationType

# Upstream replaces "one allocation" by the number of elements for these two arrays, phase by phase.
_COUNTED_BY_ELEMENT = {
    Stage.EVAL_TENSORS: RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA,
    Stage.NODE_REGS: RecordedAllocationType.NODE_AND_REGISTRATION_ARRAY,
}


@dataclass(slots=True)
class RecordedAllocation:
    """One category (mutable while recording): requested bytes, bytes with padding, and the number of allocations."""

    requested: int = 0
    used: int = 0
    count: int = 0


class AllocationRecorder:
    """Counts persistent allocations by category; an :data:`~tflm_sim.arena.events.Observer`.

    Args:
        compression: Whether the build has the compression category.
    """

    def __init__(self, *, compression: bool) -> None:
        self.recorded: dict[str, RecordedAllocation] = {
            kind.value: RecordedAllocation()
            for kind in RecordedAllocationType
            if compression or kind is not RecordedAllocationType.COMPRESSION_DATA
        }

    def __call__(self, event: Event) -> None:
        if isinstance(event, Persist):
            if event.category:
                row = self.recorded[event.category]
                row.requested += event.size
                row.used += event.used
                row.count += 1
        elif isinstance(event, Phase) and (kind := _COUNTED_BY_ELEMENT.get(event.stage)):
            self.recorded[kind].count += dict(event.facts)["n"] - 1
