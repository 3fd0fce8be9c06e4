import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.linear import LinearMemoryPlanner, plan


def test_the_1025th_buffer_is_refused():
    planner = LinearMemoryPlanner()
    for _ in range(1024):
        planner.add_buffer(1, 0, 0)
    with pytest.raises(PlanningError) as refused:
        planner.add_buffer(1, 0, 0)
    assert refused.value.device_message == "Too many buffers (max is 1024)"
    assert planner.maximum_memory_size() == 1024


def test_an_offline_offset_is_refused_in_silence():
    with pytest.raises(PlanningError) as refused:
        LinearMemoryPlanner().add_buffer(1, 0, 0, offline_offset=16)
    assert refused.value.device_message == ""


def test_init_keeps_what_was_added():
    planner = LinearMemoryPlanner()
    planner.add_buffer(10, 0, 0)
    planner.init(0)
    assert planner.buffer_count == 1


def test_fixed_buffers_stay_and_the_others_go_above_them():
    buffers = [Buffer(10, 0, 1, 16), Buffer(8, 0, 1, offset=4), Buffer(1, 0, 1, 16)]
    assert plan(buffers).offsets == (16, 4, 32)  # 4 + 8 = 12 -> 16; 16 + 10 = 26 -> 32
