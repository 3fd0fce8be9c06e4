"""The smallest arena is the one that a simulation of every size finds, wherever the arena starts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import MOST_PREPARES, Sizer
from tflm_sim.answers.smallest_arena import SmallestArena, smallest_arena
from tflm_sim.arena.events import Event
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import TensorType as T
from tflm_sim.samples import SAMPLES
from tflm_sim.targets.presets import preset

REFERENCE = preset("cortex-m4", kernels="reference")
OVERRUNNING = "esp32-s3-esphome"
SINE = load("sample:sine")


@pytest.mark.parametrize(("sample", "machine", "before", "since"), [
    ("sine", "cortex-m4", 1156, 1188),  # Three layers, each with its struct.
    ("sine", "riscv32", 1100, 1124),
    ("sine", "i386", 1100, 1124),
    ("keyword_spotter", "cortex-m4", 22824, 22832),
    ("keyword_spotter", "riscv32", 22780, 22788),
    ("streaming", "cortex-m4", 7952, 7952),  # The gap behind the struct of 5 bytes took in the 11 more.
    ("streaming", "riscv32", 7680, 7696),
])  # fmt: skip
def test_fully_connected_layers_need_more_since_the_wheel_of_2026_10_12(
    sample: str, machine: str, before: int, since: int
) -> None:
    model = load(f"sample:{sample}")
    found = [smallest_arena(model, preset(machine, runtime=day)).size for day in ("2026-10-09", "2026-10-12")]
    assert found == [before, since]


def convolution_and_softmax() -> bytes:
    """CONV_2D of esp-tflite-micro 1.3.3 writes over the softmax's beta where the arena ends badly."""
    builder = ModelBuilder()
    source = builder.tensor((1, 8, 8, 16), T.INT8, scale=0.5)
    weights = builder.tensor((6, 3, 3, 16), T.INT8, scale=0.1, data=bytes(6 * 9 * 16))
    middle, result = (builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128) for _ in range(2))
    builder.operator("CONV_2D", [source, weights], [middle], options={"padding": 0, "stride_w": 1, "stride_h": 1})
    builder.operator("SOFTMAX", [middle], [result], options={"beta": 1.0})
    return builder.build(inputs=[source], outputs=[result])


def variables_alone() -> bytes:
    """Three FULLY_CONNECTEDs whose ends are variables."""
    builder, size = ModelBuilder(), 1
    first = last = builder.tensor((1, 1), T.FLOAT32, is_variable=True)
    for units in (16, 16, 1):
        weights = builder.tensor((units, size), T.FLOAT32, data=[0.0] * units * size)
        bias = builder.tensor((units,), T.FLOAT32, data=[0.0] * units)
        result = builder.tensor((1, units), T.FLOAT32, is_variable=True)
        builder.operator("FULLY_CONNECTED", [last, weights, bias], [result])
        last, size = result, units
    return builder.build(inputs=[first], outputs=[last])


def empty_tensors() -> bytes:
    """No operators, and tensors without elements."""
    builder = ModelBuilder()
    ends = [builder.tensor((0, 32, 32), T.INT16, scale=scale) for scale in (None, 0.5, 0.5)]
    return builder.build(inputs=ends[:2], outputs=ends[2:])


@pytest.mark.parametrize(
    ("make", "where", "size"),
    [
        (variables_alone, configure("esp32-s3"), 940),
        (variables_alone, configure("x86_64-pip"), 1776),  # As in the wheel, tests/oracle/test_wheel_odd_models.py.
        (empty_tensors, configure("esp32-s3"), 388),
        (empty_tensors, configure("x86_64-pip"), 856),  # Likewise.
        (variables_alone, configure("esp32-s3", planner="linear"), 5004),
    ],
)
def test_a_planner_without_buffers_needs_no_memory(make: Callable[[], bytes], where: Configuration, size: int) -> None:
    """What binds is the array of AllocationInfos: it ends 12 bytes (8 on 64 bits) below the next multiple of 16."""
    model = parse(make())
    assert smallest_arena(model, where).size == size
    assert simulate(model, where).smallest == Sizer().smallest_arena(model, where) == smallest_arena(model, where)
    assert simulate(model, where, arena_size=size).fits
    assert simulate(model, where, arena_size=size - 1).status == "error"


def test_tables_of_a_planner_behind_the_tail_are_damage() -> None:
    """A buffer beside four variables that lie over the AllocationInfos; the wheel ends there."""
    builder = ModelBuilder()
    variables = [builder.tensor((64,), T.INT8, scale=0.5, is_variable=True) for _ in range(4)]
    result = builder.tensor((64,), T.INT8, scale=0.5)
    builder.operator("RELU", variables[:1], [result])
    model = parse(builder.build(inputs=[], outputs=[result]))
    run = simulate(model, "x86_64-pip", arena_size=1327)
    assert (run.status, run.fits) == ("ok", False)
    assert run.corruptions == ("planner: tables of 1 buffers at 368 overwrite the tail",)
    assert simulate(model, "x86_64-pip", arena_size=1328).log == ("Too many buffers (max is 0)",)
    assert smallest_arena(model, "x86_64-pip").size == 1376


