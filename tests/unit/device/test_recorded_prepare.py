"""What a Prepare asks for, folded into one step: bytes from a head and a tail that stand somewhere modulo 16."""

from tflm_sim.device.recorded_prepare import fold

TENSOR = ((28, 4),)
QUANTIZED = ((28, 4), (12, 4), (8, 4))


def test_temps_lie_one_after_the_other_and_leave_nothing() -> None:
    step = fold((("take", TENSOR, QUANTIZED), ("free", 0, 1)), 0, 0)
    assert step is not None
    assert (step.tail, step.persist_count, step.non_persistent) == (0, 0, 28 + 28 + 12 + 8)


def test_a_temp_begins_where_its_alignment_lets_it() -> None:
    step = fold((("take", TENSOR), ("free", 0)), 3, 0)
    assert step is not None
    assert step.non_persistent == 1 + 28


def test_the_tail_goes_down_to_a_multiple_of_16() -> None:
    step = fold((("persistent", 20, "shift"), ("persistent", 1, "")), 0, 8)
    assert step is not None
    assert (step.tail, step.persist_count) == ((20 + 4) + 16, 2)


def test_a_persistent_buffer_needs_the_temps_that_are_alive_beside_it() -> None:
    step = fold((("take", TENSOR, TENSOR), ("free", 1), ("persistent", 64, "shift"), ("free", 0)), 0, 0)
    assert step is not None
    assert step.late is not None
    assert (step.late.kind, step.late.label, step.late.need) == ("tail", "shift", 28 + 64)


def test_what_leaves_a_temp_or_frees_one_twice_is_no_step() -> None:
    assert fold((("take", TENSOR),), 0, 0) is None
    assert fold((("take", TENSOR), ("free", 0), ("free", 0)), 0, 0) is None
