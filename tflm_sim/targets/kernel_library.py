"""``KernelLibrary``: whose kernels are linked, which version, and for which instruction set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tflm_sim.errors import UsageError
from tflm_sim.targets.changes import CMSIS_NN_PINS
from tflm_sim.values import dataclass


@dataclass(frozen=True, slots=True)
class KernelLibrary:
    """An implementation of TFLM's kernels.

    Attributes:
        name: "reference", "cmsis_nn" or "esp_nn".
        version: Its commit or release, "" for the reference kernels, which come with the TFLM snapshot.
        variant: The instruction set that decides its scratch: "scalar", "dsp" or "mve" for CMSIS-NN; "ansi", "opt",
            "esp32s3" or "esp32p4" for ESP-NN; "" for the reference kernels.
    """

    name: str
    version: str = ""
    variant: str = ""

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        return f"{self.name}{version}" + (f" ({self.variant})" if self.variant else "")


REFERENCE = KernelLibrary("reference")

VERSIONS: dict[str, tuple[str, ...]] = {
    "cmsis_nn": ("4ab83cc", "6d9d61d", "e096196", "v7.0.0", *list(reversed(CMSIS_NN_PINS))[3:]),
    "esp_nn": ("1.2.3", "1.2.2", "1.2.1", "1.2.0", "1.1.2", "1.1.1", "1.1.0"),
}
"""Modelled versions by library, the default first."""
NEWER = {"esp_nn": "1.2.4 to 1.5.0"}
"""Versions that are published, newer than the newest modelled one."""

EDGE_IMPULSE_2023 = "1.1.0-edge-impulse-2023"
"""The ESP-NN that Edge Impulse's SDK of 2023 holds; it comes with that SDK, and with no other TFLM."""

_PLAIN_C = "_ansi"


def parse_kernels(text: str, *, variants: Mapping[str, str]) -> KernelLibrary:
    """Return the library that ``--kernels TEXT`` names: ``reference``, ``cmsis_nn``, ``esp_nn@1.1.1``, ``esp_nn_ansi``.

    Args:
        text: What the user wrote.
        variants: What runs on the target, by the name to write, with the variant that its core uses. A name ending in
            "_ansi" is the same library built without its optimised code.

    Raises:
        UsageError: An unknown library or version, or one that does not run on the target.
    """
    name, at, version = text.partition("@")
    if name == "reference":
        if at:
            raise UsageError("the reference kernels have no version of their own; write --kernels reference")
        return REFERENCE
    library = name.removesuffix(_PLAIN_C)
    if library not in VERSIONS:
        raise UsageError(f"'{text}' is no kernel library that is modelled; use one of: {_listed(VERSIONS)}")
    if name not in variants:
        raise UsageError(f"{name} does not run on this target; use one of: {_listed(variants)}")
    if version and version not in VERSIONS[library]:
        newer = f" ({NEWER[library]} exist, and are not)" if library in NEWER else ""
        listed = ", ".join(VERSIONS[library])
        raise UsageError(f"{library} version '{version}' is not modelled{newer}; use one of: {listed}")
    return KernelLibrary(library, version=version or VERSIONS[library][0], variant=variants[name])


def _listed(names: Iterable[str]) -> str:
    """Return what can be written, for a message."""
    return ", ".join(["reference", *names])
