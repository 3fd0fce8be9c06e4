"""The mobile runtime's own plans (LiteRT 2.3.0), every model: what ``tools/lite_report.py`` prints, as a test."""

from __future__ import annotations

import gzip
import json

import pytest
from lite_report import CONFIGURATIONS, RECORD, compare

pytestmark = pytest.mark.shared("mobile")


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_model_is_exact(configuration: str) -> None:
    recorded = json.loads(gzip.decompress(RECORD.read_bytes()))
    compared = {name: compare(name, row[configuration], configuration) for name, row in recorded.items()}
    differing = {
        (name, step): columns for name, steps in compared.items() for step, columns in steps.items() if columns
    }
    assert differing == {}
