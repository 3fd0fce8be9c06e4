"""``invoke()``: TFLM's plans pass; a plan that corrupts data is named with operator, buffers and bytes."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.errors import ModelError, SimulatedFailure, UsageError
from tflm_sim.invocation.findings import BufferId, FindingCode
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import FreeTempTensor, Persistent, Steps, TempTensor
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

INT8, BOOL, FLOAT32 = TensorType.INT8, TensorType.BOOL, TensorType.FLOAT32
TARGET = preset("cortex-m4", kernels="reference")
Chain = Callable[..., Model]


def tensor(index: int, subgraph: int = 0) -> BufferId:
    return BufferId("tensor", subgraph, index)


def branches(*, else_size: int = 16) -> Model:
    """IF(condition, x) -> y, with a RELU in each branch; tensors of the branches: 0 in, 1 out."""
    builder = ModelBuilder()
    condition, x, y = builder.tensor((1,), BOOL), builder.tensor((1, 16), FLOAT32), builder.tensor((1, 16), FLOAT32)
    then_graph, else_graph = builder.add_subgraph(), builder.add_subgraph()
    for graph, size in ((then_graph, 16), (else_graph, else_size)):
        source, result = graph.tensor((1, size), FLOAT32), graph.tensor((1, size), FLOAT32)
        graph.operator("RELU", [source], [result])
        graph.inputs, graph.outputs = [source], [result]
    options = {"then_subgraph_index": then_graph.index, "else_subgraph_index": else_graph.index}
    builder.operator("IF", [condition, x], [y], options=options)
    return parse(builder.build(inputs=[condition, x], outputs=[y]))


def loop() -> Model:
    """WHILE(x) -> y: the condition is x > x, the body a RELU."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 1), FLOAT32), builder.tensor((1, 1), FLOAT32)
    condition, body = builder.add_subgraph(), builder.add_subgraph()
    source, result = condition.tensor((1, 1), FLOAT32), condition.tensor((1, 1), BOOL)
    condition.operator("GREATER", [source, source], [result])
    condition.inputs, condition.outputs = [source], [result]
    source, result = body.tensor((1, 1), FLOAT32), body.tensor((1, 1), FLOAT32)
    body.operator("RELU", [source], [result])
    body.inputs, body.outputs = [source], [result]
    options = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    builder.operator("WHILE", [x], [y], options=options)
    return parse(builder.build(inputs=[x], outputs=[y]))


def run(model: Model, **arguments: object) -> Simulation:
    return simulate(model, TARGET, arena_size=1 << 20, **arguments).unwrap()  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_pass_ten_invocations(name: str) -> None:
    invocation = invoke(run(load(sample_path(name))), count=10)
    assert (invocation.ok, invocation.findings, invocation.count) == (True, (), 10)


def test_the_input_is_gone_after_invoke_with_the_greedy_planner_and_there_with_the_linear_one(chain: Chain) -> None:
    assert invoke(run(chain(16, 16, 16, 16))).inputs_alive == (False,)
    assert invoke(run(chain(16, 16, 16, 16), planner="linear")).inputs_alive == (True,)


def test_an_input_that_is_overwritten_before_its_reader_ends(chain: Chain) -> None:
    # Tensors 0 and 1 are both alive while operator 0 runs: [0, 16) and [8, 24) share bytes 8 to 15.
    (found,) = invoke(run(chain(16, 16)), offsets=[0, 8]).findings
    assert (found.code, found.victim, found.offender) == (FindingCode.TENSOR_OVERWRITTEN, tensor(0), tensor(1))
    assert (found.start, found.end, found.noticed, found.written) == (8, 16, (0, 0), (0, 0))
    assert found.message == (
        "bytes 8 to 15 of tensor 0 (written by the application, before Invoke()) were overwritten with tensor 1 by "
        "RELU #0"
    )


