"""Vela's greedy allocator: by birth, into the tightest gap among those that are alive at that moment."""

from __future__ import annotations

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.planners import vela
from tflm_sim.planners.buffers import Buffer


def offsets(*buffers: Buffer) -> tuple[int, ...]:
    return vela.plan(buffers).offsets


def test_of_the_gaps_that_are_large_enough_the_smallest_is_taken_though_it_is_higher() -> None:
    buffers = [
        Buffer(24, 0, 10),  # 0 to 24
        Buffer(8, 1, 99),  # 24 to 32
        Buffer(16, 2, 10),  # 32 to 48
        Buffer(8, 3, 99),  # 48 to 56
        Buffer(16, 10, 99),  # what ends at 10 leaves 0 to 24 and 32 to 48: just large enough
        Buffer(24, 11, 99),  # likewise 0 to 24
        Buffer(1, 12, 99),  # there is no gap
    ]
    assert offsets(*buffers) == (0, 24, 32, 48, 32, 0, 56)


def test_of_those_that_are_born_together_the_longer_lived_comes_first_then_the_earlier_in_the_list() -> None:
    assert offsets(Buffer(8, 0, 5), Buffer(16, 0, 5), Buffer(4, 0, 6)) == (4, 12, 0)


def test_sizes_are_padded_to_the_alignment_and_gaps_begin_at_it() -> None:
    # 20 bytes end at 20, the next one begins at 32: it takes 32 of them.
    assert offsets(Buffer(20, 0, 9, 16), Buffer(20, 1, 9, 16)) == (0, 32)
    # At moment 1 bytes 4 to 40 are free: from 16 on there is room for 20, padded to 32, were it 48.
    walls = [Buffer(4, 0, 9), Buffer(36, 0, 1), Buffer(8, 0, 9)]
    assert offsets(*walls) == (0, 12, 4)
    assert offsets(Buffer(4, 0, 9), Buffer(36, 1, 3), Buffer(4, 2, 9), Buffer(20, 3, 9, 16)) == (0, 4, 40, 48)
    assert offsets(Buffer(4, 0, 9), Buffer(44, 1, 3), Buffer(4, 2, 9), Buffer(20, 3, 9, 16)) == (0, 4, 48, 16)


def test_a_fixed_offset_is_refused() -> None:
    with pytest.raises(UsageError, match="cannot plan buffers with a fixed offset"):
        vela.plan([Buffer(8, 0, 1, offset=0)])
