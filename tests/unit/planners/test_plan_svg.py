"""A plan as a picture, coordinate by coordinate."""

from __future__ import annotations

import io

import pytest

from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.plan_svg import HEIGHT, WIDTH, fullest_moment, tick_step, write_plan_svg
from tflm_sim.planners.problem import Problem
from tflm_sim.provenance import made_by

EDGE = 'stroke="#ffffff" stroke-width="0.8"'
BUFFERS = (Buffer(160, 0, 2, name="t0"), Buffer(80, 1, 4, name="t1"), Buffer(40, 3, 5, offset=160, name="t2"))


def picture(buffers: tuple[Buffer, ...], *offsets: int, lower_bound: int = 240) -> list[str]:
    file = io.StringIO()
    peak = max((offset + one.size for offset, one in zip(offsets, buffers, strict=True)), default=0)
    write_plan_svg(file, Problem(buffers, "demo"), Plan(offsets, peak), planner="greedy", lower_bound=lower_bound)
    return file.getvalue().splitlines()


def test_the_frame_holds_the_title_and_all_that_is_drawn() -> None:
    head, *lines = picture(BUFFERS, 80, 0, 160)
    title = "demo: greedy, 240 bytes (lower bound 240)"
    assert (WIDTH, HEIGHT) == (1000, 600)
    assert 'viewBox="0 0 1000 600"' in head
    assert lines[:4] == [
        f"<title>{title}</title>",
        f"<metadata>tflm_sim {made_by()}</metadata>",
        '<rect width="1000" height="600" fill="white"/>',
        f'<text x="90" y="22" font-size="14">{title}</text>',
    ]
    assert lines[-1] == "</svg>"


def test_a_buffer_is_as_wide_as_it_lives_and_as_high_as_it_is_large() -> None:
    """Left 90, right 20: 890 for 5 moments, 178 each. Above 40, below 80: 480 for 240 bytes, 2 each; byte 0 at 520.

    The foot of a text is 4 below the middle of what it names.
    """
    assert [line for line in picture(BUFFERS, 80, 0, 160) if line.startswith("<g>")] == [
        "<g><title>t0: 160 bytes at 80, times 0 to 1</title>"
        f'<rect x="90.00" y="40.00" width="356.00" height="320.00" fill="#e9a23b" {EDGE}/>'
        '<text x="268.0" y="204.0" text-anchor="middle">t0</text></g>',
        "<g><title>t1: 80 bytes at 0, times 1 to 3</title>"
        f'<rect x="268.00" y="360.00" width="534.00" height="160.00" fill="#e9a23b" {EDGE}/>'
        '<text x="535.0" y="444.0" text-anchor="middle">t1</text></g>',
        "<g><title>t2: 40 bytes at 160, times 3 to 4</title>"
        f'<rect x="624.00" y="120.00" width="356.00" height="80.00" fill="#b79bd9" {EDGE}/>'
        '<text x="802.0" y="164.0" text-anchor="middle">t2</text></g>',
    ]


def plain(lines: list[str], start: str) -> list[str]:
    return [line for line in lines if line.startswith(start)]


def test_bytes_are_at_the_left_moments_below_and_the_bound_is_a_line() -> None:
    lines = picture(BUFFERS, 80, 0, 160, lower_bound=120)
    soft = 'fill="#5c6877"'
    expected = []
    for offset in (0, 50, 100, 150, 200, 240):
        y = 520 - 2 * offset
        expected += [
            f'<text x="82.0" y="{y + 4}.0" text-anchor="end" {soft}>{offset}</text>',
            f'<line x1="86" y1="{y}.0" x2="90" y2="{y}.0" stroke="black"/>',
        ]
    # Each moment's number stands in its middle: 90 + 89 + 178 a moment.
    expected += [
        f'<text x="{179 + 178 * time}.0" y="536.0" text-anchor="middle" {soft}>{time}</text>' for time in range(5)
    ]
    expected += [
        '<line x1="90" y1="280.0" x2="980" y2="280.0" stroke="#b00020" stroke-dasharray="6 4">'
        "<title>lower bound 120 bytes</title></line>",
        '<line x1="90" y1="40" x2="90" y2="520" stroke="black"/>',
        '<line x1="90" y1="520" x2="980" y2="520" stroke="black"/>',
        f'<text x="980.0" y="554.0" text-anchor="end" {soft}>time: the operators in their order</text>',
        '<text transform="translate(16 280) rotate(-90)" text-anchor="middle">bytes</text>',
    ]
    start = lines.index(expected[0])
    assert lines[start : start + len(expected)] == expected


