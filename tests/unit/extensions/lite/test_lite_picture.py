"""The mobile runtime's plan as a picture, of a summary made by hand."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.lite import planned_picture as lite_picture
from tflm_sim.extensions.lite.answer import Answer, LiteSettings, allocated
from tflm_sim.extensions.lite.summary import PlacedTensor, Summary
from tflm_sim.model.load import load
from tflm_sim.report.page_text import page_texts
from tflm_sim.report.picture import Block, Moment, Picture, Resident, Step
from tflm_sim.report.size_answer import TailGroup

# a lies over b's last byte, c begins where b ends, d where c ends
PLACED = (
    PlacedTensor(4, "a", "input", 17, 0, 0, 0),
    PlacedTensor(5, "b", "activation", 16, 1, 0, 1),
    PlacedTensor(6, "c", "output", 8, 17, 1, 2),
    PlacedTensor(7, "", "temporary", 4, 24, 1, 1),
)


def summary(subgraph: int, *, ops: tuple[str, ...] = ("ADD", "MUL"), stays: bool = True) -> Summary:
    persistent = ((8, "v", 5, 0), (9, "w", 6, 16)) if stays else ()
    return Summary(subgraph, 28, 22 if stays else 0, PLACED, persistent, (33, 28), ops, (), 0, True)


def pictures(patch: pytest.MonkeyPatch, *rows: Summary, status: str = "ok", keeps: bool = False) -> list[Picture]:
    patch.setattr(lite_picture, "summaries", lambda _answer: [*rows])
    answer = Answer(None, status, ["one\n", "two\n"])
    return lite_picture.lite_pictures("m.tflite", answer, LiteSettings(preserves_all_tensors=keeps))


def test_what_stays_is_drawn_behind_what_comes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    [found] = pictures(monkeypatch, summary(0), summary(1, ops=()))
    assert found.blocks == (
        Block("variable tensors", 28, 5, 0, 1, 3, "v", 0),
        Block("variable tensors", 44, 6, 0, 1, 3, "w", 0),
    )
    assert found.steps == (Step("enter", 0), Step("persist", 0), Step("persist", 1))
    assert found.moments == (Moment("variables", -1, -1, 0),)
    assert (found.arena_bytes, found.split_at, found.live_bytes) == (50, 0, (33, 28))
    assert (found.op_names, found.subgraph_names, found.scopes) == ((("ADD", "MUL"),), ("main",), ((0, 0), (0, 1)))
    answer = found.size.answer
    assert (answer.smallest_arena_bytes, answer.smallest_arena_multiple_of_16) == (50, 64)
    assert (answer.head_bytes, answer.tail_bytes, answer.arena_used_bytes) == (28, 22, 50)
    assert answer.tail.groups == (TailGroup("variable tensors", 22, 22, 2),)


def test_tensors_share_bytes_where_they_overlap_not_where_they_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    [found] = pictures(monkeypatch, summary(0))
    assert found.residents == (
        Resident("input", "a", 0, 4, -1, 17, 0, 0, 0, 1),
        Resident("activation", "b", 0, 5, -1, 16, 1, 0, 1, 1),
        Resident("output", "c", 0, 6, -1, 8, 17, 1, 2, 1),
        Resident("scratch", "", 0, 7, 1, 4, 24, 1, 1, 1),
    )


def test_a_subgraph_without_variables_has_no_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    first, found = pictures(monkeypatch, summary(0), summary(2, stays=False), keeps=True)
    assert (found.blocks, found.steps, found.size.answer.tail.groups) == ((), (Step("enter", 0),), ())
    assert (found.arena_bytes, found.subgraph_names) == (28, ("subgraph_2",))
    assert first.title.endswith(" kernels, every tensor preserved, main: without the XNNPACK delegate")
    assert found.title.endswith(", every tensor preserved, subgraph_2: without the XNNPACK delegate")


@pytest.mark.parametrize(
    ("status", "shown", "failure"),
    [("ok", "ok", ""), ("error", "error", "one\ntwo\n"), ("abort", "error", "one\ntwo\n")],
)
def test_what_failed_says_what_it_reported(
    monkeypatch: pytest.MonkeyPatch, status: str, shown: str, failure: str
) -> None:
    [found] = pictures(monkeypatch, summary(0), status=status)
    assert (found.status, found.failure) == (shown, failure)
    assert " kernels, main" in found.title


def test_the_last_operator_of_litert_is_the_last_of_all() -> None:
    settings = LiteSettings()
    (picture,) = lite_picture.lite_pictures("m", allocated(load("sample:mobilenet_v1_025"), settings), settings)
    scopes = page_texts([picture])["pictures"][0]["scopes"]
    assert scopes[1].endswith("; operator 2 of 31")
    assert scopes[-1].endswith("; operator 31 of 31")
