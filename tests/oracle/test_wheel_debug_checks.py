"""What a debug build halts at, and the wheel, which has no TFLITE_DCHECK, goes on with."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.targets.presets import preset

Same = Callable[..., Simulation]
OneOp = Callable[..., bytes]
PIP = preset("x86_64-pip")
DEBUG = replace(PIP, runtime=replace(PIP.runtime, has_debug_checks=True))


def int8(*shape: int, zero_point: int = 0, **more: Any) -> tuple[Any, ...]:
    return shape, TensorType.INT8, {"scale": [0.5], "zero_point": [zero_point], **more}


def indices(*values: int, kind: TensorType = TensorType.INT32, shape: tuple[int, ...] | None = None) -> tuple[Any, ...]:
    data = struct.pack(f"<{len(values)}{'q' if kind == TensorType.INT64 else 'i'}", *values)
    return (len(values),) if shape is None else shape, kind, {"data": data}


def f32(*shape: int) -> tuple[Any, ...]:
    return shape, TensorType.FLOAT32


CASES = {
    "a zero point of weights": (
        "FULLY_CONNECTED", [int8(1, 4), int8(2, 4, zero_point=3, data=bytes(8)), None], [int8(1, 2)]
    ),
    "an output of another type": ("SLICE", [f32(2, 3), indices(0, 0), indices(1, 2)], [int8(1, 2)]),
    "indices of two types": (
        "SLICE", [f32(2, 3), indices(0, 0), indices(1, 2, kind=TensorType.INT64)], [f32(1, 2)]
    ),
    "indices of two dimensions": (
        "SLICE", [f32(2, 3), indices(0, 0, shape=(1, 2)), indices(1, 2)], [f32(1, 2)]
    ),
    "more sizes than begins": ("SLICE", [f32(2, 3), indices(0, 0), indices(1, 2, 1)], [f32(1, 2)]),
    "six dimensions": (
        "SLICE", [f32(1, 1, 1, 1, 2, 3), indices(*(0,) * 6), indices(1, 1, 1, 1, 1, 2)], [f32(1, 1, 1, 1, 1, 2)]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_wheel_goes_on_where_a_debug_build_halts(name: str, one_op: OneOp, same_as_wheel: Same) -> None:
    model = one_op(*CASES[name])
    ours = same_as_wheel(model)
    halted = simulate(parse(model), DEBUG, interpreter="recording")
    assert (ours.status, halted.status) == ("ok", "abort")
    assert ours.debug_build_halts == str(halted.failure)
    assert str(halted.failure).endswith("does not hold, the device halts")
