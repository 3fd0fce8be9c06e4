"""The verbs, in the order of ``--help``, each with its module."""

from __future__ import annotations

_CORE = """
    size check diff trace lifetimes plan compare report explain
    bug-report bisect targets libraries boards ops completion
"""
_EXTENSIONS = {
    "firmware": "firmware.cli",
    "lite": "lite.cli",
    "sweep": "sweep.cli",
    "shrink": "shrink.cli",
    "board": "board.cli",
    "serve": "page.cli",
}
VERBS = {name: f"tflm_sim.cli.{name.replace('-', '_')}" for name in _CORE.split()} | {
    name: f"tflm_sim.extensions.{module}" for name, module in _EXTENSIONS.items()
}
