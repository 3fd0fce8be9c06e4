"""``take_picture``: run a model in the arena that its firmware should have, and record all that pictures show."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Unpack

from tflm_sim.answers.peak import alive_in, live_bytes
from tflm_sim.answers.planned_problem import category_of, planned_buffer
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.events import Observer, each_observer
from tflm_sim.device.configuration import Configuration, Settings, Where
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import each_of, expect
from tflm_sim.escape import printable
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.planners import greedy
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.report.circumstances import with_assumed
from tflm_sim.report.document import size_document
from tflm_sim.report.picture import Limit, Picture, Remedy, Resident, Shortage, is_tail
from tflm_sim.report.picture_builder import PictureBuilder
from tflm_sim.report.size_answer import arena_answer
from tflm_sim.report.text import about_line, larger_or_shrink
from tflm_sim.sizes import as_size
from tflm_sim.units import align_up

MAX_REMEDIES = 8


def take_picture(
    model: ModelLike,
    target: Where | None = None,
    *,
    arena_size: int | str | None = None,
    title: str = "",
    observers: Iterable[Observer] = (),
    assumed: tuple[str, ...] | None = None,
    shrunk_by: str = "",
    **settings: Unpack[Settings],
) -> Picture:
    """Return the picture of one model on one arena.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        target: What it runs on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
        arena_size: Bytes, or text ("64KiB"); by default the smallest multiple of 16 that works. Two arenas have their
            smallest sizes.
        title: Default: the target with its TFLM, its kernels, the planner, and what is assumed.
        observers: Who else is told of each event.
        assumed: The options that were not given, which the title then names; None where no options were asked for.
        shrunk_by: The command that looks for rewritings that need less, where the arena is too small; "" to name none.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        UsageError, UnsupportedOpError: As :func:`~tflm_sim.answers.simulation.simulate`.
    """
    model, observers, arena_size = load(model), each_observer(observers), as_size(arena_size, "arena_size")
    expect(title, str, "title as a text")
    expect(shrunk_by, str, "shrunk_by as a text")
    assumed = None if assumed is None else each_of(assumed, str, "assumed as names of options")
    roomy = simulate(model, target, observers=observers, **settings)
    size, split_size = _arena_sizes(roomy, arena_size)
    pictured = simulate(
        model, roomy.configuration, arena_size=size, non_persistent_arena_size=split_size, observers=observers
    )
    title = title or title_of(roomy.configuration, assumed)
    picture = _assemble(roomy, pictured, title=title, assumed=assumed)
    if pictured.failure is None:
        return picture
    picture = replace(picture, device_log=tuple(pictured.log), advice=_advice(roomy, pictured, shrunk_by))
    if roomy.smallest is None or roomy.configuration.split_arenas:
        return picture
    working = simulate(model, roomy.configuration, arena_size=roomy.smallest.size)
    return _pressed(_assemble(roomy, working, title=title, assumed=assumed), picture)


def _pressed(works: Picture, fails: Picture) -> Picture:
    """Return the picture of a run that works in the smaller arena of one that fails: its head lies over its tail.

    Where not even the tail has room, it is the failing run's.
    """
    missing = works.arena_bytes - fails.arena_bytes
    tightest = works.limits[0]
    if works.tail_start < missing:
        return fails
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(works.steps, fails.steps, strict=False))
    start, end = fails.arena_bytes - tightest.tail, tightest.floor
    return replace(
        works,
        arena_bytes=fails.arena_bytes,
        status=fails.status,
        failure=fails.failure,
        blocks=tuple(row._replace(offset=row.offset - missing) if is_tail(row) else row for row in works.blocks),
        shortage=Shortage(start=max(start, 0), end=max(end, start), missing=missing, step=sum(1 for _ in alike)),
        device_log=fails.device_log,
        advice=fails.advice,
    )


def _advice(roomy: Simulation, pictured: Simulation, shrunk_by: str) -> tuple[str, ...]:
    """Return what to do about a failure: a larger arena, or, where none is large enough, about the model."""
    if roomy.smallest is None:
        step = printable(arena_answer(pictured).failed_step or "AllocateTensors()", 120)
        return (
            "No arena is large enough: the device refuses the model itself.",
            f"It stops in {step}; change this operator, or take a library that has what it needs.",
        )
    size, needed = pictured.device.arena.size, roomy.smallest
    first, *command = larger_or_shrink(needed.multiple_of_16, shrunk_by)
    return (
        f"{needed.size:,} B are needed, {needed.size - size:,} B more than this arena has.",
        f"What to do: {first}" if command else f"What to do: {first}.",
        *command,
    )


def _assemble(roomy: Simulation, pictured: Simulation, *, title: str, assumed: tuple[str, ...] | None) -> Picture:
    """Return the picture of a simulation; ``roomy`` is the same one in a roomy arena."""
    configuration, allocation = roomy.configuration, pictured.allocation
    split_at = pictured.non_persistent_arena_size or 0
    builder = _fold(pictured, split_at=split_at)
    residents = residents_of(allocation, builder.scratch_labels) if allocation and pictured.failure is None else ()
    planned = allocation if residents else None
    limits = () if configuration.split_arenas else _of_answer(roomy, pictured, builder).tightest()
    return Picture(
        title=title,
        size=size_document(roomy, assumed=assumed),
        arena_bytes=pictured.device.arena.size,
        split_at=split_at,
        status=pictured.status,
        failure=str(pictured.failure or ""),
        **builder.drawn(),
        op_names=tuple(map(tuple, allocation.op_names)) if allocation else (),
        subgraph_names=subgraph_names(roomy.model),
        scopes=tuple(planned.scopes) if planned else (),
        residents=residents,
        live_bytes=tuple(live_bytes(planned)) if planned else (),
        limits=limits,
        remedies=_remedies(planned, residents, limits, configuration.planner) if planned else (),
    )


def _of_answer(roomy: Simulation, pictured: Simulation, builder: PictureBuilder) -> PictureBuilder:
    """Return who knows the tightest steps: in the smallest multiple of 16, as is the answer; else of a failing arena.

    What alignment skips in the tail differs from one size to another, so that the steps of another arena may add up to
    another size. The steps themselves are the same.
    """
    smallest = roomy.smallest
    if not pictured.fits or smallest is None or pictured.arena_size in (smallest.size, smallest.multiple_of_16):
        return builder
    return _fold(simulate(roomy.model, roomy.configuration, arena_size=smallest.multiple_of_16))


def _fold(simulation: Simulation, *, split_at: int = 0) -> PictureBuilder:
    builder = PictureBuilder(simulation.configuration.planner, split_at=split_at)
    return builder.fold(simulation.events, str(simulation.failure or ""))


def title_of(configuration: Configuration, assumed: tuple[str, ...] | None) -> str:
    """Return the target, what is assumed, its TFLM, its kernels, and what else is not usual."""
    target = configuration.target
    return f"{with_assumed(target.name, assumed, target)}, {about_line(configuration)}"


def _arena_sizes(roomy: Simulation, arena_size: int | None) -> tuple[int, int | None]:
    """Return the bytes of the arena, or of the persistent and the non-persistent one."""
    if roomy.split is not None:
        return roomy.split.persistent, align_up(roomy.split.non_persistent, BUFFER_ALIGNMENT)
    if arena_size is not None:
        return arena_size, None
    if roomy.smallest is not None:
        return roomy.smallest.multiple_of_16, None
    return _room_to_fail(roomy)


def _room_to_fail(roomy: Simulation) -> tuple[int, int | None]:
    """Return an arena in which a model that fails anyway gets as far as in a roomy one."""
    needs = (limit.need for limit in _fold(roomy).limits.values())
    most = min(align_up(max(needs, default=0) + BUFFER_ALIGNMENT, BUFFER_ALIGNMENT), roomy.arena_size)
    return most, most if roomy.configuration.split_arenas else None


def subgraph_names(model: Model) -> tuple[str, ...]:
    """Return what each subgraph is called."""
    signatures = {row.subgraph_index: row.key for row in reversed(model.signatures)}
    return tuple(
        subgraph.name or signatures.get(index) or (f"subgraph_{index}" if index else "main")
        for index, subgraph in enumerate(model.subgraphs)
    )


def residents_of(allocation: ModelAllocation, scratch_labels: Sequence[str]) -> tuple[Resident, ...]:
    """Return what the planner placed, in the order in which it was asked."""
    rows = [(allocation.infos[index], offset) for index, offset in allocation.offsets.items()]
    starts = sorted(offset for info, offset in rows if info.size > 0)
    ends = sorted(offset + info.size for info, offset in rows if info.size > 0)
    return tuple(
        Resident(
            category=category_of(allocation.model, info),
            name=_name(allocation, info, scratch_labels),
            subgraph=info.subgraph,
            number=info.tensor if info.tensor >= 0 else info.scratch,
            operator=info.node,
            size=info.size,
            offset=offset,
            # What no operator writes, such as the scratch of an Ethos-U, is there from the start.
            first=max(alive_in(allocation, info).start, 0),
            last=max(alive_in(allocation, info).stop - 1, 0),
            # Those that neither end before it starts nor start after it ends, less itself.
            sharing=bisect_left(starts, offset + info.size) - bisect_right(ends, offset) - 1 if info.size > 0 else 0,
        )
        for info, offset in rows
    )


def _name(allocation: ModelAllocation, info: AllocationInfo, scratch_labels: Sequence[str]) -> str:
    if info.tensor < 0:
        return scratch_labels[info.scratch]
    return allocation.model.subgraphs[info.subgraph].tensors[info.tensor].name


def _remedies(
    allocation: ModelAllocation, residents: Sequence[Resident], limits: Sequence[Limit], planner: str
) -> tuple[Remedy, ...]:
    """Plan again without each of the largest buffers of the fullest scope."""
    by_stage = {limit.stage: limit for limit in limits}
    running = by_stage.pop("running", None)
    if running is None:
        return ()
    live = live_bytes(allocation)
    peak = max(range(len(live)), key=live.__getitem__)
    others = max((limit.need for limit in by_stage.values()), default=0)
    infos = [allocation.infos[index] for index in allocation.offsets]
    if min(info.size for info in infos) < 0:
        return ()  # only the device plans buffers of negative sizes
    buffers = [planned_buffer(info) for info in infos]
    alive = [i for i, row in enumerate(residents) if row.first <= peak <= row.last and row.size]
    rows = []
    for index in sorted(alive, key=lambda i: -residents[i].size)[:MAX_REMEDIES]:
        rest = buffers[:index] + buffers[index + 1 :]
        head = sum(buffer.size for buffer in rest) if planner == "linear" else greedy.plan(rest).peak
        rows.append(Remedy(index, head, align_up(max(others, head + running.tail), BUFFER_ALIGNMENT)))
    return tuple(sorted(rows, key=lambda row: row.head_bytes))
