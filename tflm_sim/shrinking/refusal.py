"""What ``verify`` and the machine that it runs say of a result that is not accepted."""

from __future__ import annotations

from tflm_sim.errors import TflmSimError


class VerificationFailed(TflmSimError):
    """The result is not what it should be; nothing is written."""

    exit_code = 1


def refuse(sentence: str) -> VerificationFailed:
    """Return the error for a result that is not accepted."""
    return VerificationFailed(f"refused: {sentence}; nothing is written")
