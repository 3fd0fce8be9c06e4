"""Print how much of ../shared/history, real figures of old and new TFLM, the simulation reproduces.

    python tools/history_report.py                 every snapshot
    python tools/history_report.py 2022-06         one, with the differences
    python tools/history_report.py FOLDER COMMIT   records of your own, FOLDER/COMMIT.json

"exact" means: status, what arena_used_bytes() says in a roomy arena, the smallest arena, what arena_used_bytes() says
in it, and what the device prints one byte below. Exit code 1 when anything differs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import frame

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import configure
from tflm_sim.errors import TflmSimError
from tflm_sim.model.load import load
from tflm_sim.ops.kernel import longest_argument

HISTORY = frame.SHARED / "history"
DIRECTORY_LENGTH = 27
"""How long the path is, in characters, in which they were compiled; it shows in one record of 2021."""
MOST_CHARACTERS = 200
"""How much of what the device prints the records keep."""


def _differences(name: str, facts: dict[str, Any], runtime: str, directory: int | None) -> Iterator[tuple[str, int]]:
    """Yield where one model differs, with the bytes by which it is off."""
    model = load(frame.SHARED / "models" / f"{name}.tflite")
    target = configure("x86_64", kernels="reference", runtime=runtime)
    directory = None if target.target.runtime.has("vsnprintf") else directory
    roomy = simulate(model, target)
    if roomy.status != facts["status"]:
        yield f"status {roomy.status} here, {facts['status']} on the device", 0
        return
    if facts["status"] != "ok":
        yield from _lines(roomy.log, facts.get("log", ""), directory=directory)
        return
    off = roomy.arena_used_bytes - facts["used"]
    if off:
        yield f"used {roomy.arena_used_bytes} here, {facts['used']} on the device", abs(off)
    smallest = roomy.smallest
    if smallest is None:
        yield "works in no arena here", 0
        return
    if smallest.size != facts["smallest"]:
        yield (
            f"smallest {smallest.size} here, {facts['smallest']} on the device",
            abs(smallest.size - facts["smallest"]),
        )
    if smallest.arena_used_bytes != facts["used_at_smallest"]:
        yield f"used at the smallest {smallest.arena_used_bytes} here, {facts['used_at_smallest']} on the device", 0
    below = simulate(model, target, arena_size=facts["smallest"] - 1)
    if below.fits:
        yield "fits in one byte less here", 0
    yield from _lines(below.log, facts["binding_log_one_byte_below"], directory=directory)


def _lines(ours: Sequence[str], theirs: str, *, directory: int | None) -> Iterator[tuple[str, int]]:
    """Compare what is printed: without white space, as far as the record goes."""
    lines = ours if directory is None else [_as_compiled(line, directory) for line in ours]
    here = "".join("".join(lines).split())[: MOST_CHARACTERS * 2]
    there = "".join(theirs.split())
    if not here.startswith(there) and there != here:
        yield f"prints {here[:150]!r} here, {there[:150]!r} on the device", 0


def _as_compiled(line: str, directory: int) -> str:
    """Return what a device prints that was compiled in the directory in which the records were.

    Old versions print a long text the shorter the longer the file's path is, of which the records keep the end alone.
    """
    found = re.match(r"(\S+:\d+ )(.*)( was not true\.)$", line)
    if found is None or "->" not in found[2]:
        return line
    return found[1] + found[2][: longest_argument(len(found[1]) + directory)] + found[3]


def judge(
    runtime: str, item: tuple[str, dict[str, Any]], directory: int = DIRECTORY_LENGTH
) -> tuple[str, list[str], int]:
    """Return a model's name, where it differs, and by how many bytes at most.

    Args:
        runtime: The commit.
        item: The model's name and its record.
        directory: How long the path is, in characters, in which the record's TFLM was compiled.
    """
    name, facts = item
    try:
        found = list(_differences(name, facts, runtime, directory))
    except TflmSimError as error:
        found = [(f"{type(error).__name__}: {error}", 0)]
    return name, [text for text, _ in found], max((off for _, off in found), default=0)


def records(arguments: Sequence[str]) -> list[tuple[str, str, Path]]:
    """Return (snapshot, commit, file) of each record that is asked for."""
    if len(arguments) == 2:
        return [(arguments[1], arguments[1], Path(arguments[0]) / f"{arguments[1]}.json")]
    snapshots = json.loads(frame.recorded(HISTORY / "SNAPSHOTS.json").read_text(encoding="utf-8"))
    rows = [(snapshot, commit, HISTORY / f"{snapshot}.json") for snapshot, commit in sorted(snapshots.items())]
    return [row for row in rows if row[2].exists() and (not arguments or row[0] in arguments)]


def main(arguments: Sequence[str]) -> int:
    """Print the table and return the exit code."""
    columns = {"snapshot": "<12", "commit": "<10", "models": ">6", "exact": ">6", "off by at most": "<"}
    table = frame.Table(columns)
    failed = False
    with ProcessPoolExecutor(2) as pool:
        for snapshot, commit, path in records(arguments):
            facts = json.loads(path.read_text(encoding="utf-8"))
            rows = list(
                pool.map(
                    partial(judge, commit, directory=0 if len(arguments) == 2 else DIRECTORY_LENGTH),
                    facts.items(),
                    chunksize=4,
                )
            )
            exact = sum(not found for _, found, _ in rows)
            table.row(snapshot, commit, len(rows), exact, f"{max(off for *_, off in rows):,} bytes")
            failed |= exact != len(rows)
            if arguments:
                for name, found, _ in rows:
                    for line in found:
                        print(f"  {name}: {line}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
