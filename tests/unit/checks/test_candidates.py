"""What a model needs on each of the targets that a linked program leaves possible."""

from __future__ import annotations

from tflm_sim.checks.candidates import CandidateNeed, most_demanding
from tflm_sim.device.configuration import configure
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path

SINE = load(sample_path("sine"))


def test_targets_that_need_different_arenas_are_told_by_what_differs_alone() -> None:
    both = [configure("cortex-m4", interpreter=kind) for kind in ("plain", "recording")]
    worst, needs = most_demanding(SINE, both)
    assert [need.case for need in needs] == ["plain interpreter", "recording interpreter"]
    # A RecordingMicroAllocator counts what it hands out, in the arena.
    assert needs[0].smallest_arena is not None
    assert needs[1].smallest_arena is not None
    assert needs[0].smallest_arena < needs[1].smallest_arena
    assert needs[1] == CandidateNeed("recording interpreter", worst.smallest.size if worst.smallest else None)


def test_targets_that_need_the_same_are_not_told_apart() -> None:
    both = [configure("cortex-m4", optimize_kernels_for=purpose) for purpose in ("speed", "size")]
    assert most_demanding(SINE, both)[1] == []
