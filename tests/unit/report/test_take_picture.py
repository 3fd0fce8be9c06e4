"""The picture of a run agrees with the size report, and every byte of it is drawn once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report.picture import Picture, Remedy, is_tail
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.units import align_up

M4 = Configuration(preset("cortex-m4"))


@pytest.fixture(
    params=[(name, machine) for name in SAMPLES for machine in ("cortex-m4", "esp32-s3", "x86_64-pip")], ids=str
)
def picture(request: pytest.FixtureRequest) -> Picture:
    name, machine = request.param
    chosen = preset(machine)
    return take_picture(load(sample_path(name)), Configuration(chosen, chosen.interpreter))


def test_the_arena_drawn_is_the_smallest_that_works(picture: Picture) -> None:
    assert picture.status == "ok"
    assert picture.arena_bytes == picture.size.answer.smallest_arena_multiple_of_16


def test_the_largest_need_is_the_smallest_arena(picture: Picture) -> None:
    needs = [limit.need for limit in picture.limits]
    assert needs == sorted(needs, reverse=True)
    assert align_up(needs[0], 16) == picture.size.answer.smallest_arena_multiple_of_16


def test_head_tail_and_peak_are_those_of_the_size_report(picture: Picture) -> None:
    assert picture.head_bytes == picture.size.answer.head_bytes
    assert picture.peak_scope == picture.size.answer.peak.scope
    assert picture.live_bytes[picture.peak_scope] == picture.size.answer.peak.live_bytes
    groups = {row.what: row.used for row in picture.size.answer.tail.groups}
    drawn: dict[str, int] = {}
    for block in filter(is_tail, picture.blocks):
        drawn[block.category] = drawn.get(block.category, 0) + block.size + block.padding
    # The size report counts in a roomy arena; where the tail starts at another remainder, padding may differ.
    assert sum(drawn.values()) == picture.arena_bytes - picture.tail_start
    assert drawn.keys() == groups.keys()


def test_no_byte_of_the_tail_belongs_to_two_blocks(picture: Picture) -> None:
    blocks = sorted((row for row in picture.blocks if is_tail(row) and row.size), key=lambda row: row.offset)
    assert all(one.offset + one.size <= other.offset for one, other in pairwise(blocks))
    assert all(row.end == len(picture.steps) for row in blocks)


def test_every_step_belongs_to_what_it_names(picture: Picture) -> None:
    for number, step in enumerate(picture.steps):
        if step.kind in ("persist", "temp"):
            assert picture.blocks[step.value].begin == number
        elif step.kind == "free":
            assert picture.blocks[step.value].end == number
        elif step.kind == "enter":
            assert picture.moments[step.value].step == number


def test_a_reset_empties_temp_down_to_the_head(picture: Picture) -> None:
    head = 0
    for step in picture.steps:
        if step.kind == "resize":
            head = step.value
        elif step.kind == "reset":
            assert step.value == head
            assert step.text == ""


def test_sharing_counts_the_residents_on_the_same_bytes(picture: Picture) -> None:
    rows = picture.residents
    for row in rows:
        others = [
            other
            for other in rows
            if other is not row and other.offset < row.offset + row.size and row.offset < other.offset + other.size
        ]
        assert row.sharing == len(others)
        assert all(other.last < row.first or row.last < other.first for other in others)


def test_remedies_say_what_the_head_is_without_a_buffer(chain: Callable[..., Model]) -> None:
    picture = take_picture(chain(64, 640, 128), M4)
    # RELU by RELU: 64 + 640 = 704 live, then 640 + 128 = 768 live: without the 640 it is max(64, 128) at the end,
    # as tensors 0 and 2 never meet: the head is 128. Without the 128 it is 64 + 640 = 704.
    assert [(row.resident, row.head_bytes) for row in picture.remedies] == [(1, 128), (2, 704)]
    assert picture.head_bytes == 768


def test_an_arena_that_is_far_too_small_is_drawn_until_it_fails() -> None:
    picture = take_picture(load(sample_path("residual")), M4, arena_size=3000)
    assert picture.status == "error"
    assert picture.steps[-1].kind == "fail"
    assert picture.steps[-1].text == picture.failure != ""
    assert picture.residents == picture.scopes == picture.remedies == ()
    assert picture.size.answer.status == "ok"


def test_of_two_arenas_the_persistent_one_stands_behind() -> None:
    picture = take_picture(load(sample_path("streaming")), Configuration(preset("cortex-m4"), split_arenas=True))
    sizes = picture.size.answer.smallest_split_arenas_bytes
    assert picture.split_at == align_up(sizes.non_persistent, 16)
    assert picture.arena_bytes == picture.split_at + sizes.persistent
    assert picture.tail_start >= picture.split_at
    assert picture.head_bytes <= picture.split_at


def test_the_linear_planner_needs_no_tables_and_every_remedy_saves_its_size(chain: Callable[..., Model]) -> None:
    picture = take_picture(chain(64, 640, 128), Configuration(preset("cortex-m4"), planner="linear"))
    assert picture.head_bytes == 64 + 640 + 128
    assert picture.remedies[0] == Remedy(1, 64 + 128, picture.remedies[0].arena_bytes)
    assert all(row.size == 0 for row in picture.blocks if row.category == "planner")


def test_observers_see_both_runs(chain: Callable[..., Model]) -> None:
    seen: list[str] = []
    take_picture(chain(64, 64), M4, observers=(lambda event: seen.append(type(event).__name__),))
    assert seen.count("Run") == 2


def test_a_plan_that_does_not_fit_is_what_binds() -> None:
    picture = take_picture(load(sample_path("residual")), M4, arena_size=10240)
    assert picture.status == "error"
    assert (picture.limits[0].stage, picture.limits[0].floor) == ("running", picture.size.answer.head_bytes)


def test_the_levels_say_where_each_section_stands() -> None:
    picture = take_picture(load(sample_path("residual")), "cortex-m4")
    assert [level.step for level in picture.levels] == sorted({level.step for level in picture.levels})
    assert all(level.head <= level.temp <= picture.arena_bytes - level.tail for level in picture.levels)
    last = picture.levels[-1]
    answer = picture.size.answer
    assert (last.head, last.temp, last.tail) == (answer.head_bytes, answer.head_bytes, answer.tail_bytes)


def test_an_arena_that_is_too_small_shows_the_head_over_the_tail_and_what_is_missing() -> None:
    picture = take_picture("sample:residual", "cortex-m4", arena_size=40_000)
    smallest = simulate(load("sample:residual"), "cortex-m4").smallest
    assert smallest is not None
    assert picture.shortage is not None
    assert picture.shortage.missing == smallest.size - 40_000 == 15_000
    assert picture.tail_start == picture.shortage.start < picture.shortage.end <= picture.head_bytes
    assert picture.steps[picture.shortage.step].kind == "resize"
    assert picture.device_log[0].startswith("Failed to resize buffer. Requested: 49728")
    assert picture.advice[0] == "55,000 B are needed, 15,000 B more than this arena has."


def test_an_arena_without_room_for_the_tail_shows_how_far_the_device_gets() -> None:
    picture = take_picture("sample:residual", "cortex-m4", arena_size=2_000)
    assert (picture.shortage, picture.status, picture.residents) == (None, "error", ())
    assert "53,000 B more" in picture.advice[0]


@pytest.mark.parametrize("name", ["keyword_spotter", "sine", "streaming", "residual"])
@pytest.mark.parametrize("more", [None, 16, 4320])
def test_what_steps_need_is_of_the_smallest_arena_whichever_is_drawn(name: str, more: int | None) -> None:
    smallest = simulate(sample_path(name), "cortex-m4").smallest
    assert smallest is not None
    drawn = None if more is None else smallest.multiple_of_16 + more
    picture = take_picture(sample_path(name), "cortex-m4", arena_size=drawn)
    assert align_up(max(limit.need for limit in picture.limits), 16) == smallest.multiple_of_16
    assert all(row.arena_bytes <= smallest.multiple_of_16 for row in picture.remedies)
    assert all(0 <= limit.step < len(picture.steps) for limit in picture.limits)
