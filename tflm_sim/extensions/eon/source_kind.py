"""What a verb does with a source of the EON compiler in the place of a model."""

from __future__ import annotations

import argparse

from tflm_sim.errors import UsageError
from tflm_sim.escape import one_line
from tflm_sim.extensions.eon import MADE_BY
from tflm_sim.extensions.eon import is_eon_source as recognises

WORDS = "what Edge Impulse's EON compiler makes: 'tflm-sim eon' reads it, and 'eon --to-tflite' writes its model"

_OF_THE_INTERPRETER = ("map", "arena_size", "split_arenas", "advise", "firmware", "runtime")
"""Options that say something of TFLM's interpreter, which such a program does not have."""


def answer(verb: str, args: argparse.Namespace, label: str, data: bytes) -> int | None:
    """Print what the source needs, for ``size``; None for another verb.

    Raises:
        UsageError: An option has no meaning for it.
    """
    if verb != "size":
        return None
    if given := [name for name in _OF_THE_INTERPRETER if getattr(args, name, None)]:
        option = given[0].replace("_", "-")
        raise UsageError(
            f"--{option} applies to TFLM's interpreter, but {one_line(label)} is a source of the EON compiler"
        )
    from tflm_sim.extensions.eon.cli import say_needs

    return say_needs(args, label, data)


__all__ = ["MADE_BY", "WORDS", "answer", "recognises"]
