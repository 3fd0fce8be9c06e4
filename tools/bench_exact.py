"""Time the exact planner against minimalloc on its own challenging instances, in one run on this machine.

    python tools/bench_exact.py [--instances DIR] [--minimalloc BINARY]     at the capacity of the benchmark
    python tools/bench_exact.py --smallest [--time-limit 60]                the smallest capacity per instance
    python tools/bench_exact.py --models [--time-limit 10]                  the head of every model in ../shared/models
    python tools/bench_exact.py --hard [--only ours,minimalloc,cp_sat]      ../shared/planners/hard, family by family
    python tools/bench_exact.py --mixed-seed 1 [--mixed-seed 2]             150 random problems like the mixed, each
    python tools/bench_exact.py --all-peers [--idealloc-problems DIR]       A to K, hard, mixed, pangu and resnet50

DIR is benchmarks/challenging of google/minimalloc; without it the same instances with their time compressed, in
../shared/planners/speed, are taken (by --all-peers ../shared/planners/challenging). With --idealloc-problems it is
benchmarks/somas_tensors of cappadokes/idealloc. Where there is no capacity, a problem is solved when its plan is
proved to be the smallest; mixed alignments get 6 seconds at the most. The validator judges every plan of ours. A
BINARY is built outside of this tree. Times are CPU seconds of all threads; "recorded" is
../shared/planners/minimalloc.json, from another day.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import math
import multiprocessing
import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import frame

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import load
from tflm_sim.planners.buffers import Buffer, plan_of
from tflm_sim.planners.exact import ExactResult, Progress, solve
from tflm_sim.planners.greedy import plan
from tflm_sim.planners.lower_bound import lower_bound
from tflm_sim.planners.problem import Problem, read_csv, write_csv
from tflm_sim.planners.validate import validate
from tflm_sim.targets.presets import preset

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"
CAPACITY = 1_048_576
NAMES = "ABCDEFGHIJK"
LARGE = ("pangu_2.6B", "resnet50")
"""Only idealloc and ours plan these: for a search of the whole they are too large."""
MINIMALLOC_TIMEOUT_S = 120
ENDLESS = 10**15
MIXED_SECONDS = 6.0
"""The limit of each problem with mixed alignments, whoever is asked, unless a smaller one is given."""


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
    path = frame.recorded(SHARED / "planners" / "speed" / f"minimalloc_{name}.csv")
    with path.open(newline="", encoding="utf-8") as file:
        rows = [(int(row["size"]), int(row["first"]), int(row["last"])) for row in csv.DictReader(file)]
    return Problem(tuple(Buffer(size, first, last + 1) for size, first, last in rows), str(path))


def instances(directory: Path | None) -> Iterator[tuple[str, Problem]]:
    """Yield the eleven instances."""
    for name in NAMES:
        if directory is None:
            yield name, compressed(name)
            continue
        path = directory / f"{name}.{CAPACITY}.csv"
        with frame.recorded(path).open(newline="", encoding="utf-8") as file:
            yield name, read_csv(file, path=str(path))


def recorded() -> dict[str, Any]:
    """Return what minimalloc did on another day."""
    path = frame.recorded(SHARED / "planners" / "minimalloc.json")
    facts: dict[str, Any] = json.loads(path.read_text("utf-8"))["instances"]
    return facts


def run_minimalloc(
    binary: Path,
    problem: Problem,
    scratch: Path,
    *,
    capacity: int = CAPACITY,
    timeout_s: float = MINIMALLOC_TIMEOUT_S,
    options: tuple[str, ...] = (),
) -> float | None:
    """Return minimalloc's CPU seconds, or None where so many are not enough."""
    with scratch.open("w", encoding="utf-8") as file:
        write_csv(file, problem)
    command = [str(binary), f"--capacity={capacity}", f"--input={scratch}", f"--output={scratch}.out", "--validate"]
    command += options
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        subprocess.run(command, check=True, capture_output=True, preexec_fn=lambda: limit_cpu(timeout_s))
    except (subprocess.SubprocessError, OSError):
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_idealloc(problem: Problem, args: argparse.Namespace) -> tuple[int | None, float]:
    """Return the peak of idealloc's plan, None where the peers' limit is not enough, and its CPU seconds."""
    with args.scratch.open("w", encoding="utf-8") as file:
        file.write("id,lower,upper,size\n")
        file.writelines(f"{k},{b.lower},{b.upper},{b.size}\n" for k, b in enumerate(problem.buffers))
    command = [str(args.idealloc), "-i", str(args.scratch), "ex-csv"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: limit_cpu(args.peer_limit))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = int(done.stdout.rpartition("Makespan:")[2].split()[0]) if done.returncode == 0 else None
    return peak, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


