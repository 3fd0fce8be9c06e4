"""``NAME[...] = { ... };`` in a source without comments: nested lists of the texts between commas.

Names in ``namespace gN { ... }`` are those of one subgraph; they are found by ``gN::NAME``, and inside by ``NAME``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from tflm_sim.errors import ModelError

Initializer: TypeAlias = "list[str | Initializer]"

_PLACE = re.compile(
    r"\bnamespace\s++(?P<scope>g\d++)\s*+\{|(?P<end>^\}\s*+;?+)|\bint\s++(?P<empty>[A-Za-z_]\w*+)\s*+=\s*+0\s*+;|"
    r"\b(?P<type>(?:\w{1,60}+::){0,3}+\w++(?:<[^<>;{}]{1,60}>)?+)[\s*]++(?:ALIGN\(\d++\)\s++)?+"
    r"(?P<name>[A-Za-z_]\w*+)\s*+(?:\[[^\]\n]*+\]\s*+)?+=\s*+\{",
    re.MULTILINE,
)
_PIECE = re.compile(r"[{}]")
MAX_DEPTH = 8
MAX_ITEM_CHARACTERS = 1000
"""Characters of an expression that ends in a name."""


class Declaration(NamedTuple):
    """A name with an initializer: the last word of its type, and the initializer's items."""

    type: str
    items: Initializer


def declarations(text: str) -> dict[str, Declaration]:
    """Return what a source declares with an initializer in braces, by name; names of subgraphs begin with "gN::".

    Raises:
        ModelError: An initializer has no end, or is nested deeper than any that EON writes.
    """
    found: dict[str, Declaration] = {}
    scope, at = "", 0
    while place := _PLACE.search(text, at):
        at = place.end()
        if place["scope"]:
            scope = f"{place['scope']}::"
        elif place["end"] is not None:
            scope = ""
        elif place["empty"]:
            found[scope + place["empty"]] = Declaration("int", [])  # EON's array without elements
        else:
            items, at = _items(text, at, place["name"])
            found[scope + place["name"]] = Declaration(place["type"], items)
    return found


def _items(text: str, at: int, name: str) -> tuple[Initializer, int]:
    """Return the items behind an opening brace, and where they end."""
    stack: list[Initializer] = [[]]
    while piece := _PIECE.search(text, at):
        between = text[at : piece.start()]
        stack[-1] += filter(None, map(str.strip, between.split(",")))
        at = piece.end()
        if piece[0] == "{":
            stack.append([])
        elif len(stack) == 1:
            return stack[0], at
        else:
            whole = stack.pop()
            stack[-1].append(whole)
        if len(stack) > MAX_DEPTH:
            raise ModelError(f"the initializer of {name[:100]} is nested {len(stack)} deep")
    raise ModelError(f"the initializer of {name[:100]} has no end: the source is incomplete")


_NAME = re.compile(r"([A-Za-z_]\w*+(?:::\w++)?+)\W*+$")


def named(item: str | Initializer) -> str:
    """Return the name that an item's expression ends in, past its casts: ``g0::opdata1``; "" where it ends in none."""
    found = _NAME.search(item) if isinstance(item, str) and len(item) <= MAX_ITEM_CHARACTERS else None
    return "" if found is None else found[1]


def find(known: Mapping[str, Declaration], name: str, scope: str = "") -> Declaration:
    """Return a declaration by its name, first of those of a subgraph.

    Raises:
        ModelError: There is no such declaration.
    """
    found = known.get(f"{scope}{name}") or known.get(name)
    if found is None:
        raise ModelError(f"the source names {name[:100]} and does not declare it")
    return found
