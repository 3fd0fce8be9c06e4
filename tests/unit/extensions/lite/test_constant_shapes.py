"""Shapes that the mobile runtime computes of constants: RANGE, SLICE, EMBEDDING_LOOKUP_SPARSE."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.lite.answer import Answer, LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

FLOAT32, INT32 = TensorType.FLOAT32, TensorType.INT32


@pytest.mark.parametrize(("start", "limit", "delta", "count"), [
    (0, 6, 2, 3),
    (0, 7, 2, 4),  # 0, 2, 4, 6
    (0, 1, 5, 1),
    (7, 0, -2, 4),  # 7, 5, 3, 1
    (-3, 3, 3, 2),
    (0.0, 1.0, 0.25, 4),
    (0.0, 1.0, 0.375, 3),  # 0, 0.375, 0.75
    (1.5, 0.0, -0.5, 3),
])  # fmt: skip
def test_range_has_as_many_elements_as_steps_before_its_limit(
    start: float, limit: float, delta: float, count: int
) -> None:
    kind = INT32 if isinstance(start, int) else FLOAT32
    builder = ModelBuilder()
    ends = [builder.tensor((), kind, data=[end]) for end in (start, limit, delta)]
    x, y, z = builder.tensor((count,), kind), builder.tensor((1,), kind), builder.tensor((count,), kind)
    builder.operator("RANGE", ends, [y])
    builder.operator("ADD", [x, y], [z])
    answer = allocated(parse(builder.build(inputs=[x], outputs=[z])), LiteSettings())
    assert answer.subgraphs[0].tensors[y].shape == (count,)


def sliced(begin: int, size: int) -> Answer:
    builder = ModelBuilder()
    x, y = builder.tensor((5,), INT32), builder.tensor((), INT32)
    places = [builder.tensor((1,), INT32, data=[number]) for number in (begin, size)]
    builder.operator("SLICE", [x, *places], [y])
    return allocated(parse(builder.build(inputs=[x], outputs=[y])), LiteSettings())


@pytest.mark.parametrize(("begin", "size", "says"), [
    (2, 3, 3),
    (2, -1, 3),
    (0, 5, 5),
    (5, 0, 0),
    (5, -1, 0),
    (2, 4, "Invalid begin and size."),
    (6, 0, "Invalid begin."),
    (-1, 1, "Invalid begin."),
    (0, -2, "Invalid size."),
])  # fmt: skip
def test_a_slice_lies_within_its_input(begin: int, size: int, says: int | str) -> None:
    answer = sliced(begin, size)
    if isinstance(says, int):
        assert answer.subgraphs[0].tensors[1].shape == (says,)
    else:
        assert says in answer.reports[0]


@pytest.mark.parametrize(("shape", "is_fine"), [((10, 4), True), ((10,), False)])
def test_what_is_looked_up_has_rows(shape: tuple[int, ...], is_fine: bool) -> None:
    builder = ModelBuilder()
    given = [builder.tensor(dims, INT32) for dims in ((3,), (3, 2), (2,))]
    given += [builder.tensor((3,), FLOAT32), builder.tensor(shape, FLOAT32)]
    y = builder.tensor((3, 4), FLOAT32)
    builder.operator("EMBEDDING_LOOKUP_SPARSE", given, [y])
    answer = allocated(parse(builder.build(inputs=given, outputs=[y])), LiteSettings())
    assert (answer.status == "ok") is is_fine
    assert is_fine or "NumDimensions(value) >= 2 was not true." in answer.reports[0]
