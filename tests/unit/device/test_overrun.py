"""What a kernel does that writes past the end of its op data: esp-tflite-micro 1.3.3's CONV_2D, over its neighbour."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
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


def pooled(count: int, *last: str, **options: float) -> Model:
    """Return a convolution, poolings and one more operator, if any, whose builtin data are the last that are placed."""
    builder = ModelBuilder()
    source = builder.tensor((1, 8, 8, 16), T.INT8, scale=0.5)
    weights = builder.tensor((6, 3, 3, 16), T.INT8, scale=0.1, data=bytes(6 * 9 * 16))
    ends = [builder.tensor((1, 8, 8, 6), T.INT8, scale=1 / 256, zero_point=-128) for _ in range(1 + count + len(last))]
    strides = {"stride_w": 1, "stride_h": 1}
    builder.operator("CONV_2D", [source, weights], ends[:1], options={"padding": 0, **strides})
    rows = [("MAX_POOL_2D", strides)] * count + [(op, options) for op in last]
    for index, (op, chosen) in enumerate(rows):
        builder.operator(op, [ends[index]], [ends[index + 1]], options=chosen)
    return parse(builder.build(inputs=[source], outputs=ends[-1:]))


def model(last: str, **options: float) -> Model:
    """Return a convolution and one more operator."""
    return pooled(0, last, **options)


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
    # Each MAX_POOL_2D moves the tail by another remainder: of three neighbours one halts where the arena ends at 0.
    found = [pooled(count, "SOFTMAX", beta=1.0) for count in range(1, 5)]
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


def test_what_a_convolution_has_read_of_its_own_may_be_overwritten() -> None:
    alone = pooled(0)
    assert all(simulate(alone, TARGET, arena_size=size).fits for size in range(ROOM, ROOM + 16))
    smallest = smallest_arena(alone, TARGET)
    assert not any(simulate(alone, TARGET, arena_size=smallest.size - less).fits for less in range(1, 33))


def test_where_an_overwritten_operator_asks_for_less_the_smallest_arena_is_smaller_there() -> None:
    builder = ModelBuilder()
    ends = [builder.tensor((1, 2, 4, channels), T.INT8, scale=0.5) for channels in (8, 8, 16, 16)]
    strides = {"stride_w": 1, "stride_h": 1}
    for (source, end), channels in zip(pairwise(ends[:3]), (8, 16), strict=True):
        weights = builder.tensor((channels, 3, 3, 8), T.INT8, scale=0.1, data=bytes(channels * 9 * 8))
        builder.operator("CONV_2D", [source, weights], [end], options={"padding": 0, **strides})
    builder.operator("RELU", ends[2:3], ends[3:])
    of = parse(builder.build(inputs=ends[:1], outputs=ends[-1:]))
    runs = {end: simulate(of, TARGET, arena_size=ROOM + end) for end in (0, 4, 8, 12)}
    assert {end: run.head_bytes for end, run in runs.items()} == {0: 2784, 4: 2784, 8: 2784, 12: 2592}
    assert [end for end, run in runs.items() if run.corruptions] == [12]
    smallest = smallest_arena(of, TARGET)
    assert smallest == simulate(of, TARGET).smallest == Sizer().smallest_arena(of, TARGET)
    assert 12 <= smallest.size % 16 < 16
    run = simulate(of, TARGET, arena_size=smallest.size)
    assert (run.status, run.arena_used_bytes) == ("ok", smallest.arena_used_bytes)
    assert simulate(of, TARGET, arena_size=smallest.size - 1).status == "error"
    assert simulate(of, TARGET, arena_size=smallest.multiple_of_16).status == "ok"
