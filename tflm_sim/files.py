"""Files, written whole or not at all, and read only as far as they can be what they are said to be.

What is written goes to a temporary file beside the target, with a name that nobody can foresee, and takes the target's
name when every byte is on the disk: a full disk, a crash or Ctrl-C leaves the old file. Pipes and devices are written
directly.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import math
import os
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.limits import MAX_DOCUMENT_BYTES

if TYPE_CHECKING:
    from typing import Any, BinaryIO, TextIO


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    """Open a UTF-8 text file to be written; the file of that name is replaced at the end, and kept on any error.

    Raises:
        UsageError: It cannot be written; one sentence.
    """
    with replacing_bytes(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="\n")
        yield text
        text.flush()
        text.detach()


@contextlib.contextmanager
def replacing_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a binary file to be written; like :func:`replacing`."""
    try:
        with _device(path) if _is_device(path) else _temporary(os.path.realpath(path)) as file:
            yield file
    except OSError as error:
        raise _unwritable(path, error) from error
    except ValueError as error:
        if "null" not in str(error):
            raise
        raise UsageError(f"{path} cannot be written: a name has no null character") from error


def walk(folder: str | os.PathLike[str]) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield what ``os.walk`` does, from the top, however deep: that one calls itself before Python 3.12."""
    left = [os.fspath(folder)]
    while left:
        path = left.pop()
        for found in itertools.islice(os.walk(path), 1):
            yield found
            below = (os.path.join(path, name) for name in reversed(found[1]))
            left += [name for name in below if not os.path.islink(name)]


def inside(folder: str | os.PathLike[str], name: str, *, may_link: bool = False, pattern: str = "") -> str:
    """Return the path of a file that a document in ``folder`` names, which is there or in a folder below.

    Somebody else may have written the document. What it names elsewhere is neither read nor written, nor is it told
    what is there. This is the only way from a document's text to a path: tests/test_gates.py finds any other.

    Args:
        folder: The document's folder.
        name: A name, or a pattern, with "/" between folders.
        may_link: Whether links may lead elsewhere, as ``bazel-bin`` does: the file is only read, and who wrote the
            document has to know its name.
        pattern: The document's pattern that the name was found with, for the message.

    Raises:
        UsageError: It is elsewhere, or no name.
    """
    parts = name.replace("\\", "/").split("/")
    path = os.path.normpath(os.path.join(folder, name))
    is_below = parts[0] and ".." not in parts and "\0" not in name and not os.path.splitdrive(name)[0]
    if is_below and not may_link:
        root = os.path.realpath(folder)
        is_below = os.path.commonpath((os.path.realpath(path), root)) == root
    if not is_below:
        raise UsageError(f"'{pattern or name}' is not in the folder of the file that names it")
    return path


def append(path: str | os.PathLike[str], text: str) -> None:
    """Append ``text`` to a file, or nothing of it.

    Raises:
        UsageError: It cannot be written; one sentence.
    """
    try:
        with open(path, "ab", buffering=0) as file:
            size = None if _is_device(path) else file.seek(0, os.SEEK_END)
            data = text.encode("utf-8", "backslashreplace")
            try:
                while data:
                    data = data[file.write(data) :]
            except OSError:
                if size is not None:
                    file.truncate(size)
                raise
    except OSError as error:
        raise _unwritable(path, error) from error
    except ValueError as error:
        raise UsageError(f"{path} cannot be written: a name has no null character") from error


FIRST_READ_BYTES = 4096
"""Bytes of a file from which :func:`read` lets its caller decide how much more is read."""

MIN_READ_BYTES = 1 << 20
"""The least number of bytes that it asks for at a time, where a file does not say how long it is."""


PIPE_SECONDS = 10.0
"""How long :func:`opened` waits until something is written to a named pipe."""


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be read; "-" is standard input.

    Somebody must write to a pipe that has a name in a folder (a FIFO) within ``PIPE_SECONDS``. Standard input and
    pipes of the shell (``/dev/fd/63``) are waited for as long as their writer takes.

    Raises:
        OSError: It cannot be opened, or nothing came.
        ValueError: The name has a null character.
    """
    if path == "-":
        yield open(0, "rb", closefd=False)  # noqa: SIM115
        return
    with open(path, "rb", opener=_without_waiting) as file:
        if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
            _wait_for_pipe(file, None if os.fspath(path).startswith(("/dev/", "/proc/")) else PIPE_SECONDS)
        yield file


