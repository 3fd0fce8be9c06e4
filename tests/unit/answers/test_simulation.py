"""``simulate()``: recorded categories, who holds the tail, the peak; all of it adds up to the arena."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.ledger import TailBytes
from tflm_sim.answers.peak import find_peak, live_bytes
from tflm_sim.answers.simulation import Simulation, simulate, simulation_of
from tflm_sim.answers.smallest_arena import smallest_arena, table_bytes
from tflm_sim.arena.events import Persist, Phase
from tflm_sim.arena.stages import GROUPS, Stage
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.device.recording import AllocationRecorder
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import FreeTempBuffer, Persistent, Steps, TempBuffer
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

REFERENCE = preset("cortex-m4", kernels="reference")


def measured(model: Model, **settings: object) -> Simulation:
    return simulate(model, Configuration(REFERENCE, **settings))


# -- recorded categories ------------------------------------------------------------------------------------------


def test_two_arrays_are_counted_by_element() -> None:
    recorder = AllocationRecorder(compression=False)
    recorder(Phase(Stage.EVAL_TENSORS, (("sg", 0), ("n", 5))))
    recorder(Persist(60, 4, 0, 64, 64, "kTfLiteEvalTensorData", ""))
    row = recorder.recorded["kTfLiteEvalTensorData"]
    assert (row.requested, row.used, row.count) == (60, 64, 5)


def test_an_array_without_elements_takes_its_one_allocation_back() -> None:
    recorder = AllocationRecorder(compression=False)
    recorder(Phase(Stage.NODE_REGS, (("sg", 0), ("n", 0))))
    recorder(Persist(0, 4, 0, 0, 0, "kNodeAndRegistrationArray", ""))
    assert recorder.recorded["kNodeAndRegistrationArray"].count == 0


def test_what_has_no_category_upstream_is_not_recorded() -> None:
    recorder = AllocationRecorder(compression=True)
    recorder(Persist(36, 4, 0, 36, 36, "", "MicroAllocator"))
    assert not any(row.count for row in recorder.recorded.values())
    assert "kCompressionData" in recorder.recorded


# -- who holds the tail -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_groups_add_up_to_the_tail_and_their_parts_to_them(sample: str) -> None:
    measurement = measured(load(sample_path(sample)))
    ledger = measurement.ledger
    assert sum(row.used for row in ledger.groups.values()) == measurement.tail_bytes
    for group, row in ledger.groups.items():
        assert sum(part.used for (what, _), part in ledger.labels.items() if what == group) == row.used
    assert ledger.groups.keys() <= GROUPS


def test_an_operator_holds_its_builtin_data_and_its_kernel_data(chain: Callable[..., Model]) -> None:
    holding = measured(chain(8, 8)).ledger.ops[0, 0, "RELU"]
    # ReluOpData; RELU has no builtin data. Aligned to 16 it takes 32 bytes, and what the handle before left of 16.
    assert (holding.requested, holding.count) == (28, 1)
    assert 32 <= holding.used < 32 + 16
    assert TailBytes() == TailBytes(0, 0, 0)
    found = TailBytes()
    for size, used in ((28, 36), (4, 4)):
        found.add(Persist(size, 4, 0, used, used, "", ""))
    assert (found.requested, found.used, found.count) == (32, 40, 2)


def test_after_a_failure_there_is_no_smallest_arena_but_the_figure_of_that_moment() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), TensorType.STRING)
    measurement = measured(parse(builder.build(inputs=[0], outputs=[0])))
    assert (measurement.status, measurement.smallest) == ("error", None)
    assert measurement.arena_used_bytes == measurement.head_bytes + measurement.tail_bytes > 0


def test_after_an_abort_nothing_is_reported() -> None:
    measurement = measured(parse(ModelBuilder().build(inputs=None, outputs=[])))
    assert (measurement.status, measurement.arena_used_bytes) == ("abort", 0)


# -- the peak -----------------------------------------------------------------------------------------------------


def test_the_peak_is_the_first_fullest_moment(chain: Callable[..., Model]) -> None:
    allocation = measured(chain(16, 160, 160, 16)).allocation
    assert allocation is not None
    assert live_bytes(allocation) == [16, 16 + 160, 160 + 160, 160 + 16]
    peak = find_peak(allocation)
    assert peak is not None
    assert (peak.scope, peak.subgraph, peak.operator, peak.live_bytes) == (2, 0, 1, 320)
    assert peak.op == "RELU"
    placed = list(allocation.offsets.items())
    alive = [placed[position] for position in peak.buffers]
    assert [(allocation.infos[index].tensor, offset) for index, offset in alive] == [(2, 0), (1, 160)]


def test_a_model_without_buffers_has_no_peak() -> None:
    allocation = measured(parse(ModelBuilder().build(inputs=[], outputs=[]))).allocation
    assert allocation is not None
    assert find_peak(allocation) is None


# -- the same of a simulation ---------------------------------------------------------------------------------------


def test_a_simulation_knows_its_peak_and_who_holds_its_tail(chain: Callable[..., Model]) -> None:
    simulation = simulate([chain(16, 16), chain(160, 160)], REFERENCE)
    assert simulation.peak is not None
    assert simulation.peak.live_bytes == 320  # of the second model
    assert sum(row.used for row in simulation.ledger.groups.values()) == simulation.tail_bytes
    assert simulate(chain(16, 16), REFERENCE, arena_size=300).peak is None


def test_the_smallest_arena_is_the_same_asked_of_any_arena() -> None:
    model = load(sample_path("sine"))
    expected = smallest_arena(model, REFERENCE)
    for arena_size in (None, 1 << 16, 100):
        simulation = simulate(model, REFERENCE, arena_size=arena_size)
        assert simulation.smallest == expected
        assert simulation.smallest is simulation.smallest  # worked out once


def test_what_works_in_no_arena_has_no_smallest_one() -> None:
    model = parse(ModelBuilder().build(inputs=None, outputs=[]))
    assert simulate(model, REFERENCE).smallest is None
    assert simulate(model, REFERENCE, arena_size=64).smallest is None
    assert simulate(model, REFERENCE, split_arenas=True).split is None


@pytest.mark.parametrize(("planner", "size"), [("greedy", 40), ("linear", 0)])
def test_only_the_greedy_planner_keeps_a_table_of_buffers_in_temp(planner: str, size: int) -> None:
    assert table_bytes(configure("cortex-m4", planner=planner)) == size


# -- what it is called, and whether it fits -----------------------------------------------------------------------


def test_it_says_how_many_models_it_is_of(chain: Callable[..., Model]) -> None:
    one = simulate(chain(16, 16), REFERENCE, arena_size=1 << 16)
    assert repr(one) == "<Simulation of 1 model on cortex-m4: ok, 65,536 B>"
    two = simulate([chain(16, 16), chain(16, 16)], REFERENCE, arena_size=100)
    assert repr(two) == "<Simulation of 2 models on cortex-m4: abort, 100 B>"


def _over_temps(node: Node) -> Steps[None]:
    offset = yield TempBuffer(1000, 4)
    yield Persistent(200, "over temps")
    yield FreeTempBuffer(offset)


def over_temps(**settings: int) -> Simulation:
    """Simulate a kernel that takes persistent memory while it has a temp, with which TFLM does not compare it."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.custom("MINE", [x], [y])
    row = OpModel("MINE", None, None, _over_temps, "mine.cc")
    return simulate(parse(builder.build(inputs=[x], outputs=[y])), REFERENCE, custom_ops=[row], **settings)  # type: ignore[arg-type]


