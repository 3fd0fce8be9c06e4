"""What ``shrink`` gives for every model of a folder: ``bench_shrink.py [MODEL ...] [--prove N] [--jsonl OUT]``.

    python tools/bench_shrink.py --study ../shared/shrink      also: where the study's prototypes got further
    python tools/bench_shrink.py --table [--anchors]           each option and each library side by side
    python tools/bench_shrink.py --table --jobs 2 --jsonl OUT  goes on where it was ended; --only loops for one column

A row a model: smallest arena before and after, percent, multiply-accumulates, bytes of the file, seconds of CPU, and
whether it was proved in the real TFLM or why it was refused; then the totals, and which models need more with more
options. The exit code is 1 where a model grows or a proof fails.
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json
import multiprocessing
import resource
import signal
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import permutations
from multiprocessing import connection
from pathlib import Path
from typing import Any

import frame
from anchors import anchors

from tflm_sim import load, shrink
from tflm_sim.device.configuration import configure
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.shrink.prove import ProofFailed
from tflm_sim.extensions.shrink.shrink import MAX_MACS
from tflm_sim.model.load import ModelLike

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models"
FEWEST_OPERATORS = 4
COLUMNS = {"column": "<10", "model": "<60", "ops": ">4", "before": ">10,", "after": ">10,", "saved": ">6.1%"}
COLUMNS |= {"MACs": ">6.3f", "flash": ">+8,", "s": ">5.1f", "proof": "<"}
TOTALS = {"column": "<10", "models": ">6", "gain": ">4", "median": ">6.1f", "of all": ">6.1f", "best": ">5.1f"}
TOTALS |= {"20 %": ">4", "40 %": ">4", "grow": ">4", "differ": ">6", "proved": ">6", "CPU s": ">8,.0f"}
GAIN = 1.0
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True)
class Column:
    """What shrink is asked for: targets, kernels for all of them (None: their own), and options."""

    targets: tuple[str, ...]
    kernels: str | None = None
    options: dict[str, Any] = field(default_factory=dict)


_IN_ORDER = {"offline_plan": True, "kernel_order": True, "int8_io": True}
_ALL = {**_IN_ORDER, "loops": True}
OPTIONS = {
    "shrink": Column(("cortex-m4",)),
    "int8 io": Column(("cortex-m4",), options={"int8_io": True}),
    "plan": Column(("cortex-m4",), options={"int8_io": True, "offline_plan": True}),
    "M4": Column(("cortex-m4",), options=_IN_ORDER),
    "loops": Column(("cortex-m4",), options=_ALL),
    "M55": Column(("cortex-m55",), options=_ALL),
    "ESP32-S3": Column(("esp32-s3",), options=_ALL),
    "reference": Column(("cortex-m4",), "reference", _ALL),
}
"""Columns of ``--table``. From "loops" on all options: ``--int8-io --offline-plan --kernel-order --loops``."""


@dataclass(frozen=True, slots=True)
class Row:
    """A model's result; without ``after`` it says why in ``refused``."""

    column: str
    name: str
    operators: int = 0
    before: int = 0
    after: int = 0
    macs: float = 1.0
    flash: int = 0
    seconds: float = 0.0
    proof: str = ""
    refused: str = ""
    differs: bool = False
    stopped: str = ""

    @property
    def percent(self) -> float:
        """Percent of the arena that is saved."""
        return 100 * (1 - self.after / self.before) if self.before else 0.0

    @property
    def counts(self) -> bool:
        """Whether the model is one of those that the totals are about."""
        return not self.refused and self.operators >= FEWEST_OPERATORS


