"""Upstream's own cases of the arenas, the lifetimes and the allocators: tensorflow/lite/micro/**_test.cc @ 90b983c.

Left out: the struct that InitializeTfLiteTensorFromFlatbuffer fills, a planner that is given to MicroAllocator::Create
(ours is always made in the arena), and the recording of a compressed model.
"""

import json
import operator
from itertools import pairwise
from pathlib import Path

import pytest

from tflm_sim.arena.arena import SingleArenaBufferAllocator
from tflm_sim.arena.events import Persist, Resize
from tflm_sim.arena.split_arena import NonPersistentArenaBufferAllocator, SplitArena
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.recording import AllocationRecorder
from tflm_sim.errors import AllocatorSequenceError
from tflm_sim.graph.lifetimes import LifetimeBuilder
from tflm_sim.graph.outline import outlines
from tflm_sim.model.load import load
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.targets.presets import preset

PLANNERS = Path(__file__).parents[3] / "shared/planners"
pytestmark = pytest.mark.shared("planners")
TARGET = preset("x86_64")


def cases(kind):
    path = PLANNERS / "tflm_upstream_cases.json"
    return json.loads(path.read_text())[kind] if path.exists() else []


def name(case):
    return case["test"]


def model(called):
    return load(PLANNERS / f"tflm_models/{called}.tflite")


# -- the arenas: a small language -----------------------------------------------------------------------------------

OPERATORS = {"-": operator.sub, "%": operator.mod, "&": operator.and_, "==": operator.eq, "!=": operator.ne}
EXPECTATIONS = {"EQ": operator.eq, "NE": operator.ne, "GE": operator.ge, "LE": operator.le}


class Requests:
    """What RecordingSingleArenaBufferAllocator counts, from the events of an arena."""

    def __init__(self):
        self.head = self.tail = self.count = 0

    def __call__(self, event):
        if isinstance(event, Resize) and event.ok:
            self.head = event.size
        elif isinstance(event, Persist):
            self.tail += event.size
            self.count += 1


class ArenaTest:
    """Upstream's calls on our arenas; a pointer is an offset, the null pointer None, and the arena begins at 0."""

    def __init__(self, kind, size):
        self.requests = Requests()
        options = {"pointer_size": 8, "observers": [self.requests]}
        if kind == "PersistentArenaBufferAllocator":
            self.arena = SplitArena(size, 0, **options)
        elif kind == "NonPersistentArenaBufferAllocator":
            self.arena = NonPersistentArenaBufferAllocator(size, **options)
        else:
            self.arena = SingleArenaBufferAllocator(size, **options)

    def call(self, function, arguments):
        calls = {
            "AllocateResizableBuffer": self.arena_method("allocate_resizable_buffer"),
            "AllocatePersistentBuffer": self.arena_method("allocate_persistent_buffer"),
            "AllocateTemp": self.arena_method("allocate_temp"),
            "DeallocateTemp": self.arena_method("deallocate_temp"),
            "GetAvailableMemory": self.arena_method("available_memory"),
            "IsAllTempDeallocated": self.arena_method("is_all_temp_deallocated"),
            "ResetTempAllocations": lambda: status(self.arena.reset_temp_allocations()),
            "ResizeBuffer": self.resize_buffer,
            "GetOverlayMemoryAddress": lambda: 0,
            "GetUsedBytes": lambda: self.arena.used_bytes,
            "GetNonPersistentUsedBytes": lambda: self.arena.non_persistent_used_bytes,
            "GetPersistentUsedBytes": lambda: self.arena.persistent_used_bytes,
            "GetRequestedBytes": lambda: self.requests.head + self.requests.tail,
            "GetAllocatedCount": lambda: self.requests.count,
        }
        return calls[function](*arguments)

    def arena_method(self, method):
        return getattr(self.arena, method, None)

    def resize_buffer(self, buffer, size, alignment):
        assert buffer == 0, "the resizable buffer begins at the head"
        return status(self.arena.resize_buffer(size, alignment))


