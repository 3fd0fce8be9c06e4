"""Operators that equal another one: which are changed, into what, and which stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shrinking_models as models

from tflm_sim import parse
from tflm_sim.extensions.shrink import fuse
from tflm_sim.extensions.shrink.draft_facts import array, integers, shape
from tflm_sim.extensions.shrink.passes import Chooser, Pass
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Quantization, TensorType
from tflm_sim.model.windows import PADDING_SAME, PADDING_VALID

FLOAT32, INT8, INT16, INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32
Change = Callable[[Draft], None]


def run(edit: Pass, draft: Draft) -> list[str]:
    """Let a pass do all that it finds, and return its reasons."""
    return [each.what for each in edit(draft, Chooser())]


def option(index: int, **options: Any) -> Change:
    """Return a change of an operator's options."""

    def change(draft: Draft) -> None:
        operator = draft.operators[index]
        draft.operators[index] = replace(operator, options={**operator.options, **options})

    return change


def tensor(place: tuple[int, int], *, is_output: bool = False, **facts: Any) -> Change:
    """Return a change of an operator's n-th input or output."""

    def change(draft: Draft) -> None:
        operator, number = draft.operators[place[0]], place[1]
        index = (operator.output_tensors if is_output else operator.input_tensors)[number]
        draft.tensors[index] = replace(draft.tensors[index], **facts)

    return change


def inputs(index: int, *numbers: int) -> Change:
    """Return a change of an operator's inputs: those of these numbers, in this order; -1 for none."""

    def change(draft: Draft) -> None:
        operator = draft.operators[index]
        own = tuple(operator.input_tensors[number] if number >= 0 else -1 for number in numbers)
        draft.operators[index] = replace(operator, inputs=own)

    return change


def is_given_out(index: int) -> Change:
    """Make an operator's output one of the model."""

    def change(draft: Draft) -> None:
        draft.outputs = (*draft.outputs, draft.operators[index].output_tensors[0])

    return change


def is_read_again(index: int) -> Change:
    """Let one more operator read an operator's output."""

    def change(draft: Draft) -> None:
        output = draft.operators[index].output_tensors[0]
        draft.operators.append(draft.operator("RELU", [output], [draft.add_like(output, shape(draft, output))]))

    return change


def options(index: int, **values: Any) -> Change:
    """Return a change after which an operator has these options alone."""

    def change(draft: Draft) -> None:
        draft.operators[index] = replace(draft.operators[index], options=values)

    return change


# -- slices ---------------------------------------------------------------------------------------------------------


