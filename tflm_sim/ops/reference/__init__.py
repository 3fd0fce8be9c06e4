"""TFLM's reference kernels: one module per family, one ``OpModel`` row per registration.

Every operator of ``MicroMutableOpResolver`` at the reference snapshot has a row.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tflm_sim.ops.op_model import OpModel

_FAMILIES = [import_module(f"{__name__}.{family.name}") for family in pkgutil.iter_modules(__path__)]


def _rows(table: str) -> dict[str, OpModel]:
    return {model.op: model for family in _FAMILIES for model in getattr(family, table, ())}


REFERENCE = _rows("MODELS")
"""The registrations of a plain build, by operator name."""

REFERENCE_COMPRESSION = REFERENCE | _rows("COMPRESSION_MODELS")
"""The registrations of a build with USE_TFLM_COMPRESSION."""
