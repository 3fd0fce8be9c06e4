"""``tflm-sim list libraries``: which TFLM each published library holds, and which of them can be named."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tflm_sim.cli.terminal import show_rows
from tflm_sim.targets.evidence import evidence
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.libraries import find_library, libraries_like
from tflm_sim.targets.library import Library
from tflm_sim.targets.presets import library_target

HEADER = (
    "library",
    "version",
    "modelled",
    "TFLM of",
    "upstream",
    "kernels",
    "usual target",
    "own files, or nearest",
    "measured with",
    "source",
)
ORDER = ("library", "version", "modelled", "TFLM of", "kernels", "usual target", "upstream")


@dataclass(frozen=True, slots=True)
class UpstreamRange:
    """The commits of upstream that a library can hold, and the day of the first."""

    first: str
    last: str
    date: str


@dataclass(frozen=True, slots=True)
class LibraryRow:
    """A published library.

    Attributes:
        version: The newest of ``releases``.
        releases: The releases with the same TFLM and kernels.
        kernels_range: The versions of the kernels that it allows, where the package manager chooses one.
        holds: The library whose TFLM it uses, "" where it contains TFLM itself.
        changed: What it changed in TFLM.
        nearest: What to use instead, where it is not modelled.
        proof: What it was measured with on its usual target with its usual kernels, or "not measured"; "" where it is
            not modelled.
    """

    name: str
    version: str
    releases: tuple[str, ...]
    is_modelled: bool
    upstream: UpstreamRange
    target: str
    kernels: str
    kernels_range: str
    holds: str
    changed: str
    nearest: str
    proof: str
    source: str


def run(args: argparse.Namespace) -> int:
    found = [find_library(args.word)] if "@" in args.word else libraries_like(args.word)
    rows = [library_row(row) for row in found]
    nearest = (f"{row.name} {row.version}".rstrip() + f" is not modelled: {row.nearest}" for row in rows if row.nearest)
    notes = ("", *nearest) if args.word else ()
    return show_rows(
        rows, HEADER, _cells, *notes, as_json=args.json, order=ORDER, is_long=args.long, is_chosen=bool(args.word)
    )


def library_row(library: Library) -> LibraryRow:
    first, last = library.commits
    return LibraryRow(
        name=library.name,
        version=library.version,
        releases=library.releases or (library.version,),
        is_modelled=library.is_modelled,
        upstream=UpstreamRange(first, last, find_commit(first).day if first else ""),
        target=library.target,
        kernels=library.kernels if library.is_modelled else "",
        kernels_range=library.kernels_range,
        holds=library.holds,
        changed=library.changed,
        nearest=library.nearest,
        proof=evidence(library_target(library.label, name=library.target)) if library.is_modelled else "",
        source=library.source,
    )


def _cells(row: LibraryRow) -> tuple[str, ...]:
    remark = row.changed or "none" if row.is_modelled else row.nearest
    modelled, upstream = "yes" if row.is_modelled else "no", row.upstream
    version = row.version if len(row.releases) == 1 else f"{row.releases[0]} to {row.version}"
    kernels = f"{row.kernels} {row.kernels_range}".rstrip()
    said = upstream.date, upstream.first, kernels, row.target, remark, row.proof, row.source
    return row.name, version, modelled, *said
