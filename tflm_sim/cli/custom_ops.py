"""``--custom-ops FILE.py``: kernels of one's own, as the OpModel values that a Python file defines."""

from __future__ import annotations

import os.path
import runpy

from tflm_sim.errors import UsageError
from tflm_sim.ops.op_model import OpModel


def load_custom_ops(path: str) -> tuple[OpModel, ...]:
    """Run a Python file and return every OpModel that is a global there, in order.

    Raises:
        UsageError: There is no such file, it fails, or it defines none.
    """
    if not os.path.isfile(path):
        raise UsageError(f"{path}: no such file of custom operators")
    try:
        names = runpy.run_path(path)
    except Exception as error:
        raise UsageError(f"{path} fails: {type(error).__name__}: {error}") from error
    found = tuple(value for value in names.values() if isinstance(value, OpModel))
    if not found:
        raise UsageError(f"{path} defines no OpModel")
    return found
