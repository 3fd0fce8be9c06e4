"""The GPU delegate's strategies @ LiteRT f67457790 on recorded problems."""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners.gpu import (
    BHWC,
    MemoryStrategy,
    ObjectsAssignment,
    OffsetsAssignment,
    TensorUsageRecord,
    UInt2,
    UInt3,
    assign_objects_to_tensors,
    assign_offsets_to_tensors,
    objects_to_offsets,
)
from tflm_sim.planners.gpu.by_size import best_fit_offsets
from tflm_sim.planners.gpu.equality import equality, equality_with_hash
from tflm_sim.planners.gpu.min_cost_flow import min_cost_flow_object_ids
from tflm_sim.planners.gpu.records import positional_maximums, profiles_at, reallocation_graph

pytestmark = pytest.mark.shared("planners/gpu_golden.json.gz")
GOLDEN = Path(__file__).parents[3] / "shared/planners/gpu_golden.json.gz"
SIZE_TYPES = {
    "size_t": int,
    "uint2": lambda *size: UInt2(*size),
    "uint3": lambda *s: UInt3(*s),
    "bhwc": lambda *s: BHWC(*s),
}
EQUALITY_VERSIONS = {"EQUALITY_HASH": equality_with_hash, "EQUALITY_VECTOR": equality}


@cache
def instances():
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))["instances"]


def size(instance, value):
    return SIZE_TYPES[instance["type"]](*value) if isinstance(value, list) else value


def records_of(instance):
    scalar = instance["type"] == "size_t"
    return [
        TensorUsageRecord(dims[0] if scalar else size(instance, dims), first, last)
        for *dims, first, last in instance["records"]
    ]


def objects(instance, answer):
    return ObjectsAssignment(
        tuple(answer["object_ids"]), tuple(size(instance, value) for value in answer["object_sizes"])
    )


def offsets(answer):
    return OffsetsAssignment(tuple(answer["offsets"]), answer["total_size"])


def shared_objects(records, strategy, **options):
    if strategy in EQUALITY_VERSIONS:
        return EQUALITY_VERSIONS[strategy](records)
    return assign_objects_to_tensors(records, MemoryStrategy[strategy], **options)


def test_shared_objects():
    for instance in instances():
        records = records_of(instance)
        for strategy, answer in instance["shared"].items():
            which = instance["name"], strategy
            if "error" in answer:
                with pytest.raises(PlanningError) as refused:
                    shared_objects(records, strategy)
                assert refused.value.device_message == answer["error"], which
                continue
            assignment = shared_objects(records, strategy)
            assert assignment == objects(instance, answer), which
            if strategy in instance.get("offsets", {}) and strategy != "GREEDY_BY_SIZE":
                assert objects_to_offsets(assignment) == offsets(instance["offsets"][strategy]), which


def test_offsets_and_profiles():
    by_size = MemoryStrategy.GREEDY_BY_SIZE
    for instance in [each for each in instances() if each["type"] == "size_t"]:
        name, records = instance["name"], records_of(instance)
        assert assign_offsets_to_tensors(records, by_size) == offsets(instance["offsets"]["GREEDY_BY_SIZE"]), name
        for alignment, answer in instance["offsets_align"].items():
            aligned = assign_offsets_to_tensors(records, by_size, base_addr_align_bytes=int(alignment))
            assert aligned == offsets(answer), (name, alignment)
            assert best_fit_offsets(records, int(alignment)) == answer["offsets"], (name, alignment)
        profiles = instance["profile"]["task_profiles"]
        assert [list(row.tensors) for row in profiles_at(records, range(len(profiles)))] == profiles, name
        assert positional_maximums(records) == instance["profile"]["positional_max"], name


def test_the_python_versions_of_what_is_in_c_agree():
    for instance in [each for each in instances() if each["type"] == "size_t"]:
        name, records, shared = instance["name"], records_of(instance), instance["shared"]
        assert min_cost_flow_object_ids(records) == shared["MINCOSTFLOW"]["object_ids"], name


def test_reallocation_graphs():
    in_order = MemoryStrategy.GREEDY_IN_ORDER
    for instance in [each for each in instances() if each.get("realloc")]:
        name, records = instance["name"], records_of(instance)
        graph = reallocation_graph(instance["deps"])
        assert graph == instance["realloc"], name
        assert assign_objects_to_tensors(records, in_order, reallocation_graph=graph) == objects(
            instance, instance["shared_realloc"]["GREEDY_IN_ORDER"]
        ), name
        assert assign_offsets_to_tensors(records, in_order, reallocation_graph=graph) == offsets(
            instance["offsets_realloc"]["GREEDY_IN_ORDER"]
        ), name
