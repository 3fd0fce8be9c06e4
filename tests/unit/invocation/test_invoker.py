"""One model on the arena's bytes: how its variables start, what is checked when, where it stops."""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.events import Event, OpEvent, TempReset
from tflm_sim.arena.stages import Stage
from tflm_sim.errors import ModelError, SimulatedFailure
from tflm_sim.invocation import invoker as invoker_module
from tflm_sim.invocation.arena_contents import ArenaContents
from tflm_sim.invocation.findings import BufferId, FindingCode, Place
from tflm_sim.invocation.invoke_kernels import EVAL
from tflm_sim.invocation.invoker import Invoker
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import FreeTempTensor, Steps, TempTensor
from tflm_sim.targets.presets import preset

INT8, FLOAT32, RESOURCE = TensorType.INT8, TensorType.FLOAT32, TensorType.RESOURCE
TARGET = preset("cortex-m4", kernels="reference")
LATER = Place.moment("later")


def invoker(model: Model, **settings: object) -> Invoker:
    """Return an invoker of a model in an arena of 64 KiB that has all its bytes."""
    simulation = simulate(model, TARGET, arena_size=1 << 16, **settings).unwrap()  # type: ignore[arg-type]
    device = simulation.device
    contents = ArenaContents(simulation.head_bytes, device.tail_offset, simulation.tail_bytes, has_gap=True)
    (interpreter,), (plan,) = device.interpreters, device.plans()
    return Invoker(interpreter, 2, contents, plan=plan, kernels=EVAL, while_iterations=2)


def relu(*, state: dict[str, object] | None = None) -> Model:
    """Return RELUs: a to b; and from a to a variable, where there is to be one."""
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
    builder.operator("RELU", [a], [b])
    if state is not None:
        builder.operator("RELU", [a], [builder.tensor((1, 16), INT8, is_variable=True, **state)])  # type: ignore[arg-type]
    return parse(builder.build(inputs=[a], outputs=[b]))


def variable(*, is_read: bool = False) -> Model:
    """VAR_HANDLE and ASSIGN of 16 bytes, which are read again where that is asked for."""
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), FLOAT32) for _ in range(2))
    handle = builder.tensor((1,), RESOURCE)
    builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "v"})
    builder.operator("ASSIGN_VARIABLE", [handle, x], [])
    if is_read:
        builder.operator("READ_VARIABLE", [handle], [y])
    return parse(builder.build(inputs=[x], outputs=[y] if is_read else []))


def test_buffers_are_named_after_their_model() -> None:
    run = invoker(relu())
    assert [slot.buffer for slot in run.contents.slots] == [BufferId("tensor", 0, 0, 2), BufferId("tensor", 0, 1, 2)]


@pytest.mark.parametrize(("quantization", "byte"), [
    ({"scale": 0.5, "zero_point": -128}, 0x80),
    ({"scale": 0.5, "zero_point": 5}, 5),
    ({"scale": (0.5, 0.25), "zero_point": (7, 9)}, 7),
])  # fmt: skip
def test_a_variable_starts_at_its_zero_point(quantization: dict[str, object], byte: int) -> None:
    run = invoker(relu(state=quantization))
    slot = run.slot(0, 2)
    assert slot is not None
    assert slot.is_variable
    assert run.contents.memory[slot.index : slot.index + 16] == bytes([byte]) * 16
    assert str(slot.writer) == "AllocateTensors()"


def test_a_variable_without_a_quantization_starts_at_zero() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 4), FLOAT32) for _ in range(2))
    state = builder.tensor((1, 4), FLOAT32, is_variable=True)
    builder.operator("ADD", [a, state], [b])
    run = invoker(parse(builder.build(inputs=[a], outputs=[b])))
    slot = run.slot(0, state)
    assert slot is not None
    assert slot.content == bytes(16)


def test_a_resource_variable_lies_in_the_tail_and_starts_at_zero() -> None:
    run = invoker(variable(), resource_variables=1)
    slot = run.resources[0]
    assert (slot.buffer, slot.size, slot.is_variable) == (BufferId("resource variable", 0, 0, 2), 16, True)
    assert slot.content == bytes(16)
    assert 0 < slot.offset <= (1 << 16) - 16


def overwrite(run: Invoker, place: Place = LATER) -> None:
    """Write over the last variable, as a buffer that no operator has."""
    victim = [slot for slot in run.contents.slots if slot.is_variable][-1]
    run.contents.fill(run.contents.in_tail(BufferId("tensor", 9, 9), victim.offset, victim.size), place)


def test_a_variable_that_an_operator_only_writes_is_checked_before_and_what_it_writes_first_is_not() -> None:
    run = invoker(relu(state={"scale": 0.5}))
    run.invoke()
    assert run.contents.findings == ()
    overwrite(run)
    run.run_subgraph(0)
    (found,) = run.contents.findings
    assert (found.code, found.noticed) == (FindingCode.VARIABLE_TOUCHED, (0, 1))


