"""Tiling along rows or columns: a segment of windowed and elementwise operators runs tile by tile.

A tile takes the rows of X in the receptive field of its rows of Y, those that its neighbours read, too, included.
Operators keep their padding: SAME at an inner edge of a tile computes rows that are wrong there, and those are
discarded. So each tensor of a tile has the rows [start, end) of the whole tensor, of which [right_start, right_end)
hold what the whole tensor holds::

    whole tensor   0 . . . . . . . . . . . 12
    tile               3 ============ 10          start 3, end 10
    right                4 ======== 9             a 3x3 kernel used padding at both edges instead of rows 2 and 10

Paths that meet in an elementwise operator are cut to the rows that both have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, pairwise
from math import inf

from tflm_sim.extensions.shrink.draft_facts import operator_multiplications, row_bytes, shape
from tflm_sim.extensions.shrink.profile import Footprint, Profile
from tflm_sim.extensions.shrink.split import (
    AXES,
    COLUMNS,
    ROWS,
    ComputedPart,
    Split,
    concatenation,
    even_cuts,
    growing_cuts,
    peak_with_concatenation,
    peak_with_neighbours,
    slice_operator,
)
from tflm_sim.extensions.shrink.tile_rules import Rule
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.units import align_up

MAX_SEGMENT = 12
PARTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 24)
MAX_GROWING_PARTS = 6
"""Most parts of which each is tried larger than the one before, or smaller."""
MAX_EXTRA_ROWS = 24
"""How many rows more than needed a tile may take so that it meets the strides."""

Tile = tuple[int, int, int, int]
"""start, end, right_start, right_end: rows of the whole tensor, half-open."""


@dataclass(frozen=True, slots=True)
class OperatorSegment:
    """Operators [first, end) of a draft along one axis: X goes in, Y comes out.

    Attributes:
        side: Activations beside X that come from outside; elementwise operators read them.
        outputs: The tensor that each operator writes.
        rules: A rule an operator.
        sizes: Rows of the whole tensors, by tensor.
    """

    axis: int
    first: int
    end: int
    source: int
    result: int
    side: tuple[int, ...]
    operators: tuple[Operator, ...]
    outputs: tuple[int, ...]
    rules: tuple[Rule, ...]
    sizes: Mapping[int, int]

    @property
    def kind(self) -> str:
        """The kind of its splits: "rows" or "columns"."""
        return ROWS if self.axis == AXES[ROWS] else COLUMNS


def segments(
    draft: Draft, axis: int, first: int, rules: list[Rule | None], dies: Mapping[int, int]
) -> Iterator[OperatorSegment]:
    """Yield the segments that begin with operator ``first``, shortest first."""
    made: set[int] = set()
    side: dict[int, None] = {}
    sizes: dict[int, int] = {}
    found: list[Rule] = []
    for index, own in enumerate(rules[first : first + MAX_SEGMENT], first):
        if own is None:
            return
        found.append(own)
        source = found[0].activations[0]
        outside = [t for t in own.activations if t not in {source, *made}]
        if len(outside) > own.most_outside:
            return
        side.update(dict.fromkeys(outside))
        output = draft.operators[index].output_tensors[0]
        sizes.update(dict.fromkeys(own.activations, own.size))
        sizes[output] = own.outputs
        # One tensor leaves the segment: every other one dies inside.
        if index > first and max(dies[tensor] for tensor in made) <= index < dies[output]:
            end = index + 1
            inner = tuple(draft.operators[first:end])
            outputs = tuple(operator.output_tensors[0] for operator in inner)
            yield OperatorSegment(
                axis, first, end, source, output, tuple(side), inner, outputs, tuple(found), dict(sizes)
            )
        made.add(output)


def flow(segment: OperatorSegment, start: int, end: int) -> dict[int, Tile] | None:
    """Return the tile of each tensor when X has rows [start, end), or None where the strides do not meet."""
    tiles: dict[int, Tile] = {segment.source: (start, end, start, end)}
    for output, own in zip(segment.outputs, segment.rules, strict=True):
        tile = _tile_before(own, tiles)
        if tile is None:
            return None
        tiles[output] = tile
    return tiles


def _tile_before(own: Rule, tiles: Mapping[int, Tile]) -> Tile | None:
    """Return the tile of an operator's output, None where there is none."""
    met = [tiles[tensor] for tensor in own.activations if tensor in tiles]
    start, end, right_start, right_end = met[0]
    for one, other, right_one, right_other in met[1:]:
        start, end = max(start, one), min(end, other)
        right_start, right_end = max(right_start, right_one), min(right_end, right_other)
    written = own.written(start, end) if start < end else None
    if written is None:
        return None
    start, end = written
    right_start = start if right_start == 0 else max(start, own.first_right(right_start))
    right_end = end if right_end == own.size else min(end, own.end_right(right_end))
    return (start, end, right_start, right_end) if right_start < right_end else None


