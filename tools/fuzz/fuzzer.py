"""What the fuzzers of files share: bytes changed at random, cases by number under an alarm, and the report."""

from __future__ import annotations

import argparse
import multiprocessing
import random
import resource
import signal
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import frame

ALARM_SECONDS = 20
"""Of CPU, above those that a case may take: then it is ended. Wall time says nothing on a busy machine."""
CASES_AT_ONCE = 20
PROGRESS_SECONDS = 60
"""Of CPU, between two lines about what was counted so far."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one case did: its outcome, seconds of CPU, and the traceback of a bug."""

    number: int
    seed_name: str
    outcome: str
    seconds: float
    bug: str = ""


class DiffersError(Exception):
    """Two that should say the same do not."""


def no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


@dataclass(frozen=True, slots=True)
class Fuzzer:
    """What one fuzzer does.

    Attributes:
        doc: What it says of itself.
        defaults: Of the options, by name.
        make_case: Of a case's number: the name of its seed, its bytes, and what ``run`` takes besides.
        run: What is done with the bytes; it returns the outcome.
        expected: What may be raised.
        add_options: Adds options of its own.
    """

    doc: str
    defaults: dict[str, object]
    make_case: Callable[[int, argparse.Namespace], tuple[str, bytes, Any]]
    run: Callable[[bytes, Any, argparse.Namespace], str]
    expected: tuple[type[Exception], ...]
    add_options: Callable[[argparse.ArgumentParser], object] = no_options

    def case(self, number: int, options: argparse.Namespace) -> Result:
        """Run one case and time it."""
        name, data, more = self.make_case(number, options)
        signal.setitimer(signal.ITIMER_PROF, options.limit + ALARM_SECONDS)
        start, bug = time.process_time(), ""
        try:
            outcome = self.run(data, more, options)
        except self.expected as failure:
            outcome = type(failure).__name__
        except Exception as failure:  # that is what a fuzzer looks for
            outcome, bug = type(failure).__name__, traceback.format_exc()
        seconds = time.process_time() - start
        signal.setitimer(signal.ITIMER_PROF, 0)
        if not bug and seconds > options.limit:
            bug = f"{seconds:.2f} s of CPU"
        return Result(number, name, outcome, seconds, bug)

    def chunk(self, arguments: tuple[range, argparse.Namespace]) -> tuple[list[Result], float]:
        """Run several cases in one process; return their results, and the seconds of CPU with all that made them."""
        signal.signal(signal.SIGPROF, _interrupt)
        numbers, options = arguments
        if options.memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (options.memory << 20,) * 2)
        start = _cpu_seconds()
        return [self.case(number, options) for number in numbers], _cpu_seconds() - start

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run the cases; return the exit code."""
        parser = frame.parser(self.doc)
        parser.add_argument("--count", type=int, default=2000, help="how many cases (default %(default)s)")
        parser.add_argument("--cpu-seconds", type=float, help="begin no more cases after as many seconds of CPU")
        parser.add_argument("--first", type=int, default=0, help="number of the first case (default %(default)s)")
        parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
        parser.add_argument("--seed", type=int, default=0, help="which sequence of cases (default %(default)s)")
        parser.add_argument("--corpus", type=Path, help="a folder with files to change (default %(default)s)")
        parser.add_argument("--max-size", type=int, help="largest file in bytes (default %(default)s)")
        parser.add_argument("--limit", type=float, default=1.0, help="seconds of CPU a case may take (%(default)s)")
        parser.add_argument("--memory", type=int, help="MiB that a process may take (default %(default)s)")
        parser.add_argument("--only", type=int, help="run this case alone")
        parser.add_argument("--keep", type=Path, help="write the file of the --only case here")
        self.add_options(parser)
        parser.set_defaults(**self.defaults)
        options = parser.parse_args(arguments)
        if options.only is not None:
            options.first, options.count, options.jobs = options.only, 1, 1
            if options.keep is not None:
                options.keep.write_bytes(self.make_case(options.only, options)[1])
        end = options.first + options.count
        starts = range(options.first, end, CASES_AT_ONCE)
        chunks = ((range(start, min(start + CASES_AT_ONCE, end)), options) for start in starts)
        if options.jobs == 1:
            return report(map(self.chunk, chunks), options.seed, options.cpu_seconds)
        with multiprocessing.Pool(options.jobs) as pool:
            return report(pool.imap_unordered(self.chunk, chunks), options.seed, options.cpu_seconds)


def _cpu_seconds() -> float:
    """Return what this process has taken, and the processes of cases that have ended."""
    taken = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in taken)


def report(chunks: Iterable[tuple[list[Result], float]], seed: int, most: float | None = None) -> int:
    """Print the counts, the slowest case and the bugs; return the exit code.

    It ends after ``most`` seconds of CPU, or when the process is asked to: what was counted until then is printed.
    """
    outcomes: Counter[str] = Counter()
    slowest: Result | None = None
    seconds, shown = 0.0, 0.0
    bugs: Counter[str] = Counter()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        for results, taken in chunks:
            seconds += taken
            for result in results:
                outcomes[result.outcome] += 1
                slowest = result if slowest is None or result.seconds > slowest.seconds else slowest
                if result.bug:
                    kind = result.bug.strip().splitlines()[-1]
                    bugs[kind] += 1
                    if bugs[kind] == 1:
                        print(f"case {result.number} ({result.seed_name}): {result.bug}", flush=True)
            if most is not None and seconds >= most:
                break
            if seconds - shown >= PROGRESS_SECONDS:
                shown = seconds
                print(f"... {outcomes.total()} cases in {seconds:.0f} s of CPU, {bugs.total()} bugs", flush=True)
    for outcome, count in outcomes.most_common():
        print(f"{count:8} {outcome}")
    if slowest is not None:
        print(f"slowest: case {slowest.number} ({slowest.seed_name}), {slowest.seconds * 1000:.1f} ms")
    print(f"seed {seed}, {outcomes.total()} cases in {seconds:.0f} s of CPU, {bugs.total()} bugs")
    return 1 if bugs else 0


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End a case that hangs."""
    raise TimeoutError("no end in time")


def flip_bits(data: bytearray, rng: random.Random, seed: object) -> None:
    """Flip up to eight bits anywhere."""
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(data: bytearray, rng: random.Random, seed: object) -> None:
    """Cut the end off."""
    del data[rng.randrange(len(data)) :]


def put(data: bytearray, position: int, value: int) -> None:
    """Write a 32-bit word, if it lies in the file."""
    if position + 4 <= len(data):
        data[position : position + 4] = value.to_bytes(4, "little")