def status(ok):
    return "kTfLiteOk" if ok else "kTfLiteError"


def evaluate(term, run, variables):
    if not isinstance(term, dict):
        return term
    if "var" in term:
        return variables[term["var"]]
    if "call" in term:
        return run.call(term["call"], [evaluate(argument, run, variables) for argument in term["args"]])
    sides = (evaluate(term[side], run, variables) for side in ("lhs", "rhs"))
    return OPERATORS[term["op"]](*sides)


def arena_cases():
    files = ("single_arena", "non_persistent_arena", "persistent_arena", "recording_single_arena")
    return [case for file in files for case in cases(f"arena_allocator/{file}_buffer_allocator_test.cc")]


@pytest.mark.parametrize("case", arena_cases(), ids=name)
def test_arena_allocator(case):
    variables, run = {"arena": 0}, None
    for step in case["steps"]:
        if "let" in step:
            variables[step["let"]] = step["value"]
        elif "new" in step:
            run = ArenaTest(step["new"], variables["arena_size"])
        elif "assign" in step:
            variables[step["assign"]] = evaluate(step["value"], run, variables)
        elif "do" in step:
            evaluate(step["do"], run, variables)
        elif "expect" in step:
            values = [evaluate(argument, run, variables) for argument in step["args"]]
            assert values[0] is True if step["expect"] == "TRUE" else EXPECTATIONS[step["expect"]](*values), step


# -- lifetimes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases("micro_allocation_info_test"), ids=name)
def test_allocation_info(case):
    loaded = model(case["model"])
    tensors = [outline.eval_tensors() for outline in outlines(loaded)]
    infos = LifetimeBuilder(loaded, tensors, None).build().infos
    assert len(infos) == case["expect_count"]
    for info, expected in zip(infos, case["expect_info"], strict=True):
        assert {key: getattr(info, key) for key in expected} == expected


# -- the allocator --------------------------------------------------------------------------------------------------


def allocator(size=4096, kind="plain", observers=()):
    arena = SingleArenaBufferAllocator(size, pointer_size=8, observers=observers)
    return MicroAllocator(arena, TARGET, kind=kind)


def allocator_in_two_arenas(size):
    return MicroAllocator(SplitArena(size, size, pointer_size=8), TARGET, kind="split")


def allocate(micro_allocator, called):
    """Return the finished allocation of a model."""
    allocation = micro_allocator.start_model_allocation(model(called))
    micro_allocator.finish_model_allocation(allocation)
    return allocation


PLAN_CASES = [case for case in cases("micro_allocator_test") if any("expect_offsets_relative" in key for key in case)]


@pytest.mark.parametrize("case", PLAN_CASES, ids=name)
def test_the_plan_puts_tensors_where_upstream_expects_them(case):
    allocation = allocate(allocator(case.get("arena_size", 4096)), case["model"])
    key = next(key for key in case if key.startswith("expect_offsets_relative"))
    base = allocation.offsets[int(key.removeprefix("expect_offsets_relative_to_tensor"))]
    assert [allocation.offsets[index] - base for index in range(len(case[key]))] == case[key]


def test_all_planned_cases_are_here():
    assert len(PLAN_CASES) == 9


def test_a_model_cannot_start_twice():
    micro_allocator = allocator(1024)
    micro_allocator.start_model_allocation(model("SimpleMockModel"))
    with pytest.raises(AllocatorSequenceError):
        micro_allocator.start_model_allocation(model("SimpleMockModel"))


def test_a_model_cannot_finish_before_it_starts():
    loaded = model("SimpleMockModel")
    foreign = allocator(1024).start_model_allocation(loaded)
    micro_allocator = allocator(1024)
    with pytest.raises(AllocatorSequenceError):
        micro_allocator.finish_model_allocation(foreign)
    micro_allocator.start_model_allocation(loaded)
    with pytest.raises(AllocatorSequenceError):
        micro_allocator.start_model_allocation(loaded)


