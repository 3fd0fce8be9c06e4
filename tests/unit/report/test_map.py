"""The terminal picture fits the terminal, colours only when asked, and shows no hostile character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.map import MAX_ROWS, fit, map_lines
from tflm_sim.report.picture import Block, Moment, Picture, Step
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))


@cache
def picture_of(name: str) -> Picture:
    return take_picture(load(sample_path(name)), M4)


def columns(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@given(st.sampled_from(SAMPLES), st.integers(40, 250))
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert max(map(columns, map_lines(picture_of(name), width=width))) <= width


@pytest.mark.parametrize("name", SAMPLES)
def test_colours_change_nothing_but_colours(name: str) -> None:
    plain, colored = map_lines(picture_of(name)), map_lines(picture_of(name), color=True)
    assert not any("\x1b" in line for line in plain)
    stripped = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in colored]
    rows = [line for line in plain if line.endswith(("|", "|<"))]
    assert [line for line in stripped if line.endswith(("|", "|<"))] == rows
    assert all(line.count("\x1b[48") == line.count("\x1b[0m") for line in colored)


def test_the_fullest_operator_is_marked_and_its_buffers_are_named() -> None:
    lines = map_lines(picture_of("residual"), width=100)
    (marked,) = [line for line in lines if line.endswith("|<")]
    assert marked.startswith("#2 CONV_2D")
    assert any(line.startswith("< fullest in #2 CONV_2D: ") for line in lines)


@pytest.mark.slow
def test_thousands_of_operators_share_lines() -> None:
    from tflm_sim.model.build import ModelBuilder
    from tflm_sim.model.load import parse
    from tflm_sim.model.types import TensorType

    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, zero_point=0) for _ in range(2001)]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    picture = take_picture(parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]])), M4)
    assert len([line for line in map_lines(picture) if line.endswith(("|", "|<"))]) <= MAX_ROWS + 7


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
    lines = map_lines(picture_of("sine"), width=60)
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
    assert "Invoke()" in map_lines(picture_of("residual"), width=80)
    names = [line[:24].split("  ")[0] for line in lines if line.startswith("#")]
    assert names[:3] == ["#0 HARD_SWISH", "#2 HARD_SWISH", "#5 HARD_SWISH"]
    assert "#1 DEPTHWISE_CONV_2D" in "\n".join(map_lines(picture_of("mobilenet_v1_025"), width=60))


Make = Callable[..., Picture]

# 80 columns: 20 for names (a quarter), a blank, the end and the mark leave 57; 4,096 / 57 are 72 B each. Of the tail,
# 3,000 to 4,096, columns 41 to 56; of 512 B the first 8; of 1,000 B the first 14.
PLAIN = [
    "m.tflite: arena of 4,096 B; one column is 72 B",
    "a title",
    "",
    "AllocateTensors()",
    "start                tttttttt...............................................==|",
    "structs              tttttttt.................................================|",
    "prepare              .........................................================|",
    "plan                 .........................................================|",
    "Invoke()",
    "inputs               AAAAAAAAAAAAAA...........................================|",
    "#0 RELU              AAAAAAAAAAAAAABBBBBBBCC..................================|<",
    "",
    ". free  t temporary, in Prepare  = tail, for good  A-Z a-z buffers of the head",
    "< fullest in #0 RELU: 1,632 B of the head's 1,632",
    "  A        1,000 B at          0  in",
    "  B          500 B at      1,008  tensor 1",
    "  C          100 B at      1,520  scratch 7",
]


def test_the_map_is_what_the_arithmetic_says(small_picture: Make) -> None:
    assert map_lines(small_picture()) == PLAIN


def test_a_stage_shows_its_fullest_step_and_prepare_whose_that_is(small_picture: Make) -> None:
    moments = (Moment("op_prepare", 0, 3, 0), Moment("op_prepare", 0, 4, 2), Moment("plan", -1, -1, 6))
    blocks = (
        Block("temp", 0, 72, 0, 0, 1, "", 0),
        Block("temp", 0, 144, 0, 3, 4, "", 0),
        Block("temp", 72, 36, 0, 4, 9, "", 0),
        Block("eval tensors", 4024, 72, 0, 5, 10, "", 0),
        Block("eval tensors", 3952, 72, 0, 6, 10, "", 0),
    )
    none = {"residents": (), "scopes": (), "live_bytes": ()}
    lines = map_lines(small_picture(moments=moments, blocks=blocks, steps=(Step("temp", 0),) * 9, **none))
    prepare, plan = lines[4:6]
    assert prepare == f"prepare at #4        tt{'.' * 53}==|"
    assert plan == f"plan                 .t{'.' * 52}===|"


def test_a_picture_without_a_plan_has_no_invoke(small_picture: Make) -> None:
    size = small_picture().size
    size.model.path = ""
    lines = map_lines(small_picture(size=size, residents=(), scopes=(), live_bytes=()))
    assert "Invoke()" not in lines
    assert lines[0].startswith("model: arena")
    assert lines[-1].startswith(". free")