def test_computing_in_place_is_a_finding(chain: Chain) -> None:
    (found,) = invoke(run(chain(16, 16)), offsets=[0, 0]).findings
    assert (found.code, found.start, found.end) == (FindingCode.TENSOR_OVERWRITTEN, 0, 16)


def test_an_output_that_is_overwritten_before_the_end() -> None:
    builder = ModelBuilder()
    a, b, c, d = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(4))
    for source, result in ((a, b), (a, c), (c, d)):
        builder.operator("RELU", [source], [result])
    simulation = run(parse(builder.build(inputs=[a], outputs=[b, d])))
    assert [buffer.info.tensor for buffer in simulation.buffers] == [0, 1, 2, 3]
    (found,) = invoke(simulation, offsets=[32, 0, 16, 8 - 8]).findings  # d on b
    assert (found.code, found.place) == (FindingCode.OUTPUT_OVERWRITTEN, "the end of Invoke()")
    assert (found.victim, found.offender, found.written, found.noticed) == (tensor(1), tensor(3), (0, 2), None)


def test_scratch_is_checked_too() -> None:
    builder = ModelBuilder()
    a, b = builder.tensor((1, 4), INT8, scale=0.5), builder.tensor((1,), INT8, scale=0.25)
    axis = builder.tensor((1,), TensorType.INT32, data=[1])
    builder.operator("SUM", [a, axis], [b])
    simulation = run(parse(builder.build(inputs=[a], outputs=[b])))
    scratch = next(i for i, buffer in enumerate(simulation.buffers) if buffer.info.scratch == 0)
    output = next(i for i, buffer in enumerate(simulation.buffers) if buffer.info.tensor == b)
    offsets = [16 * position for position in range(len(simulation.buffers))]
    offsets[output] = offsets[scratch]
    (found,) = invoke(simulation, offsets=offsets).findings
    assert (found.code, found.victim, found.offender) == (
        FindingCode.SCRATCH_OVERWRITTEN,
        BufferId("scratch", 0, 0),
        tensor(b),
    )
    assert found.end - found.start == 1  # b has one byte


def test_a_reshape_in_place_copies_nothing_and_a_shifted_one_destroys_its_input() -> None:
    builder = ModelBuilder()
    a, b = builder.tensor((1, 32), INT8), builder.tensor((2, 16), INT8)
    shape = builder.tensor((2,), TensorType.INT32, data=[2, 16])
    builder.operator("RESHAPE", [a, shape], [b])
    simulation = run(parse(builder.build(inputs=[a], outputs=[b])))
    assert invoke(simulation, offsets=[0, 0]).findings == ()
    (found,) = invoke(simulation, offsets=[0, 16]).findings
    assert (found.victim, found.offender, found.start, found.end) == (tensor(a), tensor(b), 16, 32)


def test_if_runs_both_ways() -> None:
    invocation = invoke(run(branches()), count=3)
    assert (invocation.findings, invocation.operators) == ((), 3 * 3)  # IF and a RELU in each branch


def test_branches_that_copy_other_sizes_make_invoke_fail() -> None:
    (found,) = invoke(run(branches(else_size=8))).findings
    assert found.code is FindingCode.COPY_SIZES_DIFFER
    assert found.message == "tensor 1 has 64 bytes, tensor 0 of subgraph 2 has 32: the device's Invoke() fails here"


@pytest.mark.parametrize("count", [0, 1, 5])
def test_while_runs_the_condition_once_more_than_the_body(count: int) -> None:
    invocation = invoke(run(loop()), while_iterations=count)
    assert (invocation.findings, invocation.operators) == ((), 1 + (count + 1) + count)


def test_a_loop_runs_twice_where_nothing_is_said() -> None:
    assert invoke(run(loop())) == invoke(run(loop()), while_iterations=2)


