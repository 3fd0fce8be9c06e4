"""Five small int8 models that come with the package; ``tools/release/samples.py`` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tflm_sim.errors import expect
from tflm_sim.names import unknown

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES: tuple[str, ...] = ("sine", "keyword_spotter", "mobilenet_v1_025", "residual", "streaming")
"""Names of the samples, smallest network first."""


def sample_path(name: str) -> Path:
    """Return the path of the sample ``name``.

    Raises:
        UsageError: There is no such sample.
    """
    expect(name, str, "the name of a sample")
    if name not in SAMPLES:
        raise unknown("sample", name, SAMPLES)
    from pathlib import Path  # Slow to import; most models are no samples.

    return Path(__file__).with_name(f"{name}.tflite")
