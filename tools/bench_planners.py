"""Time the greedy planner: the C core against TFLM's own C++, and what Python adds, in one run on this machine.

    python tools/bench_planners.py --upstream ~/tflite-micro

``--upstream`` is a checkout of tensorflow/tflite-micro; its GreedyMemoryPlanner is compiled from there with -O2, into a
temporary directory. Without it the recorded figures of ``../shared/planners/speed.json`` stand in
their column, which come from another run: read them as an order of magnitude. CPU time, the median of several runs.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflm_sim.planners import greedy, native
from tflm_sim.planners.buffers import Buffer

ROOT = Path(__file__).resolve().parent.parent
PLANNERS = ROOT.parent / "shared" / "planners"
CORE = ROOT / "tflm_sim" / "planners" / "native"
UPSTREAM_SOURCE = "tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc"
AIMS = {100: 1, 5_000: 20, 20_000: 100}
"""How many times faster than upstream the C core shall be, by number of buffers."""

Row = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers as (size, first, last), lifetimes inclusive."""

    name: str
    rows: tuple[Row, ...]


def problems(directory: Path, largest: int) -> Iterator[Problem]:
    """Yield the recorded problems, small ones first, and random ones where there are none; last one of ``largest``."""
    found = [
        Problem(
            path.stem, tuple((int(r["size"]), int(r["first"]), int(r["last"])) for r in csv.DictReader(path.open()))
        )
        for path in directory.glob("*.csv")
    ]
    yield from sorted(found, key=lambda p: (len(p.rows), p.name)) or [
        random_problem(n) for n in (100, 1000, 5000, 20_000)
    ]
    yield random_problem(largest)


def random_problem(count: int) -> Problem:
    """Return sizes 16 * U[1, 4096] and lifetimes U[1, 19] long, as the recorded random problems have them."""
    rng = random.Random(count)
    rows = []
    for _ in range(count):
        first = rng.randrange(count)
        rows.append((16 * rng.randint(1, 4096), first, min(count - 1, first + rng.randint(1, 19) - 1)))
    return Problem(f"random_n{count}", tuple(rows))


def build(directory: Path, upstream: Path | None) -> Path:
    """Compile the driver, with upstream's planner if there is a checkout."""
    core, driver = directory / "tflm_plan.o", directory / "bench_planners"
    subprocess.run(["gcc", "-std=c99", "-O2", "-c", CORE / "tflm_plan.c", "-o", core], check=True)
    command = ["g++", "-std=c++17", "-O2", "-w", f"-I{CORE}", str(ROOT / "tools" / "bench_planners.cc"), str(core)]
    if upstream is not None:
        command += ["-DWITH_UPSTREAM", "-DTF_LITE_STATIC_MEMORY", f"-I{upstream}", str(upstream / UPSTREAM_SOURCE)]
    subprocess.run([*command, "-o", str(driver)], check=True)
    return driver


def run_driver(driver: Path, problem_list: list[Problem], limit: float) -> Iterator[dict[str, Any]]:
    """Yield what the driver measures, problem by problem."""
    text = "".join(
        f"{problem.name} {len(problem.rows)}\n"
        + "".join(f"{size} {first} {last}\n" for size, first, last in problem.rows)
        for problem in problem_list
    )
    output = subprocess.run([driver, str(limit)], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout
    yield from map(json.loads, output.splitlines())


def python_seconds(problem: Problem) -> float:
    """Return the CPU seconds of ``greedy.plan`` from Buffers to Plan, the C core included."""
    buffers = [Buffer(*row) for row in problem.rows]
    times = []
    for _ in range(3 if len(buffers) > 10_000 else 21):
        start = time.process_time()
        greedy.plan(buffers)
        times.append(time.process_time() - start)
    return statistics.median(times)


def recorded_upstream() -> dict[str, float]:
    """Return upstream's recorded CPU seconds by problem, {} where they are not."""
    path = PLANNERS / "speed.json"
    rows = json.loads(path.read_text())["greedy"] if path.exists() else {}
    return {name: row["median_cpu_ns"] * 1e-9 for name, row in rows.items()}


def microseconds(seconds: float) -> str:
    """Return a time for the table."""
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-5 else f"{seconds * 1e6:.1f}"


def main() -> int:
    """Print the table; exit 1 when a plan differs from upstream's or an aim is missed in this very run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=Path, help="a checkout of tensorflow/tflite-micro")
    parser.add_argument("--problems", type=Path, default=PLANNERS / "speed", help="CSV files: size,first,last")
    parser.add_argument("--largest", type=int, default=1_000_000, help="buffers in the last problem")
    parser.add_argument("--limit", type=float, default=5, help="leave upstream out where it would take more seconds")
    args = parser.parse_args()
    if not native.available():
        sys.exit("the C core was not built")
    problem_list = list(problems(args.problems, args.largest))
    with tempfile.TemporaryDirectory() as directory:
        measured = list(run_driver(build(Path(directory), args.upstream), problem_list, args.limit))
    recorded = {} if args.upstream else recorded_upstream()
    print(
        f"{'problem':<16}{'buffers':>10}{'C core us':>12}{'upstream us':>14}{'times faster':>14}{'from Python us':>16}"
    )
    failures = []
    for problem, row in zip(problem_list, measured, strict=True):
        upstream = row.get("upstream_seconds", recorded.get(problem.name))
        ratio = None if upstream is None else upstream / row["seconds"]
        print(
            f"{problem.name:<16}{len(problem.rows):>10,}{microseconds(row['seconds']):>12}"
            f"{'-' if upstream is None else microseconds(upstream):>14}{'-' if ratio is None else f'{ratio:,.1f}':>14}"
            f"{microseconds(python_seconds(problem)):>16}"
        )
        if not row.get("same", True):
            failures.append(f"{problem.name}: the plan is not upstream's")
        if "upstream_seconds" in row and ratio is not None and ratio < AIMS.get(len(problem.rows), 1):
            failures.append(f"{problem.name}: {ratio:.1f} times faster, not {AIMS.get(len(problem.rows), 1)}")
    print(*failures, sep="\n", end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
