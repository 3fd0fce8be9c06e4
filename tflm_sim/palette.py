"""The colours of every picture: five meanings of a byte, each a hue, whose kinds are its shades.

Page, SVG, PNG, notebook, terminal and the pictures of plans and sweeps take theirs from here. Two meanings can be told
apart by a reader who sees no difference of red and green, and on grey paper: there by lightness, and scratch by its
hatching. ``tests/unit/test_palette.py`` computes the distances.
"""

from __future__ import annotations

from dataclasses import dataclass

MARK, DARK_MARK = "#c81e4a", "#ff6b8f"
"""Frames and lines: where it is fullest, what decides, what is missing."""
INK, SOFT, FREE, EDGE = "#1b222c", "#566373", "#eef1f5", "#d9dee6"
"""Text, text that matters less, free bytes, lines of a grid."""
_LETTERS = ("#10151c", "#ffffff")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a byte is there for.

    Attributes:
        title: For people.
        is_hatched: Whether lines lie over its colour.
    """

    title: str
    is_hatched: bool = False


MEANINGS = {
    "io": Meaning("inputs and outputs"),
    "activation": Meaning("activations"),
    "scratch": Meaning("scratch", is_hatched=True),
    "temporary": Meaning("temporary"),
    "tail": Meaning("tail"),
}


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of bytes.

    Attributes:
        key: Stable name in documents.
        title: For people.
        section: "head", "temp" or "tail".
        meaning: A key of ``MEANINGS``.
        light, dark: Fill colour (#rrggbb) on a light and on a dark ground.
        ansi: Nearest colour to ``light`` that terminals have (of 256) and no other category.
        letter: What stands for it where there is no colour.
    """

    key: str
    title: str
    section: str
    meaning: str
    light: str
    dark: str
    ansi: int
    letter: str

    @property
    def ink(self) -> str:
        """The text colour that can be read on ``light``."""
        return ink_on(self.light)

    @property
    def dark_ink(self) -> str:
        """The text colour that can be read on ``dark``."""
        return ink_on(self.dark)

    @property
    def is_hatched(self) -> bool:
        """Whether lines lie over its colour."""
        return MEANINGS[self.meaning].is_hatched


_ROWS = (
    Category("input", "inputs", "head", "io", "#720e4f", "#febcde", 53, "i"),
    Category("output", "outputs", "head", "io", "#892157", "#ffd1e2", 89, "o"),
    Category("activation", "activations", "head", "activation", "#005d96", "#1389d7", 24, "a"),
    Category("planned_variable", "variables, offline", "head", "activation", "#006ca7", "#1a96e3", 25, "v"),
    Category("plan", "reserved for the plan", "head", "activation", "#007bb8", "#22a3f0", 31, "#"),
    Category("scratch", "scratch buffers", "head", "scratch", "#9e84cd", "#9c80d0", 140, "s"),
    Category("requests", "scratch requests", "head", "scratch", "#c095dd", "#c091df", 176, "r"),
    Category("temp", "temporary, in Prepare", "temp", "temporary", "#f7a84b", "#e79b42", 179, "t"),
    Category("planning", "temporary, planning", "temp", "temporary", "#feb471", "#f5a04d", 215, "p"),
    Category("planner", "planner's tables", "temp", "temporary", "#fec398", "#fda865", 216, "P"),
    Category("eval tensors", "eval tensors", "tail", "tail", "#7a9064", "#50653c", 101, "="),
    Category("nodes and registrations", "nodes and registrations", "tail", "tail", "#7f996f", "#536d45", 107, "="),
    Category("kernel data", "kernel data", "tail", "tail", "#84a37a", "#57754e", 245, "="),
    Category("builtin data", "builtin data", "tail", "tail", "#89ac85", "#5b7d58", 108, "="),
    Category("variable tensors", "variable tensors", "tail", "tail", "#719873", "#466c4a", 244, "="),
    Category("input and output tensors", "input and output tensors", "tail", "tail", "#76a27f", "#4a7453", 102, "="),
    Category("scratch buffer handles", "scratch buffer handles", "tail", "tail", "#7bab8a", "#4d7c5d", 246, "="),
    Category("subgraph structs", "subgraph structs", "tail", "tail", "#639779", "#386b4f", 66, "="),
    Category("resource variable table", "resource variable table", "tail", "tail", "#68a085", "#3c7359", 72, "="),
    Category("allocator objects", "allocator objects", "tail", "tail", "#6da990", "#407a63", 73, "="),
)

CATEGORIES = {row.key: row for row in _ROWS}
"""By key; a tail category's key is the name of its group in the size report."""

SERIES = ("#005d96", "#b35a00", "#892157", "#3c7359", "#7a5bb5", "#0a7ea4", "#8a6d00", "#57606a")
"""Colours of lines and dots that stand for a target or a planner, not for a kind of bytes; all can be read on white."""


def ink_on(color: str) -> str:
    """Return which of two text colours, nearly black or white, has the greater contrast on a colour (#rrggbb)."""
    return max(_LETTERS, key=lambda ink: contrast(ink, color))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21. Source: WCAG 2.2, "contrast ratio"."""
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


HATCH_ID = "hatch"
HATCH = (
    f'<defs><pattern id="{HATCH_ID}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="1.6" height="6" fill="#ffffff" fill-opacity="0.55"/></pattern></defs>\n'
)
"""The lines over what is hatched, for an SVG: a second rectangle is filled with them."""
