"""Feed mutated firmware files to the reader: a Firmware or a FirmwareError must come out, within a second of CPU.

    python tools/fuzz_firmware.py --corpus build/ --count 20000 --jobs 2
    python tools/fuzz_firmware.py --seed 7 --only 4711 --keep case.elf      one case again, and its file

The corpus is every file of a folder that begins like an ELF file; without one it is this package's own C extension.
Case N of seed S is the same on every machine with the same corpus. Exit 1, with the cases' numbers, when a case raises
something else, takes more than ``--limit`` seconds of CPU or more than ``--memory`` of memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fuzz_models import ALARM_SECONDS, Result, interrupt, report

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.firmware.elf import MAGIC, Elf
from tflm_sim.firmware.firmware import examine
from tflm_sim.firmware.image import parse_image
from tflm_sim.firmware.target import firmware_target

OWN = Path(__file__).parents[1] / "tflm_sim" / "planners" / "native"
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


def flip_bits(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Flip up to eight bits anywhere."""
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Cut the end off."""
    del data[rng.randrange(len(data)) :]


def change_table(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number over a word of a header, a table or the symbols."""
    _put(data, _within(rng, seed.tables) & ~3, rng.choice(WORDS))


def change_debug(data: bytearray, rng: random.Random, seed: Seed) -> None:
    """Write a telling number or a byte into the debug information."""
    at = _within(rng, seed.debug)
    if rng.randrange(2):
        _put(data, at, rng.choice(WORDS))
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


def _put(data: bytearray, position: int, value: int) -> None:
    """Write a 32-bit word, if it lies in the file."""
    if position + 4 <= len(data):
        data[position : position + 4] = value.to_bytes(4, "little")


MUTATIONS: tuple[Callable[[bytearray, random.Random, Seed], None], ...] = (
    flip_bits,
    truncate,
    change_table,
    change_debug,
    splice_debug,
)
WEIGHTS = (2, 1, 6, 6, 3)


def make_case(number: int, options: argparse.Namespace) -> tuple[Seed, bytes]:
    """Return case ``number``: its seed and its bytes."""
    rng = random.Random(f"{options.seed}:{number}")
    seed = rng.choice(corpus(options.corpus, options.max_size))
    data = bytearray(seed.data)
    for mutation in rng.choices(MUTATIONS, WEIGHTS, k=rng.choice((1, 1, 2, 3, 8))):
        if len(data) > 64:
            mutation(data, rng, seed)
    return seed, bytes(data)


def run_case(number: int, options: argparse.Namespace) -> Result:
    """Run one case and time it."""
    seed, data = make_case(number, options)
    signal.alarm(ALARM_SECONDS)
    start, bug = time.process_time(), ""
    try:
        firmware_target(examine(parse_image(data)), kernels="reference")
        outcome = "firmware"
    except (FirmwareError, UsageError) as failure:
        outcome = type(failure).__name__
    except Exception as failure:  # that is what this tool looks for
        outcome, bug = type(failure).__name__, traceback.format_exc()
    seconds = time.process_time() - start
    signal.alarm(0)
    if not bug and seconds > options.limit:
        bug = f"{seconds:.2f} s of CPU"
    return Result(number, seed.name, outcome, seconds, bug)


def run_chunk(arguments: tuple[range, argparse.Namespace]) -> list[Result]:
    """Run several cases in one process."""
    signal.signal(signal.SIGALRM, interrupt)
    numbers, options = arguments
    resource.setrlimit(resource.RLIMIT_AS, (options.memory << 20,) * 2)
    return [run_case(number, options) for number in numbers]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="how many cases (default %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first case (default %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="which sequence of cases (default %(default)s)")
    parser.add_argument("--corpus", type=Path, default=OWN, help="a folder with ELF files")
    parser.add_argument("--max-size", type=int, default=400_000, help="largest file in bytes (default %(default)s)")
    parser.add_argument("--limit", type=float, default=1.0, help="seconds of CPU a case may take (default %(default)s)")
    parser.add_argument("--memory", type=int, default=1024, help="MiB that a process may take (default %(default)s)")
    parser.add_argument("--only", type=int, help="run this case alone")
    parser.add_argument("--keep", type=Path, help="write the file of the --only case here")
    options = parser.parse_args(arguments)
    if options.only is not None:
        options.first, options.count, options.jobs = options.only, 1, 1
        if options.keep is not None:
            options.keep.write_bytes(make_case(options.only, options)[1])
    end = options.first + options.count
    chunks = [(range(i, min(i + 250, end)), options) for i in range(options.first, end, 250)]
    if options.jobs == 1:
        return report((result for chunk in chunks for result in run_chunk(chunk)), options)
    with multiprocessing.Pool(options.jobs) as pool:
        return report((result for chunk in pool.imap_unordered(run_chunk, chunks) for result in chunk), options)


if __name__ == "__main__":
    sys.exit(main())
