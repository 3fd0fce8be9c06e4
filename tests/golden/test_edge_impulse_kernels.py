"""What kernels asked for that Edge Impulse's SDKs of August 2021 to August 2023 have besides those of their TFLM.

Each was compiled with the SDK of four days for 32-bit Arm (its reference kernels, int enumerations left short), called
in QEMU with a context whose AllocatePersistentBuffer ("P") and RequestScratchBufferInArena ("S") print the bytes, on
the tensors below: Init, then Prepare, all of which returned kTfLiteOk.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from tflm_sim.extensions.eon.device import EonRoom, run_eon
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.presets import library_target

Row = tuple[int, tuple[int, ...], float, int, bytes | None]
FLOAT32, INT8, INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT32


def i8(*shape: int, scale: float = 0.5, zero_point: int = 0, data: bytes | None = None) -> Row:
    return INT8, shape, scale, zero_point, data


def plain(type: int, *shape: int) -> Row:
    return type, shape, 0.0, 0, None


def f32(*shape: int) -> Row:
    return plain(FLOAT32, *shape)


def i32(*values: int) -> Row:
    return INT32, (len(values),), 0.0, 0, struct.pack(f"<{len(values)}i", *values)


COMPLEX, BOOL = TensorType.COMPLEX64, TensorType.BOOL
POOL = {"padding": "VALID", "stride_w": 2, "stride_h": 2, "filter_width": 2, "filter_height": 2}
CONV = {"padding": "SAME", "stride_w": 1, "stride_h": 1}
SDKS = ["2021-08-31", "2022-09-16", "2023-03-21", "2023-08-25"]
SINCE_2022, SINCE_2023 = SDKS[1:], SDKS[2:]

CASES: list[tuple[str, list[Row], Row, dict[str, Any], list[str], str]] = [
    ("DIV", [i8(2, 3), i8(2, 3)], i8(2, 3), {}, SDKS, "P28"),
    ("ADD_N", [f32(2, 3), f32(2, 3), f32(2, 3)], f32(2, 3), {}, SDKS, "S12"),
    ("L2_POOL_2D", [f32(1, 4, 4, 3)], f32(1, 2, 2, 3), POOL, SDKS, ""),
    ("EXPAND_DIMS", [i8(2, 3), i32(1)], i8(2, 1, 3), {}, SDKS, ""),
    (
        "TRANSPOSE_CONV",
        [i32(1, 4, 4, 2), i8(2, 3, 3, 3, data=bytes(54)), i8(1, 4, 4, 3)],
        i8(1, 4, 4, 2),
        CONV,
        SDKS,
        "P68 P8 P8 S128",
    ),
    ("ABS", [f32(2, 3)], f32(2, 3), {}, SDKS[:2], ""),
    ("RSQRT", [f32(2, 3)], f32(2, 3), {}, SDKS[:2], ""),
    ("ABS", [i8(2, 3)], i8(2, 3, scale=0.25), {}, SINCE_2023, "P20"),
    ("RSQRT", [i8(2, 3)], i8(2, 3, scale=0.25), {}, SINCE_2023, "P20"),
    ("SUM", [i8(1, 4, 6), i32(1)], i8(1, 1, 6), {}, SINCE_2022, "P36 S24"),
    ("RFFT2D", [f32(4, 8), i32(4, 8)], plain(COMPLEX, 4, 5), {}, SINCE_2022, "P4 S160"),
    ("COMPLEX_ABS", [plain(COMPLEX, 4, 5)], f32(4, 5), {}, SINCE_2022, ""),
    ("REAL", [plain(COMPLEX, 4, 5)], f32(4, 5), {}, SINCE_2022, ""),
    ("SLICE", [i8(1, 4, 6), i32(1, 4, 4), i32(1, 4, 4)], i8(1, 4, 4), {}, SINCE_2022, ""),
    ("SELECT", [plain(BOOL, 2, 3), f32(2, 3), f32(2, 3)], f32(2, 3), {}, SINCE_2022, ""),
    ("SELECT_V2", [plain(BOOL, 2, 1), f32(2, 3), f32(2, 3)], f32(2, 3), {}, SINCE_2022, ""),
    ("GATHER", [f32(2, 3), i32(1)], f32(2, 1), {"axis": 1}, SINCE_2022, ""),
    ("REDUCE_MIN", [i8(1, 4, 6), i32(1)], i8(1, 1, 6), {}, SINCE_2023, "P36 S12 S4"),
    ("SQUARED_DIFFERENCE", [i8(1, 4, 6), i8(1, 4, 6)], i8(1, 4, 6), {}, SINCE_2023, "P112"),
    ("BATCH_MATMUL", [i8(2, 3, 4), i8(2, 4, 5)], i8(2, 3, 5), {}, SINCE_2023, "P16 P28 P12 P16 P40 P24"),
    ("TRANSPOSE", [i8(2, 3, 4), i32(1, 0, 2)], i8(3, 2, 4), {}, SINCE_2023, ""),
    ("LOG_SOFTMAX", [i8(1, 6)], i8(1, 6, scale=1 / 16, zero_point=127), {}, SDKS[3:], "P28"),
]
RUNS = [(sdk, *case[:4], case[5]) for case in CASES for sdk in case[4]]


def one_operator(op: str, inputs: list[Row], output: Row, options: dict[str, Any]) -> bytes:
    builder = ModelBuilder()
    indices = [
        builder.main.tensor(
            shape,
            type,
            data=data,
            scale=(scale,) if scale else None,
            zero_point=(zero_point,) if scale else None,
            name=f"tensor{index}",
        )
        for index, (type, shape, scale, zero_point, data) in enumerate([*inputs, output])
    ]
    builder.main.operator(op, indices[:-1], indices[-1:], options=options)
    return builder.build(inputs=indices[:-1], outputs=indices[-1:])


@pytest.mark.parametrize(
    ("sdk", "op", "inputs", "output", "options", "asked"), RUNS, ids=[f"{run[0]}-{run[1]}" for run in RUNS]
)
def test_a_kernel_asks_for_what_the_compiled_one_asked_for(
    sdk: str, op: str, inputs: list[Row], output: Row, options: dict[str, Any], asked: str
) -> None:
    target = library_target(f"edge-impulse@{sdk}", name="cortex-m4", kernels="reference")
    model = parse(one_operator(op, inputs, output, options))
    found = run_eon(model, target, registrations(target), EonRoom(1 << 20, 0, None, None, None, aligns=False))
    assert found.failure == ""
    assert " ".join(("P" if row.kind == "persistent" else "S") + str(row.size) for row in found.requests) == asked


@pytest.mark.parametrize("sdk", ["2021-08-31", "2022-04-21"])
def test_an_operator_that_came_later_is_not_there_before(sdk: str) -> None:
    target = library_target(f"edge-impulse@{sdk}", name="cortex-m4", kernels="reference")
    later = {"SUM", "SELECT", "SLICE", "GATHER", "TRANSPOSE", "BATCH_MATMUL", "LOG_SOFTMAX", "TreeEnsembleClassifier"}
    assert not later & set(registrations(target))
