"""Each finding from the shortest event sequence that has it; ordinary runs have none."""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.arena.events import (
    AllocInfo,
    Event,
    OpEvent,
    Persist,
    Phase,
    PlanAdd,
    PlanDone,
    PlanOffset,
    Resize,
    Run,
    ScratchRequest,
    ScratchUse,
    Temp,
    TempFree,
    TempReset,
    Variable,
)
from tflm_sim.arena.stages import Stage
from tflm_sim.checks.sanitizer import NpuTensors, Sanitizer, npu_tensors
from tflm_sim.invocation.findings import BufferId, Finding, FindingCode
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

RUN = Run("plain", 1024)
PREPARE = OpEvent(Stage.OP_PREPARE, 0, 3, "CONV_2D", has=True)
TEMP = Temp(size=32, alignment=4, offset=64, temp_end=96, tail_offset=900)
AT = "prepare of CONV_2D #3 in subgraph 0"


def findings(*events: Event, **arguments: object) -> list[Finding]:
    sanitizer = Sanitizer(**arguments)  # type: ignore[arg-type]
    for event in (RUN, *events):
        sanitizer(event)
    return sanitizer.findings


def persist(offset: int, size: int, label: str = "OpData", alignment: int = 16) -> Persist:
    return Persist(size, alignment, offset, size, 1024 - offset, "", label)


def info(index: int, first: int, last: int, *, size: int = 64, scratch: bool = False) -> AllocInfo:
    tensor, number, node = (-1, index, 0) if scratch else (index, -1, -1)
    return AllocInfo(index, 0, tensor, number, node, size, True, first, last, -1)


def plan(*rows: tuple[AllocInfo, int]) -> list[Event]:
    """Return the events of a plan of buffers at offsets."""
    placed = [Phase(Stage.PLANNER_ARENA)]
    added = [PlanAdd(row.info, row.size, row.size, row.first, row.last, -1) for row, _ in rows]
    offsets = [PlanOffset(row.info, index, offset) for index, (row, offset) in enumerate(rows)]
    usage = max(row.size + offset for row, offset in rows)
    return [
        Phase(Stage.PLAN),
        *(row for row, _ in rows),
        *placed,
        *added,
        *offsets,
        PlanDone(usage, 0, 512, len(offsets)),
    ]


def test_a_temp_that_is_not_given_back_before_the_reset() -> None:
    (found,) = findings(PREPARE, TEMP, TempReset(False, 96, 0))
    assert (found.code, found.place, found.start, found.end) == (FindingCode.TEMP_NOT_RELEASED, AT, 64, 96)
    assert found.message == "the temp of 32 bytes at 64 is not given back before the reset"


def test_a_leaked_temp_is_named_once() -> None:
    refused = TempReset(False, 96, 0)
    assert len(findings(PREPARE, TEMP, refused, refused)) == 1


def test_a_temp_that_is_used_after_its_reset() -> None:
    events = (PREPARE, TEMP, TempFree(64), TempReset(True, 96, 0), TempFree(64))
    assert [found.code for found in findings(*events)] == [FindingCode.TEMP_USED_AFTER_RESET]


def test_a_temp_that_is_given_back_twice() -> None:
    assert [found.code for found in findings(PREPARE, TEMP, TempFree(64), TempFree(64))] == [
        FindingCode.TEMP_FREED_TWICE
    ]


def test_the_head_is_resized_while_temps_live() -> None:
    (found,) = findings(PREPARE, TEMP, Resize(192, 4, False, 0, 900))
    assert (found.code, found.place) == (FindingCode.HEAD_RESIZED_OVER_TEMPS, AT)
    assert (found.start, found.end) == (0, 192)
    assert found.message == "the head is resized to 192 bytes while 1 temps are out"


def test_a_persistent_buffer_over_a_live_temp() -> None:
    (found,) = findings(PREPARE, TEMP, persist(80, 32))
    assert (found.code, found.start, found.end) == (FindingCode.PERSISTENT_OVERLAPPED, 80, 96)
    assert found.message == f"OpData takes bytes 80 to 95 of a temp (temp, since {AT})"


def test_a_variable_over_a_live_temp_is_fine_and_stays_when_the_temp_is_given_back() -> None:
    variable = Persist(16, 16, 80, 16, 1024 - 80, "kTfLiteTensorVariableBufferData", "state")
    sanitizer = Sanitizer()
    sanitizer.fold([RUN, PREPARE, TEMP, Variable(0, 16), variable, TempFree(64), TempReset(True, 96, 0)])
    assert sanitizer.findings == []
    assert (str(sanitizer.memory[80]), sanitizer.memory[79]) == (f"state (tail, since {AT})", None)


def test_a_temp_that_ends_before_it_starts_has_no_bytes() -> None:
    rest = Temp(size=2**32 - 16, alignment=16, offset=96, temp_end=80, tail_offset=95)
    assert findings(persist(80, 944), rest, TempFree(96), TempReset(True, 80, 0)) == []