@pytest.mark.parametrize(("interpreter", "address", "runtime"), [
    *(("plain", address, "2026-01-01") for address in (0, 4, 13)),
    *(("recording", address, "2026-01-01") for address in (0, 4, 8, 12)),  # Which does not align the arena.
    *(("recording", address, "2021-06-01") for address in (0, 4, 12)),  # When the plan was compared with what is free.
])  # fmt: skip
def test_a_byte_less_does_not_fit(interpreter: str, address: int, runtime: str) -> None:
    where = configure(REFERENCE, interpreter=interpreter, arena_address=address, runtime=runtime)
    found = smallest_arena(SINE, where)
    runs = {size: simulate(SINE, where, arena_size=size) for size in range(found.size - 40, found.size + 32)}
    fitting = [size for size, run in runs.items() if run.fits]
    assert min(fitting) == found.size
    assert min(size for size in fitting if size % 16 == 0) == found.multiple_of_16
    assert runs[found.size].arena_used_bytes == found.arena_used_bytes


@pytest.mark.parametrize("address", [0, 4])
@pytest.mark.parametrize("interpreter", ["plain", "recording"])
def test_who_watches_sees_the_same(address: int, interpreter: str) -> None:
    where = configure(REFERENCE, arena_address=address, interpreter=interpreter)
    events: list[Event] = []
    assert smallest_arena(SINE, where, observers=[events.append]) == smallest_arena(SINE, where)
    simulation = simulate(SINE, where)
    assert tuple(events) == simulation.events
    assert simulation.smallest == smallest_arena(SINE, where)


@pytest.mark.parametrize("sample", SAMPLES)
def test_an_arena_that_only_measures_finds_the_same(sample: str) -> None:
    model = load(f"sample:{sample}")
    watched = smallest_arena(model, REFERENCE, observers=[lambda event: None])
    assert smallest_arena(model, REFERENCE) == watched == Sizer().smallest_arena(model, REFERENCE)


def test_absent_tensors_are_measured_as_they_are_taken() -> None:
    builder = ModelBuilder()
    x, w, y = builder.tensor((1, 8), T.INT8, scale=0.5), builder.tensor((4, 8), T.INT8, scale=0.5, data=bytes(32)), 2
    assert builder.tensor((1, 4), T.INT8, scale=0.5) == y
    builder.operator("FULLY_CONNECTED", [x, w, -1], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    assert smallest_arena(model, REFERENCE) == smallest_arena(model, REFERENCE, observers=[lambda event: None])


@pytest.mark.parametrize("address", [0, 4])
def test_an_arena_whose_end_the_device_does_not_survive_is_passed_over(address: int) -> None:
    model, where = parse(convolution_and_softmax()), configure(OVERRUNNING, arena_address=address)
    found = smallest_arena(model, where)
    sizes = range(found.size - 48, found.size + 48)
    fitting = [size for size in sizes if simulate(model, where, arena_size=size).fits]
    assert min(fitting) == found.size
    assert min(size for size in fitting if size % 16 == 0) == found.multiple_of_16
    assert simulate(model, where, arena_size=found.size).arena_used_bytes == found.arena_used_bytes
    assert Sizer().smallest_arena(model, where) == smallest_arena(model, where, observers=[print]) == found


@pytest.mark.parametrize("end", range(0, 16, 4))
def test_a_roomy_arena_ends_where_no_neighbour_is_harmed(end: int) -> None:
    """The first of the roomy one, and 4, 8 and 12 bytes less, in which nothing is overwritten."""
    model, where = parse(convolution_and_softmax()), configure(OVERRUNNING, arena_address=end)
    room = (1 << 30) - end
    fitting = [size for less in (0, 4, 8, 12) if simulate(model, where, arena_size=(size := room - less)).fits]
    assert simulate(model, where).arena_size == fitting[0]
    assert simulate(model, where, arena_size=room).arena_size == room


def test_facts_for_people() -> None:
    found = smallest_arena(SINE, REFERENCE)
    assert found.facts() == [
        ("for the firmware", f"alignas(16) uint8_t tensor_arena[{found.multiple_of_16}];"),
        ("arena_used_bytes()", f"{found.arena_used_bytes:,} B"),
        ("does not fit in a byte less", f"{found.binding.what}, in '{found.binding.place}'"),
    ]
    assert f"smallest arena: {found.size:,} B" in found._repr_html_()


def test_what_fails_in_any_arena_raises_what_stopped_it() -> None:
    nothing = parse(ModelBuilder().build(inputs=None, outputs=[]))
    for ask in (smallest_arena, Sizer().smallest_arena):
        with pytest.raises(SimulatedFailure):
            ask(nothing, REFERENCE)


def test_a_sizer_remembers_eight_thousand_prepares_unless_it_is_told_otherwise() -> None:
    assert repr(Sizer()) == "Sizer(most_prepares=8192, remembered=0)"
    assert MOST_PREPARES == 8 * 1024
    assert repr(Sizer(most_prepares=1)) == "Sizer(most_prepares=1, remembered=0)"
    with pytest.raises(UsageError, match="a Sizer that remembers 0 Prepares is useless"):
        Sizer(most_prepares=0)


def test_the_first_model_of_several_is_the_one() -> None:
    other = load("sample:streaming")
    sized = Sizer().sizing([SINE, other], Configuration(REFERENCE))
    assert sized.model is SINE
    assert sized.peak is not None
    assert isinstance(sized.smallest, SmallestArena)
