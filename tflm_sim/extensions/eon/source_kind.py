"""What a verb does with a source of the EON compiler in the place of a model."""

from __future__ import annotations

import argparse

from tflm_sim.extensions.eon import MADE_BY
from tflm_sim.extensions.eon import is_eon_source as recognises

WORDS = (
    "what Edge Impulse's EON compiler makes: 'tflm-sim size' reads it, and 'size --to-tflite' writes its model for "
    "other commands"
)


def answer(verb: str, args: argparse.Namespace, label: str, data: bytes) -> int | None:
    """Print what the source needs, for ``size``; None for another verb."""
    if verb != "size":
        return None
    from tflm_sim.extensions.eon.needs import say_needs

    return say_needs(args, label, data)


__all__ = ["MADE_BY", "WORDS", "answer", "recognises"]
