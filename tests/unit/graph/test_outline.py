"""Operators of one kind are alike in all that a kernel may look at without a note of it."""

from __future__ import annotations

import pytest

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.graph.multiplications import total_multiplications
from tflm_sim.graph.operator_kinds import Kinds
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.values import replace

INT8 = TensorType.INT8
KINDS = Kinds(1000)


def add(
    shape: tuple[int, ...] = (1, 8),
    *,
    op: str = "ADD",
    scales: int = 1,
    is_constant: bool = False,
    twice: bool = False,
    activation: int = 0,
) -> Model:
    """Return a model of one operator that adds."""
    builder = ModelBuilder()
    quantized = {"scale": (0.5,) * scales, "zero_point": (0,) * scales}
    first, result = (builder.tensor(shape, INT8, **quantized) for _ in range(2))
    second = builder.tensor(shape, INT8, data=bytes(8) if is_constant else None, **quantized)
    options = {"fused_activation_function": activation}
    builder.operator(op, [first, first if twice else second], [result], options=options)
    return parse(builder.build(inputs=[first] if is_constant or twice else [first, second], outputs=[result]))


def kind(model: Model) -> int | None:
    return KINDS.operators(outlines(model)[0])[0][0]


def test_the_same_operator_of_another_model_is_of_the_same_kind() -> None:
    assert kind(add()) == kind(add()) is not None


@pytest.mark.parametrize(
    "other",
    [{"shape": (8,)}, {"scales": 2}, {"is_constant": True}, {"twice": True}, {"activation": 1}, {"op": "SUB"}],
    ids=str,
)
def test_whatever_a_kernel_may_look_at_makes_another_kind(other: dict[str, object]) -> None:
    assert kind(add(**other)) != kind(add())  # type: ignore[arg-type]


def test_an_empty_output_leaves_no_kind() -> None:
    assert kind(add((1, 0))) is None


def test_a_tensor_that_is_named_twice_is_listed_once() -> None:
    assert KINDS.operators(outlines(add(twice=True))[0])[0][1] == (0, 1)


def test_a_number_that_was_forgotten_is_never_given_again() -> None:
    few = Kinds(1)
    first, other, again = (few.operators(outlines(add(shape))[0])[0][0] for shape in ((1, 8), (1, 9), (1, 8)))
    assert len({first, other, again}) == 3


def test_lifetimes_are_found_once_for_all_targets() -> None:
    model = add()
    smallest_arena(model, "cortex-m4")
    found = {key: value for key, value in model.memo.items() if key != "outlines"}
    smallest_arena(model, "x86_64")
    assert len(found) == 1
    assert all(model.memo[key] is value for key, value in found.items())


def test_a_tensor_whose_buffer_is_the_one_behind_the_last_has_none() -> None:
    model = add()
    first, *others = model.subgraphs[0].tensors
    for buffer, has_buffers in ((len(model.buffers) - 1, True), (len(model.buffers), False)):
        subgraph = replace(model.subgraphs[0], tensors=(replace(first, buffer=buffer), *others))
        assert outlines(replace(model, subgraphs=(subgraph,)))[0].has_buffers is has_buffers


def test_an_operator_code_behind_the_last_counts_no_multiplications() -> None:
    model = add()
    (operator,) = model.subgraphs[0].operators
    subgraph = replace(model.subgraphs[0], operators=(replace(operator, opcode_index=len(model.operator_codes)),))
    assert total_multiplications(replace(model, subgraphs=(subgraph,))) == 0
