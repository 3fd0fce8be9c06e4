"""What a test learned about a model, on its way to the summary."""

from __future__ import annotations

from typing import NamedTuple

PROPERTY = "tflm_sim_arena"


class Measured(NamedTuple):
    """What a test learned about a model; it travels as a list in a report's user properties.

    ``before`` is the baseline's size, None when there was none; ``baseline`` is the file that ``size`` goes into once
    the test has passed, "" for none. ``about`` says which TFLM and kernels that is, and what the marker leaves out.
    """

    key: str
    size: int
    limit: int | None
    before: int | None
    baseline: str
    about: str
