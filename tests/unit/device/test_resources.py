"""The table of resource variables: TFLM looks at neither of its two allocations."""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.device.resources import resource_variable_names
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.size_answer import arena_answer
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

REFERENCE = preset("cortex-m4", kernels="reference")


def handles(*names: str) -> Model:
    """Return a model with one VAR_HANDLE for each name."""
    builder = ModelBuilder()
    outputs = [builder.tensor((1,), TensorType.RESOURCE) for _ in names]
    for name, output in zip(names, outputs, strict=True):
        builder.operator("VAR_HANDLE", [], [output], options={"container": "", "shared_name": name})
    return parse(builder.build(inputs=[], outputs=[]))


def run(model: Model, arena_size: int = 1 << 16, count: int | None = None) -> Simulation:
    return simulate(model, REFERENCE, arena_size=arena_size, resource_variables=count)


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


def test_an_arena_of_its_own_holds_the_table_and_the_models_arena_the_rest() -> None:
    model = load(sample_path("streaming"))
    together = simulate(model, REFERENCE, resource_variables=20)
    apart = simulate(model, REFERENCE, resource_variables=20, variable_arena=1024)
    assert together.ledger.groups["resource variable table"].requested == 12 + 20 * 20
    assert "resource variable table" not in apart.ledger.groups
    assert together.tail_bytes - apart.tail_bytes == 416  # 412 bytes; the object below them is aligned to 16.
    assert apart.head_bytes == together.head_bytes
    variables = [label for _, label in apart.ledger.labels if label.startswith("resource variable ")]
    assert len(variables) == len(resource_variable_names(model))


def test_the_smallest_arena_does_not_count_the_other_one() -> None:
    model = load(sample_path("streaming"))
    size = smallest_arena(model, REFERENCE, resource_variables=20, variable_arena=1024).size
    for arena_size, status in ((size, "ok"), (size - 1, "error")):
        run_there = simulate(model, REFERENCE, arena_size=arena_size, resource_variables=20, variable_arena=1024)
        assert run_there.status == status


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (64, "no room for the GreedyMemoryPlanner"),  # 36 of the arena's allocator leave 28 bytes
        (112, "no room for the MicroAllocator"),
        (124, "no room for MicroResourceVariables"),
    ],
)
def test_an_arena_of_its_own_that_is_too_small(size: int, message: str) -> None:
    simulation = simulate(handles("a"), REFERENCE, resource_variables=20, variable_arena=size)
    assert simulation.status == "abort"
    assert message in str(simulation.failure)
    assert arena_answer(simulation).failed_step == "variable arena"
    assert simulation.log[0].startswith("Failed to allocate tail memory. ")


def test_rows_that_do_not_fit_in_an_arena_of_their_own() -> None:
    simulation = simulate(handles("a"), REFERENCE, resource_variables=20, variable_arena=256)
    assert simulation.status == "abort"
    assert simulation.corruptions == ("no room for 20 resource variables: their table is at a null pointer",)
