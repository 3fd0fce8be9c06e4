"""The verbs and their modules, in the order of ``--help``."""

from __future__ import annotations

VERBS = {
    "size": "size",
    "check": "check",
    "trace": "trace",
    "targets": "targets",
    "ops": "ops",
    "completion": "completion",
}
