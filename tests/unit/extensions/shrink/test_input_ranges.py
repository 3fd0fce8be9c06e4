"""Which integers ``shrink --prove`` may feed, and what the worker makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from tflm_sim import parse
from tflm_sim.extensions.shrink.input_ranges import input_ranges
from tflm_sim.extensions.shrink.wheel_worker import stimulus
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType


def embedding(axis: int) -> bytes:
    """Return GATHER of a table of (40, 16) with indices that went through RESHAPE, and a free input."""
    builder = ModelBuilder()
    table = builder.tensor((40, 16), TensorType.FLOAT32, data=bytes(40 * 16 * 4))
    indices, free = builder.tensor((4,), TensorType.INT32), builder.tensor((4,), TensorType.INT32)
    flat, out = builder.tensor((2, 2), TensorType.INT32), builder.tensor((2, 2, 16), TensorType.FLOAT32)
    total = builder.tensor((4,), TensorType.INT32)
    builder.operator("RESHAPE", [indices], [flat])
    builder.operator("GATHER", [table, flat], [out], options={"axis": axis})
    builder.operator("ADD", [free, free], [total])
    return builder.build(inputs=[indices, free], outputs=[out, total])


@pytest.mark.parametrize(("axis", "last"), [(0, 39), (1, 15), (-1, 15), (-2, 39)])
def test_an_index_stays_within_the_table_that_it_reaches(axis: int, last: int) -> None:
    assert input_ranges(parse(embedding(axis))) == [(0, last), None]


def test_an_index_of_gather_nd_stays_within_the_smallest_of_the_dimensions_that_it_names() -> None:
    builder = ModelBuilder()
    table = builder.tensor((9, 7, 2), TensorType.FLOAT32, data=bytes(9 * 7 * 2 * 4))
    indices, out = builder.tensor((5, 2), TensorType.INT32), builder.tensor((5, 2), TensorType.FLOAT32)
    builder.operator("GATHER_ND", [table, indices], [out])
    # Two numbers name a row of two elements: the first is below 9, the second below 7.
    assert input_ranges(parse(builder.build(inputs=[indices], outputs=[out]))) == [(0, 6)]


@pytest.mark.parametrize("shape", [(), (1,), (3, 5)])
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float32", "bool"])
def test_a_stimulus_is_an_array_of_the_inputs_shape_and_type(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(1)
    for kind in range(8):
        values = stimulus(rng, np.dtype(dtype), shape, kind)
        assert isinstance(values, np.ndarray)
        assert (values.shape, values.dtype) == (shape, np.dtype(dtype))
        assert np.isfinite(values).all()


def test_a_stimulus_stays_within_its_range() -> None:
    rng = np.random.default_rng(1)
    drawn = np.concatenate([stimulus(rng, np.dtype("int32"), (200,), kind, (0, 39)) for kind in range(8)])
    assert (drawn.min(), drawn.max()) == (0, 39)
