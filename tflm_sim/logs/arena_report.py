"""A whole report of our own firmware about its arena, as values."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.logs.log_events import CategoryUse, PlanBuffer


@dataclass(frozen=True, slots=True)
class HighWater:
    """What a painted arena shows, in bytes: written at least, and the longest run that was not written."""

    touched: int
    gap_size: int
    gap_offset: int


@dataclass(frozen=True, slots=True)
class ArenaReport:
    """A whole report of the stub; every line of it arrived intact.

    Attributes:
        first_line: Line number of its begin.
        last_line: Line number of its end.
        number: The device's own count of its reports since its start.
        arena_size: Bytes.
        skew: The arena's address modulo 16.
        info: What it is about: target, tflm, kernels, model, sha256.
        model_size: Bytes of the model, None when the firmware does not say.
        model_crc32: CRC-32 of the model's bytes, None when the firmware does not say.
        total: Bytes of the arena in use, None when the firmware does not say (head and tail likewise).
        head: Of these, not persistent.
        tail: Of these, persistent.
        categories: Rows as in the recording report.
        buffers: The memory plan, in the planner's order.
        high_water: What paint and scan measured, or None.
        digest: CRC over all lines; two reports with one digest say the same.
        numbers: What else the firmware counts: bytes of stack and heap, by name.
        failure: The status with which AllocateTensors() failed, None where it did not.
    """

    first_line: int
    last_line: int
    number: int
    arena_size: int
    skew: int
    info: tuple[tuple[str, str], ...]
    model_size: int | None
    model_crc32: int | None
    total: int | None
    head: int | None
    tail: int | None
    categories: tuple[CategoryUse, ...]
    buffers: tuple[PlanBuffer, ...]
    high_water: HighWater | None
    digest: int
    numbers: tuple[tuple[str, int], ...] = ()
    failure: int | None = None
