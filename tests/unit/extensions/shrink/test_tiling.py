"""Which rows a tile of a segment has, and which of them are right, counted by hand."""

from __future__ import annotations

import pytest
import shrinking_models as models

from tflm_sim import simulate
from tflm_sim.extensions.shrink.profile import profile
from tflm_sim.extensions.shrink.split import AXES, ROWS
from tflm_sim.extensions.shrink.tile_rules import rule
from tflm_sim.extensions.shrink.tiling import OperatorSegment, find_tile, flow, receptive_field, segments, tile_splits
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model

X, MIDDLE, Y = 0, 3, 6
Rows = tuple[int, int, int, int]


def segments_of(model: Model, first: int) -> list[OperatorSegment]:
    draft = Draft(model)
    rules = [rule(draft, operator, AXES[ROWS]) for operator in draft.operators]
    dies = profile(draft, simulate(model, "cortex-m4")).dies
    return list(segments(draft, AXES[ROWS], first, rules, dies))


def two_convolutions() -> Model:
    """Return two 3x3 convolutions of 24 rows, with SAME: the second has stride 2, its row i is of rows 2i to 2i + 2."""
    layers = models.Layers()
    x = layers.activation((1, 24, 24, 3))
    model: Model = layers.model([x], [layers.conv(layers.conv(x, 16), 4, stride=2)])
    return model


@pytest.fixture(scope="module")
def segment() -> OperatorSegment:
    """Return these as a segment."""
    (found,) = segments_of(two_convolutions(), 0)
    return found


@pytest.mark.parametrize(("wanted", "needed"), [
    ((0, 1), (0, 4)),  # rows 0 to 2 of the middle, of which each is of three rows; there is no row -1
    ((3, 6), (5, 14)),  # rows 6 to 12
    ((11, 12), (21, 24)),  # rows 22 and 23; there is no row 24
    ((0, 12), (0, 24)),
])  # fmt: skip
def test_rows_need_those_that_their_windows_read(
    segment: OperatorSegment, wanted: tuple[int, int], needed: tuple[int, int]
) -> None:
    assert receptive_field(segment, *wanted) == needed


@pytest.mark.parametrize(("given", "middle", "result"), [
    ((0, 24), (0, 24, 0, 24), (0, 12, 0, 12)),
    # Of 9 rows the first and the last are wrong behind the first convolution. The second pads one row before the 9: its
    # windows begin at rows 4, 6, ... 12, which are rows 2 to 6 of Y. Rows 3 to 5 are made of right rows alone.
    ((5, 14), (5, 14, 6, 13), (2, 7, 3, 6)),
    ((4, 14), (4, 14, 5, 13), (2, 7, 3, 6)),  # it pads none before 10 rows: 4 * 2 + 3 - 10 = 1, behind them
    ((21, 24), (21, 24, 22, 24), (10, 12, 11, 12)),  # the last row is that of the image
    ((0, 4), (0, 4, 0, 3), (0, 2, 0, 1)),
])  # fmt: skip
def test_a_tile_is_right_where_no_window_reaches_beyond_it(
    segment: OperatorSegment, given: tuple[int, int], middle: Rows, result: Rows
) -> None:
    assert flow(segment, *given) == {X: (*given, *given), MIDDLE: middle, Y: result}


@pytest.mark.parametrize("given", [
    (3, 13),  # windows would begin at rows 3, 5, ...
    (0, 2),  # row 0 alone is right behind the first convolution, and no row of Y is made of it alone
    (22, 24),
])  # fmt: skip
def test_where_the_strides_do_not_meet_or_no_row_is_right_there_is_no_tile(
    segment: OperatorSegment, given: tuple[int, int]
) -> None:
    assert flow(segment, *given) is None


@pytest.mark.parametrize(("wanted", "found"), [
    ((0, 1), (0, 4)),
    ((3, 6), (5, 14)),
    ((5, 6), (9, 14)),
    ((11, 12), (21, 24)),
])  # fmt: skip
def test_the_smallest_tile_that_has_the_wanted_rows_right_is_found(
    segment: OperatorSegment, wanted: tuple[int, int], found: tuple[int, int]
) -> None:
    tile = find_tile(segment, *wanted)
    assert tile is not None
    assert tile[X][:2] == found
    assert tile[Y][2] <= wanted[0] < wanted[1] <= tile[Y][3]


@pytest.mark.parametrize(("count", "parts", "slices"), [
    # Two halves: each takes rows of X, computes a row too many of Y, and cuts it off.
    (2, ((0, 6), (6, 12)), 4),
    (3, ((0, 4), (4, 8), (8, 12)), 6),
])  # fmt: skip
def test_each_tile_adds_its_operators_arrays_and_two_constants_for_each_slice(
    count: int, parts: tuple[tuple[int, int], ...], slices: int
) -> None:
    model = two_convolutions()
    draft = Draft(model)
    facts = profile(draft, simulate(model, "cortex-m4"))
    (segment,) = segments_of(model, 0)
    split = next(split for split in tile_splits(draft, facts, segment, 10**9, 10**9) if len(split.parts) == count)
    assert split.parts == parts
    nodes = (count - 1) * 2 + slices + 1  # more convolutions, the slices, CONCATENATION
    arrays = (count - 1) * sum(facts.tail)
    assert split.tail == arrays + nodes * (facts.node + facts.tensor) + 2 * slices * facts.tensor
    assert (facts.node, facts.tensor) == (32, 12)


def test_a_segment_ends_where_one_tensor_leaves_it_and_reads_one_more_at_the_most() -> None:
    # conv, conv, conv, ADD of the first and the third, conv, pool: where ADD is inside, the first may be outside.
    found = [[(each.end, each.side) for each in segments_of(models.rows_model(), first)] for first in range(6)]
    assert found == [
        [(4, ()), (5, ()), (6, ())],
        [(3, ()), (4, ()), (5, ()), (6, ())],
        [(4, (3,)), (5, (3,)), (6, (3,))],
        [(5, (9,)), (6, (9,))],
        [(6, ())],
        [],
    ]
