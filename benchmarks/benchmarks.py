"""Benchmarks on the shipped samples, each some milliseconds; tools/bench_*.py compare with other programs.

asv run --python=same --set-commit-hash "$(git rev-parse HEAD)"     # this commit, in this environment
asv run v0.1.0..main && asv publish && asv preview                  # a history, each commit in its own environment
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from random import Random

from tflm_sim import compare_planners, load, parse, sample_path, simulate, smallest_arena
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.exact import solve
from tflm_sim.planners.greedy import plan
from tflm_sim.planners.problem import read_csv

SAMPLES = ["sine", "keyword_spotter", "mobilenet_v1_025", "residual", "streaming"]
TARGETS = ("cortex-m0plus", "cortex-m4", "cortex-m55", "esp32", "esp32-s3", "esp32-c3", "riscv32", "x86_64")


class Size:
    """From a file's bytes to the number."""

    timer = time.process_time
    params = SAMPLES
    param_names = ("model",)

    def setup(self, model: str) -> None:
        """Read the file."""
        self.data = sample_path(model).read_bytes()
        self.model = parse(self.data)

    def time_load(self, model: str) -> None:
        """Read the flatbuffer."""
        parse(self.data)

    def time_smallest_arena(self, model: str) -> None:
        """Load, and find the smallest arena."""
        smallest_arena(parse(self.data), "cortex-m4")

    def time_eight_targets(self, model: str) -> None:
        """Size one model that was read for eight targets."""
        for target in TARGETS:
            smallest_arena(self.model, target)

    def time_simulate(self, model: str) -> None:
        """Run AllocateTensors() with every event."""
        simulate(self.model, "cortex-m4")

    def peakmem_simulate(self, model: str) -> None:
        """Run AllocateTensors() with every event."""
        simulate(self.model, "cortex-m4")

    def track_smallest_arena(self, model: str) -> int:
        """Bytes: a change here is a change of what is right."""
        return smallest_arena(self.model, "cortex-m4").size

    track_smallest_arena.unit = "bytes"  # type: ignore[attr-defined]


class Plan:
    """Planners on random buffers."""

    timer = time.process_time
    params = (100, 1_000)
    param_names = ("buffers",)

    def setup(self, buffers: int) -> None:
        """Make a problem, always the same."""
        random = Random(7)
        starts = [random.randrange(buffers) for _ in range(buffers)]
        self.buffers = [Buffer(16 * random.randint(1, 400), start, start + random.randint(1, 10)) for start in starts]

    def time_greedy(self, buffers: int) -> None:
        """TFLM's planner."""
        plan(self.buffers)

    def time_by_size(self, buffers: int) -> None:
        """The GPU delegate's."""
        compare_planners(self.buffers, ("gpu_greedy_by_size",))


class ExactNodes:
    """Decisions of the exact planner until a plan fits: the same on every machine."""

    params = ("challenging", "hard")
    param_names = ("set",)

    def setup(self, name: str) -> None:
        """Read the capacity problems, NAME.CAPACITY.csv; asv leaves the benchmark out where they are not there."""
        directory = Path(__file__).resolve().parents[2] / "shared" / "planners" / name
        if not directory.is_dir():
            raise NotImplementedError
        self.problems = []
        for path in sorted(directory.glob("*.csv")):
            with path.open(newline="", encoding="utf-8") as file:
                self.problems.append((int(path.name.split(".")[-2]), read_csv(file, path=str(path)).buffers))

    def track_nodes(self, name: str) -> int:
        """Sum over the problems; one that is not solved counts with its limit."""
        return sum(solve(b, capacity=capacity, node_limit=500_000).nodes for capacity, b in self.problems)

    track_nodes.unit = "nodes"  # type: ignore[attr-defined]


class Command:
    """The whole command, from a cold start."""

    number = 1

    def time_size(self) -> None:
        """Run ``tflm-sim size``."""
        command = [sys.executable, "-m", "tflm_sim", "size", "sample:mobilenet_v1_025", "--target", "cortex-m4"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def time_load_sample(self) -> None:
        """Import the package and load a model."""
        load("sample:sine")
