"""Files of rows, .jsonl, .csv or .parquet by the name's ending. What was written is read back the same."""

from __future__ import annotations

import csv
import io
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from tflm_sim.answers.rows import COLUMNS, STATUSES, Row, as_dict
from tflm_sim.documents import MAX_INTEGER
from tflm_sim.errors import UsageError
from tflm_sim.escape import csv_cell, csv_text, json_text
from tflm_sim.extras import install_command
from tflm_sim.files import opened, parse_json
from tflm_sim.limits import MAX_ROW_BYTES

ROW_GROUP = 10_000
"""Rows of a Parquet file that are kept in memory at the most."""


class Writer(Protocol):
    """Writes rows to a file that is open."""

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows; what is written stays when the process is killed (Parquet: what is closed)."""

    def close(self) -> None:
        """Write what is left and close the file."""


class _Jsonl:
    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, rows: Sequence[Row]) -> None:
        self._file.writelines(f"{json_text(as_dict(row), indent=None)}\n" for row in rows)
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _encodable(text: str) -> str:
    """Return a text with the bytes of a name that are not UTF-8 as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


class _Csv:
    def __init__(self, path: Path) -> None:
        self._file: TextIO = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, list(COLUMNS), lineterminator="\n")
        self._writer.writeheader()

    def write(self, rows: Sequence[Row]) -> None:
        self._writer.writerows(
            {name: csv_cell(value) if isinstance(value, str) else value for name, value in as_dict(row).items()}
            for row in rows
        )
        self._file.flush()

    def close(self) -> None:
        self._file.close()


class _Parquet:
    def __init__(self, path: Path) -> None:
        pyarrow, parquet = _pyarrow()
        types = {"str": pyarrow.string(), "int | None": pyarrow.int64(), "bool | None": pyarrow.bool_()}
        self._schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
        self._table = pyarrow.Table.from_pylist
        self._writer = parquet.ParquetWriter(str(path), self._schema)
        self._rows: list[Row] = []

    def write(self, rows: Sequence[Row]) -> None:
        self._rows += rows
        while len(self._rows) >= ROW_GROUP:
            self._write_group(ROW_GROUP)

    def _write_group(self, count: int) -> None:
        group, self._rows = self._rows[:count], self._rows[count:]
        rows = [
            {name: _encodable(value) if isinstance(value, str) else value for name, value in as_dict(row).items()}
            for row in group
        ]
        self._writer.write_table(self._table(rows, schema=self._schema))

    def close(self) -> None:
        if self._rows:
            self._write_group(len(self._rows))
        self._writer.close()


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as missing:
        raise UsageError(f"Parquet needs pyarrow: {install_command('sweep')}; .csv and .jsonl do not") from missing
    return pyarrow, parquet


_WRITERS: dict[str, Callable[[Path], Writer]] = {".jsonl": _Jsonl, ".csv": _Csv, ".parquet": _Parquet}


def open_writer(path: Path, form: str = "") -> Writer:
    """Open a file for rows.

    Args:
        path: Its name.
        form: ".jsonl", ".csv" or ".parquet"; by default the name's ending.

    Raises:
        UsageError: Another ending, or the file cannot be written.
    """
    try:
        return _WRITERS[form or form_of(path)](path)
    except OSError as failure:
        raise UsageError(f"{path} cannot be written: {failure.strerror or failure}") from failure


def form_of(path: Path) -> str:
    """Return the ending of a file's name that says how rows are written to it.

    Raises:
        UsageError: Another ending, or Parquet without pyarrow.
    """
    if path.suffix not in _WRITERS:
        raise UsageError(f"{path}: the name must end in {', '.join(_WRITERS)}")
    if path.suffix == ".parquet":
        _pyarrow()
    return path.suffix


def read_rows(path: Path, form: str = "") -> Iterator[Row]:
    """Yield the rows of a file; a last line that was cut off is left out.

    Args:
        path: Its name.
        form: As :func:`open_writer` takes it.

    Raises:
        UsageError: It cannot be read, or holds no rows of ours.
    """
    try:
        yield from (_row(fields, path) for fields in _READERS[form or form_of(path)](path))
    except (OSError, ValueError, TypeError, LookupError, NotImplementedError, csv.Error) as failure:
        raise UsageError(f"{path} holds no results of a sweep: {failure}") from failure


def _read_jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    with opened(path) as file:
        for number, line in enumerate(_lines(io.TextIOWrapper(file, encoding="utf-8")), 1):
            if line.endswith("\n"):
                yield parse_json(line, path=f"{path}, line {number},")
            else:
                _check_beginning(line, '{"model":')


def _check_beginning(text: str, ours: str) -> None:
    """Raise ValueError where a line that was cut off is none that a sweep began."""
    if not text.startswith(ours[: len(text)]):
        raise ValueError(f"its last line is {reprlib.repr(text)}")


def _lines(file: TextIO) -> Iterator[str]:
    while line := file.readline(MAX_ROW_BYTES):
        if len(line) == MAX_ROW_BYTES:
            raise ValueError(f"a line has {MAX_ROW_BYTES:,} characters or more")
        yield line


def _read_csv(path: Path) -> Iterator[Mapping[str, Any]]:
    with opened(path) as file:
        lines = _lines(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        heading = next(lines, "")
        if not heading.endswith("\n"):
            return _check_beginning(heading, ",".join(COLUMNS))
        names = next(csv.reader([heading]))
        if set(names) != COLUMNS.keys():
            raise UsageError(f"{path} has other columns than a sweep of this version writes")
        whole = (line for line in lines if line.endswith("\n"))
        for fields in csv.DictReader(whole, names):
            if None in fields:
                raise ValueError("a line has more cells than there are columns")
            if None not in fields.values():
                yield {name: _cell(name, text) for name, text in fields.items()}


def _cell(name: str, text: str) -> Any:
    kind = COLUMNS.get(name, "str")
    if kind == "str":
        return csv_text(text)
    if text == "":
        return None
    try:
        return {"True": True, "False": False}[text] if kind == "bool | None" else int(text)
    except (LookupError, ValueError):
        raise ValueError(f"{name} is {reprlib.repr(text)}") from None


def _read_parquet(path: Path) -> Iterable[Mapping[str, Any]]:
    with opened(path) as file:
        rows: list[Mapping[str, Any]] = _pyarrow()[1].read_table(file).to_pylist()
    return rows


_READERS: dict[str, Callable[[Path], Iterable[Mapping[str, Any]]]] = {
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}


def _row(fields: Mapping[str, Any], path: Path) -> Row:
    if not isinstance(fields, Mapping) or fields.keys() != COLUMNS.keys():
        raise UsageError(f"{path} has other columns than a sweep of this version writes")
    for name, value in fields.items():
        if not _IS_VALID[COLUMNS[name]](value):
            raise ValueError(f"{name} is {reprlib.repr(value)}")
    if fields["status"] not in STATUSES:
        raise ValueError(f"there is no status {reprlib.repr(fields['status'])}")
    return Row(**fields)


_IS_VALID: dict[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "int | None": lambda value: value is None or (type(value) is int and abs(value) <= MAX_INTEGER),
    "bool | None": lambda value: value is None or isinstance(value, bool),
}
"""Whether a value is one of a column."""
