"""``tflm-sim size --boards``, ``--targets``: one model on every board or target, as one table."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tflm_sim.answers.rows import Case, Row, cases, rows_of
from tflm_sim.checks.doubts import EXIT_CODES, answer_of, first_words
from tflm_sim.cli.options import refuse_besides
from tflm_sim.cli.terminal import fitting, say, say_json, say_verdict
from tflm_sim.errors import UsageError
from tflm_sim.report.board_rows import board_row, board_table
from tflm_sim.report.circumstances import sentence_with_assumed, targets_line
from tflm_sim.report.tables import fitting_columns, table_lines

SMALLEST = 5
BY_WEIGHT = (0, 2, 7, 4, 3, 1, 6, 5)
"""The columns of ``board_table`` by what matters most: board, arena, fits, RAM and its share, target, flash."""
OTHER_LIBRARIES = (
    "another library may need more: 'tflm-sim check MODEL --board NAME' says what each needs that people use there"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardsDocument:
    """One model on every board or target; ``smallest_boards`` are those that it may fit, the smallest first."""

    schema_version: Literal[1] = 1
    model: str
    smallest_boards: tuple[str, ...]
    rows: tuple[Row, ...]


def run(args: argparse.Namespace) -> int:
    """Print the table; the exit code is 1 where the model fits none of the boards, else 3.

    As ``check --board`` says: whether a bank that is large enough has that much free only the firmware knows.
    """
    refuse_besides(args, "targets" if args.targets else "boards", "models", "json")
    if len(args.models) > 1:
        raise UsageError("--boards and --targets are for one model")
    (model,) = args.models
    over = cases(args.targets.split(",")) if args.targets else cases((), args.boards.split(","))
    rows = list(rows_of(model, model, over))
    fits = sorted((row for row in rows if row.may_fit), key=_limit_and_name)
    if args.json:
        smallest = tuple(row.board for row in fits[:SMALLEST])
        say_json(BoardsDocument(model=model, smallest_boards=smallest, rows=tuple(rows)))
    else:
        _say(args, rows, fits, over)
    if any(row.status == "unreadable" for row in rows):
        return 3
    return EXIT_CODES[answer_of(None if fits else False)] if args.targets is None else 0


def _limit_and_name(row: Row) -> tuple[int, str]:
    return row.limit or 0, row.board


def _say(args: argparse.Namespace, rows: list[Row], fits: list[Row], over: Sequence[Case]) -> None:
    """Print the verdict, the TFLM and the kernels, a line for each board or target, and the reasons."""
    if all(row.status == "unreadable" for row in rows):
        say(rows[0].error)
        return
    targets = [case.configuration().target for case in over]
    if not args.targets:
        say_verdict(sentence_with_assumed(_verdict(rows, fits), (), targets))
    say(targets_line(targets), OTHER_LIBRARIES)
    of_targets = [("target", "kernels", "arena"), *((row.target, row.kernels, _arena(row)) for row in rows)]
    table = of_targets if args.targets else board_table(map(board_row, rows))
    columns = fitting_columns(table, range(3) if args.targets else BY_WEIGHT, width=fitting())
    say(*table_lines([[row[index] for index in columns] for row in table]), wraps=False)
    say(*_reasons(rows))


def _verdict(rows: Sequence[Row], fits: Sequence[Row]) -> str:
    if not fits:
        return f"no, with the newest TFLM: it fits none of {len(rows)} boards"
    smallest = ", ".join(row.board for row in fits[:SMALLEST])
    return (
        f"{first_words(None)}: with the newest TFLM it fits {len(fits)} of {len(rows)} boards if that much of their "
        f"RAM is free, which only your firmware knows; the smallest: {smallest}"
    )


def _reasons(rows: Iterable[Row]) -> Iterator[str]:
    who: dict[str, list[str]] = {}
    for row in rows:
        if row.error:
            who.setdefault(row.error, []).append(row.board or row.target)
    return (f"{', '.join(names)}: {error}" for error, names in who.items())


def _arena(row: Row) -> str:
    return row.status if row.multiple_of_16 is None else f"{row.multiple_of_16:,} B"
