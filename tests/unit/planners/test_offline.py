import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.planners.offline import NonPersistentMemoryPlannerShim


def test_it_repeats_the_plan_and_claims_no_memory():
    shim = NonPersistentMemoryPlannerShim([0, 10])
    assert [shim.offset_for_buffer(0), shim.offset_for_buffer(1)] == [0, 10]
    assert (shim.maximum_memory_size(), shim.buffer_count, shim.print_memory_plan()) == (0, 2, [])


def test_a_buffer_beyond_the_plan_is_refused_with_upstreams_words():
    shim = NonPersistentMemoryPlannerShim([0, 10])
    shim.add_buffer(10, 0, 1)
    shim.add_buffer(20, 0, 1)
    with pytest.raises(PlanningError) as refused:
        shim.add_buffer(10, 0, 1)
    assert refused.value.device_message == "Attempting to add buffer 3, but only 2 buffers in given buffer plan."


def test_an_offset_beyond_the_plan_is_refused_with_upstreams_words():
    with pytest.raises(PlanningError) as refused:
        NonPersistentMemoryPlannerShim([0, 10]).offset_for_buffer(2)
    message = "Attempting to get offset for buffer 2, but only 2 buffers in given buffer plan."
    assert refused.value.device_message == message


def test_an_offline_offset_is_refused_in_silence():
    with pytest.raises(PlanningError) as refused:
        NonPersistentMemoryPlannerShim([0]).add_buffer(1, 0, 0, offline_offset=0)
    assert refused.value.device_message == ""