def sliced(
    *constants: Sequence[int] | None,
    shape: Sequence[int] = (1, 7, 8, 4),
    op: str = "STRIDED_SLICE",
    type: int = INT8,
    **options: Any,
) -> Draft:
    """Return a slice of [1, 12, 8, 4] with constants, None for one that is not in the file."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 12, 8, 4), type, scale=0.5), builder.tensor(shape, type, scale=0.5)
    places = [builder.tensor((len(each or "four"),), INT32, data=each) for each in constants]
    builder.operator(op, [x, *places], [y], options=options)
    return Draft(parse(builder.build(inputs=[x], outputs=[y])))


ALL, ONES = (1, 12, 8, 4), (1, 1, 1, 1)


@pytest.mark.parametrize(("draft", "rows"), [
    (sliced((0, 5, 0, 0), ALL, ONES), (5, 12)),
    (sliced((0, -3, 0, 0), ALL, ONES), (9, 12)),
    (sliced((0, -12, 0, 0), ALL, ONES), (0, 12)),
    (sliced((0, -20, 0, 0), ALL, ONES), (0, 12)),
    (sliced((0, 0, 0, 0), (1, -1, 8, 4), ONES), (0, 11)),
    (sliced((0, 0, 0, 0), (1, 0, 8, 4), ONES), (0, 0)),
    (sliced((0, 0, 0, 0), (1, 20, 8, 4), ONES), (0, 12)),
    (sliced((0, 5, 0, 0), (1, 7, 8, 4), ONES, begin_mask=0b0010), (0, 7)),
    (sliced((0, 5, 0, 0), (1, 7, 8, 4), ONES, end_mask=0b0010), (5, 12)),
    (sliced((0, 5, 0, 0), (1, 7, 8, 4), ONES, begin_mask=0b1101, end_mask=0b1101), (5, 7)),
    (sliced((0, 5, 0, 0), (1, 2, 8, 4), op="SLICE"), (5, 7)),
    (sliced((0, 5, 0, 0), (1, -1, 8, 4), op="SLICE"), (5, 12)),
])  # fmt: skip
def test_a_slice_takes_rows_from_the_first_to_the_one_before_its_end(draft: Draft, rows: tuple[int, int]) -> None:
    assert fuse.slice_bounds(draft, draft.operators[0]) == [(0, 1), rows, (0, 8), (0, 4)]


def test_a_slice_without_options_has_no_masks() -> None:
    draft = sliced((1, 5, 0, 0), (0, 7, 8, 4), ONES)
    options(0)(draft)
    assert fuse.slice_bounds(draft, draft.operators[0]) == [(1, 0), (5, 7), (0, 8), (0, 4)]


@pytest.mark.parametrize("draft", [
    sliced((0, 5, 0, 0), ALL, (1, 2, 1, 1)),
    sliced((0, 5, 0, 0), ALL, (1, -1, 1, 1)),
    sliced((0, 5, 0, 0), ALL, None),
    sliced((0, 5, 0, 0), None, ONES),
    sliced(None, ALL, ONES),
    sliced((0, 5, 0), (1, 12, 8), ONES),
    sliced((0, 5, 0, 0), (1, 12, 8), ONES),
    sliced((0, 5, 0), ALL, ONES),
    sliced((0, 5, 0, 0), ALL, ONES, ellipsis_mask=1),
    sliced((0, 5, 0, 0), ALL, ONES, new_axis_mask=1),
    sliced((0, 5, 0, 0), ALL, ONES, shrink_axis_mask=1),
    sliced((0, 5, 0, 0), ALL, ONES, offset=True),
])  # fmt: skip
def test_a_slice_that_does_anything_else_has_no_bounds(draft: Draft) -> None:
    assert fuse.slice_bounds(draft, draft.operators[0]) is None
    assert run(fuse.plain_slices, draft) == []


@pytest.mark.parametrize("type", [FLOAT32, INT8, INT16, INT32])
def test_a_strided_slice_in_steps_of_one_is_a_slice(type: int) -> None:
    draft = sliced((0, 5, 0, 0), (1, 11, 8, 4), ONES, shape=(1, 6, 8, 4), type=type)
    assert run(fuse.plain_slices, draft) == ["takes every element, as SLICE does"]
    (operator,) = draft.operators
    _, begin, size = operator.input_tensors
    assert draft.name(operator) == "SLICE"
    assert integers(draft, begin) == [0, 5, 0, 0]
    assert integers(draft, size) == [-1, 6, -1, -1]  # -1: to the end


def one_row(shape: Sequence[int] = (1, 1, 8, 4), type: int = INT8) -> Draft:
    return sliced((0, 5, 0, 0), (1, 6, 8, 4), ONES, shape=shape, type=type)


def test_a_slice_of_one_row_is_one_and_a_slice_of_none_is_not() -> None:
    assert len(run(fuse.plain_slices, one_row())) == 1
    assert run(fuse.plain_slices, sliced((0, 5, 0, 0), (1, 5, 8, 4), ONES, shape=(1, 0, 8, 4))) == []


@pytest.mark.parametrize(("draft", "change"), [
    (one_row(shape=(1, 2, 8, 4)), None),
    (one_row(type=TensorType.INT64), None),
    (one_row(type=TensorType.BOOL), None),
    (one_row(), tensor((0, 0), is_output=True, quantization=Quantization((0.25,), (0,)))),
    (one_row(), tensor((0, 0), is_output=True, type=INT16)),
    (one_row(), inputs(0, 0, 1, 2)),
    (sliced((0, 5, 0, 0), (1, 1, 8, 4), op="SLICE", shape=(1, 1, 8, 4)), None),
])  # fmt: skip
def test_what_slice_does_not_do_stays(draft: Draft, change: Change | None) -> None:
    if change is not None:
        change(draft)
    assert run(fuse.plain_slices, draft) == []


# -- PAD and convolutions -------------------------------------------------------------------------------------------


def padded(
    before: int,
    after: int,
    *,
    kernel: int = 3,
    stride: int = 1,
    dilation: int = 1,
    op: str = "CONV_2D",
    value: int | None = None,
    size: int = 16,
) -> Draft:
    """Return a PAD of an image of 16 rows and columns, with zero point -3, and a VALID convolution of it."""
    layers = models.Layers()
    x = layers.activation((1, size, size, 4))
    y = layers.pad(x, before, after)
    layers.shapes[y] = (1, side := size + before + after, side, 4)
    z = layers.depthwise(y, stride=stride, same=False) if op == "DEPTHWISE_CONV_2D" else None
    z = layers.conv(y, 2, kernel=kernel, stride=stride, same=False) if z is None else z
    draft = Draft(layers.model([x], [z]))
    option(1, dilation_h_factor=dilation, dilation_w_factor=dilation)(draft)
    outputs = (side - (kernel - 1) * dilation - 1) // stride + 1
    tensor((1, 0), is_output=True, shape=(1, outputs, outputs, shape(draft, z)[3]))(draft)
    if value is not None:
        pad = draft.operators[0]
        data, quantization = value.to_bytes(1, "little", signed=True), draft.tensors[x].quantization
        point = draft.add_tensor((1,), INT8, quantization=quantization, data=data)
        draft.operators[0] = draft.operator("PADV2", (*pad.input_tensors, point), pad.output_tensors)
    return draft


@pytest.mark.parametrize(("draft", "kernel", "taps"), [
    (padded(1, 1), 3, None),
    (padded(1, 1, op="DEPTHWISE_CONV_2D"), 3, None),
    (padded(2, 2, kernel=5), 5, None),
    # A stride of 2 has 8 places: 7 * 2 + 3 - 16 = 1 element of padding, which SAME puts behind.
    (padded(0, 1, stride=2), 3, None),
    # A window of 4 has 7 * 2 + 4 - 16 = 2, one on each side: the fourth tap is behind.
    (padded(1, 1, stride=2), 4, slice(3, 4)),
    # A window of 2 has one element, behind; with a tap in front of the window of 3 there is one on each side.
    (padded(0, 2), 4, slice(0, 1)),
    (padded(0, 1, kernel=2), 2, None),
    (padded(1, 0, kernel=2), 3, slice(2, 3)),
    # Windows of 3 that reach over 5 rows: 15 + 5 - 16 = 4.
    (padded(2, 2, dilation=2), 3, None),
    # One place of a window of 16 needs no padding, and one of 17 would be SAME in 16 places.
    (padded(0, 0, kernel=1), 1, None),
    (padded(1, 1, value=-3), 3, None),
])  # fmt: skip
def test_pad_is_same_where_same_pads_as_much_before(draft: Draft, kernel: int, taps: slice | None) -> None:
    convolution = draft.operators[1]
    before = shape(draft, convolution.input_tensors[1])
    (reason,) = run(fuse.pad_to_same, draft)
    assert reason == "is the padding SAME of its readers [1]" + (", with taps of zero" if taps else "")
    (operator,) = draft.operators
    assert operator.options["padding"] == PADDING_SAME
    assert (operator.input_tensors[0], operator.input_tensors[2:]) == (draft.inputs[0], convolution.input_tensors[2:])
    assert (operator.input_tensors[1] == convolution.input_tensors[1]) is (taps is None)
    weights = array(draft, operator.input_tensors[1])
    assert weights is not None
    assert weights.shape == (before[0], kernel, kernel, before[3])
    if taps is not None:
        assert not weights[:, taps].any()
        assert not weights[:, :, taps].any()
    assert all(weights[:, row].any() for row in range(kernel) if taps is None or row not in range(4)[taps])


@pytest.mark.parametrize(("draft", "change"), [
    (padded(2, 0), None),  # SAME has one on each side
    (padded(2, 2), None),  # two places more
    (padded(0, 0), None),
    (padded(2, 1, stride=2), None),
    (padded(1, 1, dilation=2), None),
    (padded(1, 1, value=0), None),  # the zero point is -3
    (padded(1, 1), tensor((1, 0), is_output=True, shape=(1, 16, 15, 2))),  # of columns alone
    (padded(1, 1), tensor((1, 0), is_output=True, shape=(1, 15, 16, 2))),
    (padded(1, 1), option(1, padding=PADDING_SAME)),
    (padded(1, 1), is_given_out(0)),
    (padded(1, 1), is_read_again(0)),
    (padded(1, 1), tensor((0, 0), is_output=True, quantization=Quantization((0.25,), (-3,)))),
    (padded(1, 1), inputs(0, 0)),
    # A tap of zero counts where the filter has a zero point, and the kernel may take it only as it is.
    (padded(1, 1, stride=2), tensor((1, 1), quantization=Quantization((0.5,), (1,)))),
    (padded(1, 1, stride=2), tensor((1, 1), type=TensorType.UINT8)),
    (padded(1, 1, stride=2), tensor((1, 1), buffer=0)),
])  # fmt: skip
def test_pad_stays_where_same_would_differ(draft: Draft, change: Change | None) -> None:
    if change is not None:
        change(draft)
    assert run(fuse.pad_to_same, draft) == []


@pytest.mark.parametrize(("weight", "count"), [(1.0, 1), (float("inf"), 0), (float("nan"), 0)])
def test_a_zero_that_meets_infinity_is_none(weight: float, count: int) -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, side, side, 1), FLOAT32) for side in (4, 6, 4))
    paddings = builder.tensor((4, 2), INT32, data=[0, 0, 1, 1, 1, 1, 0, 0])
    weights = builder.tensor((1, 3, 3, 1), FLOAT32, data=[0.5] * 8 + [weight])
    builder.operator("PAD", [x, paddings], [y])
    builder.operator("CONV_2D", [y, weights], [z], options={"padding": "VALID", "stride_h": 1, "stride_w": 1})
    assert len(run(fuse.pad_to_same, Draft(parse(builder.build(inputs=[x], outputs=[z]))))) == count


# -- branches of a depthwise convolution ----------------------------------------------------------------------------

SPLIT, CUT, SHORT, LONG, JOIN = range(5)


def mixed(op: str = "SPLIT", cut: tuple[int, int] = (2, 6), axis: int = 3) -> Draft:
    """Return depthwise convolutions with 3 taps of the last 4 rows of 8 channels, with 5 of all 6 rows of 8 others."""
    layers = models.Layers()
    x = layers.activation((1, 6, 1, 16))
    halves = [layers.activation((1, 6, 1, 8)) for _ in range(2)]
    number = layers.b.tensor((), INT32, data=[axis])
    sizes = layers.integers([8, 8])
    given = [number, x] if op == "SPLIT" else [x, sizes, number]
    layers.b.operator(op, given, halves, options={"num_splits": 2})
    rows = layers.activation((1, 4, 1, 8))
    bounds = [layers.integers(values) for values in ([0, cut[0], 0, 0], [1, cut[1], 1, 8], [1, 1, 1, 1])]
    layers.b.operator("STRIDED_SLICE", [halves[0], *bounds], [rows])
    short = layers.depthwise(rows, kernel=(3, 1), same=False)
    long = layers.depthwise(halves[1], kernel=(5, 1), same=False)
    return Draft(layers.model([x], [layers.concatenation([short, long], axis=3)]))


def both(change: Callable[[int], Change]) -> Change:
    """Return a change of both convolutions."""

    def changes(draft: Draft) -> None:
        change(SHORT)(draft)
        change(LONG)(draft)

    return changes


@pytest.mark.parametrize(("draft", "change"), [
    (mixed(), None),
    (mixed("SPLIT_V"), None),
    (mixed(axis=-1), None),
    (mixed(), option(JOIN, axis=-1)),
    (mixed(), options(JOIN, axis=3)),
    (mixed(), options(LONG, padding=PADDING_VALID)),
    (mixed(), both(lambda index: option(index, fused_activation_function=1))),
])  # fmt: skip
def test_branches_become_one_with_weights_of_zero_for_the_rows_that_were_cut_off(
    draft: Draft, change: Change | None
) -> None:
    if change is not None:
        change(draft)
    short, long = draft.operators[SHORT], draft.operators[LONG]
    assert run(fuse.join_depthwise, draft) == ["joins 2 depthwise branches, which are one"]
    (joined,) = draft.operators
    source, weights, bias = joined.input_tensors
    assert (source, joined.output_tensors, joined.options) == (draft.inputs[0], draft.outputs, short.options)
    filters: list[Any] = [array(draft, each.input_tensors[1]) for each in (short, long)]
    found = array(draft, weights)
    assert found is not None
    assert found.shape == (1, 5, 1, 16)
    assert not found[:, :2, :, :8].any()
    assert np.array_equal(found[:, 2:, :, :8], filters[0])
    assert np.array_equal(found[..., 8:], filters[1])
    biases = [integers(draft, each.input_tensors[2]) or [] for each in (short, long)]
    assert integers(draft, bias) == [*biases[0], *biases[1]]
    scales: list[Any] = [draft.tensors[each.input_tensors[1]].quantization for each in (short, long)]
    quantization = draft.tensors[weights].quantization
    assert quantization is not None
    assert tuple(quantization.scale) == (*scales[0].scale, *scales[1].scale)
    assert (tuple(quantization.zero_point), quantization.quantized_dimension) == ((0,) * 16, 3)
    assert quantization.range == ((), ())


def test_a_scale_of_a_whole_branch_is_that_of_each_channel_and_ranges_are_kept_where_all_have_them() -> None:
    draft = mixed()
    filters = Quantization((0.5,), (0,), min=(-1.0,), max=(2.0,))
    tensor((SHORT, 1), quantization=filters)(draft)
    each = tuple(float(number) for number in range(8))
    tensor((LONG, 1), quantization=Quantization((0.25,) * 8, (0,) * 8, 3, min=each, max=each))(draft)
    tensor((SHORT, 2), quantization=Quantization((0.125,), (0,)))(draft)
    tensor((LONG, 2), quantization=Quantization((0.75,) * 8, (0,) * 8))(draft)
    assert len(run(fuse.join_depthwise, draft)) == 1
    _, weights, bias = draft.operators[0].input_tensors
    quantization, of_bias = draft.tensors[weights].quantization, draft.tensors[bias].quantization
    assert quantization is not None
    assert of_bias is not None
    assert tuple(quantization.scale) == (0.5,) * 8 + (0.25,) * 8
    assert quantization.range == ((-1.0,) * 8 + each, (2.0,) * 8 + each)
    assert (tuple(of_bias.scale), tuple(of_bias.zero_point), of_bias.quantized_dimension) == (
        (0.125,) * 8 + (0.75,) * 8,
        (0,) * 16,
        0,
    )


@pytest.mark.parametrize(("branch", "quantization"), [
    (SHORT, None),
    (LONG, Quantization((0.5,) * 3, (0,) * 3)),
])  # fmt: skip
def test_biases_without_a_scale_for_each_channel_keep_what_that_branch_says(
    branch: int, quantization: Quantization | None
) -> None:
    draft = mixed()
    tensor((branch, 2), quantization=quantization)(draft)
    assert len(run(fuse.join_depthwise, draft)) == 1
    assert draft.tensors[draft.operators[0].input_tensors[2]].quantization == quantization


def joins_more(draft: Draft) -> None:
    """Let the concatenation have a third part that is no branch."""
    join = draft.operators[JOIN]
    more = draft.add_like(join.output_tensors[0], (1, 1, 1, 8))
    draft.operators[JOIN] = replace(join, inputs=(*join.input_tensors, more))


def has_a_wider_window(draft: Draft) -> None:
    """Let the second branch have windows of two columns."""
    x, weights, bias = draft.operators[LONG].input_tensors
    wider = draft.add_tensor((1, 5, 2, 8), INT8, quantization=draft.tensors[weights].quantization, data=bytes(80))
    draft.operators[LONG] = replace(draft.operators[LONG], inputs=(x, wider, bias))


@pytest.mark.parametrize(("draft", "change"), [
    (mixed(), joins_more),
    (mixed(), has_a_wider_window),
    (mixed(cut=(1, 5)), None),  # other rows
    (mixed(), tensor((CUT, 3), buffer=0)),
    (mixed(axis=2), None),
    (mixed(), inputs(JOIN, 1, 0)),
    (mixed(), inputs(JOIN, 1, 1)),
    (mixed(), option(JOIN, axis=2)),
    (mixed(), option(JOIN, fused_activation_function=1)),
    (mixed(), option(SHORT, fused_activation_function=1)),
    (mixed(), both(lambda index: option(index, padding=PADDING_SAME))),
    (mixed(), option(LONG, stride_h=2)),
    (mixed(), option(LONG, stride_w=2)),
    (mixed(), option(LONG, dilation_h_factor=2)),
    (mixed(), option(LONG, dilation_w_factor=2)),
    (mixed(), option(LONG, depth_multiplier=2)),
    (mixed(), is_given_out(LONG)),
    (mixed(), is_given_out(CUT)),
    (mixed(), is_given_out(SPLIT)),
    (mixed(), is_read_again(LONG)),
    (mixed(), is_read_again(CUT)),
    (mixed(), inputs(LONG, 0, 1)),  # no bias
    (mixed(), tensor((LONG, 2), buffer=0)),
    (mixed(), tensor((LONG, 1), buffer=0)),
    (mixed(), tensor((LONG, 1), type=TensorType.UINT8)),
    (mixed(), tensor((LONG, 1), quantization=None)),
    (mixed(), tensor((LONG, 1), quantization=Quantization((), ()))),
    (mixed(), tensor((LONG, 1), quantization=Quantization((0.5,), (1,)))),
    (mixed(), tensor((LONG, 1), quantization=Quantization((0.5,) * 3, (0,) * 3))),
    (mixed(), tensor((LONG, 0), quantization=Quantization((0.25,), (-3,)))),
    (mixed(), tensor((LONG, 0), is_output=True, quantization=Quantization((0.25,), (-3,)))),
    (mixed(), tensor((SPLIT, 1), type=INT16)),
    (mixed(), tensor((SPLIT, 1), shape=(1, 7, 1, 16))),
])  # fmt: skip
def test_branches_that_are_no_one_convolution_stay(draft: Draft, change: Change | None) -> None:
    if change is not None:
        change(draft)
    assert run(fuse.join_depthwise, draft) == []
