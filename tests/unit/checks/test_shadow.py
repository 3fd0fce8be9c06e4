"""Who owns which byte, against a list with an entry for each byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.checks.shadow import Owner, ShadowMemory

A, B = (Owner("head", name, 0, "plan") for name in "ab")
LAST = 24


def test_what_is_painted_is_owned_in_runs() -> None:
    memory = ShadowMemory()
    memory.paint(4, 8, A)
    memory.paint(6, 12, B)
    assert list(memory.owned(0, 20)) == [(4, 6, A), (6, 12, B)]
    assert list(memory.owned(5, 7)) == [(5, 6, A), (6, 7, B)]
    assert list(memory.owned(6, 6)) == list(memory.owned(7, 6)) == list(memory.owned(12, 20)) == []
    assert [memory[offset] for offset in (3, 4, 5, 6, 11, 12)] == [None, A, A, B, B, None]
    memory.paint(8, 8, A)
    memory.paint(9, 8, A)
    assert list(memory.owned(0, 20)) == [(4, 6, A), (6, 12, B)]
    assert str(A) == "a (head, since plan)"


PAINTS = st.lists(st.tuples(st.integers(0, LAST), st.integers(0, LAST), st.sampled_from([None, A, B])), max_size=12)


@given(PAINTS, st.integers(0, LAST + 2), st.integers(0, LAST + 2))
def test_runs_are_what_a_list_of_bytes_says(paints: list[tuple[int, int, Owner | None]], start: int, end: int) -> None:
    memory, each = ShadowMemory(), [None] * (LAST + 2)
    for low, high, owner in paints:
        memory.paint(low, high, owner)
        each[low:high] = [owner] * max(0, high - low)  # type: ignore[list-item]
    assert [memory[offset] for offset in range(len(each))] == each
    runs = list(memory.owned(start, end))
    seen = {offset: owner for low, high, owner in runs for offset in range(low, high)}
    assert seen == {offset: each[offset] for offset in range(start, end) if each[offset] is not None}
    assert all(low < high for low, high, _ in runs)
    assert [run[0] for run in runs] == sorted(run[0] for run in runs)
    # Neighbours of one owner may be runs of their own, but the starts rise strictly.
    assert memory._starts == sorted({*memory._starts})
    assert memory._starts[0] == 0
