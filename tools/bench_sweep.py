"""Time sweeps against their peers, in one run on this machine.

    python tools/bench_sweep.py [--models N] [--targets T,...] [--repeats N] [--peers N] [--memory ROWS]

Rows per second of N models of ../shared/models (the samples where it is not there) x the targets: ours in this
process, over two processes, over two workers of a local dask cluster, with what the scheduler adds to a task. Then rows
per CPU second of the pip wheel of TFLM bisecting and of mcufit's estimate (pip install mcufit) on the same models, in
process, and how the memory of a worker grows over many rows. Machines are shared and noisy: compare within one run.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from statistics import median, quantiles

import frame
from bench_size import MODELS, bisect_wheel

from tflm_sim.answers.rows import Case, cases
from tflm_sim.extensions.sweep.engine import Item, run, size_batch
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.sweep import DEFAULT_LIMITS, items, iterate_rows, make_pool
from tflm_sim.samples import SAMPLES, sample_path

TARGETS = "cortex-m4,cortex-m0plus,cortex-m55,esp32,esp32-s3,riscv32,x86_64,i386"
CONTEXT = get_context("fork")
DETECTOR = "tflm__models__person_detect.tflite"

ROUNDS = 4
"""How often a turn of two processes or of dask sizes the list: some seconds each."""

QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "2s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.system-monitor.interval": "5s",
}
"""What docs/sweeps.md tells the workers of dask: not to look at the task a hundred times a second."""


def seconds(action: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds of an action by a clock."""
    start = clock()
    action()
    return clock() - start


def consume(rows: Iterable[object]) -> None:
    """Run an iterator to its end."""
    for _ in rows:
        pass


def model_paths(count: int) -> list[str]:
    """Return that many models, over and over where there are fewer."""
    found = sorted(map(str, MODELS.glob("*.tflite"))) or [str(sample_path(name)) for name in SAMPLES]
    return list(itertools.islice(itertools.cycle(found), count))


def serially(paths: list[str], over: list[Case]) -> float:
    """Return our rows per CPU second in this process."""
    rows = iterate_rows(paths, over, jobs=1, limits=Limits(0))
    return len(paths) * len(over) / seconds(lambda: consume(rows), time.process_time)


def ours(paths: list[str], over: list[Case], serial: float, repeats: int) -> None:
    """Print our rows per second; what runs on two processes in turns, so that all have the same machine."""
    print(f"{'rows of ' + format(len(paths), ',') + ' models x ' + str(len(over)) + ' targets':<44} {'rows/s':>8}")
    print(f"{'  serial, by CPU time':<44} {serial:>8,.0f}")
    paths = paths * ROUNDS
    count = len(paths) * len(over)
    pool = make_pool(jobs=2, limits=DEFAULT_LIMITS)
    engines = {"  two processes": lambda: consume(run(items(paths), over, pool, DEFAULT_LIMITS))}
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        print("  dask: pip install 'tflm_sim[sweep]'")
        print(f"{'  two processes':<44} {count / min(in_turns(engines, repeats)['  two processes'])[0]:>8,.0f}")
        return
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with dask.config.set(QUIET), LocalCluster(**options) as cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
        engines["  two workers of a local dask cluster"] = lambda: consume(iterate_rows(paths, over, client=client))
        spent = in_turns(engines, repeats)
        for name, times in spent.items():
            wall, cpu = (median(column) for column in zip(*times, strict=True))
            print(f"{name:<44} {count / wall:>8,.0f}   median of {repeats}; {count / cpu:,.0f} by the CPU time of all")
        for clock, what in enumerate(("wall", "CPU")):
            overhead(what, [(mine[clock], theirs[clock]) for mine, theirs in zip(*spent.values(), strict=True)])
        tasks = 200
        empty = [client.submit(size_batch, (), (), pure=False) for _ in range(tasks)]
        once = seconds(lambda: client.gather(empty))
        print(f"{'  an empty task of dask':<44} {1000 * once / tasks:>8.2f} ms")
    pool.close()


def overhead(clock: str, turns: list[tuple[float, float]]) -> None:
    """Print what dask adds to the seconds of processes: over all turns, and between which half of the turns lie."""
    total = sum(theirs for _, theirs in turns) / sum(mine for mine, _ in turns) - 1
    print(f"{f'  overhead of dask, {clock} time':<44} {100 * total:>8.1f} %", end="")
    if len(turns) > 1:
        low, _, high = quantiles((theirs / mine - 1 for mine, theirs in turns), n=4, method="inclusive")
        print(f"   half of the turns: {100 * low:+.1f} to {100 * high:+.1f} %", end="")
    print()


def in_turns(engines: dict[str, Callable[[], None]], repeats: int) -> dict[str, list[tuple[float, float]]]:
    """Return the wall and CPU seconds of each engine, one after the other, after a turn that is not counted; every
    other turn backwards, so that a machine that slows down does so for all."""
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in engines}
    for turn in range(repeats + 1):
        for name in list(engines)[:: -1 if turn % 2 else 1]:
            spent[name].append(both_seconds(engines[name]))
    return {name: times[1:] for name, times in spent.items()}


