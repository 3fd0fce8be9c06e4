"""The file of a sweep's rows, new or continued. The rows that are done are kept, however the run ends.

-o r.csv, r.jsonl              rows are written to it as they come
the same with --resume         ... to .r.csv.part, which takes its place in the end
-o r.parquet                   ... to .r.parquet.part as .jsonl, and as Parquet in the end
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tflm_sim.answers.rows import Case, Row
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.resume import EarlierRows
from tflm_sim.extensions.sweep.tables import Writer, form_of, open_writer, read_rows
from tflm_sim.extras import install_command


class Results:
    """The rows of a sweep on their way to a file (mutable); a context.

    Args:
        name: The file; None for none.
        over: What each model is sized for.
        resumes: Continue the file, or the ``.part`` file that a killed run left.
        overwrites: Start it again from nothing.

    Raises:
        UsageError: The file exists and nobody said which; another sweep writes it; or it cannot be read or written.
    """

    def __init__(self, name: str | None, over: Sequence[Case], *, resumes: bool, overwrites: bool) -> None:
        self._path = None if name is None else Path(name)
        self._writer: Writer | None = None
        self._written: list[Row] = []
        self._resumes = resumes
        if self._path is None:
            self.done = EarlierRows((), over)
            return
        with ExitStack() as until_open:
            until_open.enter_context(_locked(self._path))
            self._open(self._path, over, overwrites=overwrites)
            self._lock = until_open.pop_all()

    def _open(self, path: Path, over: Sequence[Case], *, overwrites: bool) -> None:
        self._part = path.with_name(f".{path.name}.part")
        self._form = form_of(path)
        if self._form == ".parquet":  # one that is not closed cannot be read
            self._form = ".jsonl"
        exists = path.is_file() or self._part.is_file()
        if exists and not (self._resumes or overwrites):
            raise UsageError(f"{path} exists: add --resume to continue it, or --overwrite to replace it")
        self.done = EarlierRows(self._earlier() if self._resumes else (), over)
        self._part.unlink(missing_ok=True)
        self._is_beside = self._resumes or self._form != path.suffix
        self._writer = open_writer(self._part if self._is_beside else path, self._form)

    def _earlier(self) -> Iterable[Row]:
        """Return the rows of earlier runs, all of them in the file, so that being killed once more loses none."""
        assert self._path is not None, "there is a file to resume"
        rows = list(read_rows(self._path)) if self._path.is_file() else []
        if self._part.is_file():
            rows += read_rows(self._part, self._form)
            self._replace([rows])
        return rows

    def _replace(self, groups: Iterable[Sequence[Row]]) -> None:
        """Write rows to the file, which is the old one until they are all there."""
        assert self._path is not None, "there is a file to write"
        fresh = self._path.with_name(f".{self._path.name}.new")
        writer = open_writer(fresh, self._path.suffix)
        for rows in groups:
            writer.write(rows)
        writer.close()
        fresh.replace(self._path)

    def __enter__(self) -> Results:
        return self

    def write(self, rows: list[Row]) -> None:
        if self._writer is not None:
            self._writer.write(rows)
        if self._resumes:
            self._written += rows

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with self._lock:
                self._close(self._writer)

    def _close(self, writer: Writer) -> None:
        path = self._path
        assert path is not None, "there is a file to close"
        if self._resumes:
            writer.write(self.done.left(self._written))
        writer.close()
        if self._form != path.suffix:
            self._replace([row] for row in read_rows(self._part, self._form))
            self._part.unlink()
        elif self._is_beside:
            self._part.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file, whatever name it goes by, while the block runs; it ends with its process.

    Raises:
        UsageError: Another sweep holds it, there can be none in that folder, or filelock is not installed.
    """
    try:
        from filelock import FileLock, Timeout
    except ImportError as missing:
        raise UsageError(f"{path} is locked with filelock: {install_command('sweep')}") from missing
    real = Path(os.path.realpath(path))
    name = real.with_name(f".{real.name}.lock")
    try:
        os.stat(real.parent)  # filelock would make the folder
        lock = FileLock(name, timeout=0).acquire()
    except Timeout:
        raise UsageError(f"{path} is being written by another sweep") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be locked with {name.name}: {error.strerror or error}") from None
    with lock:
        try:
            yield
        finally:
            if os.name != "nt":  # There a file that is open cannot be deleted; an unlocked one does no harm.
                name.unlink(missing_ok=True)
