"""Feed mutated models to the parser and the simulator: a Model, a ModelError or a simulated failure must come out.

    python tools fuzz models --count 200000 --jobs 2
    python tools fuzz models --seed 7 --only 4711 --keep case.tflite     one case again, and its file

Case N of seed S is the same on every machine with the same corpus. Exit 1, with the cases' numbers, when a case raises
something else or takes more than ``--limit`` seconds of CPU.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzz.fuzzer import Fuzzer, flip_bits, put, truncate

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import ModelError, SimulatedFailure, UnsupportedOpError
from tflm_sim.model.flatbuf import FlatBuffer, Table
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.targets.target import Target

SHARED_MODELS = Path(__file__).parents[3] / "shared" / "models"
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


@dataclass(frozen=True, slots=True)
class Seed:
    """A valid model to mutate: its bytes, and where its tables are."""

    name: str
    data: bytes
    tables: tuple[int, ...]


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


def overwrite_word(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number over an aligned word anywhere."""
    put(data, rng.randrange(len(data)) & ~3, rng.choice(WORDS))


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
        put(data, field, value)
    elif kind == 1 and field < len(data):
        data[field] = value & 0xFF
    else:
        vector = field + int.from_bytes(data[field : field + 4], "little")
        put(data, vector + 4 * rng.randrange(6), value)


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


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, random.Random]:
    """Return case ``number``: its seed's name, its bytes, and the generator for what else is random about it."""
    rng = random.Random(f"{options.seed}:{number}")
    seed = rng.choice(corpus(options.corpus, options.max_size))
    return seed.name, mutate(seed, rng), rng


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


STAGES: dict[str, Callable[[Model, random.Random], str]] = {"parse": run_parse, "simulate": run_simulate}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what to do with a model."""
    parser.add_argument("--stage", choices=STAGES, default="simulate", help="how far to go (default %(default)s)")


def run(data: bytes, rng: random.Random, options: argparse.Namespace) -> str:
    """Do that with the bytes of a case."""
    return STAGES[options.stage](parse(data), rng)


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"corpus": SHARED_MODELS, "max_size": 100_000},
    make_case=make_case,
    run=run,
    expected=(ModelError, SimulatedFailure, UnsupportedOpError),
    add_options=add_options,
)
main = FUZZER.main

if __name__ == "__main__":
    sys.exit(main())