def both_seconds(action: Callable[[], None]) -> tuple[float, float]:
    """Return the wall seconds of an action, and the CPU seconds of this process and of all that it started."""
    before = _cpu_of_all()
    wall = seconds(action)
    return wall, _cpu_of_all() - before


def _cpu_of_all() -> float:
    import psutil

    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(spent.user + spent.system for spent in times)


def processes_seconds(paths: list[str], over: list[Case]) -> float:
    """Return the seconds that two processes take which have started, and sized a model."""
    pool = make_pool(jobs=2, limits=DEFAULT_LIMITS)
    try:
        consume(run(items(paths[:1] * 100), over, pool, DEFAULT_LIMITS))
        return seconds(lambda: consume(run(items(paths), over, pool, DEFAULT_LIMITS)))
    finally:
        pool.close()


def detector(over: list[Case]) -> None:
    """Print the sizings per second of person_detect, over two processes."""
    path = MODELS / DETECTOR
    path = path if path.is_file() else sample_path("mobilenet_v1_025")
    many = [str(path)] * 500
    rate = len(many) * len(over) / processes_seconds(many, over)
    wheel = _alone(_wheel_seconds, str(path))
    beside = (
        "" if wheel is None else f"   each {rate / 2 * wheel:,.0f} x the wheel of TFLM, bisecting: {1 / wheel:,.1f}"
    )
    print(f"{'  person_detect alone, two processes':<44} {rate:>8,.0f}{beside}")


def peers(paths: list[str], serial: float) -> None:
    """Print rows per CPU second of other tools, each with the one target that it has; a model that ends them is none.

    Args:
        paths: The models.
        serial: Our rows per CPU second on them.
    """
    print(f"\n{'rows per CPU second of others, one target':<44}")
    for name, seconds_of in (
        ("the wheel of TFLM, bisecting", _wheel_seconds),
        ("mcufit's own estimate", _mcufit_seconds),
    ):
        times = [spent for path in paths if (spent := _alone(seconds_of, path)) is not None]
        if not times:
            print(f"  {name}: not installed")
            continue
        rate = len(times) / sum(times)
        print(f"{'  ' + name:<44} {rate:>8,.1f}   ours: {serial / rate:,.1f} x   {len(times)} of {len(paths)} models")


def _alone(seconds_of: Callable[[str], float], path: str) -> float | None:
    """Return the seconds of a model in a process of its own; None where it fails, or ends the process."""
    answers = CONTEXT.SimpleQueue()
    process = CONTEXT.Process(target=_answer, args=(seconds_of, path, answers))
    process.start()
    process.join(120)
    process.kill()
    return None if answers.empty() else answers.get()


def _answer(seconds_of: Callable[[str], float], path: str, answers: SimpleQueue[float]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with contextlib.suppress(Exception):
        answers.put(seconds_of(path))


def _wheel_seconds(path: str) -> float:
    from tflite_micro.python.tflite_micro import runtime  # noqa: F401  its import counts for nobody

    data = Path(path).read_bytes()
    return seconds(lambda: bisect_wheel(data), time.process_time)


def _mcufit_seconds(path: str) -> float:
    from mcufit.estimation.greedy import GreedyLifetimeEstimator
    from mcufit.parsing.tflite_parser import TFLiteModelParser

    def estimate() -> None:
        GreedyLifetimeEstimator().estimate(TFLiteModelParser().parse(Path(path)))

    estimate()  # What is imported and compiled on the way counts for nobody.
    return seconds(estimate, time.process_time)


def memory(rows: int) -> None:
    """Print the resident memory of this process as a sweep goes on."""
    import psutil

    process = psutil.Process()
    samples = tuple(Item(name, str(sample_path(name))) for name in SAMPLES)
    over = cases(["cortex-m4"])
    batch = partial(size_batch, samples, over)
    print(f"\n{'rows':>8} {'MiB':>8}")
    for number in range(rows // len(samples) + 1):
        batch()
        if number * len(samples) % max(len(samples), rows // 5 // len(samples) * len(samples)) == 0:
            print(f"{number * len(samples):>8,} {process.memory_info().rss / 2**20:>8.1f}")


def main() -> int:
    """Print the tables."""
    parser = frame.parser(__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--targets", default=TARGETS)
    parser.add_argument("--repeats", type=int, default=7, metavar="N", help="turns of processes and of dask")
    parser.add_argument("--peers", type=int, default=200, metavar="N", help="how many of them for the slow ones")
    parser.add_argument("--memory", type=int, default=20_000, metavar="ROWS")
    args = parser.parse_args()
    over = cases(args.targets.split(","))
    paths = model_paths(args.models)
    serial = serially(paths, over)
    ours(paths, over, serial, args.repeats)
    detector(over)
    peers(paths[: args.peers], serial)
    memory(args.memory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
