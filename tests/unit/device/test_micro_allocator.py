"""What the allocator takes by itself, byte by byte, and its words where that does not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Corruption, Event, LogLine, Persist, Phase
from tflm_sim.arena.stages import Stage
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Scratch, Steps
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4", kernels="reference")
INT8 = TensorType.INT8


def relus(*, subgraphs: int = 1) -> Model:
    """Return a model with a RELU in each subgraph."""
    builder = ModelBuilder()
    graphs = [builder, *(builder.add_subgraph() for _ in range(subgraphs - 1))]
    for graph in graphs:
        x, y = (graph.tensor((1, 16), INT8, scale=0.5) for _ in range(2))
        graph.operator("RELU", [x], [y])
        if graph is not builder:
            graph.inputs, graph.outputs = [x], [y]
    return parse(builder.build(inputs=[0], outputs=[1]))


def asking(count: int) -> Simulation:
    """Simulate an operator that asks for some scratch buffers."""

    def prepare(node: Node) -> Steps[None]:
        for _ in range(count):
            yield Scratch(16)

    builder = ModelBuilder()
    x, y = (builder.tensor((1, 16), INT8) for _ in range(2))
    builder.custom("MINE", [x], [y])
    row = OpModel("MINE", None, None, prepare, "mine.cc")
    return simulate(parse(builder.build(inputs=[x], outputs=[y])), M4, custom_ops=[row])


@pytest.mark.parametrize("count", [0, 1, 3, 12])
def test_a_scratch_buffer_takes_a_handle_of_one_pointer(count: int) -> None:
    handles = [
        (event.size, event.alignment, event.label)
        for event in asking(count).events
        if isinstance(event, Persist) and event.label.startswith("ScratchBufferHandle")
    ]
    assert handles == ([(4 * count, 4, f"ScratchBufferHandle[{count}]")] if count else [])


@pytest.mark.parametrize(("day", "phases"), [("2021-05-20", 3), ("2026-08-20", 1)])
def test_handles_are_taken_once_or_in_old_versions_for_each_subgraph(day: str, phases: int) -> None:
    events = simulate(relus(subgraphs=3), "cortex-m4", kernels="reference", runtime=day).unwrap().events
    assert sum(isinstance(event, Phase) and event.stage is Stage.SCRATCH_HANDLES for event in events) == phases


def test_the_first_versions_knew_one_subgraph() -> None:
    one, two = (
        simulate(relus(subgraphs=count), "cortex-m4", kernels="reference", runtime="2021-04-20") for count in (1, 2)
    )
    assert (one.status, two.status) == ("ok", "abort")
    # The interpreter says it, and the allocator once more.
    assert two.log == ("Only 1 subgraph is currently supported.",) * 2
    assert str(two.failure) == "this version knows one subgraph, the model has 2"


class Allocating:
    """An allocator on an arena of 1 KiB, and what it says."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.arena = SingleArenaBufferAllocator(1 << 10, observers=[self.events.append])
        self.allocator = MicroAllocator(self.arena, M4)
        self.events.clear()

    @property
    def log(self) -> list[str]:
        """The lines, but for those of the arena's own."""
        lines = [event.text for event in self.events if isinstance(event, LogLine)]
        return [line for line in lines if "missing: " not in line]


@pytest.mark.parametrize(("head", "is_past"), [(12 * 12, False), (24, False), (23, True), (0, True)])
def test_a_scratch_request_that_the_head_has_no_room_for_is_written_past_it(head: int, is_past: bool) -> None:
    one = Allocating()
    one.arena.head = one.arena.temp = head
    allocation = ModelAllocation(relus())
    allocation.unassigned_scratch.append((0, 16))
    assert one.allocator.request_scratch_buffer(allocation, 16, 0, "") == 1  # The second: bytes 12 to 24.
    found = [event.text for event in one.events if isinstance(event, Corruption)]
    assert found == ([f"scratch request 1 is written past the head ({head})"] if is_past else [])


POPULATE = "Failed to populate a {} TfLiteTensor struct from flatbuffer data!"


