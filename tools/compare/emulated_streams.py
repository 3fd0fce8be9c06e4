"""Run models that take the new frames of their window on an emulated Cortex-M, against their windows, byte by byte.

    python tools compare emulated_streams --firmware m4.elf [--random N] [--windows N] [MODEL:STEP:AXIS ...]

The firmware is ``emulated_models.cc`` linked with TFLM and CMSIS-NN, as for ``compare emulated_shrink``. Each stream
runs in exactly the arena that is predicted for a Cortex-M4, must give what its window gives, and must fail with 16
bytes less. The exit code is 1 where any of that is otherwise.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import frame
import numpy as np
from bench_streams import DEFAULT, MODELS
from compare.emulated_shrink import Board

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit" / "extensions" / "shrink"))
from moving_models import random_moving_model

from tflm_sim import NotStreamed, Streamed, load, smallest_arena, stream
from tflm_sim.extensions.shrink.draft_facts import DTYPES
from tflm_sim.extensions.shrink.stream import AIMS
from tflm_sim.extensions.shrink.wheel_worker import stream_chunks
from tflm_sim.model.types import Model

TARGET, MACHINE = "cortex-m4", "mps2-an386"
SEED = 9


def compared(result: Streamed, board: Board, folder: Path, windows: int) -> str:
    """Return what is wrong with a stream on a board, "" where nothing is."""
    model = result.origin
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].input_tensors[0]]
    random = np.random.default_rng(SEED)
    pairs = list(stream_chunks(random, np.dtype(DTYPES[tensor.type]), result.how, windows, None))
    whole = [window.tobytes() for window, _ in pairs if window is not None]
    roomy, arena = smallest_arena(model, TARGET).size + 4096, result.gains[0].after.arena
    expected = board.run(folder, model.source, roomy, b"".join(whole), len(whole))
    chunks = b"".join(chunk.tobytes() for _, chunk in pairs)
    found = board.run(folder, result.data, arena, chunks, len(pairs))
    if isinstance(expected, str):
        return f"the window says {expected}"
    if isinstance(found, str):
        return f"it says {found}"
    less = board.run(folder, result.data, arena - 16, chunks, len(pairs))
    if not isinstance(less, str):
        return "it runs with 16 bytes less"
    size = len(expected) // len(whole)
    return "" if found[-len(expected) :] == expected and size else "the outputs differ"


def cases(args: argparse.Namespace) -> Iterator[tuple[str, Model, int, int]]:
    """Yield the models, with the frames between two invocations and the axis along which they lie."""
    for each in args.models:
        name, step, axis = each.rsplit(":", 2)
        yield each, load(name if name.endswith(".tflite") else MODELS / f"{name}.tflite"), int(step), int(axis)
    for seed in range(args.random):
        moved = random_moving_model(seed)
        yield f"random {seed}", moved.model, moved.step, moved.axis


def main(arguments: Sequence[str]) -> int:
    """Run what was asked for."""
    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="*", default=DEFAULT, metavar="MODEL:STEP:AXIS")
    parser.add_argument("--firmware", type=Path, required=True)
    parser.add_argument("--random", type=int, default=0, metavar="N", help="also N random models")
    parser.add_argument("--windows", type=int, default=30, metavar="N", help="of noise")
    args = parser.parse_args(arguments)
    board, ran, wrong = Board(MACHINE, args.firmware), 0, 0
    for name, model, step, axis in cases(args):
        for aim in AIMS:
            try:
                result = stream(model, step, TARGET, axis=axis, aim=aim)
            except NotStreamed:
                continue
            with tempfile.TemporaryDirectory() as folder:
                problem = compared(result, board, Path(folder), args.windows)
            count = args.windows + result.start_up + 1
            ran, wrong = ran + count, wrong + bool(problem)
            print(f"{name} --for {aim}: {problem or f'{count} windows equal'}", flush=True)
    print(f"{ran:,} windows; {wrong} streams with a problem")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