def test_a_broken_loop_is_noticed_in_its_body() -> None:
    simulation = run(loop())
    keys = [(buffer.info.subgraph, buffer.info.tensor) for buffer in simulation.buffers]
    offsets = [64 * position for position in range(len(keys))]
    offsets[keys.index((2, 1))] = offsets[keys.index((2, 0))]  # The body computes in place.
    (found,) = invoke(simulation, offsets=offsets).findings
    assert (found.place, found.victim, found.offender) == ("RELU #0 of subgraph 2", tensor(0, 2), tensor(1, 2))


def test_call_once_runs_in_the_first_invocation_only() -> None:
    simulation = run(load(sample_path("streaming")))
    main, once = (len(subgraph.operators) for subgraph in simulation.device.interpreters[0].model.subgraphs)
    assert invoke(simulation, count=4).operators == 4 * main + once


def test_variables_keep_their_content_between_invocations_of_several_models() -> None:
    models = [load(sample_path("streaming")), load(sample_path("sine"))]
    assert invoke(simulate(models, TARGET, arena_size=1 << 20), count=10).findings == ()


def test_a_variable_tensor_that_the_plan_puts_under_others_is_touched() -> None:
    builder = ModelBuilder()
    a, b = builder.tensor((1, 16), INT8, scale=0.5), builder.tensor((1, 16), INT8, scale=0.5)
    state = builder.tensor((1, 16), INT8, scale=0.5, is_variable=True)
    builder.operator("ADD", [a, state], [b])
    builder.metadata("OfflineMemoryAllocation", struct_of(1, 0, 3, 0, 16, 16))
    found = invoke(run(parse(builder.build(inputs=[a], outputs=[b]))), count=2).findings
    assert {(finding.code, finding.victim, finding.offender) for finding in found} == {
        (FindingCode.VARIABLE_TOUCHED, tensor(state), tensor(b))
    }


def struct_of(*numbers: int) -> bytes:
    return b"".join(number.to_bytes(4, sys.byteorder, signed=True) for number in numbers)


def test_a_tensor_that_nothing_writes_is_the_models_fault_and_not_the_plans() -> None:
    builder = ModelBuilder()
    a, b, c = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(3))
    builder.operator("ADD", [a, b], [c])
    invocation = invoke(run(parse(builder.build(inputs=[a], outputs=[c]))))
    assert [finding.code for finding in invocation.findings] == [FindingCode.READ_BEFORE_WRITTEN]
    assert invocation.ok


def test_a_roomy_arena_costs_only_what_is_used(chain: Chain) -> None:
    assert invoke(simulate(chain(16, 16), TARGET)).ok  # 1 GiB


def test_two_arenas(chain: Chain) -> None:
    simulation = simulate(load(sample_path("streaming")), TARGET, arena_size=65536, non_persistent_arena_size=65536)
    assert invoke(simulation, count=3).findings == ()


def test_a_failed_allocation_cannot_be_invoked(chain: Chain) -> None:
    with pytest.raises(SimulatedFailure):
        invoke(simulate(chain(16, 16), TARGET, arena_size=100))


@pytest.mark.parametrize("offsets", [[0], [0, -16], [0, 16, 32]])
def test_a_plan_has_one_offset_for_each_buffer(chain: Chain, offsets: list[int]) -> None:
    with pytest.raises(UsageError, match="a plan is one offset"):
        invoke(run(chain(16, 16)), offsets=offsets)


def _nothing(node: Node) -> Steps[None]:
    yield from ()


def _temp_in_invoke(node: Node) -> Steps[None]:
    tensor = yield TempTensor(node.inputs[0])
    yield FreeTempTensor(tensor)


def _persistent_in_invoke(node: Node) -> Steps[None]:
    yield Persistent(16, "too late")


def custom(invoke: Callable[[Node], Steps[None]]) -> Simulation:
    builder = ModelBuilder()
    a, b = builder.tensor((1, 16), INT8), builder.tensor((1, 16), INT8)
    builder.custom("MINE", [a], [b])
    row = OpModel("MINE", None, None, _nothing, "mine.cc", invoke=invoke)
    return run(parse(builder.build(inputs=[a], outputs=[b])), custom_ops=[row])