def test_a_run_fits_where_nothing_stops_it_and_no_byte_in_use_is_overwritten() -> None:
    roomy = over_temps()
    assert roomy.fits
    assert roomy.smallest is not None
    least = roomy.smallest.size
    assert over_temps(arena_size=least).fits
    damaged, failed = over_temps(arena_size=least - 1), over_temps(arena_size=100)
    assert (damaged.status, len(damaged.corruptions), damaged.fits) == ("ok", 1, False)
    assert (failed.status, failed.corruptions, failed.fits) == ("abort", (), False)


def test_arenas_that_overwrite_the_same_bytes_as_one_byte_less_pass_unnoticed() -> None:
    roomy = over_temps()
    assert roomy.smallest is not None
    least = roomy.smallest.size
    alike = least - 1
    while over_temps(arena_size=alike - 1).corruptions == over_temps(arena_size=least - 1).corruptions:
        alike -= 1
    assert roomy.unnoticed_from == alike < least - 1
    assert over_temps(arena_size=alike - 1).corruptions != over_temps(arena_size=alike).corruptions


def test_where_a_byte_less_fails_nothing_passes_unnoticed(chain: Callable[..., Model]) -> None:
    assert measured(chain(16, 16)).unnoticed_from is None
    assert measured(chain(16, 4096, 16)).unnoticed_from is None
    assert measured(parse(ModelBuilder().build(inputs=None, outputs=[]))).unnoticed_from is None


# -- one arena or two ---------------------------------------------------------------------------------------------


def test_the_second_arena_is_roomy_where_nothing_is_said_and_is_none_where_there_is_one(
    chain: Callable[..., Model],
) -> None:
    model, room = chain(16, 16), 1 << 30
    assert simulate(model, REFERENCE).non_persistent_arena_size is None
    both = simulate(model, REFERENCE, split_arenas=True)
    assert (both.arena_size, both.non_persistent_arena_size) == (room, room)
    assert both.roomy is both
    one = simulate(model, REFERENCE, arena_size=4096, split_arenas=True)
    assert (one.arena_size, one.non_persistent_arena_size) == (4096, room)
    assert one.roomy is not one
    small = simulate(model, REFERENCE, non_persistent_arena_size=4096)
    assert (small.arena_size, small.non_persistent_arena_size) == (room, 4096)
    assert small.roomy is not small
    assert small.configuration.split_arenas
    none = simulate(model, REFERENCE, arena_size=4096, non_persistent_arena_size=0)
    assert (none.device.arena.size, none.fits) == (4096, False)


def test_a_simulation_is_roomy_where_its_arena_is(chain: Callable[..., Model]) -> None:
    roomy = simulate(chain(16, 16), REFERENCE)
    assert roomy.roomy is roomy
    assert roomy.arena_size == 1 << 30
    small = simulate(chain(16, 16), REFERENCE, arena_size=4096)
    assert small.roomy.arena_size == 1 << 30


# -- a simulation, or a model to simulate -------------------------------------------------------------------------


def test_a_simulation_has_its_target_and_settings_already(chain: Callable[..., Model]) -> None:
    model = chain(16, 16)
    done = simulate(model, REFERENCE)
    assert simulation_of(done, None) is done
    with pytest.raises(UsageError, match="already has a target and settings"):
        simulation_of(done, REFERENCE)
    with pytest.raises(UsageError, match="already has a target and settings"):
        simulation_of(done, None, planner="linear")
    with pytest.raises(UsageError, match="a model needs a target"):
        simulation_of(model, None)
    assert simulation_of(model, REFERENCE, planner="linear").configuration.planner == "linear"
