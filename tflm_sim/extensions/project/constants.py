"""The values of constant expressions: macros are replaced as text, constants in parentheses; ``sizes.py`` computes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tflm_sim.errors import UsageError
from tflm_sim.sizes import parse_size

if TYPE_CHECKING:
    from tflm_sim.extensions.project.cpp import Constant, Sources

_CAST = re.compile(
    r"static_cast\s*<[^<>]*>|\(\s*(?:const\s+)?(?:std::)?(?:size_t|u?int(?:\d+_t)?|unsigned(?: \w+)?|long)\s*\)"
)
_SIZEOF = re.compile(r"\bsizeof\s*\(?\s*(?:\w+::)*([A-Za-z_]\w*)\s*\)?")
_IDENTIFIER = re.compile(r"(?<![\w'.])(?:[A-Za-z_]\w*::)*([A-Za-z_]\w*)")
MAX_CHARACTERS = 1000
"""Characters of an expression, also with what its names mean."""
MAX_DEPTH = 20
"""Constants that are defined by each other."""


class NotFoundError(Exception):
    """The value of an expression cannot be found; the text says what is missing, for a sentence."""


def definition(name: str, file: str, sources: Sources) -> Constant | None:
    """Return where a name is defined: in the file itself, or else in the only file that does.

    Raises:
        NotFoundError: Several files define it otherwise.
    """
    found = sources.constants.get(name, [])
    own = [one for one in found if one.file == file]
    if len({one.text for one in own or found}) > 1:
        places = ", ".join(dict.fromkeys(one.file for one in own or found))
        raise NotFoundError(f"'{name}' has several values ({places})")
    return next(iter(own or found), None)


def origin(constant: Constant, sources: Sources) -> Constant | None:
    """Return where the expression stands that a name means; None where it is not known, or no file's."""
    try:
        while re.fullmatch(r"(?:\w+::)*[A-Za-z_]\w*", constant.text):
            inner = definition(constant.text.split("::")[-1], constant.file, sources)
            if inner is None or inner == constant:
                return None
            constant = inner
    except NotFoundError:
        return None
    return constant if constant.file else None


def value(text: str, file: str, sources: Sources, depth: int = 0) -> int:
    """Return the value of an expression in a file.

    Raises:
        NotFoundError: Something in it is defined nowhere in the project, or is no constant.
    """
    try:
        return parse_size(_expanded(text, file, sources, depth))
    except UsageError:
        raise NotFoundError(f"'{text.strip()[:60]}' is no expression that is understood") from None


def _expanded(text: str, file: str, sources: Sources, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise NotFoundError(f"'{text.strip()[:60]}' is defined by itself")

    def size_of(found: re.Match[str]) -> str:
        array = sources.arrays.get(found[1])
        if array is None:
            raise NotFoundError(f"the size of '{found[1]}' is not in the sources")
        return str(value(array.text, array.file, sources, depth + 1))

    def replaced(found: re.Match[str]) -> str:
        constant = definition(found[1], file, sources)
        if constant is None:
            raise NotFoundError(f"'{found[1]}' is defined nowhere in the project")
        inner = _expanded(constant.text, constant.file, sources, depth + 1)
        return inner if constant.is_macro else f"({inner})"

    if len(text) > MAX_CHARACTERS:
        raise NotFoundError(f"'{text.strip()[:60]}...' is too long")
    found = _IDENTIFIER.sub(replaced, _SIZEOF.sub(size_of, _CAST.sub("", text))).strip()
    if len(found) > MAX_CHARACTERS:  # Before it is taken twice by what is defined by it, and so on.
        raise NotFoundError(f"'{text.strip()[:60]}' is too long with all that it means")
    return found