def test_a_kernel_may_take_temp_tensors_in_invoke() -> None:
    assert invoke(custom(_temp_in_invoke), count=2).findings == ()


def test_a_persistent_request_in_invoke_halts_the_device() -> None:
    with pytest.raises(SimulatedFailure, match=r"micro_interpreter_context\.cc:57.*the device halts") as caught:
        invoke(custom(_persistent_in_invoke))
    assert caught.value.status == "abort"


@pytest.mark.slow
@pytest.mark.shared("models")
def test_the_figures_of_check_plans(capsys: pytest.CaptureFixture[str]) -> None:
    from compare import plans as check_plans

    assert check_plans.main([]) == 0
    assert capsys.readouterr().out.count("100 of 100 broken plans caught") == len(SAMPLES)


def test_a_buffer_at_a_negative_offset_cannot_be_invoked() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
    builder.operator("RELU", [a], [b])
    builder.metadata("OfflineMemoryAllocation", struct_of(1, 0, 2, -16, 16))
    with pytest.raises(ModelError, match="fixed at -16"):
        invoke(run(parse(builder.build(inputs=[a], outputs=[b]))))


def test_gigabytes_that_a_file_claims_are_not_filled(chain: Chain) -> None:
    with pytest.raises(ModelError, match="not invoked"):
        invoke(simulate(chain(300 << 20, 300 << 20), TARGET))


def test_memory_is_bounded_whatever_a_model_claims() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 30 << 20), INT8)
    y = builder.tensor((1, 30 << 20), INT8)
    builder.operator("RELU", [builder.tensor((1, 4), FLOAT32)], [builder.tensor((1, 4), FLOAT32)])
    simulation = simulate(parse(builder.build(inputs=[x, y], outputs=[])), TARGET)
    tracemalloc.start()
    invoke(simulation, count=3)
    # 60 MiB of arena and the noise for one buffer of 30, made of a copy of itself at most.
    assert tracemalloc.get_traced_memory()[1] < 160 << 20
    tracemalloc.stop()
    huge = ModelBuilder()
    z = huge.tensor((1, 65 << 20), INT8)
    with pytest.raises(ModelError, match="more than any device has: not invoked"):
        invoke(simulate(parse(huge.build(inputs=[z], outputs=[])), TARGET))


def test_the_result_of_a_condition_is_checked_when_its_subgraph_is_over_and_nothing_else_of_it() -> None:
    """An operator of the condition that runs after the comparison must not write over its result."""
    builder = ModelBuilder()
    x, y = builder.tensor((1, 1), FLOAT32), builder.tensor((1, 1), FLOAT32)
    condition, body = builder.add_subgraph(), builder.add_subgraph()
    source, result, spare, late = (condition.tensor((1, 1), kind) for kind in (FLOAT32, BOOL, FLOAT32, FLOAT32))
    condition.operator("RELU", [source], [spare])
    condition.operator("GREATER", [source, source], [result])
    condition.operator("RELU", [source], [late])
    condition.inputs, condition.outputs = [source], [result]
    source, out = body.tensor((1, 1), FLOAT32), body.tensor((1, 1), FLOAT32)
    body.operator("RELU", [source], [out])
    body.inputs, body.outputs = [source], [out]
    options = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    builder.operator("WHILE", [x], [y], options=options)
    simulation = run(parse(builder.build(inputs=[x], outputs=[y])))
    place = {(buffer.info.subgraph, buffer.info.tensor): i for i, buffer in enumerate(simulation.buffers)}
    offsets = [16 * i for i in range(len(place))]
    assert invoke(simulation, offsets=offsets).findings == ()
    late_on_spare = list(offsets)
    late_on_spare[place[1, 3]] = offsets[place[1, 2]]
    assert invoke(simulation, offsets=late_on_spare).findings == ()  # nobody reads the spare one
    late_on_result = list(offsets)
    late_on_result[place[1, 3]] = offsets[place[1, 1]]
    (found,) = invoke(simulation, count=20, offsets=late_on_result).findings  # one byte may agree by chance
    assert (found.victim, found.offender, found.noticed) == (tensor(1, 1), tensor(3, 1), (0, 0))