MIXED_ALIGNMENTS = ((1, 2, 3, 4, 16), (4, 16), (1, 16, 64), (16,), (8, 12, 16))

Instance = tuple[str, int | None, Problem]
"""Family, capacity (None: the smallest plan is asked for), and the problem."""


def hard_instances(directory: Path) -> Iterator[Instance]:
    """Yield each ``NAME.CAPACITY.csv``."""
    for path in sorted(frame.recorded(directory).glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            yield path.name.split("_")[0], int(path.name.split(".")[-2]), read_csv(file, path=str(path))


def mixed_problems() -> Iterator[Instance]:
    """Yield the problems with mixed alignments."""
    path = frame.recorded(SHARED / "planners" / "mixed" / "problems.json")
    for number, rows in enumerate(json.loads(path.read_text("utf-8"))):
        buffers = tuple(Buffer(size, lower, upper, alignment) for lower, upper, size, alignment in rows)
        yield "mixed", None, Problem(buffers, f"mixed {number}")


def random_mixed(seed: int) -> Iterator[Instance]:
    """Yield 150 problems like those of ../shared/planners/mixed: 12 to 40 buffers, lifetimes of 1 to 8 moments."""
    draw = Random(seed)
    for number in range(150):
        count, alignments, last = draw.randint(12, 40), draw.choice(MIXED_ALIGNMENTS), draw.randint(12, 20)
        kind = draw.choice(("small", "small", "large", "mixed"))
        buffers = []
        for _ in range(count):
            lower = draw.randint(0, last)
            upper = lower + draw.randint(1, 8)
            sizes = {"small": (1, 40), "large": (40, 5_000)}
            some = (
                (0, 4, 16, 32, 64, 4_096, draw.randint(1, 100), draw.randint(1_000, 9_000)) if kind == "mixed" else ()
            )
            size = draw.choice(some) if some else draw.randint(*sizes[kind])
            buffers.append(Buffer(size, lower, upper, draw.choice(alignments)))
        yield "mixed", None, Problem(tuple(buffers), f"mixed {seed} {number}")


def all_instances(args: argparse.Namespace) -> Iterator[Instance]:
    """Yield A to K, the hard ones, those with mixed alignments, and what is in ``--idealloc-problems``."""
    for name, problem in instances(args.instances or SHARED / "planners" / "challenging"):
        yield "A to K", CAPACITY, Problem(problem.buffers, name)
    yield from hard_instances(args.hard_instances)
    yield from mixed_problems()
    for path in sorted(args.idealloc_problems.glob("*.csv")) if args.idealloc_problems else ():
        with path.open(newline="", encoding="utf-8") as file:
            yield path.stem, None, read_csv(file, path=str(path))


@dataclass(frozen=True)
class Answer:
    """What a solver made of a problem: its plan's peak in bytes or None, the CPU seconds, and whether it is a proof."""

    peak: int | None
    cpu_s: float
    is_proof: bool = False


def limit_cpu(seconds: float) -> None:
    """End this process when it has used so many CPU seconds from now on, whoever else uses the machine."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def run_cp_sat(problem: Problem, capacity: int | None, time_limit: float) -> Answer:
    """Ask CP-SAT, one worker, for a plan within the capacity, or for the smallest."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    room = capacity or plan(problem.buffers).peak
    offsets, lives, places = [], [], []
    top = model.new_int_var(0, room, "")
    for buffer in problem.buffers:
        offset = model.new_int_var(0, (room - buffer.size) // buffer.alignment, "") * buffer.alignment
        offsets.append(offset)
        lives.append(model.new_fixed_size_interval_var(buffer.lower, buffer.upper - buffer.lower, ""))
        places.append(model.new_fixed_size_interval_var(offset, buffer.size, ""))
        model.add(offset + buffer.size <= top)
    model.add_no_overlap_2d(lives, places)
    if capacity is None:
        model.minimize(top)
    receiver, sender = multiprocessing.Pipe(duplex=False)

    def search() -> None:
        limit_cpu(time_limit + 2)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        start = time.process_time()
        watch = threading.Thread(target=stop_after, args=(solver, time_limit), daemon=True)
        watch.start()
        status = solver.solve(model)
        found = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
        peak = plan_of(problem.buffers, [solver.value(offset) for offset in offsets]).peak if found else None
        sender.send(Answer(peak, time.process_time() - start, status == cp_model.OPTIMAL))

    child = multiprocessing.get_context("fork").Process(target=search)
    child.start()
    child.join()
    answer: Answer = receiver.recv() if receiver.poll() else Answer(None, time_limit)
    return answer


def stop_after(solver: Any, cpu_s: float) -> None:
    """Stop a CP-SAT solver when this process has used so many CPU seconds more."""
    start = time.process_time()
    while time.process_time() - start < cpu_s:
        time.sleep(0.05)
    solver.stop_search()


def run_ours(problem: Problem, capacity: int | None, args: argparse.Namespace) -> Answer:
    """Ask our planner; the limit is CPU time, whoever else uses the machine.

    A limit of nodes that is never reached leaves the quick planners out, and lets windows go on that gain nothing.
    """
    cancel, start = threading.Event(), time.process_time()

    def watch(_: Progress) -> None:
        if time.process_time() - start >= args.time_limit:
            cancel.set()

    result = solve(
        problem.buffers, capacity=capacity, node_limit=ENDLESS, on_progress=watch, cancel=cancel, workers=args.workers
    )
    cpu_s = time.process_time() - start
    assert result.offsets is None or not validate(problem.buffers, plan_of(problem.buffers, result.offsets))
    return Answer(result.peak, cpu_s, result.proved)


def run_peer_minimalloc(problem: Problem, capacity: int | None, args: argparse.Namespace) -> Answer:
    """Ask minimalloc; without a capacity for the smallest, from the peak of TFLM's greedy plan downwards."""
    if capacity is not None:
        cpu_s = run_minimalloc(args.minimalloc, problem, args.scratch, capacity=capacity, timeout_s=args.peer_limit)
        return Answer(None, args.peer_limit) if cpu_s is None else Answer(capacity, cpu_s)
    peak = plan(problem.buffers).peak
    options = ("--minimize_capacity",)
    cpu_s = run_minimalloc(
        args.minimalloc, problem, args.scratch, capacity=peak, timeout_s=args.peer_limit, options=options
    )
    if cpu_s is None:
        return Answer(None, args.peer_limit)
    with Path(f"{args.scratch}.out").open(newline="", encoding="utf-8") as file:
        solution = read_csv(file)
    return Answer(max(buffer.size + (buffer.offset or 0) for buffer in solution.buffers), cpu_s, is_proof=True)


def solvers_of(args: argparse.Namespace) -> dict[str, Callable[[Problem, int | None], Answer]]:
    """Return the solvers that are there, by name."""
    solvers: dict[str, Callable[[Problem, int | None], Answer]] = {
        "ours": lambda problem, capacity: run_ours(problem, capacity, args),
        "minimalloc": lambda problem, capacity: run_peer_minimalloc(problem, capacity, args),
        "cp_sat": lambda problem, capacity: run_cp_sat(problem, capacity, args.peer_limit),
        "idealloc": lambda problem, capacity: Answer(*run_idealloc(problem, args)),
    }
    absent = {name for name in ("minimalloc", "idealloc") if getattr(args, name) is None}
    return {name: solvers[name] for name in args.only.split(",") if name not in absent}


def limited(args: argparse.Namespace, family: str) -> argparse.Namespace:
    """Return the arguments with the limits of a family's problems, and a file of this process to write them to."""
    most = MIXED_SECONDS if family == "mixed" else math.inf
    limits = dict(text.rpartition("=")[::2] for text in args.peer_limit or [str(args.time_limit)])
    own = {
        "time_limit": min(args.time_limit, most),
        "peer_limit": min(float(limits.get(family, limits.get("", args.time_limit))), most),
        "scratch": args.scratch.with_suffix(f".{os.getpid()}.csv"),
    }
    return argparse.Namespace(**(vars(args) | own))


def answers_to(case: Instance, args: argparse.Namespace) -> dict[str, Answer]:
    """Return what each solver that is there makes of a problem."""
    family, capacity, problem = case
    left_out = {"minimalloc", "cp_sat"} if family in LARGE else {"idealloc"} if family == "mixed" else set()
    solvers = solvers_of(limited(args, family))  # idealloc knows no alignments
    return {name: ask(problem, capacity) for name, ask in solvers.items() if name not in left_out}


Totals = dict[tuple[str, str], list[tuple[bool, float, float]]]
"""By family and solver: whether a problem is solved, CPU seconds, and the distance of the plan (NaN: none)."""


def print_families(cases: Iterator[Instance], args: argparse.Namespace) -> None:
    """Print solved, CPU seconds and the distance to capacity or bound per family, for each solver that is there."""
    totals: Totals = {}
    listed = list(cases)
    with ProcessPoolExecutor(args.jobs) as pool:
        answers = pool.map(answers_to, listed, itertools.repeat(args))
        for case, by_solver in zip(listed, answers, strict=True):
            print(note(case, by_solver, totals), flush=True)
    print()
    print_totals(totals)


def note(case: Instance, by_solver: dict[str, Answer], totals: Totals) -> str:
    """Add the answers to a problem to the totals, and return its line."""
    family, capacity, problem = case
    cells = []
    for name, answer in by_solver.items():
        least = capacity or lower_bound(problem.buffers)
        gap = math.nan if answer.peak is None else max(answer.peak - least, 0) / least
        solved = answer.peak is not None and (answer.is_proof if capacity is None else answer.peak <= capacity)
        totals.setdefault((family, name), []).append((solved, answer.cpu_s, gap))
        totals.setdefault(("all", name), []).append((solved, answer.cpu_s, gap))
        cells.append(f"{name} {'solved' if solved else 'open':6} {answer.cpu_s:7.3f} s")
    return f"{Path(problem.title).stem:24} {len(problem.buffers):5}  " + "   ".join(cells)


def print_totals(totals: Totals) -> None:
    """Print a row for each family and solver."""
    print("family      solver      solved     CPU s: sum    largest   largest gap")
    for (family, name), rows in sorted(totals.items(), key=lambda item: (item[0][0] == "all", item[0])):
        gaps = [gap for _, _, gap in rows if not math.isnan(gap)]
        widest = f"{max(gaps):.2%}" if len(gaps) == len(rows) else "no plan"
        print(
            f"{family:11} {name:10} {sum(solved for solved, _, _ in rows):3} of {len(rows):3}  "
            f"{sum(cpu for _, cpu, _ in rows):12.3f} {max(cpu for _, cpu, _ in rows):10.3f}   {widest:>11}"
        )
    plans = [gap for _, _, gap in totals.get(("all", "ours"), ()) if not math.isnan(gap)]
    print(f"the validator finds nothing in our {len(plans)} plans")


def print_models(args: argparse.Namespace) -> None:
    """Print the third table: greedy is what TFLM's planner gives."""
    print("     n      greedy     optimum  verdict        cpu s  model")
    counts: dict[str, int] = {}
    for path in sorted(frame.recorded(SHARED / "models").glob("*.tflite")):
        try:
            simulation = simulate(load(path), Configuration(preset(args.preset)))
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
    parser = frame.parser(__doc__)
    parser.add_argument("--instances", type=Path, help="benchmarks/challenging of google/minimalloc")
    parser.add_argument("--minimalloc", type=Path, help="its binary, to be measured in the same run")
    parser.add_argument("--idealloc", type=Path, help="its binary, likewise")
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/bench_exact.csv"), help="where problems are written")
    parser.add_argument("--smallest", action="store_true", help="minimise instead")
    parser.add_argument("--models", action="store_true", help="minimise the heads of the shared models")
    parser.add_argument("--hard", action="store_true", help="the hard families, at their capacities")
    parser.add_argument("--all-peers", action="store_true", help="every set, every solver that is there")
    parser.add_argument("--mixed-seed", type=int, action="append", help="150 random problems with mixed alignments")
    parser.add_argument("--idealloc-problems", type=Path, help="benchmarks/somas_tensors of cappadokes/idealloc")
    parser.add_argument("--hard-instances", type=Path, default=SHARED / "planners" / "hard", help="NAME.CAPACITY.csv")
    parser.add_argument("--only", default="ours,minimalloc,cp_sat,idealloc", help="solvers of --hard")
    parser.add_argument("--preset", default="cortex-m4", help="target of --models")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for each problem")
    parser.add_argument(
        "--peer-limit",
        action="append",
        metavar="[FAMILY=]SECONDS",
        help="for each problem for the others, if not the same; may be given again for a family, as 'A to K=10'",
    )
    parser.add_argument("--jobs", type=int, default=1, help="so many problems at once, for --hard and --all-peers")
    parser.add_argument("--workers", type=int, default=1, help="threads")
    args = parser.parse_args()
    if args.mixed_seed:
        print_families(itertools.chain.from_iterable(map(random_mixed, args.mixed_seed)), args)
    elif args.hard:
        print_families(hard_instances(args.hard_instances), args)
    elif args.all_peers:
        print_families(all_instances(args), args)
    elif args.models:
        print_models(args)
    else:
        (print_smallest if args.smallest else print_at_capacity)(args)


if __name__ == "__main__":
    main()
