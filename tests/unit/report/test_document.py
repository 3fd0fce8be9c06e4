"""Every document follows the published schema, and its numbers agree with each other."""

from __future__ import annotations

import hashlib
import json

import jsonschema
import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.documents import as_json
from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.report.document import arena_document, error_document, size_document
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.schemas.generate import published
from tflm_sim.targets.presets import PRESETS, preset

M4 = preset("cortex-m4")


def valid(document: object) -> dict:
    """Return the document as it comes back from JSON, checked against the schema."""
    again = json.loads(json.dumps(as_json(document)))
    jsonschema.validate(again, published("size"))
    return again


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("settings", [{}, {"interpreter": "recording"}, {"planner": "linear"}, {"split_arenas": True}])
def test_size_documents(sample: str, settings: dict) -> None:
    path = sample_path(sample)
    document = valid(size_document(simulate(load(path), Configuration(M4, **settings))))
    assert document["model"] == {
        "path": str(path),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "bytes": path.stat().st_size,
    }
    assert document["arena_used_bytes"] == document["head_bytes"] + document["tail_bytes"]
    assert sum(group["used"] for group in document["tail"]["groups"]) == document["tail_bytes"]
    assert max(row["offset"] + -(-row["size"] // 16) * 16 for row in document["buffers"]) == document["head_bytes"]
    assert document["peak"]["live_bytes"] <= document["head_bytes"]


@pytest.mark.parametrize("name", PRESETS)
def test_every_target_is_spelled_out(name: str) -> None:
    document = valid(size_document(simulate(load(sample_path("sine")), Configuration(preset(name)))))
    assert document["target"]["name"] == name


def test_a_model_that_fails_on_the_device() -> None:
    document = valid(size_document(simulate(parse(ModelBuilder().build(inputs=None, outputs=[])), Configuration(M4))))
    assert (document["status"], document["smallest_arena_bytes"], document["buffers"]) == ("abort", None, [])
    assert document["failure"]


def test_a_model_that_we_cannot_read() -> None:
    document = valid(error_document("x.tflite", None, Configuration(M4), ModelError("no", offset=7, path="x.tflite")))
    assert document["model"] == {"path": "x.tflite", "sha256": None, "bytes": None}
    assert document["error"] == {"kind": "ModelError", "message": "x.tflite: no (at byte 7)", "exit_code": 3}


@pytest.mark.parametrize(
    ("arena_size", "fits", "step"), [(600, False, "prepare of FULLY_CONNECTED #0 in subgraph 0"), (4096, True, None)]
)
def test_an_arena_of_a_given_size(arena_size: int, fits: bool, step: str | None) -> None:
    model = load(sample_path("sine"))
    document = valid(arena_document(simulate(model, M4, arena_size=arena_size)))
    assert (document["arena_size"], document["fits"], document["failed_step"]) == (arena_size, fits, step)
