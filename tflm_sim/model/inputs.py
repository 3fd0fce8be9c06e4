"""The models in a file that a user gives: a .tflite file, C arrays in a source file, an archive of either.

    unpack("model.tflite", data)   the file itself
    unpack("model_data.cc", data)  every array whose bytes are a model, as "model_data.cc:g_model"
    unpack("export.zip", data)     every such file of the archive, as "export.zip:tflite-model/a.cpp:a"

Nothing is executed, and nothing is downloaded unless the user allows it (``model/download.py``). Any other file gives a
:class:`ModelError` that says what the file looks like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import NamedTuple

from tflm_sim.errors import ModelError, NoModelError, UsageError
from tflm_sim.files import read, walk
from tflm_sim.limits import MAX_ARCHIVE_BYTES, MAX_FOLDER_ENTRIES, MAX_MODEL_BYTES, MAX_SOURCE_BYTES
from tflm_sim.model import archives
from tflm_sim.model.download import download, is_address
from tflm_sim.model.schema import FILE_IDENTIFIER
from tflm_sim.registry import sources

C_SUFFIXES = frozenset({".h", ".hh", ".hpp", ".c", ".cc", ".cpp", ".cxx", ".ino", ".inc"})
MODEL_SUFFIXES = C_SUFFIXES | {".tflite", ".lite", ".tfl", ".zip"}
"""What a folder is searched for."""

_SEVERAL = C_SUFFIXES | {".zip"}

MAX_PATH_CHARACTERS = 4096
"""Characters: PATH_MAX; no file has a longer name, nor is an address of one looked for behind them."""


class Input(NamedTuple):
    """A model that was found: its label, and its bytes."""

    label: str
    data: bytes


# The first bytes of files that people take for a .tflite model, and what they are.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file: Keras (.h5, .keras) models must be converted with the LiteRT converter"),
    (b"version https://git-lfs", "a Git LFS pointer: run 'git lfs pull' to get the file itself"),
    (b"\x1f\x8b", "a gzip file: unpack it first"),
    (b"BZh", "a bzip2 file: unpack it first"),
    (b"\xfd7zXZ\x00", "an xz file: unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it first"),
    (b"\x7fELF", "an ELF file: 'tflm-sim firmware' reads the models in firmware"),
    (b"\x93NUMPY", "a NumPy array, not a model"),
    (b"\x80\x02", "a Python pickle: PyTorch models must be converted first"),
    (b"%PDF", "a PDF document"),
    (b"\xff\xfe", "a text in UTF-16, as PowerShell's > writes it: save it as UTF-8"),
    (b"\xfe\xff", "a text in UTF-16: save it as UTF-8"),
    (b"TFL3", "a .tflite file whose first four bytes are missing"),
)
_SAVED_MODEL = "a TensorFlow SavedModel: it must be converted with the LiteRT converter"
_HTML = rb"(?i)\s*<(?:!doctype|html|\?xml)"
_ONNX = rb"(?s)\x08[\x01-\x10]\x12.{0,40}?(?:pytorch|onnx|tf2onnx|keras2onnx)"


def is_model(data: bytes | memoryview) -> bool:
    """Return whether bytes begin as a .tflite file does."""
    return bytes(data[4:8]) == FILE_IDENTIFIER


def unpack(name: str, data: bytes) -> Iterator[Input]:
    """Yield the models in a file; archives are looked into, but not archives in archives.

    Args:
        name: The file's name, for labels; the format is detected from the bytes.
        data: The whole file.

    Raises:
        ModelError: There is no model in it.
    """
    if is_model(data):
        yield Input(name, data)
        return
    try:
        found = list(_of_archive(name, data) if _is_archive(data) else _of_source(name, data))
    except ModelError as problem:
        problem.path = problem.path or name
        raise
    if not found:
        raise NoModelError(f"this is not a .tflite model; it looks like {appearance(name, data)}", path=name, data=data)
    yield from found


def appearance(name: str, data: bytes) -> str:
    """Return in words what kind of file it seems to be, for a file without a model."""
    if not data:
        return "an empty file"
    known = next((words for start, words in _SIGNATURES if data.startswith(start)), None)
    if known is not None:
        return known
    if _is_archive(data):
        return _archive_appearance(data)
    return _model_of_another_kind(name, data) or _appearance_by_content(name, data)


def _model_of_another_kind(name: str, data: bytes) -> str:
    """Return in words which other format of models it is, or that it is a web page; "" for any other file."""
    if re.match(_HTML, data[:200]):
        return "a web page: the download gave a page instead of the file"
    if re.match(_ONNX, data[:200]) or name.lower().endswith(".onnx"):
        return "an ONNX model: it must be converted first"
    if data[:1] == b"\x08" and os.path.basename(name) == "saved_model.pb":
        return _SAVED_MODEL
    return ""


def _appearance_by_content(name: str, data: bytes) -> str:
    if (words := _of_an_extension([data])) is not None:
        return words
    if _suffix(name) in C_SUFFIXES:
        return "a source file without an array that is a model (its bytes 4 to 7 would be 'TFL3')"
    if data[4:7] == b"TFL":
        return "a .tflite file of another version than 3"
    return "a text file" if _is_text(data[:1000]) else "a file of another kind (bytes 4 to 7 would be 'TFL3')"


def _of_an_extension(files: Iterable[bytes]) -> str | None:
    """Return in words what kind of file one of these is, where an extension knows the kind."""
    return next((kind.WORDS for data in files for kind in sources() if kind.recognises(data)), None)


def _is_archive(data: bytes) -> bool:
    return data[:4] == archives.SIGNATURE


def _is_text(data: bytes) -> bool:
    return not re.search(rb"[\x00-\x08\x0e-\x1f]", data)


def _of_source(name: str, data: bytes) -> Iterator[Input]:
    if b"{" not in data or not _is_text(data[:1000]):
        return
    if len(data) > MAX_SOURCE_BYTES:
        raise ModelError(f"a source file of {len(data):,} bytes; at most {MAX_SOURCE_BYTES:,} are read")
    from tflm_sim.model.c_source import byte_arrays

    for array in byte_arrays(data, is_model):
        yield Input(f"{name}:{array.name}", array.data)


def _of_archive(name: str, data: bytes) -> Iterator[Input]:
    for member, inside in archives.members(data, MODEL_SUFFIXES - {".zip"}):
        label = f"{name}:{member}"
        if is_model(inside):
            yield Input(label, inside)
        else:
            yield from _of_source(label, inside)


def _archive_appearance(data: bytes) -> str:
    try:
        names = archives.names(data)
    except ModelError:
        return "a damaged zip archive"
    if "metadata.json" in names and any(name.endswith(".weights.h5") for name in names):
        return "a Keras model (.keras): it must be converted with the LiteRT converter"
    if any(name.endswith("data.pkl") for name in names):
        return "a PyTorch model: it must be converted first"
    with suppress(ModelError):
        if (words := _of_an_extension(inside for _, inside in archives.members(data, C_SUFFIXES))) is not None:
            return words
    return "a zip archive without a .tflite file or a C array that is a model"


def read_inputs(name: str) -> list[Input]:
    """Return the models in a file.

    Args:
        name: A file; "-" for standard input; ``sample:NAME`` for a model of the package; an http(s) address, where
            downloads are allowed; ``FILE:LABEL`` or ``ADDRESS:LABEL`` for one of several models in a file, with the
            labels of :func:`unpack`.

    Raises:
        ModelError: The file cannot be read, or there is no (such) model in it.
        UsageError: There is no such sample, or downloads are not allowed.
    """
    if name.startswith("sample:"):
        from tflm_sim.samples import sample_path

        path = sample_path(name.removeprefix("sample:"))
        return [Input(str(path), path.read_bytes())]
    path_name = _address_part(name) if is_address(name) else _file_part(name)
    data = _bytes_of(path_name)
    found = list(unpack(path_name, data))
    chosen = [row for row in found if name in (path_name, row.label)]
    if not chosen:
        raise NoModelError(f"it contains no such model; it contains {_listed(found)}", path=name, data=data)
    return chosen


def read_input(name: str) -> Input:
    """Return the one model that :func:`read_inputs` finds.

    Raises:
        ModelError: As for :func:`read_inputs`, or the file holds several models.
        UsageError: There is no such sample.
    """
    found = read_inputs(name)
    if len(found) > 1:
        raise ModelError(f"it contains {len(found)} models; name one of {_listed(found)}", path=name)
    return found[0]


def read_source(name: str, recognises: Callable[[bytes], bool], what: str, file: bytes | None = None) -> Input:
    """Return the file of another kind than a model that a file is, or that an archive holds.

    Args:
        name: A file; "-" for standard input; an http(s) address, where downloads are allowed; ``FILE:LABEL`` for one of
            several.
        recognises: Tells whether bytes are of that kind.
        what: The kind in words, after "source of": "the EON compiler".
        file: What is in the file, where it was read before.

    Raises:
        NoModelError: There is no (such) file of that kind in it.
        ModelError: The file cannot be read, or there are several in it.
    """
    path = _address_part(name) if is_address(name) else _file_part(name)
    data = _bytes_of(path) if file is None else file
    files = archives.members(data, C_SUFFIXES) if _is_archive(data) else [("", data)]
    rows = [Input(f"{path}:{member}" if member else path, inside) for member, inside in files if recognises(inside)]
    found = [row for row in rows if name in (path, row.label)]
    if not found:
        raise NoModelError(f"there is no source of {what} in it", path=name)
    if len(found) > 1:
        raise ModelError(f"it contains {len(found)} sources of {what}; name one of {_listed(found)}", path=name)
    return found[0]


def expand(names: Iterable[str]) -> Iterator[str]:
    """Yield a name for each model: folders and patterns become files, files of several models their labels.

    The name of a file that cannot be read is yielded too, so that reading it gives the error. C sources without a model
    that were found in a folder are skipped, since most files of an exported project are such.
    """
    return (name for name, _ in expand_inputs(names, most=MAX_FOLDER_ENTRIES))


def expand_inputs(
    names: Iterable[str],
    read_members: Callable[[str, bool], list[tuple[str, bytes | None]]] | None = None,
    *,
    most: int | None = None,
) -> Iterator[tuple[str, bytes | None]]:
    """Yield the names of :func:`expand`, each with the bytes of a model that was read with others from one file.

    Args:
        names: Files, folders, patterns.
        read_members: What is called instead of :func:`members`.
        most: How many files and folders a folder may have; None for any number.
    """
    read_members = read_members or members
    for name in names:
        is_folder = os.path.isdir(name)
        paths = _found(name, most) if is_folder else matches(name)
        found = chain.from_iterable(read_members(path, is_folder) for path in paths)
        yield next(found, (name, None))
        yield from found


def matches(name: str) -> list[str]:
    """Return the files that match a pattern, sorted; the name itself where it is no pattern or nothing matches."""
    is_pattern = any(sign in name for sign in "*?[") and not os.path.exists(name)
    if not is_pattern or len(name) > MAX_PATH_CHARACTERS:  # glob's time is quadratic in it.
        return [name]
    from glob import glob  # Slow to import.

    return sorted(filter(_may_be_read, glob(name, recursive=True))) or [name]


def _may_be_read(name: str) -> bool:
    """Return whether a file found in a folder is read: a pipe is not, because reading it would wait."""
    return os.path.isfile(name) or os.path.isdir(name)


def members(path: str, was_found: bool) -> list[tuple[str, bytes | None]]:
    """Return the models of a file: the file itself, not read yet; or several, each with its bytes; or none.

    Args:
        path: A file, or an address.
        was_found: Whether it was found in a folder, where most sources hold no model.
    """
    try:
        found = list(unpack(path, _bytes_of(path))) if may_hold_several(path) else []
    except NoModelError:
        return [] if was_found and _suffix(path) in C_SUFFIXES else [(path, None)]
    except (ModelError, UsageError):
        found = []
    return [(label, data) for label, data in found] if len(found) > 1 else [(path, None)]


def _bytes_of(name: str) -> bytes:
    return download(name) if is_address(name) else _read(name)


def _file_part(name: str) -> str:
    """Return the file of ``FILE:LABEL``, which may have colons itself."""
    ends = [
        len(name),
        *(end for end in range(min(len(name), MAX_PATH_CHARACTERS), 0, -1) if name[end : end + 1] == ":"),
    ]
    return next((name[:end] for end in ends if "\0" not in name[:end] and os.path.isfile(name[:end])), name)


def _address_part(name: str) -> str:
    """Return the address of ``ADDRESS:LABEL``: up to the first colon of its path that a C source or archive ends at."""
    path = name.find("/", name.index("://") + 3)
    colons = (index for index, sign in enumerate(name[:MAX_PATH_CHARACTERS]) if sign == ":" and 0 <= path < index)
    return next((name[:index] for index in colons if _may_name_several(name[:index])), name)


def may_hold_several(name: str) -> bool:
    """Return whether a file, or an address, has to be read to see how many models are in it."""
    return _may_name_several(name) if is_address(name) else _suffix(name) in _SEVERAL and os.path.isfile(name)


def _may_name_several(address: str) -> bool:
    return _suffix(address.partition("?")[0].partition("#")[0]) in _SEVERAL


def _read(name: str) -> bytes:
    if os.path.isdir(name):
        kind = _SAVED_MODEL if os.path.isfile(os.path.join(name, "saved_model.pb")) else "a folder"
        raise ModelError(f"it contains no model; it looks like {kind}", path=name)

    try:
        return read(name, most=partial(most_bytes, name), error=ModelError)
    except ModelError as problem:
        problem.path, problem.message = name, problem.message.removeprefix(f"{name} cannot be read: ")
        raise


def most_bytes(name: str, start: bytes) -> int:
    """Return how many bytes are read at most of a file with these first bytes.

    Raises:
        NoModelError: There can be no model in such a file.
    """
    if is_model(start):
        return MAX_MODEL_BYTES
    if _is_archive(start):
        return MAX_ARCHIVE_BYTES
    if start and _is_text(start) and b"\0" not in start:
        return MAX_SOURCE_BYTES
    raise NoModelError(f"this is not a .tflite model; it looks like {appearance(name, start)}", path=name)


def _listed(found: list[Input], most: int = 10) -> str:
    labels = ", ".join(row.label for row in found[:most])
    return labels + (f" and {len(found) - most} more" if len(found) > most else "")


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()


def _found(folder: str, most: int | None) -> Iterable[str]:
    """Return the files below a folder that may hold models; before any is read, where their number is limited."""
    files = folder_files(folder, most)
    return files if most is None else list(files)


def folder_files(folder: str | os.PathLike[str], most: int | None = None) -> Iterator[str]:
    """Yield the files below a folder that may hold models, in a fixed order; no hidden folders and no pipes.

    Raises:
        UsageError: There are more than ``most`` files and folders.
    """
    count = 0
    for path, folders, files in walk(folder):
        count += len(folders) + len(files)
        if most is not None and count > most:
            raise UsageError(
                f"{folder} has more than {most:,} files and folders; name one that has fewer, or 'tflm-sim sweep' it"
            )
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = os.path.join(path, name)
            if _suffix(name) in MODEL_SUFFIXES and os.path.isfile(file):
                yield file
