"""SVG, PNG, traces and overlays: well-formed, small, with the numbers of the size report, harmless with any name."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.model_explorer import VALUES, write_model_explorer
from tflm_sim.report.perfetto import write_perfetto
from tflm_sim.report.picture import Picture, is_tail
from tflm_sim.report.shapes import invoke_start, scope_u, shapes
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))
CONTROL = [chr(code) for code in (*range(0x20), 0x7F, 0x202E, 0x2028, 0x2066)]


@pytest.fixture(scope="module")
def residual() -> Picture:
    return take_picture(load(sample_path("residual")), M4)


def svg_of(*pictures: Picture) -> str:
    file = io.StringIO()
    write_svg(file, pictures)
    return file.getvalue()


def test_svg_shows_every_resident_and_runs_nothing(residual: Picture) -> None:
    text = svg_of(residual)
    root = ElementTree.fromstring(text)
    facts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    for row in residual.residents:
        assert any(f"{row.size:,} bytes at {row.offset:,}" in fact for fact in facts)
    assert {element.tag.split("}")[1] for element in root.iter()} <= {
        *("svg", "title", "metadata", "rect", "text", "g", "line"),
        *("defs", "pattern"),
    }


def test_a_picture_of_a_failure_says_so_in_a_banner() -> None:
    picture = take_picture(load(sample_path("residual")), M4, arena_size=1024)
    assert f"AllocateTensors() fails: {picture.failure[:40]}" in svg_of(picture)


def test_the_last_scope_ends_where_the_picture_does_even_when_it_is_the_only_one() -> None:
    builder = ModelBuilder()
    tensor = builder.tensor((1, 8), TensorType.INT8)
    alone = take_picture(parse(builder.build(inputs=[tensor], outputs=[tensor])), Configuration(preset("cortex-m4")))
    assert len(alone.scopes) == 1
    assert (scope_u(alone, 0), scope_u(alone, 1)) == (invoke_start(alone), 1.0)


def test_a_planned_buffers_rectangle_is_its_bytes_and_its_scopes(residual: Picture) -> None:
    planned = {"input", "output", "activation", "scratch"}
    drawn = [(one.start, one.end, one.u0, one.u1) for one in shapes(residual) if one.category in planned]
    assert drawn == [
        (row.offset, row.offset + row.size, scope_u(residual, row.first), scope_u(residual, row.last + 1))
        for row in residual.residents
    ]


def test_svg_puts_two_pictures_side_by_side(residual: Picture) -> None:
    other = take_picture(load(sample_path("residual")), Configuration(preset("esp32")))
    root = ElementTree.fromstring(svg_of(residual, other))
    assert root.attrib["viewBox"] == "0 0 2300 790"  # 2 * 1150


def test_hostile_names_stay_text_in_svg(hostile: Model) -> None:
    text = svg_of(take_picture(hostile, M4))
    ElementTree.fromstring(text)
    assert "<script" not in text
    assert "<img" not in text
    assert not any(character in text for character in CONTROL if character != "\n")


def test_what_is_too_small_to_see_is_merged() -> None:
    builder = ModelBuilder()
    tensor = first = builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0)
    for _ in range(400):
        result = builder.tensor((1, 64), TensorType.INT8, scale=0.5, zero_point=0)
        builder.operator("ADD", [tensor, tensor], [result])
        tensor = result
    picture = take_picture(parse(builder.build(inputs=[first], outputs=[tensor])), M4)
    drawn = len(list(shapes(picture)))
    assert drawn < len(picture.blocks) / 2 + len(picture.residents)


def test_perfetto_counts_to_the_head_and_tail_of_the_report(residual: Picture) -> None:
    file = io.StringIO()
    write_perfetto(file, residual)
    rows = json.loads(file.getvalue())["traceEvents"]
    counters = [row["args"] for row in rows if row["ph"] == "C" and row["name"] == "arena bytes"]
    assert counters[-1]["head"] == residual.size.answer.head_bytes
    assert counters[-1]["tail"] == residual.arena_bytes - residual.tail_start
    kept = [row["args"] for row in rows if row["name"] == "persist"]
    blocks = [block for block in residual.blocks if is_tail(block)]
    assert [one["what"] for one in kept] == [block.label or block.category for block in blocks]
    live = [row["args"]["bytes"] for row in rows if row["ph"] == "C" and row["name"] != "arena bytes"]
    assert tuple(live) == residual.live_bytes
    begun = [row["id"] for row in rows if row["ph"] == "b"]
    assert begun == [row["id"] for row in rows if row["ph"] == "e"] == list(range(len(residual.residents)))
    slices = [row for row in rows if row["ph"] == "X" and row["pid"] == 1]
    assert [row["ts"] + row["dur"] for row in slices[:-1]] == [row["ts"] for row in slices[1:]]


def test_hostile_names_are_escaped_in_traces(hostile: Model) -> None:
    file = io.StringIO()
    write_perfetto(file, take_picture(hostile, M4))
    names = [row["name"] for row in json.loads(file.getvalue())["traceEvents"]]
    assert not any(character in name for name in names for character in CONTROL)
    assert max(map(len, names)) <= 120


@pytest.mark.parametrize("value", VALUES)
def test_model_explorer_has_a_number_for_each_operator(residual: Picture, value: str) -> None:
    file = io.StringIO()
    write_model_explorer(file, residual, value=value)
    (graph,) = json.loads(file.getvalue()).values()
    assert graph["results"].keys() == {str(i) for i in range(len(residual.op_names[0]))}
    assert [item["stop"] for item in graph["gradient"]] == [0, 0.5, 1]
    if value == "live":
        assert max(row["value"] for row in graph["results"].values()) == residual.size.answer.peak.live_bytes
    if value == "tail":
        used = sum(row.used for row in residual.size.answer.tail.ops)
        assert sum(row["value"] for row in graph["results"].values()) == used


def test_png_is_written_where_matplotlib_is(residual: Picture, hostile: Model, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from tflm_sim.report.drawings import write_png

    path = tmp_path / "picture.png"
    write_png(str(path), [residual, take_picture(hostile, M4)])
    assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(UsageError, match="cannot be written"):
        write_png(str(tmp_path / "nowhere" / "picture.png"), [residual])


def test_without_matplotlib_the_extra_is_named(residual: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    from tflm_sim.report.drawings import write_png

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UsageError, match=r" -m pip install 'matplotlib>=3\.8'$"):
        write_png("picture.png", [residual])


def test_figures_of_planners_tail_and_board_have_a_bar_for_each() -> None:
    pytest.importorskip("matplotlib")
    from tflm_sim.answers.head_problem import head_problem
    from tflm_sim.answers.simulation import simulate
    from tflm_sim.planners.compare import compare
    from tflm_sim.report import drawings

    model = load(sample_path("residual"))
    problem = head_problem(simulate(model, preset("cortex-m4")), title="residual")
    comparison = compare(problem.buffers, ("greedy", "linear", "gpu_greedy_by_size"))
    (axes,) = drawings.draw_planners(problem, comparison).axes
    assert len(axes.patches) == 3
    assert axes.xaxis.get_major_formatter()(120_000) == "120,000"
    picture = take_picture(model, M4)
    groups = picture.size.answer.tail.groups
    assert len(drawings.draw_tail(picture).axes[0].patches) == 2 * len(groups)
    assert len(drawings.draw_live_bytes(picture).axes[0].lines) == 2
    assert len(drawings.draw_two_sets({"head": 1, "tail": 2}, {"head": 1, "tail": 3}).axes[0].patches) == 4
