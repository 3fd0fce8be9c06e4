"""Whatever a well-behaved client asks of the arena, and whatever chain of operators is planned, nothing is found."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, OpEvent
from tflm_sim.arena.stages import Stage
from tflm_sim.checks.sanitizer import Sanitizer
from tflm_sim.invocation.findings import FindingCode
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.targets.presets import preset

ALIGNMENTS = st.sampled_from([1, 2, 4, 8, 16])
steps = st.lists(st.tuples(st.sampled_from(["persist", "temp"]), st.integers(0, 300), ALIGNMENTS), max_size=12)


def prepare(arena: SingleArenaBufferAllocator, rows: list[tuple[str, int, int]], *, forget: int = 0) -> None:
    """Carry out a Prepare: its persistent buffers, then its temps, of which ``forget`` are not given back."""
    arena.emit(OpEvent(Stage.OP_PREPARE, 0, 0, "MINE", has=True))
    for kind, size, alignment in sorted(rows):
        if kind == "persist":
            arena.allocate_persistent_buffer(size, alignment)
    temps = [arena.allocate_temp(size, alignment) for kind, size, alignment in rows if kind == "temp" and size]
    for offset in [offset for offset in temps if offset is not None][forget:]:
        arena.deallocate_temp(offset)
    arena.reset_temp_allocations()
    arena.resize_buffer(100, 4)


@given(st.lists(steps, max_size=6), st.integers(0, 4096), st.sampled_from([0, 4, 8, 12]))
def test_a_well_behaved_client_has_no_findings(
    prepares: list[list[tuple[str, int, int]]], size: int, address: int
) -> None:
    """... but where upstream's unsigned arithmetic hands out bytes that are in use, which the arena knows too."""
    sanitizer, events = Sanitizer(address=address), []
    arena = SingleArenaBufferAllocator(size, address=address, observers=[sanitizer, events.append])
    for rows in prepares:
        prepare(arena, rows)
    assert bool(sanitizer.findings) <= any(isinstance(event, Corruption) for event in events)


@given(st.lists(steps, min_size=1, max_size=4), st.integers(1, 5))
def test_every_temp_that_is_kept_is_named(prepares: list[list[tuple[str, int, int]]], forget: int) -> None:
    sanitizer = Sanitizer()
    arena = SingleArenaBufferAllocator(1 << 16, observers=[sanitizer])
    kept = min(forget, sum(kind == "temp" and size > 0 for kind, size, _ in prepares[0]))
    prepare(arena, prepares[0], forget=forget)
    leaks = [found for found in sanitizer.findings if found.code is FindingCode.TEMP_NOT_RELEASED]
    assert len(leaks) == kept


@st.composite
def models(draw: st.DrawFn) -> Model:
    """A random graph of ADDs: each reads two earlier tensors; some tensors are outputs."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(draw(st.integers(1, 3)))]
    inputs = list(tensors)
    for _ in range(draw(st.integers(1, 10))):
        sources = [draw(st.sampled_from(tensors)) for _ in range(2)]
        tensors.append(builder.tensor((1, 16), TensorType.INT8, scale=0.5))
        builder.operator("ADD", sources, [tensors[-1]])
    outputs = draw(st.lists(st.sampled_from(tensors), min_size=1, max_size=3, unique=True))
    return parse(builder.build(inputs=inputs, outputs=outputs))


@settings(max_examples=40)
@given(models(), st.sampled_from(["greedy", "linear"]))
def test_plans_of_tflm_are_sound(model: Model, planner: str) -> None:
    sanitizer = Sanitizer()
    simulation = simulate(model, preset("cortex-m4"), planner=planner, observers=[sanitizer])
    assert sanitizer.findings == []
    assert invoke(simulation, count=2).findings == ()


@settings(max_examples=40)
@given(models(), st.data())
def test_invoking_and_the_sanitizers_rule_agree_on_random_plans(model: Model, data: st.DataObject) -> None:
    """Data is corrupted only where two buffers that are alive together share bytes."""
    simulation = simulate(model, preset("cortex-m4"))
    offsets = [16 * data.draw(st.integers(0, 6)) for _ in simulation.buffers]
    infos = [buffer.info for buffer in simulation.buffers]
    overlap = any(
        offsets[a] == offsets[b]
        and infos[a].first_created <= infos[b].last_used
        and infos[b].first_created <= infos[a].last_used
        for a in range(len(infos))
        for b in range(a)
    )
    assert invoke(simulation, count=2, offsets=offsets).ok == (not overlap)
