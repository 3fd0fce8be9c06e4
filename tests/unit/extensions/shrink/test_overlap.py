"""How far an output may lie below its input: counted by writing and reading element by element."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tflm_sim.extensions.shrink.overlap import needed_distance, reads_are_safe
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

SAME, VALID = 0, 1
Axis = tuple[int, int, int, int]
"""Elements, window, stride, dilation."""
AXES: list[Axis] = [(5, 3, 1, 1), (6, 3, 2, 1), (4, 2, 2, 1), (7, 3, 1, 2), (3, 1, 1, 1), (4, 1, 2, 1), (5, 4, 3, 1)]


def outputs_and_padding(axis: Axis, padding: int) -> tuple[int, int]:
    """Return the outputs along an axis and the padding before it, as padding.h has them."""
    size, window, stride, dilation = axis
    covered = (window - 1) * dilation + 1
    outputs = -(-size // stride) if padding == SAME else -(-(size - covered + 1) // stride)
    return outputs, max((outputs - 1) * stride + covered - size, 0) // 2


def model(name: str, rows: Axis, columns: Axis, padding: int, channels: int, results: int) -> Draft:
    b = ModelBuilder()
    (height, above), (width, left) = (outputs_and_padding(axis, padding) for axis in (rows, columns))
    assert above >= 0 <= left
    x = b.tensor((1, rows[0], columns[0], channels), TensorType.INT8, scale=0.5)
    y = b.tensor((1, height, width, results), TensorType.INT8, scale=0.5)
    options = {"padding": padding, "stride_h": rows[2], "stride_w": columns[2]}
    if name.endswith("POOL_2D"):
        b.operator(name, [x], [y], options={**options, "filter_height": rows[1], "filter_width": columns[1]})
    else:
        shape = (results, rows[1], columns[1], channels) if name == "CONV_2D" else (1, rows[1], columns[1], results)
        w = b.tensor(shape, TensorType.INT8, scale=0.5, data=bytes(shape[0] * shape[1] * shape[2] * shape[3]))
        options |= {"dilation_h_factor": rows[3], "dilation_w_factor": columns[3]}
        if name != "CONV_2D":
            options["depth_multiplier"] = results // channels
        b.operator(name, [x, w], [y], options=options)
    return Draft(parse(b.build(inputs=[x], outputs=[y])))


def steps(
    name: str, rows: Axis, columns: Axis, padding: int, channels: int, results: int
) -> Iterator[tuple[int, list[int]]]:
    """Yield each output element in the order in which it is written, and the input elements that are read for it."""
    (height, above), (width, left) = (outputs_and_padding(axis, padding) for axis in (rows, columns))
    for y, x, result in product(range(height), range(width), range(results)):
        down = [y * rows[2] - above + tap * rows[3] for tap in range(rows[1])]
        across = [x * columns[2] - left + tap * columns[3] for tap in range(columns[1])]
        deep = range(channels) if name == "CONV_2D" else [result * channels // results]
        yield (
            (y * width + x) * results + result,
            [
                (row * columns[0] + column) * channels + channel
                for row, column, channel in product(down, across, deep)
                if 0 <= row < rows[0] and 0 <= column < columns[0]
            ],
        )


CASES = [
    (name, rows, columns, padding, channels, results)
    for (name, channels, results), padding in product(
        [
            ("CONV_2D", 2, 3),
            ("CONV_2D", 3, 1),
            ("DEPTHWISE_CONV_2D", 2, 2),
            ("DEPTHWISE_CONV_2D", 2, 6),
            ("MAX_POOL_2D", 3, 3),
        ],
        (SAME, VALID),
    )
    for rows, columns in zip(AXES, AXES[3:] + AXES[:3], strict=True)
    if padding == SAME or all((axis[1] - 1) * axis[3] < axis[0] for axis in (rows, columns))
    if not name.startswith("MAX") or rows[3] == columns[3] == 1
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_write_never_gets_to_what_is_still_to_be_read(case: tuple[str, Axis, Axis, int, int, int]) -> None:
    draft = model(*case)
    operator = draft.operators[0]
    # Output v must not lie above what is read for it or later: input element e lies at e + distance.
    needed = max(0, *(written - read for written, reads in steps(*case) for read in reads))
    assert needed_distance(draft, operator) == needed
    tensors = draft.tensors
    assert [reads_are_safe(tensors, operator, case[0], needed + step) for step in (-1, 0, 1)] == [False, True, True]


def test_other_operators_have_no_such_order() -> None:
    b = ModelBuilder()
    x, y = (b.tensor((1, 4, 4, 2), TensorType.INT8, scale=0.5) for _ in range(2))
    b.operator("RELU", [x], [y])
    draft = Draft(parse(b.build(inputs=[x], outputs=[y])))
    assert needed_distance(draft, draft.operators[0]) is None
