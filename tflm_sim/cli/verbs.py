"""The verbs, in the order of ``--help``; the module of ``replay-on`` is ``replay_on``."""

from __future__ import annotations

_NAMES = """
    size check review firmware run eon diff trace lifetimes plan lite compare sweep report shrink explain
    monitor replay replay-on ports serve bug-report bisect targets libraries boards ops completion
"""
VERBS = tuple(_NAMES.split())
