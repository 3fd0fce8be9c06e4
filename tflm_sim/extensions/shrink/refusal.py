"""The error of ``verify`` for a rewritten model that may compute something else than the original."""

from __future__ import annotations

from tflm_sim.errors import TflmSimError


class VerificationFailed(TflmSimError):
    """The result is not what it should be; nothing is written."""

    exit_code = 1


def refuse(sentence: str) -> VerificationFailed:
    """Return the error for a result that is not accepted."""
    return VerificationFailed(f"refused: {sentence}; nothing is written")
