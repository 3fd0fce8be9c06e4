"""What a file is, by its first bytes: for ``tflm-sim THING`` without a verb, and for a verb that is given another kind.

a model, a C source, an archive, a folder, sample:NAME    size
a linked program (ELF), or an image of one                firmware
a log, or a line of one                                   explain
a project whose sources can be read, a project file       check
a list of buffers (.csv)                                  plan
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tflm_sim.errors import FileError, ModelError, NoModelError, UsageError
from tflm_sim.model.inputs import C_SUFFIXES, MODEL_SUFFIXES, is_model, matches
from tflm_sim.names import command_line
from tflm_sim.registry import project

PROJECT_FILE = "tflm-sim.toml"
_BEGINNING, _PIECE = 1 << 20, 4096
"""Bytes of a file that are looked at, and how many at a time."""
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*[<\"]([\w./-]+\.h)[>\"]", re.MULTILINE)


class Thing(NamedTuple):
    """A kind of input, and who answers about it.

    Attributes:
        verb: The verb.
        words: What it is: "a model".
        options: What the verb is told besides.
        is_certain: Whether its bytes say so, and not its name alone.
        is_named: Whether the verb is given its name.
    """

    verb: str
    words: str
    options: tuple[str, ...] = ()
    is_certain: bool = True
    is_named: bool = True


_ELF = Thing("firmware", "a linked program (ELF)")
_MODEL = Thing("size", "a model")
_BY_SUFFIX = {
    **dict.fromkeys(C_SUFFIXES, Thing("size", "a source", is_certain=False)),
    **dict.fromkeys(MODEL_SUFFIXES - C_SUFFIXES, Thing("size", "called a model", is_certain=False)),
    **dict.fromkeys((".elf", ".axf", ".bin", ".hex", ".uf2"), Thing("firmware", "called firmware", is_certain=False)),
    ".csv": Thing("plan", "a list of buffers", is_certain=False),
}


def kind_of(name: str) -> Thing | None:
    """Return what an argument is, None where that is not known."""
    if name.startswith("sample:"):
        return Thing("size", "a model of this package")
    if name.startswith(("https://", "http://")):
        return Thing("size", "an address")
    if os.path.isdir(name):
        return _folder(name)
    if not os.path.isfile(name):
        if matches(name) != [name]:
            return Thing("size", "a pattern")
        is_line = len(name.split()) > 1 and _is_log(f"{name}\n".encode("utf-8", "surrogateescape"))
        return Thing("explain", "a line of a log") if is_line else None
    try:
        with open(name, "rb") as file:
            data = file.read(_BEGINNING)
    except OSError:
        return None
    if is_model(data):
        return _MODEL
    if data.startswith(b"\x7fELF"):
        return _ELF
    if data.startswith(b"PK\x03\x04"):
        return Thing("size", "an archive")
    if os.path.basename(name) == PROJECT_FILE and os.path.samefile(os.path.dirname(name) or ".", "."):
        return Thing("check", "the project file", is_named=False)
    if words := project(name):
        return Thing("check", words)
    return _BY_SUFFIX.get(os.path.splitext(name)[1].lower()) or (Thing("explain", "a log") if _is_log(data) else None)


def _is_log(data: bytes) -> bool:
    from tflm_sim.logs.encodings import as_utf8
    from tflm_sim.logs.parser import LogParser  # All the messages of TFLM are slow to import.

    parser, text = LogParser(), as_utf8(data)
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return any(map(parser.feed, pieces)) or bool(parser.close())  # The first line of TFLM's decides.


def _folder(name: str) -> Thing:
    """Return what a folder is: a project, a sketch with the library that it includes, or one with models."""
    if os.path.isfile(os.path.join(name, PROJECT_FILE)) and os.path.samefile(name, "."):
        return Thing("check", "a project", is_named=False)
    if words := project(name):
        return Thing("check", words)
    sketches = [path for path in sorted(Path(name).glob("*.ino")) if path.is_file()]
    if not sketches:
        return Thing("size", "a folder")
    from tflm_sim.targets.libraries import known_library

    found: set[str] = set()
    for sketch in sketches:
        with sketch.open("rb") as file:
            beginning = file.read(_BEGINNING)
        for header in _INCLUDE.findall(beginning):
            try:
                library = known_library(header.decode())
            except UsageError:  # Several libraries have this header.
                continue
            found |= {library[0]} if library else set()
    return Thing("size", "a sketch", ("--library", *found) if len(found) == 1 else ())


def with_verb(arguments: Sequence[str], word: str) -> tuple[list[str], str] | None:
    """Return arguments without a verb together with the one that answers, and a sentence about that; None for none.

    Args:
        arguments: As they are given.
        word: The first of them that is no option: it is no verb.
    """
    thing = kind_of(word)
    if thing is None:
        return None
    place = list(arguments).index(word)
    given = list(arguments[place + 1 :])
    options = [] if "--library" in given else list(thing.options)
    names = [word] if thing.is_named else []
    whole = [*arguments[:place], thing.verb, *names, *options, *given]
    shown = " ".join(f"'{each}'" if " " in each else each for each in whole[place:])
    return whole, f"{word} is {thing.words}, so this is: tflm-sim {shown}"


def other_kind(error: Exception, verb: str | None) -> str:
    """Return what a file or folder is that is no model, and which verb answers about it; "" where that is not known."""
    path = error.path if isinstance(error, ModelError) else None
    is_none = path is not None and (os.path.isdir(path) or (isinstance(error, NoModelError) and os.path.isfile(path)))
    thing = kind_of(path) if path and is_none else None
    if path is None or thing is None or not thing.is_certain or thing.verb in (verb, "size", "firmware"):
        return ""
    return f"{path}: this is {thing.words}: '{command_line('tflm-sim', thing.verb, path)}'"


def refuse_other_kind(name: str, verb: str) -> None:
    """Refuse a file that another verb answers about.

    Raises:
        FileError: It is one, as its bytes say.
    """
    thing = kind_of(name) if os.path.isfile(name) else None
    if thing is _MODEL and os.path.splitext(name)[1].lower() not in ("", *MODEL_SUFFIXES):
        return  # what is flashed may begin with a model
    if thing is not None and thing.is_certain and thing.verb not in (verb, "explain", "check"):
        raise FileError(f"this is {thing.words}: '{command_line('tflm-sim', thing.verb, name)}'", path=name)
