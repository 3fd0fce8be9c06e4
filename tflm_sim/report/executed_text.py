"""How a figure was measured, in lines for people."""

from __future__ import annotations

from tflm_sim.checks.executed_facts import ExecutedFacts
from tflm_sim.escape import printable


def facts_lines(facts: ExecutedFacts) -> list[str]:
    """Return how a figure was measured, and how far the simulation says the same."""
    lines = [
        f"measured: {printable(facts.file, 200)} executed with this model in it, for a {facts.core} in {facts.emulator}"
    ]
    if facts.is_guessed:
        lines.append("parts of the system around it were made up: on its board it may go another way")
    if facts.difference:
        lines.append(f"the simulation differs after {facts.compared:,} requests, in {printable(facts.difference, 300)}")
    else:
        lines.append(f"all {facts.compared:,} requests to the allocator are those of the simulation")
    return lines
