"""The releases of the mobile runtime whose answers are known, and what changed between them.

Where its checks stand, and which of them a release has, is in ``kernels/conditions.txt``, a column a release. What else
changed has a row here, which kernels ask for (``call.has``).
"""

from __future__ import annotations

from tflm_sim.errors import expect
from tflm_sim.names import unknown

DEFAULT_RELEASE = "2.3.0"
"""What is taken unless a release is named: the newest that is published under its own number."""
NIGHTLY = "2.4.0.dev20261026"

RELEASES = (DEFAULT_RELEASE, NIGHTLY)
"""In the order of time; nightly builds are those of ai-edge-litert-nightly."""

_CHANGES = {
    "reference_has_all": (NIGHTLY, "the reference resolver has all operators, in the versions of the optimized one"),
    "cast_10_fully_connected_15": (NIGHTLY, "CAST of version 10, FULLY_CONNECTED of version 15"),
    "batch_matmul_checks_first": (NIGHTLY, "BATCH_MATMUL refuses absent inputs, and checks before it has temporaries"),
}
"""A change: the first release that has it, and what it is."""


def find_release(name: str) -> str:
    """Return a release by its name: "2.3.0".

    Raises:
        UsageError: Its answers are not known.
    """
    expect(name, str, "a release of LiteRT")
    if name not in RELEASES:
        raise unknown("release of LiteRT", name, tuple(RELEASES))
    return name


def has(release: str, change: str) -> bool:
    return RELEASES.index(release) >= RELEASES.index(_CHANGES[change][0])