def test_an_ethos_u_takes_its_third_and_fourth_input_as_memory_that_nobody_writes() -> None:
    builder = ModelBuilder()
    commands = builder.tensor((64,), TensorType.UINT8, data=bytes(64))
    weights = builder.tensor((64,), TensorType.UINT8, data=bytes(64))
    scratch, fast = (builder.tensor((64,), TensorType.UINT8) for _ in range(2))
    source, result = (builder.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
    builder.custom("ethos-u", [commands, weights, scratch, fast, source], [result], options=b"\1\4\1")
    model = parse(builder.build(inputs=[source], outputs=[result]))
    target = replace(preset("cortex-m55", kernels="reference"), ethos_u=True)
    assert invoke(simulate(model, target)).findings == ()


def test_a_branch_reads_the_variable_whose_id_it_is_given() -> None:
    # VAR_HANDLE, ASSIGN of 16 bytes, then IF(condition, id): the else branch reads the variable into 8 bytes.
    builder = ModelBuilder()
    condition, x, y = builder.tensor((1,), BOOL), builder.tensor((1, 4), FLOAT32), builder.tensor((1, 4), FLOAT32)
    handle = builder.tensor((1,), TensorType.RESOURCE)
    builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "v"})
    builder.operator("ASSIGN_VARIABLE", [handle, x], [])
    then_graph, else_graph = builder.add_subgraph(), builder.add_subgraph()
    for graph, size in ((then_graph, 4), (else_graph, 2)):
        given, value = graph.tensor((1,), TensorType.RESOURCE), graph.tensor((1, size), FLOAT32)
        graph.operator("READ_VARIABLE", [given], [value])
        graph.inputs, graph.outputs = [given], [value]
    options = {"then_subgraph_index": then_graph.index, "else_subgraph_index": else_graph.index}
    builder.operator("IF", [condition, handle], [y], options=options)
    model = parse(builder.build(inputs=[condition, x], outputs=[y]))
    (found,) = invoke(run(model, resource_variables=1)).findings
    assert (found.code, found.noticed) == (FindingCode.COPY_SIZES_DIFFER, (else_graph.index, 0))
    assert found.offender == BufferId("resource variable", 0, 0)


def ethos_u(*inputs: int) -> Model:
    """Return a model whose operator has, as inputs, as many bytes each; all but the first two are no constants."""
    builder = ModelBuilder()
    own = [builder.tensor((size,), TensorType.UINT8, data=bytes(size)) for size in inputs[:2]]
    own += [builder.tensor((size,), TensorType.UINT8) for size in inputs[2:]]
    result = builder.tensor((1, 16), INT8, scale=0.5)
    builder.custom("ethos-u", own, [result], options=b"\1\4\1")
    return parse(builder.build(inputs=[], outputs=[result]))


@pytest.mark.parametrize(("inputs", "unwritten"), [((64, 64), []), ((64, 64, 32), []), ((64, 64, 32, 48, 8), [4])])
def test_an_ethos_u_may_have_less_memory_than_two_inputs_and_reads_those_behind(
    inputs: tuple[int, ...], unwritten: list[int]
) -> None:
    target = replace(preset("cortex-m55", kernels="reference"), ethos_u=True)
    findings = invoke(simulate(ethos_u(*inputs), target)).findings
    assert [(found.code, found.victim) for found in findings] == [
        (FindingCode.READ_BEFORE_WRITTEN, tensor(index)) for index in unwritten
    ]


