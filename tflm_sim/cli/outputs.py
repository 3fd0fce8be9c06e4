"""No command writes one file twice, nor over what it reads."""

from __future__ import annotations

import argparse
import os
import stat

from tflm_sim.errors import UsageError

_WRITTEN = ("output", "write", "picture", "sarif", "header", "to_tflite", "plot")
"""The names in ``args`` of files that verbs write."""


def refuse_overwriting(args: argparse.Namespace) -> None:
    """Refuse to write one file twice, or over one that the command names for another purpose.

    Raises:
        UsageError: Two options name one file, a model for example; not where that is asked for with --in-place.
    """
    written = [(name, path) for name in _WRITTEN for path in _texts(getattr(args, name, None))]
    for index, (name, path) in enumerate(written):
        of_path = _identity(path)
        for other, earlier in written[:index]:
            if of_path == _identity(earlier):
                raise UsageError(f"{path} is what both {as_typed(args, other)} and {as_typed(args, name)} would write")
        if not os.path.isfile(path) or getattr(args, "in_place", False):
            continue
        read = (text for key, given in vars(args).items() if key not in _WRITTEN for text in _texts(given))
        if any(of_path in (_identity(text), _identity(text.rpartition(":")[0])) for text in read):  # FILE or FILE:NAME
            more = "; add --in-place to overwrite it" if hasattr(args, "in_place") else ""
            raise UsageError(f"{path}: {as_typed(args, name)} would overwrite what the command reads{more}")


def _texts(given: object) -> list[str]:
    """Return the texts in an argument."""
    return [text for text in (given if isinstance(given, list | tuple) else (given,)) if isinstance(text, str)]


def _identity(path: str) -> object:
    """Return what two names of one file have in common: of a file that is there its number, else its place."""
    try:
        of_file = os.stat(path)
    except (OSError, ValueError):
        return os.path.realpath(path) if path else None
    is_kept = stat.S_ISREG(of_file.st_mode)
    return (of_file.st_dev, of_file.st_ino) if is_kept else object()  # A terminal and the like take what two write.


def as_typed(args: argparse.Namespace, name: str) -> str:
    """Return the option of a name in ``args``, as it is typed."""
    options = (action.option_strings for action in args.parser._actions if action.dest == name)
    return next((strings[-1] for strings in options if strings), f"--{name.replace('_', '-')}")
