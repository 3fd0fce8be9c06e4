"""Which kernels a target links: the reference table, with a kernel library's rows on top."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module

from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.op_table import OpTable
from tflm_sim.ops.reference import REFERENCE, REFERENCE_COMPRESSION
from tflm_sim.target.target import Target

_OVERLAYS = {"cmsis_nn": ("tflm_sim.ops.cmsis_nn", "CMSIS_NN")}


def registrations(target: Target) -> Mapping[str, OpModel]:
    """Return the operator models of the target's kernel library, by operator name."""
    return _table(target.kernel_library.name, target.runtime.compression, target.ethos_u)


@cache
def _table(library: str, compression: bool, ethos_u: bool) -> Mapping[str, OpModel]:
    table = REFERENCE_COMPRESSION if compression else REFERENCE
    if ethos_u:
        table = OpTable("tflm_sim.ops.reference", {"ethos_u": "ethos-u"}, rows="ETHOS_U_MODELS", base=table)
    if library not in _OVERLAYS:
        return table
    module, name = _OVERLAYS[library]
    overlay: Mapping[str, OpModel] = getattr(import_module(module), name)
    return {**table, **overlay}