Case = tuple[str, str, ModelLike]
"""The name of a column, of a model, and the model."""


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
    parser.add_argument("--table", action="store_true", help="each option and library, as docs/shrink.md has them")
    parser.add_argument("--only", action="append", choices=OPTIONS, help="of --table: this column; may be repeated")
    parser.add_argument("--max-macs", type=float, default=MAX_MACS)
    parser.add_argument("--time-limit", type=float, metavar="S", help="seconds that a search may take")
    parser.add_argument("--prove", type=int, metavar="N", help="run both in the wheel on N inputs and the extremes")
    parser.add_argument("--study", type=Path, metavar="DIR", help="the prototypes' results (*.jsonl.gz)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default %(default)s)")
    parser.add_argument("--jsonl", type=Path, help="also append the rows to this file; those in it are not run again")
    args = parser.parse_args()
    columns = {name: OPTIONS[name] for name in args.only or OPTIONS} if args.table else {"": _asked(args)}
    try:
        rows = _rows(columns, args)
    except KeyboardInterrupt:
        return 130
    _print_models(columns, rows)
    _print_totals(columns, rows)
    print("\n".join(larger_with_more(columns, rows)))
    if args.study is not None:
        print("\n".join(_comparison(rows, _prototype(args.study, next(iter(columns.values()))))))
    return int(any(row.after > row.before or row.differs for row in rows))


def _asked(args: argparse.Namespace) -> Column:
    """Return what the arguments ask for."""
    names = ("offline_plan", "kernel_order", "int8_io", "loops")
    return Column(tuple(args.target or ["cortex-m4"]), args.kernels, {name: getattr(args, name) for name in names})


def _rows(columns: dict[str, Column], args: argparse.Namespace) -> list[Row]:
    """Return the rows that are there, and run and print the others."""
    rows = []
    if args.jsonl is not None and args.jsonl.exists():
        rows = [Row(**json.loads(line)) for line in args.jsonl.read_text().splitlines()]
        rows = [row for row in rows if row.column in columns]
    there = {(row.column, row.name) for row in rows}
    cases = [(column, *model) for model in _models(args) for column in columns if (column, model[0]) not in there]
    run = partial(_row, columns, max_macs=args.max_macs, time_limit=args.time_limit, prove_runs=args.prove)
    table = frame.Table(COLUMNS)
    for row in _forked(run, cases, args.jobs):
        rows.append(row)
        table.row(*_cells(row))
        if args.jsonl is not None:
            with args.jsonl.open("a") as file:
                file.write(json.dumps(asdict(row)) + "\n")
    return rows


