"""A run ends as data."""

from __future__ import annotations

import gc

from tflm_sim.answers.sizing import Sizer
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType


def refused() -> Model:
    """Return a model whose ADD has an infinite scale."""
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 8), TensorType.INT8, scale=float("inf"), zero_point=0) for _ in range(2))
    builder.operator("ADD", [source, source], [result])
    return parse(builder.build(inputs=[source], outputs=[result]))


def allocations() -> int:
    return sum(isinstance(thing, ModelAllocation) for thing in gc.get_objects())


def test_what_a_failed_run_leaves_is_gone_with_its_last_name_and_not_when_garbage_is_collected() -> None:
    model, before = refused(), allocations()
    gc.disable()
    try:
        found = Sizer().sizing(model, "cortex-m4")
        assert found.status == "abort"
        assert allocations() == before + 1
        del found
        assert allocations() == before
    finally:
        gc.enable()
