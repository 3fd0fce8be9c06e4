"""BasicClassifier: since 2026-09-10; it compares the scores of some targets with thresholds."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.presets import preset

FILE = "tensorflow/lite/micro/kernels/basic_classifier.cc"
DAY = "2026-10-23"


def ints(*values):
    return ((len(values),), T.INT32, {"data": values})


SCORES, TARGETS, THRESHOLDS = ((5,), T.INT32), ints(1, 2), ints(7, 8)
DETECTED, POSTERIORS = ((2,), T.BOOL), ((2,), T.INT32)


def test_five_tensors_are_taken_and_freed_and_nothing_is_kept(kernel):
    bench = kernel("BasicClassifier", [SCORES, TARGETS, THRESHOLDS], [DETECTED, POSTERIORS], runtime=DAY)
    assert bench.model.init is None
    assert bench.prepare() == [f"temp {index}" for index in range(5)] + [f"free {index}" for index in range(5)]


@pytest.mark.parametrize(("inputs", "outputs", "message"), [
    ([SCORES, TARGETS], [DETECTED, POSTERIORS], "35 NumInputs(node) != 3 (2 != 3)"),
    ([SCORES, TARGETS, THRESHOLDS], [DETECTED], "36 NumOutputs(node) != 2 (1 != 2)"),
    ([SCORES, None, THRESHOLDS], [DETECTED, POSTERIORS], "44 target_indices != nullptr was not true."),
    ([((1, 5, 1), T.INT32), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS],
     "56 NumDimensions(input) == 1 || NumDimensions(input) == 2 was not true."),
    ([SCORES, ((), T.INT32), THRESHOLDS], [DETECTED, POSTERIORS], "58 NumDimensions(target_indices) != 1 (0 != 1)"),
    ([SCORES, TARGETS, ints(1, 2, 3)], [DETECTED, POSTERIORS], "64 thresholds->dims->data[0] != num_targets (3 != 2)"),
    ([((5,), T.INT8), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS], "68 input->type != kTfLiteInt32 (INT8 != INT32)"),
    ([SCORES, TARGETS, THRESHOLDS], [((2,), T.INT8), POSTERIORS], "71 detected->type != kTfLiteBool (INT8 != BOOL)"),
])  # fmt: skip
def test_refusals(kernel, inputs, outputs, message):
    assert kernel("BasicClassifier", inputs, outputs, runtime=DAY).refusal() == f"{FILE}:{message}"


def test_two_dimensions_are_taken_since_two_weeks_after_it_came(kernel):
    tensors = [((1, 5), T.INT32), TARGETS, THRESHOLDS], [DETECTED, POSTERIORS]
    assert kernel("BasicClassifier", *tensors, runtime="2026-09-25").prepare()
    first = kernel("BasicClassifier", *tensors, runtime="2026-09-10")
    assert first.refusal() == f"{FILE}:57 NumDimensions(input) != 1 (2 != 1)"


@pytest.mark.parametrize(("runtime", "has"), [(None, False), ("2026-09-01", False), ("2026-09-10", True)])
def test_versions_have_it_since_2026_09_10(runtime, has):
    assert ("BasicClassifier" in registrations(preset("cortex-m4", runtime=runtime))) == has
