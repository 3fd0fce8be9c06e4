"""``KernelProbe``: one kernel, step by step, on a real arena."""

from __future__ import annotations

import pytest

from tflm_sim.checks.kernel_probe import Allocation, KernelProbe, TensorSpec
from tflm_sim.errors import PrepareError, SimulatedFailure, UsageError
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.requests import (
    FreeTempBuffer,
    FreeTempTensor,
    Persistent,
    Scratch,
    ScratchBuffer,
    Steps,
    TempBuffer,
    TempTensor,
)

VALUE = TensorSpec((1, 16), TensorType.INT8, scale=0.5)
PLAIN = TensorSpec((4,), TensorType.INT8)


def everything(node: Node) -> Steps[None]:
    tensor = yield TempTensor(node.inputs[0])
    buffer = yield TempBuffer(100, 4, "sorted")
    yield Scratch(64, "rows")
    yield Persistent(8, "shift")
    yield FreeTempBuffer(buffer)
    yield FreeTempTensor(tensor)


def test_every_kind_of_allocation_in_order() -> None:
    probe = KernelProbe(OpModel("MINE", prepare=everything), [PLAIN], [PLAIN])
    assert probe.init() == []
    assert probe.prepare() == [
        Allocation("temp", 32),  # TfLiteTensor on a Cortex-M4
        Allocation("temp", 100),
        Allocation("scratch", 64, "rows"),
        Allocation("tail", 8, "shift"),
    ]
    assert probe.findings == []


def test_a_quantized_tensor_brings_its_quantization() -> None:
    probe = KernelProbe(OpModel("MINE", prepare=everything), [VALUE], [VALUE])
    # TfLiteTensor, TfLiteAffineQuantization (scale, zero_point, dimension), one int32 zero point behind its length.
    assert [taken.size for taken in probe.prepare()[:3]] == [32, 12, 8]


def test_offsets_are_there_to_look_at() -> None:
    probe = KernelProbe(OpModel("MINE", prepare=everything), [PLAIN], [PLAIN], arena_size=4096)
    tail = probe.prepare()[-1]
    assert tail.offset is not None
    assert tail.offset % 16 == 0
    assert 0 < tail.offset < 4096


def test_a_reference_kernel_can_be_stepped_too() -> None:
    probe = KernelProbe(REFERENCE["RELU"], [VALUE], [VALUE])
    assert [taken.section for taken in probe.init()] == ["tail"]
    assert {taken.section for taken in probe.prepare()} == {"temp"}
    assert probe.plan() == {"tensor 0": 16, "tensor 1": 0}


def test_a_refusal_has_the_devices_message() -> None:
    probe = KernelProbe(REFERENCE["RESHAPE"], [VALUE], [PLAIN])
    with pytest.raises(PrepareError):
        probe.prepare()
    assert probe.log[0] == (
        "tensorflow/lite/micro/kernels/reshape_common.cc:78 num_input_elements != num_output_elements (16 != 4)"
    )
    assert probe.log[-1] == "Node RESHAPE (number 0) failed to prepare with status 1"


def test_an_arena_that_is_full() -> None:
    def greedy(node: Node) -> Steps[None]:
        yield Persistent(2000, "table")

    with pytest.raises(SimulatedFailure, match="2000 bytes for table of MINE #0 do not fit"):
        KernelProbe(OpModel("MINE", prepare=greedy), [PLAIN], [PLAIN], arena_size=2048).prepare()


@pytest.mark.parametrize("request_in_init", [Scratch(16), TempBuffer(16, 4)])
def test_what_init_may_not_ask_for(request_in_init: Scratch | TempBuffer) -> None:
    def init(node: Node) -> Steps[object]:
        yield request_in_init

    with pytest.raises(PrepareError, match="state_ == InterpreterState::kPrepare does not hold, the device halts"):
        KernelProbe(OpModel("MINE", init=init), [PLAIN], [PLAIN]).init()


def test_twelve_scratch_buffers_are_fine() -> None:
    def twelve(node: Node) -> Steps[None]:
        for _ in range(12):
            yield Scratch(16)

    assert len(KernelProbe(OpModel("MINE", prepare=twelve), [PLAIN], [PLAIN]).plan()) == 12 + 2


def test_a_kernel_that_looks_at_the_13th_answer_itself() -> None:
    answers: list[object] = []

    def careful(node: Node) -> Steps[None]:
        for _ in range(13):
            answers.append((yield Scratch(16, checked=True)))

    KernelProbe(OpModel("MINE", prepare=careful), [PLAIN], [PLAIN]).prepare()
    assert answers == [*range(12), None]


def test_steps_are_taken_once_and_in_order() -> None:
    probe = KernelProbe(OpModel("MINE"), [PLAIN], [PLAIN])
    probe.plan()
    with pytest.raises(UsageError, match="each step once"):
        probe.prepare()


def test_the_node_shows_what_init_returned() -> None:
    def init(node: Node) -> Steps[object]:
        yield Persistent(4)
        return {"stride": 2}

    probe = KernelProbe(OpModel("MINE", init=init), [PLAIN], [PLAIN])
    probe.init()
    assert probe.node.user_data == {"stride": 2}


def test_a_model_of_a_builtin_operator_replaces_the_librarys() -> None:
    def init(node: Node) -> Steps[object]:
        return (yield Persistent(1000, "my own"))

    assert KernelProbe(OpModel("RELU", init=init), [VALUE], [VALUE]).init() == [Allocation("tail", 1000, "my own")]


def test_invoke_uses_its_own_scratch_buffer() -> None:
    answers: list[object] = []

    def prepare(node: Node) -> Steps[None]:
        yield Scratch(16)

    def invoke(node: Node) -> Steps[None]:
        answers.append((yield ScratchBuffer(0)))

    probe = KernelProbe(OpModel("MINE", prepare=prepare, invoke=invoke), [PLAIN], [PLAIN])
    offset = probe.plan()["scratch 0"]
    probe.invoke()
    assert (answers, probe.findings) == ([offset], [])


@pytest.mark.parametrize("index", [1, -1])
def test_a_scratch_buffer_that_nobody_asked_for(index: int) -> None:
    def invoke(node: Node) -> Steps[None]:
        yield ScratchBuffer(index)

    probe = KernelProbe(OpModel("MINE", invoke=invoke), [PLAIN], [PLAIN])
    probe.invoke()
    assert [str(finding) for finding in probe.findings] == [
        f"[scratch-outside-its-operator] invoke of MINE #0 in subgraph 0: scratch buffer {index} is used, and nobody "
        "asked for it"
    ]


def test_prepare_has_no_scratch_buffers_yet() -> None:
    def prepare(node: Node) -> Steps[None]:
        yield ScratchBuffer((yield Scratch(16)))

    with pytest.raises(PrepareError, match="state_ == InterpreterState::kInvoke does not hold"):
        KernelProbe(OpModel("MINE", prepare=prepare), [PLAIN], [PLAIN]).prepare()
