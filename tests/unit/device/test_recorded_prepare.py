"""What a Prepare asks for, folded into one step: bytes from a head and a tail that stand somewhere modulo 16."""

import pytest

from tflm_sim.device.recorded_prepare import Recorder, fold
from tflm_sim.device.seen_node import NotRepeatable, SeenTensors
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Quantization, Tensor, TensorType
from tflm_sim.ops.requests import (
    FreeTempTensor,
    FreeTempTensors,
    Log,
    Persistent,
    Request,
    Scratch,
    Steps,
    TempTensor,
    TempTensors,
)
from tflm_sim.targets.presets import preset

TENSOR = ((28, 4),)
QUANTIZED = ((28, 4), (12, 4), (8, 4))


def test_temps_lie_one_after_the_other_and_leave_nothing() -> None:
    step = fold((("take", TENSOR, QUANTIZED), ("free", 0, 1)), 0, 0)
    assert step is not None
    assert (step.tail, step.persist_count, step.non_persistent) == (0, 0, 28 + 28 + 12 + 8)


def test_a_temp_begins_where_its_alignment_lets_it() -> None:
    step = fold((("take", TENSOR), ("free", 0)), 3, 0)
    assert step is not None
    assert step.non_persistent == 1 + 28


def test_the_tail_goes_down_to_a_multiple_of_16() -> None:
    step = fold((("persistent", 20, "shift"), ("persistent", 1, "")), 0, 8)
    assert step is not None
    assert (step.tail, step.persist_count) == ((20 + 4) + 16, 2)


def test_a_persistent_buffer_needs_the_temps_that_are_alive_beside_it() -> None:
    step = fold((("take", TENSOR, TENSOR), ("free", 1), ("persistent", 64, "shift"), ("free", 0)), 0, 0)
    assert step is not None
    assert step.late is not None
    assert (step.late.kind, step.late.label, step.late.need) == ("tail", "shift", 28 + 64)


def test_what_leaves_a_temp_or_frees_one_twice_is_no_step() -> None:
    assert fold((("take", TENSOR),), 0, 0) is None
    assert fold((("take", TENSOR), ("free", 0), ("free", 0)), 0, 0) is None


def test_what_is_taken_before_and_the_place_of_the_tail_decide_where_the_next_one_lies() -> None:
    # From 10: 20 bytes end at -10, 6 below a multiple of 16: 26 down to -16. A byte more takes 16, to -32.
    step = fold((("persistent", 20, "a"), ("persistent", 1, "b")), 4, 10)
    assert step is not None
    assert (step.tail, step.persist_count) == (26 + 16, 2)
    # Temps begin at 4, where the head ends: the arena needs their 28 bytes beside the 42 of the tail.
    step = fold((("take", TENSOR), ("persistent", 20, "a"), ("persistent", 1, "b"), ("free", 0)), 4, 10)
    assert step is not None
    assert step.late is not None
    assert (step.late.label, step.late.floor, step.late.need) == ("b", 28, 28 + 42)


@pytest.fixture
def recorder() -> Recorder:
    """Return one whose operator has a tensor of int8, one of int32 that is quantized, and a string."""
    types = ((TensorType.INT8, None), (TensorType.INT32, Quantization((0.5,), (0,))), (TensorType.STRING, None))
    real = [EvalTensor(Tensor("", (4,), type, 0), i, None, affine) for i, (type, affine) in enumerate(types)]
    return Recorder(SeenTensors(real, {0: 0, 1: 1, 2: 2}), TensorStructs(preset("cortex-m4")))


def test_temp_tensors_are_numbered_in_the_order_in_which_they_are_taken(recorder: Recorder) -> None:
    def prepare() -> Steps[None]:
        first = yield TempTensor(0)
        second, absent, third = yield TempTensors(((1, True), (-1, False), (0, True)))
        assert absent is None
        assert first is not None
        assert second is not None
        assert third is not None
        assert [first.offsets, second.offsets, third.offsets] == [(0,), (1,), (2,)]
        yield FreeTempTensors((third, None, first))
        yield FreeTempTensor(second)
        assert (yield TempTensors(((-1, False), (-1, True), (0, True)))) == [None, None]
        last = yield TempTensor(1)
        assert last is not None
        assert last.offsets == (3,)
        assert (yield Persistent(20, "shift")) == 0
        assert ((yield Scratch(40)), (yield Scratch(8))) == (0, 1)

    recorder.run(prepare())
    # TfLiteTensor has 32 bytes on a Cortex-M4, TfLiteAffineQuantization 12, one zero point 4 + 4.
    of, quantized = TensorStructs(preset("cortex-m4")).of, ((32, 4), (12, 4), (8, 4))
    assert of(EvalTensor(Tensor("", (4,), TensorType.INT8, 0), 0, None, None)) == (quantized[:1], True)
    assert recorder.requests == [
        ("take", quantized[:1]),
        ("take", quantized, quantized[:1]),
        ("free", 2, 0),
        ("free", 1),
        ("take", quantized),
        ("persistent", 20, "shift"),
    ]
    assert recorder.scratch == [40, 8]


@pytest.mark.parametrize(("request_", "is_repeated"), [
    (Persistent(0), True),
    (Persistent(2**29 - 1), True),
    (Persistent(2**29), False),
    (Persistent(-1), False),
    (TempTensor(2), False),  # TfLiteTypeSizeOf does not know strings
    (Log("hello"), False),
])  # fmt: skip
def test_what_a_roomy_arena_may_refuse_is_left_to_it(recorder: Recorder, request_: Request, is_repeated: bool) -> None:
    def prepare() -> Steps[None]:
        yield request_

    if is_repeated:
        recorder.run(prepare())
        assert len(recorder.requests) == 1
    else:
        with pytest.raises(NotRepeatable):
            recorder.run(prepare())


@pytest.mark.parametrize("count", [12, 13])
def test_an_operator_has_twelve_scratch_buffers_and_no_more(recorder: Recorder, count: int) -> None:
    def prepare() -> Steps[None]:
        for size in range(count):
            yield Scratch(size)

    if count == 12:
        recorder.run(prepare())
        assert recorder.scratch == [*range(12)]
    else:
        with pytest.raises(NotRepeatable, match="scratch"):
            recorder.run(prepare())
