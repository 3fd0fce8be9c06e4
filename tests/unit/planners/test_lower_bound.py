import pytest

from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.lower_bound import lower_bound


@pytest.mark.parametrize(
    ("buffers", "expected"),
    [
        ([], 0),
        ([Buffer(0, 0, 1, alignment=16)], 0),
        ([Buffer(10, 0, 2), Buffer(20, 2, 4)], 20),  # never together
        ([Buffer(10, 0, 2), Buffer(20, 1, 3), Buffer(5, 3, 4)], 30),  # together at time 1
        ([Buffer(20, 0, 2, alignment=16), Buffer(24, 0, 2, alignment=16)], 52),  # 32 + 20
        ([Buffer(20, 0, 2, alignment=16), Buffer(24, 0, 2, alignment=8)], 44),  # step 8: 24 + 24 - slack 4
        ([Buffer(4, 0, 1, offset=100)], 104),
        ([Buffer(20, 0, 1, offset=6), Buffer(5, 0, 1, alignment=4)], 26),  # step 2: 20 + 6 - 1 = 25 < end 26
    ],
)
def test_the_bound_is_what_must_be_there_at_one_moment(buffers, expected):
    assert lower_bound(buffers) == expected


def test_slack_of_a_buffer_that_ended_does_not_count():
    # at time 2: 17 -> 32 and 32: 64 - slack 15 = 49; the 1-byte buffer (slack 15) ended at 0
    assert lower_bound([Buffer(1, 0, 1, 16), Buffer(17, 1, 3, 16), Buffer(32, 2, 3, 16)]) == 49
    # at time 1 the slack-15 buffer is gone: 32 + 32
    assert lower_bound([Buffer(1, 0, 1, 16), Buffer(32, 1, 2, 16), Buffer(32, 1, 2, 16)]) == 64


def test_a_buffer_without_bytes_needs_room_only_where_it_is_fixed():
    assert lower_bound([]) == lower_bound([Buffer(0, 0, 1, 64)]) == 0
    assert lower_bound([Buffer(0, 0, 1, offset=100), Buffer(8, 0, 1)]) == 100
    # Alignments of what has no bytes do not round the others up.
    assert lower_bound([Buffer(0, 0, 1, 1), Buffer(8, 0, 1, 16), Buffer(8, 0, 1, 16)]) == 16 + 8
