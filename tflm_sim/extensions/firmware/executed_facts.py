"""How a figure was measured, as part of the documents that hold such figures."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.checks.program_need import BankNeed
from tflm_sim.document_types import Count


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedFacts:
    """How a figure was measured.

    Attributes:
        file: The program that was executed with the model in it.
        core: The processor that was emulated.
        emulator: What emulated it.
        is_guessed: Whether parts of the system around it were made up.
        arena: The object that is its arena, "" where no symbol says.
        arena_bytes: As the program has it; larger ones are tried where that is too small.
        fits: Whether AllocateTensors() works there.
        other_arena: The object that is the arena for the rest, where the first is only for what stays.
        other_arena_bytes: As ``arena_bytes``; null where there is one arena.
        interpreter: The number of the interpreter that got the model, from 1 on.
        sharing: How many interpreters have that arena; its sizes are for all of them.
        compared: How many requests to the allocator are those of the simulation, from the first on.
        difference: The first one that differs, and what that means; "" where all agree.
        kernels_as_seen: The operators whose kernels ask for something else. With these as they were seen, the
            simulation asks for the same to the last request, so that all its answers hold.
        invoke_works: Whether Invoke() works; null where it comes to no good end with another model in it, which proves
            nothing: it computes with whatever stands in its inputs.
        invoke_problem: Why it does not; "" where it does.
        banks: Where a plan of banks.h puts its tensors into banks of RAM, what each needs; nothing is compared then.
    """

    file: str
    core: str
    emulator: str
    is_guessed: bool
    arena: str
    arena_bytes: Count
    fits: bool = True
    other_arena: str = ""
    other_arena_bytes: Count | None = None
    interpreter: Count = 1
    sharing: Count = 1
    compared: Count
    difference: str
    kernels_as_seen: tuple[str, ...] = ()
    invoke_works: bool | None = True
    invoke_problem: str = ""
    banks: tuple[BankNeed, ...] = ()
