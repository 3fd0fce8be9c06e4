import pytest

from tflm_sim.errors import UsageError
from tflm_sim.planners.buffers import Buffer, Plan, plan_of


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": -1}, "must not be negative"),
        ({"lower": 3, "upper": 3}, "ends before it begins"),
        ({"alignment": 0}, "must be positive"),
        ({"offset": -1}, "must not be negative"),
    ],
)
def test_a_buffer_that_cannot_be_is_refused(fields, message):
    with pytest.raises(UsageError, match=message):
        Buffer(**{"size": 1, "lower": 0, "upper": 1, **fields})


def test_a_lifetime_ends_before_its_upper_moment():
    assert Buffer(1, 0, 3).is_alive_with(Buffer(1, 2, 4))
    assert not Buffer(1, 0, 3).is_alive_with(Buffer(1, 3, 4))


def test_the_peak_is_the_highest_end():
    assert plan_of([Buffer(10, 0, 1), Buffer(4, 0, 1)], [4, 0]) == Plan((4, 0), 14)
    assert plan_of([], []) == Plan((), 0)
