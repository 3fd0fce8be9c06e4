"""Tiles as a loop: one WHILE whose body runs one tile, instead of a copy of the operators for each tile.

    X -> [first ... end) -> Y         becomes        FILL -> Y0;  X, Y0, counter -> WHILE -> X', Y, counter'

    the condition     LESS(counter, end)
    the body          rows of X   = SLICE(X, SLICE(table of first rows, counter))
                      rows of Y   = the segment's operators, once, and a SLICE of what came out right
                      Y           = DYNAMIC_UPDATE_SLICE(Y, rows of Y, SLICE(table of first rows, counter))
                      counter     = SLICE(table of what follows, counter): 4 more, as a row of a table has four numbers

All tiles have the same number of rows, of every tensor. So the last one may begin before the one before it ends, and
rows that lie in two tiles are computed twice. Where each begins is looked up, so borders need no tile of their own.

The operators' own memory in the tail is there once, whatever the number of tiles. X and Y are carried: without a plan
WHILE, its condition and its body have each their own copy; with one address for all of them TFLM copies nothing.
Source: tensorflow/lite/micro/kernels/while.cc, kernel_util.cc, dynamic_update_slice.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from tflm_sim.extensions.shrink.counted_loops import carried_distances, counted_loops
from tflm_sim.extensions.shrink.draft_facts import element_size, operator_multiplications, row_bytes, shape
from tflm_sim.extensions.shrink.profile import Footprint, Profile, peak_of
from tflm_sim.extensions.shrink.split import AXES, COLUMNS, ROWS, ComputedPart, Split, add_integers
from tflm_sim.extensions.shrink.tile_rules import PadRule, RepeatedPadRule, Rule
from tflm_sim.extensions.shrink.tiling import (
    OperatorSegment,
    Tile,
    extra_macs,
    find_tile,
    flow,
    gap_of_tile,
    scratch_of_tile,
    segments,
    walk,
)
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, Operator, TensorType
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

RANK = 4
COUNTS = (2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64)
"""How many tiles are tried."""
MAX_EXTRA_ROWS = 8
"""How many rows more than the largest tile needs all of them may take so that they are equal."""
FILLED = frozenset({TensorType.INT8, TensorType.FLOAT32, TensorType.INT32})
"""Element types of FILL; what loops write of others begins with whatever bytes lie there.

