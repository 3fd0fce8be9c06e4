"""What is expected of a split before it is made is what the model needs with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import shrinking_models as models

from tflm_sim import parse, simulate
from tflm_sim.device.configuration import configure
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.loops import without_fill
from tflm_sim.extensions.shrink.offline_planner import plan_offline
from tflm_sim.extensions.shrink.peaks import all_splits, apply, loop_splits
from tflm_sim.extensions.shrink.planned_profile import planned_profile
from tflm_sim.extensions.shrink.profile import profile
from tflm_sim.extensions.shrink.split import Split
from tflm_sim.extensions.shrink.target_sizer import TargetSizer
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model
from tflm_sim.planners import native

M4 = configure("cortex-m4")


def wide_model() -> Model:
    """Return 4 rows of 48 columns whose columns are worth more parts, beside a tensor that comes from outside."""
    layers = models.Layers()
    x, side = layers.activation((1, 4, 48, 4)), layers.activation((1, 4, 48, 24))
    y = layers.add(layers.conv(x, 24), side)
    model: Model = layers.model([x, side], [layers.conv(layers.conv(y, 24), 4, stride=2)])
    return model


def made(model: Model, split: Split) -> Model:
    """Return the model with one split."""
    draft = Draft(model)
    apply(draft, profile(draft, simulate(model, M4)), [split])
    return parse(encode(draft.model()))


MODELS: dict[str, tuple[Callable[[], Model], set[tuple[str, int, int, int]]]] = {
    # Which splits (kind, first operator, end, parts) are among those that are looked at.
    "rows": (models.rows_model, {("rows", 0, 6, 3), ("rows", 1, 4, 10)}),
    "padded": (models.padded_rows_model, {("rows", 0, 4, 3), ("rows", 1, 4, 10)}),
    "resized": (models.resized_rows_model, {("rows", 0, 3, 3)}),
    "transposed": (models.transposed_rows_model, {("rows", 0, 2, 3)}),
    "channels": (models.channels_model, {("channels", 0, 2, 3), ("channels", 0, 2, 10), ("rows", 0, 2, 3)}),
    "wide": (wide_model, {("columns", 0, 4, 3), ("columns", 0, 4, 10)}),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_split_is_as_high_as_it_was_expected_to_be_and_computes_as_much(name: str) -> None:
    build, expected = MODELS[name]
    model = build()
    draft = Draft(model)
    whole = simulate(model, M4)
    splits = [split for split in all_splits(draft, profile(draft, whole), 10**9) if len(split.parts) in (3, 10)]
    assert {(split.kind, split.first, split.end, len(split.parts)) for split in splits} >= expected
    for split in splits:
        result = made(model, split)
        after, simulation = Draft(result), simulate(result, M4)
        behind = len(draft.operators) - split.end
        live = profile(after, simulation).live
        assert split.peak == max(live[split.first : len(live) - behind])
        assert split.macs == draft_multiplications(after) - draft_multiplications(draft)
        # The tail is estimated: what it is aligned to, and constants that parts share, are not counted one by one.
        grown = simulation.tail_bytes - whole.tail_bytes
        assert abs(split.tail - grown) <= 40 + grown // 8


@pytest.mark.skipif(not native.available(), reason="the exact planner is C")
def test_a_loop_takes_three_vectors_less_than_it_was_expected_to_and_computes_as_much() -> None:
    model = models.rows_model()
    draft = Draft(model)
    whole = simulate(model, M4)
    facts = profile(draft, whole)
    found = {(each.first, each.end, len(each.parts)): each for each in loop_splits(draft, facts, 10**9)}
    for key in ((0, 4, 6), (0, 5, 6), (1, 4, 3), (1, 6, 6)):
        split = found[key]
        result = made(model, split)
        assert split.macs == draft_multiplications(Draft(result)) - draft_multiplications(draft)
        result = without_fill(result) or result
        planned = plan_offline(result, [simulate(result, M4)])
        assert planned is not None
        simulation = simulate(planned, M4)
        # 5 vectors of 16 B are expected: two of them are alive where most is.
        assert split.peak == simulation.head_bytes + 3 * 16
        assert 0 < split.tail - (simulation.tail_bytes - whole.tail_bytes) < 512


@pytest.mark.skipif(not native.available(), reason="the exact planner is C")
@pytest.mark.parametrize(("name", "kernel_order", "keys"), [
    ("rows", False, [("rows", 1, 3, 3), ("rows", 1, 3, 6)]),
    ("padded", False, [("rows", 0, 3, 3), ("rows", 0, 3, 6), ("rows", 1, 3, 3)]),
    ("channels", False, [("channels", 0, 2, 3), ("channels", 0, 2, 6)]),
    ("wide", False, [("columns", 0, 4, 6)]),
    ("wide", True, [("columns", 0, 4, 6)]),
])  # fmt: skip
def test_with_a_plan_rows_are_neither_copied_out_of_the_input_nor_into_the_result(
    name: str, kernel_order: bool, keys: list[tuple[str, int, int, int]]
) -> None:
    configuration = configure("cortex-m4", kernels="reference") if kernel_order else M4
    model = MODELS[name][0]()
    draft = Draft(model)
    facts = planned_profile(draft, TargetSizer([configuration]), kernel_order=kernel_order)
    found: dict[tuple[str, int, int, int], Split] = {}
    for split in all_splits(draft, facts, 10**9):  # those with equal parts come first
        found.setdefault((split.kind, split.first, split.end, len(split.parts)), split)
    for key in keys:
        after = Draft(model)
        apply(after, facts, [found[key]])
        result = parse(encode(after.model()))
        planned = plan_offline(result, [simulate(result, configuration)], kernel_order=kernel_order)
        assert planned is not None
        assert found[key].peak == simulate(planned, configuration).head_bytes
