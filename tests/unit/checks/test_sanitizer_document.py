"""``docs/sanitizer.md`` lists every code, and its example runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tflm_sim.invocation.findings import FindingCode
from tflm_sim.samples import sample_path

TEXT = (Path(__file__).resolve().parents[3] / "docs" / "sanitizer.md").read_text("utf-8")


def test_every_code_is_explained() -> None:
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", TEXT, re.MULTILINE)) == sorted(FindingCode)


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.tflite").write_bytes(sample_path("streaming").read_bytes())
    namespace: dict[str, object] = {}
    exec(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[0], namespace)
    assert namespace["findings"] == []
