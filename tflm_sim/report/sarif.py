"""Verdicts as SARIF 2.1.0, which code scanning shows beside the files that it speaks of.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from tflm_sim import __version__
from tflm_sim.checks.verdict import Verdict
from tflm_sim.escape import json_text, printable
from tflm_sim.names import with_options
from tflm_sim.provenance import made_by
from tflm_sim.report.verdict_text import verdict_lines

RULES = {
    1: ("arena-too-small", "error", "The model does not work in its arena, or grew beyond its baseline."),
    3: ("arena-unknown", "warning", "Whether the model works hangs on something that is not known."),
}
"""By a verdict's exit code: the rule, its level, what it says. A verdict with 0 is no result."""


def sarif(verdicts: Iterable[Verdict]) -> str:
    """Return the document; a path that is not absolute stays relative to where the command ran."""
    results = [
        {
            "ruleId": RULES[verdict.exit_code][0],
            "level": RULES[verdict.exit_code][1],
            "message": {"text": with_options("\n".join(verdict_lines(verdict)))},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(verdict.name)}}}],
            # A result is the same one as long as the model and its firmware are; its bytes may change.
            "partialFingerprints": {"modelAndFirmware/v1": printable(verdict.key, 400)},
        }
        for verdict in verdicts
        if verdict.exit_code
    ]
    rules = [
        {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}
        for name, level, text in RULES.values()
    ]
    driver = {"name": "tflm-sim", "version": made_by(), "semanticVersion": __version__, "rules": rules}
    document: dict[str, Any] = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json_text(document, indent=1) + "\n"


def _uri(path: str) -> str:
    """Return a model's path as a URI; what names no file, such as sample:sine, becomes one all the same."""
    if os.path.isabs(path):
        return PurePath(path).as_uri()
    return quote(PurePath(path).as_posix())
