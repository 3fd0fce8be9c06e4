"""Lifetimes before March 2022, when each subgraph was planned alone: time is counted in operators."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.graph.lifetimes import ScratchBufferRequest
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.subgraph_lifetimes import SubgraphRules, subgraph_lifetimes
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

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


def test_an_absent_input_marks_no_tensor_and_the_first_one_is_a_tensor() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [x], [y])
    builder.operator("FULLY_CONNECTED", [x, y, -1], [y])
    model = parse(builder.build(inputs=[x], outputs=[]))
    # z is the last tensor, which -1 would be.
    assert alive(model) == [(0, 1), (0, 1), (-1, -1)]
    assert z == 2


def rows(model: Model, offsets: list[int] | None = None, **marks: object) -> list[tuple[bool, int, int]]:
    tensors = outlines(model)[0].eval_tensors()
    for name, value in marks.items():
        setattr(tensors[0], name, value)
    infos = subgraph_lifetimes(model, 0, tensors, (ScratchBufferRequest(1, 0, 24),), offsets, NEWEST)
    return [(info.needs_allocating, info.offline_offset, info.size) for info in infos]


def test_constants_variables_and_handles_are_not_planned_and_every_tensor_has_its_offset() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((4,), INT8), builder.tensor((8,), INT8)
    builder.tensor((2,), INT8, data=b"\1\2")
    builder.tensor((16,), INT8, is_variable=True)
    builder.operator("RELU", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    scratch = (True, -1, 24)
    assert rows(model) == [(True, -1, 4), (True, -1, 8), (False, -1, 2), (False, -1, 16), scratch]
    offsets = [(True, 0, 4), (True, 32, 8), (False, 48, 2), (False, 64, 16), scratch]
    assert rows(model, [0, 32, 48, 64]) == offsets
    assert rows(model, resource_id=0)[0] == (False, -1, 4)


def test_a_scratch_buffer_is_a_row_of_its_own() -> None:
    model = with_an_unused_result()
    tensors = outlines(model)[1].eval_tensors()
    requests = (ScratchBufferRequest(0, 1, 8), ScratchBufferRequest(1, 0, 24))
    *_, first, second = subgraph_lifetimes(model, 1, tensors, requests, None, NEWEST)
    assert (first.subgraph, first.tensor, first.scratch, first.node, first.size) == (0, -1, 0, 1, 8)
    assert (second.subgraph, second.tensor, second.scratch, second.node, second.size) == (1, -1, 1, 0, 24)
    # Two operators are before this subgraph, whose operators 1 and 0 they are taken for.
    assert [(info.first_created, info.last_used) for info in (first, second)] == [(3, 3), (2, 2)]
    assert first.needs_allocating


def test_what_is_written_and_never_read_is_refused_only_where_it_is_planned() -> None:
    old = replace(NEWEST, outputs_are_used=False, partial_lifetimes=False)
    builder = ModelBuilder()
    x, y = builder.tensor((4,), INT8), builder.tensor((4,), INT8)
    state = builder.tensor((4,), INT8, is_variable=True)
    builder.operator("RELU", [x], [y])
    builder.operator("RELU", [x], [state])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    assert alive(model, rules=old) == [(0, 1), (0, 1), (1, -1)]


def test_a_vector_that_is_there_was_always_read() -> None:
    model = with_an_unused_result()
    assert alive(model, rules=replace(NEWEST, vectors_may_be_absent=False)) == alive(model)


def test_a_tensor_that_nothing_names_was_refused() -> None:
    builder = ModelBuilder()
    x, y, _ = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    with pytest.raises(PlanningError, match=r"tensor 2 has an invalid lifetime: first_created: -1, last_used: -1$"):
        alive(model, rules=replace(NEWEST, partial_lifetimes=False))


def test_the_row_of_a_tensor_names_no_scratch_buffer_and_no_operator() -> None:
    model = with_an_unused_result()
    first = subgraph_lifetimes(model, 0, outlines(model)[0].eval_tensors(), (), None, NEWEST)[0]
    assert (first.tensor, first.scratch, first.node) == (0, -1, -1)
