"""The lower bound of the arena: what is alive at the fullest operator, in multiples of 16, and the structs.

On a Cortex-M4 a TfLiteEvalTensor has 12 bytes and a NodeAndRegistration 32.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tflm_sim import arena_objective
from tflm_sim.extensions.sweep.objective import _live_bytes
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType

OBJECTIVE = arena_objective("cortex-m4")


def model(*sizes: int, operators: tuple[tuple[list[int], list[int]], ...], **ends: tuple[int, ...]) -> Model:
    """Return a model of byte tensors, and operators by their inputs and outputs."""
    builder = ModelBuilder()
    for size in sizes:
        builder.tensor((1, size), TensorType.INT8)
    for inputs, outputs in operators:
        builder.operator("RELU", inputs, outputs)
    made = builder.model()
    return replace(made, subgraphs=(replace(made.subgraphs[0], **ends),))


CHAIN = (([0], [1]), ([1], [2]))


@pytest.mark.parametrize(
    ("sizes", "operators", "ends", "live"),
    [
        # 16 + 48 at the first operator, 48 + 16 at the second one.
        ((16, 33, 5), CHAIN, {"inputs": (0,), "outputs": (2,)}, 64),
        ((16, 33, 17), CHAIN, {"inputs": (0,), "outputs": (2,)}, 48 + 32),
        ((80, 33, 5), CHAIN, {"inputs": (0,), "outputs": (2,)}, 80 + 48),
        # An output stays to the end: all three at the second operator.
        ((16, 32, 48), CHAIN, {"inputs": (0,), "outputs": (0, 2)}, 16 + 32 + 48),
        # An input is there from the start, though it is read at the second operator.
        ((16, 32, 48, 64), (([0], [1]), ([1, 3], [2])), {"inputs": (0, 3), "outputs": (2,)}, 64 + 32 + 48),
        ((160, 32, 48, 64), (([0], [1]), ([1, 3], [2])), {"inputs": (0, 3), "outputs": (2,)}, 160 + 32 + 64),
        # An input that nobody reads is there at the first operator: 16 + 32 + 160, then 32 + 48.
        ((16, 32, 48, 160), CHAIN, {"inputs": (0, 3), "outputs": (2,)}, 16 + 32 + 160),
        # Without being an input it is alive where it is read.
        ((160, 32, 48, 64), (([0], [1]), ([1, 3], [2])), {"inputs": (0,), "outputs": (2,)}, 160 + 32),
        # What nobody makes and nobody reads lives at the end.
        ((16, 16, 16, 64), CHAIN, {"inputs": (0,), "outputs": (2, 3)}, 16 + 64),
        # An index beyond the tensors, and -1 for none.
        ((16, 16, 16), (([0, -1], [1]), ([1], [2])), {"inputs": (0,), "outputs": (2, 3)}, 32),
        ((), (), {"inputs": (), "outputs": ()}, 0),
    ],
)
def test_the_fullest_moment(sizes: tuple[int, ...], operators: Any, ends: Any, live: int) -> None:
    made = model(*sizes, operators=operators, **ends)
    assert _live_bytes(made) == live
    assert OBJECTIVE.lower_bound(made) == live + len(sizes) * 12 + len(operators) * 32


def test_constants_and_variables_are_no_bytes_of_the_head() -> None:
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 16), TensorType.INT8) for _ in range(2))
    weights = builder.tensor((1, 160), TensorType.INT8, data=bytes(160))
    state = builder.tensor((1, 320), TensorType.INT8, is_variable=True)
    floats = builder.tensor((3, 2), TensorType.FLOAT32)  # 24 bytes
    builder.operator("CONCATENATION", [source, weights, state, floats], [result])
    builder.build(inputs=[source], outputs=[result])
    made = builder.model()
    assert _live_bytes(made) == 16 + 32 + 16


def test_every_subgraph_has_its_structs_and_a_model_without_one_nothing() -> None:
    made = model(16, 16, 16, operators=CHAIN, inputs=(0,), outputs=(2,))
    twice = replace(made, subgraphs=made.subgraphs * 2)
    assert OBJECTIVE.lower_bound(twice) == 32 + 2 * (3 * 12 + 2 * 32)
    assert OBJECTIVE.lower_bound(replace(made, subgraphs=())) == 0


def test_where_no_arena_works_the_objective_is_infinite() -> None:
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 16), TensorType.INT8) for _ in range(2))
    builder.custom("NOBODY_KNOWS", [source], [result])
    assert OBJECTIVE(builder.build(inputs=[source], outputs=[result])) == float("inf")
