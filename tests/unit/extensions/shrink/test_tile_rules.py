"""Which rows operators read and write along an axis: counted row by row."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import ceil, floor

import pytest

from tflm_sim.extensions.shrink.draft_facts import Window, array
from tflm_sim.extensions.shrink.tile_rules import (
    PadRule,
    RepeatedPadRule,
    ResizeRule,
    Rule,
    TransposedRule,
    WindowRule,
    rule,
)
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

Reads = Callable[[int], set[int]]


def check(own: Rule, reads: Reads, rows: range) -> None:
    """Compare a rule with the rows that each output row reads, for output rows ``rows`` and beyond."""
    for start, end in product(rows, rows):
        if start < end:
            read = reads(start) | reads(end - 1)
            assert own.receptive_field((start, end)) == (min(read), max(read) + 1), (start, end)
    far = range(-15, 60)
    for row in range(1, own.size):
        assert own.first_right(row) == next(y for y in far if min(reads(y)) >= row), row
        assert own.end_right(row) == next(y for y in reversed(far) if max(reads(y)) < row) + 1, row


WINDOWS = [
    (size, kernel, stride, dilation, is_same)
    for size, (kernel, stride, dilation) in product(
        (9, 12), [(3, 1, 1), (3, 2, 1), (2, 2, 1), (3, 1, 2), (1, 1, 1), (4, 3, 1), (5, 2, 1), (1, 2, 1)]
    )
    for is_same in (True, False)
]


@pytest.mark.parametrize(("size", "kernel", "stride", "dilation", "is_same"), WINDOWS)
def test_a_window_reads_its_taps(size: int, kernel: int, stride: int, dilation: int, is_same: bool) -> None:
    walk = Window(kernel, stride, dilation, is_same)
    outputs, padding = walk.output(size)
    assert walk.extent == (kernel - 1) * dilation + 1
    own = WindowRule((0,), size, outputs, walk, padding)

    def reads(y: int) -> set[int]:
        return {y * stride - padding + tap * dilation for tap in range(kernel)}

    check(own, reads, range(outputs))
    for start, end in product(range(size), range(1, size + 1)):
        if start >= end:
            continue
        # The operator runs on these rows alone: output j of the tile lies where an output of the whole lies.
        made, pad = walk.output(end - start)
        first = Fraction(start - pad + padding, stride)
        lies = made > 0 and first.denominator == 1 and first >= 0 and first + made <= outputs
        assert own.written(start, end) == ((int(first), int(first) + made) if lies else None), (start, end)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (2, 1), (0, 3)])
def test_a_pad_moves_rows_down(before: int, after: int) -> None:
    own, again = (kind((0,), 6, 6 + before + after, before, after) for kind in (PadRule, RepeatedPadRule))
    for one in (own, again):
        check(one, lambda y: {y - before}, range(before, before + 6))
    for start, end in product(range(6), range(1, 7)):
        if start < end:
            # A tile at an edge of the image has the padding of that edge.
            top, bottom = before * (start == 0), after * (end == 6)
            first = start + before - top
            assert own.written(start, end) == (first, first + top + (end - start) + bottom)
            # Padded on both sides, the tile is so much longer, and its first row is where the image's would be.
            assert again.written(start, end) == (start, start + before + (end - start) + after)


@pytest.mark.parametrize("factor", [1, 2, 4, 8])
@pytest.mark.parametrize(("is_linear", "half_pixel"), [*product([True, False], repeat=2)])
def test_a_resize_reads_the_rows_around_a_position(factor: int, is_linear: bool, half_pixel: bool) -> None:
    own = ResizeRule((0,), 5, 5 * factor, factor, is_linear, half_pixel)

    def reads(y: int) -> set[int]:
        if not is_linear:
            return {floor(Fraction(y, factor))}  # a half more stays within the row
        at = Fraction(2 * y + 1, 2 * factor) - Fraction(1, 2) if half_pixel else Fraction(y, factor)
        return {floor(at), ceil(at)}

    check(own, reads, range(5 * factor))
    assert own.written(1, 3) == (factor, 3 * factor)


@pytest.mark.parametrize(("kernel", "stride"), [(3, 2), (2, 2), (4, 2), (5, 3), (3, 1), (1, 1)])
@pytest.mark.parametrize("is_same", [True, False])
def test_a_transposed_convolution_adds_a_row_to_several(kernel: int, stride: int, is_same: bool) -> None:
    size, padding = 6, (kernel - stride) // 2 if is_same else 0
    outputs = size * stride if is_same else (size - 1) * stride + kernel
    own = TransposedRule((0,), size, outputs, Window(kernel, stride, 1, is_same))

    def reads(y: int) -> set[int]:
        return {row for row in range(-25, 70) if 0 <= y - (row * stride - padding) < kernel}

    check(own, reads, range(outputs))
    for start, end in ((0, 6), (1, 3), (2, 6)):
        made = (end - start) * stride if is_same else (end - start - 1) * stride + kernel
        assert own.written(start, end) == (start * stride, start * stride + made)


def test_other_operators_need_the_same_row() -> None:
    own = Rule((3, 4), 7, 7)
    assert (own.receptive_field((2, 5)), own.written(2, 5)) == ((2, 5), (2, 5))
    assert (own.first_right(3), own.end_right(4)) == (3, 4)
    assert (own.is_rowwise, own.most_outside, PadRule((3, 4), 7, 7, 0, 0).is_rowwise) == (True, 1, False)
    assert PadRule((3, 4), 7, 7, 0, 0).most_outside == 0


def draft_of(name: str, inputs: list[object], output: tuple[int, ...], **options: int) -> Draft:
    """Return a model of one operator; its inputs are shapes, or (shape, int32 values) of constants."""
    b = ModelBuilder()
    numbers = []
    for one in inputs:
        if isinstance(one, tuple) and one and isinstance(one[0], tuple):
            shape, values = one
            numbers.append(b.tensor(shape, TensorType.INT32, data=values))
        else:
            numbers.append(b.tensor(one, TensorType.INT8, scale=0.5))
    y = b.tensor(output, TensorType.INT8, scale=0.5)
    b.operator(name, numbers, [y], options=options)
    return Draft(parse(b.build(inputs=[numbers[0]], outputs=[y])))


def rule_of(*arguments: object, axis: int = 1, **options: int) -> Rule | None:
    draft = draft_of(*arguments, **options)  # type: ignore[arg-type]
    return rule(draft, draft.operators[0], axis)


IMAGE = (1, 6, 4, 2)


def test_which_operators_have_which_rule() -> None:
    pads = ((4, 2), [0, 0, 1, 2, 0, 3, 0, 0])
    assert rule_of("PAD", [IMAGE, pads], (1, 9, 7, 2)) == PadRule((0,), 6, 9, 1, 2)
    assert rule_of("PAD", [IMAGE, pads], (1, 9, 7, 2), axis=2) == PadRule((0,), 4, 7, 0, 3)
    assert rule_of("PAD", [IMAGE, ((4, 2), [0, 0, -1, 2, 0, 0, 0, 0])], (1, 7, 4, 2)) is None
    size = ((2,), [12, 4])
    resize = ResizeRule((0,), 6, 12, 2, True, True)
    assert rule_of("RESIZE_BILINEAR", [IMAGE, size], (1, 12, 4, 2), half_pixel_centers=1) == resize
    nearest = ResizeRule((0,), 6, 12, 2, False, False)
    assert rule_of("RESIZE_NEAREST_NEIGHBOR", [IMAGE, size], (1, 12, 4, 2)) == nearest
    assert rule_of("RESIZE_BILINEAR", [IMAGE, ((2,), [18, 4])], (1, 18, 4, 2)) is None  # by three
    assert rule_of("RESIZE_BILINEAR", [IMAGE, ((2,), [9, 4])], (1, 9, 4, 2)) is None
    assert rule_of("RESIZE_BILINEAR", [IMAGE, size], (1, 12, 4, 2), align_corners=1) is None
    assert rule_of("RELU", [IMAGE], IMAGE) == Rule((0,), 6, 6)
    assert rule_of("RESHAPE", [IMAGE], IMAGE) is None
    pool = {"padding": 1, "stride_h": 2, "stride_w": 1, "filter_height": 2, "filter_width": 1}
    walk = Window(2, 2, 1, is_same=False)
    assert rule_of("MAX_POOL_2D", [IMAGE], (1, 3, 4, 2), **pool) == WindowRule((0,), 6, 3, walk, 0)


def test_operators_of_two_inputs_take_rows_of_both_or_constants_that_every_row_has() -> None:
    assert rule_of("ADD", [IMAGE, IMAGE], IMAGE) == Rule((0, 1), 6, 6)
    assert rule_of("ADD", [IMAGE, (1, 1, 4, 2)], IMAGE) is None
    for shape, values, rows, columns in (
        ((2,), [1, 2], True, True),
        ((4, 2), list(range(8)), True, False),  # a number for each column
        ((1, 2), [1, 2], True, True),
        ((6, 1, 1), list(range(6)), False, True),
        ((1, 1, 4, 2), list(range(8)), True, False),
    ):
        found = [rule_of("ADD", [IMAGE, (shape, values)], IMAGE, axis=axis) is not None for axis in (1, 2)]
        assert found == [rows, columns], shape
    for along, shape, has_rule in ((3, (1, 6, 4, 4), True), (-1, (1, 6, 4, 4), True), (1, (1, 12, 4, 2), False)):
        draft = draft_of("CONCATENATION", [IMAGE, IMAGE], shape, axis=along)
        assert rule(draft, draft.operators[0], 1) == (Rule((0, 1), 6, shape[1]) if has_rule else None)


@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "rows", "has_rule"),
    [
        (3, 2, 0, 12, True),
        (3, 2, 1, 13, True),
        (3, 2, 1, 12, False),
        (3, 2, 0, 13, False),
        (1, 2, 0, 12, False),
        (2, 2, 0, 12, True),
        (
            4,
            2,
            0,
            12,
            False,
        ),  # CMSIS-NN: with a padding of 1 before strides of 2, an emulated Cortex-M4 has other rows.
        (6, 2, 0, 12, True),
    ],
)
def test_a_transposed_convolution_of_the_usual_shape(
    kernel: int, stride: int, padding: int, rows: int, has_rule: bool
) -> None:
    b = ModelBuilder()
    shape = b.tensor((4,), TensorType.INT32, data=[1, rows, 4, 3])
    weights = b.tensor((3, kernel, 1, 2), TensorType.INT8, data=bytes(6 * kernel), scale=0.5)
    x, y = b.tensor(IMAGE, TensorType.INT8, scale=0.5), b.tensor((1, rows, 4, 3), TensorType.INT8, scale=0.5)
    b.operator(
        "TRANSPOSE_CONV", [shape, weights, x], [y], options={"padding": padding, "stride_h": stride, "stride_w": 1}
    )
    draft = Draft(parse(b.build(inputs=[x], outputs=[y])))
    own = rule(draft, draft.operators[0], 1)
    window = Window(kernel, stride, 1, padding == 0)
    assert own == (TransposedRule((x,), 6, rows, window) if has_rule else None)
    if own is not None:
        (changed, *others) = own.operands(draft, [shape, weights, x], 1, (1, 3), (2, 7))
        assert others == [weights, x]
        found = array(draft, changed)
        assert found is not None
        assert found.tolist() == [1, 5, 4, 3]
        assert own.operands(draft, [shape, weights, x], 1, (0, 6), (0, rows)) == [shape, weights, x]


def test_a_tile_is_padded_where_the_image_ends() -> None:
    draft = draft_of("PAD", [IMAGE, ((4, 2), [0, 0, 1, 2, 0, 3, 0, 0])], (1, 9, 7, 2))
    own = rule(draft, draft.operators[0], 1)
    assert own is not None
    for read, rows in (((0, 3), [1, 0]), ((2, 6), [0, 2]), ((1, 5), [0, 0])):
        changed = array(draft, own.operands(draft, [0, 1], 1, read, (0, 0))[1])
        assert changed is not None
        assert changed.tolist() == [[0, 0], rows, [0, 3], [0, 0]]
    assert own.operands(draft, [0, 1], 1, (0, 6), (0, 9)) == [0, 1]


def test_a_constant_of_half_bytes_is_no_array() -> None:
    builder = ModelBuilder()
    bytes_, halves = (builder.tensor((2,), type, data=b"\1\2") for type in (TensorType.INT8, TensorType.INT4))
    draft = Draft(parse(builder.build()))
    assert [array(draft, tensor) is None for tensor in (bytes_, halves, -1)] == [False, True, True]
