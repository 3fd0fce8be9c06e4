"""What to do about an operator that is in no library of kernels: by name, for whoever finds it in a model or a log."""

from __future__ import annotations

_REMEDIES = (
    ("Flex", "convert without SELECT_TF_OPS, an LSTM with batch_size=1 and unroll=True; no microcontroller runs it"),
    (
        "edgetpu-custom-op",
        "only Coral's firmware has it, by AddCustom(kCustomOp, RegisterCustomOp()); for others take the .tflite file "
        "as it was without edgetpu_compiler",
    ),
    ("ethos-u", "a firmware with the Ethos-U driver has one (`ethos_u=True`)"),
)
"""Beginnings of names, and what to do, in one line: it stands behind the name where a model is sized."""


def remedy(name: str) -> str:
    """Return what to do about a custom operator that nobody writes a kernel for, "" for one that somebody may have."""
    return next((text for beginning, text in _REMEDIES if name.startswith(beginning)), "")
