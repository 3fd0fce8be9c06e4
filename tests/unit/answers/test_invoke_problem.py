"""What Invoke() of an allocated model refuses; each text was printed by the wheel, or read in the version's kernel."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from tflm_sim import parse, simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load
from tflm_sim.model.types import TensorType as T
from tflm_sim.targets.changes import REFERENCE_FAMILIES

HALF = {"scale": 0.5}
SHARED = Path(__file__).resolve().parents[4] / "shared"


def one(op, inputs, outputs, options=None):
    """Return a model of one operator; (shape, type, arguments of ModelBuilder.tensor) for each tensor."""
    builder = ModelBuilder()
    sources = [builder.tensor(shape, type_, **(rest[0] if rest else {})) for shape, type_, *rest in inputs]
    results = [builder.tensor(shape, type_, **(rest[0] if rest else {})) for shape, type_, *rest in outputs]
    builder.operator(op, sources, results, options=options)
    bound = [tensor for tensor, spec in zip(sources, inputs, strict=True) if len(spec) < 3 or "data" not in spec[2]]
    return parse(builder.build(inputs=bound, outputs=results))


def problem(model, target="cortex-m4", **settings):
    return simulate(model, target, **settings).unwrap().invoke_problem


def mirror_pad(type_):
    paddings = ((2, 2), T.INT32, {"data": bytes(16)})
    return one("MIRROR_PAD", [((4, 4), type_, HALF), paddings], [((4, 4), type_, HALF)])


def test_a_type_that_eval_does_not_know_is_an_error_with_the_devices_words():
    axis = ((), T.INT32, {"data": bytes(4)})
    found = problem(one("ARG_MAX", [((4, 4), T.FLOAT32), axis], [((4,), T.INT64)]))
    assert (found.status, found.operator, found.op) == ("error", 0, "ARG_MAX")
    assert found.log == (
        "Only int32_t are supported currently, got INT64.",
        "Node ARG_MAX (number 0) failed to invoke with status 1",
    )
    assert str(found) == ("allocates, but Invoke() fails: #0 ARG_MAX: Only int32_t are supported currently, got INT64.")


def test_a_kernel_that_prints_nothing_is_told_by_the_type():
    found = problem(mirror_pad(T.INT16))
    assert found.reason == "INT16 is not supported"
    assert found.log == ("Node MIRROR_PAD (number 0) failed to invoke with status 1",)
    assert problem(mirror_pad(T.INT8)) is None
    paddings = ((2, 2), T.INT32, {"data": bytes(16)})
    found = problem(one("MIRROR_PAD", [((4, 4), T.INT8, HALF), paddings], [((4, 4), T.INT16, HALF)]))
    assert found.reason == "INT8 to INT16 is not supported"


def test_a_sizer_that_knows_the_operator_says_it_too():
    sizer, model = Sizer(), mirror_pad(T.INT16)
    assert [sizer.sizing(model, "cortex-m4").invoke_problem for _ in range(3)] == [problem(model)] * 3


def test_a_kernel_of_ones_own_is_not_judged():
    table = simulate(mirror_pad(T.INT8), "cortex-m4").device.interpreters[0].registrations
    assert problem(mirror_pad(T.INT16), custom_ops=(table["MIRROR_PAD"],)) is None


@pytest.mark.parametrize(("day", "says"), [
    ("2025-03-16", "Only float32 is supported currently, got INT16"),
    ("2025-06-01", None),
])  # fmt: skip
def test_the_version_decides_what_is_known(day, says):
    operand = ((4,), T.INT16, HALF)
    found = problem(one("RELU", [operand], [operand]), runtime=day)
    assert (found and found.reason) == says


def test_cmsis_nn_has_words_of_its_own():
    image, order = ((1, 2), T.INT32, HALF), ((2,), T.INT32, {"data": b"\1\0\0\0\0\0\0\0"})
    model = one("TRANSPOSE", [image, order], [((2, 1), T.INT32, HALF)])
    says = "Type INT32 is currently not supported by Transpose. Only float32, int8 and int16 "
    assert problem(model, kernels="reference").reason == says + "are supported"
    assert problem(model, kernels="cmsis_nn").reason == says + "is supported"


def test_esp_nn_learnt_types_later_than_the_reference_kernels():
    """Read in kernels/esp_nn of esp-tflite-micro at v1.2.0, v1.3.0 and v1.3.1."""
    operand = ((4,), T.INT32)
    add = one("ADD", [operand, operand], [operand])
    mul = one("MUL", [((4,), T.INT16, HALF)] * 2, [((4,), T.INT16, HALF)])
    image, filters = ((1, 4, 4, 1), T.INT16, HALF), ((1, 1, 1, 1), T.INT8, HALF | {"data": bytes(1)})
    inputs = [image, filters, ((1,), T.INT64, {"scale": 0.25, "data": bytes(8)})]
    options = {"padding": 0, "stride_w": 1, "stride_h": 1}
    conv = one("CONV_2D", inputs, [image], options)
    depthwise_conv = one("DEPTHWISE_CONV_2D", inputs, [image], options | {"depth_multiplier": 1})

    def says(model, version, **settings):
        found = problem(model, "esp32", runtime=f"esp-tflite-micro@{version}", **settings)
        return found and found.reason

    assert says(add, "1.2.0") == "Type INT32 (2) not supported."
    assert says(add, "1.3.0") is None
    assert says(add, "1.2.0", kernels="reference") is None
    assert says(mul, "1.3.0") == "Type INT16 (7) not supported."
    assert says(mul, "1.3.1") is None
    assert says(conv, "1.2.0") == "Hybrid models are not supported on TFLite Micro."
    assert says(depthwise_conv, "1.2.0") == "Type INT16 (7) not supported."
    assert says(conv, "1.3.0") is says(depthwise_conv, "1.3.0") is None


def depthwise(multiplier, stride=1):
    image, filters = ((1, 4, 4, 2), T.FLOAT32), ((1, 1, 1, 4), T.FLOAT32, {"data": bytes(16)})
    options = {"depth_multiplier": multiplier, "stride_h": stride, "stride_w": 1, "padding": 0}
    return one("DEPTHWISE_CONV_2D", [image, filters], [((1, 4, 4, 4), T.FLOAT32)], options)


def test_options_that_no_kernel_can_run_are_undefined():
    assert problem(depthwise(2)) is None
    assert str(problem(depthwise(3))) == (
        "allocates, but what Invoke() computes is undefined: #0 DEPTHWISE_CONV_2D: "
        "depth_multiplier is 3 with 2 channels in and 4 out"
    )
    assert problem(depthwise(2, stride=0)).reason == "stride_h is 0"


def test_a_slice_beyond_its_input_is_undefined_and_an_axis_beyond_the_rank_an_error():
    begin, size = ((1,), T.INT32, {"data": b"\3\0\0\0"}), ((1,), T.INT32, {"data": b"\2\0\0\0"})
    found = problem(one("SLICE", [((4,), T.FLOAT32), begin, size], [((2,), T.FLOAT32)]))
    assert (found.status, found.reason) == ("undefined", "the slice of 2 from 3 on is not within the 4 of axis 0")
    axis = ((1,), T.INT32, {"data": b"\2\0\0\0"})
    found = problem(one("SUM", [((2, 2), T.FLOAT32), axis], [((2, 1), T.FLOAT32)], {"keep_dims": True}))
    assert (found.status, found.reason) == ("error", "axis 2 of a tensor of rank 2")


def test_what_is_allocated_nowhere_has_no_problem_of_invoke():
    assert simulate(one("NEG", [((4,), T.FLOAT32)], [((4,), T.INT8)]), "cortex-m4").invoke_problem is None


@pytest.mark.parametrize("family", REFERENCE_FAMILIES)
def test_rows_are_newest_first_and_stand_beside_the_models_of_their_operators(family):
    seen: dict[tuple[str, str], int] = {}
    for row in getattr(import_module(f"tflm_sim.ops.reference.{family}"), "EVALS", ()):
        for op in row.ops.split():
            assert op in REFERENCE_FAMILIES[family].split(), "the module of its name in targets/changes.py"
            assert row.since < seen.get((row.library, op), 10**6), f"{op} from {row.since} on stands too low"
            seen[row.library, op] = row.since


@pytest.mark.parametrize("family", REFERENCE_FAMILIES)
def test_rows_of_values_stand_beside_the_models_of_their_operators(family):
    rows = getattr(import_module(f"tflm_sim.ops.reference.{family}"), "VALUES", ())
    assert {op for row in rows for op in row.ops.split()} <= set(REFERENCE_FAMILIES[family].split())


@pytest.mark.shared("models/tflm__models__keyword_scrambled_8bit.tflite")
@pytest.mark.parametrize(("purpose", "fails"), [("size", True), ("speed", False)])
def test_svdf_for_size_without_mve_wants_a_buffer_that_prepare_does_not_ask_for(purpose, fails):
    model = load(SHARED / "models/tflm__models__keyword_scrambled_8bit.tflite")
    found = problem(model, "cortex-m4", kernels="cmsis_nn", optimize_kernels_for=purpose)
    assert (found is not None) == fails
    if found is not None:  # QEMU, Cortex-M4: svdf.cc:320 and this, at node 1.
        assert (found.operator, found.op) == (1, "SVDF")
        assert found.log == (
            "data.scratch_weight_tensor_index != -1 was not true.",
            "Node SVDF (number 1) failed to invoke with status 1",
        )


@pytest.mark.parametrize(("scale", "says"), [(0.25, "scale 0.5 in and 0.25 out"), (0.5, None)])
def test_an_extreme_of_int8_has_one_scale(scale, says):
    axis = ((1,), T.INT32, {"data": bytes(4)})
    found = problem(one("REDUCE_MAX", [((4, 4), T.INT8, HALF), axis], [((4,), T.INT8, {"scale": scale})]))
    assert (found and found.reason) == says