def on_a_variable(**arenas: int) -> list[FindingCode]:
    """Invoke a model whose output is planned at the offset at which its variable lies in the tail."""
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 4), FLOAT32) for _ in range(2))
    state = builder.tensor((1, 4), FLOAT32, is_variable=True)
    builder.operator("ADD", [a, state], [b])
    simulation = simulate(parse(builder.build(inputs=[a], outputs=[b])), TARGET, **arenas)  # type: ignore[arg-type]
    (interpreter,) = simulation.device.interpreters
    assert interpreter.allocation is not None
    (offset,) = interpreter.allocation.variable_offsets.values()
    return [finding.code for finding in invoke(simulation, offsets=[0, offset]).findings]


@pytest.mark.parametrize("size", [1 << 12, 1 << 26])
def test_a_plan_may_reach_into_persistent_memory_up_to_the_largest_arena(size: int) -> None:
    # When the operator ends, and in the end.
    assert on_a_variable(arena_size=size) == [FindingCode.VARIABLE_TOUCHED] * 2


def test_a_plan_of_two_arenas_reaches_into_none() -> None:
    assert on_a_variable(arena_size=1 << 12, non_persistent_arena_size=1 << 12) == []


def test_a_model_is_invoked_once_where_nothing_is_said(chain: Chain) -> None:
    simulation = run(chain(16, 16, 16))
    found = invoke(simulation)
    assert (found.count, found.operators) == (1, 2)
    # The input before Invoke(); before and after each operator its input, and its output; the output in the end.
    assert found.checked_bytes == 16 * (1 + 2 * 3 + 1)
    assert invoke(simulation, count=3).checked_bytes == 3 * found.checked_bytes


def test_where_nothing_is_planned_nothing_is_compared() -> None:
    found = invoke(run(parse(ModelBuilder().build(inputs=[], outputs=[]))))
    assert (found.operators, found.checked_bytes, found.inputs_alive, found.ok) == (0, 0, (), True)


