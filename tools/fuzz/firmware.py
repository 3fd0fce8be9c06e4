"""Feed mutated firmware files to the reader: a Firmware or a FirmwareError must come out, within a second of CPU.

    python tools fuzz firmware --corpus build/ --count 20000 --jobs 2
    python tools fuzz firmware --seed 7 --only 4711 --keep case.elf      one case again, and its file

The corpus is every file of a folder that begins like an ELF file; without one it is this package's own C extension.
Case N of seed S is the same on every machine with the same corpus. Exit 1, with the cases' numbers, when a case raises
something else, takes more than ``--limit`` seconds of CPU or more than ``--memory`` of memory.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzz.fuzzer import Fuzzer, flip_bits, put, truncate

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.reading.elf import MAGIC, Elf
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import parse_image
from tflm_sim.extensions.firmware.reading.target import firmware_target

OWN = Path(__file__).parents[2] / "tflm_sim" / "planners" / "native"
WORDS = (0, 1, 2, 4, 16, 127, 128, 255, 4096, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 4096, 2**32 - 1)


@dataclass(frozen=True, slots=True)
class Seed:
    """A valid file to mutate: its bytes, where its tables start and end, and where its debug information does."""

    name: str
    data: bytes
    tables: tuple[tuple[int, int], ...]
    debug: tuple[tuple[int, int], ...]


@cache
def corpus(folder: Path, max_size: int) -> tuple[Seed, ...]:
    """Return the ELF files of ``folder`` that are at most ``max_size`` bytes, in a fixed order."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.stat().st_size <= max_size)
    seeds = tuple(_seed(path) for path in files if path.read_bytes()[:4] == MAGIC)
    if not seeds:
        raise SystemExit(f"no ELF file of at most {max_size} bytes in {folder}")
    return seeds


def _seed(path: Path) -> Seed:
    data = path.read_bytes()
    elf = Elf(memoryview(data))
    sections = [section for section in elf.sections if section.has_bits and section.size]
    # The header, and the section table, which linkers write last.
    spans = [(0, 64), (max(0, len(data) - 64 * len(elf.sections)), len(data))]
    names = (".symtab", ".strtab", ".ARM.attributes")
    spans += [(section.offset, section.offset + section.size) for section in sections if section.name in names]
    tables = tuple(spans)
    debug = tuple((s.offset, s.offset + s.size) for s in sections if s.name.startswith(".debug"))
    return Seed(path.name, data, tables, debug or tables)


def change_table(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number over a word of a header, a table or the symbols."""
    put(data, _within(rng, seed.tables) & ~3, rng.choice(WORDS))


def change_debug(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number or a byte into the debug information."""
    at = _within(rng, seed.debug)
    if rng.randrange(2):
        put(data, at, rng.choice(WORDS))
    elif at < len(data):
        data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def splice_debug(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Copy a stretch of the debug information over another place of it."""
    size = rng.randint(1, 256)
    source, sink = _within(rng, seed.debug), _within(rng, seed.debug)
    data[sink : sink + size] = data[source : source + size]


def _within(rng: random.Random, stretches: Sequence[tuple[int, int]]) -> int:
    start, end = rng.choice(stretches)
    return rng.randrange(start, max(end, start + 1))


MUTATIONS: tuple[Callable[[bytearray, random.Random, Seed], None], ...] = (
    flip_bits,
    truncate,
    change_table,
    change_debug,
    splice_debug,
)
WEIGHTS = (2, 1, 6, 6, 3)


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, random.Random]:
    """Return case ``number``: its seed's name, its bytes, and the generator that made them."""
    rng = random.Random(f"{options.seed}:{number}")
    seed = rng.choice(corpus(options.corpus, options.max_size))
    data = bytearray(seed.data)
    for mutation in rng.choices(MUTATIONS, WEIGHTS, k=rng.choice((1, 1, 2, 3, 8))):
        if len(data) > 64:
            mutation(data, rng, seed)
    return seed.name, bytes(data), rng


def run(data: bytes, rng: random.Random, options: argparse.Namespace) -> str:
    """Examine the bytes of a case."""
    firmware_target(examine(parse_image(data)), kernels="reference")
    return "firmware"


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"corpus": OWN, "max_size": 1_000_000, "memory": 1024},
    make_case=make_case,
    run=run,
    expected=(FirmwareError, UsageError),
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