def test_an_operator_fills_the_state_that_it_reads_and_does_not_name_as_an_output() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 4), FLOAT32) for _ in range(2))
    state = builder.tensor((1, 4), FLOAT32, is_variable=True)
    builder.operator("ADD", [a, state], [b])
    run = invoker(parse(builder.build(inputs=[a], outputs=[b])))
    run.invoke()
    slots = [run.slot(0, tensor) for tensor in (a, state, b)]
    assert [str(slot.writer) for slot in slots if slot is not None] == [
        "the application, before Invoke()",
        "ADD #0",
        "ADD #0",
    ]
    # The input by the application, input and state before the operator, the output as it is written, the input
    # behind, then the output and the state in the end: each has 16 bytes. The state is no output: not checked behind.
    assert run.contents.checked_bytes == 16 * (1 + 2 + 1 + 2 + 1 + 1)


def test_a_variable_that_is_overwritten_behind_the_last_operator_is_noticed_in_the_end() -> None:
    run = invoker(variable(), resource_variables=1)
    overwrite(run)
    run.invoke()  # The variable is assigned anew, by a copy that no one compares with what was there.
    assert run.contents.findings == ()
    assert run.operators == 2


def test_inputs_are_alive_until_they_are_overwritten_and_one_without_bytes_always_is() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
    constant = builder.tensor((1, 16), INT8, scale=0.5, data=bytes(16))
    builder.operator("ADD", [a, constant], [b])
    run = invoker(parse(builder.build(inputs=[a, constant], outputs=[b])))
    run.invoke()
    assert run.inputs_alive() == (True, True)
    slot = run.slot(0, a)
    assert slot is not None
    run.contents.memory[slot.index + 15] ^= 1
    assert run.inputs_alive() == (False, True)


@pytest.mark.parametrize("index", [-1, 1])
def test_a_subgraph_that_is_not_there_stops_invoke(index: int) -> None:
    with pytest.raises(SimulatedFailure) as caught:
        invoker(relu()).run_subgraph(index)
    assert caught.value.device_message == f"Accessing subgraph {index} but only 1 subgraphs found"


def test_no_more_operators_run_than_are_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invoker_module, "MAX_SCOPES", 2)
    run = invoker(relu())
    run.invoke()
    run.invoke()
    with pytest.raises(ModelError, match=r"^more than 2 operators run: not simulated$"):
        run.invoke()


def _temp(node: Node) -> Steps[None]:
    tensor = yield TempTensor(node.inputs[0])
    yield FreeTempTensor(tensor)


def _nothing(node: Node) -> Steps[None]:
    yield from ()


def test_what_a_kernel_asks_for_in_invoke_begins_with_its_step_and_ends_with_its_temps() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), INT8) for _ in range(2))
    builder.custom("MINE", [a], [b])
    row = OpModel("MINE", None, None, _nothing, "mine.cc", invoke=_temp)
    events: list[Event] = []
    run = invoker(parse(builder.build(inputs=[a], outputs=[b])), observers=[events.append], custom_ops=[row])
    events.clear()
    run.invoke()
    first, *_, last = events
    assert first == OpEvent(Stage.OP_INVOKE, 0, 0, "MINE", True)
    assert isinstance(last, TempReset)
    assert last.ok
    assert run.contents.findings == ()


def two(first: int, second: int) -> Invoker:
    """Return an invoker of a model with two inputs of some bytes and no operator."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, size), INT8, scale=0.5) for size in (first, second)]
    return invoker(parse(builder.build(inputs=tensors, outputs=[])))


def test_a_copy_between_sizes_ends_invoke_with_a_finding_that_names_both() -> None:
    run = two(16, 17)
    with pytest.raises(invoker_module.InvokeFailed):
        run.copy([(0, 0)], [(0, 1)], Place(0, 3, "IF"))
    (found,) = run.contents.findings
    assert (found.code, found.noticed) == (FindingCode.COPY_SIZES_DIFFER, (0, 3))
    assert found.message == "tensor 0 has 16 bytes, tensor 1 has 17: the device's Invoke() fails here"
    assert (found.offender, found.victim) == (BufferId("tensor", 0, 0), BufferId("tensor", 0, 1))


def test_a_copy_of_a_constant_fills_its_target_and_one_into_nothing_checks_its_source() -> None:
    run = two(16, 16)
    source, target = run.slot(0, 0), run.slot(0, 1)
    assert source is not None
    assert target is not None
    run.copy_slot(None, target, Place(0, 3, "IF"))
    assert target.is_intact()
    assert str(target.writer) == "IF #3"
    run.copy_slot(source, None, Place(0, 3, "IF"))
    assert [finding.code for finding in run.contents.findings] == [FindingCode.READ_BEFORE_WRITTEN]
