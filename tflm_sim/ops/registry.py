"""Which kernels a target links: tables of operator models on top of each other, chosen by rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache

from tflm_sim.ops import cmsis_nn, edge_impulse, esp_nn, mvp
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.op_table import OpTable
from tflm_sim.ops.reference import COMPRESSION_FAMILIES, EDGE_TPU_FAMILIES, ETHOS_U_FAMILIES, REFERENCE
from tflm_sim.targets.changes import CORAL, EDGE_IMPULSE, OPERATORS_SINCE
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.target import Target

_REFERENCE = REFERENCE.package
_LAYERS: tuple[tuple[Callable[[Target], bool], str, Mapping[str, str], str], ...] = (
    (lambda target: target.runtime.compression, _REFERENCE, COMPRESSION_FAMILIES, "COMPRESSION_MODELS"),
    (lambda target: target.ethos_u, _REFERENCE, ETHOS_U_FAMILIES, "ETHOS_U_MODELS"),
    (lambda target: "cmsis_nn" in target.kernel_library.layers, cmsis_nn.__name__, cmsis_nn.FAMILIES, "MODELS"),
    (lambda target: target.kernel_library.name == "esp_nn", esp_nn.__name__, esp_nn.FAMILIES, "MODELS"),
    (lambda target: target.kernel_library.name == "mvp", mvp.__name__, mvp.FAMILIES, "MODELS"),
    (lambda target: CORAL in dict(target.runtime.forks), _REFERENCE, EDGE_TPU_FAMILIES, "EDGE_TPU_MODELS"),
)
"""What lies on the reference table, lowest first: for which targets, package, families, the rows' name."""
_CMSIS_NN = 2
"""Which of them is CMSIS-NN."""


def registrations(target: Target, custom_ops: Iterable[OpModel] = ()) -> Mapping[str, OpModel]:
    """Return the operator models that a firmware links, by operator name.

    Args:
        target: Whose kernel library.
        custom_ops: Kernels of one's own; they win over the library's of the same name.
    """
    table = _table(target.runtime, tuple(applies(target) for applies, *_ in _LAYERS))
    own = {row.op: row for row in custom_ops}
    return {**table, **own} if own else table


def _missing(since: Mapping[str, str], runtime: Runtime) -> set[str]:
    """Return the operators that came later than a version; ``since``: the change with which each came."""
    return {op for op, change in since.items() if not runtime.has(change)}


@lru_cache(maxsize=64)
def _table(runtime: Runtime, layers: tuple[bool, ...]) -> Mapping[str, OpModel]:
    if EDGE_IMPULSE in dict(runtime.forks) and not runtime.has("edge_impulse_2021"):
        return edge_impulse.early_table(has_cmsis_nn=layers[_CMSIS_NN], has_reduce_max=runtime.has("edge_impulse_mean"))
    table = REFERENCE
    for applies, (_, package, families, rows) in zip(layers, _LAYERS, strict=True):
        if applies:
            if package == cmsis_nn.__name__:
                gone = {op for op, change in cmsis_nn.UNTIL.items() if runtime.has(change)}
                families = _without(families, gone | _missing(cmsis_nn.SINCE, runtime))
            table = OpTable(package, families, rows=rows, base=table)
    later = _missing(OPERATORS_SINCE, runtime)
    table = table.without(frozenset(later)) if later else table
    return _of_edge_impulse(table, runtime) if EDGE_IMPULSE in dict(runtime.forks) else table


def _of_edge_impulse(table: OpTable, runtime: Runtime) -> Mapping[str, OpModel]:
    if not runtime.has("edge_impulse_kernels"):
        return edge_impulse.table_until_2023(table, runtime)
    missing = _missing(edge_impulse.SINCE, runtime)
    return OpTable(edge_impulse.__name__, _without(edge_impulse.FAMILIES, missing), base=table)


def _without(families: Mapping[str, str], missing: Collection[str]) -> dict[str, str]:
    """Return the families without some operators, for which the table below is asked."""
    return {family: " ".join(op for op in ops.split() if op not in missing) for family, ops in families.items()}


def coverage() -> dict[str, list[str]]:
    """Return, by operator name, the models whose trace of real TFLM prepares it; an operator without one is missing.

    ``tools/truth/coverage.py`` writes the summary.
    """
    from pathlib import Path

    models: dict[str, list[str]] = {}
    for row in Path(__file__).with_name("coverage.txt").read_text("utf-8").splitlines():
        model, _, operators = row.partition(": ")
        for operator in operators.split():
            models.setdefault(operator, []).append(model)
    return models
