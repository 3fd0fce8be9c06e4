"""The size report for people at a terminal: plain lines, no colour, no width assumed."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Sequence

from tflm_sim.answers.peak import Peak
from tflm_sim.answers.simulation import Simulation
from tflm_sim.checks.program_need import BankNeed
from tflm_sim.device.configuration import Configuration, planner_words
from tflm_sim.escape import printable
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.circumstances import with_assumed
from tflm_sim.report.size_answer import ArenaAnswer, HeadBuffer, SizeAnswer, TailPart, size_answer
from tflm_sim.report.tables import table_lines
from tflm_sim.units import align_up, format_size

TOP_ROWS = 8
BAR = 32
"""Columns of the bar of an arena."""
TOP_PARTS = 4
USUAL = ("plain interpreter", "greedy planner")
"""What almost all firmware has is not said."""
TOGETHER = "head and tail together, while the model runs"
NEVER_FITS = (
    "what to do: no arena is large enough; name the kernel that the firmware has beside TFLM's (--ethos-u, "
    "--custom-ops), change the operator, or take a library that accepts it "
    "('tflm-sim explain' says what a message means)"
)


def size_lines(
    simulation: Simulation, *, assumed: Sequence[str] = (), remarks: Sequence[str] = (), has_ledger: bool = True
) -> list[str]:
    """Return the report of one model: what it is about, the answer, then who needs it.

    Args:
        simulation: A run in a roomy arena.
        assumed: The options that were not named.
        remarks: What more there is to say of what it is about.
        has_ledger: Whether who needs it is a list of every byte, or a bar and a line.
    """
    config = simulation.configuration
    name = printable(os.path.basename(simulation.model.path or "model"))
    answer = size_answer(simulation)
    title = f"{name} on {with_assumed(config.target.name, assumed, config.target)}"
    lines = answer_lines(answer, config.target.arena_address, has_ledger=has_ledger)
    return [title, about_line(config), *remarks, "", *lines]


def about_line(config: Configuration) -> str:
    """Return the TFLM and its kernels, and the interpreter and the planner where they are not what all firmware has."""
    others = (f"{config.interpreter} interpreter", planner_words(config.planner, config.own_planner))
    facts = (str(config.target.runtime), f"{config.target.kernel_library} kernels", *others)
    return ", ".join(fact for fact in facts if fact not in USUAL)


def answer_lines(answer: SizeAnswer, arena_address: int, *, has_ledger: bool = True) -> list[str]:
    """Return the answer, then who needs it.

    Args:
        answer: The answer.
        arena_address: Of the arena, modulo 16.
        has_ledger: Whether who needs it is a list of every byte, or a bar and a line.
    """
    if answer.failure is not None:
        return _failed_lines(answer)
    is_split = answer.smallest_split_arenas_bytes is not None
    if answer.bank_needs is not None:
        found = _bank_lines(answer.bank_needs)
    else:
        found = _split_lines(answer) if is_split else _answer_lines(answer, arena_address)
    if not has_ledger:
        declared = found[: found.index("")] if "" in found else found
        overview = _overview_lines(answer)
        return [*_invoke_lines(answer), *declared, *([""] if overview else []), *overview, *_npu_lines(answer)]
    return [*_invoke_lines(answer), *found, *_npu_lines(answer), *_tail_lines(answer), *_peak_lines(answer)]


def _overview_lines(answer: SizeAnswer) -> list[str]:
    """Return the arena as a bar, and what decides its size."""
    head = answer.head_bytes or 0
    parts = {"head": head, "tail": answer.tail_bytes or 0}
    whole = max(sum(parts.values()), 1)
    bar = "  ".join(
        f"{name} {'█' * max(1, round(BAR * size / whole))} {size:,} B" for name, size in parts.items() if size > 0
    )
    lines = [bar] if bar and answer.bank_needs is None else []
    if answer.binding is not None and (answer.peak is None or answer.binding.floor > head):
        lines.append(f"what decides: {answer.binding.what}, in '{answer.binding.place}'")
    elif answer.binding is not None:
        lines.append(f"what decides: {TOGETHER}")
    if answer.peak is not None:
        lines.append(_fullest(answer, head, answer.peak))
    return lines


def _fullest(answer: SizeAnswer, head: int, peak: Peak) -> str:
    """Return where the head is fullest, and whether another plan would help."""
    where = f"#{peak.operator} {peak.op}" if peak.operator >= 0 else "the inputs"
    verdict = head_verdict(head, peak.live_bytes, has_npu=bool(answer.npu))
    variables = f" ({peak.variable_bytes:,} B of variables)" if peak.variable_bytes else ""
    return f"head {head:,} B; fullest in step {peak.scope} ({where}): {peak.live_bytes:,} B{variables}; {verdict}"


def head_verdict(head: int, live: int, *, has_npu: bool) -> str:
    """Return whether another plan would help, of a head in which at most ``live`` bytes are alive at once.

    What Vela compiled keeps its tensors inside of one scratch buffer, of which TFLM's planner knows nothing.
    """
    if has_npu:
        return "the rest is the NPU's scratch and what Vela laid out"
    return "no plan can be smaller" if head == live else f"{head - live:,} B of the head are the planner's gaps"


def _invoke_lines(answer: SizeAnswer) -> list[str]:
    halt, problem = answer.debug_build_halts, answer.invoke_problem
    lines = [] if halt is None else [f"a debug build halts here, and this one goes on: {printable(halt, 300)}", ""]
    if problem is None:
        return lines
    prints = ["the device prints:", *_device_lines(problem.log)] if problem.log else []
    return [*lines, printable(str(problem), 300), *prints, ""]


def _failed_lines(answer: SizeAnswer) -> list[str]:
    lines = [f"AllocateTensors() fails in an arena of any size: {printable(answer.failure or '', 200)}"]
    if answer.release_build is not None:
        lines.append(f"a build with NDEBUG has no such check: {printable(answer.release_build, 300)}")
    if answer.log:
        lines += ["the device prints:", *_device_lines(answer.log)]
    return [*lines, NEVER_FITS]


def _device_lines(log: Iterable[str]) -> list[str]:
    return [f"    {printable(line, 200)}" for line in log if line.strip()]


def _answer_lines(answer: SizeAnswer, arena_address: int) -> list[str]:
    smallest, rounded, binding = answer.smallest_arena_bytes, answer.smallest_arena_multiple_of_16, answer.binding
    assert smallest is not None, "only for models that work"
    assert rounded is not None, "a multiple of 16 works too"
    unnoticed = answer.passes_unnoticed_from_bytes
    less = (
        "AllocateTensors() fails with one byte less"
        if unnoticed is None
        else f"passes unnoticed from {unnoticed:,} B, with bytes overwritten"
    )
    rows = [
        ("smallest arena", format_size(smallest), less),
        ("multiple of 16", format_size(rounded), "the one to put in the firmware:"),
    ]
    if rounded % BUFFER_ALIGNMENT and not arena_address:
        note = "AllocateTensors() halts in every one, for a kernel overwrites its neighbour; put in the firmware:"
        rows[1] = ("multiple of 16", "none", note)
    used = answer.arena_used_bytes
    array = f"uint8_t tensor_arena[{rounded}];"
    declaration = (
        f"{array}  // {arena_address} bytes behind a multiple of 16" if arena_address else f"alignas(16) {array}"
    )
    lines = [
        *table_lines(rows),
        f"    {declaration}",
        "",
        f"arena_used_bytes() reports {format_size(used)} in a large arena"
        + (f": head {answer.head_bytes:,} + tail {answer.tail_bytes:,}" if answer.tail_bytes else ""),
    ]
    if smallest > used:
        lines.append(f"setup needs {smallest - used:,} B more: temporary memory that it frees afterwards, or alignment")
    if binding is None:
        return lines
    lines += [
        f"the last thing that does not fit in a byte less: {binding.what}, in '{binding.place}'",
        f"    with it, {binding.floor:,} B are in use from the arena's start (head and temporary memory), "
        f"{smallest - binding.floor:,} B from its end (tail)",
    ]
    return lines


def _split_lines(answer: SizeAnswer) -> list[str]:
    split = answer.smallest_split_arenas_bytes
    assert split is not None, "only for models that work on two arenas"
    rows = [
        ("smallest persistent arena", format_size(split.persistent)),
        ("smallest non-persistent arena", format_size(split.non_persistent)),
    ]
    return [
        *table_lines(rows),
        f"    alignas(16) uint8_t persistent_arena[{split.persistent}];",
        f"    alignas(16) uint8_t non_persistent_arena[{align_up(split.non_persistent, BUFFER_ALIGNMENT)}];",
        "",
        f"arena_used_bytes() reports {format_size(answer.arena_used_bytes)} in large arenas",
    ]


def _bank_lines(banks: Iterable[BankNeed]) -> list[str]:
    rows = [
        (
            printable(bank.name),
            f"{bank.needed:,}",
            "not known" if bank.size is None else f"{bank.size:,}",
            f"{bank.planned:,}",
            " and ".join(text for text, is_so in (("head", bank.is_head), ("tail", bank.is_tail)) if is_so),
        )
        for bank in banks
    ]
    return table_lines([("bank", "needs", "has", "plan", "with"), *rows])


def _npu_lines(answer: SizeAnswer) -> list[str]:
    lines = []
    for npu in answer.npu:
        where = f"#{npu.operator}{_of_subgraph(npu.subgraph)}"
        in_arena = "may be DRAM" if npu.mode == "Dedicated_Sram" else "has to be memory that the NPU reaches"
        lines += [
            "",
            f"Ethos-U at {where}, compiled for {npu.mode}: {npu.scratch:,} B of scratch in the head; "
            f"the arena {in_arena}",
            f"    read where the model lies: {npu.constants:,} B of weights, {npu.commands:,} B of commands",
        ]
        if npu.fast_scratch:
            lines += [
                f"    fast scratch {npu.fast_scratch:,} B: the driver needs as much SRAM of its own (ethosu_init);",
                "    in the arena it lies over the scratch, where the NPU would overwrite its own data",
            ]
        if npu.unused:
            lines.append(f"    {npu.unused:,} B of the arena are there for it alone, and nothing uses them")
    return lines


def _tail_lines(answer: SizeAnswer) -> list[str]:
    if not answer.tail.groups or answer.tail_bytes is None:
        return []
    rows = [("bytes", "share", "padding", "what")]
    for group in sorted(answer.tail.groups, key=lambda row: -row.used):
        share = f"{100 * group.used / max(answer.tail_bytes, 1):.1f} %"
        # Of a program whose steps behind the plan have no symbols: variables, inputs, outputs.
        what = group.what or "what comes behind the plan"
        rows.append((f"{group.used:,}", share, f"{group.used - group.requested:,}", what))
        rows += _part_rows(group.parts, answer.tail_bytes)
    op_rows = [
        (f"{row.used:,}", f"#{row.operator}", printable(row.op) + _of_subgraph(row.subgraph))
        for row in sorted(answer.tail.ops, key=lambda row: -row.used)[:TOP_ROWS]
    ]
    lines = ["", f"tail {answer.tail_bytes:,} B, by what it is", *table_lines(rows)]
    return [*lines, "", "tail by operator, the largest", *table_lines(op_rows)] if op_rows else lines


def _of_subgraph(subgraph: int) -> str:
    return f" (subgraph {subgraph})" if subgraph else ""


def _part_rows(parts: Sequence[TailPart], tail_bytes: int) -> list[tuple[str, str, str, str]]:
    """Return what a group consists of, the largest parts, where it consists of several."""
    if len(parts) < 2 or 10 * sum(part.used for part in parts) < tail_bytes:
        return []
    return [("", "", "", f"  {row.used:,} in {row.count} of {printable(row.label)}") for row in parts[:TOP_PARTS]]


def _peak_lines(answer: SizeAnswer) -> list[str]:
    peak = answer.peak
    if peak is None or answer.head_bytes is None:
        return []
    rows = [("bytes", "offset", "steps", "buffer")]
    for row in (answer.buffers[index] for index in peak.buffers):
        rows.append((f"{row.size:,}", f"{row.offset:,}", f"{row.first}..{row.last}", _buffer_name(row)))
    return ["", _fullest(answer, answer.head_bytes, peak), *table_lines(rows)]


def _buffer_name(row: HeadBuffer) -> str:
    if row.kind == "tensor":
        return f"tensor {row.index} {printable(row.name)}"
    return f"scratch {row.index} of #{row.operator}" + (f" ({row.name})" if row.name else "")


def failure_lines(answer: ArenaAnswer, shrunk_by: str = "") -> list[str]:
    """Return why an arena does not work, what to do, where it fails, and what the device prints.

    Args:
        answer: What happens in the arena.
        shrunk_by: The command that looks for rewritings of the model that need less; "" to name none.
    """
    problem, log = answer.invoke_problem, answer.log
    if problem is not None and not answer.corruptions:  # It is looked for only where AllocateTensors() succeeds.
        lines, log = [f"no: {printable(str(problem), 300)}"], problem.log
    elif answer.failure is not None:
        lines = [
            _too_small(answer),
            *_remedy(answer, shrunk_by),
            f"what fails, in '{answer.failed_step}': {printable(answer.failure, 200)}",
        ]
    else:
        lines = [_too_small(answer), *_remedy(answer, shrunk_by), "the device does not notice"]
    lines += [f"    bytes in use are overwritten: {text}" for text in answer.corruptions]
    if log:
        lines += ["the device prints:", *_device_lines(log)]
    return lines


def _too_small(answer: ArenaAnswer) -> str:
    if answer.enough is None:
        return "no: AllocateTensors() fails in an arena of any size"
    if answer.enough <= answer.arena_size:
        return f"no: {answer.arena_size:,} B do not work, {answer.enough:,} B do: make the size a multiple of 16"
    if answer.missing is None:
        return f"no, {format_size(answer.arena_size)} is too small, {format_size(answer.enough)} are needed"
    needed = format_size(answer.arena_size + answer.missing)
    return f"no, {answer.missing:,} B are missing: {format_size(answer.arena_size)} is too small, {needed} are needed"


def _remedy(answer: ArenaAnswer, shrunk_by: str) -> list[str]:
    """Return what to do where a larger arena works."""
    if answer.enough is None or answer.enough <= answer.arena_size:
        return []
    first, *command = larger_or_shrink(answer.enough, shrunk_by)
    return [f"what to do: {first}", *(f"  {line}" for line in command)]


def larger_or_shrink(enough: int, shrunk_by: str) -> list[str]:
    """Return what to do about an arena that is too small; ``enough`` bytes, a multiple of 16, are not.

    The command stands in a line of its own, so that it can be copied.
    """
    declared = f"declare alignas(16) uint8_t tensor_arena[{enough}]"
    return [f"{declared}, or look what shrink saves:", shrunk_by] if shrunk_by else [declared]
