"""What every tool has in common: its docstring is its help, and its table is printed row by row while it works."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Recordings of other programs; beside the repository, where they are there."""


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of arguments whose help is a tool's docstring."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def recorded(path: Path) -> Path:
    """Return the path of recordings of other programs; where there is none, end with a sentence, exit code 3."""
    if not path.exists():
        name = f"../{path.relative_to(SHARED.parent)}" if path.is_relative_to(SHARED) else path
        print(f"this compares with recordings of other programs, which are not here: {name}", file=sys.stderr)
        sys.exit(3)
    return path


def git(repository: str | Path, *arguments: str) -> str:
    """Return what a git command prints in a clone; where it fails, end with git's own sentence, exit code 3."""
    command = ["git", "-C", str(repository), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode:
        print(f"{repository}: git {arguments[0]}: {run.stderr.strip()}", file=sys.stderr)
        sys.exit(3)
    return run.stdout


class Table:
    """A table on standard output: ``Table({"model": "<30", "bytes": ">10,"})`` prints its heading.

    A column has a format as ``format()`` takes it. Text is cut to the width of a column that is aligned to the left; a
    text in the column of a number is aligned as the number would be, and None is a dash.
    """

    def __init__(self, columns: dict[str, str]) -> None:
        self._formats = list(columns.values())
        self.row(*columns)

    def row(self, *cells: object) -> None:
        """Print a row at once."""
        texts = [_shown(cell, form) for cell, form in zip(cells, self._formats, strict=True)]
        line = texts[0]
        for text, form, before in zip(texts[1:], self._formats[1:], self._formats, strict=False):
            line += ("  " if form[0] == "<" and before[0] == ">" else " ") + text
        print(line.rstrip(), flush=True)


def _shown(cell: object, form: str) -> str:
    if cell is not None and not isinstance(cell, str):
        return format(cell, form)
    width = form[1:].split(".")[0].strip("+,%fd")
    text = "-" if cell is None else cell
    return format(text[: int(width)] if form[0] == "<" and width else text, form[0] + width)
