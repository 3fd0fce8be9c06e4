"""Time the size answer against its peers, in one run on this machine.

    python tools/bench_size.py [--mcufit PATH]

Four tables, in CPU time (of children too), the best of several runs; machines are shared and noisy, so that only what
stands in one run can be compared:

1. ``smallest_arena(load(model), target)`` in process, and that of a ``Sizer`` that has seen the operators, against the
   pip wheel of TFLM bisecting in process, and against one AllocateTensors() of the wheel in an arena that is large
   enough.
2. One model for eight targets, which share the model that was read.
3. The whole command, against ``mcufit check`` and an empty Python; "plain" is the same in an environment whose Python
   imports nothing of its own at every start, as it does for editable installations.
4. How time and memory grow with the length of a chain of operators.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tracemalloc
import venv
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import frame

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT.parent / "shared" / "models"
NAMES = (
    "tflm__models__person_detect",
    "mlcommons-tiny__kws_model_data",
    "mlcommons-tiny__pretrainedResnet_large_int8",
    "esphome-micro-wake-word-models__okay_nabu",
)
PIP, M4 = preset("x86_64-pip"), preset("cortex-m4")
REPEATS = 200
"""Runs of what takes a millisecond: clocks go up and down."""
TARGETS = ("cortex-m0plus", "cortex-m4", "cortex-m55", "esp32", "esp32-s3", "esp32-c3", "riscv32", "x86_64")


def best(action: Callable[[], object], clock: Callable[[], float], repeats: int) -> float:
    """Return the least time of ``action`` in milliseconds."""
    times = []
    for _ in range(repeats):
        start = clock()
        action()
        times.append(clock() - start)
    return 1000 * min(times)


def model_files() -> list[Path]:
    """Return the models to time: the shared ones that are there, else the shipped samples."""
    found = [path for name in NAMES if (path := MODELS / f"{name}.tflite").exists()]
    return found or [sample_path(name) for name in ("mobilenet_v1_025", "keyword_spotter", "residual", "streaming")]


def bisect_wheel(data: bytes) -> int:
    """Return the smallest multiple of 16 in which the pip wheel allocates the model.

    Raises:
        RuntimeError: It does not in 16 MiB.
    """
    from tflite_micro.python.tflite_micro import runtime

    def works(arena_size: int) -> bool:
        try:
            runtime.Interpreter.from_bytes(data, arena_size=arena_size)
        except RuntimeError:
            return False
        return True

    high = 1024
    while not works(high):
        if high >= 1 << 24:
            raise RuntimeError("the wheel refuses the model")
        high *= 2
    low = high // 2 if high > 1024 else 0
    while high - low > 16:
        middle = (low + high) // 32 * 16
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def allocate_in_wheel(data: bytes) -> None:
    """Run AllocateTensors() once in the pip wheel."""
    from tflite_micro.python.tflite_micro import runtime

    runtime.Interpreter.from_bytes(data, arena_size=1 << 22)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Send what C++ prints to nowhere: the wheel prints every failure."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def bench_in_process() -> None:
    """Print the first table."""
    print(
        "CPU ms in process, from bytes     load  load and size: alone   again | wheel: bisecting     once"
        "   bisecting / alone   / again  same"
    )
    for path in model_files():
        data = path.read_bytes()
        load_ms = best(partial(parse, data), time.process_time, REPEATS)
        sizer = Sizer()
        alone = best(lambda: smallest_arena(parse(data), M4), time.process_time, REPEATS)  # noqa: B023
        again = best(lambda: sizer.smallest_arena(parse(data), M4), time.process_time, REPEATS)  # noqa: B023
        with silence():
            bisect_ms = best(partial(bisect_wheel, data), time.process_time, 3)
            once_ms = best(partial(allocate_in_wheel, data), time.process_time, 5)
            same = bisect_wheel(data) == smallest_arena(parse(data), PIP).multiple_of_16
        print(
            f"{path.stem[-28:]:<29} {load_ms:>8.2f} {alone:>21.2f} {again:>7.2f} | {bisect_ms:>16.1f} {once_ms:>8.2f} "
            f"{bisect_ms / alone:>18.1f}x {bisect_ms / again:>8.1f}x  {same}"
        )


def bench_targets() -> None:
    """Print the second table."""
    print("\nCPU ms for one model and eight targets       each from the file     the file once     a sizing")
    for path in model_files():
        data = path.read_bytes()
        size = Sizer().smallest_arena
        apart = best(lambda: [size(parse(data), name) for name in TARGETS], time.process_time, 5)  # noqa: B023
        together = best(partial(_size_for_all, size, data), time.process_time, 5)
        print(f"{path.stem[-28:]:<40} {apart:>26.1f} {together:>17.1f} {together / len(TARGETS):>12.2f}")


def _size_for_all(size: Callable[..., object], data: bytes) -> None:
    model = parse(data)
    for name in TARGETS:
        size(model, name)


def cpu_ms(command: list[str], environment: dict[str, str]) -> float:
    """Return the CPU milliseconds of a command, away from the sources in the working directory."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=False, capture_output=True, env=environment, cwd="/")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _times_as_text(times: list[float], base: list[float]) -> str:
    figures = (f"{figure(times):>9.1f} {figure(times) / figure(base):>4.1f}" for figure in (min, median))
    return "".join(f"{text:>15}" for text in figures)