@pytest.mark.parametrize(("room", "log"), [
    (31, ["Failed to allocate memory for persistent TfLiteTensor"]),
    (32, ["Unable to allocate TfLiteAffineQuantization.", POPULATE.format("persistent")]),
    (43, ["Unable to allocate TfLiteAffineQuantization.", POPULATE.format("persistent")]),
    (44, ["Unable to allocate quantization->zero_point.", POPULATE.format("persistent")]),
    (51, ["Unable to allocate quantization->zero_point.", POPULATE.format("persistent")]),
    (52, []),
])  # fmt: skip
def test_a_persistent_tensor_has_32_bytes_and_12_and_8_for_its_quantization(room: int, log: list[str]) -> None:
    """TfLiteTensor, TfLiteAffineQuantization, and a zero point behind its length."""
    one = Allocating()
    one.arena.tail = room // 4 * 4
    tensor = outlines(relus())[0].eval_tensors()[0]
    assert one.allocator.allocate_persistent_tensor(tensor) is (not log)
    assert one.log == log


@pytest.mark.parametrize(("room", "log"), [
    (28, ["Failed to allocate temp. memory for tensor 0, subgraph 5"]),
    (32, ["Unable to allocate TfLiteAffineQuantization.", POPULATE.format("temp")]),
    (44, ["Unable to allocate quantization->zero_point.", POPULATE.format("temp")]),
    (52, []),
])  # fmt: skip
def test_a_temp_tensor_has_the_same_bytes(room: int, log: list[str]) -> None:
    one = Allocating()
    one.arena.tail = room
    found = one.allocator.allocate_temp_tensor(outlines(relus())[0].eval_tensors()[0], 5)
    assert one.log == log
    assert (found is None) == bool(log)


def test_a_tensor_of_a_type_without_a_size_is_not_populated_though_it_fits() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), TensorType.STRING)
    tensor = outlines(parse(builder.build(inputs=[], outputs=[])))[0].eval_tensors()[0]
    one = Allocating()
    assert one.allocator.allocate_temp_tensor(tensor, 0) is None
    assert not one.allocator.allocate_persistent_tensor(tensor)
    assert one.log == [POPULATE.format("temp"), POPULATE.format("persistent")]
    assert one.arena.live_temp_end == 32


@pytest.mark.parametrize(("behind", "status"), [(-1, "ok"), (0, "abort"), (1, "abort")])
def test_a_tensors_buffer_is_one_of_the_models(behind: int, status: str) -> None:
    model = relus()
    first, *others = model.subgraphs[0].tensors
    for buffer, expected in ((len(model.buffers) + behind, status), (-1, "abort"), (0, "ok")):
        subgraph = replace(model.subgraphs[0], tensors=(replace(first, buffer=buffer), *others))
        done = simulate(replace(model, subgraphs=(subgraph,)), M4)
        assert done.status == expected
        if expected == "abort":
            assert str(done.failure) == f"tensor 0 has no buffer {buffer}"


def test_a_temp_that_is_absent_ends_what_is_taken_only_where_it_is_needed() -> None:
    one = Allocating()
    tensors = outlines(relus())[0].eval_tensors()
    found = one.allocator.allocate_temp_tensors(tensors, ((0, False), (-1, False), (1, True)), 0)
    assert [tensor is None for tensor in found] == [False, True, False]
    found = one.allocator.allocate_temp_tensors(tensors, ((-1, True), (0, False)), 0)
    assert found == [None]


def test_a_model_of_one_operator_takes_so_many_bytes_of_the_tail() -> None:
    """The allocator's objects, the model's structs, the kernel's data, then the tensors that the user sees."""
    taken = [(event.size, event.label) for event in simulate(relus(), M4).events if isinstance(event, Persist)]
    assert taken[:8] == [
        (36, "SingleArenaBufferAllocator"),
        (44, "GreedyMemoryPlanner"),
        (36, "MicroAllocator"),
        (8, "micro_allocator.MicroBuiltinDataAllocator"),
        (8, "SubgraphAllocations[1]"),
        (2 * 12, "TfLiteEvalTensor[2]"),
        (32, "NodeAndRegistration[1]"),
        (28, "ReluOpData"),
    ]
    tensor = [(32, "TfLiteTensor"), (12, "TfLiteAffineQuantization"), (8, "quantization zero_point")]
    assert taken[8:] == [(4, "input tensor pointers"), *tensor, (4, "output tensor pointers"), *tensor]
