"""The terminal: the one way to print, its width, whether it shows colours, and a line that says how far the work is."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from tflm_sim.arena.events import Event, Observer, OpEvent
from tflm_sim.arena.stages import Stage
from tflm_sim.cli.streams import write
from tflm_sim.escape import json_text, one_line
from tflm_sim.model.types import Model
from tflm_sim.names import with_options
from tflm_sim.numbers import as_whole
from tflm_sim.report.tables import fitting_columns, table_lines

if TYPE_CHECKING:
    from typing import Any, Self, TextIO, TypeVar

    T = TypeVar("T")

COLOR_CHOICES = ("auto", "always", "never")
PROGRESS_DELAY_S = 1.0
_INTERVAL_S = 0.1


def say(*lines: str, file: TextIO | None = None, may_color: bool = False, wraps: bool = True) -> None:
    """Print lines; whatever a model, a path or a log has in them is shown as escapes, line ends too.

    Args:
        lines: Each is one line.
        file: Default: stdout.
        may_color: Keep colours; for lines whose names were made harmless before.
        wraps: Wrap lines that are too long for the terminal, and indent the rest.
    """
    out = sys.stdout if file is None else file
    if out is None:
        return
    wraps = wraps and not may_color
    for line in lines:
        shown = one_line(with_options(line), may_color=may_color)
        write(f"{_fitted(shown, out) if wraps else shown}\n", out)


def say_verdict(line: str) -> None:
    """Print a verdict; on a terminal its "yes" is green and its "no" red."""
    if sys.stdout is None:
        return
    shown = _fitted(one_line(with_options(line)), sys.stdout)
    if is_shown() and wants_color("auto", sys.stdout):
        shown = _VERDICT.sub(lambda found: f"\x1b[1;{_VERDICT_COLORS[found[0]]}m{found[0]}\x1b[0m", shown, count=1)
    sys.stdout.write(f"{shown}\n")


_VERDICT = re.compile(r"(?:^|(?<=: ))(?:yes|no)(?=[:,])")
_VERDICT_COLORS = {"yes": 32, "no": 31}
"""Colours of ANSI terminals: green, red."""


def _fitted(line: str, out: TextIO) -> str:
    """Return a line, on a terminal that is too narrow for it in several; a command at its end stays in one."""
    width = terminal_width()
    is_seen = is_shown() if out is sys.stdout else out.isatty()
    if not is_seen or len(line) <= width:
        return line
    text, command = found.groups() if (found := _COMMAND.fullmatch(line)) else (line, None)
    pieces = [_wrapped(text, width)] if text else []
    return "\n".join(pieces if command is None else [*pieces, f"  {command}"])


_COMMAND = re.compile(r"(?:(.*:)| *) ?(tflm-sim .*)")
"""A line that ends in a command: what stands before it, and the command."""


def _wrapped(line: str, width: int) -> str:
    """Break a line; where words stand in columns, the blanks between them stay."""
    margin = " " * (min(len(line) - len(line.lstrip()), width // 4) + 4)
    pieces = []
    while len(line) > width:
        cut = max(line.rfind(" ", len(margin) + 1, width + 1), 0) or width
        pieces.append(line[:cut].rstrip())
        line = margin + line[cut:].lstrip()
    return "\n".join([*pieces, line])


def say_json(document: Any, *, indent: int | None = 1, file: TextIO | None = None) -> None:
    """Print a document as JSON; without an indent as one line."""
    from tflm_sim.documents import as_json

    if (out := sys.stdout if file is None else file) is not None:
        print(json_text(as_json(document), indent=indent), file=out)


def show(document: T, lines: Callable[[T], Iterable[str]], *, as_json: bool) -> None:
    """Print a document: as JSON, or as the lines that ``lines`` makes of it."""
    if as_json:
        say_json(document)
    else:
        say(*lines(document))


def show_rows(
    rows: Sequence[T],
    header: Sequence[str],
    cells: Callable[[T], Sequence[str]],
    *notes: str,
    as_json: bool,
    order: Sequence[str] = (),
    is_long: bool = False,
    is_chosen: bool = False,
) -> int:
    """Print rows as JSON, or as a table with notes below it; return the exit code.

    Args:
        rows: The rows.
        header: The columns' titles.
        cells: A row's cells.
        notes: Lines below the table.
        as_json: Print JSON.
        order: The titles of the columns, the most important first: the last ones are left out of a narrow terminal.
            Columns that are not named are only in ``--long``. () for the order of the header.
        is_long: Show all columns, however wide.
        is_chosen: The rows were looked for; if there is only one, print a line for each column instead.
    """

    if as_json:
        say_json(rows)
        return 0
    if is_chosen and len(rows) == 1:
        width = max(map(len, header))
        say(*(f"{title:<{width}}  {cell}".rstrip() for title, cell in zip(header, cells(rows[0]), strict=True)))
        return 0
    table = [tuple(header), *(tuple(cells(row)) for row in rows)]
    shown, left = _chosen(table, order, is_long=is_long)
    say(*table_lines(shown), wraps=False)
    say(*notes, *([f"--long has also: {', '.join(left)}"] if left else []))
    return 0


def _chosen(table: list[tuple[str, ...]], order: Sequence[str], *, is_long: bool) -> tuple[list[list[str]], list[str]]:
    """Return the columns of a table that there is room for, and the titles of the others."""
    header = table[0]
    if is_long:
        return [list(row) for row in table], []
    columns = fitting_columns(table, [header.index(title) for title in order or header], width=fitting())
    left = [title for index, title in enumerate(header) if index not in columns]
    return [[row[index] for index in columns] for row in table], left


def say_document(text: str) -> None:
    """Print a whole document in UTF-8, whatever the terminal's encoding is; its writer has escaped its content."""
    if sys.stdout is None:
        return
    if reconfigure := getattr(sys.stdout, "reconfigure", None):
        reconfigure(encoding="utf-8")
    sys.stdout.write(text)


