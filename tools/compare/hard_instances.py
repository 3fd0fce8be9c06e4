"""Make capacity problems that are feasible by construction, in the families of ``../shared/planners/hard``.

    python tools compare hard_instances OUT [--seed 1] [--names ABCDEFGHIJK]

Written are ``FAMILY_NAME_SEED.CAPACITY.csv`` (``id,lower,upper,size``; upper exclusive), which
``tools/bench_exact.py --hard --hard-instances OUT`` reads. From minimalloc's instances in ``../shared/planners/speed``:

- mirror: time runs backwards; shuf: the lines in another order; window: half of the time
- warp: the offsets of a plan moved by a monotone function, so that sizes change and the plan still fits
- stack: two at once, each with a clock of its own, the capacities added
- rank: any of the above with times replaced by their ranks

And rectangles cut into pieces without a gap: guil (straight through), pin (pinwheels too), coarse (few sizes).
"""

from __future__ import annotations

import csv
from bisect import bisect
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import frame

from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.exact import solve

SPEED = Path(__file__).resolve().parents[3] / "shared" / "planners" / "speed"
NAMES = "ABCDEFGHIJK"
CAPACITY = 1_048_576
PLAN_SECONDS = 60.0
HEIGHT = 65_536
"""Of the rectangles that are cut."""

Piece = tuple[int, int, int]
"""Lower, upper (exclusive), size."""
Instance = tuple[str, int, list[Piece]]
"""Name, capacity, pieces."""


def pieces_of(name: str) -> list[Piece]:
    """Read one of minimalloc's instances, with its time compressed."""
    with (SPEED / f"minimalloc_{name}.csv").open(newline="", encoding="utf-8") as file:
        return [(int(row["first"]), int(row["last"]) + 1, int(row["size"])) for row in csv.DictReader(file)]


def mirrored(pieces: list[Piece]) -> list[Piece]:
    """Let time run backwards."""
    end = max(upper for _, upper, _ in pieces)
    return [(end - upper, end - lower, size) for lower, upper, size in pieces]


def shuffled(pieces: list[Piece], rng: Random) -> list[Piece]:
    """Change the order of the lines."""
    return rng.sample(pieces, len(pieces))


