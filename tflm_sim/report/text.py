"""The size report and the trace for people at a terminal: plain lines, no colour, no width assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import PurePath
from textwrap import wrap

from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import SmallestArena
from tflm_sim.arena.events import Event
from tflm_sim.arena.state import ArenaState
from tflm_sim.escape import printable
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.report.trace import trace_row
from tflm_sim.units import align_up, format_size

TOP_ROWS = 8
TOP_PARTS = 4


_NARROWEST = 6


def table_lines(rows: Sequence[Sequence[str]], *, width: int | None = None) -> list[str]:
    """Return rows as lines with aligned columns.

    A cell that starts with a digit, or a sign and a digit, is right-aligned; so is a "-" in a column with such cells.

    Args:
        rows: The cells.
        width: Columns that there are: the widest columns but the first are broken into lines until it fits; None
            for any.
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    while width is not None and sum(widths) + 2 * len(widths) - 2 > width and max(widths[1:]) > _NARROWEST:
        widths[1 + widths[1:].index(max(widths[1:]))] -= 1
    broken = [line for row in rows for line in _broken(row, widths)]
    columns = [_column(cells) for cells in zip(*broken, strict=True)]
    return ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]


def _broken(row: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yield a row as the lines that its longest cell needs."""
    if all(len(cell) <= size for cell, size in zip(row, widths, strict=True)):
        yield tuple(row)
        return
    cells = [wrap(cell, size) or [""] for cell, size in zip(row, widths, strict=True)]
    yield from zip_longest(*cells, fillvalue="")


def _column(cells: Sequence[str]) -> list[str]:
    width = max(map(len, cells))
    has_numbers = any(map(_is_number, cells))
    return [
        cell.rjust(width) if _is_number(cell) or (cell == "-" and has_numbers) else cell.ljust(width) for cell in cells
    ]


def _is_number(cell: str) -> bool:
    return cell[cell[:1] in ("+", "-") :][:1].isdigit()


def size_lines(simulation: Simulation) -> list[str]:
    """Return the report of one model: the answer first, then who needs it."""
    config = simulation.configuration
    name = printable(PurePath(simulation.model.path or "model").name)
    kernels = config.target.kernel_library
    lines = [
        f"{name} on {config.target.name} ({kernels} kernels, {config.interpreter} interpreter, "
        f"{config.planner} planner)",
        "",
    ]
    if simulation.failure is not None:
        return lines + _failed_lines(simulation)
    answer = _split_lines(simulation) if config.is_split else _answer_lines(simulation)
    return lines + answer + _tail_lines(simulation) + _peak_lines(simulation)


def _failed_lines(simulation: Simulation) -> list[str]:
    lines = [f"AllocateTensors() fails in an arena of any size: {printable(str(simulation.failure), 200)}"]
    if simulation.log:
        lines += ["the device prints:", *_device_lines(simulation.log)]
    return lines


def _device_lines(log: Iterable[str]) -> list[str]:
    return [f"    {printable(line, 200)}" for line in log if line.strip()]


def _answer_lines(simulation: Simulation) -> list[str]:
    smallest = simulation.smallest
    assert smallest is not None, "only for models that work"
    binding = smallest.binding
    rows = [
        ("smallest arena", format_size(smallest.size), "AllocateTensors() fails with one byte less"),
        ("multiple of 16", format_size(smallest.multiple_of_16), "the one to put in the firmware:"),
    ]
    if smallest.multiple_of_16 % 16 and not simulation.configuration.target.arena_address:
        note = "AllocateTensors() halts in every one, for a kernel overwrites its neighbour; put in the firmware:"
        rows[1] = ("multiple of 16", "none", note)
    lines = [*table_lines(rows), f"    alignas(16) uint8_t tensor_arena[{smallest.multiple_of_16}];", ""]
    used = simulation.arena_used_bytes
    lines.append(
        f"arena_used_bytes() reports {format_size(used)} in a large arena: head {simulation.head_bytes:,} + tail "
        f"{simulation.tail_bytes:,}"
    )
    if smallest.size > used:
        lines.append(f"that is {smallest.size - used:,} B less than it needs on the way there:")
    lines.append(
        f"what binds ({binding.kind}): {binding.detail}, in '{binding.place}': {binding.floor:,} B from the start must "
        f"lie below a tail of {smallest.size - binding.floor:,} B"
    )
    return lines


def _split_lines(simulation: Simulation) -> list[str]:
    split = simulation.split
    assert split is not None, "only for models that work on two arenas"
    rows = [
        ("smallest persistent arena", format_size(split.persistent)),
        ("smallest non-persistent arena", format_size(split.non_persistent)),
    ]
    return [
        *table_lines(rows),
        f"    alignas(16) uint8_t persistent_arena[{split.persistent}];",
        f"    alignas(16) uint8_t non_persistent_arena[{align_up(split.non_persistent, 16)}];",
        "",
        f"arena_used_bytes() reports {format_size(simulation.arena_used_bytes)} in large arenas",
    ]


def _tail_lines(simulation: Simulation) -> list[str]:
    groups = sorted(simulation.ledger.groups.items(), key=lambda item: -item[1].used)
    rows = [("bytes", "share", "padding", "what")]
    for what, row in groups:
        share = f"{100 * row.used / max(simulation.tail_bytes, 1):.1f} %"
        rows.append((f"{row.used:,}", share, f"{row.used - row.requested:,}", what))
        rows += _label_rows(simulation, what)
    ops = sorted(simulation.ledger.ops.items(), key=lambda item: -item[1].used)[:TOP_ROWS]
    op_rows = [
        (f"{row.used:,}", f"#{index}", printable(op) + (f" (subgraph {subgraph})" if subgraph else ""))
        for (subgraph, index, op), row in ops
    ]
    lines = ["", f"tail {simulation.tail_bytes:,} B, by what it is", *table_lines(rows)]
    return [*lines, "", "tail by operator, the largest", *table_lines(op_rows)] if op_rows else lines


def _label_rows(simulation: Simulation, group: str) -> list[tuple[str, str, str, str]]:
    """Return what a group consists of, the largest parts, where it consists of several."""
    parts = [(label, row) for (what, label), row in simulation.ledger.labels.items() if what == group and label]
    total = sum(row.used for _, row in parts)
    if len(parts) < 2 or 10 * total < simulation.tail_bytes:
        return []
    parts.sort(key=lambda part: -part[1].used)
    return [("", "", "", f"  {row.used:,} in {row.count} of {printable(label)}") for label, row in parts[:TOP_PARTS]]


def _peak_lines(simulation: Simulation) -> list[str]:
    allocation = simulation.allocation
    peak = simulation.peak
    if allocation is None or peak is None:
        return []
    where = (
        f"#{peak.operator} {allocation.op_names[peak.subgraph][peak.operator]}" if peak.operator >= 0 else "the inputs"
    )
    above = simulation.head_bytes - peak.live_bytes
    verdict = "no plan can be smaller" if above == 0 else f"{above:,} B of the head are the planner's gaps"
    rows = [("bytes", "offset", "alive", "buffer")]
    for info, offset in peak.buffers:
        what = _buffer_name(simulation, info)
        rows.append((f"{info.size:,}", f"{offset:,}", f"{info.first_created}..{info.last_used}", what))
    title = f"head {simulation.head_bytes:,} B; fullest at {where} with {peak.live_bytes:,} B alive; {verdict}"
    return ["", title, *table_lines(rows)]


def _buffer_name(simulation: Simulation, info: AllocationInfo) -> str:
    if info.tensor < 0:
        label = simulation.ledger.scratch_labels[info.scratch]
        return f"scratch {info.scratch} of #{info.node}" + (f" ({label})" if label else "")
    tensor = simulation.model.subgraphs[info.subgraph].tensors[info.tensor]
    return f"tensor {info.tensor} {printable(tensor.name)}"


def failure_lines(simulation: Simulation) -> list[str]:
    """Return why an arena does not work, where it fails, and what the device prints."""
    lines = [_too_small(simulation.arena_size, simulation.smallest)]
    if simulation.failure is not None:
        lines.append(f"what fails, in '{failed_step(simulation)}': {printable(str(simulation.failure), 200)}")
    else:
        lines.append("the device does not notice")
    lines += [f"    bytes in use are overwritten: {text}" for text in simulation.corruptions]
    if simulation.log:
        lines += ["the device prints:", *_device_lines(simulation.log)]
    return lines


def _too_small(arena_size: int, smallest: SmallestArena | None) -> str:
    if smallest is None:
        return "AllocateTensors() fails in an arena of any size"
    needed = smallest.multiple_of_16
    if needed <= arena_size:
        return f"{arena_size:,} B do not work, {needed:,} B do: make the size a multiple of 16"
    return f"{format_size(arena_size)} is too small, {format_size(needed)} are needed"


def failed_step(simulation: Simulation) -> str:
    """Return the phase or operator in which AllocateTensors() ended."""
    if simulation.failure is not None and simulation.failure.where:
        return simulation.failure.where
    return str(ArenaState().fold(simulation.events).place)


def trace_line(event: Event) -> str:
    """Return one event as a line: its name, then its facts."""
    row = trace_row(event)
    name = row.pop("e")
    label = getattr(event, "label", "")
    facts = " ".join(
        f"{key}={printable(value, 200) if isinstance(value, str) else value}" for key, value in row.items()
    )
    return f"{name:<12} {facts}" + (f"  {printable(label)}" if label else "")
