"""Upstream's own tests: memory_management_test.cc, internal_test.cc, types_test.cc @ LiteRT f67457790."""

import json
from pathlib import Path

import pytest

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
from tflm_sim.planners.gpu.records import positional_maximums, profiles_at, reallocation_graph

CASES = Path(__file__).parents[3] / "shared/planners/gpu_upstream_cases.json"
SIZE_TYPES = {"uint2": UInt2, "uint3": UInt3, "bhwc": BHWC}


def cases():
    return json.loads(CASES.read_text())["cases"] if CASES.exists() else []


def checks():
    return [
        pytest.param(case, check, id=f"{case['test']}-{check['call']}-{check.get('strategy', '')}")
        for case in cases()
        for check in case["checks"]
    ]


def size(case, value):
    return SIZE_TYPES[case["type"]](*value) if isinstance(value, list) else value


def records_of(case):
    return [TensorUsageRecord(size(case, r["size"]), r["first_task"], r["last_task"]) for r in case["records"]]


def check_shared(case, check):
    assignment = assign_objects_to_tensors(records_of(case), MemoryStrategy[check["strategy"]])
    sizes = tuple(size(case, value) for value in check["expect_object_sizes"])
    assert assignment == ObjectsAssignment(tuple(check["expect_object_ids"]), sizes)


def check_offsets(case, check):
    assignment = assign_offsets_to_tensors(
        records_of(case), MemoryStrategy[check["strategy"]], base_addr_align_bytes=check["align"]
    )
    assert assignment == OffsetsAssignment(tuple(check["expect_offsets"]), check["expect_total_size"])


def check_objects_to_offsets(case, check):
    objects = ObjectsAssignment(tuple(check["object_ids"]), tuple(check["object_sizes"]))
    expected = check["cpp_result"]
    assert objects_to_offsets(objects) == OffsetsAssignment(tuple(expected["offsets"]), expected["total_size"])
    assert expected["offsets"] == check["expect_offsets"]


def check_task_profiles(case, check):
    profiles = check["expect_task_profiles"]
    assert [list(row.tensors) for row in profiles_at(records_of(case), range(len(profiles)))] == profiles


def check_positional_maximums(case, check):
    assert positional_maximums(records_of(case)) == check["expect_positional_max"]


def check_reallocation_graph(case, check):
    assert reallocation_graph(check["deps_graph"]) == check["expect_reallocation_graph"]


CALLS = {
    "shared": check_shared,
    "offsets": check_offsets,
    "ObjectsToOffsets": check_objects_to_offsets,
    "CalculateTaskProfiles": check_task_profiles,
    "CalculatePositionalMaximums": check_positional_maximums,
    "ReallocationGraph": check_reallocation_graph,
}


@pytest.mark.shared("planners")
@pytest.mark.parametrize(("case", "check"), checks())
def test_upstream(case, check):
    CALLS[check["call"]](case, check)


def test_the_profiles_that_bound_complex_records():
    # Task 5 holds 64 + 16 + 8 + 8 = 96 bytes, the bound of offsets; that of objects is 64 + 32 + 8 + 8 = 112.
    uses = [(32, 0, 1), (32, 1, 4), (8, 2, 5), (16, 3, 5), (8, 4, 5), (64, 5, 7), (8, 6, 8), (8, 7, 8), (16, 8, 9)]
    records = [TensorUsageRecord(*use) for use in uses]
    assert max(sum(records[i].tensor_size for i in row.tensors) for row in profiles_at(records, range(10))) == 96
    assert positional_maximums(records) == [64, 32, 8, 8]