def bench_command(mcufit: str | None) -> None:
    """Print the third table."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=True)
        times = _command_times(mcufit, str(Path(folder, "bin", "python")))
    print("\nCPU ms of a command     as here: best   x    median    x | plain: best   x    median    x")
    for name, sites in times.items():
        cells = [_times_as_text(*of_both) for of_both in zip(sites, times["python -c pass"], strict=False)]
        print(f"{name:<22} {' |'.join(cells)}")
    if not mcufit:
        print("mcufit check           not installed: pip install mcufit")


def _command_times(mcufit: str | None, bare: str, repeats: int = 30) -> dict[str, list[list[float]]]:
    """Return the times of each command, as it is installed here and with the package on the path of a bare Python."""
    path = str(model_files()[0])
    here = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    plain = {**here, "PYTHONPATH": os.pathsep.join([str(ROOT), sysconfig.get_path("platlib")])}
    commands = {
        "python -c pass": ["-c", "pass"],
        "import tflm_sim": ["-c", "import tflm_sim"],
        "tflm-sim size": ["-m", "tflm_sim", "size", path, "--target", "esp32"],
    }
    runs = {name: [([sys.executable, *rest], here), ([bare, *rest], plain)] for name, rest in commands.items()}
    if mcufit:
        runs["mcufit check"] = [([mcufit, "check", path, "-b", "esp32"], here)]
    times: dict[str, list[list[float]]] = {name: [[] for _ in sites] for name, sites in runs.items()}
    for _ in range(repeats):
        for name, sites in runs.items():
            for measured, (command, environment) in zip(times[name], sites, strict=True):
                measured.append(cpu_ms(command, environment))
    return times


def chain(length: int) -> bytes:
    """Return a model of ``length`` int8 ADDs in a row."""
    builder = ModelBuilder()
    tensor = first = builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0)
    for _ in range(length):
        result = builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0)
        builder.operator("ADD", [tensor, tensor], [result])
        tensor = result
    return builder.build(inputs=[first], outputs=[tensor])


def bench_chains() -> None:
    """Print the fourth table."""
    print("\nchain of ADDs  file bytes   load s  smallest s   us per operator  peak MiB | simulate s  peak MiB")
    for length in (500, 5_000, 50_000):
        data = chain(length)
        load_s = best(partial(parse, data), time.process_time, 2) / 1000
        model = parse(data)
        size_s = best(partial(smallest_arena, model, M4), time.process_time, 2) / 1000
        all_s = best(partial(simulate, model, M4), time.process_time, 1) / 1000
        peaks = [_peak_mib(partial(action, model, M4)) for action in (smallest_arena, simulate)]
        per_op = 1e6 * (load_s + size_s) / length
        print(
            f"{length:>13,} {len(data):>11,} {load_s:>8.2f} {size_s:>11.2f} {per_op:>17.1f} {peaks[0]:>9.1f} | "
            f"{all_s:>10.2f} {peaks[1]:>9.1f}"
        )


def _peak_mib(action: Callable[[], object]) -> float:
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return peak


def main() -> int:
    """Run all four."""
    parser = frame.parser(__doc__)
    parser.add_argument("--mcufit", default=shutil.which("mcufit"), help="path of the mcufit command")
    args = parser.parse_args()
    bench_in_process()
    bench_targets()
    bench_command(args.mcufit)
    bench_chains()
    return 0


if __name__ == "__main__":
    sys.exit(main())
