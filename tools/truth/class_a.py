"""Print each class A figure of ../shared/models/CLAIMS.md with what we say for the TFLM and kernels that it names.

    python tools truth class_a             the table
    python tools truth class_a --snapshots and between which commits' days upstream gives it, with all its details

Class A are figures that a device or a build printed. A row is explained when one build of a library gives every number
that its source shows; otherwise the table says what is missing. Exit code 1 when a row of the file has no line here, or
an explained figure is not met. Source: find_string and the repositories that CLAIMS.md names, read on 2026-11-22.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise

import frame
from truth.claims import CLAIMS, MODELS, Claim, find_model

from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.targets.changes import CHANGES, UPSTREAM
from tflm_sim.targets.history import main_line

CLASS_A = MODELS / "CLAIMS.md"

EXPLAINED: dict[int, str] = {
    82_300: "esp-tflite-micro@1.4.0",
    82_740: "chirale@2.0.0",
    22_780: "esp-tflite-micro@1.4.0",
    24_164: "chirale@2.0.0",
    54_364: "esp-tflite-micro@1.4.0",
    55_188: "chirale@2.0.0",
    2_380: "esp-tflite-micro@1.4.0",
    2_596: "chirale@2.0.0",
    84_428: "tflm_benchmark: recording, room for 100 resource variables",
    89_248: "tflm_benchmark: recording, room for 100 resource variables",
    14_736: "recording; TFLM of late 2021",
    23_412: "ProfileMemoryAndLatency copied: room for 24 resource variables; arena at 12 (release: 8) modulo 16",
    2_392: "ProfileMemoryAndLatency: room for 24 resource variables, arena of 3,000 bytes",
    1_400: "ProfileMemoryAndLatency on a KM4 with CMSIS-NN: arena of 3,000 bytes at 8 modulo 16",
    15_732: "example_tflm_mnist on a KM4 with CMSIS-NN: room for 24 resource variables, arena of 30,000 bytes",
    10_016: "Python wheel of October 2022: no TF_LITE_STATIC_MEMORY; the model of generate_test_models.py",
    25_796: "esphome, esp_nn@1.1.2: only if the arena starts at 8 modulo 16, which nothing proves",
}
"""What stands behind a figure that we meet, by the claimed bytes."""

MISSING: dict[int, str] = {
    8_672: "the model: no file with 17 tensors of that note is public",
    16_204: "Cadence's HiFi 5 kernels (xa_nnlib v2.3.0) are not modelled; its KM4 build, 15,732, is explained",
    536_059: "the model",
    80_656: "the model, and which TFLM",
    3_952: "the model",
    101_264: "the model",
    1_086_052: "the scratch of Himax's Ethos-U driver is not public",
    9_568: "TFLM of August 2020, before tflite-micro's first commit; head 7,744 and eval tensors 360 agree",
    24_896: "the model, and TensorFlow 2.1's TFLM",
    1_392: "the model, and TensorFlow 2.1's TFLM",
    904: "the model (5 operators, 12 tensors); 'OpData' of 12 B is TFLM of before April 2021",
}
"""What an explanation would need, by the claimed bytes."""


def class_a_rows() -> list[tuple[str, int, str]]:
    """Return (model, claimed bytes, platform) of each class A row, as in the file."""
    section = CLASS_A.read_text().split("\n## A. ")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return [(row[0], int(row[2].replace(",", "")), row[3]) for row in rows[1:]]


def claims_of(said: int) -> list[Claim]:
    """Return the set-ups that explain a row; ESPHome's rows are class D but for one."""
    return [claim for claim in CLAIMS if claim.said == said]


def is_met(claim: Claim, model: Model, *, runtime: str | None = None) -> bool:
    """Whether a build gives every number that the claim's source shows."""
    run = claim.simulation(model, runtime=runtime)
    counted = run.recorded["kPersistentBufferData"]
    buffers = (counted.requested, counted.used, counted.count)
    heads = (run.head_bytes, run.tail_bytes) == (claim.head, claim.said - (claim.head or 0))
    figure = claim.ours(model) if runtime is None else run.arena_used_bytes
    return figure == claim.said and (claim.head is None or heads) and claim.buffers in (None, buffers)


def days(claim: Claim, model: Model) -> Iterator[tuple[str, str]]:
    """Yield the first and the last day of each stretch of upstream's history that meets a claim."""
    commits = main_line()
    rows = [row for row in CHANGES.values() if row.tree == UPSTREAM]
    edges = sorted({4, len(commits) + 1} | {row.position for row in rows} | {row.until for row in rows})
    first = ""
    for start, end in pairwise(edge for edge in edges if 4 <= edge <= len(commits) + 1):
        try:
            met = is_met(claim, model, runtime=commits[end - 2].short)
        except TflmSimError:
            met = False
        if met and not first:
            first = commits[start - 1].day
        if first and not met:
            yield first, commits[start - 2].day
            first = ""
    if first:
        yield first, commits[-1].day


def _answer(said: int, *, snapshots: bool) -> tuple[str, str, bool]:
    """Return our figure, what is behind it, and whether the row is as the tables say."""
    if said in MISSING:
        return "-", f"missing: {MISSING[said]}", True
    if said not in EXPLAINED:
        return "-", "no line for it", False
    good, notes, ours = True, [], "-"
    for claim in claims_of(said):
        model = find_model(claim.digest)
        if model is None:
            notes.append("the model is not in ../shared")
            continue
        ours = f"{claim.ours(model):,}"
        good &= is_met(claim, model)
        if snapshots and claim.library is None:
            notes.append(", ".join(f"{first} to {last}" for first, last in days(claim, model)))
    return ours, "; ".join([EXPLAINED[said], *dict.fromkeys(notes)]), good and bool(claims_of(said))


def main(arguments: list[str] | None = None) -> int:
    """Print the table and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("--snapshots", action="store_true", help="between which days upstream gives it")
    options = parser.parse_args(arguments)
    table = frame.Table(
        {"said": ">10,", "ours": ">7", "model, platform": "<50", "explanation, or what is missing": "<"}
    )
    failed = False
    for model, said, platform in class_a_rows():
        ours, why, good = _answer(said, snapshots=options.snapshots)
        failed |= not good
        label = re.sub(r" \([^()]*\)", "", f"{model}, {platform}")
        table.row(said, ours, label, why if good else f"WRONG: {why}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
