"""Answers about lifetimes: of a chain a -> b -> c -> d of RELUs, and of the samples."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from tflm_sim.checks.lifetime_answers import Lifetimes, cost_of_preserving, lifetimes
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.report.lifetime_text import after_invoke, overview_lines, preservation_line, tensor_lines, timeline_lines
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

CONFIG = Configuration(preset("cortex-m4", kernels="reference"))


def named_chain(*names: str) -> Model:
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 16), TensorType.INT8, scale=0.5, name=name) for name in names]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    return parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]]))


def lives_of(*names: str) -> Lifetimes:
    return lifetimes(named_chain(*names), CONFIG)


def test_where_and_when_a_tensor_lives() -> None:
    life = lives_of("a", "b", "c", "d").find("b")
    assert (life.home, life.size, life.first, life.last, life.is_persistent) == ("head", 16, 1, 2, False)


@pytest.mark.parametrize(("what", "index"), [("c", 2), (2, 2), ("2", 2), ("0:2", 2), ("input", 0), ("output:0", 3)])
def test_ways_to_name_a_tensor(what: str | int, index: int) -> None:
    assert lives_of("a", "b", "c", "d").find(what).buffer.index == index


def test_a_name_that_is_not_there_gets_a_hint() -> None:
    with pytest.raises(UsageError, match="did you mean conv1"):
        lives_of("input_1", "conv1").find("conv")


def test_a_name_that_two_tensors_have_is_ambiguous() -> None:
    with pytest.raises(UsageError, match=r"2 tensors are named 'x'; say which: 0:0, 0:2"):
        lives_of("x", "b", "x").find("x")


def test_a_name_like_no_other_is_answered_with_the_numbers_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"no tensor 'zzz'; there are 0 to 2$"):
        lives_of("conv", "pool", "dense").find("zzz")


@pytest.mark.parametrize("what", ["9", "input:1", "1:0"])
def test_an_index_that_is_not_there(what: str) -> None:
    with pytest.raises(UsageError, match="the model has no tensor"):
        lives_of("a", "b").find(what)


def test_scopes_of_an_operator_by_index_and_by_name() -> None:
    lives = lives_of("a", "b", "c")
    assert (lives.scopes_of(1), lives.scopes_of("0:1"), lives.scopes_of("RELU")) == ([2], [2], [1, 2])
    with pytest.raises(UsageError, match="no operator 'CONV_2D' runs in this model; there are RELU"):
        lives.scopes_of("CONV_2D")


def test_who_shares_memory_and_when() -> None:
    lives = lives_of("a", "b", "c", "d")
    shared = lives.sharing(lives.find("a"))
    assert [(row.other.name, row.other.first, row.end - row.start) for row in shared] == [("c", 2, 16)]


def test_the_input_is_gone_after_invoke_and_the_output_is_there() -> None:
    lives = lives_of("a", "b", "c", "d")
    over = lives.overwritten_by(lives.find("a"))
    assert over is not None
    assert over.other.name == "c"
    assert lives.overwritten_by(lives.find("d")) is None
    assert after_invoke(lives, lives.find("a")).startswith("gone after Invoke(): RELU #1 overwrites bytes ")
    assert after_invoke(lives, lives.find("output")) == "still there after Invoke()"


def test_keeping_a_tensor_costs_its_bytes_where_nothing_is_free() -> None:
    # Two buffers of 16 are alive at a time; with "a" kept there are three.
    cost = cost_of_preserving(named_chain("a", "b", "c", "d"), CONFIG, [(0, 0)])
    assert (cost.head_before, cost.head_after) == (32, 48)
    assert cost.cost == cost.after - cost.before >= 0


def test_keeping_the_output_costs_nothing() -> None:
    assert cost_of_preserving(named_chain("a", "b", "c", "d"), CONFIG, [(0, 3)]).cost == 0


def test_keeping_every_tensor_is_the_linear_planner() -> None:
    cost = cost_of_preserving(named_chain("a", "b", "c", "d"), CONFIG, None)
    assert (cost.head_before, cost.head_after) == (32, 4 * 16)
    recording = Configuration(CONFIG.target, "recording")
    assert cost_of_preserving(named_chain("a", "b", "c", "d"), recording, None) == cost


def test_what_keeping_costs_is_asked_of_one_arena() -> None:
    with pytest.raises(UsageError, match="one arena"):
        cost_of_preserving(named_chain("a", "b"), Configuration(CONFIG.target, split_arenas=True), [(0, 0)])


def test_a_model_that_fails_has_no_lifetimes() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8) for _ in range(2))
    builder.custom("NobodyLinksThis", [a], [b])
    with pytest.raises(SimulatedFailure):
        lifetimes(parse(builder.build(inputs=[a], outputs=[b])), CONFIG)


def test_constants_and_variables_persist() -> None:
    builder = ModelBuilder()
    a, b = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.tensor((1, 16), TensorType.INT8, scale=0.5, name="state", is_variable=True)
    builder.tensor((2,), TensorType.INT32, data=[1, 2], name="constant")
    builder.operator("ADD", [a, 2], [b])
    lives = lifetimes(parse(builder.build(inputs=[a], outputs=[b])), CONFIG)
    assert [(lives.find(name).home, lives.find(name).is_persistent) for name in ("state", "constant", "input")] == [
        ("tail", True),
        ("flash", True),
        ("head", False),
    ]
    # ADD is scope 1, after the start; both are there from the start to the end.
    assert [(lives.find(name).first, lives.find(name).last) for name in ("state", "constant", 1)] == [
        (0, 1),
        (0, 1),
        (1, 1),
    ]
    assert tensor_lines(lives, lives.find("constant"))[1] == "    in flash, with the model: the arena has no copy"


def test_the_picture() -> None:
    lives = lives_of("a", "b", "c")
    rows = [lives.find(name) for name in "abc"]
    assert timeline_lines(lives, rows, mark=1) == [
        "tensor 0 (a)  [0 .. 16)   ##.",
        "tensor 1 (b)  [16 .. 32)  .##",
        "tensor 2 (c)  [0 .. 16)   ..#",
        "                           ^ RELU #0",
    ]


def test_a_long_model_gets_several_scopes_to_a_column() -> None:
    lives = lives_of(*(f"t{i}" for i in range(101)))
    lines = timeline_lines(lives, [lives.find("t0"), lives.find("t100")])
    assert lines[-1] == "(101 scopes, 2 to a column)"
    assert [line[-51:].count("#") for line in lines[:2]] == [1, 1]


def test_names_from_strangers_stay_on_their_line() -> None:
    lives = lives_of("a\n\x1b[31m", "b")
    assert all("\x1b" not in line and "\n" not in line for line in overview_lines(lives))


def test_the_sentence_about_a_cost() -> None:
    model = load(sample_path("keyword_spotter"))
    lives = lifetimes(model, CONFIG)
    assert lives.find("input").size == 490
    line = preservation_line("tensor 1", cost_of_preserving(model, CONFIG, [(0, 1)]))
    assert line.startswith("keeping tensor 1 to the end of Invoke() costs 8,000 B: the smallest arena goes from ")


def test_in_a_notebook_a_buffer_has_its_name_or_else_its_number() -> None:
    shown = lives_of("first", "")._repr_html_()
    assert ">first</th>" in shown
    assert ">tensor 1</th>" in shown
    cells = [re.findall(r"<td[^>]*>([^<]*)</td>", row)[:2] for row in shown.splitlines() if "<td" in row]
    assert cells == [["16 B", "0"], ["16 B", "16"]] or cells == [["16 B", "16"], ["16 B", "0"]]
