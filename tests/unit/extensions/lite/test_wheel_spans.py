"""What each kernel of LiteRT lets its arenas span, as the wheel said of models of ``tests/oracle/lite_*models.py``.

``tests/oracle/test_lite_wheel.py`` asks the wheel itself, of many more models.
"""

from __future__ import annotations

import json
from pathlib import Path

import lite_rare_models  # noqa: F401 - its recipes, too
import pytest
from lite_models import random_model

from tflm_sim.extensions.lite.answer import LiteSettings, allocated, machine_document
from tflm_sim.model.load import parse

SPANS = json.loads(Path(__file__).with_name("wheel_spans.json").read_text("utf-8"))
"""Of each recipe, for seeds 0 to 3: bytes of the arena and of the persistent one of each subgraph, or what fails."""


@pytest.mark.parametrize("recipe", SPANS)
def test_the_arenas_span_as_many_bytes_as_the_wheels(recipe: str) -> None:
    for seed, spans in enumerate(SPANS[recipe]):
        found = machine_document("", allocated(parse(random_model(seed, recipe)[1]), LiteSettings()))
        ours = [[graph.arena_rw_span, graph.persistent_span] for graph in found.subgraphs]
        assert ("".join(found.errors) or ours) == spans, seed
