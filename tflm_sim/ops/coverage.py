"""Which traces of real TFLM exercise each operator: the packaged summary that ``tools/update_coverage.py`` writes."""

from __future__ import annotations

import json
from pathlib import Path


def coverage() -> dict[str, list[str]]:
    """Return, by operator name, the models whose reference trace prepares it; an operator without one is missing."""
    summary: dict[str, list[str]] = json.loads(Path(__file__).with_name("coverage.json").read_text("utf-8"))
    return summary
