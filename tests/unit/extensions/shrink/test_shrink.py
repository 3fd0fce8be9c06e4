"""``shrink()`` end to end on small models that are built here."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import shrinking_models as models

from tflm_sim import parse, shrink, smallest_arena
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.shrink.draft_facts import integers
from tflm_sim.extensions.shrink.shrunk import Bound
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, Quantization, TensorType

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


def test_a_state_is_written_at_once_where_nothing_else_touches_it() -> None:
    shrunk = shrink(models.queues_model(), "cortex-m4", prove_runs=4)
    draft = Draft(shrunk.model)
    names = [draft.name(operator) for operator in draft.operators]
    assert {*names[:3]} == {*names[3:]} == {"CONCATENATION", "DEPTHWISE_CONV_2D", "SLICE"}
    # The second convolution: 13 * 16 B in, 16 B out and 2 * 13 * 16 B of scratch. The first queue's 9 * 16 B are free.
    assert shrunk.gains[0].before.head == 208 + 16 + 416 + 144 == 784
    assert shrunk.gains[0].after.head == 208 + 16 + 416 == 640


def test_operators_that_are_not_allowed_are_not_used() -> None:
    shrunk = shrink(tower(), "cortex-m4", operators=["CONCATENATION"])
    assert set(shrunk.extra_operators) <= {"CONCATENATION"}
    assert not shrink(tower(), "cortex-m4", operators=[]).extra_operators


def test_names_inside_stay_unless_they_are_to_go() -> None:
    draft = Draft(models.flatten_model())
    draft.tensors = [replace(tensor, name=f"tensor {index}") for index, tensor in enumerate(draft.tensors)]
    model = parse(encode(draft.model()))
    kept, dropped = (shrink(model, "cortex-m4", drop_names=drop) for drop in (False, True))
    assert kept.gains == dropped.gains
    assert all(tensor.name for tensor in kept.model.subgraphs[0].tensors)
    main = dropped.model.subgraphs[0]
    bound = {*main.input_tensors, *main.output_tensors}
    assert [t.name for i, t in enumerate(main.tensors) if t.name and i not in bound] == []
    assert dropped.after.file_bytes < kept.after.file_bytes


@pytest.mark.slow
def test_no_result_goes_below_the_bound_that_is_told() -> None:
    for make in models.MODELS.values():
        for options in ({}, {"offline_plan": True}, {"kernel_order": True}):
            shrunk = shrink(make(), "cortex-m4", **options)
            assert 0 < shrunk.bound.head <= shrunk.gains[0].after.head
            assert shrunk.bound.arena <= shrunk.gains[0].after.arena


def test_the_bound_on_the_arena_leaves_the_gaps_out_that_its_end_decides() -> None:
    # A random streaming model has a head of 880 B and a tail of 2,032 B, and runs in 2,904 B: 8 less than both.
    assert Bound(880, "#2 FULLY_CONNECTED", 2032).arena == 880 + 2032 - 15 <= 2904


def test_a_model_with_a_plan_is_refused_by_name() -> None:
    b = ModelBuilder()
    x = b.tensor((1, 4), INT8, scale=0.5)
    y = b.tensor((1, 4), INT8, scale=0.5)
    b.operator("RELU", [x], [y])
    b.metadata("OfflineMemoryAllocation", bytes(12 + 8))
    with pytest.raises(ModelError, match=r"OfflineMemoryAllocation.*replan=True"):
        shrink(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4")


def test_fewer_multiplications_than_the_original_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError, match=r"max_macs=0.9` is below 1"):
        shrink(tower(), "cortex-m4", max_macs=0.9)


def test_a_zip_behind_the_model_is_behind_the_result_and_can_be_read() -> None:
    file = io.BytesIO(bytes(tower().source))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("labels.txt", "cat\ndog\n")
    source = file.getvalue()
    appended = source[len(tower().source) :]
    shrunk = shrink(parse(source), "cortex-m4")
    assert shrunk.has_gained
    assert shrunk.data.endswith(appended)
    assert zipfile.ZipFile(io.BytesIO(shrunk.data)).read("labels.txt") == b"cat\ndog\n"
    assert shrunk.after.file_bytes == len(shrunk.data)


def test_minima_and_maxima_stay_with_their_tensors_and_a_share_keeps_its_share() -> None:
    model = tower()
    main = model.subgraphs[0]
    ranges: dict[int, Quantization] = {}
    for index, tensor in enumerate(main.tensors):
        if tensor.quantization is not None:
            facts = tensor.quantization
            least = tuple(-float(100 * index + channel) for channel in range(facts.scale_count))
            most = tuple(-number for number in least)
            ranges[index] = Quantization(facts.scale, facts.zero_point, facts.quantized_dimension, min=least, max=most)
    tensors = tuple(replace(tensor, quantization=ranges.get(index)) for index, tensor in enumerate(main.tensors))
    source = encode(replace(model, subgraphs=(replace(main, tensors=tensors),)))
    after = shrink(parse(source), "cortex-m4").model.subgraphs[0]
    bound = after.tensors[after.input_tensors[0]].quantization
    # Tensor 0 is the input, tensor 1 the filter with 32 channels, one scale each.
    assert bound is not None
    assert bound.range == ((-0.0,), (0.0,))
    filters = [t for t in after.tensors if t.shape is not None and t.shape[1:] == (3, 3, 3) and t.quantization]
    assert len(filters) > 1
    seen = sorted(most for t in filters if t.quantization for most in t.quantization.range[1])
    assert seen == [100.0 + channel for channel in range(32)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"has_sparsity": True}, "tensor 1 of subgraph 0 is sparse, which cannot be rewritten"),
        (
            {"quantization": Quantization((0.5,), (0,), details_type=1)},
            "tensor 1 of subgraph 0 has quantization details, which cannot be rewritten",
        ),
    ],
)
def test_what_would_be_lost_is_refused_by_name(change: dict[str, Any], sentence: str) -> None:
    model = tower()
    main = model.subgraphs[0]
    tensors = (main.tensors[0], replace(main.tensors[1], **change), *main.tensors[2:])
    source = encode(replace(model, subgraphs=(replace(main, tensors=tensors),)))
    with pytest.raises(ModelError, match=sentence):
        shrink(parse(source), "cortex-m4")


def names_in(model: Model) -> list[str]:
    draft = Draft(model)
    return [draft.name(operator) for operator in draft.operators]


def test_a_strided_slice_in_steps_of_one_is_a_slice_whose_kernel_keeps_nothing() -> None:
    shrunk = shrink(models.MODELS["plain slices"](), "cortex-m4")
    assert sorted(names_in(shrunk.origin)) == ["CONV_2D", "CONV_2D", "STRIDED_SLICE", "STRIDED_SLICE"]
    assert sorted(names_in(shrunk.model)) == ["CONV_2D", "CONV_2D", "SLICE", "STRIDED_SLICE"]
    # begins of 0, 5, 0, 0 and lengths of -1, "to the end", along all axes.
    draft = Draft(shrunk.model)
    (cut,) = (operator for operator in draft.operators if draft.name(operator) == "SLICE")
    assert [integers(draft, tensor) for tensor in cut.input_tensors[1:]] == [[0, 5, 0, 0], [-1, -1, -1, -1]]


def test_a_window_with_a_tap_of_zero_more_pads_on_both_sides() -> None:
    shrunk = shrink(models.MODELS["PAD is SAME, a tap more"](), "cortex-m4", max_macs=1.8)
    assert names_in(shrunk.model) == ["CONV_2D", "DEPTHWISE_CONV_2D"]
    # 16 rows, a stride of 2, 8 outputs: a window of 4 needs 7 * 2 + 4 - 16 = 2 rows of padding, one on each side.
    shapes = [tensor.shape for tensor in shrunk.model.subgraphs[0].tensors]
    assert (8, 4, 4, 3) in shapes
    assert (1, 4, 4, 8) in shapes
    # Multiplications grow by 16 / 9, which --max-macs must allow.
    assert shrunk.after.macs * 9 == shrunk.before.macs * 16


def test_a_convolution_alone_runs_in_groups_of_channels_where_they_need_less_scratch() -> None:
    layers = models.Layers()
    x = layers.activation((1, 8, 8, 32))
    model = layers.model([x], [layers.conv(x, 64)])
    (gain,) = shrink(model, "esp32-s3").gains
    # ESP-NN 1.3.1 keeps 10 * 10 * 32 B of the padded image, the filters twice (2 * 3 * 3 * 32 * 64 B), 4 B a channel
    # and 64 B; before, 2,048 B in and 4,096 B out stand beside. The groups need a share of the filters each.
    assert gain.before.head == 2048 + 4096 + 3200 + 36864 + 256 + 64
    assert gain.after.head < gain.before.head // 2
    assert shrink(model, "cortex-m4").gains[0].after.head == shrink(model, "cortex-m4").gains[0].before.head
