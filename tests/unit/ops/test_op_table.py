"""Every family of the reference kernels stands in the table, with exactly the operators that it models."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

import pytest

from tflm_sim.errors import TflmSimError
from tflm_sim.ops import cmsis_nn, esp_nn, mvp, reference
from tflm_sim.ops.op_table import OpTable
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.presets import preset


def rows(table: str, package: ModuleType = reference) -> set[str]:
    families = [import_module(f"{package.__name__}.{found.name}") for found in pkgutil.iter_modules(package.__path__)]
    return {model.op for family in families for model in getattr(family, table, ())}


def test_the_reference_table_has_the_rows_of_its_modules() -> None:
    assert set(REFERENCE) == rows("MODELS"), "each name stands in _ARRIVALS of tflm_sim/targets/changes.py, too"
    assert all(REFERENCE[op].op == op for op in REFERENCE)


@pytest.mark.parametrize("package", [cmsis_nn, esp_nn, mvp])
def test_the_families_of_a_library_have_the_rows_of_its_modules(package: ModuleType) -> None:
    assert {op for ops in package.FAMILIES.values() for op in ops.split()} == rows("MODELS", package)


def test_a_row_that_no_table_names_is_told_where_the_operator_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reference.check_that_nothing_models("TILE")
    monkeypatch.setattr(reference, "REFERENCE", OpTable(reference.__name__, {"activations": "ELU"}))
    with pytest.raises(
        TflmSimError, match=r"reference\.activations models PRELU, but _ARRIVALS of targets/changes\.py"
    ):
        reference.check_that_nothing_models("PRELU")


def test_a_build_with_compression_replaces_the_rows_that_differ() -> None:
    compression = registrations(preset("x86_64-compression", runtime="8f6596d"))
    assert set(compression) == set(REFERENCE)
    changed = {op for op in REFERENCE if compression[op] != REFERENCE[op]}
    assert changed == rows("COMPRESSION_MODELS") == {"ASSIGN_VARIABLE"}


def test_a_kernel_that_came_later_is_not_found_beside_one_of_its_file_that_was_there() -> None:
    table = registrations(preset("cortex-m4", runtime="2023-04-10"))
    assert table["CONV_2D"] != REFERENCE["CONV_2D"]
    assert table["TRANSPOSE_CONV"] == REFERENCE["TRANSPOSE_CONV"]  # until c845961df of 2023-11-07


def test_a_named_operator_whose_module_has_no_row_of_it_is_told() -> None:
    table = OpTable(reference.__name__, {"activations": "NEW_OP ELU"})
    assert table["ELU"].op == "ELU"
    with pytest.raises(TflmSimError, match=r"MODELS of tflm_sim\.ops\.reference\.activations has no row of NEW_OP"):
        table.get("NEW_OP")


def test_an_operator_without_a_row_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        REFERENCE["TILE"]
    assert REFERENCE.get("TILE") is None