def _without_waiting(path: str, flags: int) -> int:
    """Open a file, or a pipe before anybody writes to it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _wait_for_pipe(file: BinaryIO, seconds: float | None) -> None:
    import select

    if not select.select([file], [], [], seconds)[0]:
        raise TimeoutError(f"it is a pipe, and nothing was written to it for {PIPE_SECONDS:g} seconds")
    os.set_blocking(file.fileno(), True)


def read(
    path: str | os.PathLike[str], *, most: int | Callable[[bytes], int], error: type[TflmSimError] = UsageError
) -> bytes:
    """Return the bytes of a file.

    Args:
        path: The file; a device or a pipe is read too; "-" is standard input.
        most: The limit in bytes: a longer file is refused before it is read. Or a function that returns the limit,
            given the file's first ``FIRST_READ_BYTES`` bytes; it may raise.
        error: The class of error that is raised when the file cannot be read or is longer.
    """
    try:
        with opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(FIRST_READ_BYTES)
            most = most if isinstance(most, int) else most(data)
            if size > most:
                raise error(f"{path} cannot be read: it has more than {most:,} bytes")
            pieces, count = [data], len(data)
            while (
                pieces[-1] and FIRST_READ_BYTES <= count <= most
            ):  # in pieces: Python takes the room for all that is asked for
                pieces.append(file.read(max(size, MIN_READ_BYTES)))
                count += len(pieces[-1])
    except OSError as reason:
        raise error(f"{path} cannot be read: {reason.strerror or reason}") from None
    except ValueError:
        raise error(f"{path} cannot be read: a name has no null character") from None
    if count > most:
        raise error(f"{path} cannot be read: it has more than {most:,} bytes")
    return b"".join(pieces)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the value of a JSON file; UsageError where it cannot be read; otherwise like :func:`parse_json`."""
    return parse_json(read(path, most=MAX_DOCUMENT_BYTES), path=str(path))


def parse_json(data: bytes | str, *, path: str, error: type[TflmSimError] = UsageError) -> Any:
    """Return the value of JSON in UTF-8, with or without a byte order mark.

    Raises:
        TflmSimError: ``error``: it is not JSON, or has what JSON does not have (NaN, infinity, 1e999); one sentence.
    """
    import json  # Slow to import.

    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        return json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError) as reason:
        raise error(f"{path} cannot be read as JSON: {parse_problem(reason)}") from None


def parse_problem(error: Exception) -> str:
    """Return why a text was not parsed: in our words where Python's are for its programmers."""
    if isinstance(error, RecursionError):
        return "its values are nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"it is no text in UTF-8 (at byte {error.start})"
    return "a number has too many digits" if "integer string conversion" in str(error) else str(error)


def _finite(text: str) -> float:
    if math.isfinite(number := float(text)):
        return number
    raise ValueError(f"{text} is not a finite number")


@contextlib.contextmanager
def _temporary(path: str) -> Iterator[BinaryIO]:
    folder, name = os.path.split(path)
    name = os.path.join(folder, f".{name[:64]}.{os.urandom(8).hex()}.tmp")
    mode = _mode(path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(name, flags, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def _device(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    with open(path, "wb") as file:
        yield file


def _is_device(path: str | os.PathLike[str]) -> bool:
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def _mode(path: str) -> int | None:
    """Return the permissions of the file that is replaced; None where there is none."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None


def _unwritable(path: str | os.PathLike[str], error: OSError) -> UsageError:
    return UsageError(f"{path} cannot be written: {error.strerror or error}")
