"""The structs of our tables as the firmware's own compiler laid them out."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tflm_sim.extensions.firmware.reading.dwarf import ANONYMOUS, DebugInformation, DwarfReader, StructFact
from tflm_sim.extensions.firmware.reading.dwarf_units import Sections, Unit, Units
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.tflm_names import without_namespace
from tflm_sim.targets.structs import MeasuredStruct

_MARKERS = (b"tflite", b"TfLiteStatus", b"TfLiteType", b"TfLiteNode", b"TfLiteTensor")
"""Every unit of TFLM names one of these."""
_SOURCE = re.compile(r"(?:^|/)(?:tensorflow/lite|signal)/micro/(?:kernels/)?(.+)\.(?:cc|cpp|c)$")
_KERNEL = re.compile(r"(?:^|/)(?:tensorflow/lite|signal)/micro/kernels/(.+)\.(?:cc|cpp|c)$")
_RENAMED = {
    "SimpleMemoryAllocator": "SingleArenaBufferAllocator",
    "RecordingSimpleMemoryAllocator": "RecordingSingleArenaBufferAllocator",
}
"""Structs by the name that they had, with the name that they have."""
_ENUM = "TfLiteType"
"""An enum of few values that every unit of TFLM has: its size tells whether enums are short."""


@dataclass(frozen=True, slots=True)
class DebugFacts:
    """What the debug information of TFLM's own source files says.

    Attributes:
        structs: By the name in our tables.
        disagreeing: Structs that have several sizes, with the sizes: parts of the firmware were built with different
            flags.
        enum_size: Bytes of TFLM's small enums; None where they are not described.
        kernels: The kernels' source files that are in the image: "conv", "cmsis_nn/conv".
        producers: Compilers and their options.
    """

    structs: Mapping[str, MeasuredStruct]
    disagreeing: Mapping[str, tuple[int, ...]]
    enum_size: int | None
    kernels: frozenset[str]
    producers: tuple[str, ...]


def _by_table_name(found: DebugInformation, names: Collection[str]) -> dict[str, dict[int, StructFact]]:
    facts: dict[str, dict[int, StructFact]] = {}
    for name, rows in found.structs.items():
        for fact in rows:
            ours = _table_name(name, fact.unit, names)
            if ours is not None:
                facts.setdefault(ours, {}).setdefault(fact.size, fact)
    return facts


def debug_facts(units: Units, names: Collection[str], *, int64_alignment: int) -> DebugFacts | None:
    """Return the structs among ``names`` (of our tables) that debug information describes.

    Args:
        units: The file's debug information.
        names: Names as in ``targets/struct_tables``.
        int64_alignment: Of the ABI; debug information does not say it.

    Returns:
        None where no unit of TFLM has debug information.

    Raises:
        FirmwareError: The debug information contradicts itself.
    """
    reader = DwarfReader(units)
    last_names = {re.split(r"::|\.", name)[-1] for name in names}
    found = reader.read(markers=_MARKERS, wanted=lambda name: name.rpartition("::")[2] in last_names)
    if not found.units or not found.structs:
        return None
    facts = _by_table_name(found, names)
    structs = {}
    for ours, by_size in sorted(facts.items()):
        fact = next(iter(by_size.values()))
        structs[ours] = MeasuredStruct(ours, fact.size, reader.alignment(fact, int64_alignment=int64_alignment))
    return DebugFacts(
        structs=structs,
        disagreeing={ours: tuple(sorted(by_size)) for ours, by_size in facts.items() if len(by_size) > 1},
        enum_size=_enum_size(found),
        kernels=frozenset(match[1] for unit in found.units if (match := _KERNEL.search(unit.name))),
        producers=tuple(sorted({unit.producer for unit in found.units if unit.producer})),
    )


def units_of(elf: Elf) -> Units:
    """Return a file's debug information, inflated."""

    def read(*names: str) -> bytes:
        section = next((section for name in names if (section := elf.section(name))), None)
        return bytes(elf.bytes_of(section)) if section else b""

    return Units(Sections(*(read(f".debug_{name}", f".zdebug_{name}") for name in _SECTION_NAMES)))


_SECTION_NAMES = ("info", "abbrev", "str", "line_str", "str_offsets", "types", "addr")


def _table_name(name: str, unit: Unit, names: Collection[str]) -> str | None:
    """Return what our tables call a struct; one of a source file's own is called after the file."""
    plain = without_namespace(name)
    plain = _RENAMED.get(plain, plain)
    source = _SOURCE.search(unit.name)
    scope, _, last = plain.rpartition("::")
    own = f"{source[1]}.{last}" if source else ""
    if not unit.name and any(name.endswith(f".{last}") for name in names):
        return None  # A type unit does not say whose type of that name it is.
    # DWARF 2 knows no namespaces.
    if own in names and (not scope or ANONYMOUS in scope or "ops::micro" in scope):
        return own
    plain = plain.removeprefix(f"{ANONYMOUS}::")
    return plain if plain in names else None


def _enum_size(found: DebugInformation) -> int | None:
    sizes = {
        size for name, found_sizes in found.enums.items() if without_namespace(name) == _ENUM for size in found_sizes
    }
    return min(sizes) if len(sizes) == 1 else None
