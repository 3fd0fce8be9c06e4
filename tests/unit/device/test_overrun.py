"""What a kernel does that writes past the end of its op data: esp-tflite-micro 1.3.3's CONV_2D, over its neighbour."""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.model.types import TensorType as T

TARGET = "esp32-s3-esphome"
ROOM = 1 << 16
HIT = (
    "CONV_2D #0 writes 4 bytes past its OpDataConv, over the first of the builtin data of {} #1"
    # OpDataConv has 56 bytes, the index behind it 4; aligned to 16 there is a gap of 8 or of nothing before the next.
)


def model(last: str, **options: float) -> Model:
    """Return a convolution and one more operator, whose builtin data are the last that are placed."""
    builder = ModelBuilder()
    source = builder.tensor((1, 8, 8, 16), T.INT8, scale=0.5)
    weights = builder.tensor((6, 3, 3, 16), T.INT8, scale=0.1, data=bytes(6 * 9 * 16))
    middle = builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128)
    result = builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128)
    builder.operator("CONV_2D", [source, weights], [middle], options={"padding": 0, "stride_w": 1, "stride_h": 1})
    builder.operator(last, [middle], [result], options=options)
    return parse(builder.build(inputs=[source], outputs=[result]))


def halting(of: Model, target: str = TARGET) -> list[int]:
    """Return the sizes modulo 16 in which the device halts."""
    return [size % 16 for size in range(ROOM, ROOM + 16) if simulate(of, target, arena_size=size).status == "abort"]


def test_a_softmax_whose_beta_is_overwritten_halts_in_four_sizes_of_sixteen() -> None:
    found = halting(model("SOFTMAX", beta=1.0))
    assert len(found) == 4
    assert found == list(range(found[0], found[0] + 4))
    assert halting(model("SOFTMAX", beta=1.0), "esp32-s3") == []


def test_the_overwriting_is_reported_with_what_it_hits_also_where_the_device_goes_on() -> None:
    for last, options, status in (("SOFTMAX", {"beta": 1.0}, "abort"), ("RESHAPE", {}, "ok")):
        runs = [simulate(model(last, **options), TARGET, arena_size=size) for size in range(ROOM, ROOM + 16)]
        hit = [run for run in runs if run.corruptions]
        assert len(hit) == 4
        assert {run.corruptions for run in hit} == {(HIT.format(last),)}
        assert {run.status for run in hit} == {status}


@pytest.mark.parametrize("interpreter", ["plain", "recording"])
def test_the_smallest_arena_is_one_in_which_it_does_not_halt(interpreter: str) -> None:
    softmax = model("SOFTMAX", beta=1.0)
    smallest = smallest_arena(softmax, TARGET, interpreter=interpreter)
    assert smallest == simulate(softmax, TARGET, interpreter=interpreter).smallest
    run = simulate(softmax, TARGET, interpreter=interpreter, arena_size=smallest.size)
    assert (run.status, run.arena_used_bytes) == ("ok", smallest.arena_used_bytes)
    below = [simulate(softmax, TARGET, interpreter=interpreter, arena_size=smallest.size - i) for i in range(1, 17)]
    assert all(run.status != "ok" for run in below)


def test_where_every_multiple_of_16_halts_another_size_is_the_answer() -> None:
    builder = ModelBuilder()
    source = builder.tensor((1, 8, 8, 16), T.INT8, scale=0.5)
    weights = builder.tensor((6, 3, 3, 16), T.INT8, scale=0.1, data=bytes(6 * 9 * 16))
    middle = builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128)
    builder.operator("CONV_2D", [source, weights], [middle], options={"padding": 0, "stride_w": 1, "stride_h": 1})
    # Each RESHAPE moves the tail by another remainder: of three neighbours one halts where the arena ends at 0.
    found = []
    for count in range(1, 5):
        last = middle
        for _ in range(count):
            shaped = builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128)
            builder.operator("MAX_POOL_2D", [last], [shaped], options={"stride_w": 1, "stride_h": 1})
            last = shaped
        result = builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128)
        builder.operator("SOFTMAX", [last], [result], options={"beta": 1.0})
        found.append(parse(builder.build(inputs=[source], outputs=[result])))
    halting_at_0 = [of for of in found if 0 in halting(of)]
    for of in halting_at_0:
        answer = simulate(of, TARGET)
        assert answer.fits
        assert answer.arena_size == (1 << 30) - 4  # Which ends at 12: not among the four that halt.
        smallest = answer.smallest
        assert smallest is not None
        assert smallest.multiple_of_16 == smallest.size
        assert smallest == smallest_arena(of, TARGET)
    assert halting_at_0