def terminal_width() -> int:
    """Return the width of the terminal (``COLUMNS`` wins); 80 where there is none."""
    asked = as_whole(os.environ.get("COLUMNS", ""))
    if asked is not None and asked > 0:
        return asked
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal; without a given width, argparse would import ``shutil`` to find it."""

    shows_all = False
    """Whether options that :func:`folded` marked are shown, too."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal_width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        """Wrap what is wider than the terminal: paragraphs, exit codes, and commands so that one can paste them."""
        lines: list[str] = []
        limit = terminal_width()
        for paragraph in text.split("\n\n"):
            rows = paragraph.splitlines()
            if any(len(row) > limit for row in rows) and not any(row.startswith(" ") for row in rows):
                rows = [" ".join(rows)]
            lines += [part for row in rows for part in (wrapped(row, limit) if len(row) > limit else [row])] + [""]
        return "\n".join(lines[:-1])

    def add_argument(self, action: argparse.Action) -> None:
        """Add an option, unless it is folded."""
        if self.shows_all or not is_folded(action):
            super().add_argument(action)

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        """Add the first lines: where not all is shown, only what has to be given; the options are listed below."""
        if not self.shows_all and prefix != "":  # That of a parser for what stands behind it is "".
            options = argparse.Action([], "options", nargs="?", metavar="options")
            actions, groups = [options, *(each for each in actions if each.required or not each.option_strings)], []
        super().add_usage(usage, actions, groups, prefix)


def wrapped(line: str, width: int) -> list[str]:
    """Return a line of a help in lines of a width, as far as its words allow it."""
    is_command = re.match(r"  (?:tflm-sim|find) ", line)
    start = re.match(r"  \d+ +| *", line)
    assert start is not None
    lines = [start[0]]
    for word in re.findall(
        r"""(?:--?[\w-]+ (?!-))?(?:"[^"]*"|'[^']*'|\S)+""" if is_command else r"\S+", line[len(start[0]) :]
    ):
        if len(lines[-1]) + len(word) + 2 * bool(is_command) > width and lines[-1].strip():
            lines[-1] += "\\" if is_command else ""
            lines.append(" " * (6 if is_command else len(start[0])))
        lines[-1] += f"{word} "
    return [each.rstrip() for each in lines]


