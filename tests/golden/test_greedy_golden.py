"""TFLM's greedy planner @ 90b983c on recorded problems, offline offsets included, in C and in Python."""

import gzip
import json
from pathlib import Path

import pytest

from tflm_sim.planners import native
from tflm_sim.planners.greedy import GreedyMemoryPlanner, greedy_offsets
from tflm_sim.planners.memory_planner import BufferRequirements

pytestmark = pytest.mark.shared("planners/greedy_golden.json.gz")
GOLDEN = Path(__file__).parents[3] / "shared/planners/greedy_golden.json.gz"


def instances():
    return json.loads(gzip.decompress(GOLDEN.read_bytes()))["instances"]


def test_every_offset_is_the_recorded_one():
    for instance in instances():
        planner = GreedyMemoryPlanner()
        for size, first, last, offline in instance["buffers"]:
            planner.add_buffer(size, first, last, offline_offset=offline)
        assert list(planner.offsets()) == instance["offsets"], instance["name"]
        assert planner.maximum_memory_size() == instance["max"], instance["name"]
        assert planner.do_any_buffers_overlap() == instance["any_overlap"], instance["name"]


@pytest.mark.skipif(not native.available(), reason="the C core was not built: the test above ran the Python planner")
def test_the_python_planner_agrees():
    for instance in instances():
        buffers = [BufferRequirements(size, offline, first, last) for size, first, last, offline in instance["buffers"]]
        assert greedy_offsets(buffers) == instance["offsets"], instance["name"]