def test_mock_model_allocation():
    micro_allocator = allocator(1040)
    allocation = allocate(micro_allocator, "SimpleMockModel")
    structs = (
        "SingleArenaBufferAllocator",
        "GreedyMemoryPlanner",
        "MicroAllocator",
        "micro_allocator.MicroBuiltinDataAllocator",
        "SubgraphAllocations",
        *["TfLiteEvalTensor"] * 4,
        *["NodeAndRegistration"] * 2,
    )
    assert micro_allocator.arena.used_bytes == sum(map(TARGET.sizeof, structs)) + 3 * 16
    assert len({allocation.offsets[index] for index in (0, 2, 3)}) == 3
    assert 1 not in allocation.offsets  # the weights are in the file
    assert [tensor.byte_length for tensor in allocation.subgraph_tensors[0][:2]] == [4, 1]


def test_mock_model_allocation_in_two_separate_arenas():
    allocation = allocate(allocator_in_two_arenas(1024), "SimpleMockModel")
    assert len({allocation.offsets[index] for index in (0, 2, 3)}) == 3


@pytest.mark.parametrize("make", [allocator, allocator_in_two_arenas])
def test_two_tenants_use_no_more_than_twice_the_bytes_of_one(make):
    one, two = make(4096), make(4096)
    allocate(one, "ComplexMockModel")
    allocate(two, "ComplexMockModel")
    allocate(two, "ComplexMockModel")
    assert two.arena.used_bytes <= 2 * one.arena.used_bytes


def test_variables_of_a_complex_model_have_bytes_of_their_own():
    allocation = allocate(allocator(2048), "ComplexMockModel")
    variables = [allocation.variable_offsets[0, index] for index in (1, 4, 7)]
    assert len(set(variables)) == 3
    assert not {1, 4, 7} & allocation.offsets.keys()
    assert len(allocation.infos) == 10


def with_tensors(called="SimpleMockModel", observers=(), size=1024):
    """Return an allocator in the middle of a model, and the tensors of the first subgraph."""
    micro_allocator = allocator(size, observers=observers)
    return micro_allocator, micro_allocator.start_model_allocation(model(called)).subgraph_tensors[0]


def test_persistent_tensors_grow_down():
    persisted = []
    micro_allocator, tensors = with_tensors("TestConvModel", [persisted.append], 12288)
    taken = len(persisted)
    assert micro_allocator.allocate_persistent_tensor(tensors[1])
    assert micro_allocator.allocate_persistent_tensor(tensors[2])
    offsets = [event.offset for event in persisted[taken:] if isinstance(event, Persist)]
    assert all(later < earlier for earlier, later in pairwise(offsets))
    assert tensors[1].affine is not None
    assert tensors[2].affine is not None


def test_a_persistent_tensor_does_not_fit_beside_the_allocator_alone():
    objects = ("GreedyMemoryPlanner", "MicroAllocator", "SingleArenaBufferAllocator")
    size = sum(TARGET.sizeof(struct) + TARGET.alignof(struct) for struct in objects) + 16
    loaded = model("SimpleMockModel")
    tensor = outlines(loaded)[0].eval_tensors()[1]
    assert not allocator(size).allocate_persistent_tensor(tensor)


def test_temp_tensors_grow_up():
    micro_allocator, tensors = with_tensors()
    first = micro_allocator.allocate_temp_tensor(tensors[1], 0)
    second = micro_allocator.allocate_temp_tensor(tensors[2], 0)
    assert second.offsets[0] > first.offsets[0]


def test_temp_tensors_are_all_deallocated_when_the_last_is():
    micro_allocator, tensors = with_tensors()
    made = [micro_allocator.allocate_temp_tensor(tensors[index], 0) for index in (1, 2)]
    for tensor, is_last in zip(made, (False, True), strict=True):
        micro_allocator.deallocate_temp_tensor(tensor)
        assert micro_allocator.arena.is_all_temp_deallocated() == is_last