Source: tensorflow/lite/micro/kernels/fill.cc @ 90b983c.
"""
WRITTEN = FILLED | {TensorType.INT16}
"""Element types of DYNAMIC_UPDATE_SLICE. Source: tensorflow/lite/micro/kernels/dynamic_update_slice.cc @ 90b983c."""
LOOKUP_BYTES = 5 * BUFFER_ALIGNMENT
"""Bytes of the head for the counter, the condition, and the rows that are looked up."""

Tiles = Sequence[Mapping[int, Tile]]


def equal_parts(rows: int, count: int) -> tuple[tuple[int, int], ...]:
    """Return ``count`` shares of as many rows each, or fewer shares; the last one may begin in the one before."""
    height = -(-rows // count)
    return tuple((start := min(index * height, rows - height), start + height) for index in range(-(-rows // height)))


def equal_tiles(segment: OperatorSegment, parts: Sequence[tuple[int, int]]) -> Tiles | None:
    """Return a tile for each part, all with the same number of rows of each tensor; None where there are none."""
    size = segment.sizes[segment.source]
    least = [find_tile(segment, *part) for part in parts]
    lengths = [tile[segment.source][1] - tile[segment.source][0] for tile in least if tile is not None]
    if len(lengths) < len(parts):
        return None
    for length in range(max(lengths), min(size, max(lengths) + MAX_EXTRA_ROWS) + 1):
        choices = [_tiles_of(segment, part, length) for part in parts]
        common = set(choices[0]).intersection(*choices[1:])
        if common:
            rows = min(common)
            return [choice[rows] for choice in choices]
    return None


def _tiles_of(
    segment: OperatorSegment, part: tuple[int, int], length: int
) -> dict[tuple[int, ...], Mapping[int, Tile]]:
    """Return the tiles of ``length`` rows of X that give a part of Y, by the rows of each tensor."""
    found: dict[tuple[int, ...], Mapping[int, Tile]] = {}
    size = segment.sizes[segment.source]
    least = find_tile(segment, *part)
    assert least is not None, "it was asked for before"
    first, end, _, _ = least[segment.source]
    for start in range(max(0, end - length), min(first, size - length) + 1):
        tiles = flow(segment, start, start + length)
        if tiles is not None:
            _, _, right_start, right_end = tiles[segment.result]
            if right_start <= part[0] and part[1] <= right_end:
                found.setdefault(tuple(each[1] - each[0] for each in tiles.values()), tiles)
    return found


def _with_equal_pads(segment: OperatorSegment) -> OperatorSegment:
    """Return the segment with PADs that do the same in each iteration."""
    rules = (
        RepeatedPadRule(own.activations, own.size, own.outputs, own.before, own.after)
        if isinstance(own, PadRule)
        else own
        for own in segment.rules
    )
    return replace(segment, rules=tuple(rules))


def loop_splits(draft: Draft, facts: Profile, segment: OperatorSegment, budget: float, worth: int) -> Iterator[Split]:
    """Yield the loops of a segment that add at most ``budget`` multiply-accumulates, with their estimates.

    A segment is left out where no loop can bring its peak below ``worth`` bytes.
    """
    kind, segment = ROWS if segment.axis == AXES[ROWS] else COLUMNS, _with_equal_pads(segment)
    whole_ends = max(facts.bytes[segment.source], facts.bytes[segment.result])
    if draft.tensors[segment.result].type not in WRITTEN or whole_ends >= worth:
        return
    whole = [operator_multiplications(draft, operator) for operator in segment.operators]
    rows, before = segment.sizes[segment.result], inf
    seen: set[int] = set()
    for count in COUNTS:
        parts = equal_parts(rows, count)
        if len(parts) < 2 or len(parts) in seen:
            continue
        seen.add(len(parts))
        tiles = equal_tiles(segment, parts)
        if tiles is None:
            continue
        macs = extra_macs(segment, whole, tiles)
        if macs > budget:
            return
        peak = _peak(draft, facts, segment, parts, tiles)
        if peak >= before:
            continue
        before = peak
        tail = _tail(facts, segment, tiles, parts)
        yield Split(
            kind, segment.first, segment.end, segment.source, segment.result, parts, peak, tail, macs, is_loop=True
        )


def _carried_bytes(
    draft: Draft, facts: Profile, segment: OperatorSegment, parts: Sequence[tuple[int, int]], tiles: Tiles
) -> int:
    """Return the bytes of X and Y: where nobody reads X afterwards, Y is written over the rows that were read."""
    source, result = (facts.bytes[tensor] for tensor in (segment.source, segment.result))
    is_by_rows = segment.axis == AXES[ROWS] and shape(draft, segment.source)[0] == 1
    if not is_by_rows or facts.dies[segment.source] >= segment.end:
        return source + result
    read, written = (row_bytes(draft, tensor, segment.axis) for tensor in (segment.source, segment.result))
    starts = [tile[segment.source][0] * read for tile in tiles[1:]]
    ends = [end * written for _, end in parts]
    above = max(0, *(end - start for end, start in zip(ends, starts, strict=False)))
    return max(align_up(above, BUFFER_ALIGNMENT) + source, result)


def _peak(
    draft: Draft, facts: Profile, segment: OperatorSegment, parts: Sequence[tuple[int, int]], tiles: Tiles
) -> int:
    """Return the most bytes alive while the loop runs: all that is carried, and what one tile takes."""
    steps: list[Footprint] = []
    part, tile = parts[0], tiles[0]

    def step(reads: tuple[int, ...], tensor: int, rows: int, scratch: int = 0, gap: int | None = None) -> int:
        key = -1 - len(steps)
        size = align_up(rows * row_bytes(draft, tensor, segment.axis), BUFFER_ALIGNMENT)
        steps.append(Footprint(reads, key, size, scratch, gap))
        return key

    def compute(index: int, holders: Mapping[int, int]) -> int:
        reads = tuple(holders.get(tensor, tensor) for tensor in segment.rules[index].activations)
        output = segment.outputs[index]
        start, end, _, _ = tile[output]
        gap = gap_of_tile(facts, segment, index, end - start)
        return step(reads, output, end - start, scratch_of_tile(facts, segment, tile, index), gap)

    piece = walk(segment, tile, part, lambda tensor, holder, start, end: step((holder,), tensor, end - start), compute)
    across = facts.alive_across(segment.first, segment.end, frozenset((segment.source, *segment.side)))
    carried = _carried_bytes(draft, facts, segment, parts, tiles) + sum(facts.bytes[tensor] for tensor in segment.side)
    return across + carried + LOOKUP_BYTES + peak_of(steps, {}, frozenset({piece}))


def _tail(facts: Profile, segment: OperatorSegment, tiles: Tiles, parts: Sequence[tuple[int, int]]) -> int:
    """Return the persistent bytes that the loop adds, about."""
    cuts = _begins(segment, tiles, parts)
    looked_up = 1 + sum(len(set(begins)) > 1 for begins in cuts)
    nodes = 5 + len(cuts) + looked_up
    carried = 2 + len(segment.side)
    return nodes * (facts.node + facts.tensor) + (4 * carried + 12 + 2 * len(cuts) + looked_up) * facts.tensor + 128


def _begins(segment: OperatorSegment, tiles: Tiles, parts: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
    """Return for each SLICE of the body where it begins in what it reads, a number a tile."""
    columns: list[list[int]] = []
    for tile, part in zip(tiles, parts, strict=True):
        begins: list[int] = []

        def cut(tensor: int, holder: int, start: int, end: int, tile: Mapping[int, Tile] = tile) -> int:
            begins.append(start if holder == tensor else start - tile[tensor][0])  # noqa: B023
            return -1

        walk(segment, tile, part, cut, lambda index, holders: -1)
        columns.append(begins)
    return list(zip(*columns, strict=True))


def apply_loop(draft: Draft, split: Split, rules: list[Rule | None], dies: Mapping[int, int]) -> list[ComputedPart]:
    """Replace a segment by a loop and return what each of its iterations computes."""
    found = segments(draft, AXES[split.kind], split.first, rules, dies)
    segment = _with_equal_pads(next(each for each in found if each.end == split.end))
    tiles = equal_tiles(segment, split.parts)
    assert tiles is not None, "the split was found with these tiles"
    body = _Body(draft, segment)
    for begins in _begins(segment, tiles, split.parts):
        body.begins.append(body.vector(begins))
    piece = walk(segment, tiles[0], split.parts[0], body.cut, lambda *args: body.compute(tiles[0], *args))
    draft.operators[split.first : split.end] = body.closed(piece, [start for start, _ in split.parts])
    return [
        ComputedPart(part, tuple((tensor, rows[0], rows[1]) for tensor, rows in tile.items()))
        for part, tile in zip(split.parts, tiles, strict=True)
    ]


def without_fill(model: Model) -> Model | None:
    """Return the model with loops that begin with whatever bytes lie at their output; None where that helps none.

    Every byte of the output is written by an iteration, so FILL is there for order alone; but where it writes, the
    loop's input cannot lie.
    """
    draft = Draft(model)
    fills = set[int]()
    for loop in counted_loops(draft):
        given = draft.operators[loop.operator].input_tensors
        for _, place, _ in carried_distances(draft, loop):
            writers = draft.writers(given[place])
            is_alone = draft.readers(given[place]) == [loop.operator] and given[place] not in draft.outputs
            fills.update(index for index in writers if is_alone and draft.name(draft.operators[index]) == "FILL")
    for index in sorted(fills, reverse=True):
        del draft.operators[index]
    return draft.model() if fills else None


class _Body:
    """The body of a loop that is being written: in tensors of the main subgraph, until it is outlined (mutable)."""

    def __init__(self, draft: Draft, segment: OperatorSegment) -> None:
        self.draft, self.segment = draft, segment
        self.operators: list[Operator] = []
        self.begins: list[int] = []
        self.carried = (segment.source, *segment.side, segment.result)
        self.inside = {tensor: self._copy(tensor) for tensor in self.carried}
        self.counter = draft.add_tensor((1,), TensorType.INT32)

    def _copy(self, tensor: int) -> int:
        return self.draft.add_like(tensor, shape(self.draft, tensor))

    def vector(self, begins: Sequence[int]) -> int:
        """Return what holds [0, begin, 0, 0] in the present iteration: a constant, or what is looked up."""
        draft, axis = self.draft, self.segment.axis
        rows = [[begin * (place == axis) for place in range(RANK)] for begin in begins]
        if len(set(begins)) == 1:
            return add_integers(draft, rows[0])
        table = add_integers(draft, [number for row in rows for number in row])
        found = draft.add_tensor((RANK,), TensorType.INT32)
        self.operators.append(draft.operator("SLICE", (table, self.counter, add_integers(draft, [RANK])), (found,)))
        return found

    def cut(self, tensor: int, holder: int, start: int, end: int) -> int:
        """Append the SLICE that takes as many rows, and return its output."""
        draft = self.draft
        dimensions = list(shape(draft, tensor))
        dimensions[self.segment.axis] = end - start
        output = draft.add_like(tensor, dimensions)
        source = self.inside[tensor] if holder == tensor else holder
        self.operators.append(
            draft.operator("SLICE", (source, self.begins.pop(0), add_integers(draft, dimensions)), (output,))
        )
        return output

    def compute(self, tile: Mapping[int, Tile], index: int, holders: Mapping[int, int]) -> int:
        """Append an operator of the segment as it runs on a tile, and return its output."""
        draft, operator, own = self.draft, self.segment.operators[index], self.segment.rules[index]
        whole = operator.output_tensors[0]
        rows = tile[whole][:2]
        dimensions = list(shape(draft, whole))
        dimensions[self.segment.axis] = rows[1] - rows[0]
        output = draft.add_like(whole, dimensions)
        inputs = [holders.get(tensor, tensor) for tensor in operator.input_tensors]
        given = tile.get(own.activations[0], (0, own.size))
        inputs = own.operands(draft, inputs, self.segment.axis, given[:2], rows)
        self.operators.append(replace(operator, inputs=tuple(inputs), outputs=(output,)))
        return output

    def closed(self, piece: int, begins: Sequence[int]) -> list[Operator]:
        """Return the operators of the main subgraph, once ``piece`` has the rows of Y that begin at ``begins``."""
        draft, result = self.draft, self.segment.result
        where = self.vector(begins)
        updated, counted = self._copy(result), draft.add_tensor((1,), TensorType.INT32)
        given = [*self.inside.values(), self.counter]
        following = add_integers(draft, range(RANK, RANK * (len(begins) + 1)))
        self.operators += [
            draft.operator("DYNAMIC_UPDATE_SLICE", (self.inside[result], piece, where), (updated,)),
            draft.operator("SLICE", (following, self.counter, add_integers(draft, [1])), (counted,)),
        ]
        options = {
            "cond_subgraph_index": self._condition(RANK * len(begins)),
            "body_subgraph_index": draft.outline(self.operators, given, [*given[:-2], updated, counted]),
        }
        start = self._copy(result)
        before = (*self.carried[:-1], start, add_integers(draft, [0]))
        after = (*map(self._copy, self.carried[:-1]), result, draft.add_tensor((1,), TensorType.INT32))
        return [*self._fill(start), draft.operator("WHILE", before, after, options=options)]

    def _fill(self, tensor: int) -> list[Operator]:
        draft, type = self.draft, self.draft.tensors[tensor].type
        if type not in FILLED:
            return []
        zero = draft.add_tensor((), type, data=bytes(element_size(draft, tensor)))
        return [draft.operator("FILL", (add_integers(draft, shape(draft, tensor)), zero), (tensor,))]

    def _condition(self, end: int) -> int:
        """Return the subgraph that says whether the counter is below ``end``."""
        draft = self.draft
        given = [*map(self._copy, self.carried), draft.add_tensor((1,), TensorType.INT32)]
        goes_on = draft.add_tensor((1,), TensorType.BOOL)
        less = draft.operator("LESS", (given[-1], add_integers(draft, [end])), (goes_on,))
        return draft.outline([less], given, [goes_on])