def _forked(run: Callable[[Case], Row], cases: Sequence[Case], jobs: int) -> Iterator[Row]:
    """Yield each case's row, from a process of its own, in the order in which they end; so many run at once.

    This thread starts every process, because Linux ends a process with the thread that started it. A worker of
    multiprocessing.Pool that replaces another is started by a thread, and died with it while it held a lock.
    """
    context, waiting = multiprocessing.get_context("fork"), list(reversed(cases))
    running: dict[Any, tuple[Case, Any]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            case = waiting.pop()
            receiver, sender = context.Pipe(duplex=False)
            process = context.Process(target=_send, args=(sender, run, case), daemon=True)
            process.start()
            sender.close()
            running[receiver] = case, process
        ended: Any
        for ended in connection.wait(list(running)):
            case, process = running.pop(ended)
            try:
                row = ended.recv()
            except EOFError:
                row = None
            process.join()
            yield row or Row(*case[:2], refused=f"its process ended with {process.exitcode}", differs=True)


def _send(sender: Any, run: Callable[[Case], Row], case: Case) -> None:
    """Send a case's row to the process that started this one; Linux ends this one with that one."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # that one says what there is to say
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    sender.send(run(case))


def _models(args: argparse.Namespace) -> Iterator[tuple[str, ModelLike]]:
    """Yield the models that are asked for, each with its name."""
    if args.anchors:
        yield from ((name, bytes(model.source)) for name, model in anchors())
    else:
        yield from ((path.stem, path) for path in args.models or sorted(MODELS.glob("*.tflite")))


def _row(columns: dict[str, Column], case: Case, **limits: Any) -> Row:
    """Return one model's result."""
    name, title, model = case
    column, began = columns[name], _cpu_seconds()
    try:
        targets = [configure(target, kernels=column.kernels) for target in column.targets]
        shrunk = shrink(load(model), targets, **column.options, **limits)
    except TflmSimError as error:
        said = str(error).replace(f"{model!s}: ", "")
        return Row(name, title, seconds=_cpu_seconds() - began, refused=said, differs=isinstance(error, ProofFailed))
    proof = shrunk.proof
    return Row(
        name,
        title,
        shrunk.before.operators,
        sum(gain.before.arena for gain in shrunk.gains),
        sum(gain.after.arena for gain in shrunk.gains),
        shrunk.after.macs / shrunk.before.macs if shrunk.before.macs else 1.0,
        shrunk.after.file_bytes - shrunk.before.file_bytes,
        _cpu_seconds() - began,
        "" if proof is None else f"{proof.runs} runs, {proof.distinct} outputs",
        stopped=shrunk.stopped,
    )


def _prototype(study: Path, column: Column) -> dict[str, int]:
    """Return the smallest arena that the study's prototypes got with these options, by model."""
    files: dict[str, tuple[str, ...]] = {"full": ("tile",), "full2": ("tile",)}
    if column.options.get("kernel_order"):
        files = {"diag": ("new",), "diag2": ("new",)}
    elif column.options.get("offline_plan"):
        files = {"full": ("alias",), "full2": ("alias",), "alias": ("cm4", "new")}
    found: dict[str, int] = {}
    for name, keys in files.items():
        with gzip.open(study / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
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
    """Return the CPU time of this process so far, and of those that proved."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _cells(row: Row) -> tuple[object, ...]:
    if row.refused:
        return row.column, row.name, *[None] * 7, f"refused: {row.refused[:100]}"
    figures = (row.operators, row.before, row.after, row.percent / 100, row.macs, row.flash, row.seconds)
    return row.column, row.name, *figures, " ".join(filter(None, (row.proof or "-", row.stopped)))


def _print_models(columns: dict[str, Column], rows: Sequence[Row]) -> None:
    """Print a row a model: its arena in the first column before, and in each column what is left and saved of it."""
    if len(columns) < 2:
        return
    found = {(row.column, row.name): row for row in rows if row.counts}
    print()
    table = frame.Table({"model": "<40", "before": ">10,", **dict.fromkeys(columns, ">18")})
    for name in sorted({name for _, name in found}):
        there = [found.get((column, name)) for column in columns]
        before = next(row.before for row in there if row is not None)
        table.row(name, before, *(row and f"{row.after:,} {row.percent:5.1f} %" for row in there))


def _print_totals(columns: dict[str, Column], rows: Sequence[Row]) -> None:
    """Print a row a column: the sums over models of at least four operators, gains in percent of the arena."""
    print(f"\nof models of at least {FEWEST_OPERATORS} operators that allocate; gain: of at least {GAIN:.0f} %")
    table = frame.Table(TOTALS)
    for name in columns:
        own = [row for row in rows if row.column == name]
        shares = [row.percent for row in own if row.counts]
        gainers = [share for share in shares if share >= GAIN]
        if gainers:
            figures = (statistics.median(gainers), statistics.median(shares), max(gainers))
            over = [sum(share >= least for share in shares) for least in (20, 40)]
            bad = sum(row.after > row.before for row in own), sum(row.differs for row in own)
            proved = sum(bool(row.proof) for row in own)
            table.row(name, len(shares), len(gainers), *figures, *over, *bad, proved, sum(row.seconds for row in own))


def larger_with_more(columns: dict[str, Column], rows: Sequence[Row]) -> Iterator[str]:
    """Yield a line for each model that needs more in a column than in one with fewer options and the same kernels."""
    after = {(row.column, row.name): row.after for row in rows if row.counts}
    for (few, one), (more, other) in permutations(columns.items(), 2):
        is_same = (one.targets, one.kernels) == (other.targets, other.kernels)
        if is_same and one.options.items() < other.options.items():
            for (column, name), least in after.items():
                if column == few and after.get((more, name), 0) > least:
                    yield f"larger with more options: {name}: {few} {least:,} B, {more} {after[more, name]:,} B"


if __name__ == "__main__":
    sys.exit(main())
