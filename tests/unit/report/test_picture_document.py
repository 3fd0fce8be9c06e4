"""A picture survives JSON; a document that is none is refused, whatever is wrong with it."""

from __future__ import annotations

import contextlib
import copy
import io
import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import ModelError
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report.page import write_page
from tflm_sim.report.picture_document import picture_document, read_document
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.schemas.generate import published
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))
SINE = picture_document([take_picture(load(sample_path("sine")), M4)])


@pytest.mark.parametrize("name", SAMPLES)
def test_documents_follow_the_schema_and_come_back_as_they_were(name: str) -> None:
    pictures = [take_picture(load(sample_path(name)), Configuration(preset(t))) for t in ("cortex-m4", "esp32")]
    document = picture_document(pictures)
    jsonschema.validate(document, published("report"))
    assert read_document(json.dumps(document)).pictures == tuple(pictures)


def test_a_failed_run_comes_back_too() -> None:
    pictures = [take_picture(load(sample_path("sine")), M4, arena_size=900)]
    document = picture_document(pictures)
    jsonschema.validate(document, published("report"))
    assert read_document(json.dumps(document)).pictures == tuple(pictures)


def test_hostile_names_are_kept_as_they_are(hostile: Model) -> None:
    pictures = [take_picture(hostile, M4)]
    (again,) = read_document(json.dumps(picture_document(pictures))).pictures
    names = [tensor.name for tensor in hostile.subgraphs[0].tensors]
    assert [row.name for row in again.residents] == names


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"kind": "tflm_sim picture"}', '"text"', "{" * 2000])
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ModelError, match="cannot be read as "):
        read_document(text, path="saved.json")


@pytest.mark.parametrize("change", [lambda rows: rows[:-1], lambda rows: [*rows, 0]])
def test_scopes_and_their_live_bytes_are_as_many(change: Callable[[list[int]], list[int]]) -> None:
    document = copy.deepcopy(SINE)
    document["pictures"][0]["live_bytes"] = change(document["pictures"][0]["live_bytes"])
    with pytest.raises(ModelError, match="numbers of live bytes"):
        read_document(json.dumps(document))


def test_a_remedy_is_without_a_buffer_of_the_picture() -> None:
    document = picture_document([take_picture(load(sample_path("mobilenet_v1_025")), M4)])
    document["pictures"][0]["remedies"][0]["resident"] = 10**6
    with pytest.raises(ModelError, match="a remedy is without the buffer 1000000"):
        read_document(json.dumps(document))


def test_a_document_without_pictures_is_refused() -> None:
    with pytest.raises(ModelError, match="it has no picture"):
        read_document(json.dumps({**SINE, "pictures": []}))


def test_another_version_is_refused() -> None:
    with pytest.raises(ModelError, match="version 1"):
        read_document(json.dumps({**SINE, "schema_version": 2}))


JUNK = st.sampled_from([None, -5, 10**9, "text", [], {}, 1.5, True])


@given(st.data())
def test_a_damaged_document_is_read_or_refused(data: st.DataObject) -> None:
    document = copy.deepcopy(SINE)
    place: Any = document["pictures"][0]
    for _ in range(data.draw(st.integers(1, 3))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        child = place[key]
        if not isinstance(child, (dict, list)) or not child or data.draw(st.booleans()):
            place[key] = data.draw(JUNK)
            break
        place = child
    with contextlib.suppress(ModelError):
        read_document(json.dumps(document))


BOARD = {"board": "a", "target": "esp32", "status": "ok", "arena": 16, "ram": 320, "model_bytes": 9, "flash": 10}
BOARD |= {"may_fit": True, "fits": "if free"}


@pytest.mark.parametrize("change", [{"arena": "16 B"}, {"ram": -1}, {"may_fit": 1}, {"board": None}])
def test_a_row_of_boards_that_is_none_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="cannot be read as a saved picture"):
        read_document(json.dumps({**SINE, "boards": [{**BOARD, **change}]}), path="saved.json")


@pytest.mark.parametrize("size", [0, 1, 320, 2**40])
def test_boards_are_saved_and_drawn_again(size: int) -> None:
    saved = read_document(json.dumps({**SINE, "boards": [{**BOARD, "ram": size}]}), path="saved.json")
    write_page(io.StringIO(), saved.pictures, saved.boards)
