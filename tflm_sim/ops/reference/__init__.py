"""TFLM's reference kernels: one module per family, one ``OpModel`` row per registration.

Every operator of ``MicroMutableOpResolver`` at the reference snapshot has a row; ``custom`` has also the one that
only a build with the Ethos-U driver registers. A family is imported when one of its operators is looked up.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from tflm_sim.errors import TflmSimError
from tflm_sim.ops.op_table import OpTable
from tflm_sim.targets.changes import REFERENCE_FAMILIES

REFERENCE = OpTable(__name__, REFERENCE_FAMILIES)
"""The registrations of a plain build, by operator name."""

COMPRESSION_FAMILIES = {"variables": "ASSIGN_VARIABLE"}
"""What a build with USE_TFLM_COMPRESSION registers instead."""

ETHOS_U_FAMILIES = {"custom": "ethos-u"}
EDGE_TPU_FAMILIES = {"custom": "edgetpu-custom-op"}
"""What a build with the Ethos-U driver registers besides."""


def check_that_nothing_models(op: str) -> None:
    """Raise TflmSimError where a module has a row of an operator that stands in no table, so that it is never found."""
    for found in pkgutil.iter_modules(__path__):
        rows = getattr(import_module(f"{__name__}.{found.name}"), "MODELS", ())
        if op not in REFERENCE and any(row.op == op for row in rows):
            raise TflmSimError(
                f"{__name__}.{found.name} models {op}, but _ARRIVALS of targets/changes.py does not name it"
            )
