"""TFLM's reference kernels: one module per family, one ``OpModel`` row per registration.

Every operator of ``MicroMutableOpResolver`` at the reference snapshot has a row; ``custom`` has also the one that
only a build with the Ethos-U driver registers. A family is imported when one of its operators is looked up.
"""

from __future__ import annotations

from tflm_sim.ops.op_table import OpTable
from tflm_sim.targets.changes import REFERENCE_FAMILIES

REFERENCE = OpTable(__name__, REFERENCE_FAMILIES)
"""The registrations of a plain build, by operator name."""

COMPRESSION_FAMILIES = {"variables": "ASSIGN_VARIABLE"}
"""What a build with USE_TFLM_COMPRESSION registers instead."""

ETHOS_U_FAMILIES = {"custom": "ethos-u"}
EDGE_TPU_FAMILIES = {"custom": "edgetpu-custom-op"}
"""What a build with the Ethos-U driver registers besides."""
