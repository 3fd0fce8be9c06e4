"""What AllocateTensors() refuses, with the device's exact words; each was compared with the pip wheel."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Event, LogLine, OpEvent, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.device.interpreter import MicroInterpreter
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.errors import AllocatorSequenceError
from tflm_sim.invocation.invoke import invoke
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Metadata, Model, OperatorCode, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.requests import Steps
from tflm_sim.targets.presets import library_target, preset
from tflm_sim.targets.target import Target

M4 = preset("cortex-m4")
CUSTOM = 32
NO_REGISTRATION = "Failed to get registration from op code "


def relu(*, shape: tuple[int, ...] = (1, 8), count: int = 2) -> ModelBuilder:
    """Return int8 RELUs in a row over tensors 0, 1, ..."""
    builder = ModelBuilder()
    tensors = [builder.tensor(shape, TensorType.INT8, scale=0.5, zero_point=0) for _ in range(count)]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    return builder


def run(builder: ModelBuilder, *, inputs: list[int] | None = None, outputs: list[int] | None = None) -> Simulation:
    return simulate(parse(builder.build(inputs=inputs or [0], outputs=outputs or [1])), M4)


def run_with_code(builtin_code: int, custom_code: str | None = None) -> Simulation:
    builder = relu()
    builder.build(inputs=[0], outputs=[1])
    return simulate(
        replace(builder.model(), operator_codes=(OperatorCode(builtin_code, builtin_code, custom_code),)), M4
    )


# -- registration -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "name", "log"),
    [
        (210, None, ("Op builtin_code out of range: 210.", NO_REGISTRATION, " ")),
        (-3, None, ("Didn't find op for builtin opcode ''", NO_REGISTRATION, " ")),
        (51, None, ("Didn't find op for builtin opcode 'DELEGATE'", f"{NO_REGISTRATION}DELEGATE", " ")),
        (CUSTOM, "abacus", (f"{NO_REGISTRATION}CUSTOM", " ")),
        (CUSTOM, "RELU", (f"{NO_REGISTRATION}CUSTOM", " ")),
        (CUSTOM, "", (f"{NO_REGISTRATION}CUSTOM", " ")),
        (
            CUSTOM,
            None,
            (
                "Operator with CUSTOM builtin_code has no custom_code.",
                f"{NO_REGISTRATION}CUSTOM",
                " ",
            ),
        ),
    ],
)  # fmt: skip
def test_an_operator_without_a_kernel(code: int, name: str | None, log: tuple[str, ...]) -> None:
    simulation = run_with_code(code, name)
    assert (simulation.status, simulation.log) == ("error", log)
    assert simulation.failure is not None
    assert simulation.failure.where == "registration of operator #0 in subgraph 0"


def test_an_opcode_index_beyond_the_table() -> None:
    builder = relu()
    builder.build(inputs=[0], outputs=[1])
    simulation = simulate(replace(builder.model(), operator_codes=()), M4)
    assert simulation.log == ("Missing registration for opcode_index 0",)


def test_a_custom_operator_is_found_by_its_name_up_to_the_first_nul() -> None:
    builder = relu()
    builder.custom("TFLite_Detection_PostProcess\0whatever", [0], [1])
    assert "detection_postprocess.cc" in str(run(builder).failure)  # found, and it refuses the tensors


def test_a_builtin_operator_with_custom_options() -> None:
    builder = relu()
    builder.operator("RELU", [0], [1], custom_options=b"x")
    assert run(builder).log == ("Unsupported behavior: found builtin operator RELU with custom options.",)


# -- tensors ------------------------------------------------------------------------------------------------------


def test_an_unknown_type() -> None:
    builder = relu()
    builder.tensor((4,), 99)
    assert run(builder).log == (
        "Unsupported data type 99 in tensor",
        "Failed to initialize tensor 2",
        "Failed starting model allocation.",
    )


@pytest.mark.parametrize(("day", "is_known"), [("2022-10-11", False), ("2022-10-14", True)])
def test_int4_is_known_since_october_2022(day: str, is_known: bool) -> None:
    builder = relu()
    builder.tensor((4,), TensorType.INT4)
    simulation = simulate(parse(builder.build(inputs=[0], outputs=[1])), preset("x86_64", runtime=day))
    assert (simulation.status == "ok") == is_known
    assert ("Unsupported data type 17 in tensor" in simulation.log) != is_known


def test_a_type_without_a_size_fails_without_a_word() -> None:
    builder = relu()
    builder.tensor((4,), TensorType.STRING)
    simulation = run(builder)
    assert (simulation.status, simulation.log) == ("error", ())


def test_a_buffer_that_is_not_there_halts() -> None:
    builder = relu()
    builder.tensor((4,), TensorType.INT8, buffer=77)
    assert run(builder).status == "abort"


def test_a_dynamic_output() -> None:
    builder = relu(shape=(1, -1))
    assert run(builder).log == ("Op#0 (RELU) of subgraph 0 has dynamic tensor #1", "Dynamic tensors are not supported")


def test_an_intermediate_tensor_with_bytes() -> None:
    builder = relu()
    builder.operator("RELU", [0], [1], intermediates=[0])
    assert run(builder).log == ("Does not support intermediate tensor with non-zero size: 8",)


@pytest.mark.parametrize(("shape", "head"), [((1 << 16, 1 << 16), 32), ((1 << 16, (1 << 16) + 1), 16 + 65536)])
def test_elements_are_counted_in_a_c_int(shape: tuple[int, ...], head: int) -> None:
    builder = relu()
    builder.tensor(shape, TensorType.INT8, scale=0.5, zero_point=0)  # 2^32 elements are 0, 2^32 + 65536 are 65536
    simulation = run(builder, inputs=[0, 2])
    assert (simulation.status, simulation.head_bytes) == ("ok", head)


def test_a_variable_with_a_negative_size_makes_the_device_write_past_it() -> None:
    builder = relu()
    builder.tensor((-1, 10), TensorType.INT8, is_variable=True)
    assert run(builder).status == "abort"


# -- offline plans ------------------------------------------------------------------------------------------------


def offline(*offsets: int) -> bytes:
    return struct.pack(f"<{3 + len(offsets)}i", 1, 0, len(offsets), *offsets)


def test_an_offline_plan_for_another_number_of_tensors() -> None:
    builder = relu(count=3)
    builder.metadata("OfflineMemoryAllocation", offline(0, 64))
    simulation = run(builder, outputs=[2])
    assert simulation.log == ("Nbr of offline buffer offsets (2) in metadata not equal nbr tensors (3)",)


def test_an_offline_plan_that_ends_early_goes_on_with_what_follows_in_the_file() -> None:
    builder = relu(count=3)
    builder.metadata("OfflineMemoryAllocation", offline(0, 64, -1)[:16])
    assert run(builder, outputs=[2]).status != "abort"
    builder = relu(count=3)
    builder.metadata("OfflineMemoryAllocation", b"")
    assert run(builder, outputs=[2]).log[0].startswith("Nbr of offline buffer offsets (")


def test_an_offline_plan_without_a_buffer_halts() -> None:
    builder = relu()
    builder.build(inputs=[0], outputs=[1])
    model = replace(builder.model(), metadata=(Metadata("OfflineMemoryAllocation", 0),))
    assert simulate(model, M4).status == "abort"


def test_an_offline_plan_is_followed_even_where_it_overlaps() -> None:
    builder = relu(count=3)
    builder.metadata("OfflineMemoryAllocation", offline(0, 0, -1))
    simulation = run(builder, outputs=[2])
    # Tensor 2 goes above tensor 1, with which it is alive.
    assert [buffer.offset for buffer in simulation.buffers] == [0, 0, 16]


def test_an_offline_plan_beyond_the_arena() -> None:
    builder = relu()
    builder.metadata("OfflineMemoryAllocation", offline(1 << 21, 0))
    simulation = simulate(parse(builder.build(inputs=[0], outputs=[1])), M4, arena_size=1 << 20)
    assert simulation.log[0].startswith(f"Failed to resize buffer. Requested: {(1 << 21) + 16}, ")


def two_subgraphs_with_variables(*offsets: int) -> Simulation:
    """An IF with a RELU in each branch; tensors 0..3 of subgraph 0, 4..6 and 7..9; the last of each is a variable."""
    builder = ModelBuilder()
    condition = builder.tensor((1,), TensorType.BOOL)
    source, result = (builder.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2))
    builder.tensor((1, 40), TensorType.INT8, is_variable=True)
    for _ in range(2):
        branch = builder.add_subgraph()
        ends = [branch.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2)]
        branch.tensor((1, 24), TensorType.INT8, is_variable=True)
        branch.operator("RELU", ends[:1], ends[1:])
        branch.inputs, branch.outputs = ends[:1], ends[1:]
    builder.operator("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 2})
    if offsets:
        builder.metadata("OfflineMemoryAllocation", offline(*offsets))
    return run(builder, inputs=[condition, source], outputs=[result])


def test_variables_of_every_subgraph_are_in_the_tail() -> None:
    recorded = two_subgraphs_with_variables().recorded["kTfLiteTensorVariableBufferData"]
    assert (recorded.requested, recorded.count) == (40 + 24 + 24, 3)


def test_a_variable_with_an_offline_offset_is_in_the_head() -> None:
    simulation = two_subgraphs_with_variables(-1, -1, -1, 256, *[-1] * 6)
    assert simulation.recorded["kTfLiteTensorVariableBufferData"].count == 2
    assert [b.offset for b in simulation.buffers if b.info.tensor == 3] == [256]


def test_a_variable_whose_offset_is_read_from_the_wrong_subgraph_is_never_placed() -> None:
    # Upstream looks at offsets[2], which is tensor 2 of subgraph 0, for tensor 2 of every subgraph.
    simulation = two_subgraphs_with_variables(-1, -1, 64, *[-1] * 7)
    assert simulation.status == "abort"
    assert "variable tensor 2 of subgraph 1 was never placed" in str(simulation.failure)


# -- control flow -------------------------------------------------------------------------------------------------


def test_call_once_of_subgraph_minus_one_fails_only_when_it_runs() -> None:
    builder = relu()
    builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": -1})
    simulation = run(builder)
    assert simulation.status == "ok"
    with pytest.raises(Exception, match="Accessing subgraph -1 but only 1 subgraphs found"):
        invoke(simulation)


def test_a_subgraph_that_runs_itself_halts() -> None:
    builder = relu()
    builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": 0})
    assert run(builder).status == "abort"


# -- inputs and outputs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("inputs", "outputs"), [(None, [1]), ([0], None)])
def test_a_model_without_a_vector_of_inputs_or_outputs_halts(
    inputs: list[int] | None, outputs: list[int] | None
) -> None:
    model = parse(relu().build(inputs=inputs, outputs=outputs))
    assert simulate(model, M4).status == "abort"


def test_a_tensor_may_be_an_output_several_times() -> None:
    tensor = 32 + 12 + 8  # TfLiteTensor, TfLiteAffineQuantization, zero point with its length
    once, thrice = (run(relu(), outputs=[1] * count) for count in (1, 3))
    assert thrice.tail_bytes == once.tail_bytes + 2 * tensor  # 1 or 3 pointers: 16 bytes


def test_a_model_without_subgraphs_halts() -> None:
    assert simulate(Model(3, (), (), ()), M4).status == "abort"


# -- small arenas, step by step -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arena_size", "status", "last_line"),
    [
        (0, "abort", "Failed to allocate tail memory. Requested: 36, available 0, missing: 36"),  # the arena allocator
        (36, "abort", "Failed to allocate tail memory. Requested: 44, available 0, missing: 44"),  # GreedyMemoryPlanner
        (80, "abort", "Failed to allocate tail memory. Requested: 36, available 0, missing: 36"),  # MicroAllocator
        (116, "abort", "Failed to allocate tail memory. Requested: 8, available 0, missing: 8"),  # for builtin data
        (124, "error", "Failed starting model allocation."),
        (344, "abort", "Failed to allocate tail memory. Requested: 28, available 12, missing: 16"),  # ReluOpData
        (360, "error", "Node RELU (number 0) failed to prepare with status 1"),
        (472, "error", "Too many buffers (max is 1)"),
    ],
)
def test_the_last_words_of_an_arena_that_is_too_small(
    chain: Callable[..., Model], arena_size: int, status: str, last_line: str
) -> None:
    reference = preset("cortex-m4", kernels="reference")
    simulation = simulate(chain(8, 8), reference, arena_size=arena_size)
    assert (simulation.status, simulation.log[-1]) == (status, last_line)
    assert simulate(chain(8, 8), reference, arena_size=504).status == "ok"


def test_an_arena_smaller_than_what_its_alignment_loses(chain: Callable[..., Model]) -> None:
    simulation = simulate(chain(8, 8), replace(M4, arena_address=8), arena_size=4)
    # The aligned start is 4 bytes above the end; 12 - 36 = -24 lies 40 below it.
    assert simulation.log == ("Failed to allocate tail memory. Requested: 36, available 4294967292, missing: 40",)


# -- the order of calls -------------------------------------------------------------------------------------------


def test_a_model_that_starts_while_another_is_being_allocated(chain: Callable[..., Model]) -> None:
    lines: list[str] = []
    arena = SingleArenaBufferAllocator(
        1 << 16, observers=[lambda event: lines.append(event.text) if isinstance(event, LogLine) else None]
    )
    allocator = MicroAllocator(arena, M4)
    allocator.start_model_allocation(chain(8, 8))
    with pytest.raises(AllocatorSequenceError):
        MicroInterpreter(chain(8, 8), allocator, registrations(M4)).allocate_tensors()
    assert lines == [
        "MicroAllocator: Model allocation started before finishing previously allocated model",
        "Failed starting model allocation.",
    ]


def test_a_dimension_of_zero_is_dynamic_as_one_below_it_is_and_the_shape_zero_is_not() -> None:
    """Upstream compares with ``<= 0``, and lets a tensor pass whose only dimension is 0."""
    assert "Op#0 (RELU) of subgraph 0 has dynamic tensor #1" in run(relu(shape=(2, 0))).log
    assert run(relu(shape=(0,))).status == "ok"


def test_until_april_2021_the_first_input_and_the_first_output_are_made_by_who_asks_for_them() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 8), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(3))
    builder.operator("ADD", [x, y], [z])
    model = parse(builder.build(inputs=[x, y], outputs=[z]))

    def made(target: Target) -> list[Stage]:
        events: list[Event] = []
        simulate(model, target, observers=[events.append])
        stages = (Stage.INPUT_TENSOR, Stage.OUTPUT_TENSOR)
        return [event.stage for event in events if isinstance(event, Phase) and event.stage in stages]

    assert made(M4) == [Stage.INPUT_TENSOR, Stage.INPUT_TENSOR, Stage.OUTPUT_TENSOR]
    assert made(library_target("Harvard_TinyMLx", name="cortex-m4")) == [Stage.INPUT_TENSOR, Stage.OUTPUT_TENSOR]


def test_an_operator_without_init_or_prepare_says_so() -> None:
    events: list[Event] = []
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 8), TensorType.INT8) for _ in range(3))
    builder.custom("NOTHING", [x], [y])
    builder.custom("BOTH", [y], [z])

    def steps(node: Node) -> Steps[None]:
        yield from ()

    rows = [OpModel("NOTHING"), OpModel("BOTH", init=steps, prepare=steps)]
    simulate(parse(builder.build(inputs=[x], outputs=[z])), M4, custom_ops=rows, observers=[events.append])
    found = [(event.name, event.stage, event.has) for event in events if isinstance(event, OpEvent)]
    stages = (Stage.OP_INIT, Stage.OP_PREPARE, Stage.OP_PREPARED)
    assert {row for row in found if row[1] in stages} == {
        (op, stage, op == "BOTH") for op in ("NOTHING", "BOTH") for stage in stages
    }


def test_tensor_0_may_be_a_dynamic_output_too() -> None:
    builder = ModelBuilder()
    y, x = builder.tensor((1, 0), TensorType.INT8), builder.tensor((1, 8), TensorType.INT8)
    builder.custom("MINE", [x], [y])
    done = simulate(parse(builder.build(inputs=[x], outputs=[y])), M4, custom_ops=[OpModel("MINE")])
    assert "Op#0 (MINE) of subgraph 0 has dynamic tensor #0" in done.log[0]
