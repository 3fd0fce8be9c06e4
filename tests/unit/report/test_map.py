"""The terminal picture fits the terminal, colours only when asked, and shows no hostile character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.map import MOST_ROWS, fit, map_lines
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))
PICTURES = {name: take_picture(load(sample_path(name)), M4) for name in SAMPLES}


def columns(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@given(st.sampled_from(SAMPLES), st.integers(40, 250))
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(map(columns, map_lines(PICTURES[name], width=width))) <= width


@pytest.mark.parametrize("name", SAMPLES)
def test_colours_change_nothing_but_colours(name: str) -> None:
    plain, colored = map_lines(PICTURES[name]), map_lines(PICTURES[name], color=True)
    assert not any("\x1b" in line for line in plain)
    stripped = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in colored]
    rows = [line for line in plain if line.endswith(("|", "|<"))]
    assert [line for line in stripped if line.endswith(("|", "|<"))] == rows
    assert all(line.count("\x1b[48") == line.count("\x1b[0m") for line in colored)


def test_the_fullest_operator_is_marked_and_its_buffers_are_named() -> None:
    lines = map_lines(PICTURES["residual"], width=100)
    (marked,) = [line for line in lines if line.endswith("|<")]
    assert marked.startswith("#2 CONV_2D")
    assert any(line.startswith("< fullest in #2 CONV_2D: ") for line in lines)


def test_thousands_of_operators_share_lines() -> None:
    from tflm_sim.model.build import ModelBuilder
    from tflm_sim.model.load import parse
    from tflm_sim.model.types import TensorType

    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2001)]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    picture = take_picture(parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]])), M4)
    assert len([line for line in map_lines(picture) if line.endswith(("|", "|<"))]) <= MOST_ROWS + 7


def test_a_failure_is_said(hostile: Model) -> None:
    lines = map_lines(take_picture(load(sample_path("sine")), M4, arena_size=900))
    assert any(line.startswith("AllocateTensors() fails: ") for line in lines)
    assert "Invoke()" not in lines


def test_hostile_names_show_no_control_or_direction_characters(hostile: Model) -> None:
    for width in (40, 80, 160):
        text = "".join(map_lines(take_picture(hostile, M4), width=width))
        assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [("abc", 5, "abc  "), ("abcdef", 4, "abc…"), ("中文字", 4, "中… "), ("e\u0301x", 3, "e\u0301x ")],
)
def test_texts_fit_their_columns(text: str, width: int, shown: str) -> None:
    assert fit(text, width) == shown


def test_a_stage_is_drawn_with_what_is_taken_in_its_last_step() -> None:
    lines = map_lines(PICTURES["sine"], width=60)
    assert "structs            rrrrr......................============|" in lines
    assert "init               rrrrr.............=====================|" in lines


def test_a_stage_of_one_step_has_its_row(chain: Callable[..., Model]) -> None:
    lines = map_lines(take_picture(chain(8, 8), M4), width=60)
    assert "parse           rrrrrrrrrrrr............================|" in lines  # RELU has no parameters


def test_operators_have_whole_names_and_rows_that_stand_for_several_have_a_heading_that_says_so() -> None:
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(101)]
    for one, other in pairwise(tensors):
        builder.operator("HARD_SWISH", [one], [other])
    many = take_picture(parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:])), M4)
    lines = map_lines(many, width=80)
    assert "Invoke(), of each 3 operators in turn the one with most bytes" in lines
    assert "Invoke()" in map_lines(PICTURES["residual"], width=80)
    names = [line[:24].split("  ")[0] for line in lines if line.startswith("#")]
    assert names[:3] == ["#0 HARD_SWISH", "#2 HARD_SWISH", "#5 HARD_SWISH"]
    assert "#1 DEPTHWISE_CONV_2D" in "\n".join(map_lines(PICTURES["mobilenet_v1_025"], width=60))