def receptive_field(segment: OperatorSegment, start: int, end: int) -> tuple[int, int]:
    """Return the rows of X that rows [start, end) of Y are made of."""
    need = {segment.result: (start, end)}
    for output, own in zip(reversed(segment.outputs), reversed(segment.rules), strict=True):
        if output not in need:
            continue
        start, end = own.receptive_field(need[output])
        start = min(max(0, start), own.size - 1)
        end = max(min(own.size, end), start + 1)
        for tensor in own.activations:
            other = need.get(tensor, (start, end))
            need[tensor] = (min(start, other[0]), max(end, other[1]))
    return need[segment.source]


def find_tile(segment: OperatorSegment, start: int, end: int) -> dict[int, Tile] | None:
    """Return the smallest tile of X that gives rows [start, end) of Y, as the tiles of all tensors, or None."""
    size = segment.sizes[segment.source]
    needed_start, needed_end = receptive_field(segment, start, end)
    tried = set()
    for extra in range(MAX_EXTRA_ROWS):
        for up in range(extra + 1):
            rows = max(0, needed_start - up), min(size, needed_end + extra - up)
            if rows in tried:
                continue
            tried.add(rows)
            tiles = flow(segment, *rows)
            if tiles is not None:
                _, _, right_start, right_end = tiles[segment.result]
                if right_start <= start and end <= right_end:
                    return tiles
    return None


def tile_splits(draft: Draft, facts: Profile, segment: OperatorSegment, budget: float, worth: int) -> Iterator[Split]:
    """Yield the tilings of a segment that add at most ``budget`` multiply-accumulates, with their estimates.

    A segment is left out where no tiling can bring its peak below ``worth`` bytes.
    """
    if least_peak(facts, segment) >= worth:
        return
    rows = segment.sizes[segment.result]
    whole = [operator_multiplications(draft, operator) for operator in segment.operators]
    tile_of = cache(partial(find_tile, segment))
    seen: set[tuple[tuple[int, int], ...]] = set()
    before = inf

    def split(parts: tuple[tuple[int, int], ...]) -> Split | None:
        """Return a tiling, None where there is none within the budget."""
        found = [*filter(None, (tile_of(*part) for part in parts))]
        macs = extra_macs(segment, whole, found)
        if len(found) < len(parts) or macs > budget:
            return None
        peak, tail = _peak(draft, facts, segment, parts, found), _tail(facts, segment, parts, found)
        return Split(segment.kind, segment.first, segment.end, segment.source, segment.result, parts, peak, tail, macs)

    for count in PARTS:
        parts = even_cuts(rows, count)
        even = split(parts) if len(parts) > 1 and parts not in seen else None
        if even is None or even.peak > before * 1.05:
            return
        seen.add(parts)
        before = even.peak
        yield even
        if count <= MAX_GROWING_PARTS and _is_in_place(facts, segment):
            # The rest of X and what there is of Y: at the end they take less than at the beginning, or more.
            does_fall = facts.bytes[segment.source] > facts.bytes[segment.result]
            uneven = split(growing_cuts(rows, count, first_is_smallest=does_fall))
            if uneven is not None and uneven.peak < even.peak:
                yield uneven


def extra_macs(segment: OperatorSegment, whole: Sequence[int], tiles: Sequence[Mapping[int, Tile]]) -> int:
    """Return the multiply-accumulates that the tiles compute more than once."""
    total = 0
    for output, own, macs in zip(segment.outputs, segment.rules, whole, strict=True):
        rows = sum(tile[output][1] - tile[output][0] for tile in tiles)
        total += macs * rows // max(1, own.outputs) - macs
    return total


def _trims(segment: OperatorSegment, tiles: Mapping[int, Tile]) -> Iterator[tuple[int, int, Tile]]:
    """Yield (operator of the segment, activation, rows wanted) where an operand has too many rows."""
    for index, (output, own) in enumerate(zip(segment.outputs, segment.rules, strict=True)):
        if own.is_rowwise:
            wanted = tiles[output]
            for tensor in own.activations:
                has = tiles[tensor][:2] if tensor in tiles else (0, segment.sizes[tensor])
                if has != wanted[:2]:
                    yield index, tensor, wanted


