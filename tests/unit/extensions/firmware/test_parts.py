"""What the extension says beside the core's documents."""

from __future__ import annotations

from tflm_sim.checks.verdict import Verdict
from tflm_sim.extensions.firmware.executed_facts import ExecutedFacts
from tflm_sim.report.verdict_text import verdict_lines


def test_how_it_was_measured_is_told() -> None:
    executed = ExecutedFacts(
        file="app.elf", core="Cortex-M4", emulator="Unicorn", is_guessed=False, arena="tensor_arena", arena_bytes=100,
        compared=7, difference="",
    )  # fmt: skip
    found = Verdict("m", "k", 64, 100, True, parts={"executed": executed})
    assert verdict_lines(found) == [
        "yes: needs 64 B of 100 B, 36 B to spare",
        "measured: app.elf executed with this model in it, for a Cortex-M4 in Unicorn",
        "all 7 requests to the allocator are those of the simulation",
    ]
