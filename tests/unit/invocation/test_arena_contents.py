"""The arena's bytes: where buffers lie, what is written, and who wrote over whom."""

from __future__ import annotations

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.invocation import arena_contents
from tflm_sim.invocation.arena_contents import MAX_ARENA_BYTES, ArenaContents, Slot
from tflm_sim.invocation.findings import BufferId, FindingCode, Place

FIRST, SECOND, THIRD = (Place(0, number, "RELU") for number in range(3))


def contents(head: int = 64, tail_offset: int = 100, tail: int = 28, *, has_gap: bool = True) -> ArenaContents:
    return ArenaContents(head, tail_offset, tail, has_gap=has_gap)


def tensor(number: int) -> BufferId:
    return BufferId("tensor", 0, number)


def test_the_free_bytes_are_there_or_left_out() -> None:
    with_gap, without = contents(), contents(has_gap=False)
    assert (len(with_gap.memory), len(without.memory)) == (100 + 28, 64 + 28)
    # Eight bytes behind the start of the tail, at 108: 64 + 8 where the 36 bytes between are left out.
    slots = [arena.in_tail(tensor(0), 108, 16) for arena in (with_gap, without)]
    assert [(slot.index, slot.offset, slot.end) for slot in slots] == [(108, 108, 124), (72, 108, 124)]


def test_the_largest_arena_has_64_mib() -> None:
    assert MAX_ARENA_BYTES == 64 * 1024 * 1024
    assert len(contents(MAX_ARENA_BYTES - 16, 1 << 30, 16, has_gap=False).memory) == MAX_ARENA_BYTES
    with pytest.raises(ModelError, match=r"^67,108,865 bytes of arena are more than any device has: not invoked$"):
        contents(MAX_ARENA_BYTES - 15, 1 << 30, 16, has_gap=False)


def test_a_buffer_lies_inside_of_the_arena_to_its_last_byte() -> None:
    arena = contents(16, 16, 0)
    assert arena.in_head(tensor(0), 0, 16).end == 16
    for offset, size in ((-1, 4), (1, 16), (17, 0)):
        with pytest.raises(ModelError, match=f"a buffer is placed at {offset} to {offset + size}: outside"):
            arena.in_head(tensor(1), offset, size)
    assert arena.in_head(tensor(1), 16, 0).size == 0  # No byte at the very end.
    assert len(arena.slots) == 2


def test_a_size_below_zero_is_no_bytes() -> None:
    assert contents().in_head(tensor(0), 0, -8).size == 0


def test_the_noise_repeats_after_a_prime_number_of_bytes_and_each_write_starts_elsewhere_in_it() -> None:
    period = arena_contents._PERIOD
    assert all(period % divisor for divisor in range(2, 257))  # 257 * 257 is more than the period.
    assert period < 257 * 257
    arena = contents(200_000, 200_000, 0)
    slot = arena.in_head(tensor(0), 0, 60_000)
    seen = []
    for _ in range(20):
        arena.fill(slot, FIRST)
        assert slot.is_intact()
        seen.append(bytes(arena.memory[:16]))
    assert len(set(seen)) == 20
    larger = arena.in_head(tensor(1), 0, 200_000)  # More than there was noise for.
    arena.fill(larger, FIRST)
    assert arena.memory[:1000] == arena.memory[period : period + 1000]
    assert arena.memory[:1000] != arena.memory[period - 1 : period + 999]


