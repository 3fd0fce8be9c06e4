"""The table of resource variables: TFLM looks at neither of its two allocations."""

from __future__ import annotations

import pytest

from tflm_sim.allocator.resources import resource_variable_names
from tflm_sim.allocator.simulate import Simulation, simulate
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import sample_path
from tflm_sim.target.presets import target

REFERENCE = target("cortex-m4", kernels="reference")


def handles(*names: str) -> Model:
    """Return a model with one VAR_HANDLE for each name."""
    builder = ModelBuilder()
    outputs = [builder.tensor((1,), TensorType.RESOURCE) for _ in names]
    for name, output in zip(names, outputs, strict=True):
        builder.operator("VAR_HANDLE", [], [output], options={"container": "", "shared_name": name})
    return parse(builder.build(inputs=[], outputs=[]))


def run(model: Model, arena_size: int = 1 << 16, count: int | None = None) -> Simulation:
    return simulate(model, REFERENCE, arena_size=arena_size, resource_variable_count=count)


def test_one_row_for_each_distinct_name() -> None:
    assert resource_variable_names(handles("a", "b", "a")) == {"a", "b"}
    table = [row for (group, _), row in run(handles("a", "b", "a")).ledger.labels.items() if "resource" in group]
    assert [row.requested for row in table] == [12, 2 * 20]  # MicroResourceVariables, two MicroResourceVariable


def test_a_model_without_variables_has_no_table_unless_the_firmware_makes_one() -> None:
    sine = load(sample_path("sine"))
    assert "resource variable table" not in run(sine).ledger.groups
    assert run(sine, count=100).ledger.groups["resource variable table"].requested == 12 + 100 * 20


@pytest.mark.parametrize(("count", "last_line"), [(0, "VAR_HANDLE"), (1, "reached.")])
def test_a_table_that_is_too_small_for_the_model(count: int, last_line: str) -> None:
    simulation = run(handles("a", "b"), count=count)
    assert simulation.status == "error"
    assert any(last_line in line for line in simulation.log)


def test_rows_that_do_not_fit_are_noticed_only_by_the_first_var_handle() -> None:
    simulation = run(handles("a"), arena_size=4096, count=1000)
    assert simulation.status == "abort"
    assert simulation.corruptions == ("no room for 1000 resource variables: their table is at a null pointer",)
    assert simulation.log[0].startswith("Failed to allocate tail memory. Requested: 20000, ")


def test_rows_that_do_not_fit_do_not_stop_a_model_without_var_handle() -> None:
    simulation = run(load(sample_path("sine")), arena_size=4096, count=1000)
    assert (simulation.status, len(simulation.corruptions)) == ("ok", 1)
