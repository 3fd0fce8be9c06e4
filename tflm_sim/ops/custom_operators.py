"""What to do about an operator that is in no library of kernels: by name, for whoever finds it in a model or a log."""

from __future__ import annotations

_FLEX = (
    "it is an operator of TensorFlow itself, which no microcontroller runs: convert without SELECT_TF_OPS "
    "(converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]); for an LSTM or GRU with a fixed batch "
    "size "
    "(tf.keras.Input(..., batch_size=1)) and unroll=True, so that it needs no lists of tensors"
)
_REMEDIES = (
    ("Flex", _FLEX),
    (
        "edgetpu-custom-op",
        "edgetpu_compiler made it, and only a firmware with the Edge TPU's driver (coralmicro: RegisterCustomOp()) "
        "has it: "
        "take the .tflite file as it was without edgetpu_compiler",
    ),
    ("ethos-u", "Vela made it; a firmware with the Ethos-U driver has one (`ethos_u=True`)"),
)
"""Beginnings of names, and what to do."""


def remedy(name: str) -> str:
    """Return what to do about a custom operator that nobody writes a kernel for, "" for one that somebody may have."""
    return next((text for beginning, text in _REMEDIES if name.startswith(beginning)), "")
