"""``tflm-sim list targets``: the presets, and what each was measured with; of one, its TFLMs and kernel libraries."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.cli.terminal import show_rows
from tflm_sim.errors import UsageError
from tflm_sim.names import names_with, plain
from tflm_sim.targets.changes import CMSIS_NN_PINS
from tflm_sim.targets.evidence import RECORDINGS, evidence
from tflm_sim.targets.history import find_commit, is_commit, main_line
from tflm_sim.targets.kernel_library import versions_of
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.presets import PRESETS, preset
from tflm_sim.targets.reference import WHEEL_SNAPSHOT
from tflm_sim.targets.runtime import FIRST_BUILD, find_runtime
from tflm_sim.targets.target import Target


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A preset, and whether it was measured.

    Attributes:
        verified_against: The recordings of real TFLM with this core, these kernels and this TFLM; "" for none.
        proof: The same in words; where there is none "not measured", and what comes nearest.
    """

    name: str
    description: str
    abi: str
    kernels: str
    verified_against: str
    proof: str


@dataclass(frozen=True, slots=True)
class CombinationRow:
    """A target with a version of TFLM and kernels, and whether they were measured together.

    Attributes:
        proof: What they were measured with, in words; else "not measured", and what comes nearest.
    """

    target: str
    tflm: str
    kernels: str
    proof: str


def run(args: argparse.Namespace) -> int:
    """Print the targets; of one that is named its combinations with every TFLM and kernel library."""
    names = names_with(args.word, {name: row.description for name, row in PRESETS.items()})
    if not names or plain(names[0]) == plain(args.word):
        found = list(combination_rows(names[0] if names else preset(args.word).name))
        return show_rows(
            found,
            ("TFLM", "kernels", "compared with", "in full"),
            lambda row: (row.tflm, row.kernels, _in_short(row.proof), row.proof),
            as_json=args.json,
            order=("TFLM", "kernels", "compared with"),
            is_long=args.long,
        )
    return show_rows(
        [target_row(preset(name)) for name in names],
        ("target", "ABI", "kernels", "compared with", "what it is", "in full"),
        _cells,
        as_json=args.json,
        order=("target", "compared with", "kernels", "ABI", "what it is"),
        is_long=args.long,
        is_chosen=bool(args.word),
    )


def _cells(row: TargetRow) -> tuple[str, ...]:
    kernels = row.kernels.partition(" ")[0]
    return row.name, row.abi, kernels, _in_short(row.proof), row.description, row.proof


def _in_short(proof: str) -> str:
    """Return the first thing that a target was measured with: "real TFLM"."""
    return re.split(r", |; | \(| at ", proof)[0]


def combination_rows(name: str) -> Iterator[CombinationRow]:
    """Yield the combinations for a target: the newest TFLM with each kernel library, then older ones with theirs.

    Of the older ones there are those with which another CMSIS-NN began, and those that were measured.
    """
    row = PRESETS[name]
    # That CMSIS-NN's plain C runs on an ESP32 too matters to a few libraries alone, which name it themselves.
    libraries = {each: variant for each, variant in row.libraries.items() if each != "cmsis_nn" or row.kernels == each}
    versions = [
        f"{library}@{version}"
        for library, variant in libraries.items()
        for version in versions_of(library.removesuffix("_ansi"), variant)
    ]
    for kernels in ("reference", *versions) if row.own_kernels is None else (None,):
        yield from _row(name, row.runtime.snapshot, kernels, None)
    if row.runtime.is_counted:
        wheel = find_runtime(WHEEL_SNAPSHOT)
        yield from _row(name, f"{wheel.day} ({wheel.snapshot})", "reference", wheel.snapshot)
    yield from _row(
        name, f"{main_line()[FIRST_BUILD - 1].day} and later", "reference", main_line()[FIRST_BUILD - 1].short
    )
    if "cmsis_nn" in libraries:
        for pin, change in reversed(CMSIS_NN_PINS.items()):
            yield from _row(name, f"{change.date} and later", f"cmsis_nn@{pin}", change.commit)
    measured = {
        (find_commit(commit), recording.kernels.partition(" ")[0])
        for recording in RECORDINGS
        if name in recording.cores
        for commit in recording.tflm
        if is_commit(commit) and commit != row.runtime.snapshot
    }
    for commit, kernels in sorted(measured, key=lambda pair: pair[0].position):
        yield from _row(name, f"{commit.day} ({commit.short})", kernels, commit.short)
    for library in LIBRARIES:
        if library.is_modelled and library.kernels_on(name) in libraries:
            yield from _row(name, library.label, library.kernels_on(name), library.label)


def _row(name: str, tflm: str, kernels: str | None, runtime: str | None) -> Iterator[CombinationRow]:
    """Yield the row of a combination; nothing where no such build exists."""
    try:
        chosen = preset(name, kernels=kernels, runtime=runtime)
    except UsageError:
        return
    yield CombinationRow(name, tflm, str(chosen.kernel_library), evidence(chosen))


def target_row(target: Target) -> TargetRow:
    return TargetRow(
        name=target.name,
        description=target.description,
        abi=target.abi.name,
        kernels=str(target.kernel_library),
        verified_against=target.verified_against,
        proof=evidence(target),
    )
