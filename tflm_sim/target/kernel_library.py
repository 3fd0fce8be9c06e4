"""``KernelLibrary``: whose kernels are linked, which version, and for which instruction set."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tflm_sim.errors import UsageError


@dataclass(frozen=True, slots=True)
class KernelLibrary:
    """An implementation of TFLM's kernels.

    Attributes:
        name: "reference", "cmsis_nn" or "esp_nn".
        version: Its commit or release, "" for the reference kernels, which come with the TFLM snapshot.
        variant: The instruction set that decides its scratch: "scalar", "dsp", "mve"; "" for the reference kernels.
    """

    name: str
    version: str = ""
    variant: str = ""

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        return f"{self.name}{version}" + (f" ({self.variant})" if self.variant else "")


REFERENCE = KernelLibrary("reference")

VERSIONS: dict[str, tuple[str, ...]] = {
    "cmsis_nn": ("4ab83cc", "v7.0.0"),
}
"""Modelled versions by library, the default first."""


def parse_kernels(text: str, *, variants: dict[str, str]) -> KernelLibrary:
    """Return the library that ``--kernels TEXT`` names: ``reference``, ``cmsis_nn``, ``cmsis_nn@VERSION``.

    Args:
        text: What the user wrote.
        variants: For each library that runs on the target, the variant that its core uses.

    Raises:
        UsageError: An unknown library or version, or one that does not run on the target.
    """
    name, at, version = text.partition("@")
    if name == "reference":
        if at:
            raise UsageError("the reference kernels have no version of their own; write --kernels reference")
        return REFERENCE
    if name not in VERSIONS:
        known = ", ".join(["reference", *VERSIONS])
        raise UsageError(f"'{text}' is no kernel library that is modelled; use one of: {known}")
    if name not in variants:
        raise UsageError(f"{name} does not run on this target; use one of: {', '.join(['reference', *variants])}")
    if version and version not in VERSIONS[name]:
        raise UsageError(f"{name} version '{version}' is not modelled; use one of: {', '.join(VERSIONS[name])}")
    return replace(KernelLibrary(name), version=version or VERSIONS[name][0], variant=variants[name])
