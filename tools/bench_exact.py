"""Time the exact planner against minimalloc on its own challenging instances, in one run on this machine.

    python tools/bench_exact.py [--instances DIR] [--minimalloc BINARY]     at the capacity of the benchmark
    python tools/bench_exact.py --smallest [--time-limit 60]                the smallest capacity per instance
    python tools/bench_exact.py --models [--time-limit 10]                  the head of every model in ../shared/models

DIR is benchmarks/challenging of google/minimalloc; without it the same instances with their time compressed, in
../shared/planners/speed, are taken. BINARY is minimalloc built outside of this tree. Times are CPU seconds of all
threads; "recorded" is ../shared/planners/minimalloc.json, from another day.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import load
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.exact import ExactResult, solve
from tflm_sim.planners.problem import Problem, read_csv, write_csv
from tflm_sim.planners.validate import validate
from tflm_sim.targets.presets import target

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
CAPACITY = 1_048_576
NAMES = "ABCDEFGHIJK"
MINIMALLOC_TIMEOUT_S = 120


@dataclass(frozen=True)
class Run:
    """One answer and the CPU seconds that it took."""

    result: ExactResult
    cpu_s: float


def run(buffers: tuple[Buffer, ...], *, capacity: int | None, time_limit: float, workers: int) -> Run:
    """Solve, and have the plan judged."""
    start = time.process_time()
    result = solve(buffers, capacity=capacity, time_limit=time_limit, workers=workers)
    cpu_s = time.process_time() - start
    assert result.offsets is None or not validate(buffers, plan_of(buffers, result.offsets)), "the plan is valid"
    return Run(result, cpu_s)


def compressed(name: str) -> Problem:
    """Read an instance of ../shared/planners/speed: size, first, last (inclusive)."""
    path = SHARED / "planners" / "speed" / f"minimalloc_{name}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(int(row["size"]), int(row["first"]), int(row["last"])) for row in csv.DictReader(file)]
    return Problem(tuple(Buffer(*row) for row in rows), tuple(map(str, range(len(rows)))), str(path))


def instances(directory: Path | None) -> Iterator[tuple[str, Problem]]:
    """Yield the eleven instances."""
    for name in NAMES:
        if directory is None:
            yield name, compressed(name)
            continue
        path = directory / f"{name}.{CAPACITY}.csv"
        with path.open(newline="", encoding="utf-8") as file:
            yield name, read_csv(file, path=str(path))


def recorded() -> dict[str, Any]:
    """Return what minimalloc did on another day."""
    facts: dict[str, Any] = json.loads((SHARED / "planners" / "minimalloc.json").read_text("utf-8"))["instances"]
    return facts


def run_minimalloc(binary: Path, problem: Problem, scratch: Path) -> float | None:
    """Return minimalloc's CPU seconds, or None where it does not finish."""
    with scratch.open("w", encoding="utf-8") as file:
        write_csv(file, problem)
    command = [str(binary), f"--capacity={CAPACITY}", f"--input={scratch}", f"--output={scratch}.out", "--validate"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=MINIMALLOC_TIMEOUT_S)
    except (subprocess.SubprocessError, OSError):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def verdict(result: ExactResult) -> str:
    """Say in a few words what is known."""
    if result.infeasible:
        return "infeasible"
    return "proved" if result.proved else f"gap {result.gap:,}"


def seconds(value: float | None) -> str:
    """Return a time for a column; "-" for none."""
    return "-" if value is None else f"{value:.3f}"


def print_at_capacity(args: argparse.Namespace) -> None:
    """Print the first table."""
    print("instance    n  capacity        peak  verdict   nodes  ours s  minimalloc s  recorded s   ratio")
    ours = theirs = 0.0
    facts = recorded()
    for name, problem in instances(args.instances):
        done = run(problem.buffers, capacity=CAPACITY, time_limit=args.time_limit, workers=args.workers)
        binary, recorded_s = args.minimalloc, float(facts[name]["at_benchmark_capacity"]["cpu_s_min"])
        measured = run_minimalloc(binary, problem, args.scratch) if binary else None
        reference = measured or recorded_s
        ours, theirs = ours + done.cpu_s, theirs + reference
        print(
            f"{name:8} {len(problem.buffers):4}  {CAPACITY:8}  {done.result.peak or 0:10,}  {verdict(done.result):7} "
            f"{done.result.nodes:7}  {done.cpu_s:6.3f}  {seconds(measured):>12}  {recorded_s:10.3f} "
            f"{reference / done.cpu_s:7.0f}"
        )
    print(f"all eleven: ours {ours:.3f} s, minimalloc {theirs:.3f} s, {theirs / ours:.0f} times")


def print_smallest(args: argparse.Namespace) -> None:
    """Print the second table."""
    print("instance    n        peak  lower bound  verdict       nodes    cpu s  minimalloc's smallest")
    facts = recorded()
    for name, problem in instances(args.instances):
        done = run(problem.buffers, capacity=None, time_limit=args.time_limit, workers=args.workers)
        theirs = facts[name]["smallest_feasible_found"]
        print(
            f"{name:8} {len(problem.buffers):4}  {done.result.peak or 0:10,}  {done.result.lower_bound:11,}  "
            f"{verdict(done.result):11} {done.result.nodes:7} {done.cpu_s:8.3f}  {theirs:,}"
            f"{'' if facts[name]['optimal_proved'] else ' (not proved)'}"
        )


def print_models(args: argparse.Namespace) -> None:
    """Print the third table: greedy is what TFLM's planner gives."""
    print("     n      greedy     optimum  verdict        cpu s  model")
    counts: dict[str, int] = {}
    for path in sorted((SHARED / "models").glob("*.tflite")):
        try:
            simulation = simulate(load(path), Configuration(target(args.preset)))
            problem = head_problem(simulation)
        except TflmSimError as error:
            counts[type(error).__name__] = counts.get(type(error).__name__, 0) + 1
            continue
        done = run(problem.buffers, capacity=None, time_limit=args.time_limit, workers=args.workers)
        word = verdict(done.result)
        counts[word.split()[0]] = counts.get(word.split()[0], 0) + 1
        placed = zip(problem.buffers, simulation.buffers, strict=True)
        greedy = max((buffer.size + (planned.offset or 0) for buffer, planned in placed), default=0)
        print(
            f"{len(problem.buffers):6}  {greedy:10,}  {done.result.peak or 0:10,}  {word:13} {done.cpu_s:6.3f}  "
            f"{path.stem}"
        )
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))


def main() -> None:
    """Read the arguments and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=Path, help="benchmarks/challenging of google/minimalloc")
    parser.add_argument("--minimalloc", type=Path, help="its binary, to be measured in the same run")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/bench_exact.csv"), help="where problems are written")
    parser.add_argument("--smallest", action="store_true", help="minimise instead")
    parser.add_argument("--models", action="store_true", help="minimise the heads of the shared models")
    parser.add_argument("--preset", default="cortex-m4", help="target of --models")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each problem")
    parser.add_argument("--workers", type=int, default=1, help="threads")
    args = parser.parse_args()
    if args.models:
        print_models(args)
    else:
        (print_smallest if args.smallest else print_at_capacity)(args)


if __name__ == "__main__":
    main()
