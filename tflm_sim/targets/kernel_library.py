"""``KernelLibrary``: whose kernels are linked, which version, and for which instruction set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tflm_sim.errors import UsageError, expect
from tflm_sim.names import plain, unknown


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
        if self.name != "mvp":
            return self.version
        return next(row.cmsis_nn for row in VERSIONS["mvp"] if row.name == self.version)

    def __str__(self) -> str:
        version = f"@{self.version}" if self.version else ""
        return f"{self.name}{version}" + (f" ({self.variant})" if self.variant else "")


REFERENCE = KernelLibrary("reference")

SILABS_CMSIS_NN = "23.08"
"""The CMSIS-NN of Silicon Labs' Gecko SDK 4.4 and Simplicity SDK 2024.6, a release; with no other TFLM."""

EDGE_IMPULSE_CMSIS_NN = "edge-impulse-2020"
"""The CMSIS-NN of May 2020 in Edge Impulse's SDKs until July 2021; with no other TFLM."""


@dataclass(frozen=True, slots=True)
class KernelVersion:
    """A version of a kernel library that is published, modelled or not.

    Attributes:
        name: Its commit or release, as behind the "@" of ``--kernels``.
        variants: The instruction sets for which its buffers are modelled; () where its sources are not at hand.
        default_for: Those of them for which it is taken where no version is named. A default is changed here, and only
            here: a newer version does not become one.
        is_release: Whether it was published under this name; else it is a commit of which release is not known.
        cmsis_nn: The CMSIS-NN behind the MVP's kernels of a Gecko SDK, "" for other libraries.
    """

    name: str
    variants: tuple[str, ...] = ()
    default_for: tuple[str, ...] = ()
    is_release: bool = True
    cmsis_nn: str = ""


_CORES = ("scalar", "dsp", "mve")
_PLAIN = ("ansi", "opt")
_P4 = (*_PLAIN, "esp32p4")
_ALL_CHIPS = (*_PLAIN, "esp32s3", "esp32p4")

VERSIONS: dict[str, tuple[KernelVersion, ...]] = {
    "cmsis_nn": (
        KernelVersion("4ab83cc", _CORES, default_for=_CORES),
        *(
            KernelVersion(name, _CORES)
            for name in (
                *("6d9d61d", "e096196", "v7.0.0", "22080c6", "f2cb41c", "95f293d", "01dee38", "15dbe7c", "8492d82"),
                *("6cc31fb", "72e1ebf", "2a999a2", "bfc54ed", "ca47625", "58f1770", "dc64e48", "d071e9f", "e98ee09"),
                *("6a18a74", "184ccfd", "9dc018e", "977abe9", "bff2857", "c43379b", "59d6249", "0d7e4fa"),
                SILABS_CMSIS_NN,
            )
        ),
    ),
    "mvp": (KernelVersion("4.4.1", ("dsp",), default_for=("dsp",), cmsis_nn=SILABS_CMSIS_NN),),
    "esp_nn": (
        *(KernelVersion(name) for name in ("1.5.0", "1.4.2", "1.4.1", "1.4.0", "1.3.2")),
        KernelVersion("25cae54", ("esp32s3",), is_release=False),
        KernelVersion("fa9f698", ("esp32p4",), is_release=False),
        KernelVersion("1017042", ("esp32s3",), is_release=False),
        KernelVersion("2c222c5", ("esp32p4",), is_release=False),
        KernelVersion("4982f25", ("esp32s3",), is_release=False),
        KernelVersion("1.3.1", _ALL_CHIPS, default_for=_ALL_CHIPS),
        *(KernelVersion(name, _ALL_CHIPS) for name in ("1.3.0", "1.2.9", "1.2.8", "1.2.7", "1.2.6")),
        KernelVersion("1.2.5", _P4),
        *(
            KernelVersion(name, _ALL_CHIPS)
            for name in ("1.2.4", "1.2.3", "1.2.2", "1.2.1", "1.2.0", "1.1.2", "1.1.1", "1.1.0")
        ),
    ),
}
"""By library, each in the order of time from the newest on; the order says what is older than what, and nothing else.

The commits of ESP-NN that are no releases are newer than 1.3.1; where they stand among the releases after it is not
known. Two projects that hold 2c222c5 say that its manifest calls it 1.3.2.
"""

EDGE_IMPULSE_2023, EDGE_IMPULSE_2022 = "1.1.0-edge-impulse-2023", "1.0-edge-impulse-2022"
"""The ESP-NN that Edge Impulse's SDKs hold of November 2023, and of September 2022 to August 2023; they come with
these, and with no other TFLM."""

_PLAIN_C = "_ansi"


def versions_of(library: str, variant: str) -> tuple[str, ...]:
    """Return the versions of a library that are modelled for a variant, the newest first."""
    return tuple(row.name for row in VERSIONS[library] if variant in row.variants)


def default_version(library: str, variant: str) -> str:
    """Return the version of a library that is taken for a variant where none is named.

    Raises:
        UsageError: There is none.
    """
    for row in VERSIONS[library]:
        if variant in row.default_for:
            return row.name
    raise UsageError(f"no version of {library} with the kernels '{variant}' is modelled")


def is_release(library: KernelLibrary) -> bool:
    """Return whether a version was published under its name; a library that comes with a TFLM counts as one."""
    return all(row.is_release for row in VERSIONS.get(library.name, ()) if row.name == library.version)


def newer_releases(library: KernelLibrary) -> str:
    """Return the releases newer than the default version: "1.3.2 to 1.5.0"; "" for none, and for another version."""
    rows = [row for row in VERSIONS.get(library.name, ()) if row.is_release]
    places = [place for place, row in enumerate(rows) if library.variant in row.default_for]
    if not places or rows[places[0]].name != library.version:
        return ""
    newer = [row.name for row in rows[: places[0]]]
    return " to ".join(dict.fromkeys((newer[-1], newer[0]))) if newer else ""


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
    if name not in variants:
        name = next((each for each in (*variants, *VERSIONS) if plain(each) == plain(name)), name.lower())
    if name == "reference":
        if at:
            raise UsageError("the reference kernels have no version of their own; write `kernels=reference`")
        return REFERENCE
    library = name.removesuffix(_PLAIN_C)
    if library not in VERSIONS:
        raise unknown("kernel library", text, ("reference", *VERSIONS))
    if name not in variants:
        raise UsageError(f"{name} does not run on this target; use one of: {_listed(variants)}")
    variant = variants[name]
    modelled = versions_of(library, variant)
    if version and version not in modelled:
        raise UsageError(_not_modelled(library, version, variant, modelled))
    return KernelLibrary(library, version=version or default_version(library, variant), variant=variant)


def _not_modelled(library: str, version: str, variant: str, modelled: Iterable[str]) -> str:
    """Return why a version is refused, and the nearest modelled one; for an unknown version, the modelled ones."""
    rows, held = {row.name: row for row in VERSIONS[library]}, list(modelled)
    its = f" for '{variant}'" if version in rows and rows[version].variants else ""
    if version not in rows or not rows[version].is_release:
        return f"{library} version '{version}' is not modelled{its}; use one of: {', '.join(held)}"
    names = [name for name, row in rows.items() if row.is_release]
    place = names.index(version)
    below = [known for known in names[place:] if known in held][:1]
    above = [known for known in names[:place] if known in held][-1:]
    near = " and ".join(below + above)
    return f"{library} {version} is not modelled{its}: its sources are not at hand; nearest modelled: {near}"


def _listed(names: Iterable[str]) -> str:
    """Return what can be written, for a message."""
    return ", ".join(["reference", *names])
