"""Feed mutated models to the parser and the simulator: a Model, a ModelError or a simulated failure must come out.

    python tools/fuzz_models.py --count 200000 --jobs 2
    python tools/fuzz_models.py --seed 7 --only 4711 --keep case.tflite     one case again, and its file

Case N of seed S is the same on every machine with the same corpus. Exit 1, with the cases' numbers, when a case raises
something else or takes more than ``--limit`` seconds of CPU.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.errors import ModelError, SimulatedFailure, UnsupportedOpError
from tflm_sim.model.flatbuf import FlatBuffer, Table
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target

SHARED_MODELS = Path(__file__).parents[2] / "shared" / "models"
TARGETS = (
    ("x86_64", None),
    ("x86_64-pip", None),
    ("i386", None),
    ("cortex-m4", "reference"),
    ("cortex-m4", "cmsis_nn"),
    ("cortex-m55", "cmsis_nn"),
    ("esp32-s3", "esp_nn"),
    ("esp32-p4", "esp_nn"),
)
"""Presets and kernel libraries that a case picks from."""
WORDS = (0, 1, 2, 3, 4, 5, 8, 16, 17, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)
OPERATOR_FIELDS = 6
ALARM_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Seed:
    """A valid model to mutate: its bytes, and where its tables are."""

    name: str
    data: bytes
    tables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Result:
    """What one case did: its outcome, seconds of CPU, and the traceback of a bug."""

    number: int
    seed_name: str
    outcome: str
    seconds: float
    bug: str = ""


@cache
def corpus(folder: Path, max_size: int) -> tuple[Seed, ...]:
    """Return the samples and the models of ``folder`` that are at most ``max_size`` bytes, in a fixed order."""
    paths = [*(sample_path(name) for name in SAMPLES), *sorted(folder.glob("*.tflite"))]
    return tuple(_seed(path) for path in paths if path.stat().st_size <= max_size)


def _seed(path: Path) -> Seed:
    """Return a seed with the positions of its root, tensors and operators, and of the tables that they refer to."""
    data = path.read_bytes()
    model = parse(data)
    buffer = FlatBuffer(memoryview(data))
    own = [buffer.root().position]
    for subgraph in model.subgraphs:
        own += [tensor.offset for tensor in subgraph.tensors]
        own += [operator.offset for operator in subgraph.operators]
    inner = [
        target
        for position in own[1:]
        # Slot 4 is the quantization of a Tensor and the options of an Operator.
        if (target := Table(buffer, position).target(4)) is not None
    ]
    return Seed(path.name, data, (*own, *inner))


def flip_bits(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Flip up to eight bits anywhere."""
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def overwrite_word(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number over an aligned word anywhere."""
    _put(data, rng.randrange(len(data)) & ~3, rng.choice(WORDS))


def truncate(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Cut the end off."""
    del data[rng.randrange(len(data)) :]


def splice(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Copy a stretch of the file over another place of it."""
    size = rng.randint(1, min(256, len(data)))
    source, sink = rng.randrange(len(data) - size + 1), rng.randrange(len(data) - size + 1)
    data[sink : sink + size] = data[source : source + size]


def change_field(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Change a field of a table: the scalar itself, or the count or an element of the vector that it refers to."""
    try:
        table = Table(FlatBuffer(memoryview(bytes(data))), rng.choice(seed.tables))
    except ModelError:
        return
    fields = [offset for slot in range(OPERATOR_FIELDS + 2) if (offset := table.field_offset(slot))]
    if not fields:
        return
    field = table.position + rng.choice(fields)
    value = rng.choice((*WORDS, rng.getrandbits(32), rng.randrange(64)))
    kind = rng.randrange(3)
    if kind == 0:
        _put(data, field, value)
    elif kind == 1 and field < len(data):
        data[field] = value & 0xFF
    else:
        vector = field + int.from_bytes(data[field : field + 4], "little")
        _put(data, vector + 4 * rng.randrange(6), value)


def _put(data: bytearray, position: int, value: int) -> None:
    """Write a 32-bit word, if it lies in the file."""
    if position + 4 <= len(data):
        data[position : position + 4] = value.to_bytes(4, "little")


MUTATIONS: tuple[Callable[[bytearray, random.Random, Seed], None], ...] = (
    flip_bits,
    overwrite_word,
    truncate,
    splice,
    change_field,
)
WEIGHTS = (2, 2, 1, 1, 10)


def mutate(seed: Seed, rng: random.Random) -> bytes:
    """Return a mutated copy of a seed."""
    data = bytearray(seed.data)
    for mutation in rng.choices(MUTATIONS, WEIGHTS, k=rng.choice((1, 1, 2, 3))):
        if len(data) > 8:
            mutation(data, rng, seed)
    return bytes(data)


def make_case(number: int, options: argparse.Namespace) -> tuple[Seed, bytes, random.Random]:
    """Return case ``number``: its seed, its bytes, and the generator for what else is random about it."""
    rng = random.Random(f"{options.seed}:{number}")
    seed = rng.choice(corpus(options.corpus, options.max_size))
    return seed, mutate(seed, rng), rng


def pick_target(rng: random.Random) -> Target:
    """Return one of TARGETS."""
    name, kernels = rng.choice(TARGETS)
    return preset(name, kernels=kernels)


def run_parse(model: Model, rng: random.Random) -> str:
    """Parsing alone."""
    return "model"


def run_simulate(model: Model, rng: random.Random) -> str:
    """One simulation in a roomy or a narrow arena."""
    planner, interpreter = rng.choice((("greedy", "plain"), ("greedy", "recording"), ("linear", "plain")))
    where = pick_target(rng)
    if rng.randrange(2):
        return simulate(model, where, planner=planner, interpreter=interpreter).status
    size = rng.choice((1000, 10_000, 100_000)) + rng.randrange(16)
    return simulate(model, where, planner=planner, interpreter=interpreter, arena_size=size).status


def run_smallest(model: Model, rng: random.Random) -> str:
    """The smallest arena, which must work, and a byte less, which must not."""
    where = pick_target(rng)
    size = smallest_arena(model, where).size
    assert simulate(model, where, arena_size=size).status == "ok", f"{size} bytes are said to be enough"
    below = simulate(model, where, arena_size=size - 1)
    assert below.status != "ok" or below.corruptions, f"{size - 1} bytes are said to be too few"
    return "smallest"


STAGES: dict[str, Callable[[Model, random.Random], str]] = {
    "parse": run_parse,
    "simulate": run_simulate,
    "smallest": run_smallest,
}


def run_case(number: int, options: argparse.Namespace) -> Result:
    """Run one case and time it."""
    seed, data, rng = make_case(number, options)
    signal.alarm(ALARM_SECONDS)
    start, bug = time.process_time(), ""
    try:
        outcome = STAGES[options.stage](parse(data), rng)
    except UnsupportedOpError:
        outcome = "UnsupportedOpError"
    except ModelError:
        outcome = "ModelError"
    except SimulatedFailure as failure:
        outcome = type(failure).__name__
    except Exception as failure:  # that is what this tool looks for
        outcome, bug = type(failure).__name__, traceback.format_exc()
    seconds = time.process_time() - start
    signal.alarm(0)
    if not bug and seconds > options.limit:
        bug = f"{seconds:.2f} s of CPU"
    return Result(number, seed.name, outcome, seconds, bug)


def interrupt(number: int, frame: FrameType | None) -> None:
    """End a case that hangs."""
    raise TimeoutError(f"no end after {ALARM_SECONDS} s")


def run_chunk(arguments: tuple[range, argparse.Namespace]) -> list[Result]:
    """Run several cases in one process."""
    signal.signal(signal.SIGALRM, interrupt)
    numbers, options = arguments
    return [run_case(number, options) for number in numbers]


def report(results: Iterable[Result], options: argparse.Namespace) -> int:
    """Print the counts, the slowest case and the bugs; return the exit code."""
    outcomes: Counter[str] = Counter()
    slowest: Result | None = None
    bugs: Counter[str] = Counter()
    for result in results:
        outcomes[result.outcome] += 1
        slowest = result if slowest is None or result.seconds > slowest.seconds else slowest
        if result.bug:
            kind = result.bug.strip().splitlines()[-1]
            bugs[kind] += 1
            if bugs[kind] == 1:
                print(f"case {result.number} ({result.seed_name}): {result.bug}", flush=True)
    for outcome, count in outcomes.most_common():
        print(f"{count:8} {outcome}")
    if slowest is not None:
        print(f"slowest: case {slowest.number} ({slowest.seed_name}), {slowest.seconds * 1000:.1f} ms")
    print(f"seed {options.seed}, {bugs.total()} bugs")
    return 1 if bugs else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many cases (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which sequence of cases (default %(default)s)")
    parser.add_argument("--stage", choices=STAGES, default="simulate", help="how far to go (default %(default)s)")
    parser.add_argument("--corpus", type=Path, default=SHARED_MODELS, help="more models than the samples")
    parser.add_argument("--max-size", type=int, default=100_000, help="largest model in bytes (default %(default)s)")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds of CPU a case may take (default %(default)s)")
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--keep", type=Path, help="write the file of the --only case here")
    options = parser.parse_args(arguments)
    if options.only is not None:
        options.first, options.count, options.jobs = options.only, 1, 1
        if options.keep is not None:
            options.keep.write_bytes(make_case(options.only, options)[1])
    end = options.first + options.count
    chunks = [(range(i, min(i + 500, end)), options) for i in range(options.first, end, 500)]
    if options.jobs == 1:
        return report((result for chunk in chunks for result in run_chunk(chunk)), options)
    with multiprocessing.Pool(options.jobs) as pool:
        return report((result for chunk in pool.imap_unordered(run_chunk, chunks) for result in chunk), options)


if __name__ == "__main__":
    sys.exit(main())
