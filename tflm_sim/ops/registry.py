"""Which kernels a target links: the reference table, with a kernel library's rows on top."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tflm_sim.ops.cmsis_nn import CMSIS_NN
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.reference import REFERENCE, REFERENCE_COMPRESSION
from tflm_sim.ops.reference.ethos_u import ETHOS_U
from tflm_sim.target.target import Target

_OVERLAYS: dict[str, Mapping[str, OpModel]] = {"reference": {}, "cmsis_nn": CMSIS_NN}


def registrations(target: Target) -> Mapping[str, OpModel]:
    """Return the operator models of the target's kernel library, by operator name."""
    return _table(target.kernel_library.name, target.runtime.compression, target.ethos_u)


@cache
def _table(library: str, compression: bool, ethos_u: bool) -> Mapping[str, OpModel]:
    reference = REFERENCE_COMPRESSION if compression else REFERENCE
    driver = {ETHOS_U.op: ETHOS_U} if ethos_u else {}
    return {**reference, **driver, **_OVERLAYS[library]}