@pytest.mark.parametrize(("handle", "finding"), [
    (struct_of(0), [FindingCode.COPY_SIZES_DIFFER]),  # The id of the variable, which has 16 bytes.
    (struct_of(0) + b"\0", [FindingCode.COPY_SIZES_DIFFER]),
    (struct_of(1), []),  # No variable has this id,
    (b"\0\0\0", []),  # and three bytes are none.
])  # fmt: skip
def test_a_constant_names_a_resource_variable_by_its_first_four_bytes(
    handle: bytes, finding: list[FindingCode]
) -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 4), FLOAT32), builder.tensor((1, 2), FLOAT32)
    made = builder.tensor((1,), TensorType.RESOURCE)
    constant = builder.tensor((1,), TensorType.RESOURCE, data=handle)
    builder.operator("VAR_HANDLE", [], [made], options={"shared_name": "v"})
    builder.operator("ASSIGN_VARIABLE", [made, x], [])
    builder.operator("READ_VARIABLE", [constant], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    findings = invoke(run(model, resource_variables=1)).findings
    assert [found.code for found in findings] == finding


def test_the_condition_of_an_if_is_checked() -> None:
    """A RELU writes over the condition, which IF then reads."""
    builder = ModelBuilder()
    condition, x, y, z = (builder.tensor((1, size), kind) for size, kind in ((1, BOOL), *[(16, FLOAT32)] * 3))
    for graph in (builder.add_subgraph(), builder.add_subgraph()):
        source, result = graph.tensor((1, 16), FLOAT32), graph.tensor((1, 16), FLOAT32)
        graph.operator("RELU", [source], [result])
        graph.inputs, graph.outputs = [source], [result]
    builder.operator("RELU", [x], [z])
    builder.operator("IF", [condition, x], [y], options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    model = parse(builder.build(inputs=[condition, x], outputs=[y, z]))
    simulation = run(model)
    place = {(buffer.info.subgraph, buffer.info.tensor): i for i, buffer in enumerate(simulation.buffers)}
    offsets = [64 * i for i in range(len(place))]
    offsets[place[0, z]] = 64 * len(place)
    assert invoke(simulation, offsets=offsets).findings == ()
    offsets[place[0, condition]] = offsets[place[0, z]]
    findings = invoke(simulation, count=20, offsets=offsets).findings
    assert (FindingCode.TENSOR_OVERWRITTEN, tensor(condition), (0, 1)) in {
        (found.code, found.victim, found.noticed) for found in findings
    }


def updated_slice(*offsets: int) -> list[tuple[BufferId | None, BufferId | None]]:
    """Invoke DYNAMIC_UPDATE_SLICE(16 bytes, 4 bytes, constant start) with its operand, update and output there."""
    builder = ModelBuilder()
    operand, update, result = (builder.tensor((size,), INT8) for size in (16, 4, 16))
    start = builder.tensor((1,), TensorType.INT32, data=[0])
    builder.operator("DYNAMIC_UPDATE_SLICE", [operand, update, start], [result])
    simulation = run(parse(builder.build(inputs=[operand, update], outputs=[result])))
    return [(found.victim, found.offender) for found in invoke(simulation, offsets=offsets).findings]


def test_a_slice_is_updated_in_place_where_operand_and_output_are_one_and_nowhere_else() -> None:
    assert updated_slice(0, 16, 32) == []
    assert updated_slice(0, 16, 0) == []
    assert updated_slice(0, 16, 8) == [(tensor(0), tensor(2)), (tensor(1), tensor(2))]
    assert updated_slice(16, 0, 0) == [(tensor(1), tensor(2))]  # The update is no operand.


def test_an_id_that_is_handed_on_to_a_branch_of_a_branch_still_names_its_variable() -> None:
    builder = ModelBuilder()
    condition, x, y = builder.tensor((1,), BOOL), builder.tensor((1, 4), FLOAT32), builder.tensor((1, 2), FLOAT32)
    handle = builder.tensor((1,), TensorType.RESOURCE)
    builder.operator("VAR_HANDLE", [], [handle], options={"shared_name": "v"})
    builder.operator("ASSIGN_VARIABLE", [handle, x], [])
    outer, inner = builder.add_subgraph(), builder.add_subgraph()
    builder.operator("IF", [condition, condition, handle], [y], options=dict.fromkeys(IF_OPTIONS, outer.index))
    again, given, value = (
        outer.tensor((1,), BOOL),
        outer.tensor((1,), TensorType.RESOURCE),
        outer.tensor((1, 2), FLOAT32),
    )
    outer.operator("IF", [again, given], [value], options=dict.fromkeys(IF_OPTIONS, inner.index))
    outer.inputs, outer.outputs = [again, given], [value]
    given, value = inner.tensor((1,), TensorType.RESOURCE), inner.tensor((1, 2), FLOAT32)
    inner.operator("READ_VARIABLE", [given], [value])
    inner.inputs, inner.outputs = [given], [value]
    model = parse(builder.build(inputs=[condition, x], outputs=[y]))
    # The variable has 16 bytes, which are read into 8.
    (found,) = invoke(run(model, resource_variables=1)).findings
    assert (found.code, found.noticed) == (FindingCode.COPY_SIZES_DIFFER, (inner.index, 0))


IF_OPTIONS = ("then_subgraph_index", "else_subgraph_index")


def test_of_the_results_of_a_condition_only_the_first_is_read() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((1, 1), FLOAT32), builder.tensor((1, 1), FLOAT32)
    condition, body = builder.add_subgraph(), builder.add_subgraph()
    source, result, never = (condition.tensor((1, 1), kind) for kind in (FLOAT32, BOOL, FLOAT32))
    condition.operator("GREATER", [source, source], [result])
    condition.inputs, condition.outputs = [source], [result, never]
    source, out = body.tensor((1, 1), FLOAT32), body.tensor((1, 1), FLOAT32)
    body.operator("RELU", [source], [out])
    body.inputs, body.outputs = [source], [out]
    options = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    builder.operator("WHILE", [x], [y], options=options)
    assert invoke(run(parse(builder.build(inputs=[x], outputs=[y])))).findings == ()