def test_a_persistent_buffer_over_a_temp_that_was_given_back_is_fine() -> None:
    assert findings(PREPARE, TEMP, TempFree(64), persist(80, 32)) == []


def test_a_temp_over_a_persistent_buffer() -> None:
    (found,) = findings(PREPARE, persist(80, 32), TEMP)
    assert (found.code, found.start, found.end) == (FindingCode.PERSISTENT_OVERLAPPED, 80, 96)


def test_the_head_over_the_tail() -> None:
    (found,) = findings(persist(80, 32), Phase(Stage.PLAN), Resize(96, 16, True, 96, 80))
    assert (found.code, found.start, found.end) == (FindingCode.PERSISTENT_OVERLAPPED, 80, 96)


def test_the_head_begins_at_the_first_byte() -> None:
    (found,) = findings(persist(0, 32), Phase(Stage.PLAN), Resize(16, 16, True, 16, 0))
    assert (found.start, found.end) == (0, 16)


def test_a_temp_over_another_temp() -> None:
    (found,) = findings(PREPARE, TEMP, Temp(16, 4, 80, 96, 900))
    assert (found.code, found.start, found.end) == (FindingCode.LIVE_BUFFERS_OVERLAP, 80, 96)


def test_planning_touches_a_variable() -> None:
    events = (
        Phase(Stage.VARIABLES),
        Variable(5, 32),
        persist(512, 32, "variable tensor 5"),
        Phase(Stage.PLANNER_ARENA),
    )
    (found,) = findings(*events, Temp(512, 16, 16, 528, 512))
    assert (found.code, found.place, found.start, found.end) == (
        FindingCode.VARIABLE_TOUCHED,
        "planner arena",
        512,
        528,
    )


def test_the_plan_lies_on_a_variable() -> None:
    events = (Phase(Stage.VARIABLES), Variable(5, 32), persist(64, 32, "variable tensor 5"))
    (found,) = findings(*events, *plan((info(0, 0, 1), 32)))
    assert (found.code, found.start, found.end) == (FindingCode.VARIABLE_TOUCHED, 64, 96)
    assert found.message == "tensor 0 is planned over bytes 64 to 95 of variable tensor 5 (tail, since variables)"


def test_a_second_model_has_a_plan_of_its_own() -> None:
    again = (Phase(Stage.BUILTIN_DATA_ALLOCATOR), *plan((info(0, 0, 1), 0)))
    assert findings(*plan((info(0, 0, 1), 0)), *again) == []


@pytest.mark.parametrize(
    ("place", "request_subgraph"),
    [(OpEvent(Stage.OP_INIT, 0, 3, "CONV_2D", has=True), 0), (PREPARE, 1), (Phase(Stage.SCRATCH_HANDLES), 0)],
)
def test_a_scratch_buffer_outside_of_its_operator(place: Event, request_subgraph: int) -> None:
    (found,) = findings(place, ScratchRequest(64, request_subgraph, 0, ""))
    assert (found.code, found.start, found.end) == (FindingCode.SCRATCH_OUTSIDE_ITS_OPERATOR, 0, 0)


def test_two_live_buffers_on_one_byte() -> None:
    (found,) = findings(*plan((info(0, 0, 1), 0), (info(1, 1, 2, scratch=True), 48)))
    assert (found.code, found.start, found.end) == (FindingCode.LIVE_BUFFERS_OVERLAP, 48, 64)
    assert (found.victim, found.offender) == (BufferId("tensor", 0, 0), BufferId("scratch", 0, 1))
    assert found.message == "tensor 0 and scratch 1 are both alive in scopes 1 to 1 and share bytes 48 to 63"


def test_buffers_that_live_one_after_the_other_share_bytes() -> None:
    assert findings(*plan((info(0, 0, 1), 0), (info(1, 2, 2), 0))) == []


def test_the_tensors_of_an_npu_operator_share_bytes_on_purpose() -> None:
    npu = NpuTensors(memory=frozenset({(0, 2)}), operators=(frozenset({(0, 0), (0, 1), (0, 2)}),))
    events = plan((info(0, 0, 1), 0), (info(1, 1, 1), 0), (info(2, -1, 1), 0))
    assert findings(*events, npu=npu) == []
    another = findings(*plan((info(0, 0, 1), 0), (info(5, 1, 1), 0)), npu=npu)
    assert [found.code for found in another] == [FindingCode.LIVE_BUFFERS_OVERLAP], "that is not the operator's"
    assert {found.code for found in findings(*events)} == {
        FindingCode.LIVE_BUFFERS_OVERLAP,
        FindingCode.READ_BEFORE_WRITTEN,
    }


@pytest.mark.parametrize("last", [0, 4])
def test_a_tensor_that_nothing_writes(last: int) -> None:
    (found,) = findings(*plan((info(0, -1, last), 0)))
    assert (found.code, found.victim) == (FindingCode.READ_BEFORE_WRITTEN, BufferId("tensor", 0, 0))


