"""The picture of a sweep, in pixels worked out by hand.

The plot is 860 wide: 100 on the left, 44 on the right, so that two powers of ten are 716 / 2 = 358 each. Its height is
532 below the legend (29, and 15 for each line of five names): here 576, of which 76 are below the lower edge. From 500
up to 44 two powers of ten are 228 each.
"""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.answers.rows import Row
from tflm_sim.extensions.sweep.plot import pareto, plot_svg

ROWS = [
    Row("a", target="t1", model_bytes=1_000, multiple_of_16=10_000),
    Row("c", target="t1", model_bytes=10_000, multiple_of_16=1_000),
    Row("d", target="t1", model_bytes=10_000, multiple_of_16=10_000),
    Row("b", target="t1", board="b2", model_bytes=100_000, multiple_of_16=100),
    Row("no arena", target="t1", model_bytes=100_000),
    Row("no size", target="t1", multiple_of_16=100),
]
ROWS = [replace(row, runtime="90b983c2b", kernels=f"k{row.target}", version="0.3.0 (abc)") for row in ROWS]
PLOT = [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 576" font-family="sans-serif" font-size="12" '
    'role="img" aria-label="4 dots"><rect width="100%" height="100%" fill="#fff"/>',
    '<line x1="100.0" x2="100.0" y1="44" y2="500" stroke="#d9dee6"/>',
    '<text x="100.0" y="518" text-anchor="middle">100</text>',
    '<line x1="458.0" x2="458.0" y1="44" y2="500" stroke="#d9dee6"/>',
    '<text x="458.0" y="518" text-anchor="middle">1,000</text>',
    '<line x1="816.0" x2="816.0" y1="44" y2="500" stroke="#d9dee6"/>',
    '<text x="816.0" y="518" text-anchor="middle">10,000</text>',
    '<line x1="100" x2="816" y1="500.0" y2="500.0" stroke="#d9dee6"/>',
    '<text x="94" y="504.0" text-anchor="end">1,000</text>',
    '<line x1="100" x2="816" y1="272.0" y2="272.0" stroke="#d9dee6"/>',
    '<text x="94" y="276.0" text-anchor="end">10,000</text>',
    '<line x1="100" x2="816" y1="44.0" y2="44.0" stroke="#d9dee6"/>',
    '<text x="94" y="48.0" text-anchor="end">100,000</text>',
    '<text x="816" y="555" text-anchor="end" fill="#566373">A line joins the models of a colour that no other '
    "one beats in both. Point at a dot for its name.</text>",
    '<text x="458.0" y="535" text-anchor="middle" fill="#566373">arena, bytes</text>',
    '<text x="16" y="272.0" transform="rotate(-90 16 272.0)" text-anchor="middle" fill="#566373">file, bytes</text>',
    '<polyline points="458.0,272.0 816.0,500.0" fill="none" stroke="#005d96" stroke-opacity=".45"/>',
    '<circle cx="816.0" cy="500.0" r="3.5" fill="#005d96" fill-opacity=".75"><title>a on t1: 10,000 B</title></circle>',
    '<circle cx="458.0" cy="272.0" r="3.5" fill="#005d96" fill-opacity=".75"><title>c on t1: 1,000 B</title></circle>',
    '<circle cx="816.0" cy="272.0" r="3.5" fill="#005d96" fill-opacity=".75"><title>d on t1: 10,000 B</title></circle>',
    '<circle cx="108" cy="14" r="4" fill="#005d96"/>',
    '<text x="116" y="18">t1</text>',
    '<polyline points="100.0,44.0" fill="none" stroke="#b35a00" stroke-opacity=".45"/>',
    '<circle cx="100.0" cy="44.0" r="3.5" fill="#b35a00" fill-opacity=".75"><title>b on b2: 100 B</title></circle>',
    '<circle cx="258" cy="14" r="4" fill="#b35a00"/>',
    '<text x="266" y="18">b2</text>',
    '<text x="16" y="571" fill="#566373">TFLM 90b983c2b; kernels kt1; tflm_sim 0.3.0 (abc)</text>',
    "</svg>",
    "",
]


def test_dots_lines_and_legend_are_where_they_belong() -> None:
    assert plot_svg(ROWS).split("\n") == PLOT


def test_against_work_the_axis_says_so() -> None:
    svg = plot_svg([Row("a", macs=1_000, multiple_of_16=16)], against="macs")
    assert ">multiply-accumulates</text>" in svg
    assert "1 dots" in svg


def test_without_an_arena_the_middle_says_so() -> None:
    assert '<text x="430.0" y="288.0" text-anchor="middle">no model has an arena</text>' in plot_svg([])
    assert "TFLM" not in plot_svg([])


def test_the_front_has_the_lowest_of_each_step_once() -> None:
    assert pareto([(2, 5), (1, 9), (2, 4), (3, 4), (4, 3), (4, 3)]) == [(1, 9), (2, 4), (4, 3)]
