"""``shrink()`` end to end on small models that are built here."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tflm_sim import parse, shrink, smallest_arena
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType

INT8 = TensorType.INT8


def convolution(b: ModelBuilder, x: int, size: int, channels: tuple[int, int], *, padding: str = "SAME") -> int:
    """Add a 3x3 convolution of a square image with random weights and return its output."""
    rng = random.Random(size * 1000 + channels[1])
    inner, outer = channels
    weights = b.tensor(
        (outer, 3, 3, inner),
        INT8,
        data=[rng.randrange(-127, 128) for _ in range(9 * inner * outer)],
        scale=[0.01] * outer,
    )
    bias = b.tensor((outer,), TensorType.INT32, data=[rng.randrange(-500, 500) for _ in range(outer)])
    side = size if padding == "SAME" else size - 2
    y = b.tensor((1, side, side, outer), INT8, scale=0.5, zero_point=-3)
    b.operator("CONV_2D", [x, weights, bias], [y], options={"padding": padding, "stride_w": 1, "stride_h": 1})
    return y


def pool(b: ModelBuilder, x: int, size: int, channels: int) -> int:
    """Add a 2x2 maximum pool and return its output."""
    y = b.tensor((1, size // 2, size // 2, channels), INT8, scale=0.5, zero_point=-3)
    options = {"padding": "VALID", "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
    b.operator("MAX_POOL_2D", [x], [y], options=options)
    return y


def tower() -> Model:
    """Return a model whose head is fullest at its first convolution: 16x16x3 -> 16x16x32 -> 8x8x32."""
    b = ModelBuilder()
    x = b.tensor((1, 16, 16, 3), INT8, scale=0.5, zero_point=-3)
    y = pool(b, convolution(b, x, 16, (3, 32)), 16, 32)
    return parse(b.build(inputs=[x], outputs=[y]))


def test_a_convolution_before_a_pool_runs_in_parts_and_needs_less() -> None:
    model = tower()
    shrunk = shrink(model, "cortex-m4")
    (gain,) = shrunk.gains
    assert gain.before.arena == smallest_arena(model, "cortex-m4").size
    # 768 B in (16 * 16 * 3), 8,192 B between (16 * 16 * 32), 2,048 B out (8 * 8 * 32).
    assert gain.before.head >= 8192 + 2048
    assert gain.after.head < 8192
    assert gain.after.arena == smallest_arena(parse(shrunk.data), "cortex-m4").size
    assert shrunk.has_gained


def test_no_arena_grows_on_any_of_several_targets() -> None:
    shrunk = shrink(tower(), ["cortex-m4", "esp32-s3", "x86_64-pip"])
    assert all(gain.after.arena <= gain.before.arena for gain in shrunk.gains)
    assert any(gain.after.arena < gain.before.arena for gain in shrunk.gains)


def test_the_interface_stays_as_it_was() -> None:
    model = tower()
    after = shrink(model, "cortex-m4").model

    def interface(model: Model, pick: Callable[[Model], tuple[int, ...] | None]) -> list[object]:
        return [
            (t.name, t.shape, t.type, t.quantization)
            for t in (model.subgraphs[0].tensors[i] for i in pick(model) or ())
        ]

    for pick in (lambda m: m.subgraphs[0].inputs, lambda m: m.subgraphs[0].outputs):
        assert interface(model, pick) == interface(after, pick)


def test_a_goal_is_met_with_the_fewest_multiplications() -> None:
    best = shrink(tower(), "cortex-m4").gains[0]
    goal = (best.before.arena + best.after.arena) // 2
    shrunk = shrink(tower(), "cortex-m4", goal=goal)
    assert shrunk.fits(goal)
    assert shrunk.after.macs == shrunk.before.macs


def test_operators_that_are_not_allowed_are_not_used() -> None:
    shrunk = shrink(tower(), "cortex-m4", operators=["CONCATENATION"])
    assert set(shrunk.extra_operators) <= {"CONCATENATION"}
    assert not shrink(tower(), "cortex-m4", operators=[]).extra_operators


def test_a_model_with_a_plan_is_refused_by_name() -> None:
    b = ModelBuilder()
    x = b.tensor((1, 4), INT8, scale=0.5)
    y = b.tensor((1, 4), INT8, scale=0.5)
    b.operator("RELU", [x], [y])
    b.metadata("OfflineMemoryAllocation", bytes(12 + 8))
    with pytest.raises(ModelError, match=r"OfflineMemoryAllocation.*--replan"):
        shrink(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4")


def test_fewer_multiplications_than_the_original_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError, match=r"0.9 is below 1"):
        shrink(tower(), "cortex-m4", max_macs=0.9)
