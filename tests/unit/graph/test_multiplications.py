"""Multiply-accumulates of one operator, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.graph.multiplications import multiplications, total_multiplications
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType


@pytest.mark.parametrize(
    ("op", "inputs", "output", "count"),
    [
        ("CONV_2D", [(1, 8, 8, 3), (16, 3, 5, 3), (16,)], (1, 6, 4, 16), 6 * 4 * 16 * 3 * 5 * 3),
        ("DEPTHWISE_CONV_2D", [(1, 8, 8, 3), (1, 3, 5, 6), (6,)], (1, 6, 4, 6), 6 * 4 * 6 * 3 * 5),
        ("TRANSPOSE_CONV", [(4,), (7, 3, 5, 2), (1, 4, 6, 2)], (1, 8, 12, 7), 4 * 6 * 2 * 7 * 3 * 5),
        ("TRANSPOSE_CONV", [(4,), (7, 3, 5, 2)], (1, 8, 12, 7), 0),
        ("FULLY_CONNECTED", [(2, 3, 4), (5, 12)], (2, 5), 2 * 5 * 12),
        ("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), 2 * 3 * 5 * 4),
        ("FULLY_CONNECTED", [(2, 3, 4), (5, 0)], (2, 5), 0),  # An empty row of weights divides nothing.
        ("FULLY_CONNECTED", [(2, 1), (5, 1)], (2, 5), 2 * 5 * 1),
        ("BATCH_MATMUL", [(), (2, 4, 5)], (2, 3, 5), 2 * 3 * 5),  # Of an absent input: a product for each.
        ("ADD", [(4,), (4,)], (4,), 0),
        ("CONV_2D", [(1, 8, 8, 3)], (1, 6, 4, 16), 0),
        ("CONV_2D", [(1, 8, 8, 3), ()], (1, 6, 4, 16), 0),
    ],
)
def test_an_output_element_takes_a_product_for_each_weight_that_it_sees(
    op: str, inputs: list[tuple[int, ...]], output: tuple[int, ...], count: int
) -> None:
    assert multiplications(op, inputs, [output]) == count


def test_an_operator_without_outputs_computes_nothing() -> None:
    assert multiplications("CONV_2D", [(1, 8, 8, 3), (16, 3, 5, 3)], []) == 0


def layers(*, bias: int | None = None) -> Model:
    """Return FULLY_CONNECTED of 4 to 3 elements, then one of 3 to 2, whose weights are the tensor before."""
    builder = ModelBuilder()
    tensors = [builder.tensor(shape, TensorType.FLOAT32) for shape in ((1, 4), (3, 4), (1, 3), (2, 3), (1, 2))]
    for first in (0, 2):
        rest = [] if bias is None else [bias]
        builder.operator("FULLY_CONNECTED", [tensors[first], tensors[first + 1], *rest], [tensors[first + 2]])
    return parse(builder.build(inputs=[0], outputs=[4]))


@pytest.mark.parametrize("bias", [None, -1])
def test_those_of_a_model_are_the_sum_over_its_operators(bias: int | None) -> None:
    assert total_multiplications(layers(bias=bias)) == 4 * 3 + 3 * 2


def test_weights_that_are_absent_are_multiplied_with_nothing() -> None:
    model = layers()
    first, second = model.subgraphs[0].operators
    subgraph = replace(model.subgraphs[0], operators=(replace(first, inputs=(0, -1)), second))
    assert total_multiplications(replace(model, subgraphs=(subgraph,))) == 3 * 2


def test_a_model_without_subgraphs_and_one_without_vectors_compute_nothing() -> None:
    model = layers()
    assert total_multiplications(replace(model, subgraphs=())) == 0
    operators = tuple(replace(operator, inputs=None, outputs=None) for operator in model.subgraphs[0].operators)
    assert total_multiplications(replace(model, subgraphs=(replace(model.subgraphs[0], operators=operators),))) == 0


@pytest.mark.parametrize(("number", "count"), [(9, 18), (-1, 0), (100_000, 0)])
def test_an_operator_code_that_the_schema_does_not_have_counts_as_none(number: int, count: int) -> None:
    model = layers()
    (code,) = model.operator_codes
    assert code.builtin_code == 9  # FULLY_CONNECTED
    codes = (replace(code, builtin_code=number),)
    assert total_multiplications(replace(model, operator_codes=codes)) == count
    second = replace(model.subgraphs[0].operators[1], opcode_index=-1)
    subgraph = replace(model.subgraphs[0], operators=(model.subgraphs[0].operators[0], second))
    assert total_multiplications(replace(model, operator_codes=codes, subgraphs=(subgraph,))) == count * 12 // 18
