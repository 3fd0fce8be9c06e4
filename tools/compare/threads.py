"""Size models in threads that take turns as often as they can, and compare with the figures of one thread.

    python tools compare threads [--processes N] [--threads N] [--dask MODELS]

Each process loads the models, sizes them for some targets in one thread, then in N threads at once at a switch interval
of 10 microseconds: on models that threads share, with smallest_arena(), with one Sizer for all threads, and in rows of
a sweep. Many processes, because what goes wrong among threads goes wrong when a class, a table or a memory is made.
Then a dask worker with N threads sizes MODELS of them. It prints a line for each process; the exit code
is 1 where one differs.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import frame

from tflm_sim import Sizer, load, sample_path, smallest_arena
from tflm_sim.answers.rows import cases, rows_of
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.sweep import iterate_rows
from tflm_sim.model.types import Model
from tflm_sim.samples import SAMPLES

TOOLS = Path(__file__).resolve().parents[1]
MODELS = TOOLS.parents[1] / "shared" / "models"
TARGETS = ("cortex-m4", "esp32-s3", "x86_64")
SWITCH_S = 1e-5
Size = Callable[[Model, str], object]


def figures(size: Size, models: Iterable[Model]) -> list[object]:
    """Return what ``size`` says of each model on each target, a failure as its words."""
    return [_figure(size, model, target) for model in models for target in TARGETS]


def _figure(size: Size, model: Model, target: str) -> object:
    try:
        return size(model, target)
    except TflmSimError as failure:
        return f"{type(failure).__name__}: {failure}"


def in_threads(threads: int, action: Callable[[], object]) -> list[object]:
    """Return what an action returns in each of some threads, which begin together."""
    together = Barrier(threads)

    def run() -> object:
        together.wait()
        return action()

    with ThreadPoolExecutor(threads) as pool:
        return [future.result() for future in [pool.submit(run) for _ in range(threads)]]


def differences(paths: Sequence[str], threads: int) -> list[str]:
    """Return what differs between one thread and several, in this process; several come first, while all is new."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        shared = [load(path) for path in paths]
        over = cases(TARGETS)
        sizer = Sizer()
        actions: dict[str, Callable[[], object]] = {
            "smallest_arena()": lambda: figures(smallest_arena, shared),
            "models of one's own": lambda: figures(smallest_arena, map(load, paths)),
            "one Sizer for all": lambda: figures(sizer.smallest_arena, shared),
            "rows of a sweep": lambda: [row for path in paths for row in rows_of(path, path, over)],
        }
        several = {name: in_threads(threads, action) for name, action in actions.items()}
        return [
            f"{name}: thread {number} differs"
            for name, found in several.items()
            for number, each in enumerate(found)
            if each != actions[name]()
        ]
    finally:
        sys.setswitchinterval(before)


def on_dask(paths: Sequence[str], threads: int) -> int:
    """Return how many rows of a dask worker with some threads differ from those of this process.

    dask's profiler is off, as docs/sweeps.md advises: it reads the frames of running threads, which in CPython 3.11
    ends or stops a worker now and then at this switch interval.
    Source: dask/distributed issue 8163, python/cpython issue 106883.
    """
    import dask.config
    from distributed import Client, LocalCluster

    over = cases(TARGETS)
    options = {"n_workers": 1, "threads_per_worker": threads, "processes": True, "dashboard_address": None}
    quiet = dask.config.set({"distributed.worker.profile.enabled": False})
    with quiet, LocalCluster(**options) as cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
        client.run(sys.setswitchinterval, SWITCH_S)
        found = iterate_rows(paths, over, client=client)
        alone = iterate_rows(paths, over, jobs=1, limits=Limits(0))
        return sum(ours != theirs for ours, theirs in zip(alone, found, strict=True))


def paths_of(count: int | None = None) -> list[str]:
    """Return the shared models, the samples where there are none; that many of them, over and over."""
    found = sorted(map(str, MODELS.glob("*.tflite"))) or [str(sample_path(name)) for name in SAMPLES]
    return found if count is None else list(itertools.islice(itertools.cycle(found), count))


def main() -> int:
    """Run it."""
    parser = frame.parser(__doc__)
    parser.add_argument("--processes", type=int, default=40)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--models", type=int, default=12, help="of each process, others each time")
    parser.add_argument("--dask", type=int, default=10_000, metavar="MODELS")
    parser.add_argument("--one-process", type=int, metavar="NUMBER", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one_process is not None:
        models = paths_of(args.models * (args.one_process + 1))[-args.models :]
        found = differences(models, args.threads)
        print(*found, sep="\n", end="\n" if found else "")
        return int(bool(found))
    failed = 0
    for number in range(args.processes):
        command = [sys.executable, str(TOOLS), "compare", "threads", "--one-process", str(number)]
        command += ["--threads", str(args.threads), "--models", str(args.models)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        failed += bool(done.returncode)
        verdict = f"differs or died:\n{done.stdout}{done.stderr}" if done.returncode else "equal"
        print(f"process {number + 1} of {args.processes}: {verdict}", flush=True)
    print(f"{args.processes} processes x {args.threads} threads: {failed} differ or died")
    if args.dask:
        differing = on_dask(paths_of(args.dask), args.threads)
        rows = args.dask * len(TARGETS)
        print(f"a dask worker with {args.threads} threads: {differing} of {rows:,} rows of {args.dask:,} models differ")
        failed += differing
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
