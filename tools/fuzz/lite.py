"""Put faults into small models, and compare what the mobile runtime's live wheel says of each with what we say.

    python tools fuzz lite --count 1500
    python tools fuzz lite --only 4711 --keep case.tflite      one case again, and its file
    python tools fuzz lite --corpus ../shared/models           faults in the files of a directory

Case N is the same everywhere: a recipe of tests/oracle, one to three faults, a set of kernels, perhaps a resize. A case
that ends the wheel's process, or whose answer depends on wild reads, is counted apart. Exit code 1 when any differs.
"""

from __future__ import annotations

import argparse
import random
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ai_edge_litert  # noqa: F401 - without it the wheel's process would end at each case
from fuzz.fuzzer import DiffersError, Fuzzer

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "oracle"))
import lite_rare_models  # noqa: F401 - it adds its recipes
from lite_models import random_model
from lite_mutations import mutated
from lite_wheel import Wheel, answers, is_undefined

from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.lite.answer import LiteSettings
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE, RELEASES

MOST_FAULTS = 3


class Case(NamedTuple):
    """A model, the settings, and whether its batch is doubled."""

    name: str
    data: bytes
    settings: LiteSettings
    double: bool


def case(number: int, files: Sequence[Path], release: str = DEFAULT_RELEASE) -> Case:
    """Return a case by its number, for a release of the runtime."""
    rng = random.Random(number)
    if files:
        path = rng.choice(files)
        name, data = path.stem, path.read_bytes()
    else:
        name, data = random_model(number)
    for fault in range(rng.randint(1, MOST_FAULTS)):
        with suppress(struct.error):  # a number that no file can hold
            data = mutated(data, MOST_FAULTS * number + fault)
    kernels = rng.choice(("optimized", "reference"))
    settings = LiteSettings(kernels, rng.random() < 0.2, rng.choice((1, 1, 4)), release)
    return Case(name, data, settings, rng.random() < 0.3)


def outcome(live: Wheel, data: bytes, settings: LiteSettings, *, double: bool) -> tuple[str, Any, Any]:
    """Return "same", "undefined", "died" or "DIFFERS", and both answers."""
    try:
        ours, theirs = answers(live, data, settings, double=double)
    except TflmSimError as error:
        return "unreadable", str(error), None
    if is_undefined(ours):
        return "undefined", ours, theirs
    if theirs is None:
        return ("same" if "the process is aborted" in ours[1] else "died"), ours, theirs
    return ("same" if ours == theirs else "DIFFERS"), ours, theirs


def shown(ours: Any, theirs: Any) -> str:
    """Return the first part in which two answers differ."""
    for name, one, other in zip(("status", "messages", "subgraphs"), ours, theirs, strict=True):
        if one == other:
            continue
        if name != "subgraphs":
            return f"{name}\n    ours   {one!r}\n    wheel  {other!r}"
        rows = [
            (row, twin)
            for graph, twins in zip(one, other, strict=False)
            for key in graph
            if graph[key] != twins.get(key)
            for row, twin in (
                zip(graph[key], twins[key], strict=False) if key == "tensors" else [(graph[key], twins[key])]
            )
            if row != twin
        ]
        return f"{len(one)} and {len(other)} subgraphs: " + "; ".join(f"{row} wheel {twin}" for row, twin in rows[:4])
    return "nothing"


@cache
def files(corpus: Path | None, max_size: int) -> tuple[Path, ...]:
    """Return the .tflite files of a directory, none without one."""
    found = () if corpus is None else corpus.rglob("*.tflite")
    return tuple(sorted(path for path in found if path.stat().st_size <= max_size))


@cache
def wheel() -> Wheel:
    """Return this process's live runtime."""
    return Wheel()


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, Case]:
    """Return a case's name, its bytes, and itself."""
    made = case(number, files(options.corpus, options.max_size), options.release)
    return made.name, made.data, made


def run(data: bytes, made: Case, options: argparse.Namespace) -> str:
    """Return how the answers compare.

    Raises:
        DiffersError: They differ, or only the wheel's process died.
    """
    what, ours, theirs = outcome(wheel(), data, made.settings, double=made.double)
    if what in ("DIFFERS", "died"):
        told = shown(ours, theirs) if theirs else f"ours {ours[:2]}"
        raise DiffersError(f"{made.settings.kernels}{' doubled' if made.double else ''}: {what} {told}")
    return what


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add ours."""
    parser.add_argument("--release", choices=RELEASES, default=DEFAULT_RELEASE, help="which the wheel is (%(default)s)")


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"count": 1500, "max_size": 300_000, "limit": 30.0},
    make_case=make_case,
    run=run,
    add_options=add_options,
    expected=(),
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
