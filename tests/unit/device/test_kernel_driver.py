"""What a kernel may ask for in which state of the interpreter, and what it gets where there is no room."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.events import Event, ScratchUse
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import (
    FreeTempBuffer,
    FreeTempTensor,
    FreeTempTensors,
    Log,
    Persistent,
    Request,
    Scratch,
    ScratchBuffer,
    SetShape,
    Steps,
    TempBuffer,
    TempTensor,
    TempTensors,
)
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4", kernels="reference")
Asks = Callable[[Node], Steps[None]]


def nothing(node: Node) -> Steps[None]:
    yield from ()


def asks(*requests: Request, answers: list[object] | None = None) -> Asks:
    def steps(node: Node) -> Steps[None]:
        for request in requests:
            answer = yield request  # type: ignore[misc]
            if answers is not None:
                answers.append(answer)

    return steps


def run(prepare: Asks, *, init: Asks | None = None, invoked: Asks | None = None, size: int = 1 << 14) -> Simulation:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 16), TensorType.INT8) for _ in range(2))
    builder.custom("MINE", [x], [y])
    row = OpModel("MINE", None, init, prepare, "mine.cc", invoke=invoked)
    return simulate(parse(builder.build(inputs=[x], outputs=[y])), M4, custom_ops=[row], arena_size=size)


STATES = [
    (Persistent(16), ("init", "prepare"), 57),
    (Scratch(16), ("prepare",), 64),
    (ScratchBuffer(0), ("invoke",), 70),
    (TempBuffer(16, 4), ("prepare",), 88),
    (FreeTempBuffer(0), ("prepare",), 93),
]
"""When each may be asked for, and the line of the TFLITE_DCHECK that says so.

Source: tensorflow/lite/micro/micro_interpreter_context.cc @ 90b983c.
"""


@pytest.mark.parametrize(("request_", "states", "line"), STATES)
@pytest.mark.parametrize("state", ["init", "prepare", "invoke"])
def test_the_device_halts_where_a_request_comes_in_the_wrong_state(
    request_: Request, states: tuple[str, ...], line: int, state: str
) -> None:
    steps = asks(request_)
    says = f"tensorflow/lite/micro/micro_interpreter_context.cc:{line}: "
    if state == "invoke":
        done = run(nothing, invoked=steps)
        if state in states:
            assert invoke(done).operators == 1
        else:
            with pytest.raises(SimulatedFailure, match=f"^{says}.* the device halts$"):
                invoke(done)
        return
    done = run(steps) if state == "prepare" else run(nothing, init=steps)
    halts = done.failure is not None and says in str(done.failure)
    assert halts == (state not in states)


@pytest.mark.parametrize("state", ["init", "prepare"])
@pytest.mark.parametrize("one", [Log("hello"), TempTensors(((0, False),)), FreeTempTensors([])])
def test_other_requests_are_carried_out_in_any_state(one: Request, state: str) -> None:
    done = run(asks(one)) if state == "prepare" else run(nothing, init=asks(one))
    assert "micro_interpreter_context" not in str(done.failure)
    assert ("hello" in done.log) == isinstance(one, Log)


def test_a_kernel_that_does_not_look_whether_its_memory_fits_writes_through_a_null_pointer() -> None:
    done = run(asks(Persistent(1 << 20, "all")))
    assert done.status == "abort"
    assert str(done.failure) == (
        "tail: 1048576 bytes for all of MINE #0 do not fit, and the kernel writes through the null pointer"
    )
    done = run(asks(Persistent(1 << 20)))
    assert str(done.failure).startswith("tail: 1048576 bytes for a kernel buffer of MINE #0 do not fit")


def test_a_kernel_that_looks_gets_none() -> None:
    answers: list[object] = []
    done = run(asks(Persistent(1 << 20, "all", checked=True), Persistent(16, "some", checked=True), answers=answers))
    assert done.status == "ok"
    assert answers[0] is None
    assert isinstance(answers[1], int)


def test_an_operator_may_have_twelve_scratch_buffers() -> None:
    answers: list[object] = []
    assert run(asks(*[Scratch(16)] * 12, answers=answers)).status == "ok"
    assert answers == list(range(12))
    done = run(asks(*[Scratch(16)] * 13))
    assert done.status == "error"
    assert str(done.failure) == "MINE #0 asks for more scratch buffers than an operator may have"
    assert "Scratch buffer request exceeds limit per operator (12)" in done.log
    answers.clear()
    assert run(asks(*[Scratch(16)] * 12, Scratch(16, checked=True), answers=answers)).status == "ok"
    assert answers[12] is None


@pytest.mark.parametrize(("index", "use"), [(0, (0, 0)), (1, (0, 0)), (2, (-1, -1)), (-1, (-1, -1))])
def test_a_scratch_buffer_is_found_by_its_number_and_another_number_is_none(index: int, use: tuple[int, int]) -> None:
    events: list[Event] = []
    answers: list[object] = []
    done = run(asks(Scratch(32), Scratch(16)), invoked=asks(ScratchBuffer(index), answers=answers))
    done.device.arena.observers += (events.append,)
    invoke(done)
    assert [event for event in events if isinstance(event, ScratchUse)] == [ScratchUse(index, *use)]
    offsets = {buffer.info.scratch: buffer.offset for buffer in done.buffers if buffer.info.scratch >= 0}
    assert answers == [offsets.get(index)]


def test_a_shape_that_prepare_sets_is_what_is_planned() -> None:
    def prepare(node: Node) -> Steps[None]:
        tensor = yield TempTensor(node.outputs[0])
        yield SetShape(node.tensors[node.outputs[0]], (1, 100))
        yield FreeTempTensor(tensor)

    assert [buffer.info.size for buffer in run(prepare).buffers] == [16, 100]


def test_temps_are_given_back() -> None:
    def prepare(node: Node) -> Steps[None]:
        offset = yield TempBuffer(100, 16)
        first, second = yield TempTensors(((0, False), (1, False)))
        yield FreeTempTensors([first, None, second])
        yield FreeTempBuffer(offset)

    assert run(prepare).fits


@pytest.mark.parametrize(
    ("prepare", "sentence"),
    [
        (asks(16), "a request from MINE was expected, not a value of type 'int' (16)"),  # type: ignore[arg-type]
        (
            lambda node: [Persistent(16)],
            "prepare of MINE, whose requests are yielded, was expected, not a value of type ",
        ),
        (
            lambda node: None,
            "prepare of MINE, whose requests are yielded, was expected, not a value of type 'NoneType'",
        ),
        (asks(TempBuffer(16, 0)), "the alignment of a TempBuffer: 0 is out of range: "),
        (asks(TempBuffer(16, 1.5)), "the alignment of a TempBuffer as a number was expected"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_request_is_refused_in_a_sentence(prepare: Asks, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        run(prepare)
    assert str(refused.value).startswith(sentence)