def test_temp_buffers_are_counted():
    arena = allocator(1024).arena
    assert arena.is_all_temp_deallocated()
    temp = arena.allocate_temp(10, 16)
    assert not arena.is_all_temp_deallocated()
    arena.deallocate_temp(temp)
    assert arena.is_all_temp_deallocated()


def test_after_a_reset_a_temp_tensor_is_where_the_last_one_was():
    micro_allocator, tensors = with_tensors()
    first = micro_allocator.allocate_temp_tensor(tensors[1], 0)
    micro_allocator.deallocate_temp_tensor(first)
    assert micro_allocator.arena.reset_temp_allocations()
    assert micro_allocator.allocate_temp_tensor(tensors[1], 0).offsets[0] == first.offsets[0]


def used_with_scratch(request_count):
    micro_allocator = allocator(4096)
    allocation = micro_allocator.start_model_allocation(model("SimpleModelWithNullInputsAndOutputs"))
    for _ in range(request_count):
        micro_allocator.request_scratch_buffer(allocation, 0, 0, "")
    micro_allocator.finish_prepare_node_allocations(allocation, 0)
    micro_allocator.finish_model_allocation(allocation)
    return micro_allocator.arena.used_bytes


def test_scratch_buffers_of_no_bytes_cost_their_handles():
    assert used_with_scratch(2) == used_with_scratch(0) + 2 * TARGET.sizeof("ScratchBufferHandle")


# -- the recorder ---------------------------------------------------------------------------------------------------


def recorded(called, kind, times=1, size=24576):
    recorder = AllocationRecorder(compression=False)
    micro_allocator = allocator(size, kind="recording", observers=[recorder])
    for _ in range(times):
        allocate(micro_allocator, called)
    return recorder.recorded[kind]


@pytest.mark.parametrize(
    ("called", "kind", "struct", "times", "count"),
    [
        ("TestConvModel", RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA, "TfLiteEvalTensor", 1, 15),
        ("TestConvModel", RecordedAllocationType.NODE_AND_REGISTRATION_ARRAY, "NodeAndRegistration", 1, 7),
        ("TestConvModel", RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA, "TfLiteEvalTensor", 2, 30),
        (
            "SimpleModelWithNullInputsAndOutputs",
            RecordedAllocationType.TFLITE_EVAL_TENSOR_DATA,
            "TfLiteEvalTensor",
            1,
            2,
        ),
        (
            "SimpleModelWithNullInputsAndOutputs",
            RecordedAllocationType.NODE_AND_REGISTRATION_ARRAY,
            "NodeAndRegistration",
            1,
            2,
        ),
    ],
)
def test_arrays_are_recorded_by_element(called, kind, struct, times, count):
    row = recorded(called, kind, times)
    assert (row.count, row.requested) == (count, count * TARGET.sizeof(struct))
    assert row.used >= row.requested


def test_a_persistent_tensor_is_recorded_with_its_quantization():
    recorder = AllocationRecorder(compression=False)
    micro_allocator, tensors = with_tensors("TestConvModel", [recorder], 12288)
    assert micro_allocator.allocate_persistent_tensor(tensors[0])
    tensor = recorder.recorded[RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_DATA]
    quantization = recorder.recorded[RecordedAllocationType.PERSISTENT_TFLITE_TENSOR_QUANTIZATION_DATA]
    assert (tensor.count, tensor.requested) == (1, TARGET.sizeof("TfLiteTensor"))
    channels = len(tensors[0].affine.scale)
    assert quantization.count == 2
    assert quantization.requested == TARGET.sizeof("TfLiteAffineQuantization") + 4 + 4 * channels


def test_persistent_buffers_are_recorded():
    recorder = AllocationRecorder(compression=False)
    micro_allocator = allocator(1024, kind="recording", observers=[recorder])
    row = recorder.recorded[RecordedAllocationType.PERSISTENT_BUFFER_DATA]
    for size, count, requested in ((100, 1, 100), (50, 2, 150)):
        micro_allocator.allocate_persistent_buffer(size, "")
        assert (row.count, row.requested) == (count, requested)
        assert row.used >= requested
