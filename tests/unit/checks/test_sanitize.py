"""``sanitize()``: the sanitizer watches AllocateTensors() and the invocations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.checks.sanitizer import sanitize
from tflm_sim.device.configuration import Configuration
from tflm_sim.invocation.findings import FindingCode
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Scratch, ScratchBuffer, Steps
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset


def two_of_mine() -> Model:
    builder = ModelBuilder()
    a, b, c = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(3))
    builder.custom("MINE", [a], [b])
    builder.custom("MINE", [b], [c])
    return parse(builder.build(inputs=[a], outputs=[c]))


def prepare(node: Node) -> Steps[None]:
    yield Scratch(16)


def test_a_sound_model() -> None:
    assert sanitize(load(sample_path("streaming")), Configuration(preset("cortex-m4"))) == ()


@pytest.mark.parametrize(("interpreter", "first"), [("plain", ""), ("recording", "tensor 0 at 0 is not aligned to 16")])
def test_only_the_recording_interpreter_leaves_an_arena_where_it_begins(interpreter: str, first: str) -> None:
    found = sanitize(
        load(sample_path("streaming")), replace(preset("cortex-m4"), arena_address=4), interpreter=interpreter
    )
    assert [finding.message for finding in found[:1]] == ([first] if first else [])
    assert {finding.code for finding in found} <= {FindingCode.MISALIGNED}


def test_an_operator_that_uses_its_own_scratch_buffer() -> None:
    def invoke(node: Node) -> Steps[None]:
        yield ScratchBuffer(node.index)

    mine = OpModel("MINE", prepare=prepare, invoke=invoke)
    assert sanitize(two_of_mine(), Configuration(preset("cortex-m4"), custom_ops=(mine,))) == ()


def test_an_operator_that_uses_the_scratch_buffer_of_another_is_named_once() -> None:
    def invoke(node: Node) -> Steps[None]:
        yield ScratchBuffer(1)

    mine = OpModel("MINE", prepare=prepare, invoke=invoke)
    found = sanitize(two_of_mine(), Configuration(preset("cortex-m4"), custom_ops=(mine,)), invocations=3)
    assert [str(finding) for finding in found] == [
        "[scratch-outside-its-operator] invoke of MINE #0 in subgraph 0: scratch buffer 1 is used, and operator 1 of "
        "subgraph 0 asked for it"
    ]
