"""What a verb does with a source of the EON compiler in the place of a model."""

from __future__ import annotations

import argparse

from tflm_sim.errors import UsageError
from tflm_sim.escape import one_line
from tflm_sim.extensions.eon import MADE_BY
from tflm_sim.extensions.eon import is_eon_source as recognises

WORDS = (
    "what Edge Impulse's EON compiler makes: 'tflm-sim size' reads it, and 'size --to-tflite' writes its model for "
    "other commands"
)

OF_THE_INTERPRETER = tuple(
    """
    map arena_size split_arenas advise firmware executed runtime interpreter planner own_planner resource_variables
    variable_arena arena_address optimize_kernels_for ethos_u custom_ops
    """.split()
)
"""Options that say something of TFLM's interpreter, which such a program does not have, or what the source says."""


def answer(verb: str, args: argparse.Namespace, label: str, data: bytes) -> int | None:
    """Print what the source needs, for ``size``; None for another verb.

    Raises:
        UsageError: An option has no meaning for it.
    """
    if verb != "size":
        return None
    from tflm_sim.cli.options import first_given  # What such a file is, Python's load() asks too.

    if option := first_given(args, OF_THE_INTERPRETER):
        raise UsageError(f"{option} applies to TFLM's interpreter, but {one_line(label)} is a source of {MADE_BY}")
    from tflm_sim.extensions.eon.needs import say_needs

    return say_needs(args, label, data)


__all__ = ["MADE_BY", "WORDS", "answer", "recognises"]
