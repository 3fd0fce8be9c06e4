"""``verify()`` follows IF and WHILE: their subgraphs may get other numbers, but must say and keep the same."""

from __future__ import annotations

from dataclasses import replace

import control_flow_models
import pytest

from tflm_sim import parse, shrink
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, Operator, TensorType

SHAPE = (1, 4)
QUANTIZED = {"scale": 0.5, "zero_point": 0}


def branch(builder: ModelBuilder, *operators: str, name: str = "state") -> int:
    """Add a subgraph of unary operators; "SUM" adds to a resource variable. Return its index."""
    graph = builder.add_subgraph()
    x = source = graph.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
    for each in operators:
        y = graph.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
        if each == "SUM":
            handle, before = graph.tensor((), TensorType.RESOURCE), graph.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
            graph.operator("VAR_HANDLE", [], [handle], options={"shared_name": name})
            graph.operator("READ_VARIABLE", [handle], [before])
            graph.operator("ADD", [before, x], [y])
            graph.operator("ASSIGN_VARIABLE", [handle, y], [])
        else:
            graph.operator(each, [x], [y])
        x = y
    graph.inputs, graph.outputs = [source], [x]
    return graph.index


def chosen(*branches: tuple[str, ...], reads_state: bool = False) -> Model:
    """Return a model of an IF for each two branches, one after the other; it may read the state in front of them."""
    builder = ModelBuilder()
    indices = [branch(builder, *each) for each in branches]
    condition = builder.tensor((1,), TensorType.BOOL)
    x = source = builder.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
    outputs = []
    if reads_state:
        handle, state = builder.tensor((), TensorType.RESOURCE), builder.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
        builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "state"})
        builder.operator("READ_VARIABLE", [handle], [state])
        outputs = [state]
    for then, other in zip(indices[::2], indices[1::2], strict=True):
        y = builder.tensor(SHAPE, TensorType.INT8, **QUANTIZED)
        options = {"then_subgraph_index": then, "else_subgraph_index": other}
        builder.operator("IF", [condition, x], [y], options=options)
        x = y
    return parse(builder.build(inputs=[condition, source], outputs=[x, *outputs]))


def with_operators(model: Model, *operators: Operator) -> Model:
    main = replace(model.subgraphs[0], operators=operators)
    return parse(encode(replace(model, subgraphs=(main, *model.subgraphs[1:]))))


def renumbered(model: Model, *order: int) -> Model:
    """Return the model with its other subgraphs in another order, and the numbers in its IFs with them."""
    moved = replace(model, subgraphs=(model.subgraphs[0], *(model.subgraphs[old] for old in order)))
    places = {old: new for new, old in enumerate(order, 1)}
    operators = [
        replace(each, options={name: places[number] for name, number in each.options.items()})
        for each in model.subgraphs[0].operators
    ]
    return with_operators(moved, *operators)


def refused(original: Model, result: Model) -> str:
    try:
        verify(original, result)
    except VerificationFailed as failure:
        return str(failure)
    return ""


def test_a_subgraph_under_another_number_is_the_same() -> None:
    model = chosen(("NEG",), ("ABS",), ("SUM",), ("NEG", "ABS"))
    assert refused(model, renumbered(model, 3, 1, 4, 2)) == ""


def test_the_branches_the_other_way_round_are_refused() -> None:
    model = chosen(("NEG",), ("ABS",))
    swapped = replace(model, subgraphs=(model.subgraphs[0], model.subgraphs[2], model.subgraphs[1]))
    assert "IF is used in a way that is not supported" in refused(model, parse(encode(swapped)))


def test_a_state_is_not_read_behind_the_if_that_changes_it_instead_of_before() -> None:
    model = chosen(("SUM",), ("ABS",), reads_state=True)
    handle, read, choice = model.subgraphs[0].operators
    assert refused(model, model) == ""
    assert "other outputs" in refused(model, with_operators(model, handle, choice, read))


def test_a_state_that_a_branch_keeps_is_one_of_the_states_that_are_compared() -> None:
    model = chosen(("SUM",), ("ABS",))
    assert verify(model, model).states == 4


@pytest.mark.parametrize(("layer", "refusal"), [("SUM", "other outputs"), ("NEG", "")])
def test_two_ifs_that_add_to_one_state_keep_their_order_and_others_need_not(layer: str, refusal: str) -> None:
    model = chosen((layer,), ("ABS",), (layer, "ABS"), ("ABS",))
    one, other = model.subgraphs[0].operators
    beside = replace(other, inputs=one.inputs)
    said = refused(with_operators(model, one, beside), with_operators(model, beside, one))
    assert (refusal in said, said == "") == (True, refusal == "")
    assert refused(with_operators(model, one, beside), with_operators(model, one, beside)) == ""


@pytest.mark.parametrize("seed", range(12))
def test_nothing_that_the_passes_do_around_if_and_while_is_refused(seed: int) -> None:
    shrunk = shrink(control_flow_models.random_control_flow(seed), "cortex-m4", offline_plan=seed % 2 == 0)
    assert [each.reason for each in shrunk.rejected if "refused" in each.reason] == []
