"""The table of docs/streaming.md: ``bench_streams.py [MODEL:STEP:AXIS ...] [--prove N] [--target T]``.

A row a model: the smallest arena of the window, and of the streams for the smallest arena and for the fewest
multiply-accumulates, with their share of these; and the windows that both models were run on in the real TFLM. A share
of less than 1 is printed as "1/x", a refusal as it is. The exit code is 1 where a proof fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import frame

from tflm_sim import NotStreamed, Streamed, load, smallest_arena, stream
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.shrink.prove import ProofFailed

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
DEFAULT = (
    "rhasspy-pymicro-vad__vad:3:1",
    "mlcommons-tiny__str_ww_ref_model:1:1",
    "tflm__examples__micro_speech__models__micro_speech_quantized:2:1",
    "mlcommons-tiny_results_v0.5__kws_model_data:2:1",
    "SiliconLabs-mltk__keyword_spotting_on_off:8:1",
    "atomic14-diy-alexa__neural_network_model:4:1",
)
"""Files of the folder of models with the frames between two invocations, and the axis along which they lie."""


def row(path: Path, step: int, axis: int, target: str, runs: int) -> list[str]:
    """Return a row of the table.

    Raises:
        ProofFailed: A stream gives other bytes in the real TFLM.
    """
    model, found = load(path), list[Streamed | str]()
    for aim in ("ram", "macs"):
        try:
            found.append(stream(model, step, target, axis=axis, aim=aim, prove_runs=runs or None))
        except NotStreamed as refusal:
            found.append("grows" if "would not become smaller" in str(refusal) else "nothing")
    cells = [path.stem.rpartition("__")[2], str(step), f"{smallest_arena(model, target).size:,}"]
    for each in found:
        cells.append(each if isinstance(each, str) else f"{each.gains[0].after.arena:,}")
        cells.append("" if isinstance(each, str) else f"1/{each.before.macs / each.after.macs:.1f}")
    return [*cells, f"{sum(each.proof.runs for each in found if isinstance(each, Streamed) and each.proof):,}"]


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="*", default=DEFAULT, metavar="MODEL:STEP:AXIS")
    parser.add_argument("--target", default="cortex-m4")
    parser.add_argument("--prove", type=int, default=0, metavar="N", help="windows in the real TFLM")
    args = parser.parse_args(arguments)
    print("| model | step | window, B | `--for ram`, B | MACs | `--for macs`, B | MACs | windows proved |")
    print("|---|---|---|---|---|---|---|---|")
    for each in args.models:
        name, step, axis = each.rsplit(":", 2)
        path = Path(name) if name.endswith(".tflite") else MODELS / f"{name}.tflite"
        try:
            print("|", " | ".join(row(path, int(step), int(axis), args.target, args.prove)), "|", flush=True)
        except ProofFailed as failure:
            print(f"{each}: {failure}", file=sys.stderr)
            return 1
        except TflmSimError as error:
            print(f"| {each} | {error} | | | | | | |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
