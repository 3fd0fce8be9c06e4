"""Which kernels a target links: the reference table, with a kernel library's rows on top."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module

from tflm_sim.ops import cmsis_nn, esp_nn
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.op_table import OpTable
from tflm_sim.ops.reference import REFERENCE, REFERENCE_COMPRESSION
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, ESP_1_3_3_SNAPSHOT
from tflm_sim.targets.target import Target

_OVERLAYS = {
    "cmsis_nn": (cmsis_nn.__name__, cmsis_nn.FAMILIES),
    "esp_nn": (esp_nn.__name__, esp_nn.FAMILIES),
}


def registrations(target: Target, custom_ops: Iterable[OpModel] = ()) -> Mapping[str, OpModel]:
    """Return the operator models that a firmware links, by operator name.

    Args:
        target: Whose kernel library.
        custom_ops: Kernels of one's own; they win over the library's of the same name.
    """
    table, own = _library(target), {row.op: row for row in custom_ops}
    return {**table, **own} if own else table


def _library(target: Target) -> Mapping[str, OpModel]:
    if target.runtime.snapshot == CHIRALE_SNAPSHOT:
        return _chirale()
    table = _table(target.kernel_library.name, target.runtime.compression, target.ethos_u)
    if target.runtime.snapshot == ESP_1_3_3_SNAPSHOT:
        return OpTable(esp_nn.__name__, esp_nn.FAMILIES_1_3_3, base=table)
    return table


@cache
def _chirale() -> Mapping[str, OpModel]:
    """Return the table of a library of its own time: what was compared with it, and refusals for the rest."""
    module = import_module("tflm_sim.ops.chirale")
    refused: dict[str, OpModel] = {op: module.unmodelled(op) for op in REFERENCE}
    return refused | {model.op: model for model in module.MODELS}


@cache
def _table(library: str, compression: bool, ethos_u: bool) -> Mapping[str, OpModel]:
    table = REFERENCE_COMPRESSION if compression else REFERENCE
    if ethos_u:
        table = OpTable("tflm_sim.ops.reference", {"ethos_u": "ethos-u"}, rows="ETHOS_U_MODELS", base=table)
    if library not in _OVERLAYS:
        return table
    package, families = _OVERLAYS[library]
    return OpTable(package, families, base=table)
