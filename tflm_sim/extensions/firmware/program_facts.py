"""What a program's file says, as a part of the documents of other verbs, and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.checks.doubts import Answer, Doubt
from tflm_sim.document_types import Count
from tflm_sim.escape import printable
from tflm_sim.extensions.firmware.placement import place_arena
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.rooms import may_be_in_banks, model_name, name_of


@dataclass(frozen=True, slots=True, kw_only=True)
class InterpreterFacts:
    """What the code says of an interpreter; null where it does not say.

    Attributes:
        how: "concluded" from the call that makes it; "assumed" where there is only an array that looks like an arena.
        model: The model in the program that it is given.
        arena: What its arena is called.
        arena_bytes: Of two arenas, of the one for what stays.
        other_arena_bytes: Of the one for the rest.
        planner: "greedy", "linear", or "own" where the program makes it.
        resource_variables: For how many it has room.
        operators: What the program registers, with all of its resolvers; null where nothing tells.
        own_kernels: Functions outside of TFLM that may be a kernel's Prepare.
        is_repeated: Whether AllocateTensors() may be called again, or an interpreter made again on one allocator.
    """

    how: Literal["concluded", "assumed"]
    model: str | None
    arena: str | None
    arena_address: Count | None
    arena_bytes: Count | None
    other_arena_bytes: Count | None
    planner: Literal["greedy", "linear", "own"] | None
    is_recording: bool | None
    resource_variables: Count | None
    operators: tuple[str, ...] | None
    own_kernels: tuple[str, ...]
    is_repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFacts:
    """What a model needs in a program, and what that takes for granted; sizes are bytes.

    Attributes:
        file: The program.
        answer: Whether the model works; "if" where a doubt can turn it, or the figure.
        smallest_arena: Of two arenas both together; null where no size is known to be enough.
        smallest_split_arenas: Where there are two arenas, what each needs.
        reason: Why it does not work, or why that cannot be told.
        interpreters: What the code says of each interpreter.
    """

    file: str
    answer: Answer
    smallest_arena: Count | None
    smallest_arena_multiple_of_16: Count | None
    smallest_split_arenas: SplitArenaSizes | None
    reason: str
    doubts: tuple[Doubt, ...]
    interpreters: tuple[InterpreterFacts, ...]


def interpreter_facts(firmware: Firmware) -> tuple[InterpreterFacts, ...]:
    """Return what a program says of each of its interpreters; of each arena where no call was read."""
    operators = None if firmware.operators is None else tuple(sorted(firmware.operators))
    shared = {"operators": operators, "own_kernels": firmware.own_kernels, "is_repeated": firmware.set_up.is_repeated}
    rows = [
        InterpreterFacts(
            how="concluded",
            model=_model(firmware, call),
            arena="its banks" if may_be_in_banks(firmware, call) else _arena(firmware, call),
            arena_address=None if call.is_on_heap else call.arena,
            arena_bytes=call.arena_size,
            other_arena_bytes=call.rest_size,
            planner="own" if may_be_in_banks(firmware, call) else _planner(call),
            is_recording=call.is_recording,
            resource_variables=call.variables,
            **shared,  # type: ignore[arg-type]
        )
        for call in firmware.set_up.interpreters
    ]
    return tuple(rows) or tuple(
        InterpreterFacts(
            how="assumed",
            model=None,
            arena=arena.name,
            arena_address=arena.address,
            arena_bytes=arena.size,
            other_arena_bytes=None,
            planner=None,
            is_recording=None,
            resource_variables=None,
            **shared,  # type: ignore[arg-type]
        )
        for arena in firmware.arenas
    )


def _arena(firmware: Firmware, call: InterpreterCall) -> str | None:
    if call.is_on_heap:
        return "the heap"
    if call.arena is None or call.arena_size is None:
        return None
    return name_of(place_arena(firmware, call, firmware.set_up.interpreters), call.arena)


def _model(firmware: Firmware, call: InterpreterCall) -> str | None:
    models = (row for row in firmware.models if call.model is not None and 0 <= call.model - row.address < row.extent)
    return next(map(model_name, models), None)


def _planner(call: InterpreterCall) -> Literal["greedy", "linear", "own"] | None:
    if call.has_own_planner:
        return "own"
    if call.preserves_all_tensors is None:
        return None
    return "linear" if call.preserves_all_tensors else "greedy"


def program_lines(facts: ProgramFacts) -> list[str]:
    """Return what the program says of its interpreters, for people."""
    rows = list(dict.fromkeys(", ".join(_parts(one)) for one in facts.interpreters))
    return [f"{printable(facts.file, 200)}: {row}" for row in rows]


def _parts(one: InterpreterFacts) -> Iterator[str]:
    kind = {True: "a RecordingMicroInterpreter", False: "a MicroInterpreter", None: "an interpreter"}[one.is_recording]
    of = f" of {printable(one.model)}" if one.model else ""
    size = "" if one.arena_bytes is None else f" ({one.arena_bytes:,} B)"
    if one.other_arena_bytes is not None:
        size = f" ({one.arena_bytes:,} B for what stays, {one.other_arena_bytes:,} B for the rest)"
    yield f"{kind}{of} in {printable(one.arena or 'an arena')}{size}"
    if one.planner is not None:
        yield f"{'a planner of its own' if one.planner == 'own' else f'a {one.planner} planner'}"
    if one.resource_variables:
        yield f"room for {one.resource_variables} resource variables"
    if one.operators is not None:
        yield f"{len(one.operators)} operator{'' if len(one.operators) == 1 else 's'}"
    if one.own_kernels:
        yield f"kernels of its own ({', '.join(map(printable, one.own_kernels[:3]))})"
