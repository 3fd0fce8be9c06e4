"""Shadow memory agrees, byte by byte, with a list that has one entry per byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.checks.shadow import Owner, ShadowMemory

SIZE = 40
paints = st.lists(st.tuples(st.integers(0, SIZE), st.integers(0, SIZE), st.none() | st.integers(0, 3)), max_size=20)


def owner(number: int | None) -> Owner | None:
    return None if number is None else Owner("temp", str(number), number, "somewhere")


@given(paints, st.integers(0, SIZE), st.integers(0, SIZE))
def test_every_byte_has_its_last_owner(rows: list[tuple[int, int, int | None]], first: int, end: int) -> None:
    shadow, plain = ShadowMemory(), [None] * (SIZE + 1)
    for start, stop, number in rows:
        shadow.paint(start, stop, owner(number))
        plain[start:stop] = [number] * max(0, stop - start) if start < stop else plain[start:stop]
    assert [shadow[offset] for offset in range(SIZE)] == [owner(number) for number in plain[:SIZE]]
    covered = {offset: who for low, high, who in shadow.owned(first, end) for offset in range(low, high)}
    assert covered == {offset: owner(plain[offset]) for offset in range(first, end) if plain[offset] is not None}