def windowed(pieces: list[Piece], rng: Random) -> list[Piece]:
    """Cut half of the time out."""
    end = max(upper for _, upper, _ in pieces)
    begin = rng.randint(0, end - end // 2)
    cut = [(max(lower, begin), min(upper, begin + end // 2), size) for lower, upper, size in pieces]
    return [(lower, upper, size) for lower, upper, size in cut if lower < upper]


def ranked(pieces: list[Piece]) -> list[Piece]:
    """Replace times by their ranks."""
    moments = sorted({time for lower, upper, _ in pieces for time in (lower, upper)})
    rank = {time: index for index, time in enumerate(moments)}
    return [(rank[lower], rank[upper], size) for lower, upper, size in pieces]


def warped(pieces: list[Piece], rng: Random) -> tuple[int, list[Piece]]:
    """Move the offsets of a plan by a random function, linear between some knots; returns the new capacity too."""
    plan = solve(
        [Buffer(size, lower, upper) for lower, upper, size in pieces], capacity=CAPACITY, time_limit=PLAN_SECONDS
    )
    assert plan.offsets is not None, "without fixed offsets there is a plan"
    assert plan.proved, "minimalloc's instances are solved"
    knots = [0, *sorted(rng.sample(range(1, CAPACITY), rng.randint(8, 40))), CAPACITY]
    values = [0]
    slopes = [rng.uniform(0.5, 2.5) for _ in knots[1:]]
    for low, high, slope in zip(knots, knots[1:], slopes, strict=False):
        values.append(values[-1] + max(1, round((high - low) * slope)))

    def move(offset: int) -> int:
        k = min(bisect(knots, offset), len(knots) - 1) - 1
        return values[k] + (offset - knots[k]) * (values[k + 1] - values[k]) // (knots[k + 1] - knots[k])

    moved = [
        (lower, upper, move(offset + size) - move(offset))
        for (lower, upper, size), offset in zip(pieces, plan.offsets, strict=True)
    ]
    return move(CAPACITY), [piece for piece in moved if piece[2] > 0]


def stacked(below: list[Piece], above: list[Piece]) -> list[Piece]:
    """Run two at once, each at its own pace, so that both end together."""
    one, other = (max(upper for _, upper, _ in pieces) for pieces in (below, above))
    return [
        *((lower * other, upper * other, size) for lower, upper, size in below),
        *((lower * one, upper * one, size) for lower, upper, size in above),
    ]


Rectangle = tuple[int, int, int, int]
"""From and to in time, from and to in bytes."""


def cut_straight(r: Rectangle, rng: Random, step: int) -> list[Rectangle]:
    """Cut once, straight through; [] where the rectangle is too small."""
    left, right, low, high = r
    choices = [d for d, length in (("t", right - left), ("o", (high - low) // step)) if length >= 2]
    if not choices:
        return []
    if rng.choice(choices) == "t":
        at = rng.randint(left + 1, right - 1)
        return [(left, at, low, high), (at, right, low, high)]
    at = low + step * rng.randint(1, (high - low) // step - 1)
    return [(left, right, low, at), (left, right, at, high)]


def cut_pinwheel(r: Rectangle, rng: Random) -> list[Rectangle]:
    """Cut into four arms around a middle, turning either way; [] where the rectangle is too small."""
    left, right, low, high = r
    if right - left < 3 or high - low < 3:
        return []
    a, b = sorted(rng.sample(range(left + 1, right), 2))
    c, d = sorted(rng.sample(range(low + 1, high), 2))
    if rng.random() < 0.5:
        return [(left, b, low, c), (b, right, low, d), (a, right, d, high), (left, a, c, high), (a, b, c, d)]
    return [(a, right, low, c), (b, right, c, high), (left, b, d, high), (left, a, low, d), (a, b, c, d)]


def cut_up(count: int, length: int, rng: Random, *, pinwheels: bool = False, step: int = 1) -> list[Piece]:
    """Cut a rectangle until there are about ``count`` pieces; the largest of a few goes first."""
    rectangles: list[Rectangle] = [(0, length, 0, HEIGHT)]
    for _ in range(100 * count):
        if len(rectangles) >= count:
            break
        drawn = [rng.randrange(len(rectangles)) for _ in range(3)]
        index = max(drawn, key=lambda i: (rectangles[i][1] - rectangles[i][0]) * (rectangles[i][3] - rectangles[i][2]))
        parts = cut_pinwheel(rectangles[index], rng) if pinwheels and rng.random() < 0.6 else []
        parts = parts or cut_straight(rectangles[index], rng, step)
        if parts:
            rectangles[index : index + 1] = parts
    pieces = [(left, right, high - low) for left, right, low, high in rectangles]
    rng.shuffle(pieces)
    return pieces


def from_minimalloc(names: str, seed: int) -> Iterator[Instance]:
    """Yield what is made from minimalloc's instances."""
    for name in names:
        pieces, rng = pieces_of(name), Random(f"{name}{seed}")
        other = rng.choice([other for other in names if other != name] or [name])
        yield f"mirror_{name}", CAPACITY, mirrored(pieces)
        yield f"shuf_{name}", CAPACITY, shuffled(pieces, rng)
        yield f"window_{name}", CAPACITY, windowed(pieces, rng)
        capacity, moved = warped(pieces, rng)
        yield f"warp_{name}", capacity, moved
        both = stacked(pieces, pieces_of(other))
        yield f"stack_{name}{other}", 2 * CAPACITY, both
        yield f"rank_stack_{name}{other}", 2 * CAPACITY, ranked(both)


def from_rectangles(seed: int) -> Iterator[Instance]:
    """Yield what is cut from full rectangles."""
    rng = Random(seed)
    for count, length in ((50, 60), (100, 100), (200, 200), (400, 400), (1000, 1000)):
        yield f"guil_{count}", HEIGHT, cut_up(count, length, rng)
        yield f"pin_{count}", HEIGHT, cut_up(count, length, rng, pinwheels=True)
    for count in (100, 200):
        yield f"coarse_{count}", HEIGHT, cut_up(count, 400, rng, step=1024)
        yield f"coarse_pin_{count}", HEIGHT, [(a, b, s) for a, b, s in cut_up(count, 60, rng, pinwheels=True)]


def write(path: Path, pieces: list[Piece]) -> None:
    """Write a problem as minimalloc reads it."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(("id", "lower", "upper", "size"))
        rows.writerows((index, *piece) for index, piece in enumerate(pieces))


def main() -> None:
    """Read the arguments and write the files."""
    parser = frame.parser(__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--names", default=NAMES, help="which of minimalloc's instances")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    makers: tuple[Callable[[], Iterator[Instance]], ...] = (
        lambda: from_minimalloc(args.names, args.seed),
        lambda: from_rectangles(args.seed),
    )
    for maker in makers:
        for name, capacity, pieces in maker():
            write(args.out / f"{name}_{args.seed}.{capacity}.csv", pieces)


if __name__ == "__main__":
    main()
