"""The names under which a baseline keeps sizes."""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.checks.verdict import baseline_key
from tflm_sim.device.configuration import Configuration
from tflm_sim.ops.op_model import OpModel
from tflm_sim.targets.presets import preset

REFERENCE = preset("cortex-m4", kernels="reference")


def test_the_key_of_an_ordinary_configuration() -> None:
    assert baseline_key("a.tflite", Configuration(REFERENCE)) == "a.tflite on cortex-m4 (reference, plain, greedy)"


def test_every_setting_that_moves_bytes_has_a_key_of_its_own() -> None:
    configuration = Configuration(
        replace(REFERENCE, ethos_u=True), resource_variables=4, variable_arena=1024, custom_ops=(OpModel("MINE"),)
    )
    assert baseline_key("a.tflite", configuration) == (
        "a.tflite on cortex-m4 (reference, plain, greedy, MINE, ethos_u, 4 resource variables, variable arena 1024)"
    )