class WholeHelpText(HelpText):
    """Help with all options."""

    shows_all = True


def folded(action: argparse.Action) -> argparse.Action:
    """Mark an option that few people need, so that ``--help`` leaves it to ``--help all``."""
    setattr(action, "is_folded", True)  # noqa: B010 - an attribute that argparse does not have
    return action


def is_folded(action: argparse.Action) -> bool:
    """Return whether an option is left to ``--help all``."""
    return getattr(action, "is_folded", False)


class Help(argparse.Action):
    """``--help``, and ``--help all``."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: object, option: str | None = None
    ) -> NoReturn:
        """Print the help and end."""
        if values == "all":
            parser.formatter_class = WholeHelpText
        parser.print_help()
        hidden = sum(map(is_folded, parser._actions))
        if hidden and values != "all":
            say("", f"{hidden} more options say what the firmware is: {parser.prog} --help all")
        parser.exit()


def fitting() -> int | None:
    """Return the columns to fit a table into; None where it goes to a file or a pipe, and ``COLUMNS`` does not say."""
    return terminal_width() if is_shown() or os.environ.get("COLUMNS") else None


def is_shown() -> bool:
    """Return whether stdout is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def wants_color(choice: str, file: TextIO) -> bool:
    """Return whether to write colours: as asked, else on a terminal unless ``NO_COLOR`` is set or it is dumb."""
    if choice != "auto":
        return choice == "always"
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class StatusLine:
    """A line on stderr that says how far long work is, rewritten ten times a second at most (mutable).

    Nothing is written where stderr is not a terminal; the line is wiped at the end of a ``with`` block.

    Args:
        what: What is being done.
        delay: Seconds before which nothing is shown; by default one.
        file: Default: stderr.
    """

    def __init__(self, what: str, *, delay: float | None = None, file: TextIO | None = None) -> None:
        self._what = what
        self._file = sys.stderr if file is None else file
        self.is_on = self._file is not None and self._file.isatty()
        self._next = time.monotonic() + (PROGRESS_DELAY_S if delay is None else delay)
        self._width = 0

    def show(self, state: str) -> None:
        """Rewrite the line, if it is time."""
        now = time.monotonic()
        if not self.is_on or now < self._next:
            return
        self._next = now + _INTERVAL_S
        text = one_line(f"{self._what}: {state}")
        self._file.write(f"\r{text.ljust(self._width)}")
        self._file.flush()
        self._width = len(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._width:
            self._file.write(f"\r{' ' * self._width}\r")
            self._file.flush()
            self._width = 0


class ProgressLine(StatusLine):
    """Says how far a simulation is (mutable); an observer of it.

    Args:
        what: What is being done.
        model: Whose operators are counted.
        runs: How often the model will be simulated.
        file: Default: stderr.
    """

    def __init__(self, what: str, model: Model, *, runs: int = 1, file: TextIO | None = None) -> None:
        super().__init__(what, file=file)
        self._total = 3 * runs * max(1, sum(len(subgraph.operators) for subgraph in model.subgraphs))
        self._done = 0

    @property
    def observers(self) -> tuple[Observer, ...]:
        """The observers of the simulation: this line, or none where nothing is written."""
        return (self,) if self.is_on else ()

    def __call__(self, event: Event) -> None:
        if isinstance(event, OpEvent) and event.stage is not Stage.OP_PREPARED:
            self._done += 1
            self.show(f"{min(100 * self._done // self._total, 99)} %")


@contextmanager
def elapsing(what: str) -> Iterator[None]:
    """Say how many seconds the block has taken, for work that tells nothing of itself, such as another process."""
    line = StatusLine(what)
    if not line.is_on:
        yield
        return
    import threading  # Only on a terminal.

    ends, start = threading.Event(), time.monotonic()

    def tick() -> None:
        while not ends.wait(_INTERVAL_S):
            line.show(f"{time.monotonic() - start:.0f} s")

    ticker = threading.Thread(target=tick, daemon=True)
    with line:
        ticker.start()
        try:
            yield
        finally:
            ends.set()
            ticker.join()
