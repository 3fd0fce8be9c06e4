"""Findings in words: which buffer, which operator, which moment."""

from __future__ import annotations

import pytest

from tflm_sim.invocation.findings import BufferId, Finding, FindingCode, Place


@pytest.mark.parametrize(("buffer", "words"), [
    (BufferId("tensor", 0, 3), "tensor 3"),
    (BufferId("tensor", 1, 3), "tensor 3 of subgraph 1"),
    (BufferId("tensor", 2, 0, 1), "tensor 0 of subgraph 2 of interpreter 2"),
    (BufferId("scratch", 1, 2), "scratch 2"),
    (BufferId("resource variable", 0, 0, 2), "resource variable 0 of interpreter 3"),
])  # fmt: skip
def test_a_buffer_is_named_by_what_it_is_and_where(buffer: BufferId, words: str) -> None:
    assert str(buffer) == words


@pytest.mark.parametrize(("place", "words"), [
    (Place(0, 0, "RELU"), "RELU #0"),
    (Place(1, 4, "ADD"), "ADD #4 of subgraph 1"),
    (Place.moment("the end"), "the end"),
])  # fmt: skip
def test_a_place_is_an_operator_or_a_moment(place: Place, words: str) -> None:
    assert str(place) == words


def test_a_moment_is_at_operator_minus_one() -> None:
    assert Place.moment("the end") == (0, -1, "the end")


def test_a_finding_without_bytes_has_none() -> None:
    found = Finding(FindingCode.COPY_SIZES_DIFFER, "IF #0", "no")
    assert (found.start, found.end) == (0, 0)
    assert str(found) == "[copy-sizes-differ] IF #0: no"
