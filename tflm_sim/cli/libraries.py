"""``tflm-sim libraries``: which TFLM each published library holds, and which of them can be named."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from tflm_sim.cli.options import Subparsers, add_long, add_verb
from tflm_sim.cli.terminal import show_rows
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.libraries import libraries_like
from tflm_sim.targets.library import Library
from tflm_sim.targets.presets import library_target
from tflm_sim.targets.proofs import proof_in_words

ABOUT = """
Use these names for --library: NAME, or NAME@VERSION.
"""
EXAMPLES = """
tflm-sim libraries
tflm-sim libraries esp
tflm-sim libraries esphome
tflm-sim size model.tflite --library esp-tflite-micro@1.3.5 --target esp32-s3
"""


HEADER = (
    "library",
    "version",
    "modelled",
    "TFLM of",
    "upstream",
    "kernels",
    "usual target",
    "own files, or nearest",
    "proved by",
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
        proof: What proves its figures on its usual target with its usual kernels; "" where it is not modelled.
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


def register(subparsers: Subparsers) -> None:
    parser = add_verb(subparsers, "libraries", EXAMPLES, about=ABOUT)
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="list only libraries whose name or source contains this"
    )
    add_long(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    """Carry out the verb."""
    rows = [library_row(row) for row in libraries_like(args.name)]
    nearest = (f"{row.name} {row.version}".rstrip() + f" is not modelled: {row.nearest}" for row in rows if row.nearest)
    notes = ("", *nearest) if args.name else ()
    return show_rows(rows, HEADER, _cells, *notes, as_json=args.json, order=ORDER, is_long=args.long)


def library_row(library: Library) -> LibraryRow:
    """Return a library as a row."""
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
        proof=proof_in_words(library_target(library.label).verified_against) if library.is_modelled else "",
        source=library.source,
    )


def _cells(row: LibraryRow) -> tuple[str, ...]:
    remark = row.changed or "none" if row.is_modelled else row.nearest
    modelled, upstream = "yes" if row.is_modelled else "no", row.upstream
    version = row.version if len(row.releases) == 1 else f"{row.releases[0]} to {row.version}"
    kernels = f"{row.kernels} {row.kernels_range}".rstrip()
    said = upstream.date, upstream.first, kernels, row.target, remark, row.proof, row.source
    return row.name, version, modelled, *said
