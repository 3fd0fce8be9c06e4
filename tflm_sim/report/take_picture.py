"""``take_picture``: run a model on the arena that its firmware should have, and keep all there is to see."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

from tflm_sim.answers.measure import Measurement, measure
from tflm_sim.answers.peak import live_bytes
from tflm_sim.arena.events import Event, Observer, Phase
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.run import ROOMY_ARENA, Outcome, run
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.model.types import Model
from tflm_sim.planners import greedy
from tflm_sim.planners.buffers import Buffer
from tflm_sim.report.document import size_document
from tflm_sim.report.picture import Limit, Picture, Remedy, Resident
from tflm_sim.report.picture_builder import PictureBuilder
from tflm_sim.units import align_up

MOST_REMEDIES = 8


def take_picture(
    model: Model,
    configuration: Configuration,
    *,
    arena_size: int | None = None,
    title: str = "",
    observers: Iterable[Observer] = (),
) -> Picture:
    """Return the picture of one model on one arena.

    Args:
        model: The model.
        configuration: How TFLM was set up.
        arena_size: Bytes; by default the smallest multiple of 16 that works. Two arenas have their smallest sizes.
        title: Default: the target and the planner.
        observers: Who else is told of each event.

    Raises:
        UsageError, UnsupportedOpError: As :func:`~tflm_sim.answers.measure.measure`.
    """
    observers = tuple(observers)
    measurement = measure(model, configuration, observers=observers)
    sizes = _arena_sizes(measurement, arena_size)
    builder = PictureBuilder(configuration.planner, split_at=sizes[1] if configuration.is_split else 0)
    usable: list[int] = []
    outcome = run(
        [model],
        configuration,
        arena_size=sizes[0],
        non_persistent_arena_size=sizes[1],
        observers=(_size_watch(usable), builder, *observers),
    )
    split_at = sizes[1] if configuration.is_split else 0
    return _assemble(
        measurement, builder, outcome, title=title or _title(configuration), arena_bytes=usable[0], split_at=split_at
    )


def _assemble(
    measurement: Measurement, builder: PictureBuilder, outcome: Outcome, *, title: str, arena_bytes: int, split_at: int
) -> Picture:
    """Return the picture of a run that is over."""
    configuration = measurement.configuration
    if outcome.failure is not None:
        builder.fail(str(outcome.failure))
    allocation = outcome.allocations[0] if outcome.allocations else None
    residents = _residents(allocation, builder.scratch_labels) if allocation and outcome.failure is None else ()
    limits = () if configuration.is_split else tuple(sorted(builder.limits.values(), key=lambda row: -row.need))
    return Picture(
        title=title,
        size=size_document(measurement),
        arena_bytes=arena_bytes,
        split_at=split_at,
        status=outcome.status,
        failure=str(outcome.failure or ""),
        moments=tuple(builder.moments),
        blocks=builder.blocks(),
        steps=tuple(builder.steps),
        op_names=tuple(map(tuple, allocation.op_names)) if allocation else (),
        subgraph_names=_subgraph_names(measurement.model),
        scopes=tuple(allocation.scopes) if allocation and residents else (),
        residents=residents,
        live_bytes=tuple(live_bytes(allocation)) if allocation and residents else (),
        limits=limits,
        remedies=_remedies(allocation, residents, limits, configuration.planner) if allocation else (),
    )


def _title(configuration: Configuration) -> str:
    target = configuration.target
    return (
        f"{target.name}, {target.kernel_library} kernels, {configuration.planner} planner, "
        f"{configuration.interpreter} interpreter"
    )


def _arena_sizes(measurement: Measurement, arena_size: int | None) -> tuple[int, int]:
    """Return the bytes of the arena, or of the persistent and the non-persistent one."""
    if measurement.split is not None:
        return measurement.split.persistent, align_up(measurement.split.non_persistent, 16)
    if arena_size is not None:
        return arena_size, 0
    if measurement.smallest is not None:
        return measurement.smallest.multiple_of_16, 0
    return _room_to_fail(measurement)


def _room_to_fail(measurement: Measurement) -> tuple[int, int]:
    """Return an arena in which a model that fails anyway gets as far as in a roomy one."""
    config = measurement.configuration
    builder = PictureBuilder(config.planner)
    size = ROOMY_ARENA - config.target.arena_address
    run([measurement.model], config, arena_size=size, non_persistent_arena_size=size, observers=(builder,))
    most = align_up(max((limit.need for limit in builder.limits.values()), default=0) + 16, 16)
    return (most, most) if config.is_split else (most, 0)


def _size_watch(sizes: list[int]) -> Observer:
    """Return an observer that notes the usable bytes of the arena."""

    def watch(event: Event) -> None:
        if isinstance(event, Phase) and event.name == "create":
            sizes.append(dict(event.facts)["aligned_size"])

    return watch


def _subgraph_names(model: Model) -> tuple[str, ...]:
    signatures = {row.subgraph_index: row.key for row in reversed(model.signatures)}
    return tuple(
        subgraph.name or signatures.get(index) or (f"subgraph_{index}" if index else "main")
        for index, subgraph in enumerate(model.subgraphs)
    )


def _residents(allocation: ModelAllocation, scratch_labels: Sequence[str]) -> tuple[Resident, ...]:
    rows = [(allocation.infos[index], offset) for index, offset in allocation.offsets.items()]
    starts = sorted(offset for info, offset in rows if info.size)
    ends = sorted(offset + info.size for info, offset in rows if info.size)
    return tuple(
        Resident(
            category=_category(allocation, info),
            name=_name(allocation, info, scratch_labels),
            subgraph=info.subgraph,
            number=info.tensor if info.tensor >= 0 else info.scratch,
            operator=info.node,
            size=info.size,
            offset=offset,
            first=info.first_created,
            last=info.last_used,
            # Those that neither end before it starts nor start after it ends, less itself.
            sharing=bisect_left(starts, offset + info.size) - bisect_right(ends, offset) - 1 if info.size else 0,
        )
        for info, offset in rows
    )


def _name(allocation: ModelAllocation, info: AllocationInfo, scratch_labels: Sequence[str]) -> str:
    if info.tensor < 0:
        return scratch_labels[info.scratch]
    return allocation.model.subgraphs[info.subgraph].tensors[info.tensor].name


def _category(allocation: ModelAllocation, info: AllocationInfo) -> str:
    if info.tensor < 0:
        return "scratch"
    subgraph = allocation.model.subgraphs[info.subgraph]
    if subgraph.tensors[info.tensor].is_variable:
        return "planned_variable"
    if info.subgraph == 0 and info.tensor in (subgraph.inputs or ()):
        return "input"
    return "output" if info.subgraph == 0 and info.tensor in (subgraph.outputs or ()) else "activation"


def _remedies(
    allocation: ModelAllocation, residents: Sequence[Resident], limits: Sequence[Limit], planner: str
) -> tuple[Remedy, ...]:
    """Plan again without each of the largest buffers of the fullest scope."""
    running = next((limit for limit in limits if limit.stage == "running"), None)
    if not residents or running is None:
        return ()
    live = live_bytes(allocation)
    peak = max(range(len(live)), key=live.__getitem__)
    alive = [i for i, row in enumerate(residents) if row.first <= peak <= row.last and row.size]
    alive.sort(key=lambda i: -residents[i].size)
    others = max((limit.need for limit in limits if limit is not running), default=0)
    infos = [allocation.infos[index] for index in allocation.offsets]
    buffers = [_buffer(info) for info in infos]
    rows = []
    for index in alive[:MOST_REMEDIES]:
        head = _head_without(buffers, index, planner)
        rows.append(Remedy(index, head, align_up(max(others, head + running.tail), 16)))
    return tuple(sorted(rows, key=lambda row: row.head_bytes))


def _buffer(info: AllocationInfo) -> Buffer:
    fixed = info.offline_offset if info.offline_offset >= 0 else None
    return Buffer(align_up(info.size, 16), info.first_created, info.last_used, offset=fixed)


def _head_without(buffers: list[Buffer], index: int, planner: str) -> int:
    rest = buffers[:index] + buffers[index + 1 :]
    return sum(buffer.size for buffer in rest) if planner == "linear" else greedy.plan(rest).peak
