"""Put faults into small models, and hold what the mobile runtime's live wheel says of each against what we say.

    python tools/fuzz_lite.py --count 1500
    python tools/fuzz_lite.py --first 4711 --count 1 --keep .     one case again, and its file
    python tools/fuzz_lite.py --corpus ../shared/models           faults in the files of a directory

Case N is the same everywhere: a recipe of tests/oracle, one to three faults, a set of kernels, perhaps a resize. A case
that ends the wheel's process, or whose answer depends on wild reads, is counted apart. Exit code 1 when any differs.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "oracle"))
import lite_rare_models  # noqa: F401 - it adds its recipes
from lite_models import random_model
from lite_mutations import mutated
from lite_wheel import Wheel, answers, is_undefined

from tflm_sim.errors import TflmSimError
from tflm_sim.lite.answer import LiteSettings

LARGEST_FILE = 300_000
MOST_FAULTS = 3


def case(number: int, files: Sequence[Path]) -> tuple[str, bytes, LiteSettings, bool]:
    """Return a case's name, model, settings, and whether its batch is doubled."""
    rng = random.Random(number)
    if files:
        path = rng.choice(files)
        name, data = path.stem, path.read_bytes()
    else:
        name, data = random_model(number)
    for fault in range(rng.randint(1, MOST_FAULTS)):
        data = mutated(data, MOST_FAULTS * number + fault)
    kernels = rng.choice(("optimized", "reference"))
    settings = LiteSettings(kernels, preserves_all_tensors=rng.random() < 0.2, threads=rng.choice((1, 1, 4)))
    return name, data, settings, rng.random() < 0.3


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


def main(arguments: Sequence[str]) -> int:
    """Run the cases and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--count", type=int, default=1500)
    parser.add_argument("--corpus", type=Path, help="a directory of .tflite files instead of the recipes")
    parser.add_argument("--keep", type=Path, help="write the files of cases that differ, or die, into this directory")
    args = parser.parse_args(arguments)
    files = (
        sorted(path for path in args.corpus.rglob("*.tflite") if path.stat().st_size <= LARGEST_FILE)
        if args.corpus
        else []
    )
    live, counts = Wheel(), Counter[str]()
    for number in range(args.first, args.first + args.count):
        name, data, settings, double = case(number, files)
        what, ours, theirs = outcome(live, data, settings, double=double)
        counts[what] += 1
        if what in ("DIFFERS", "died"):
            told = shown(ours, theirs) if theirs else f"ours {ours[:2]}"
            print(f"{number} {name} {settings.kernels}{' doubled' if double else ''}: {what} {told}", flush=True)
        if args.keep and (what in ("DIFFERS", "died") or args.count == 1):
            (args.keep / f"{number}.tflite").write_bytes(data)
    live.close()
    print(", ".join(f"{count} {what}" for what, count in counts.most_common()))
    return int(counts["DIFFERS"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
