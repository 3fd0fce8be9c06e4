"""Lifetimes before March 2022, when each subgraph was planned alone: time is counted in operators."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.graph.lifetimes import ScratchBufferRequest
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.subgraph_lifetimes import SubgraphRules, subgraph_lifetimes
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.values import replace

INT8 = TensorType.INT8
NEWEST = SubgraphRules(outputs_are_used=True, partial_lifetimes=True, vectors_may_be_absent=True)


def alive(
    model: Model, subgraph: int = 0, rules: SubgraphRules = NEWEST, requests: tuple[ScratchBufferRequest, ...] = ()
) -> list[tuple[int, int]]:
    tensors = outlines(model)[subgraph].eval_tensors()
    infos = subgraph_lifetimes(model, subgraph, tensors, requests, None, rules)
    return [(info.first_created, info.last_used) for info in infos]


def with_an_unused_result() -> Model:
    """RELUs: x to y, which nothing reads; x to z; in a second subgraph a to b, and to c, which nothing reads."""
    builder = ModelBuilder()
    x, y, z = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [x], [y])
    builder.operator("RELU", [x], [z])
    other = builder.add_subgraph()
    a, b, c = (other.tensor((4,), INT8) for _ in range(3))
    other.operator("RELU", [a], [b])
    other.operator("RELU", [a], [c])
    other.inputs, other.outputs = [a], [b]
    return parse(builder.build(inputs=[x], outputs=[z]))


def test_a_tensor_lives_from_the_operator_that_writes_it_to_the_last_that_reads_it() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [x], [y])
    builder.operator("ADD", [x, y], [z])
    builder.operator("RELU", [y], [x])
    model = parse(builder.build(inputs=[x], outputs=[z]))
    # z is an output of the model: it lives to the last operator. x is written anew, and read no more.
    assert alive(model) == [(0, 2), (0, 2), (1, 2)]
    assert alive(model, requests=(ScratchBufferRequest(0, 1, 64),))[3:] == [(1, 1)]


def test_what_nothing_reads_lives_through_its_operator_or_before_november_2021_ends_before_it_begins() -> None:
    model = with_an_unused_result()
    assert alive(model) == [(0, 1), (0, 0), (1, 1)]
    assert alive(model, rules=replace(NEWEST, outputs_are_used=False)) == [(0, 1), (0, -1), (1, 1)]


def test_a_second_subgraph_counts_on_from_the_first_but_its_message_from_its_own_start() -> None:
    model = with_an_unused_result()
    assert alive(model, 1) == [(2, 3), (2, 3), (3, 3)]
    with pytest.raises(PlanningError) as caught:
        alive(model, 1, SubgraphRules(outputs_are_used=False, partial_lifetimes=False, vectors_may_be_absent=True))
    assert caught.value.device_message == (
        "Logic error in memory planner, tensor 2 has an invalid lifetime: first_created: 1, last_used: -1"
    )


def test_what_is_only_read_is_no_error_and_needs_no_bytes_of_its_own() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((4,), INT8), builder.tensor((4,), INT8)
    builder.operator("ADD", [x, y], [x])
    model = parse(builder.build(inputs=[x], outputs=[x]))
    assert alive(model, rules=replace(NEWEST, partial_lifetimes=False)) == [(0, 0), (-1, 0)]


def test_an_absent_vector_was_read_through_a_null_pointer_before_november_2021() -> None:
    model = with_an_unused_result()
    first = replace(model.subgraphs[0], inputs=None)
    model = replace(model, subgraphs=[first, *model.subgraphs[1:]])
    # x has no beginning, as nothing says that it is an input.
    assert alive(model) == [(-1, 1), (0, 0), (1, 1)]
    with pytest.raises(PlanningError) as caught:
        alive(model, rules=replace(NEWEST, vectors_may_be_absent=False))
    assert caught.value.status == "abort"
