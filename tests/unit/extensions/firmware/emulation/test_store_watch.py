from tflm_sim.extensions.firmware.emulation import store_watch
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.store_watch import MAX_SPANS, Noted


def watched(free: list[Span], objects: list[Span], devices: list[Span]) -> list[tuple[int, int, int]]:
    """Return the stretches that are watched: start, end, whether stores there are not noted."""
    noted = Noted()
    store_watch.begin(noted, free, objects, devices)
    return [(row.start, row.end, row.is_free) for row in noted.span[: noted.spans]]


def test_where_stretches_overlap_the_first_kind_holds() -> None:
    # An arena [16, 32) within an object [0, 64) that reaches 8 bytes into a device [56, 96).
    assert watched([Span(16, 32)], [Span(0, 64)], [Span(56, 96)]) == [(0, 16, 0), (16, 32, 1), (32, 64, 0), (64, 96, 1)]


def test_an_empty_stretch_is_not_watched() -> None:
    assert watched([Span(8, 8)], [Span(0, 4)], []) == [(0, 4, 0)]


def test_objects_that_are_too_many_to_be_told_apart_are_no_reason_to_call_a_store_out_of_bounds() -> None:
    objects = [Span(4 * at, 4 * at + 2) for at in range(MAX_SPANS + 10)]
    rows = watched([], objects, [])
    assert len(rows) == MAX_SPANS
    assert rows[-2] == (4 * (MAX_SPANS - 2), 4 * (MAX_SPANS - 2) + 2, 0)
    assert rows[-1] == (4 * (MAX_SPANS - 1), 4 * (MAX_SPANS + 9) + 2, 1)


def test_the_watch_ends_with_no_rows_where_nothing_was_stored() -> None:
    noted = Noted()
    store_watch.begin(noted, [], [Span(0, 4)], [])
    assert noted.is_watching == 1
    assert store_watch.end(noted) == []
    assert noted.is_watching == 0


def test_as_many_objects_as_can_be_told_apart_are() -> None:
    rows = watched([], [Span(4 * at, 4 * at + 2) for at in range(MAX_SPANS)], [])
    assert (len(rows), rows[-1]) == (MAX_SPANS, (4 * MAX_SPANS - 4, 4 * MAX_SPANS - 2, 0))
