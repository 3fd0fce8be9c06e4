"""What to change in the sources of a project, as edits and as a unified diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tflm_sim.extensions.project.constants import origin
from tflm_sim.extensions.project.cpp import ITS_OWN, AddCall, Constant, Sources


class SourceEdit(NamedTuple):
    """The bytes ``start`` to ``end`` (exclusive) of a file become ``text``, in Latin-1."""

    file: str
    start: int
    end: int
    text: str


def number_edit(constant: Constant, number: int, sources: Sources) -> list[SourceEdit]:
    """Return the edit that makes an expression have a value: where it is defined; none where that is not known."""
    found = origin(constant, sources)
    return [] if found is None else [SourceEdit(found.file, found.start, found.end, str(number))]


def arena_edits(arena: Constant, number: int, sources: Sources) -> list[SourceEdit]:
    """Return the edits that make an arena larger: of the size that TFLM is told, and of the array that has the memory.

    There are none where the memory would stay as it is: a number that stands for itself, and no array with it.
    """
    array = sources.arrays.get(arena.array)
    memory = [] if array is None else number_edit(array, number, sources)
    if "sizeof" in arena.text:
        return memory
    told = number_edit(arena, number, sources)
    is_told_apart = [(edit.file, edit.start) for edit in told] == [(arena.file, arena.start)]
    return [] if is_told_apart and not memory and arena.array != ITS_OWN else [*told, *memory]


def operator_edits(
    sources: Sources, missing: Iterable[str], superfluous: Iterable[str]
) -> tuple[list[SourceEdit], set[str]]:
    """Return the edits that register what is missing, spelt as the last call, and remove the rest; and which.

    A kernel of the firmware's own cannot be written here: AddCustom() is left out. So is a statement that does more.
    """
    alone = [call for call in sources.calls if call.is_whole and _is_alone(call, sources.calls)]
    gone = [call for call in alone if call.method in superfluous]
    edits = [_removed(call, sources.texts[call.file]) for call in gone]
    new = [method for method in missing if not method.startswith("AddCustom(")]
    if alone and new:
        last = alone[-1]
        text = sources.texts[last.file]
        before, behind = text[_line_start(text, last.start) : last.name[0]], text[last.name[1] : last.end]
        line = text[text.rfind("\n", 0, last.start) + 1 : last.start]
        before = f"{line[: len(line) - len(line.lstrip())]}{before.lstrip()}"
        end = "\r\n" if "\r\n" in text else "\n"
        edits.append(SourceEdit(last.file, last.end, last.end, "".join(f"{end}{before}{one}(){behind}" for one in new)))
    return edits, {call.method for call in gone}


def _is_alone(call: AddCall, calls: Iterable[AddCall]) -> bool:
    place = (call.file, call.start)
    return sum((other.file, other.start) == place for other in calls) == 1


def _line_start(text: str, place: int) -> int:
    """Return where the line begins, or the statement where another stands before it on its line."""
    start = text.rfind("\n", 0, place) + 1
    return start if not text[start:place].strip() else place


def _removed(call: AddCall, text: str) -> SourceEdit:
    """Return the edit that removes a statement, with its line where it is alone there."""
    start, line_end = _line_start(text, call.start), text.find("\n", call.end) + 1 or len(text)
    rest = text[call.end : line_end].strip()
    is_line = text[start : call.start].strip() == "" and start != call.start and (not rest or rest.startswith("//"))
    return SourceEdit(call.file, start, line_end, "") if is_line else SourceEdit(call.file, call.start, call.end, "")


def edited(texts: Mapping[str, str], edits: Iterable[SourceEdit]) -> dict[str, str]:
    """Return the files that change, as they are then."""
    changed: dict[str, str] = {}
    for edit in sorted(dict.fromkeys(edits), key=lambda one: (one.start, one.end), reverse=True):
        text = changed.get(edit.file, texts[edit.file])
        changed[edit.file] = text[: edit.start] + edit.text + text[edit.end :]
    return changed


def patch(texts: Mapping[str, str], changed: Mapping[str, str]) -> str:
    """Return the changes as a unified diff, which ``patch -p1`` and ``git apply`` take in the project's folder."""
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for file, after in changed.items()
        for line in difflib.unified_diff(_decoded(texts[file]), _decoded(after), f"a/{file}", f"b/{file}")
    )


def _decoded(text: str) -> list[str]:
    return [line + "\n" for line in text.encode("latin-1").decode("utf-8", "replace").split("\n")][:-1] + (
        []
        if text.endswith("\n") or not text
        else [text.rsplit("\n", 1)[-1].encode("latin-1").decode("utf-8", "replace")]
    )
