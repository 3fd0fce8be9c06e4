"""How a figure was measured, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.checks.doubts import listed
from tflm_sim.escape import printable
from tflm_sim.extensions.firmware.executed_facts import ExecutedFacts


def facts_lines(facts: ExecutedFacts) -> list[str]:
    """Return how a figure was measured, and how far the simulation says the same."""
    lines = [
        f"measured: {printable(facts.file, 200)} executed with this model in it, for a {facts.core} in {facts.emulator}"
    ]
    lines += _arena_lines(facts)
    if not facts.fits and not facts.banks:
        lines.append(
            f"it fails in its own arena of {facts.arena_bytes:,} B: figures are of the smallest that works, if one does"
        )
    if facts.invoke_works is not True:
        works = "whether it works cannot be told" if facts.invoke_works is None else "it does not work"
        lines.append(f"{works}: {printable(facts.invoke_problem, 300)}")
    lines += [
        f"it fails as it is: {printable(bank.name)} has {bank.size:,} B and needs {bank.needed:,} B"
        for bank in facts.banks
        if bank.size is not None and bank.size < bank.needed
    ]
    if facts.is_guessed:
        lines.append("parts of the system around it were made up: on its board it may go another way")
    if facts.banks:
        lines.append("its tensors lie in banks of RAM, by the plan of banks.h: no other sizes than its own are tried")
    elif facts.difference:
        lines.append(f"the simulation differs after {facts.compared:,} requests, in {printable(facts.difference, 300)}")
        if facts.kernels_as_seen:
            ops = listed([printable(op) for op in facts.kernels_as_seen])
            lines.append(f"with the program's own {ops} as seen, all requests are those of the simulation")
    else:
        lines.append(f"all {facts.compared:,} requests to the allocator are those of the simulation")
    return lines


def _arena_lines(facts: ExecutedFacts) -> Iterator[str]:
    """Yield whose arena it is, where there could be another."""
    if facts.other_arena_bytes is not None:
        names = (printable(name) or "an arena" for name in (facts.arena, facts.other_arena))
        yield " for what stays, ".join(names) + " for the rest: each is sized with the other as the program has it"
    elif facts.interpreter > 1:
        yield f"the arena is {printable(facts.arena) or 'one without a name'}, of interpreter {facts.interpreter}"
    if facts.sharing > 1:
        yield f"{facts.sharing} interpreters share the arena: its sizes are for all of them"