def test_the_legend_goes_on_behind_each_text() -> None:
    """A character is taken for 6.4 wide: 90, then 40 and 27 characters on, 16 and 33 more."""
    soft = 'fill="#5c6877"'
    assert picture(BUFFERS, 80, 0, 160)[-9:-1] == [
        '<rect x="90" y="568" width="12" height="12" rx="2" fill="#e9a23b"/>',
        f'<text x="107.0" y="578.0" text-anchor="start" {soft}>alive at the fullest moment</text>',
        '<rect x="303" y="568" width="12" height="12" rx="2" fill="#a9c7ef"/>',
        f'<text x="319.8" y="578.0" text-anchor="start" {soft}>any other buffer</text>',
        '<rect x="445" y="568" width="12" height="12" rx="2" fill="#b79bd9"/>',
        f'<text x="462.2" y="578.0" text-anchor="start" {soft}>at an offset that the model fixes</text>',
        '<line x1="696" y1="574" x2="720" y2="574" stroke="#b00020" stroke-dasharray="6 4"/>',
        f'<text x="726.4" y="578.0" text-anchor="start" {soft}>lower bound</text>',
    ]


def test_a_narrow_name_stands_upright_and_one_without_room_is_left_out() -> None:
    # 89 moments of 10 each, 480 bytes of 1 each.
    buffers = (
        Buffer(480, 0, 2, name="narrow"),  # 20 wide: upright in its middle, 100 and 280.
        Buffer(480, 2, 3, name="none"),  # 10 wide: less than a line's 12.
        Buffer(480, 3, 89, name="wide"),
    )
    labels = [line.partition("/>")[2] for line in picture(buffers, 0, 0, 0, lower_bound=480) if line.startswith("<g>")]
    assert labels == [
        '<text x="100.0" y="284.0" text-anchor="middle" transform="rotate(-90 100.0 280.0)">narrow</text></g>',
        "</g>",
        '<text x="550.0" y="284.0" text-anchor="middle">wide</text></g>',
    ]


def test_a_picture_of_nothing_is_drawn_too() -> None:
    lines = picture((), lower_bound=0)
    assert plain(lines, "<g>") == []
    assert '<text x="82.0" y="524.0" text-anchor="end" fill="#5c6877">0</text>' in lines
    assert fullest_moment(()) == 0


def test_the_fullest_moment_is_the_first_of_several() -> None:
    assert fullest_moment((Buffer(8, 0, 2), Buffer(8, 2, 4))) == 0
    assert fullest_moment((Buffer(8, 0, 2), Buffer(1, 1, 2), Buffer(9, 2, 4))) == 1
    assert fullest_moment((Buffer(8, -3, 2), Buffer(9, 2, 4))) == 2


@pytest.mark.parametrize(("most", "count", "step"), [
    (0, 8, 1), (8, 8, 1), (9, 8, 2), (16, 8, 2), (17, 8, 5), (40, 8, 5), (41, 8, 10), (80, 8, 10), (81, 8, 20),
    (160, 8, 20), (400, 8, 50), (401, 8, 100),
])  # fmt: skip
def test_steps_are_1_2_and_5_of_a_power_of_ten(most: int, count: int, step: int) -> None:
    assert tick_step(most, count) == step