def walk(
    segment: OperatorSegment,
    tile: Mapping[int, Tile],
    part: tuple[int, int],
    cut: Callable[[int, int, int, int], int],
    compute: Callable[[int, Mapping[int, int]], int],
) -> int:
    """Go through the operators of one tile and return what holds its rows of Y.

    Args:
        segment, tile, part: The tile, and the rows that are wanted of Y.
        cut: Takes a tensor, what holds its rows here, and [start, end) of the whole tensor's rows; returns what holds
            these alone.
        compute: Takes an operator's index in the segment and what holds its activations, where that is not the tensor
            itself; returns what holds its output.
    """
    holders: dict[int, int] = {}
    start, end, _, _ = tile[segment.source]
    if (start, end) != (0, segment.sizes[segment.source]):
        holders[segment.source] = cut(segment.source, segment.source, start, end)
    trims = list(_trims(segment, tile))
    for index, output in enumerate(segment.outputs):
        cuts = [(tensor, wanted) for at, tensor, wanted in trims if at == index]
        local = holders | {tensor: cut(tensor, holders.get(tensor, tensor), *wanted[:2]) for tensor, wanted in cuts}
        holders[output] = compute(index, local)
    result = holders[segment.result]
    return result if tile[segment.result][:2] == part else cut(segment.result, result, *part)


def scratch_of_tile(facts: Profile, segment: OperatorSegment, tile: Mapping[int, Tile], index: int) -> int:
    own = facts.vectors.get(segment.first + index)
    if own is None:
        return facts.scratch[segment.first + index]
    tensors = segment.rules[index].activations[0], segment.outputs[index]
    inputs, outputs = (tile[tensor][1] - tile[tensor][0] for tensor in tensors)
    return own.of(segment.axis, inputs, outputs)


def gap_of_tile(facts: Profile, segment: OperatorSegment, index: int, rows: int) -> int | None:
    """Return about how far the input of an operator of a segment must lie above so many rows of its output, or None."""
    gap = facts.gaps[segment.first + index] if facts.gaps else None
    return None if gap is None else gap * rows // segment.sizes[segment.outputs[index]]


def _peak(
    draft: Draft,
    facts: Profile,
    segment: OperatorSegment,
    parts: tuple[tuple[int, int], ...],
    tiles: list[dict[int, Tile]],
) -> int:
    """Return the most bytes alive while the tiles run."""
    row = {tensor: row_bytes(draft, tensor, segment.axis) for tensor in segment.sizes}
    steps: list[Footprint] = []
    is_in_place = _is_in_place(facts, segment)
    given = _portions(facts, segment, tiles)
    views: dict[int, tuple[int, ...]] = {segment.source: tuple(given)} if given else {}

    def step(reads: tuple[int, ...], tensor: int, rows: int, scratch: int = 0, gap: int | None = None) -> int:
        key = -1 - len(steps)
        seen = tuple(chain.from_iterable(views.get(tensor, (tensor,)) for tensor in reads)) if views else reads
        steps.append(Footprint(seen, key, align_up(rows * row[tensor], BUFFER_ALIGNMENT), scratch, gap))
        return key

    def cut(tensor: int, holder: int, start: int, end: int) -> int:
        if not is_in_place:
            return step((holder,), tensor, end - start)
        if holder not in (segment.source, *segment.side):
            return step((holder,), tensor, end - start, gap=0)
        key = -(10**6) - len(views)
        views[key] = tuple(part for part in given if start < given[part][1] and given[part][0] < end) or (holder,)
        return key

    pieces = []
    for part, tile in zip(parts, tiles, strict=True):

        def compute(index: int, holders: Mapping[int, int], tile: Mapping[int, Tile] = tile) -> int:
            reads = tuple(holders.get(tensor, tensor) for tensor in segment.rules[index].activations)
            output = segment.outputs[index]
            start, end, _, _ = tile[output]
            scratch = scratch_of_tile(facts, segment, tile, index)
            return step(reads, output, end - start, scratch, gap_of_tile(facts, segment, index, end - start))

        pieces.append(walk(segment, tile, part, cut, compute))
    sizes = {
        key: align_up((end - start) * row[segment.source], BUFFER_ALIGNMENT) for key, (start, end) in given.items()
    }
    if is_in_place:  # pieces are written where they belong in Y; of X, parts end one by one, or it stays whole
        outside = frozenset({segment.source, *segment.side})
        whole = {tensor: facts.bytes[tensor] for tensor in outside if tensor != segment.source or not sizes}
        return peak_with_neighbours(facts, segment, outside, steps, {**whole, **sizes}, frozenset(pieces))
    return peak_with_concatenation(facts, segment, steps, pieces, segment.side)


