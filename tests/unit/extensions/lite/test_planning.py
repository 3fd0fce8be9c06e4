import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.lite.planning import plan
from tflm_sim.planners.buffers import Buffer, Plan


def test_what_lives_throughout_comes_first_and_the_rest_by_size():
    buffers = [Buffer(10, 0, 2), Buffer(30, 1, 3), Buffer(5, 0, 3)]
    assert plan(buffers) == Plan((35, 5, 0), 45)


def test_buffers_that_do_not_meet_share_bytes():
    assert plan([Buffer(100, 0, 1, 64), Buffer(100, 1, 2, 64), Buffer(10, 0, 2, 64)]) == Plan((64, 64, 0), 164)


def test_no_buffers_are_an_empty_plan():
    assert plan([]) == Plan((), 0)


def test_fixed_offsets_are_refused():
    with pytest.raises(UsageError):
        plan([Buffer(4, 0, 1, offset=16)])
