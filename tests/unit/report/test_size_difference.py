"""A difference has every byte that changed, names who took it, and adds up."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.documents import as_json, from_json
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import TensorType
from tflm_sim.report import difference_text
from tflm_sim.report.difference_text import difference_lines as lines_of_difference
from tflm_sim.report.document import SizeDocument, size_document
from tflm_sim.report.size_answer import Tail
from tflm_sim.report.size_difference import (
    Difference,
    SettingChange,
    SizeChange,
    _settings,
    difference_document,
    read_size_document,
)
from tflm_sim.report.size_difference import growth as difference_growth
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.schemas.generate import published
from tflm_sim.targets.presets import preset

Document = dict[str, Any]


def plain(simulation: Simulation) -> Document:
    """Return a size document as it comes back from JSON."""
    document: Document = json.loads(json.dumps(as_json(size_document(simulation))))
    return document


def size(sample: str, machine: str = "cortex-m4", kernels: str | None = None, **settings: Any) -> Document:
    simulation = simulate(load(sample_path(sample)), Configuration(preset(machine, kernels=kernels), **settings))
    return plain(simulation)


def difference(before: Document, after: Document) -> Document:
    """Return the difference as it comes back from JSON, checked against the schema."""
    sides = (from_json(SizeDocument, side) for side in (before, after))
    document: Document = json.loads(json.dumps(as_json(difference_document(*sides))))
    jsonschema.validate(document, published("diff"))
    return document


def test_a_change_of_the_arena_is_the_sum_of_head_tail_and_set_up() -> None:
    found = from_json(Difference, difference(size("residual"), size("residual", "esp32-s3")))
    # 55,008 -> 102,080; head 49,728 -> 96,832; tail 5,268 -> 5,244.
    said = "+47,072 B = head +47,104 B, tail -24 B, set-up and alignment -8 B"
    assert difference_text.change_of_arena(found) == said
    same = from_json(Difference, difference(size("sine"), size("sine")))
    assert difference_text.change_of_arena(same) == ""


def growth(document: Document) -> int | None:
    return difference_growth(from_json(Difference, document))


def difference_lines(document: Document) -> list[str]:
    return lines_of_difference(from_json(Difference, document))


def relus(*sizes: int) -> Document:
    builder = ModelBuilder()
    tensors = [builder.tensor((1, count), TensorType.INT8, scale=0.5, name=f"t{i}") for i, count in enumerate(sizes)]
    for a, b in pairwise(tensors):
        builder.operator("RELU", [a], [b])
    model = parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]]))
    return plain(simulate(model, Configuration(preset("cortex-m4", kernels="reference"))))


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_changed_between_equals(sample: str) -> None:
    document = difference(size(sample), size(sample))
    changed = ("changed_settings", "categories", "recorded", "ops", "scratch", "tensors")
    assert [document[key] for key in changed] == [[]] * 6
    assert {row["bytes"] for row in document["figures"]} == {0}
    assert growth(document) == 0
    assert not any(line.startswith(("scratch", "tail, by")) for line in difference_lines(document))


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_categories_and_operators_add_up_to_the_tail(sample: str) -> None:
    document = difference(size(sample, "cortex-m4", "reference"), size(sample, "esp32-s3"))
    tail = next(row["bytes"] for row in document["figures"] if row["figure"] == "tail_bytes")
    assert sum(row["bytes"] for row in document["categories"]) == tail
    kernels = ("kernel data", "builtin data")
    of_kernels = sum(row["bytes"] for row in document["categories"] if row["category"] in kernels)
    assert sum(row["tail"]["bytes"] for row in document["ops"]) == of_kernels


def test_a_newer_library_that_asks_for_more_scratch() -> None:
    before, after = (size("streaming", "esp32-s3", f"esp_nn@{version}") for version in ("1.2.0", "1.2.1"))
    document = difference(before, after)
    assert document["changed_settings"] == [{"setting": "target.kernels.version", "before": "1.2.0", "after": "1.2.1"}]
    assert document["categories"] == document["recorded"] == document["tensors"] == []
    assert [
        (row["after_operator"]["op"], row["after_operator"]["operator"], row["before"], row["after"], row["bytes"])
        for row in document["scratch"]
    ] == [
        ("CONV_2D", 7, 7840, 15520, 7680),
        ("DEPTHWISE_CONV_2D", 13, 32, 928, 896),
        ("DEPTHWISE_CONV_2D", 20, 32, 2144, 2112),
    ]
    assert [row["scratch"]["bytes"] for row in document["ops"]] == [7680, 896, 2112]
    # The convolution is where the head is fullest: the arena grows by its bytes alone.
    assert growth(document) == 7680


def test_operators_are_matched_by_their_names_around_one_that_was_added() -> None:
    before = {**relus(16, 16, 16), "operators": [["CONV_2D", "RELU"]]}
    after = {**relus(16, 16, 16, 16), "operators": [["CONV_2D", "MUL", "RELU"]]}
    document = difference(before, after)
    # RELU #1 of the one is #2 of the other. OpDataRelu has 32 bytes; #0's share of padding depends on what is above it.
    assert document["ops"][1:] == [
        {
            "before": None,
            "after": {"subgraph": 0, "operator": 1, "op": "MUL"},
            "tail": {"before": None, "after": 32, "bytes": None},
            "scratch": {"before": None, "after": 0, "bytes": None},
        }
    ]
    assert document["ops"][0]["tail"] == {"before": 40, "after": 28, "bytes": -12}
    assert document["tensors"] == [{"subgraph": 0, "name": "t3", "before": None, "after": 16, "bytes": None}]


def test_scratch_buffers_are_matched_in_the_order_of_requests() -> None:
    before = relus(16, 16)
    row = {**before["buffers"][0], "kind": "scratch", "operator": 0, "name": "columns"}
    before["buffers"] += [{**row, "index": 0, "size": 100}, {**row, "index": 1, "size": 7}]
    after = copy.deepcopy(before)
    after["buffers"][-2]["size"] = 300
    del after["buffers"][-1]
    operator = {"subgraph": 0, "operator": 0, "op": "RELU"}
    both = {"before_operator": operator, "after_operator": operator, "name": "columns"}
    document = difference(before, after)
    assert document["scratch"] == [
        {**both, "before": 100, "after": 300, "bytes": 200},
        {**both, "before": 7, "after": None, "bytes": None},
    ]
    assert document["ops"][0]["scratch"] == {"before": 107, "after": 300, "bytes": 193}
    lines = difference_lines(document)
    at = lines.index("scratch in the head, by buffer")
    assert lines[at + 1 : at + 4] == [
        "before  after  change",
        "   100    300    +200  #0 RELU: columns",
        "     7      -      -7  #0 RELU: columns",
    ]


def test_a_tensor_that_grew() -> None:
    document = difference(relus(16, 16), relus(32, 32))
    assert [(row["name"], row["before"], row["after"], row["bytes"]) for row in document["tensors"]] == [
        ("t0", 16, 32, 16),
        ("t1", 16, 32, 16),
    ]


def test_two_arenas() -> None:
    document = difference(size("sine", split_arenas=True), size("sine", "x86_64", split_arenas=True))
    assert [row["figure"] for row in document["figures"]][:2] == [
        "smallest_split_arenas_bytes.persistent",
        "smallest_split_arenas_bytes.non_persistent",
    ]
    assert growth(document) == sum(row["bytes"] for row in document["figures"][:2])


def test_a_setting_that_one_side_does_not_have_is_one_change() -> None:
    assert list(_settings("", {"a": {"b": 1}}, {"a": None})) == [SettingChange("a", {"b": 1}, None)]
    assert list(_settings("", {"a": {"b": 1}}, {"a": {"b": 2}})) == [SettingChange("a.b", 1, 2)]


def test_one_arena_against_two_has_no_growth() -> None:
    assert growth(difference(size("sine"), size("sine", split_arenas=True))) is None


def test_where_nothing_works_there_is_no_growth() -> None:
    document = difference(size("streaming"), size("streaming", resource_variables=0))
    assert document["after"]["status"] == "error"
    assert growth(document) is None
    assert "AllocateTensors() fails in an arena of any size" in difference_lines(document)[1]


def test_a_saved_document_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "size.json"
    path.write_text(json.dumps(size("sine")), "utf-8")
    assert as_json(read_size_document(str(path))) == json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "is not the document of one model"),
        ('{"error": {}}', "is not the document of one model"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "size.json"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=message):
        read_size_document(str(path))


def test_a_document_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "size.json"
    path.write_text(json.dumps({**size("sine"), "schema_version": 99}), "utf-8")
    with pytest.raises(UsageError, match="schema version 99, not 1"):
        read_size_document(str(path))
    path.write_text(json.dumps(size("sine")), "utf-8")
    with pytest.raises(UsageError, match="cannot be read"):
        read_size_document(str(tmp_path / "nowhere.json"))


@pytest.mark.parametrize(
    ("count", "more"),
    [(20, []), (21, ["and 1 more; --json has them all"]), (1022, ["and 1,002 more; --json has them all"])],
)
def test_of_a_long_table_the_twenty_largest_changes_are_shown(count: int, more: list[str]) -> None:
    rows = ((SizeChange(None, -change if change % 2 else change, 0), f"#{change}") for change in range(count + 1))
    _, title, header, *lines = difference_text._table("what moved", rows)
    assert (title, header.split()) == ("what moved", ["before", "after", "change"])
    shown = [int(line.rsplit("#", 1)[1]) for line in lines[:20]]
    assert shown == [*range(count, count - 20, -1)], "a row without a change is none"
    assert lines[20:] == more
    assert lines[0].split()[0] == "-"


def test_what_a_program_holds_that_fails_in_its_own_arena_is_not_compared() -> None:
    """Not "head 25,600 -> 0": the run that failed says nothing of the head, and nothing of an operator's tail."""
    sine = size_document(simulate(load(sample_path("sine")), "cortex-m4"))
    failed = replace(sine, answer=replace(sine.answer, head_bytes=None, tail_bytes=None, tail=Tail((), ())))
    found = difference_document(sine, failed)
    changes = {row.figure: (row.change.after, row.change.bytes) for row in found.figures}
    assert changes["head_bytes"] == changes["tail_bytes"] == (None, None)
    assert changes["smallest_arena_bytes"][1] == 0
    assert (found.ops, found.categories) == ((), ())
