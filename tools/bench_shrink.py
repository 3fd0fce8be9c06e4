"""What ``shrink`` gives for every model of a folder: ``bench_shrink.py [MODEL ...] [--prove N] [--jsonl OUT]``.

    python tools/bench_shrink.py --study ../shared/shrink      also: where the study's prototypes got further
    python tools/bench_shrink.py --table [--anchors]           each option and each library side by side

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
from typing import Any

import frame
from anchors import anchors

from tflm_sim import load, shrink
from tflm_sim.device.configuration import configure
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import ModelLike
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
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("--anchors", action="store_true", help="the networks that tools/anchors.py builds, instead")
    parser.add_argument(
        "--table",
        action="store_true",
        help="a row a model with the arena of each option and library, as docs/shrink.md",
    )
    parser.add_argument("--max-macs", type=float, default=MAX_MACS)
    parser.add_argument("--prove", type=int, metavar="N", help="run both in the wheel on N inputs and the extremes")
    parser.add_argument("--study", type=Path, metavar="DIR", help="the prototypes' results (*.jsonl.gz)")
    parser.add_argument("--jsonl", type=Path, help="also write the rows to this file")
    args = parser.parse_args()
    if args.table:
        return _print_table(args)
    rows = []
    table = frame.Table(COLUMNS)
    for name, model in _models(args):
        rows.append(_row(name, model, args))
        table.row(*_cells(rows[-1]))
    if args.jsonl is not None:
        args.jsonl.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    print("\n".join(_totals(rows)))
    if args.study is not None:
        print("\n".join(_comparison(rows, _prototype(args))))
    return int(any(row.after > row.before or row.refused.startswith("refused") for row in rows))


def _models(args: argparse.Namespace) -> Iterator[tuple[str, ModelLike]]:
    """Yield the models that are asked for, each with its name."""
    if args.anchors:
        yield from anchors()
    else:
        yield from ((path.stem, path) for path in args.models or sorted(MODELS.glob("*.tflite")))


OPTIONS: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "shrink": ("cortex-m4", None, {}),
    "int8 io": ("cortex-m4", None, {"int8_io": True}),
    "plan": ("cortex-m4", None, {"offline_plan": True, "int8_io": True}),
    "loops": ("cortex-m4", None, {"loops": True, "int8_io": True}),
    "M4": ("cortex-m4", None, {"kernel_order": True, "int8_io": True}),
    "M55": ("cortex-m55", None, {"kernel_order": True, "int8_io": True}),
    "ESP32": ("esp32", None, {"kernel_order": True, "int8_io": True}),
    "reference": ("cortex-m4", "reference", {"kernel_order": True, "int8_io": True}),
}
"""Columns of ``--table``: target, kernels, and what shrink is asked for; from "plan" on ``--int8-io``, too."""


def _print_table(args: argparse.Namespace) -> int:
    """Print what each option gives, in bytes and in percent of the same target's arena; then how many models gain."""
    table = frame.Table({"model": "<40", "before": ">10,", **dict.fromkeys(OPTIONS, ">18")})
    shares: dict[str, list[float]] = {name: [] for name in OPTIONS}
    grown = 0
    for name, model in _models(args):
        cells = []
        for column, (target, kernels, options) in OPTIONS.items():
            try:
                gain = shrink(load(model), configure(target, kernels=kernels), max_macs=args.max_macs, **options).gains[
                    0
                ]
            except TflmSimError:
                break
            cells.append((gain.before.arena, f"{gain.after.arena:,} {gain.percent:5.1f} %"))
            shares[column].append(gain.percent)
            grown += gain.after.arena > gain.before.arena
        if len(cells) == len(OPTIONS):
            table.row(name, cells[0][0], *(text for _, text in cells))
    for column, found in shares.items():
        gainers = [percent for percent in found if percent >= GAIN]
        if gainers:
            print(
                f"{column}: {len(gainers)} of {len(found)} gain at least 1 %, median {statistics.median(gainers):.1f} %"
            )
    print(f"{grown} grow")
    return int(grown > 0)


def _row(name: str, model: ModelLike, args: argparse.Namespace) -> Row:
    """Return one model's result."""
    began = _cpu_seconds()
    try:
        targets = [configure(name, kernels=args.kernels) for name in args.target or ["cortex-m4"]]
        shrunk = shrink(
            load(model),
            targets,
            max_macs=args.max_macs,
            offline_plan=args.offline_plan,
            kernel_order=args.kernel_order,
            int8_io=args.int8_io,
            loops=args.loops,
            prove_runs=args.prove,
        )
    except TflmSimError as error:
        return Row(name, seconds=_cpu_seconds() - began, refused=str(error).replace(f"{model!s}: ", ""))
    proof = shrunk.proof
    return Row(
        name,
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
