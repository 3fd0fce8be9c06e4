"""``tflm-sim sweep``: many models on many targets, a row each; and two results compared."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tflm_sim.answers.rows import Case, Row, cases
from tflm_sim.cli.options import Subparsers, add_configuration, add_verb, svg_file, typed
from tflm_sim.cli.options import settings as given_settings
from tflm_sim.cli.terminal import say, say_json
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_types import Count
from tflm_sim.errors import INTERRUPTED, UsageError
from tflm_sim.extensions.sweep.difference import RowChange, changes
from tflm_sim.extensions.sweep.engine import Item
from tflm_sim.extensions.sweep.engine import run as run_batches
from tflm_sim.extensions.sweep.limits import DEFAULT_SECONDS, Limits
from tflm_sim.extensions.sweep.plot import AXES, plot_svg
from tflm_sim.extensions.sweep.results import Results
from tflm_sim.extensions.sweep.sweep import items, make_pool
from tflm_sim.extensions.sweep.tables import read_rows
from tflm_sim.extras import install_command
from tflm_sim.files import replacing
from tflm_sim.model.inputs import folder_files, matches
from tflm_sim.numbers import seconds, whole
from tflm_sim.report.circumstances import sentence_with_assumed, targets_line, unnamed
from tflm_sim.report.tables import table_lines
from tflm_sim.sizes import as_limit, parse_size

ABOUT = """
Use it for a folder of models. It writes a table, and can use many processes or
a dask cluster.
"""
EXAMPLES = """
tflm-sim sweep models/ --targets cortex-m4,esp32-s3 -o results.csv
tflm-sim sweep zoo/*.tflite export.zip --boards all --limit 256KiB -o results.parquet --resume
find . -name '*.tflite' | tflm-sim sweep - --targets all -o results.jsonl --plot arenas.svg
tflm-sim sweep s3://bucket/a.tflite --targets esp32 -o r.csv --scheduler tcp://10.0.0.1:8786
tflm-sim sweep --diff last_week.csv today.csv
"""
_OPTIONS = {"target": "--targets", "library": "--library", "kernels": "--kernels"}
_PER_CASE = ("target", "board", "firmware", "custom_ops")
"""Options of other verbs for which a sweep has --targets and --boards, or that no row of a table can have."""
MAX_REASONS, MAX_NAMES = 10, 3
"""How many reasons for rows without a figure are told, and how many models of each are named."""
_DASK_LOGGERS = ("distributed", "tornado")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDocument:
    """How many models and rows there are, and how many rows of each status."""

    schema_version: Literal[1] = 1
    models: Count
    rows: Count
    statuses: dict[str, Count]
    interrupted: bool


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """A model on a target whose smallest arena (a multiple of 16) changed.

    Attributes:
        before, after: Bytes, else the status; "-" where there is no row.
        bytes: after - before; null where a side has none.
        verdict: "new", "gone", "fits now", "may fit now" (only the firmware knows), "no longer fits" or "".
        worse: Whether it grew, or is none any more, or no longer fits.
    """

    model: str
    target: str
    board: str
    before: int | str
    after: int | str
    bytes: int | None
    verdict: str
    worse: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepDifference:
    """Two results of a sweep compared."""

    schema_version: Literal[1] = 1
    worse: Count
    changes: tuple[ChangeRow, ...]


def register(subparsers: Subparsers) -> None:
    exits = {1: "with --diff: an arena grew, or a model that had a size has none", 3: "none of the models can be read"}
    parser = add_verb(subparsers, "sweep", EXAMPLES, about=ABOUT, exits=exits)
    parser.add_argument(
        "models",
        nargs="*",
        metavar="MODEL",
        help="files, folders, patterns or URLs; - reads a list from standard input",
    )
    parser.add_argument(
        "--targets", "--target", metavar="T,...", help="targets, or all (default without --boards: cortex-m4)"
    )
    parser.add_argument(
        "--boards",
        metavar="B,...",
        help="boards, or all; the column 'fits' is no where their RAM or flash is too small",
    )
    parser.add_argument("--limit", metavar="N", help="the largest allowed arena, for the column 'fits'")
    add_configuration(parser, leave_out=_PER_CASE, title="firmware, for every target")
    parser.add_argument("-o", "--output", metavar="FILE", help="results: .csv, .jsonl or .parquet")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="continue FILE, and keep its rows of the same version")
    begin.add_argument("--overwrite", action="store_true", help="replace FILE")
    parser.add_argument(
        "--jobs", type=typed(whole), metavar="N", help="the number of processes on this machine (default: one per core)"
    )
    parser.add_argument(
        "--scheduler",
        metavar="URL",
        help="use the workers of this dask cluster: tcp://HOST:PORT, or tls:// with what dask's settings name",
    )
    parser.add_argument(
        "--row-seconds",
        type=typed(seconds),
        default=DEFAULT_SECONDS,
        metavar="S",
        help="the most time for a row (default: 60; 0: no limit)",
    )
    parser.add_argument(
        "--worker-memory", metavar="N", help="the most memory that a process may take for sizing, such as 2GiB"
    )
    parser.add_argument(
        "--plot",
        type=svg_file,
        metavar="OUT.svg",
        help="also draw a picture with a dot for each model: its arena against --against",
    )
    parser.add_argument("--against", choices=sorted(AXES), default="model_bytes", help="for --plot")
    parser.add_argument("--diff", nargs=2, metavar=("BEFORE", "AFTER"), help="compare two result files instead")
    parser.add_argument(
        "--json", action="store_true", help="print the summary, or the difference, as one JSON document"
    )


def _cases(args: argparse.Namespace) -> list[Case]:
    """Return the targets and boards to size for; an invalid one is refused before the first row."""
    targets = args.targets.split(",") if args.targets else [] if args.boards else ["cortex-m4"]
    settings = given_settings(args)
    limit = as_limit(args.limit, "limit")
    over = cases(targets, args.boards.split(",") if args.boards else [], limit=limit, **settings)
    for case in over:
        case.configuration()
    return over


def run(args: argparse.Namespace) -> int:
    if args.diff:
        return _difference(args)
    if not args.models:
        raise UsageError("no models are given; name files, folders or patterns, or - for a list on stdin")
    if args.output is None and args.plot is None:
        raise UsageError("no output is given; add -o FILE (.csv, .jsonl or .parquet)")
    over = _cases(args)
    limits = Limits(args.row_seconds, parse_size(args.worker_memory) if args.worker_memory else 0)
    with ExitStack() as until_done:
        client = None if args.scheduler is None else until_done.enter_context(_client(args.scheduler))
        pool = make_pool(client, jobs=args.jobs, limits=limits)
        until_done.callback(pool.close)
        tally = Tally(args.models) if sys.stderr.isatty() else Tally(())
        until_done.callback(tally.close)
        return _sweep(args, over, pool, limits, tally)


@contextmanager
def _client(url: str) -> Iterator[Any]:
    """Connect to a scheduler while the block runs."""
    try:
        from distributed import Client
    except ImportError as missing:
        raise UsageError(f"--scheduler needs dask.distributed: {install_command('sweep')}") from missing
    with _silence():
        try:
            client = Client(url, timeout="10s")  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError) as failure:  # TypeError: tls:// without certificates
            raise UsageError(f"--scheduler {url}: {str(failure) or 'no answer'}") from failure
        try:
            yield client
        finally:
            client.close()  # type: ignore[no-untyped-call]


@contextmanager
def _silence() -> Iterator[None]:
    """Switch dask's logging off while the block runs: failures are reported as rows or as our own errors."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _DASK_LOGGERS]
    talking = [logger for name in names if not (logger := logging.getLogger(name)).disabled]
    for logger in talking:
        logger.disabled = True
    try:
        yield
    finally:
        for logger in talking:
            logger.disabled = False


def _sweep(args: argparse.Namespace, over: list[Case], pool: Any, limits: Limits, tally: Tally) -> int:
    kept: list[Row] = []
    with Results(args.output, over, resumes=args.resume, overwrites=args.overwrite) as results:
        try:
            found = tally.taking(items(_names(args.models)))
            fresh = run_batches(results.done.still_to_do(found), over, pool, limits)
            for rows in results.done.merged(fresh):
                results.write(rows)
                tally.count(rows)
                if args.plot is not None:
                    kept += rows
        except KeyboardInterrupt:
            tally.interrupted = True
    if args.plot is not None:
        with replacing(args.plot) as file:
            file.write(plot_svg(kept, against=args.against))
    tally.close()
    if args.json:
        say_json(tally.document())
    else:
        summary, *reasons = tally.lines()
        configurations = [case.configuration() for case in over]
        missing = _assumed(args, configurations)
        open_ones = [] if args.kernels else [each.target for each in configurations]
        say(
            sentence_with_assumed(summary, missing, open_ones),
            *reasons,
            targets_line(config.target for config in configurations),
        )
    if tally.interrupted:
        return INTERRUPTED
    return 3 if tally.read_none() else 0


def _assumed(args: argparse.Namespace, configurations: Sequence[Configuration]) -> list[str]:
    target = args.targets or args.boards
    versions = {"library": args.library, "runtime": args.runtime, "kernels": args.kernels}
    missing = {name for config in configurations for name in unnamed(config, target=target, **versions)}
    return [option for name, option in _OPTIONS.items() if name in missing]


def _names(models: Iterable[str]) -> Iterator[str]:
    for name in models:
        if name == "-":
            yield from (line.rstrip("\n") for line in sys.stdin if line.strip())
        else:
            yield name


def _files(models: Iterable[str]) -> int | None:
    """Return the number of files, whatever is in them; None for a list that is still being read."""
    if "-" in models:
        return None
    return sum(sum(1 for _ in folder_files(name)) if os.path.isdir(name) else len(matches(name)) for name in models)


class Tally:
    """Counts rows and shows how far the sweep is (mutable).

    Args:
        models: What is swept, to be shown on a terminal; nothing is shown without any.
    """

    def __init__(self, models: Sequence[str]) -> None:
        self.interrupted = False
        self._statuses: Counter[str] = Counter()
        self._failed: dict[tuple[str, str], Counter[str]] = {}
        self._models = self._taken = 0
        self._last = ""
        self._started = time.monotonic()
        self._files = _files(models) if models else None
        self._progress: Any = _progress() if models else None
        self._task = None if self._progress is None else self._progress.add_task("sizing", total=self._files)

    def taking(self, found: Iterable[Item]) -> Iterator[Item]:
        """Yield the models and count them; there can be more of them than files."""
        if self._progress is not None:
            self._progress.start()
        for item in found:
            self._taken += 1
            yield item

    def count(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self._statuses[row.status] += 1
            if row.status != "ok":
                why = row.error.removeprefix(f"{row.model}: ")  # The line of the reason names the models once.
                self._failed.setdefault((row.status, why), Counter())[row.model] += 1
            self._models += row.model != self._last
            self._last = row.model
        if self._progress is not None:
            rate = self._statuses.total() / max(1e-9, time.monotonic() - self._started)
            words = f"{self._models:,} models, {self._statuses.total():,} rows, {rate:,.0f} a second"
            total = None if self._files is None else max(self._files, self._taken)
            self._progress.update(self._task, description=words, completed=self._models, total=total)

    def close(self) -> None:
        """Remove the line from the terminal."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def read_none(self) -> bool:
        """Return whether there are rows, but none for a readable model."""
        return self._statuses.keys() == {"unreadable"}

    def document(self) -> SweepDocument:
        statuses = dict(sorted(self._statuses.items()))
        return SweepDocument(
            models=self._models, rows=self._statuses.total(), statuses=statuses, interrupted=self.interrupted
        )

    def lines(self) -> list[str]:
        """Return the summary in words, then a line for each reason why models have no figure."""
        seconds = time.monotonic() - self._started
        counts = ", ".join(f"{count:,} {status}" for status, count in self._statuses.most_common())
        rate = self._statuses.total() / max(seconds, 1e-9)
        ended = "interrupted: what is done is kept; --resume goes on. " if self.interrupted else ""
        size = f"{self._models:,} models, {self._statuses.total():,} rows"
        summary = f"{ended}{size} in {seconds:.1f} s ({rate:,.0f} a second): {counts or 'none'}"
        reasons = sorted(self._failed.items(), key=lambda reason: -reason[1].total())
        more = [f"{len(reasons) - MAX_REASONS:,} more reasons, in the column 'error'"][: len(reasons) > MAX_REASONS]
        return [summary, *(_reason(*reason) for reason in reasons[:MAX_REASONS]), *more]


def _reason(what: tuple[str, str], models: Counter[str]) -> str:
    """Return a line: the status, the models and how many of their rows have it, and why."""
    status, error = what
    names = ", ".join(list(models)[:MAX_NAMES])
    others = f" and {len(models) - MAX_NAMES:,} more models" if len(models) > MAX_NAMES else ""
    rows = f" ({models.total():,} rows)" if models.total() > len(models) else ""
    return f"{status}: {names}{others}{rows}" + (f": {error}" if error else "")


def _progress() -> Any:
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    except ImportError:
        return None
    words = TextColumn("{task.description}", markup=False)
    columns = (BarColumn(20), words, TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _difference(args: argparse.Namespace) -> int:
    rows = tuple(map(_change_row, changes(*map(_rows_of, args.diff))))
    worse = sum(row.worse for row in rows)
    if args.json:
        say_json(SweepDifference(worse=worse, changes=rows))
    else:
        table = table_lines([("model", "for", "before", "after", "change", ""), *map(_change_cells, rows)])
        say(*(table if rows else ()), f"{len(rows):,} changed, {worse:,} for the worse")
    return 1 if worse else 0


def _rows_of(name: str) -> list[Row]:
    rows = list(read_rows(Path(name)))
    if not rows:
        raise UsageError(f"{name} holds no rows of a sweep")
    return rows


def _change_row(change: RowChange) -> ChangeRow:
    row = change.after or change.before
    assert row is not None, "a change has a side"
    sides = _size(change.before), _size(change.after)
    return ChangeRow(row.model, row.target, row.board, *sides, change.bytes, change.verdict, change.is_worse)


def _size(row: Row | None) -> int | str:
    if row is None:
        return "-"
    return row.status if row.multiple_of_16 is None else row.multiple_of_16


def _change_cells(row: ChangeRow) -> tuple[str, ...]:
    before, after = (f"{size:,} B" if isinstance(size, int) else size for size in (row.before, row.after))
    grown = f"{row.bytes:+,} B" if row.bytes else ""
    return row.model, row.board or row.target, before, after, grown, row.verdict