def _is_in_place(facts: Profile, segment: OperatorSegment) -> bool:
    """Return whether a SLICE of X and a piece of Y are no copies: in a plan, rows of a tensor may lie within it."""
    return bool(facts.gaps) and segment.axis == AXES[ROWS]


def _portions(facts: Profile, segment: OperatorSegment, tiles: list[dict[int, Tile]]) -> dict[int, tuple[int, int]]:
    """Return the rows of X that come to an end one after the other in a plan, a key each; {} where X stays whole."""
    if not _is_in_place(facts, segment) or facts.dies[segment.source] >= segment.end:
        return {}
    starts = [tile[segment.source][0] for tile in tiles]
    marks = [0, *sorted({start for start in starts if start > 0}), segment.sizes[segment.source]]
    return {-(10**8) - number: pair for number, pair in enumerate(pairwise(marks))}


def least_peak(facts: Profile, segment: OperatorSegment) -> int:
    """Return bytes below which no parts bring a segment: what the first part reads, or what the last one joins."""
    given = (segment.source, *segment.side)
    across = facts.alive_across(segment.first, segment.end, frozenset(given))
    joined = facts.bytes[segment.result] * (1 if facts.gaps else 2)
    return across + max(sum(facts.bytes[tensor] for tensor in given), joined)


def _tail(
    facts: Profile, segment: OperatorSegment, parts: tuple[tuple[int, int], ...], tiles: list[dict[int, Tile]]
) -> int:
    """Return the persistent bytes that the tiles add: each copy of an operator has its own arrays."""
    copies = len(parts) - 1
    slices = 0
    for part, tile in zip(parts, tiles, strict=True):
        slices += tile[segment.source][:2] != (0, segment.sizes[segment.source])
        slices += tile[segment.result][:2] != part
        slices += sum(1 for _ in _trims(segment, tile))
    arrays = sum(facts.tail[segment.first : segment.end])
    nodes = copies * len(segment.operators) + slices + 1
    return copies * arrays + nodes * (facts.node + facts.tensor) + 2 * slices * facts.tensor


def apply_tiles(draft: Draft, split: Split, rules: list[Rule | None], dies: Mapping[int, int]) -> list[ComputedPart]:
    """Replace a segment by its tiles and return what each tile computes."""
    axis = AXES[split.kind]
    segment = next(s for s in segments(draft, axis, split.first, rules, dies) if s.end == split.end)
    operators: list[Operator] = []
    pieces: list[int] = []
    made: list[ComputedPart] = []
    for part in split.parts:
        tile = find_tile(segment, *part)
        assert tile is not None, "the split was found with this tile"
        pieces.append(_emit(draft, segment, tile, part, operators))
        computed = tuple((tensor, rows[0], rows[1]) for tensor, rows in tile.items())
        made.append(ComputedPart(part, computed))
    operators += concatenation(draft, pieces, split.result, axis)
    draft.operators[split.first : split.end] = operators
    return made


def _emit(
    draft: Draft, segment: OperatorSegment, tile: Mapping[int, Tile], part: tuple[int, int], operators: list[Operator]
) -> int:
    """Append the operators of one tile and return the tensor with its rows of Y."""
    axis = segment.axis

    def cut(tensor: int, holder: int, start: int, end: int) -> int:
        origin = 0 if holder == tensor else tile[tensor][0]
        operator, output = slice_operator(draft, holder, axis, start - origin, end - origin)
        operators.append(operator)
        return output

    def compute(index: int, holders: Mapping[int, int]) -> int:
        operator, own = segment.operators[index], segment.rules[index]
        whole = operator.output_tensors[0]
        rows = tile[whole][:2]
        dimensions = list(shape(draft, whole))
        dimensions[axis] = rows[1] - rows[0]
        output = draft.add_like(whole, dimensions)
        inputs = [holders.get(tensor, tensor) for tensor in operator.input_tensors]
        given = tile.get(own.activations[0], (0, own.size))
        inputs = own.operands(draft, inputs, axis, given[:2], rows)
        operators.append(replace(operator, inputs=tuple(inputs), outputs=(output,)))
        return output

    return walk(segment, tile, part, cut, compute)
