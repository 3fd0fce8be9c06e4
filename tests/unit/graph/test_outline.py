"""Operators of one kind are alike in all that a kernel may look at without a note of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.graph.multiplications import total_multiplications
from tflm_sim.graph.operator_kinds import Kinds
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

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


def kinds(*operators: tuple[str, list[int] | None, dict[str, object]], count: int = 4) -> list[int | None]:
    """Return the kinds of operators with one output, the last of ``count`` tensors that are all alike."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 8), INT8) for _ in range(count)]
    for op, inputs, options in operators:
        builder.operator(op, inputs, [tensors[-1]], options=options)  # type: ignore[arg-type]
    model = parse(builder.build(inputs=[], outputs=[]))
    return [number for number, _ in KINDS.operators(outlines(model)[0])]


def test_where_the_tensors_stand_in_the_model_makes_no_other_kind_but_how_they_are_named_does() -> None:
    pairs = [[0, 1], [1, 2], [0, 0], [0, -1], [-1, 0], [0]]
    first, second, *others = kinds(*(("MAXIMUM", pair, {}) for pair in pairs))
    assert first == second
    assert len({first, *others}) == 5
    triples = [[0, 0, 1], [0, 1, 1], [0, 1, 0]]
    assert len(set(kinds(*(("MAXIMUM", triple, {}) for triple in triples)))) == 3
    assert len(set(kinds(*(("MAXIMUM", triple, {}) for triple in ([0, 1, -1], [1, 2, -1]))))) == 1


def test_an_operator_that_names_no_tensor_is_of_a_kind_too() -> None:
    builder = ModelBuilder()
    for tensors in ([], None):
        builder.operator("CALL_ONCE", tensors, tensors, options={"init_subgraph_index": 1})
    builder.add_subgraph()
    model = parse(builder.build(inputs=[], outputs=[]))
    (first, none), (second, nothing) = KINDS.operators(outlines(model)[0])
    assert None not in (first, second)
    assert first != second  # A vector that is absent is not one without tensors.
    assert none == nothing == ()


def test_absent_tensors_are_not_listed() -> None:
    builder = ModelBuilder()
    for _ in range(4):
        builder.tensor((1, 8), INT8)
    for inputs in ([0, -1, 2], [-1, -1, 1], [3, 0, 3]):
        builder.operator("MAXIMUM", inputs, [3])
    model = parse(builder.build(inputs=[], outputs=[]))
    assert [tensors for _, tensors in KINDS.operators(outlines(model)[0])] == [(0, 2, 3), (1, 3), (3, 0)]


def test_a_zero_below_zero_is_another_option() -> None:
    def relu(alpha: float) -> int | None:
        model = add()
        operators = (replace(model.subgraphs[0].operators[0], options={"alpha": alpha}),)
        return kind(replace(model, subgraphs=(replace(model.subgraphs[0], operators=operators),)))

    assert len({relu(0.0), relu(-0.0), relu(0.5)}) == 3
    assert relu(0.5) == relu(0.5)


def plain(shape: tuple[int, ...] | None, *, is_constant: bool = False) -> int | None:
    builder = ModelBuilder()
    x = builder.tensor(shape, INT8, data=bytes(8) if is_constant else None)
    builder.operator("RELU", [x], [builder.tensor((1, 8), INT8)])
    return kind(parse(builder.build(inputs=[], outputs=[])))


def test_a_tensor_without_a_quantization_has_a_shape_and_may_be_constant() -> None:
    assert len({plain((8,)), plain((1, 8)), plain((8,), is_constant=True), plain(())}) == 4
    assert plain(None) == plain(())


def test_an_output_is_empty_where_any_dimension_is_below_one() -> None:
    def output(shape: tuple[int, ...] | None) -> int | None:
        builder = ModelBuilder()
        builder.operator("RELU", [builder.tensor((1, 8), INT8)], [builder.tensor(shape, INT8)])
        return kind(parse(builder.build(inputs=[], outputs=[])))

    assert output((4, 0)) is output((-1, 4)) is None
    assert None not in (output((1, 1)), output(()), output(None))


def test_custom_options_leave_no_kind() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 8), INT8) for _ in range(2))
    builder.custom("MINE", [x], [y], options=b"\1")
    builder.custom("MINE", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    (with_options, _), (without, _) = KINDS.operators(outlines(model)[0])
    assert with_options is None
    assert without is not None
