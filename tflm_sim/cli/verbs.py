"""The verbs and their modules, in the order of ``--help``."""

from __future__ import annotations

VERBS = {
    "size": "size",
    "check": "check",
    "review": "review",
    "firmware": "firmware",
    "run": "run",
    "eon": "eon",
    "diff": "diff",
    "trace": "trace",
    "lifetimes": "lifetimes",
    "plan": "plan",
    "lite": "lite",
    "compare": "compare",
    "sweep": "sweep",
    "report": "report",
    "shrink": "shrink",
    "explain": "explain",
    "monitor": "monitor",
    "replay": "replay",
    "replay-on": "replay_on",
    "ports": "ports",
    "serve": "serve",
    "bug-report": "bug_report",
    "bisect": "bisect",
    "targets": "targets",
    "libraries": "libraries",
    "boards": "boards",
    "ops": "ops",
    "completion": "completion",
}
