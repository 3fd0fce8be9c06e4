"""Figures: what is drawn where, in the coordinates of their axes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.report import drawings
from tflm_sim.report.picture import Picture

Make = Callable[..., Picture]


def to_hex(color: Any) -> str:
    """Return a colour as "#rrggbb"."""
    from matplotlib.colors import to_hex  # a third of a second, for all who collect tests

    return to_hex(color)


def texts(axes: Any) -> list[tuple[float, float, str]]:
    """Return the texts of axes: x, y and the words."""
    return [(*map(float, text.get_position()), text.get_text()) for text in axes.texts]


def test_rectangles_labels_and_marks_are_in_bytes_and_time(small_picture: Make) -> None:
    figure = drawings.draw_arena(small_picture())
    (axes,) = figure.axes
    assert tuple(figure.get_size_inches()) == (11, 6.5)
    boxes = [path.get_extents().bounds for path in axes.collections[0].get_paths()]
    assert [tuple(round(float(value), 4) for value in box) for box in boxes] == [
        (0, 0, 4096, 1),
        (0, 0.068, 512, 0.102),
        (4000, 0.034, 96, 0.966),
        (3000, 0.136, 1000, 0.864),
        (0, 0.34, 1000, 0.66),
        (1008, 0.67, 500, 0.33),
        (1520, 0.67, 100, 0.33),
    ]
    assert to_hex(axes.collections[0].get_facecolors()[0]) == "#eef1f5"
    assert to_hex(axes.collections[0].get_edgecolors()[0]) == "#ffffff"
    # A label begins three thousandths of the width behind its rectangle: 12.288 of 4,096.
    labels = [(round(x, 3), round(y, 4), text) for x, y, text in texts(axes)]
    meaning = "framed: fullest in #0 RELU, 1,632 B alive\ndashed: tightest, which decides the arena's size"
    assert labels == [(12.288, 0.505, "in"), (1020.288, 0.835, "tensor 1"), (0, 5, meaning)]
    (frame,) = axes.patches
    assert frame.get_bbox().bounds == pytest.approx((0, 0.67, 1632, 0.33))
    # The tightest step is the eighth of ten: its middle is at 8.5 / 10 of 0.34. Invoke() starts at 0.34.
    assert [line.get_ydata()[0] for line in axes.lines] == pytest.approx([0.289, 0.34])
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 4096), (1, 0))


def test_the_axes_name_kibibytes_scopes_and_moments(small_picture: Make) -> None:
    (axes,) = drawings.draw_arena(small_picture()).axes
    assert [round(float(place), 4) for place in axes.get_yticks()] == [0, 0.204, 0.272, 0.505, 0.835]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["create", "prepare", "plan", "inputs", "#0 RELU"]
    formatter = axes.xaxis.get_major_formatter()
    assert [formatter(value) for value in (0, 512, 1536)] == ["0", "512", "1,536"]
    assert axes.get_title(loc="left") == "m.tflite: arena of 4,096 B: head 1,632, tail 1,096\na title"
    (axes,) = drawings.draw_arena(small_picture(arena_bytes=16_384)).axes
    assert [axes.xaxis.get_major_formatter()(value) for value in (0, 10_240)] == ["0 K", "10 K"]


def test_pictures_side_by_side_have_one_scale_and_a_legend_of_what_they_show(small_picture: Make) -> None:
    wide = small_picture(arena_bytes=8192, residents=(), live_bytes=(), scopes=(), limits=())
    figure = drawings.draw_arena([small_picture(), wide], width=5, height=4)
    assert tuple(figure.get_size_inches()) == (10, 4)
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim() == (0, 8192)
    assert first.get_gridspec().get_geometry() == (1, 2)
    assert first.get_subplotspec().colspan.start == 0
    assert second.get_subplotspec().colspan.start == 1
    assert (len(second.patches), len(second.lines)) == (0, 1)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == [
        "inputs",
        "outputs",
        "scratch buffers",
        "temporary, in Prepare",
        "eval tensors",
        "allocator objects",
    ]


def test_live_bytes_are_steps_in_kibibytes_below_the_head(small_picture: Make) -> None:
    figure = drawings.draw_live_bytes([small_picture(), small_picture(live_bytes=(0, 512), residents=())])
    (axes,) = figure.axes
    assert tuple(figure.get_size_inches()) == (11, 3.6)
    assert [list(line.get_ydata()) for line in axes.lines] == [
        [1008 / 1024, 1632 / 1024],
        [1632 / 1024] * 2,
        [0, 0.5],
        [0, 0],
    ]
    assert axes.get_ylim() == pytest.approx((0, 1.25 * 1632 / 1024))
    (axes,) = drawings.draw_live_bytes(small_picture(residents=())).axes
    assert axes.get_ylim() == pytest.approx((0, 1.25 / 1024))


def group(what: str, requested: int, used: int) -> Any:
    return SimpleNamespace(what=what, requested=requested, used=used)


def test_the_tail_is_bars_with_their_padding_the_longest_on_top(small_picture: Make) -> None:
    groups = (group("eval tensors", 90, 100), group("kernel data", 20, 20))
    size: Any = SimpleNamespace(answer=SimpleNamespace(tail=SimpleNamespace(groups=groups)))
    figure = drawings.draw_tail(small_picture(size=size))
    (axes,) = figure.axes
    assert tuple(figure.get_size_inches()) == (9, 3.6)
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [(0, 20), (0, 90), (20, 0), (90, 10)]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == ["#84a37a", "#7a9064", "#d9dee6", "#d9dee6"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["kernel data", "eval tensors"]
    assert [(text.xy, text.get_text()) for text in axes.texts] == [((20, 0), " 20"), ((100, 1), " 100")]
    assert axes.margins()[0] == 0.1


def outcome(planner: str, peak: int | None, *findings: str) -> Any:
    plan = None if peak is None else SimpleNamespace(peak=peak)
    return SimpleNamespace(planner=planner, plan=plan, findings=findings)


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(drawings, "expect", lambda *_: None)
    rows = [outcome("greedy", 5000), outcome("best", 4000), outcome("none", None), outcome("unsound", 1, "it overlaps")]
    return SimpleNamespace(outcomes=rows, lower_bound=3000)


def test_sound_plans_are_bars_the_largest_below_and_the_bound_is_a_line(comparison: Any) -> None:
    (axes,) = drawings.draw_planners(SimpleNamespace(title="p"), comparison).axes  # type: ignore[arg-type]
    assert [bar.get_width() for bar in axes.patches] == [5000, 4000]
    assert [to_hex(bar.get_facecolor()) for bar in axes.patches] == ["#005d96", "#007bb8"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["greedy", "best"]
    assert [(text.xy, text.get_text()) for text in axes.texts] == [((5000, 0), " 5,000"), ((4000, 1), " 4,000")]
    assert list(axes.lines[0].get_xdata()) == [3000, 3000]
    assert axes.get_title(loc="left") == "p: bytes of the head (dashed: lower bound 3,000)"
    (axes,) = drawings.draw_planners(SimpleNamespace(title=""), comparison).axes  # type: ignore[arg-type]
    assert axes.get_title(loc="left") == "bytes of the head (dashed: lower bound 3,000)"


def test_two_sets_are_pairs_of_bars_with_what_the_board_has_more() -> None:
    (axes,) = drawings.draw_two_sets({"head": 10, "tail": 7, "x": 1}, {"tail": 5, "head": 10, "y": 1}).axes
    bars = [(round(bar.get_y() + bar.get_height() / 2, 3), bar.get_width()) for bar in axes.patches]
    assert bars == [(0.2, 10), (1.2, 7), (-0.2, 10), (0.8, 5)]
    assert {round(bar.get_height(), 3) for bar in axes.patches} == {0.38}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["head", "tail"]
    assert [(text.xy, text.get_text()) for text in axes.texts] == [((10, 0), " equal"), ((7, 1), " -2")]


@pytest.mark.parametrize("inches", [0, -1, 1000.5, float("nan")])
def test_a_figure_has_a_size_of_at_most_a_thousand_inches(small_picture: Make, inches: float) -> None:
    with pytest.raises(UsageError, match=r"^a figure is more than 0 and at most 1000 inches wide and high, not "):
        drawings.draw_arena(small_picture(), width=inches)
    with pytest.raises(UsageError, match="inches"):
        drawings.draw_live_bytes(small_picture(), height=inches)


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^there is no picture to draw$"):
        drawings.draw_arena([])
    with pytest.raises(UsageError, match=r"^a picture \(take_picture\(model, target\) returns one\) was expected"):
        drawings.draw_arena([5])  # type: ignore[list-item]


def test_a_backend_that_there_is_not_is_one_sentence(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tflm_sim", "report", "sample:sine", "-o", str(tmp_path / "r.png")]
    result = subprocess.run(argv, env={**os.environ, "MPLBACKEND": "nonsense"}, capture_output=True, check=False)
    assert result.returncode == 2
    assert b"matplotlib does not start: " in result.stderr
    assert b"Traceback" not in result.stderr
