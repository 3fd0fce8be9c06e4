"""``KernelLibrary``: whose kernels are linked, which version, and for which instruction set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tflm_sim.errors import UsageError, expect
from tflm_sim.targets.changes import CMSIS_NN_PINS


@dataclass(frozen=True, slots=True)
class KernelLibrary:
    """An implementation of TFLM's kernels.

    Attributes:
        name: "reference", "cmsis_nn", "esp_nn" or "mvp".
        version: Its commit or release, "" for the reference kernels, which come with the TFLM snapshot.
        variant: The instruction set that decides its scratch: "scalar", "dsp" or "mve" for CMSIS-NN, also behind the
            MVP's kernels; "ansi", "opt", "esp32s3" or "esp32p4" for ESP-NN; "" for the reference kernels.
    """

    name: str
    version: str = ""
    variant: str = ""

    @property
    def layers(self) -> tuple[str, ...]:
        """The libraries whose kernels are linked, the first that has an operator's."""
        return ("mvp", "cmsis_nn") if self.name == "mvp" else (self.name,)

    @property
    def cmsis_nn(self) -> str:
        """The version of CMSIS-NN that is linked."""
        return BEHIND_MVP[self.version] if self.name == "mvp" else self.version

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        return f"{self.name}{version}" + (f" ({self.variant})" if self.variant else "")


REFERENCE = KernelLibrary("reference")

UNRELEASED = "4982f25"
"""A commit of ESP-NN whose texts are newer than 1.3.1's, of which release is not known: taken by name alone."""

SILABS_CMSIS_NN = "23.08"
"""The CMSIS-NN of Silicon Labs' Gecko SDK 4.4 and Simplicity SDK 2024.6, a release; with no other TFLM."""

EDGE_IMPULSE_CMSIS_NN = "edge-impulse-2020"
"""The CMSIS-NN of May 2020 in Edge Impulse's SDKs until July 2021; with no other TFLM."""

VERSIONS: dict[str, tuple[str, ...]] = {
    "cmsis_nn": ("4ab83cc", "6d9d61d", "e096196", "v7.0.0", *list(reversed(CMSIS_NN_PINS))[3:], SILABS_CMSIS_NN),
    "mvp": ("4.4.1",),
    "esp_nn": (
        *(UNRELEASED, "1.3.1", "1.3.0", "1.2.9", "1.2.8", "1.2.7", "1.2.6", "1.2.5", "1.2.4"),
        *("1.2.3", "1.2.2", "1.2.1", "1.2.0", "1.1.2", "1.1.1", "1.1.0"),
    ),
}
"""Modelled versions by library, the newest first."""
BEHIND_MVP = {"4.4.1": SILABS_CMSIS_NN}
"""The CMSIS-NN behind the MVP's kernels of a Gecko SDK."""
_WITHOUT_TEXT = {"esp_nn": ("1.5.0", "1.4.2", "1.4.1", "1.4.0", "1.3.2")}
"""Releases whose size functions are not known for any variant, newer than all that are modelled."""

_NOT_MODELLED: dict[str, tuple[str, ...]] = {
    "ansi": (UNRELEASED,),
    "opt": (UNRELEASED,),
    "esp32s3": ("1.2.5", "1.2.4"),
    "esp32p4": (UNRELEASED, "1.3.1", "1.3.0", "1.2.9", "1.2.8"),
    "riscv_pie": VERSIONS["esp_nn"],
}
"""Versions of ESP-NN whose size functions are not known for a variant; ``riscv_pie`` is the P4's from 1.3.0 on."""

EDGE_IMPULSE_2023, EDGE_IMPULSE_2022 = "1.1.0-edge-impulse-2023", "1.0-edge-impulse-2022"
"""The ESP-NN that Edge Impulse's SDKs hold of November 2023, and of September 2022 to August 2023; they come with
these, and with no other TFLM."""

_PLAIN_C = "_ansi"


def versions_of(library: str, variant: str) -> tuple[str, ...]:
    """Return the versions of a library that are modelled for a variant, the newest first."""
    return tuple(version for version in VERSIONS[library] if version not in _NOT_MODELLED.get(variant, ()))


def newest(library: str, variant: str) -> str:
    """Return the newest release of a library that is modelled for a variant.

    Raises:
        UsageError: None is.
    """
    for version in versions_of(library, variant):
        if version != UNRELEASED:
            return version
    raise UsageError(f"no version of {library} with the kernels '{variant}' is modelled")


def _releases(library: str) -> list[str]:
    """Return all published releases of a library, modelled or not, the newest first."""
    return [*_WITHOUT_TEXT.get(library, ()), *(version for version in VERSIONS[library] if version != UNRELEASED)]


def newer_than_modelled(library: str, variant: str) -> str:
    """Return the releases that are published and newer than :func:`newest`: "1.3.2 to 1.5.0", "" for none."""
    releases = _releases(library)
    newer = releases[: releases.index(newest(library, variant))]
    return f"{newer[-1]} to {newer[0]}" if newer else ""


def parse_kernels(text: str, *, variants: Mapping[str, str]) -> KernelLibrary:
    """Return the library that ``--kernels TEXT`` names: ``reference``, ``cmsis_nn``, ``esp_nn@1.1.1``, ``esp_nn_ansi``.

    Args:
        text: What the user wrote.
        variants: What runs on the target, by the name to write, with the variant that its core uses. A name ending in
            "_ansi" is the same library built without its optimised code.

    Raises:
        UsageError: An unknown library or version, or one that does not run on the target.
    """
    expect(text, str, "the name of a kernel library")
    name, at, version = text.partition("@")
    if name == "reference":
        if at:
            raise UsageError("the reference kernels have no version of their own; write --kernels reference")
        return REFERENCE
    library = name.removesuffix(_PLAIN_C)
    if library not in VERSIONS:
        raise UsageError(f"'{text}' is not a modelled kernel library; use one of: {_listed(VERSIONS)}")
    if name not in variants:
        raise UsageError(f"{name} does not run on this target; use one of: {_listed(variants)}")
    variant = variants[name]
    modelled = versions_of(library, variant)
    if version and version not in modelled:
        raise UsageError(_not_modelled(library, version, variant, modelled))
    return KernelLibrary(library, version=version or newest(library, variant), variant=variant)


def _not_modelled(library: str, version: str, variant: str, modelled: Iterable[str]) -> str:
    """Return why a version is refused, and the nearest modelled one; for an unknown version, the modelled ones."""
    releases, held = _releases(library), list(modelled)
    its = f" for '{variant}'" if version in VERSIONS[library] else ""
    if version not in releases:
        return f"{library} version '{version}' is not modelled{its}; use one of: {', '.join(held)}"
    place = releases.index(version)
    below = [known for known in releases[place:] if known in held][:1]
    above = [known for known in releases[:place] if known in held][-1:]
    near = " and ".join(below + above)
    return f"{library} {version} is not modelled{its}: its sources are not at hand; nearest modelled: {near}"


def _listed(names: Iterable[str]) -> str:
    """Return what can be written, for a message."""
    return ", ".join(["reference", *names])
