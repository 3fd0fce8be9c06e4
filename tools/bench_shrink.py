"""What ``shrink`` gives for every model of a folder: ``bench_shrink.py [MODEL ...] [--prove N] [--jsonl OUT]``.

    python tools/bench_shrink.py --study ../shared/shrink      also: where the study's prototypes got further

A row a model: smallest arena before and after, percent, multiply-accumulates, bytes of the file, seconds of CPU, and
whether it was proved in the real TFLM or why it was refused; then the totals. The exit code is 1 where a model grows or
a proof fails.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import statistics
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import frame

from tflm_sim import load, shrink
from tflm_sim.device.configuration import configure
from tflm_sim.errors import TflmSimError
from tflm_sim.shrinking.shrink import MAX_MACS

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
FEWEST_OPERATORS = 4
COLUMNS = {"model": "<60", "ops": ">4", "before": ">10,", "after": ">10,", "saved": ">6.1%", "MACs": ">6.3f"}
COLUMNS |= {"flash": ">+8,", "s": ">5.1f", "proof": "<"}
GAIN = 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A model's result; without ``after`` it says why in ``refused``."""

    name: str
    operators: int = 0
    before: int = 0
    after: int = 0
    macs: float = 1.0
    flash: int = 0
    seconds: float = 0.0
    proof: str = ""
    refused: str = ""

    @property
    def percent(self) -> float:
        """Percent of the arena that is saved."""
        return 100 * (1 - self.after / self.before) if self.before else 0.0

    @property
    def counts(self) -> bool:
        """Whether the model is one of those that the totals are about."""
        return not self.refused and self.operators >= FEWEST_OPERATORS


def main() -> int:
    """Run the benchmark."""
    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="*", type=Path, help=f"default: every .tflite file of {MODELS}")
    parser.add_argument("--target", action="append", help="default: cortex-m4")
    parser.add_argument("--kernels", help="reference, for every target")
    parser.add_argument("--offline-plan", action="store_true")
    parser.add_argument("--kernel-order", action="store_true")
    parser.add_argument("--int8-io", action="store_true")
    parser.add_argument("--max-macs", type=float, default=MAX_MACS)
    parser.add_argument("--prove", type=int, metavar="N", help="run both in the wheel on N inputs and the extremes")
    parser.add_argument("--study", type=Path, metavar="DIR", help="the prototypes' results (*.jsonl.gz)")
    parser.add_argument("--jsonl", type=Path, help="also write the rows to this file")
    args = parser.parse_args()
    rows = []
    table = frame.Table(COLUMNS)
    for path in args.models or sorted(MODELS.glob("*.tflite")):
        rows.append(_row(path, args))
        table.row(*_cells(rows[-1]))
    if args.jsonl is not None:
        args.jsonl.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    print("\n".join(_totals(rows)))
    if args.study is not None:
        print("\n".join(_comparison(rows, _prototype(args))))
    return int(any(row.after > row.before or row.refused.startswith("refused") for row in rows))


def _row(path: Path, args: argparse.Namespace) -> Row:
    """Return one model's result."""
    began = _cpu_seconds()
    try:
        targets = [configure(name, kernels=args.kernels) for name in args.target or ["cortex-m4"]]
        shrunk = shrink(
            load(path),
            targets,
            max_macs=args.max_macs,
            offline_plan=args.offline_plan,
            kernel_order=args.kernel_order,
            int8_io=args.int8_io,
            prove_runs=args.prove,
        )
    except TflmSimError as error:
        return Row(path.stem, seconds=_cpu_seconds() - began, refused=str(error).replace(f"{path}: ", ""))
    proof = shrunk.proof
    return Row(
        path.stem,
        shrunk.before.operators,
        sum(gain.before.arena for gain in shrunk.gains),
        sum(gain.after.arena for gain in shrunk.gains),
        shrunk.after.macs / shrunk.before.macs if shrunk.before.macs else 1.0,
        shrunk.after.file_bytes - shrunk.before.file_bytes,
        _cpu_seconds() - began,
        "" if proof is None else f"{proof.runs} runs, {proof.distinct} outputs",
    )


def _prototype(args: argparse.Namespace) -> dict[str, int]:
    """Return the smallest arena that the study's prototypes got with these options, by model."""
    files: dict[str, tuple[str, ...]] = {"full": ("tile",), "full2": ("tile",)}
    if args.kernel_order:
        files = {"diag": ("new",), "diag2": ("new",)}
    elif args.offline_plan:
        files = {"full": ("alias",), "full2": ("alias",), "alias": ("cm4", "new")}
    found: dict[str, int] = {}
    for name, keys in files.items():
        with gzip.open(args.study / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                value = row
                for key in keys:
                    value = value.get(key) if isinstance(value, dict) else None
                if isinstance(value, int):
                    found[row["name"]] = min(value, found.get(row["name"], value))
    return found


def _comparison(rows: list[Row], prototype: dict[str, int]) -> Iterator[str]:
    """Yield the models with a larger arena than the prototype's."""
    compared = [row for row in rows if row.counts and row.name in prototype]
    worse = [row for row in compared if row.after > prototype[row.name]]
    better = sum(row.after < prototype[row.name] for row in compared)
    yield f"prototypes: {len(compared)} models compared, {better} better, {len(worse)} worse"
    for row in worse:
        yield f"  {row.name}: {row.after:,} B, the prototype's {prototype[row.name]:,} B"


def _cpu_seconds() -> float:
    """Return the CPU time of this process so far."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _cells(row: Row) -> tuple[object, ...]:
    if row.refused:
        return row.name, *[None] * 7, f"refused: {row.refused[:100]}"
    figures = (row.operators, row.before, row.after, row.percent / 100, row.macs, row.flash, row.seconds)
    return row.name, *figures, row.proof or ("-" if row.percent else "")


def _totals(rows: list[Row]) -> Iterator[str]:
    """Yield the sums over models of at least four operators."""
    counted = [row for row in rows if row.counts]
    gainers = sorted(row.percent for row in counted if row.percent >= GAIN)
    yield ""
    yield f"{len(counted)} models of at least {FEWEST_OPERATORS} operators that allocate; {len(rows)} files in all"
    if gainers:
        yield f"{len(gainers)} gain at least 1 %: median {statistics.median(gainers):.1f} %, best {gainers[-1]:.1f} %"
        yield "".join(f"{sum(g >= share for g in gainers)} gain at least {share} %; " for share in (10, 20, 40)).rstrip(
            "; "
        )
    yield f"{sum(row.after > row.before for row in rows)} grow; {sum(bool(row.proof) for row in rows)} proved"
    if counted:
        slowest = max(counted, key=lambda row: row.seconds)
        yield f"{sum(row.seconds for row in rows):.0f} s of CPU; longest {slowest.seconds:.1f} s ({slowest.name})"


if __name__ == "__main__":
    sys.exit(main())
