"""Multiply-accumulates of one operator, counted by hand."""

from __future__ import annotations

import pytest

from tflm_sim.graph.multiplications import multiplications


@pytest.mark.parametrize(
    ("op", "inputs", "output", "count"),
    [
        ("CONV_2D", [(1, 8, 8, 3), (16, 3, 5, 3), (16,)], (1, 6, 4, 16), 6 * 4 * 16 * 3 * 5 * 3),
        ("DEPTHWISE_CONV_2D", [(1, 8, 8, 3), (1, 3, 5, 6), (6,)], (1, 6, 4, 6), 6 * 4 * 6 * 3 * 5),
        ("TRANSPOSE_CONV", [(4,), (7, 3, 5, 2), (1, 4, 6, 2)], (1, 8, 12, 7), 4 * 6 * 2 * 7 * 3 * 5),
        ("TRANSPOSE_CONV", [(4,), (7, 3, 5, 2)], (1, 8, 12, 7), 0),
        ("FULLY_CONNECTED", [(2, 3, 4), (5, 12)], (2, 5), 2 * 5 * 12),
        ("BATCH_MATMUL", [(2, 3, 4), (2, 4, 5)], (2, 3, 5), 2 * 3 * 5 * 4),
        ("ADD", [(4,), (4,)], (4,), 0),
        ("CONV_2D", [(1, 8, 8, 3), ()], (1, 6, 4, 16), 0),
    ],
)
def test_an_output_element_takes_a_product_for_each_weight_that_it_sees(
    op: str, inputs: list[tuple[int, ...]], output: tuple[int, ...], count: int
) -> None:
    assert multiplications(op, inputs, [output]) == count