def test_a_size_below_zero_is_no_bytes() -> None:
    assert findings(*plan((info(0, 0, 1), 0), (info(1, 0, 1, size=-64), 0))) == []


def test_a_buffer_that_nothing_names_is_no_finding() -> None:
    assert findings(*plan((info(0, -1, -1), 0))) == []


@pytest.mark.parametrize("event", [persist(900, 16), Temp(16, 8, 4, 20, 900)])
def test_an_allocation_that_is_not_aligned(event: Persist | Temp) -> None:
    (found,) = findings(PREPARE, event)  # 900 % 16 == 4, 4 % 8 == 4
    assert (found.code, found.start, found.end) == (FindingCode.MISALIGNED, event.offset, event.offset + 16)


def test_alignment_is_of_addresses() -> None:
    assert findings(PREPARE, persist(900, 16), address=12) == []  # 912 is 57 * 16


def test_a_planned_buffer_that_is_not_aligned() -> None:
    assert [found.code for found in findings(*plan((info(0, 0, 1), 8)))] == [FindingCode.MISALIGNED]


@pytest.mark.parametrize(
    "events",
    [
        (Phase(Stage.DONE), persist(512, 16)),
        (OpEvent(Stage.OP_INVOKE, 0, 0, "MINE", has=True), persist(512, 16)),
        (OpEvent(Stage.OP_PREPARE, 0, 0, "MINE", has=True), ScratchRequest(16, 0, 0, "")),
    ],
)
def test_an_allocation_after_the_plan_is_final(events: tuple[Event, ...]) -> None:
    assert [found.code for found in findings(*plan((info(0, 0, 1), 0)), *events)] == [FindingCode.ALLOCATION_AFTER_PLAN]


def test_input_tensors_and_a_second_model_come_after_the_plan() -> None:
    again = (
        Phase(Stage.INPUT_TENSORS),
        persist(512, 16),
        Phase(Stage.DONE),
        Phase(Stage.BUILTIN_DATA_ALLOCATOR),
        persist(496, 16),
    )
    assert findings(*plan((info(0, 0, 1), 0)), *again) == []


def test_two_arenas_have_memories_of_their_own() -> None:
    assert findings(PREPARE, TEMP, persist(80, 16), is_split=True) == []


def test_the_shadow_knows_who_since_when_and_where() -> None:
    sanitizer = Sanitizer()
    for event in (RUN, PREPARE, persist(512, 32)):
        sanitizer(event)
    owner = sanitizer.memory[543]
    assert owner is not None
    assert (owner.section, owner.label, owner.since, owner.place) == ("tail", "OpData", 2, AT)
    assert (sanitizer.memory[511], sanitizer.memory[544]) == (None, None)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("target", ["cortex-m4", "cortex-m55", "esp32-s3", "x86_64"])
def test_samples_are_clean_on_every_target(name: str, target: str) -> None:
    sanitizer = Sanitizer()
    simulate(load(sample_path(name)), preset(target), observers=[sanitizer])
    assert sanitizer.findings == []


def test_a_scratch_buffer_of_another_operator() -> None:
    invoked = OpEvent(Stage.OP_INVOKE, 0, 3, "MINE", has=True)
    assert findings(invoked, ScratchUse(0, 0, 3)) == []
    for who, whose in ((2, "operator 2 of subgraph 0"), (0, "operator 0 of subgraph 0"), (-1, "nobody")):
        (found,) = findings(invoked, ScratchUse(0, 0, who))
        assert (found.code, found.victim) == (FindingCode.SCRATCH_OUTSIDE_ITS_OPERATOR, BufferId("scratch", 0, 0))
        assert found.message == f"scratch buffer 0 is used, and {whose} asked for it"


def test_the_tensors_of_an_ethos_u_are_those_of_its_own_operators() -> None:
    builder = ModelBuilder()
    one, two, three, four, five, six = (builder.tensor((16,), TensorType.INT8) for _ in range(6))
    builder.custom("ethos-u", [one, two, three, four], [five])
    builder.custom("another", [five], [six])
    # Its third and fourth input are scratch memory, which may share bytes with anything.
    assert npu_tensors(parse(builder.build(inputs=[one], outputs=[six]))) == NpuTensors(
        frozenset({(0, 2), (0, 3)}), (frozenset({(0, 0), (0, 1), (0, 2), (0, 3), (0, 4)}),)
    )


def test_an_ethos_u_of_three_inputs_has_one_scratch_memory() -> None:
    builder = ModelBuilder()
    one, two, three, four = (builder.tensor((16,), TensorType.INT8) for _ in range(4))
    builder.custom("ethos-u", [one, two, three], [four])
    assert npu_tensors(parse(builder.build(inputs=[one], outputs=[four]))).memory == frozenset({(0, 2)})
