"""What was read from a project and what to change, as part of a verdict's document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.document_types import Count
from tflm_sim.escape import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A fact of the sources.

    Attributes:
        text: What stands there: an expression, a name, a version.
        place: The file, with the line where there is one: "main.cpp:12".
    """

    text: str
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """What was read from a project and what to change.

    Attributes:
        kind: What it is: "an Arduino sketch".
        folder: Its folder or file, from the user.
        model: The model's label; "" where it was not found.
        arena: The expression of the arena's size, null where it was not found.
        arena_bytes: Its value.
        library: The library, as its files name it; null where they do not.
        board: The board or chip, as its files name it; null where they do not.
        resolver: The expression of the N of its MicroMutableOpResolver<N>; null without one.
        resolver_count: Its value.
        has_all_operators: Whether it registers every operator of its TFLM.
        registered: The methods that it calls to register operators, in order.
        needed: Those that the model needs; their number is the smallest N.
        missing: Those of ``needed`` that are not registered, or for which N leaves no room.
        superfluous: Those that the model does not need.
        asked: What could not be found, and how to name it.
        patch: What to change, as a unified diff; "" for nothing.
    """

    kind: str
    folder: str
    model: str
    arena: Found | None
    arena_bytes: Count | None
    library: Found | None
    board: Found | None
    resolver: Found | None
    resolver_count: Count | None
    has_all_operators: bool
    registered: tuple[str, ...]
    needed: tuple[str, ...]
    missing: tuple[str, ...]
    superfluous: tuple[str, ...]
    asked: tuple[str, ...]
    patch: str


def project_lines(facts: ProjectFacts) -> list[str]:
    """Return what was read, a line for each fact, and what is asked for; the patch is printed behind the verdict."""
    rows = [
        *([("model", facts.model)] if facts.model else []),
        *_row("arena", facts.arena, "" if facts.arena_bytes is None else f"{facts.arena_bytes:,} B"),
        *_row("library", facts.library),
        *_row("board", facts.board),
        *_row("resolver", facts.resolver, "" if facts.resolver_count is None else f"N is {facts.resolver_count}"),
        *([("operators", text)] if (text := _operators(facts)) else []),
        *(("not found", text) for text in facts.asked),
    ]
    return [f"{name:<10} {printable(text, 400)}" for name, text in rows]


def _row(name: str, found: Found | None, value: str = "") -> Iterator[tuple[str, str]]:
    if found is not None:
        said = found.text if not value else value if found.text.isdecimal() else f"{value}, {found.text}"
        yield name, f"{said} ({found.place})"


def _operators(facts: ProjectFacts) -> str:
    if facts.has_all_operators:
        return "all are registered"
    if not facts.registered or not facts.needed:
        return ""
    count = len(facts.needed)
    parts = [f"{count} {'is' if count == 1 else 'are'} needed"]
    parts += [f"missing: {', '.join(facts.missing)}"] if facts.missing else []
    parts += [f"superfluous: {', '.join(facts.superfluous)}"] if facts.superfluous else []
    return "; ".join(parts)
