"""The page is one file, asks for nothing, and nothing of a model can become markup or code."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.device.configuration import Configuration
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.report.page import embedded_json, write_page
from tflm_sim.report.page_text import page_texts
from tflm_sim.report.picture_document import picture_document
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

M4 = Configuration(preset("cortex-m4"))


class Elements(html.parser.HTMLParser):
    """Collects the elements of a page, and the text of its scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("type") or tag

    def handle_data(self, data: str) -> None:
        self.texts[self._inside] = self.texts.get(self._inside, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""


def page_of(model: Model) -> tuple[str, Elements]:
    file = io.StringIO()
    write_page(file, [take_picture(model, M4)])
    elements = Elements()
    elements.feed(file.getvalue())
    return file.getvalue(), elements


@pytest.fixture(scope="module")
def sine() -> tuple[str, Elements]:
    return page_of(load(sample_path("sine")))


def test_the_page_embeds_the_document_unchanged(sine: tuple[str, Elements]) -> None:
    picture = take_picture(load(sample_path("sine")), M4)
    document = picture_document([picture])
    embedded = json.loads(sine[1].texts["application/json"])
    assert embedded.pop("page") == json.loads(json.dumps(page_texts([picture])))
    assert embedded == json.loads(json.dumps(document))


def test_nothing_is_fetched(sine: tuple[str, Elements]) -> None:
    text, elements = sine
    assert not [
        attributes for _, attributes in elements.tags if {"src", "href", "srcset", "action"} & attributes.keys()
    ]
    assert not re.findall(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|import\(", text)


def test_the_policy_allows_exactly_the_script_and_the_style(sine: tuple[str, Elements]) -> None:
    (policy,) = [a["content"] or "" for t, a in sine[1].tags if t == "meta" and "http-equiv" in a]
    for kind, directive in (("script", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256(sine[1].texts[kind].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_hostile_names_add_no_element(hostile: Model, sine: tuple[str, Elements]) -> None:
    text, elements = page_of(hostile)
    assert [tag for tag, _ in elements.tags] == [tag for tag, _ in sine[1].tags]
    assert "hacked" not in re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert not set(text) & {"\u202e", "\u2028", "\u2066", "\x1b", "\x00"}
    names = json.loads(elements.texts["application/json"])["strings"]
    assert "<script>window.hacked = true</script>" in names


@pytest.mark.slow
@given(st.text())
def test_any_text_survives_in_a_script_element(text: str) -> None:
    embedded = embedded_json({"name": text})
    assert json.loads(embedded) == {"name": text}
    assert not set(embedded) & set("<>&\u2028\u2029")


def test_without_scripts_the_answer_is_still_there(sine: tuple[str, Elements]) -> None:
    assert "sine.tflite on cortex-m4" in sine[0].split("<noscript>")[1]
    size = json.loads(sine[1].texts["application/json"])["pictures"][0]["size"]["smallest_arena_multiple_of_16"]
    assert f"{size:,} B" in sine[0].split("<noscript>")[1]
