"""Counted loops that are written by hand: what is one, what it carries, and how far it reads above what it writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from tflm_sim import parse
from tflm_sim.extensions.shrink.counted_loops import carried, carried_distances, counted_loops, operators_run
from tflm_sim.model.build import ModelBuilder, SubgraphBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, TensorType

BOOL, INT8, INT16, INT32, INT64 = (
    TensorType.BOOL,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
)


@dataclass(frozen=True)
class Loop:
    """A loop that copies an image of 4 rows of 3 pixels, a row in an iteration, from the last row to the first.

    Its counter is 0, 4, 8 and 12, where the four numbers of a row of ``where`` begin.
    """

    first: Sequence[int] | None = (0,)
    limit: Sequence[int] = (16,)
    limit_type: int = INT32
    compares: Sequence[str] = ("LESS",)
    compared: Sequence[int] = (0, 1)
    condition: int = 1
    body: int = 2
    following: Sequence[int] = (4, 0, 0, 0, 8, 0, 0, 0, 12, 0, 0, 0, 16, 0, 0, 0)
    taken: Sequence[int] = (1,)
    where: Sequence[int] = (0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    where_shape: Sequence[int] | None = None
    row: Sequence[int] = (4,)
    begin: Sequence[int] | None = None
    cut: Sequence[int] = (1, 1, 3, 1)
    columns: int = 3
    elements: int = INT8
    body_also: Sequence[str] = ()
    main_also: Sequence[str] = ()
    is_output: bool = False
    is_variable: bool = False

    def build(self) -> Model:
        builder = ModelBuilder()
        self._add_condition(builder.add_subgraph("condition"))
        self._add_body(builder.add_subgraph("body"))
        image = builder.tensor((1, 4, 3, 1), self.elements, is_variable=self.is_variable)
        start = builder.tensor((1, 4, 3, 1), self.elements)
        counter = builder.tensor((1,), INT32, data=self.first)
        after = [builder.tensor((1, 4, 3, 1), self.elements) for _ in range(2)] + [builder.tensor((1,), INT32)]
        for name in self.main_also:
            builder.operator(name, [image], [builder.tensor((1, 4, 3, 1), self.elements)])
        options = {"cond_subgraph_index": self.condition, "body_subgraph_index": self.body}
        builder.operator("WHILE", [image, start, counter], after, options=options)
        outputs = [after[1], image] if self.is_output else [after[1]]
        return parse(builder.build(inputs=[image, start], outputs=outputs))

    def _given(self, subgraph: SubgraphBuilder) -> list[int]:
        images = [subgraph.tensor((1, 4, columns, 1), self.elements) for columns in (3, self.columns)]
        subgraph.inputs = [*images, subgraph.tensor((1,), INT32)]
        return subgraph.inputs

    def _add_condition(self, subgraph: SubgraphBuilder) -> None:
        *_, counter = self._given(subgraph)
        limit = subgraph.tensor((len(self.limit),), self.limit_type, data=self.limit)
        goes_on = subgraph.tensor((1,), BOOL)
        for name in self.compares:
            subgraph.operator(name, [(counter, limit)[operand] for operand in self.compared], [goes_on])
        subgraph.outputs = [goes_on]

    def _add_body(self, subgraph: SubgraphBuilder) -> None:
        def integers(values: Sequence[int], shape: Sequence[int] | None = None) -> int:
            return subgraph.tensor(shape or (len(values),), INT32, data=values)

        image, output, counter = self._given(subgraph)
        where = subgraph.tensor((4,), INT32, data=self.begin)
        row = subgraph.tensor(self.cut, self.elements)
        updated, counted = subgraph.tensor((1, 4, self.columns, 1), self.elements), subgraph.tensor((1,), INT32)
        subgraph.operator("SLICE", [integers(self.where, self.where_shape), counter, integers(self.row)], [where])
        subgraph.operator("SLICE", [image, where, integers(self.cut)], [row])
        for name in self.body_also:
            subgraph.operator(name, [output if name == "ABS" else image], [subgraph.tensor((1, 4, 3, 1), INT8)])
        subgraph.operator("DYNAMIC_UPDATE_SLICE", [output, row, where], [updated])
        subgraph.operator("SLICE", [integers(self.following), counter, integers(self.taken)], [counted])
        subgraph.outputs = [image, updated, counted]


LOOP = Loop()


def counts(loop: Loop) -> list[tuple[int, ...]]:
    return [each.counts for each in counted_loops(Draft(loop.build()))]


def reach(loop: Loop) -> list[tuple[int, int, int]]:
    draft = Draft(loop.build())
    (found,) = counted_loops(draft)
    return list(carried_distances(draft, found))


def test_a_loop_says_where_it_stands_and_what_its_counter_is() -> None:
    draft = Draft(replace(LOOP, main_also=["ABS"]).build())
    (loop,) = counted_loops(draft)
    assert (loop.operator, loop.condition, loop.body, loop.counter) == (1, 1, 2, 2)
    assert (loop.counts, loop.iterations) == ((0, 4, 8, 12), 4)
    # ABS and WHILE; the condition's LESS five times, and the four operators of the body four times.
    assert operators_run(draft) == 2 + 5 * 1 + 4 * 4


@pytest.mark.parametrize(("loop", "expected"), [
    (replace(LOOP, first=[4]), (4, 8, 12)),
    (replace(LOOP, limit=[13]), (0, 4, 8, 12)),
    (replace(LOOP, limit=[12]), (0, 4, 8)),
    (replace(LOOP, limit=[0]), ()),
    (replace(LOOP, first=[5], limit=[5]), ()),
    (replace(LOOP, following=[1, 2, 3], limit=[3]), (0, 1, 2)),
    (replace(LOOP, following=[2, 3, 1], limit=[3]), (0, 2, 1)),
    (replace(LOOP, first=[15], limit=[16], following=[0] * 15 + [16]), (15,)),
])  # fmt: skip
def test_a_counter_is_followed_until_it_reaches_the_limit(loop: Loop, expected: tuple[int, ...]) -> None:
    assert counts(loop) == [expected]


@pytest.mark.parametrize("loop", [
    replace(LOOP, first=None),
    replace(LOOP, first=[-1]),
    replace(LOOP, first=[0, 0]),
    replace(LOOP, limit=[16, 16]),
    replace(LOOP, limit_type=INT64),
    replace(LOOP, limit=[17]),
    replace(LOOP, compares=["GREATER"]),
    replace(LOOP, compares=["LESS", "LESS"]),
    replace(LOOP, compared=[1, 0]),
    replace(LOOP, compared=[1, 1]),
    replace(LOOP, compared=[0]),
    replace(LOOP, condition=-1),
    replace(LOOP, condition=0),
    replace(LOOP, body=3),
    replace(LOOP, following=[0] * 16),
    replace(LOOP, taken=[2]),
    replace(LOOP, taken=[1, 1]),
], ids=lambda loop: str({key: value for key, value in vars(loop).items() if vars(LOOP)[key] != value}))  # fmt: skip
def test_a_loop_whose_end_is_not_in_the_file_is_not_counted(loop: Loop) -> None:
    assert counts(loop) == []


# Of the main subgraph: the image 0, what Y begins as 1, the counter 2, and what WHILE gives out 3, 4, 5. The condition
# and the body have them as 0, 1, 2; the body's updated Y is 5.
IMAGE, OUTPUT, COUNTER = [(0, 3), (1, 0), (2, 0)], [(0, 4), (1, 1), (2, 1), (2, 5)], [(0, 5), (1, 2), (2, 2)]


@pytest.mark.parametrize(("loop", "of_image"), [
    (LOOP, [*IMAGE, (0, 0)]),
    (replace(LOOP, main_also=["ABS"]), [*IMAGE, (0, 0)]),  # another reader: the loop leaves it as it is
    (replace(LOOP, is_variable=True), IMAGE),
])  # fmt: skip
def test_what_is_carried_has_one_place_where_nobody_reads_what_it_was_before(loop: Loop, of_image: object) -> None:
    draft = Draft(loop.build())
    (found,) = counted_loops(draft)
    # The counter begins as a constant, which stays in the file.
    assert list(carried(draft, found)) == [of_image, [*OUTPUT, (0, 1)], COUNTER]


def test_an_output_that_is_read_elsewhere_before_the_loop_writes_on_it_stays_apart() -> None:
    model = LOOP.build()
    main = model.subgraphs[0]
    both = replace(main, outputs=(*main.output_tensors, 1))
    draft = Draft(replace(model, subgraphs=(both, *model.subgraphs[1:])))
    (found,) = counted_loops(draft)
    assert list(carried(draft, found))[1] == OUTPUT


@pytest.mark.parametrize(("loop", "expected"), [
    # Rows of 3 bytes, from the last to the first. When row 3 is written, which ends at byte 12, row 0 is still to be
    # read: X must lie 12 bytes above Y.
    (LOOP, 12),
    (replace(LOOP, elements=INT16), 24),
    # From the first to the last: when a row is written, the next one that is read begins where it ends.
    (replace(LOOP, where=(0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0)), 0),
    # Two rows at a time. After rows 0 and 1 were written, bytes 0 to 5, row 1 is read again: it begins at byte 3.
    (replace(LOOP, limit=[12], where=(0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0), cut=(1, 2, 3, 1)), 3),
    # The fourth time too: there is no row 4, so it takes rows 2 and 3 again, which end at byte 12 and begin at byte 6.
    (replace(LOOP, where=(0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0), cut=(1, 2, 3, 1)), 6),
    # One pixel, (row, column): (1, 1) is byte 4, then bytes 2, 6 and 11. When byte 4 is written, byte 2 is to be read.
    (replace(LOOP, where=(0, 1, 1, 0, 0, 0, 2, 0, 0, 2, 0, 0, 0, 3, 2, 0), cut=(1, 1, 1, 1)), 3),
    # What begins outside is brought within: rows -5 and 9 are rows 0 and 3, of which 3 is read first.
    (replace(LOOP, where=(0, 9, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, -5, 0, 0)), 12),
    (replace(LOOP, where=(0, -5, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 9, 0, 0)), 0),
    (replace(LOOP, limit=[4]), 0),
    # A constant instead of a table: row 2 each time, which begins at byte 6 and ends at byte 9.
    (replace(LOOP, begin=(0, 2, 0, 0)), 3),
    # Y has rows of 6 bytes, of which 3 are written: the last row ends at byte 3 * 6 + 3.
    (replace(LOOP, columns=6), 21),
])  # fmt: skip
def test_an_input_lies_so_far_above_that_no_row_is_overwritten_before_it_is_read(loop: Loop, expected: int) -> None:
    assert reach(loop) == [(0, 1, expected)]


@pytest.mark.parametrize("loop", [
    replace(LOOP, body_also=["NEG"]),  # reads the image, and not by rows
    replace(LOOP, body_also=["ABS"]),  # reads what was written so far
    replace(LOOP, main_also=["ABS"]),  # the image is read by another operator too
    replace(LOOP, is_output=True),
    replace(LOOP, where=LOOP.where[:-1]),  # the table ends within the last row
    replace(LOOP, where_shape=(4, 4)),
    replace(LOOP, row=[4, 4]),
])  # fmt: skip
def test_what_is_not_read_by_rows_or_is_read_by_others_has_no_distance(loop: Loop) -> None:
    assert reach(loop) == []