def test_of_noise_there_are_as_many_periods_as_are_needed() -> None:
    period = arena_contents._PERIOD
    assert [len(arena_contents._noise(size)) // period for size in (1, period, period + 1)] == [1, 1, 2]


def filled(arena: ArenaContents, *rows: tuple[int, int]) -> list[Slot]:
    """Return slots of (offset, size) that are filled one after the other, by one operator each."""
    slots = [arena.in_head(tensor(number), *row) for number, row in enumerate(rows)]
    for number, slot in enumerate(slots):
        arena.fill(slot, Place(0, number, "RELU"))
    return slots


def test_who_wrote_later_on_shared_bytes_is_named_in_order_and_a_neighbour_is_not() -> None:
    arena = contents()
    slots = filled(arena, (16, 16), (0, 16), (32, 16), (24, 16), (8, 9))
    arena.check(slots[0], THIRD)
    late, last = arena.findings
    assert (late.code, late.victim, late.offender) == (FindingCode.TENSOR_OVERWRITTEN, tensor(0), tensor(3))
    assert (late.start, late.end, late.noticed, late.written) == (24, 32, (0, 2), (0, 3))
    assert late.message == ("bytes 24 to 31 of tensor 0 (written by RELU #0) were overwritten with tensor 3 by RELU #3")
    assert (last.offender, last.start, last.end) == (tensor(4), 16, 17)  # 8 + 9 = 17: one byte.
    assert last.message.startswith("bytes 16 to 16 of tensor 0")
    assert arena.checked_bytes == 16


def test_who_wrote_before_is_no_offender() -> None:
    arena = contents()
    before, victim, after = filled(arena, (0, 16), (0, 16), (8, 16))
    arena.check(victim, THIRD)
    assert [finding.offender for finding in arena.findings] == [after.buffer]
    arena.check(before, THIRD)
    assert [finding.offender for finding in arena.findings[1:]] == [victim.buffer, after.buffer]
    assert arena.checked_bytes == 32


def test_a_buffer_that_nothing_wrote_is_a_finding_with_its_bytes() -> None:
    arena = contents()
    slot = arena.in_head(tensor(0), 16, 8)
    arena.check(slot, Place.moment("the end of Invoke()"), FindingCode.OUTPUT_OVERWRITTEN)
    (found,) = arena.findings
    assert (found.code, found.start, found.end) == (FindingCode.READ_BEFORE_WRITTEN, 16, 24)
    assert (found.victim, found.offender, found.noticed, found.written) == (tensor(0), None, None, None)
    assert str(found) == "[read-before-written] the end of Invoke(): tensor 0 is used, and nothing wrote it before"


def test_a_variable_that_is_overwritten_has_a_code_of_its_own_and_the_same_finding_is_kept_once() -> None:
    arena = contents()
    variable, _ = filled(arena, (0, 16), (0, 16))
    variable.is_variable = True
    for place in (SECOND, SECOND, THIRD):
        arena.check(variable, place)
    assert [(one.code, one.noticed) for one in arena.findings] == [
        (FindingCode.VARIABLE_TOUCHED, (0, 1)),
        (FindingCode.VARIABLE_TOUCHED, (0, 2)),
    ]


def test_a_copy_in_place_writes_nothing_and_keeps_the_time_of_what_it_copies() -> None:
    arena = contents()
    source, later = filled(arena, (0, 16), (16, 16))
    source.resource_id = 3
    target = arena.in_head(tensor(2), 0, 16)
    arena.copy(source, target, SECOND)
    assert (target.content, target.writer, target.time) == (source.content, SECOND, source.time)
    assert target.resource_id == 3
    arena.copy(source, later, THIRD)
    assert (later.content, later.writer, later.resource_id) == (source.content, THIRD, 3)
    assert arena.memory[:16] == arena.memory[16:32]


def test_a_copy_of_what_nothing_wrote_is_noise_like_any_other() -> None:
    arena = contents()
    source, target = arena.in_head(tensor(0), 0, 16), arena.in_head(tensor(1), 16, 16)
    arena.copy(source, target, FIRST)
    assert target.is_intact()
    assert not source.is_intact()
    assert arena.memory[:16] == bytes(16)


def test_what_is_written_sixteen_writes_later_sixteen_bytes_behind_is_other_noise() -> None:
    arena = contents()
    first, second, other = (arena.in_head(tensor(n), *row) for n, row in enumerate([(0, 32), (16, 16), (32, 16)]))
    arena.fill(first, FIRST)
    for _ in range(15):
        arena.fill(other, SECOND)
    arena.fill(second, THIRD)
    assert not first.is_intact()
