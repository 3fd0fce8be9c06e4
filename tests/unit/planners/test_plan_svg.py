"""A plan as a picture, coordinate by coordinate."""

from __future__ import annotations

import io
import re

from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.plan_svg import HEIGHT, WIDTH, Drawn, fullest_moment, write_plan_svg
from tflm_sim.planners.problem import Problem
from tflm_sim.provenance import made_by

EDGE = 'stroke="#ffffff" stroke-width="0.8"'
BUFFERS = (Buffer(160, 0, 2, name="t0"), Buffer(80, 1, 4, name="t1"), Buffer(40, 3, 5, offset=160, name="t2"))


def picture(
    buffers: tuple[Buffer, ...], *offsets: int, lower_bound: int = 240, drawn: list[Drawn] | None = None
) -> list[str]:
    file = io.StringIO()
    peak = max((offset + one.size for offset, one in zip(offsets, buffers, strict=True)), default=0)
    problem, plan = Problem(buffers, "demo"), Plan(offsets, peak)
    write_plan_svg(file, problem, plan, planner="greedy", lower_bound=lower_bound, drawn=drawn)
    return file.getvalue().splitlines()


def test_the_frame_holds_the_title_and_all_that_is_drawn() -> None:
    head, *lines = picture(BUFFERS, 80, 0, 160)
    title = "demo: greedy, 240 bytes (lower bound 240)"
    assert (WIDTH, HEIGHT) == (1000, 600)
    assert 'viewBox="0 0 1000 600"' in head
    assert lines[0] == f"<title>{title}</title>"
    assert lines[1].startswith(f"<metadata>tflm_sim {made_by()}</metadata>")
    assert f'<text x="70" y="22" font-size="14">{title}</text>' in lines
    assert lines[-1] == "</svg>"


def test_a_buffer_is_as_wide_as_it_is_large_and_as_high_as_it_lives() -> None:
    """Left 70, right 30: 900 for 240 bytes, 3.75 each. Above 74, below 46: 480 for 5 moments, 96 each.

    A name's foot is 4 below the middle of the first moment of what it names.
    """
    rim = 'fill="#ffffff" stroke="#005d96" stroke-width="3" paint-order="stroke"'
    assert [line for line in picture(BUFFERS, 80, 0, 160) if rim in line] == [
        f'<text x="374.0" y="126.0" {rim}>t0</text>',
        f'<text x="74.0" y="222.0" {rim}>t1</text>',
        f'<text x="674.0" y="414.0" {rim}>t2</text>',
    ]
    assert [line for line in picture(BUFFERS, 80, 0, 160) if line.startswith("<g>")] == [
        "<g><title>t0: 160 bytes at 80, times 0 to 1</title>"
        f'<rect x="370.00" y="74.00" width="600.00" height="192.00" fill="#005d96" {EDGE}/></g>',
        "<g><title>t1: 80 bytes at 0, times 1 to 3</title>"
        f'<rect x="70.00" y="170.00" width="300.00" height="288.00" fill="#005d96" {EDGE}/></g>',
        "<g><title>t2: 40 bytes at 160, where the model fixes it, times 3 to 4</title>"
        f'<rect x="670.00" y="362.00" width="150.00" height="192.00" fill="#005d96" {EDGE}/></g>',
    ]


def test_bytes_are_above_moments_at_the_left_the_bound_a_line_and_the_fullest_moment_a_frame() -> None:
    lines = picture(BUFFERS, 80, 0, 160, lower_bound=120)
    soft = 'fill="#566373"'
    for offset in (0, 50, 100, 150, 200, 240):
        x = 70 + 3.75 * offset
        assert f'<text x="{x:.1f}" y="66.0" text-anchor="middle" {soft}>{offset}</text>' in lines
    for time in range(5):  # Each moment's number stands in its middle: 74 + 48 + 96 a moment.
        assert f'<text x="62.0" y="{126 + 96 * time}.0" text-anchor="end" {soft}>{time}</text>' in lines
    assert (
        '<line x1="520.0" y1="74" x2="520.0" y2="554" stroke="#c81e4a" stroke-dasharray="6 4">'
        "<title>lower bound 120 bytes</title></line>"
    ) in lines
    assert (  # Moment 1: 160 + 80 bytes.
        '<rect x="70" y="170.0" width="900.0" height="96.0" fill="none" stroke="#c81e4a" stroke-width="1.5">'
        "<title>most is alive at time 1</title></rect>"
    ) in lines


def test_the_colour_says_what_a_buffer_is_for_and_scratch_is_hatched() -> None:
    kinds = [Drawn("input", "image"), Drawn("scratch", "scratch 0 of #1"), Drawn("output", "scores")]
    lines = picture(BUFFERS, 80, 0, 160, drawn=kinds)
    groups = [line for line in lines if line.startswith("<g>")]
    assert [re.findall(r' fill="([^"]*)"[ /]', group)[0] for group in groups] == ["#720e4f", "#9e84cd", "#892157"]
    assert [group.count("url(#hatch)") for group in groups] == [0, 1, 0]
    assert ">image</text>" in "".join(lines)
    legend = [line.partition(">")[2].partition("<")[0] for line in lines[lines.index(groups[-1]) :]]
    assert [word for word in legend if word in ("inputs", "outputs", "activations", "scratch buffers")] == [
        "inputs",
        "outputs",
        "scratch buffers",
    ]


def test_a_picture_of_nothing_is_drawn_too() -> None:
    lines = picture((), lower_bound=0)
    assert [line for line in lines if line.startswith("<g>")] == []
    assert '<text x="70.0" y="66.0" text-anchor="middle" fill="#566373">0</text>' in lines
    assert fullest_moment(()) == 0


def test_the_fullest_moment_is_the_first_of_several() -> None:
    assert fullest_moment((Buffer(8, 0, 2), Buffer(8, 2, 4))) == 0
    assert fullest_moment((Buffer(8, 0, 2), Buffer(1, 1, 2), Buffer(9, 2, 4))) == 1
    assert fullest_moment((Buffer(8, -3, 2), Buffer(9, 2, 4))) == 2
