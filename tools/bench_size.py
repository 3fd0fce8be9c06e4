"""Time the size answer against its peers, in one run on this machine.

    python tools/bench_size.py [--mcufit PATH]

Three tables: CPU milliseconds of ``smallest_arena`` in process, against the pip wheel of TFLM bisecting in process;
wall milliseconds of the whole command, against ``mcufit check`` and an empty Python; and how time and memory grow with
the length of a synthetic chain. Machines are shared and noisy: compare within one run only, the best of several is
shown.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import target

MODELS = Path(__file__).resolve().parent.parent.parent / "shared" / "models"
NAMES = (
    "tflm__models__person_detect",
    "mlcommons-tiny__kws_model_data",
    "mlcommons-tiny__pretrainedResnet_large_int8",
    "esphome-micro-wake-word-models__okay_nabu",
)
PIP, M4 = target("x86_64-pip"), target("cortex-m4")


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
    """Return the smallest multiple of 16 in which the pip wheel allocates the model."""
    from tflite_micro.python.tflite_micro import runtime

    def works(arena_size: int) -> bool:
        try:
            runtime.Interpreter.from_bytes(data, arena_size=arena_size)
        except RuntimeError:
            return False
        return True

    high = 1024
    while not works(high):
        high *= 2
    low = high // 2 if high > 1024 else 0
    while high - low > 16:
        middle = (low + high) // 32 * 16
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


def bench_in_process() -> None:
    """Print the first table."""
    print("CPU ms in process      ours: load  smallest arena |  the wheel, bisecting   ratio   same answer")
    silence = os.dup(2)
    for path in model_files():
        data = path.read_bytes()
        load_ms = best(partial(parse, data), time.process_time, 5)
        model = parse(data)
        ours = best(partial(smallest_arena, model, M4), time.process_time, 5)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # the wheel prints every failure
        try:
            theirs = best(partial(bisect_wheel, data), time.process_time, 3)
            same = bisect_wheel(data) == smallest_arena(model, PIP).multiple_of_16
        finally:
            os.dup2(silence, 2)
        ratio = theirs / (load_ms + ours)
        print(f"{path.stem[-28:]:<28} {load_ms:>5.2f} {ours:>14.2f}  | {theirs:>20.1f} {ratio:>8.1f}x   {same}")


def bench_command(mcufit: str | None) -> None:
    """Print the second table."""
    path = str(model_files()[0])
    tool = shutil.which("tflm-sim", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    commands = {
        "python -c pass": [sys.executable, "-c", "pass"],
        "tflm-sim size": [tool or "tflm-sim", "size", path, "--target", "esp32"],
        "mcufit check": [mcufit, "check", path, "-b", "esp32"] if mcufit else None,
    }
    print("\nwall ms of a command    best of 7")
    for name, command in commands.items():
        if command is None:
            print(f"{name:<22} not installed: pip install mcufit")
            continue
        elapsed = best(partial(subprocess.run, command, check=False, capture_output=True), time.perf_counter, 7)
        print(f"{name:<22} {elapsed:>9.1f}")


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
    """Print the third table."""
    print("\nchain of ADDs  file bytes   load s  measure s   us per operator   peak memory MiB")
    for length in (500, 5_000, 50_000):
        data = chain(length)
        load_s = best(partial(parse, data), time.process_time, 1) / 1000
        model = parse(data)
        size_s = best(partial(simulate, model, Configuration(M4)), time.process_time, 1) / 1000
        tracemalloc.start()
        simulate(parse(data), Configuration(M4))
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        per_op = 1e6 * (load_s + size_s) / length
        print(f"{length:>13,} {len(data):>11,} {load_s:>8.2f} {size_s:>10.2f} {per_op:>17.1f} {peak:>17.1f}")


def main() -> int:
    """Run all three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mcufit", default=shutil.which("mcufit"), help="path of the mcufit command")
    args = parser.parse_args()
    bench_in_process()
    bench_command(args.mcufit)
    bench_chains()
    return 0


if __name__ == "__main__":
    sys.exit(main())
