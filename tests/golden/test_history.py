"""Real TFLM of 2021 to 2026, every model: status, both arena figures, and what is printed one byte below."""

from __future__ import annotations

import json

import pytest
from history_report import HISTORY, judge, records

SNAPSHOTS = records([]) if HISTORY.is_dir() else []


@pytest.mark.shared("history")
@pytest.mark.parametrize(("snapshot", "commit", "path"), SNAPSHOTS, ids=[row[0] for row in SNAPSHOTS])
def test_every_model_is_exact(snapshot, commit, path):
    facts = json.loads(path.read_text(encoding="utf-8"))
    differing = {name: found for name, found, _ in (judge(commit, item) for item in facts.items()) if found}
    assert differing == {}
