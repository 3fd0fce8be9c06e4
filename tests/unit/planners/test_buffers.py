import pytest

from tflm_sim.errors import UsageError
from tflm_sim.planners.buffers import Buffer, Plan, plan_of


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": -1}, "must not be negative"),
        ({"first_time_used": 3, "last_time_used": 2}, "ends before it begins"),
        ({"alignment": 0}, "must be positive"),
        ({"offset": -1}, "must not be negative"),
    ],
)
def test_a_buffer_that_cannot_be_is_refused(fields, message):
    with pytest.raises(UsageError, match=message):
        Buffer(**{"size": 1, "first_time_used": 0, "last_time_used": 0, **fields})


def test_lifetimes_are_inclusive_at_both_ends():
    assert Buffer(1, 0, 2).is_alive_with(Buffer(1, 2, 3))
    assert not Buffer(1, 0, 2).is_alive_with(Buffer(1, 3, 3))


def test_the_peak_is_the_highest_end():
    assert plan_of([Buffer(10, 0, 0), Buffer(4, 0, 0)], [4, 0]) == Plan((4, 0), 14)
    assert plan_of([], []) == Plan((), 0)
