import random

import pytest

from tflm_sim.errors import PlanningError, UsageError
from tflm_sim.planners import greedy, native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.gpu import MemoryStrategy, TensorUsageRecord, UInt2, assign_objects_to_tensors, plan
from tflm_sim.planners.gpu.by_size import best_fit_offsets, greedy_by_size_offsets
from tflm_sim.planners.gpu.equality import equality, equality_with_hash
from tflm_sim.planners.gpu.min_cost_flow import min_cost_flow, min_cost_flow_object_ids


def test_records_exist_together_when_they_share_a_task_be_it_the_last_of_one():
    first, touching, later = (TensorUsageRecord(8, *tasks) for tasks in ((1, 3), (3, 5), (4, 5)))
    assert first.exists_with(touching)
    assert touching.exists_with(first)
    assert not first.exists_with(later)
    assert not later.exists_with(first)


def test_the_two_equalities_take_different_free_objects():
    # objects 0 and 1 are both free at task 3; 1 was freed last
    records = [TensorUsageRecord(8, 0, 1), TensorUsageRecord(8, 0, 2), TensorUsageRecord(8, 3, 3)]
    assert equality_with_hash(records).object_ids == (0, 1, 1)
    assert equality(records).object_ids == (0, 1, 0)


def test_by_size_takes_the_smallest_gap_where_tflm_takes_the_first():
    uses = [
        (100, 0, 0),  # at 0
        (50, 2, 2),  # at 0
        (40, 0, 1),  # above the first: at 100
        (20, 1, 2),  # between the second and the third: at 50
        (10, 1, 1),  # the gaps are 0..49 and 70..99
    ]
    records = [TensorUsageRecord(*use) for use in uses]
    assert greedy_by_size_offsets(records).offsets == (0, 0, 100, 50, 70)
    assert greedy.plan([Buffer(size, first, last + 1) for size, first, last in uses]).offsets == (0, 0, 100, 50, 0)


def test_by_size_places_gigabytes_in_the_same_way():
    """What divides all sizes does not matter: 3 GiB each, two at once."""
    records = [TensorUsageRecord(3 << 30, time, time + 1) for time in range(3)]
    assert greedy_by_size_offsets(records).offsets == (0, 3 << 30, 0)


def test_a_strategy_that_does_not_know_textures_says_so():
    with pytest.raises(PlanningError) as refused:
        assign_objects_to_tensors([TensorUsageRecord(UInt2(1, 1), 0, 0)], MemoryStrategy.MINCOSTFLOW)
    assert refused.value.device_message == "MemoryStrategy is not supported with current tensor size type."


def test_min_cost_flow_refuses_what_its_32_bit_costs_cannot_hold():
    records = [TensorUsageRecord(2**30, 0, 0), TensorUsageRecord(2**30, 1, 1)]
    with pytest.raises(PlanningError, match="32 bits"):
        assign_objects_to_tensors(records, MemoryStrategy.MINCOSTFLOW)


@pytest.mark.skipif(not native.available(), reason="the C core was not built")
@pytest.mark.parametrize("sizes", [(4,), (0, 1, 5), range(100), [2**power for power in range(12)]])
@pytest.mark.parametrize("step", [0, 1, 3])
def test_min_cost_flow_in_c_takes_the_same_of_equally_cheap_flows_as_in_python(sizes, step):
    rng = random.Random(f"{sizes} {step}")
    for count in range(0, 60, 3):
        records, task = [], 0
        for _ in range(count):
            task += rng.randint(0, step)
            records.append(TensorUsageRecord(rng.choice(sizes), task, task + rng.randint(0, 5)))
        assert list(min_cost_flow(records).object_ids) == min_cost_flow_object_ids(records)


def test_a_fixed_offset_is_refused():
    with pytest.raises(UsageError, match="fixed offset"):
        plan([Buffer(1, 0, 1, offset=0)], MemoryStrategy.NAIVE)


def test_the_plan_is_in_the_order_of_the_buffers():
    # by first task: the 8-byte buffer gets object 0, the 16-byte one object 1
    assert plan([Buffer(16, 1, 3), Buffer(8, 0, 2)], MemoryStrategy.NAIVE).offsets == (8, 0)


def test_sizes_are_rounded_up_to_the_alignment_that_serves_all():
    buffers = [Buffer(1, 0, 1, 4), Buffer(1, 0, 1, 6), Buffer(1, 0, 1)]
    assert plan(buffers, MemoryStrategy.NAIVE).offsets == (0, 12, 24)


def drawn(seed: int, count: int, sizes: range) -> list[TensorUsageRecord[int]]:
    """Return any records, many of them alike."""
    chance = random.Random(seed)
    starts = [chance.randrange(12) for _ in range(count)]
    return [TensorUsageRecord(chance.choice(sizes), start, start + chance.randrange(6)) for start in starts]


@pytest.mark.parametrize("sizes", [range(1, 3), range(1, 100), range(5)], ids=str)
@pytest.mark.parametrize("alignment", [1, 4, 12])
def test_offsets_by_size_are_the_same_in_c_as_in_python(sizes, alignment):
    for seed in range(40):
        records = drawn(seed, seed, sizes)
        offsets = best_fit_offsets(records, alignment)
        found = greedy_by_size_offsets(records, base_addr_align_bytes=alignment)
        assert list(found.offsets) == offsets
        assert found.total_size == max(
            (offset + row.tensor_size for offset, row in zip(offsets, records, strict=True)), default=0
        )


def test_a_gap_of_just_the_size_is_taken():
    """The first at 0, the second at 9, the third behind both at 17: at task 0 the fourth lies from 9 to 17."""
    uses = [(9, 0, 1), (8, 1, 1), (7, 0, 1), (8, 0, 0)]
    assert best_fit_offsets([TensorUsageRecord(*use) for use in uses], 1) == [0, 9, 17, 9]
