"""Traces and overlays of a picture made by hand."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.provenance import made_by
from tflm_sim.report.model_explorer import write_model_explorer
from tflm_sim.report.perfetto import write_perfetto
from tflm_sim.report.picture import Level, Limit, Moment, Picture, Resident

Make = Callable[..., Picture]


@pytest.fixture
def picture(small_picture: Make) -> Picture:
    ops = (SimpleNamespace(subgraph=0, operator=0, used=7),)
    answer = SimpleNamespace(head_bytes=1632, tail_bytes=1096, tail=SimpleNamespace(ops=ops))
    size: Any = SimpleNamespace(model=SimpleNamespace(path="m"), answer=answer)
    return small_picture(size=size, title="t" * 201, levels=(Level(2, 100, 612, 96),))


def trace(picture: Picture) -> dict[str, Any]:
    file = io.StringIO()
    write_perfetto(file, picture)
    assert file.getvalue().startswith('{"displayTimeUnit":"ms","otherData":{')
    assert file.getvalue().endswith("}\n]}\n")
    document: dict[str, Any] = json.loads(file.getvalue())
    return document


def test_the_trace_is_what_the_arithmetic_says(picture: Picture) -> None:
    document = trace(picture)
    assert document["otherData"] == {
        "tflm_sim": made_by(),
        "picture": "…" + "t" * 199,
        "arena_bytes": 4096,
        "head_bytes": 1632,
        "tail_bytes": 1096,
        "unit of time": "one allocation event or operator is shown as one microsecond",
    }
    named = [(row["pid"], row["tid"], row["name"], row["args"]["name"]) for row in document["traceEvents"][:4]]
    assert named == [
        (1, 1, "process_name", "AllocateTensors()"),
        (2, 1, "process_name", "Invoke()"),
        (1, 1, "thread_name", "phases and operators"),
        (2, 1, "thread_name", "operators"),
    ]
    slices = [row for row in document["traceEvents"] if row["ph"] == "X"]
    assert [(row["pid"], row["tid"], row["ts"], row["dur"], row["name"]) for row in slices] == [
        (1, 1, 0, 4, "create"),
        (1, 1, 4, 2, "eval tensors"),
        (1, 1, 6, 2, "prepare of #0 RELU"),
        (1, 1, 8, 2, "plan"),
        (2, 1, 10, 1, "inputs"),
        (2, 1, 11, 1, "#0 RELU"),
    ]
    kept = [row for row in document["traceEvents"] if row["ph"] == "i"]
    assert [(row["pid"], row["tid"], row["ts"], row["args"]) for row in kept] == [
        (1, 1, 1, {"bytes": 96, "offset": 4000, "what": "objects"}),
        (1, 1, 4, {"bytes": 1000, "offset": 3000, "what": "eval tensors"}),
    ]
    counters = [(row["pid"], row["ts"], row["args"]) for row in document["traceEvents"] if row["ph"] == "C"]
    assert counters == [
        (1, 2, {"head": 100, "temp": 512, "tail": 96}),
        (2, 10, {"bytes": 1008}),
        (2, 11, {"bytes": 1632}),
    ]
    buffers = [row for row in document["traceEvents"] if row["ph"] in "be"]
    assert [(row["pid"], row["tid"], row["id"], row["ph"], row["ts"], row["name"]) for row in buffers] == [
        (2, 2, 0, "b", 10, "in"),
        (2, 2, 0, "e", 12, "in"),
        (2, 2, 1, "b", 11, "buffer 1"),
        (2, 2, 1, "e", 12, "buffer 1"),
        (2, 2, 2, "b", 11, "buffer 2"),
        (2, 2, 2, "e", 12, "buffer 2"),
    ]
    assert buffers[4]["args"] == {"bytes": 100, "offset": 1520, "shares_bytes_with": 2}


def test_a_graph_is_laid_over_with_numbers(picture: Picture) -> None:
    def overlay(picture: Picture, value: str) -> Any:
        file = io.StringIO()
        write_model_explorer(file, picture, value=value)
        assert file.getvalue().startswith('{\n "main": {')
        assert file.getvalue().endswith("}\n")
        return json.loads(file.getvalue())["main"]

    assert [overlay(picture, value)["results"]["0"]["value"] for value in ("live", "scratch", "tail")] == [1632, 100, 7]
    assert [row["stop"] for row in overlay(picture, "live")["gradient"]] == [0, 0.5, 1]
    assert len(overlay(picture, "live")["name"]) == 120


def test_scratch_buffers_of_an_operator_are_summed_and_runs_of_one_give_the_most(small_picture: Make) -> None:
    rows = (Resident("scratch", "", 0, 0, 0, 100, 0, 0, 0, 0), Resident("scratch", "", 0, 1, 0, 20, 0, 0, 0, 0))
    tensors = (Resident("input", "", 0, 0, -1, 5, 0, 0, 0, 0),)
    picture = small_picture(
        residents=(*rows, *tensors), scopes=((0, 0), (0, 0), (0, 0)), live_bytes=(16, 48, 32), op_names=(("A", "B"),)
    )
    for value, results in (("scratch", [120, 0]), ("live", [48, 0])):
        file = io.StringIO()
        write_model_explorer(file, picture, value=value)
        found = json.loads(file.getvalue())["main"]["results"]
        assert [found[str(index)]["value"] for index in range(2)] == results


def test_what_a_picture_says_of_itself(small_picture: Make) -> None:
    picture = small_picture()
    assert (picture.peak_scope, picture.head_bytes, picture.tail_start) == (1, 1520 + 112, 3000)
    assert [row.number for row in picture.alive(0)] == [0]
    assert [row.number for row in picture.alive(1)] == [0, 1, 7]
    bare = small_picture(live_bytes=(), residents=(), blocks=())
    assert (bare.peak_scope, bare.head_bytes, bare.tail_start) == (-1, 0, 4096)
    assert Limit("running", 5, 7, 0).need == 12
    several = small_picture(op_names=(("A",), ("B",)), scopes=((0, -1), (0, 0), (1, -1), (1, 0)))
    assert [several.op_at(scope) for scope in range(4)] == [
        "inputs", "#0 A", "inputs of subgraph 1", "#0 B of subgraph 1",
    ]  # fmt: skip
    assert several.moment_name(Moment("op_init", 1, 0, 0)) == "init of #0 B of subgraph 1"
    assert several.moment_name(Moment("eval_tensors", -1, -1, 0)) == "eval tensors"
    long = repr(small_picture(title="t" * 200))
    assert (len(long), long[:12], long[-12:]) == (160 + len("<Picture of >"), "<Picture of ", " in 4,096 B>")
