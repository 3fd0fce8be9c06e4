"""Print how much of ../shared/golden, and of what other people read on their boards, the simulation reproduces.

Without ../shared it is the committed sample of it, tests/golden/sample, and no reading.

    python tools/golden_report.py                 every configuration, and the readings
    python tools/golden_report.py cm4_ref         one, with the differences
    python tools/golden_report.py readings        the readings alone

Exit code 1 when anything differs. "exact" means: status,
log, every figure and category, both smallest arenas, what the device prints one byte below them, and every event of
both traces.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import frame
from truth.claims import CLAIMS, Claim, find_model
from truth.golden import CONFIGURATIONS, PACKED, SAMPLE, Golden, differences, golden_files, off_by, recordings

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import TflmSimError


def judge(golden: Golden) -> tuple[str, list[str], int]:
    """Return the model's name, where it differs, and by how many bytes ``arena_used_bytes`` is off."""
    try:
        found = differences(golden)
        off = abs(off_by(golden, simulate(golden.model, golden.target, interpreter="plain"))) if found else 0
    except TflmSimError as error:
        found, off = [str(error)], 0
    return golden.path.stem, found, off


def _verdict(claim: Claim, off: int | None) -> str:
    if off is None:
        return "the model is not in ../shared"
    if off:
        return f"no, {off:+,}"
    if claim.address and claim.head is None:
        return f"only if the arena starts at {claim.address} modulo 16: not proved"
    return "yes"


def print_readings() -> bool:
    """Print the figures that other people read, with ours; return whether one differs that should not."""
    print()
    table = frame.Table({"reading": "<36", "said": ">8,", "ours": ">8,", "exact": "<"})
    failed = False
    for claim in CLAIMS:
        model = find_model(claim.digest)
        ours = None if model is None else claim.ours(model)
        off = None if ours is None else ours - claim.said
        failed |= off not in (None, 0)
        table.row(claim.name, claim.said, ours, _verdict(claim, off))
    return failed


def main(arguments: Sequence[str]) -> int:
    """Print the table and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a configuration, or 'readings'")
    names = parser.parse_args(arguments).names
    if names == ["readings"]:
        return int(print_readings())
    chosen = names or [*CONFIGURATIONS, *(() if recordings() == SAMPLE else PACKED)]
    if recordings() == SAMPLE:
        print("the recordings of 283 models are not here (../shared/golden): the committed sample of them")
    table = frame.Table({"configuration": "<24", "models": ">6", "exact": ">6", "off by at most": "<"})
    failed = False
    for name in chosen:
        with ProcessPoolExecutor() as pool:
            rows = list(pool.map(judge, golden_files(name), chunksize=8))
        exact = sum(not found for _, found, _ in rows)
        worst = max((off for *_, off in rows), default=0)
        table.row(name, len(rows), exact, f"{worst:,} bytes")
        failed |= exact != len(rows) or not rows
        if len(chosen) == 1:
            for model, found, _ in rows:
                for line in found:
                    print(f"  {model}: {line[:400]}")
    if not names and recordings() != SAMPLE:
        failed |= print_readings()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
