"""TFLITE_DCHECK halts a build that has it; one with NDEBUG goes on, and needs so much, or nobody knows what it does."""

from __future__ import annotations

import pytest

from tflm_sim import parse, simulate, smallest_arena
from tflm_sim.device.configuration import configure
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType
from tflm_sim.targets.libraries import find_library


def dense(zero_point: int = 3) -> Model:
    """Return a FULLY_CONNECTED whose weights may have a zero point."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0) for size in (4, 2))
    weights = builder.tensor((2, 4), TensorType.INT8, scale=0.5, zero_point=zero_point, data=[1] * 8)
    builder.operator("FULLY_CONNECTED", [x, weights, -1], [y])
    return parse(builder.build(inputs=[x], outputs=[y]))


def read_of_no_variable() -> Model:
    """Return a READ_VARIABLE of what is no handle."""
    builder = ModelBuilder()
    x, y = builder.tensor((1,), TensorType.INT32), builder.tensor((4,), TensorType.INT8, scale=0.5, zero_point=0)
    builder.operator("READ_VARIABLE", [x], [y])
    return parse(builder.build(inputs=[x], outputs=[y]))


def test_what_a_release_build_needs_stands_with_the_check_that_halts_the_debug_build() -> None:
    halted = simulate(dense(), "cortex-m4", kernels="reference")
    assert (halted.status, halted.smallest) == ("abort", None)
    assert halted.release_build == "needs 560 B"
    assert smallest_arena(dense(zero_point=0), "cortex-m4", kernels="reference").size == 560


def test_a_library_that_is_built_with_ndebug_goes_on_and_says_where_others_halt() -> None:
    model = dense()
    goes_on = simulate(model, "cortex-m4", kernels="reference", library="coralmicro")
    assert goes_on.status == "ok"
    assert "filter->params.zero_point == 0 does not hold, the device halts" in str(goes_on.debug_build_halts)
    assert goes_on.release_build is None


def test_what_nobody_checks_is_undefined() -> None:
    halted = simulate(read_of_no_variable(), "cortex-m4")
    assert str(halted.failure).endswith("== kTfLiteResource does not hold, the device halts")
    assert str(halted.release_build).endswith(
        "at which a debug build halts; this one goes on; what the device does is undefined"
    )


@pytest.mark.parametrize(
    ("library", "is_debug"),
    [
        ("esp-tflite-micro", True),
        ("esphome", True),
        ("Chirale_TensorFlowLite", True),
        ("zephyr", True),
        ("pico-tflmicro", False),
        ("coralmicro", False),
    ],
)
def test_who_builds_with_debug_checks(library: str, *, is_debug: bool) -> None:
    name = find_library(library)
    assert configure(name.target, library=library).target.runtime.has_debug_checks == is_debug


def softmax(scale: float) -> Model:
    """Return a SOFTMAX of int8."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4), TensorType.INT8, scale=scale, zero_point=0)
    y = builder.tensor((1, 4), TensorType.INT8, scale=1 / 256, zero_point=-128)
    builder.operator("SOFTMAX", [x], [y], options={"beta": 1.0})
    return parse(builder.build(inputs=[x], outputs=[y]))


def relu_of_seven_dimensions() -> Model:
    """Return a RELU of a tensor with more dimensions than a RuntimeShape has room for."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1,) * 7, TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2))
    builder.operator("RELU", [x], [y])
    return parse(builder.build(inputs=[x], outputs=[y]))


def test_a_check_of_a_file_that_all_kernels_share_halts_no_build_that_has_none() -> None:
    check = "tensorflow/lite/kernels/internal/runtime_shape.h: dimensions_count <= kMaxSmallSize does not hold"
    model = relu_of_seven_dimensions()
    debug = simulate(model, "cortex-m4", kernels="reference")
    release = simulate(model, "cortex-m4", kernels="reference", library="coralmicro")
    assert str(debug.failure) == f"{check}, the device halts"
    assert str(release.failure) == (
        f"{check}, at which a debug build halts; this one goes on; what the device does is undefined"
    )
    assert (debug.status, release.status) == ("abort", "abort")


def test_what_every_build_checks_halts_every_build() -> None:
    runs = [simulate(softmax(0.0), "cortex-m4", kernels="reference", library=name) for name in (None, "coralmicro")]
    assert {str(run.failure) for run in runs} == {
        "tensorflow/lite/kernels/internal/quantization_util.cc: 0.0 > 1 does not hold, the device halts"
    }
    assert [run.release_build for run in runs] == [None, None]
