"""Record the smallest arena of models in a pip wheel of TFLM: what ``tests/golden`` holds our figures against.

    python tools upstream wheel_smallest WHEEL.whl MODELS.. -o wheel-20261023.json

MODELS are .tflite files and folders of them. A model's figure is the size of the arena, in bytes, in which the wheel
allocates it, while it does not with one byte less; null where it does not allocate in 16 MiB. The wheel decides alone:
our figure is only where the search begins. Exit code 1 where ours is another.
"""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import frame
from upstream.wheel_move import Release, release_of
from upstream.wheel_runs import RunningWheel

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.configuration import configure
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import parse
from tflm_sim.targets.history import wheels
from tflm_sim.targets.presets import preset

_MOST = 16 << 20
"""Bytes of the largest arena that is tried."""


def smallest(wheel: RunningWheel, model: bytes, guess: int | None) -> int | None:
    """Return the size of the smallest arena in which a wheel allocates a model; None where ``_MOST`` does not do."""

    def fits(size: int) -> bool:
        return wheel.run(model, size).status == "ok"

    if guess is not None and fits(guess) and not fits(guess - 1):
        return guess
    if not fits(_MOST):
        return None
    too_small, enough = 0, _MOST
    while enough - too_small > 1:
        middle = (too_small + enough) // 2
        too_small, enough = (too_small, middle) if fits(middle) else (middle, enough)
    return enough


def recorded(release: Release, models: Iterable[Path]) -> tuple[dict[str, int | None], list[str]]:
    """Return what each model needs in a wheel, by name, and a line for each of which we say something else."""
    runtime = release.commit if release.commit[:7] in {commit.hash[:7] for commit in wheels()} else None
    target = configure(preset("x86_64-pip", runtime=runtime))
    found: dict[str, int | None] = {}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(release.path).extractall(folder)
        wheel = RunningWheel(Path(folder))
        for path in models:
            data = path.read_bytes()
            try:
                ours = smallest_arena(parse(data), target).size
            except TflmSimError:
                ours = None
            found[path.stem] = real = smallest(wheel, data, ours)
            if real != ours:
                lines.append(f"{path.stem}: {real} in the wheel, {ours} here")
        wheel.close()
    return found, lines


def main(arguments: Sequence[str]) -> int:
    """Record, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("wheel", type=Path, metavar="WHEEL.whl")
    parser.add_argument("models", type=Path, nargs="+", metavar="MODELS")
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="FILE.json")
    args = parser.parse_args(arguments)
    paths = sorted({one for path in args.models for one in (path.rglob("*.tflite") if path.is_dir() else [path])})
    try:
        release = release_of(args.wheel)
        found, lines = recorded(release, paths)
        args.output.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    except (ValueError, OSError) as error:
        print(f"wheel_smallest: {error}", file=sys.stderr)
        return 3
    print(*lines, f"{len(found) - len(lines)} of {len(found)} models as simulated in {release}", sep="\n")
    print(
        f"wrote {args.output}; its row in targets/evidence.py:\n"
        f"{args.output}: the pip wheel of TFLM of {release.day}, smallest arenas\n"
        f"    lp64  x86_64-pip  reference  {release.commit[:7]} with compression"
    )
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
