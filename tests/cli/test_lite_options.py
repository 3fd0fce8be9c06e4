"""``lite``: which options go together, and which input and shape a text names."""

from __future__ import annotations

import argparse
from typing import Any

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.lite import cli as lite
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType


def args(**given: Any) -> argparse.Namespace:
    names = ("jsonl", "map", "output", "json", "delegate", "half", "earlier_planners")
    return argparse.Namespace(**{**dict.fromkeys(names), "threads": 1, "storage": "buffer", "models": ["m"], **given})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"threads": 2**31 - 1},
        {"delegate": "gpu", "half": True, "storage": "texture_2d"},
        {"delegate": "flex", "json": True},
        {"earlier_planners": True},
        {"models": ["m", "n"]},
        {"models": ["m", "n"], "jsonl": True},
        {"json": True},
        {"output": "o.svg"},
    ],
)
def test_what_goes_together_is_taken(given: dict[str, Any]) -> None:
    lite._refuse_contradictions(args(**given))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"threads": 0}, "--threads 0: at least 1, at most 2,147,483,647"),
        ({"threads": 2**31}, "--threads 2147483648: at least 1, at most 2,147,483,647"),
        ({"delegate": "xnnpack"}, "--delegate xnnpack: it is not modelled"),
        ({"delegate": "gpu", "map": True}, "it draws nothing"),
        ({"delegate": "flex", "half": True}, "--half goes with --delegate gpu"),
        ({"storage": "texture_2d"}, "--storage goes with --delegate gpu"),
        ({"earlier_planners": True, "json": True}, "--earlier-planners adds a line"),
        ({"earlier_planners": True, "map": True}, "--earlier-planners adds a line"),
        ({"earlier_planners": True, "delegate": "gpu"}, "--earlier-planners adds a line"),
        ({"json": True, "models": ["m", "n"]}, "one model at a time"),
        ({"output": "o", "models": ["m", "n"]}, "one model at a time"),
    ],
)
def test_what_does_not_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as failure:
        lite._refuse_contradictions(args(**given))
    assert words in str(failure.value)


def model() -> Model:
    builder = ModelBuilder()
    _, a, b, c = (builder.tensor((1, 4), TensorType.INT8, name=name) for name in ("idle", "a", "7", "c"))
    builder.operator("ADD", [a, b], [c])
    return parse(builder.build(inputs=[a, b], outputs=[c]))


@pytest.mark.parametrize(
    ("text", "index", "shape"),
    [
        ("a=1,96,96,3", 1, (1, 96, 96, 3)),
        ("0=2x4", 1, (2, 4)),
        ("1=2147483647", 2, (2**31 - 1,)),
        ("7=", 2, ()),
        ("a=0", 1, (0,)),
    ],
)
def test_an_input_is_named_by_its_name_or_number(text: str, index: int, shape: tuple[int, ...]) -> None:
    assert lite._resized(model(), text) == (index, shape)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a", "write NAME=SHAPE with an input's name or number"),
        ("2=1", "no input is called '2'; there is 'a', '7'"),
        ("c=1", "no input is called 'c'; there is 'a', '7'"),
        ("idle=1", "no input is called 'idle'"),
        ("a=1,,2", "write the shape as numbers with commas"),
        ("a=-1", "write the shape as numbers with commas"),
        ("a=2147483648", "write the shape as numbers with commas"),
    ],
)
def test_what_names_none_is_told_why(text: str, words: str) -> None:
    with pytest.raises(UsageError) as failure:
        lite._resized(model(), text)
    assert words in str(failure.value)
