"""Models that no converter writes, and arenas that are too small, in the pip wheel: status, words and figures."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.types import OperatorCode, TensorType
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

Check = Callable[..., Simulation]
PIP = preset("x86_64-pip")


def relu(count: int = 2, shape: tuple[int, ...] = (1, 8)) -> ModelBuilder:
    """Return int8 RELUs in a row over tensors 0, 1, ..."""
    builder = ModelBuilder()
    for index in range(count):
        builder.tensor(shape, TensorType.INT8, scale=0.5, zero_point=0)
        if index:
            builder.operator("RELU", [index - 1], [index])
    return builder


@pytest.mark.parametrize("code", [210, 209, 127, 51, 32, -1, -3])
def test_builtin_codes_without_a_kernel(code: int, same_as_wheel: Check) -> None:
    builder = relu()
    builder.build(inputs=[0], outputs=[1])
    model = encode(replace(builder.model(), operator_codes=(OperatorCode(code, code),)))
    assert same_as_wheel(model).status == "error"


@pytest.mark.parametrize("name", ["", "ADD", "abacus", "SIGNAL_FRAMER\0x"])
def test_custom_operators_without_a_kernel(name: str, same_as_wheel: Check) -> None:
    builder = relu()
    builder.custom(name, [0], [1])
    assert same_as_wheel(builder.build(inputs=[0], outputs=[1])).status == "error"


@pytest.mark.parametrize(
    "offsets",
    [(0, 64), (-1, -1, -1), (0, 0, 0), (1, 3, 17), (0, 64, 5000), (0, 64, 1 << 21), (-2, 64, 0), (-100, 64, 0)],
)
def test_offline_plans(offsets: tuple[int, ...], same_as_wheel: Check) -> None:
    builder = relu(3)
    builder.metadata("OfflineMemoryAllocation", struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets), *offsets))
    same_as_wheel(builder.build(inputs=[0], outputs=[2]))


@pytest.mark.parametrize("size", [0, 4, 11, 12, 16, 23])
def test_an_offline_plan_that_ends_early(size: int, same_as_wheel: Check) -> None:
    builder = relu(3)
    builder.metadata("OfflineMemoryAllocation", struct.pack("<6i", 1, 0, 3, 0, 64, -1)[:size])
    same_as_wheel(builder.build(inputs=[0], outputs=[2]))


@pytest.mark.parametrize(
    ("offsets", "status"),
    [((), "ok"), ((-1,) * 10, "ok"), ((-1, -1, -1, 256, *[-1] * 6), "ok"), ((-1, -1, 64, *[-1] * 7), "abort")],
)
def test_variables_of_several_subgraphs(offsets: tuple[int, ...], status: str, same_as_wheel: Check) -> None:
    builder = ModelBuilder()
    condition = builder.tensor((1,), TensorType.BOOL)
    source, result = (builder.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2))
    builder.tensor((1, 40), TensorType.INT8, scale=0.5, zero_point=0, is_variable=True)
    for _ in range(2):
        branch = builder.add_subgraph()
        ends = [branch.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2)]
        branch.tensor((1, 24), TensorType.INT8, is_variable=True)
        branch.operator("RELU", ends[:1], ends[1:])
        branch.inputs, branch.outputs = ends[:1], ends[1:]
    builder.operator("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    if offsets:
        builder.metadata("OfflineMemoryAllocation", struct.pack("<13i", 1, 0, 10, *offsets))
    assert same_as_wheel(builder.build(inputs=[condition, source], outputs=[result])).status == status


@pytest.mark.parametrize(
    ("shape", "is_variable"),
    [
        ((-1, 10), False),
        ((0, 4), False),
        ((1 << 16, 1 << 16), False),
        ((70_000, 70_000), False),
        ((1 << 30,), False),
        ((), False),
        (None, False),
        # Not (-1, 10): what memset does with a variable of -10 bytes is a matter of the C library of the machine.
        # More than the arena of 1 MiB, less than the lowest address of a heap: below zero the wheel's pointer wraps.
        ((1_500, 1_500), True),
        ((0, 3), True),
    ],
)
def test_odd_shapes(shape: tuple[int, ...] | None, is_variable: bool, same_as_wheel: Check) -> None:
    builder = relu()
    builder.tensor(shape, TensorType.INT8, scale=0.5, zero_point=0, is_variable=is_variable)
    same_as_wheel(builder.build(inputs=[0] if is_variable else [0, 2], outputs=[1]))


@pytest.mark.parametrize("type_number", [TensorType.STRING, TensorType.VARIANT, TensorType.UINT16, 99, -1])
@pytest.mark.parametrize("is_input", [False, True])
def test_odd_types(type_number: int, is_input: bool, same_as_wheel: Check) -> None:
    builder = relu()
    builder.tensor((4,), type_number)
    same_as_wheel(builder.build(inputs=[0, 2] if is_input else [0], outputs=[1]))


@pytest.mark.parametrize(
    ("inputs", "outputs", "status"),
    [
        (None, [1], "abort"),
        ([0], None, "abort"),
        ([], [], "ok"),
        ([0, 0], [1, 1, 1], "ok"),
        ([0], [0], "ok"),
        ([0], [2, 1], "ok"),
    ],
)
def test_odd_ends(inputs: list[int] | None, outputs: list[int] | None, status: str, same_as_wheel: Check) -> None:
    builder = relu()
    builder.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0)
    assert same_as_wheel(builder.build(inputs=inputs, outputs=outputs)).status == status


@pytest.mark.parametrize(("subgraph", "status"), [(-1, "ok"), (0, "abort"), (1, "error")])
def test_call_once_of_odd_subgraphs(subgraph: int, status: str, same_as_wheel: Check) -> None:
    builder = relu()
    builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": subgraph})
    assert same_as_wheel(builder.build(inputs=[0], outputs=[1])).status == status


@pytest.mark.parametrize("bytes_per_element", [TensorType.INT8, TensorType.STRING])
def test_intermediate_tensors(bytes_per_element: int, same_as_wheel: Check) -> None:
    builder = relu()
    builder.tensor((3,), bytes_per_element)
    builder.operator("RELU", [0], [1], intermediates=[2])
    assert same_as_wheel(builder.build(inputs=[0], outputs=[1])).status == "error"


def _shown(log: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line.strip() for line in log if line.strip())


@pytest.mark.parametrize("sample", ["sine", "streaming"])
def test_every_arena_that_is_too_small_fails_with_the_same_words(sample: str, wheel: Any) -> None:
    data = sample_path(sample).read_bytes()
    model = parse(data)
    end = smallest_arena(model, PIP).multiple_of_16
    for arena_size in range(0, end + 1, 16 * max(1, end // 16 // 100)):
        real, ours = wheel.run(data, arena_size), simulate(model, PIP, arena_size=arena_size, interpreter="recording")
        if ours.corruptions or "does not hold" in str(ours.failure):
            continue  # The wheel goes on with damaged bytes, or without the DCHECK.
        assert (ours.status, _shown(ours.log)) == (real.status, _shown(real.log)), arena_size


def variables_alone() -> ModelBuilder:
    """Three FULLY_CONNECTEDs whose ends are variables: nothing is planned."""
    builder, last, size = ModelBuilder(), 0, 1
    builder.tensor((1, 1), TensorType.FLOAT32, is_variable=True)
    for units in (16, 16, 1):
        weights = builder.tensor((units, size), TensorType.FLOAT32, data=[0.0] * units * size)
        bias = builder.tensor((units,), TensorType.FLOAT32, data=[0.0] * units)
        result = builder.tensor((1, units), TensorType.FLOAT32, is_variable=True)
        builder.operator("FULLY_CONNECTED", [last, weights, bias], [result])
        last, size = result, units
    return builder


def empty_tensors() -> ModelBuilder:
    """No operators, and tensors without elements."""
    builder = ModelBuilder()
    for scale in (None, 0.5, 0.5):
        builder.tensor((0, 32, 32), TensorType.INT16, scale=scale)
    return builder


@pytest.mark.parametrize(
    ("builder", "ends", "size"), [(variables_alone(), ([0], [9]), 1776), (empty_tensors(), ([0, 1], [2]), 856)]
)
def test_a_planner_without_buffers_needs_no_memory(
    builder: ModelBuilder, ends: tuple[list[int], list[int]], size: int, wheel: Any
) -> None:
    data = builder.build(inputs=ends[0], outputs=ends[1])
    assert smallest_arena(parse(data), PIP).size == size
    assert (wheel.run(data, size).status, wheel.run(data, size).invoke) == ("ok", "ok")
    assert {wheel.run(data, size - less).status for less in range(1, 33)} == {"error"}


def test_tables_of_a_planner_behind_the_tail_are_damage(wheel: Any) -> None:
    builder = ModelBuilder()
    for index in range(5):
        builder.tensor((64,), TensorType.INT8, scale=0.5, is_variable=index < 4)
    builder.operator("RELU", [0], [4])
    data = builder.build(inputs=[], outputs=[4])
    for arena_size in (1152, 1327):
        assert wheel.run(data, arena_size).status == "abort"
        assert simulate(parse(data), PIP, arena_size=arena_size).corruptions
    assert wheel.run(data, 1328).log[-1] == "Too many buffers (max is 0)"
    assert wheel.run(data, smallest_arena(parse(data), PIP).size).status == "ok"
