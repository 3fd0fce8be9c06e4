"""What the page asks of the package, outside the browser."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tflm_sim import parse, sample_path, smallest_arena
from tflm_sim.errors import UsageError
from tflm_sim.web.bridge import Session
from tflm_sim.web.site import numpy_wheel

M4 = json.dumps({"target": "cortex-m4"})


def test_a_shrunk_model_is_one_more_of_the_visit_and_its_bytes_can_be_saved() -> None:
    session, said = Session(), []
    (entry,) = json.loads(session.add("m.tflite", sample_path("mobilenet_v1_025").read_bytes()))
    (row,) = json.loads(session.shrink(entry["number"], M4, said.append))
    assert (row["gained"], row["name"], row["number"]) == (True, "m.small.tflite", 1)
    assert said[-1] == "verifying"
    model = parse(session.data(row["number"]))
    assert len(model.source) == row["bytes"]
    (sized,) = json.loads(session.size(row["number"], M4))
    before = smallest_arena(parse(sample_path("mobilenet_v1_025").read_bytes()), "cortex-m4").size
    assert smallest_arena(model, "cortex-m4").size == sized["smallest"] < before
    assert any(f"{before:,} B -> {sized['smallest']:,} B" in line for line in row["lines"])


def test_a_model_that_cannot_be_smaller_says_so() -> None:
    session = Session()
    session.add("sine.tflite", sample_path("sine").read_bytes())
    (row,) = json.loads(session.shrink(0, M4, lambda _: None))
    assert row["gained"] is False
    assert row["lines"][0] == "sine.tflite: nothing that we know makes it smaller"


def test_a_model_that_shrink_refuses_is_an_answer() -> None:
    session = Session()
    session.add("sine.tflite", sample_path("sine").read_bytes())
    (row,) = json.loads(session.shrink(0, json.dumps({"target": "no-such-target"}), lambda _: None))
    assert row["name"] == "sine.tflite"
    assert "no-such-target" in row["error"]


def test_the_wheel_of_numpy_is_the_one_that_pyodide_names(tmp_path: Path) -> None:
    wheel = tmp_path / "numpy.whl"
    wheel.write_bytes(b"a wheel")
    row = {"file_name": "numpy-2-pyemscripten.whl", "sha256": hashlib.sha256(b"a wheel").hexdigest()}
    lock = {"pyodide-lock.json": json.dumps({"packages": {"numpy": row}}).encode()}
    assert numpy_wheel(lock, wheel) == ("numpy-2-pyemscripten.whl", b"a wheel")
    wheel.write_bytes(b"another wheel")
    with pytest.raises(UsageError, match=r"is not the numpy-2-pyemscripten.whl of Pyodide .*: its SHA-256 differs"):
        numpy_wheel(lock, wheel)
