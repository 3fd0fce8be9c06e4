"""What notebooks show of answers: tables whose texts, from the model, are text."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from tflm_sim import ModelBuilder, compare_planners, lifetimes, load, simulate, smallest_arena
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import Buffer, plan_of

BUFFERS = [Buffer(16, 0, 2), Buffer(32, 1, 3)]


class Seen(HTMLParser):
    """The elements and the texts of a page; every element must be closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note an element."""
        self.elements.add(tag)
        self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        """Note an empty element."""
        self.elements.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the last element."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)


def test_a_simulation_shows_its_sizes_and_its_plan() -> None:
    simulation = simulate(load("sample:residual"), "cortex-m4")
    seen = Seen(simulation._repr_html_())
    size = smallest_arena(load("sample:residual"), "cortex-m4")
    assert {f"{size.size:,} B", f"alignas(16) uint8_t tensor_arena[{size.multiple_of_16}];"} <= set(seen.texts)
    assert f"{size.binding.what}, in '{size.binding.place}'" in seen.texts
    assert simulation.peak is not None
    assert f"lower bound {simulation.peak.live_bytes:,} bytes" in seen.texts
    assert "residual.tflite on cortex-m4 (cmsis_nn@4ab83cc (dsp) kernels)" in seen.texts
    assert {"table", "svg", "rect"} <= seen.elements


def test_a_failed_simulation_shows_what_the_device_prints() -> None:
    seen = Seen(simulate(load("sample:sine"), "cortex-m4", arena_size=500)._repr_html_())
    assert any(text.startswith("Failed to ") for text in seen.texts)
    assert "svg" not in seen.elements


def test_more_buffers_than_a_picture_can_show_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = simulate(load("sample:sine"), "cortex-m4")
    for most, is_drawn in ((3, False), (4, True)):  # sine has 4 planned tensors
        monkeypatch.setattr("tflm_sim.answers.notebook._MAX_BUFFERS", most)
        assert ("svg" in Seen(simulation._repr_html_()).elements) == is_drawn


def test_two_arenas_show_a_pair_of_sizes() -> None:
    simulation = simulate(load("sample:sine"), "cortex-m4", split_arenas=True)
    split = simulation.split
    assert split is not None
    texts = Seen(simulation._repr_html_()).texts
    assert f"{split.persistent:,} B + {split.non_persistent:,} B" in texts


def test_a_plan_shows_its_offsets_the_first_forty_of_many() -> None:
    assert "2 buffers in 48 B" in Seen(plan_of(BUFFERS, [0, 16])._repr_html_()).texts
    assert "2 more" in Seen(plan_of(BUFFERS * 21, [0, 16] * 21)._repr_html_()).texts


def test_a_comparison_shows_a_row_a_planner() -> None:
    texts = Seen(compare_planners(BUFFERS, names=("greedy", "linear"))._repr_html_()).texts
    assert texts.count("48 B") == 2
    assert {"lower bound 48 B", "greedy", "linear", "yes"} <= set(texts)


def test_the_smallest_arena_and_lifetimes_are_tables() -> None:
    model = load("sample:residual")
    assert "smallest arena: " in Seen(smallest_arena(model, "cortex-m4")._repr_html_()).texts[0]
    texts = Seen(lifetimes(model, "cortex-m4")._repr_html_()).texts
    assert {"buffer", "offset", "the inputs"} <= set(texts)


@pytest.mark.parametrize("answer", [simulate, lifetimes])
def test_names_from_a_model_are_text(hostile: Model, answer: Callable[..., Any]) -> None:
    page = answer(hostile, "cortex-m4")._repr_html_()
    assert not Seen(page).elements & {"script", "img", "b", "a"}
    assert "\x1b" not in page


def test_where_nothing_is_planned_there_is_no_picture() -> None:
    builder = ModelBuilder()
    nothing = simulate(builder.build(inputs=[], outputs=[]), "cortex-m4")
    assert nothing.buffers == ()
    assert Seen(nothing._repr_html_()).elements.isdisjoint({"svg", "rect"})
