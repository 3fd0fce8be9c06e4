"""Names that people type: how they compare, and what was meant by one that is not known."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping

from tflm_sim.errors import UsageError

_SETTING = re.compile(r"`([a-z_]+)=([^`]*)`")
_OPTIONS = {"operators": "ops", "timeout": "time-limit"}
"""Settings whose option has another name than the keyword in Python."""

_LETTERS = 3
"""How many letters a part of a name needs to stand for it."""
_ALIKE, _PART_ALIKE = 0.6, 0.8
"""From which share of common letters on a whole name, or a part of it, is likely to be meant."""


def plain(text: str) -> str:
    """Return the letters and digits of a name, so that different spellings compare equal."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


def likely(name: str, known: Iterable[str] | Mapping[str, str], *, most: int = 3) -> list[str]:
    """Return the names that may have been meant: the same but for spelling, with that word in them, or alike.

    Args:
        name: What was typed.
        known: The names that there are; of a mapping also what is said about each, in which the word may occur.
        most: How many are returned at most, the likeliest first.
    """
    word = plain(name)
    said = dict(known) if isinstance(known, Mapping) else dict.fromkeys(known, "")
    if not word:
        return []
    same = [each for each in said if plain(each) == word]
    if same:
        return same[:most]
    holding = [each for each, about in said.items() if word in plain(f"{each} {about}")]
    if holding and len(word) >= _LETTERS:
        # In front are those whose name begins with it, then those of which what is said begins with it.
        return sorted(
            holding, key=lambda each: (not plain(each).startswith(word), not plain(said[each]).startswith(word))
        )[:most]
    from difflib import SequenceMatcher  # only on the way out, and slow to import

    matcher = SequenceMatcher(b=word)  # It remembers what it knows of its second text.

    def alike(text: str, least: float) -> float:
        matcher.set_seq1(text)
        is_possible = matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least
        ratio = matcher.ratio() if is_possible else 0
        return ratio if ratio >= least else 0

    ratios = {each: max(alike(plain(each), _ALIKE), alike(plain(each)[: len(word)], _PART_ALIKE)) for each in said}
    return sorted(filter(ratios.__getitem__, said), key=lambda each: -ratios[each])[:most]


def meant(name: str, known: Iterable[str] | Mapping[str, str], *, most: int = 3) -> str:
    """Return the question which of the likely names is meant, "" where none is likely."""
    return _asked(likely(name, known, most=most))


def _asked(near: Iterable[str]) -> str:
    names = " or ".join(near)
    return f"did you mean {names}?" if names else ""


def unknown(
    kind: str, name: str, known: Iterable[str] | Mapping[str, str], near: Iterable[str] | None = None
) -> UsageError:
    """Return the error for ``name``, which is no ``kind``: with the likely names, or with all that there are.

    Args:
        kind: What it should be.
        name: It.
        known: The names that there are; see :func:`likely`.
        near: The likely ones, where they were looked for already.
    """
    known = known if isinstance(known, Mapping) else tuple(known)
    hint = _asked(likely(name, known) if near is None else near) or f"use one of: {', '.join(known)}"
    return UsageError(f"unknown {kind} '{name}'; {hint}")


def names_with(word: str, known: Mapping[str, str]) -> list[str]:
    """Return the name that ``word`` is, else the names in which it occurs, whatever the spelling; all for "".

    Args:
        word: What is looked for.
        known: Name -> what is said about it, in which the word may occur too.
    """
    same = [name for name in known if plain(name) == plain(word)]
    return same or [name for name, about in known.items() if plain(word) in plain(f"{name} {about}")]


def with_options(text: str) -> str:
    """Return a sentence about settings, which Python's callers read as `kernels=reference`, with options instead."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        shown = f"--{_OPTIONS.get(name, name).replace('_', '-')}"
        return shown if value in ("", "True") else f"{shown} {value}"

    return _SETTING.sub(option, text)


def asking(verb: str, name: str | None, settings: Mapping[str, object]) -> str:
    """Return the command that asks a verb about a model; "" where it cannot be typed, as with kernels of Python.

    Args:
        verb: The verb.
        name: The model's file; None where it has none.
        settings: By the names of Python: what is None or False is left out, of several each is an option of its own.
    """
    words = ["tflm-sim", verb, name or ""]
    for setting, value in settings.items():
        for each in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(each, str | int | os.PathLike | None):
                return ""
            if each is not None and each is not False:
                words += [f"--{setting.replace('_', '-')}", *([] if each is True else [str(each)])]
    return command_line(*words) if name else ""


def command_line(*words: str) -> str:
    """Return words as they are typed into a shell: on Windows that takes double quotes only."""
    if os.name == "posix":
        return shlex.join(words)
    return " ".join(word if re.fullmatch(r"[\w@+=:,./\\~-]+", word) else f'"{word}"' for word in words)
