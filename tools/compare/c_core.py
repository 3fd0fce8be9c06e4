"""Compare the planners' C core with the same planners in Python, on random problems.

    python tools compare c_core [--problems 100000] [--seed 1]

Greedy with fixed offsets and alignments, and GREEDY_BY_SIZE: all offsets must be equal. Most problems are small; one in
fifty has up to 400 buffers, from sparse to all alive at once. Exit code 1 at the first difference, which is printed.
"""

from __future__ import annotations

import sys
from random import Random

import frame

from tflm_sim.planners import native
from tflm_sim.planners.gpu.by_size import best_fit_offsets
from tflm_sim.planners.gpu.records import TensorUsageRecord
from tflm_sim.planners.greedy import greedy_offsets
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER, BufferRequirements


def random_problem(draw: Random) -> list[BufferRequirements]:
    """Return buffers whose sizes often are equal and whose lifetimes are of any density."""
    count = draw.randint(1, 400) if draw.random() < 0.02 else draw.randint(0, 24)
    moments, longest = draw.randint(1, 3 * count + 1), draw.randint(0, 3 * count + 1)
    size, step = draw.choice((4, 100, 10_000)), draw.choice((1, 1, 16))
    has_fixed, has_alignments = draw.random() < 0.3, draw.random() < 0.3
    rows = []
    for _ in range(count):
        first = draw.randrange(moments)
        offset = step * draw.randint(0, size) if has_fixed and draw.random() < 0.2 else ONLINE_PLANNED_BUFFER
        alignment = draw.choice((1, 2, 3, 4, 16)) if has_alignments else 1
        rows.append(
            BufferRequirements(step * draw.randint(0, size), offset, first, first + draw.randint(0, longest), alignment)
        )
    return rows


def differs(rows: list[BufferRequirements]) -> str:
    """Return which planner's offsets differ, or ""."""
    if native.greedy(rows)[0] != greedy_offsets(rows):
        return "greedy"
    records = [TensorUsageRecord(row.size, row.first_time_used, row.last_time_used) for row in rows]
    free = [row._replace(offline_offset=ONLINE_PLANNED_BUFFER, alignment=4) for row in rows]
    return "GREEDY_BY_SIZE" if native.best_fit(free) != best_fit_offsets(records, 4) else ""


def main() -> int:
    """Read the arguments and compare."""
    parser = frame.parser(__doc__)
    parser.add_argument("--problems", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if not native.available():
        sys.exit("the C core was not built")
    draw = Random(args.seed)
    for number in range(args.problems):
        rows = random_problem(draw)
        if planner := differs(rows):
            print(f"problem {number}: {planner} differs on {rows}")
            return 1
    print(f"{args.problems:,} problems: C and Python are equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
