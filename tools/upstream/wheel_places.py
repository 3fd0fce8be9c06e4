"""Bring ``ops/places.txt`` up to date from pip wheels: where checks are in versions of which there is no checkout.

    python tools upstream wheel_places WHEEL.whl [...]            where a wheel and the table differ, exit code 1
    python tools upstream wheel_places WHEEL.whl [...] --write    add the wheels' versions to the table

The wheels are those of ``targets/reference.py``: ``pip download --no-deps tflite-micro==0.devVERSION`` gets one. One of
them has to be that of the newest counted commit: what it does not print of the checks of its version, no wheel prints.
Versions of the table from the first of the others on are made anew; those before it stay.
These are checks that always hold, every TFLITE_DCHECK, and the lines of TF_LITE_ENSURE_MSG; they keep their distance
from the nearest check that is printed. Kernels that no wheel has (``cmsis_nn/``, ``esp_nn/``) keep their last version.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from difflib import SequenceMatcher
from pathlib import Path

import frame
from upstream.places import PLACES, Lines, Versions, named_files, said
from upstream.printed_checks import Printed, Wheel

from tflm_sim.ops.places import Version, full_place, read, version_at, written
from tflm_sim.targets.changes import NEWEST, UPSTREAM
from tflm_sim.targets.history import main_line, wheels
from tflm_sim.targets.reference import LAST_COUNTED

_VERSION = re.compile(r"tflite_micro-0\.dev(\d{14})-")
_MOVED = {"tensorflow/lite/kernels/kernel_util.cc": ("tflite_kernel_util.cc", "kernel_util.cc")}
"""The files in which the code of a file was later, under the name that the table has it by."""


def brought_forward(last: Lines, found: Iterable[Printed], unseen: Collection[str], messages: Collection[str]) -> Lines:
    """Return the lines of a file's checks in the next version.

    Args:
        last: Those of the version before.
        found: The file's checks that the wheel prints.
        unseen: The keys of checks that no wheel prints.
        messages: What the version's TF_LITE_ENSURE_MSG say; one that is new has the line 0, for none is printed.
    """
    silent = last.keys() & {*unseen, *messages}
    spoken = sorted((line, key) for key, line in last.items() if key not in silent)
    checks = sorted({(one.line, one.text, one.function) for one in found})
    alike = SequenceMatcher(None, [said(key) for _, key in spoken], [text for _, text, _ in checks], autojunk=False)
    lines: Lines = {}
    named = set()
    for old, new, length in alike.get_matching_blocks():
        for (_, key), check in zip(spoken[old : old + length], checks[new : new + length], strict=True):
            lines[key] = check[0]
            named.add(check)
    moves = [(last[key], line - last[key]) for key, line in lines.items()]
    for line, text, function in (check for check in checks if check not in named):
        names = (text, *(f"{function}: {text}{number}" for number in ("", " #2", " #3", " #4")))
        lines[next(name for name in names if name not in lines)] = line
    taken = set(lines.values())
    for key in silent:
        line = last[key] + min(moves, key=lambda move: abs(move[0] - last[key]), default=(0, 0))[1]
        if line not in taken:  # Else it is printed now: a TFLITE_DCHECK that became a TF_LITE_ENSURE.
            lines[key] = line
    lines |= dict.fromkeys(set(messages) - lines.keys(), 0)
    return dict(sorted(lines.items(), key=lambda row: row[1]))


class PlacesOfWheels:
    """The versions of each file in the order of the wheels (mutable: wheels are added).

    Args:
        table: The versions of each file up to the newest counted commit.
        base: The wheel of that commit.
    """

    def __init__(self, table: dict[str, Versions], base: Wheel) -> None:
        self.table = table
        self._unseen: dict[str, set[str]] = {}
        printed = _by_file(base)
        for file in table:
            last = version_at(table[file], LAST_COUNTED).lines
            shown = {(one.line, one.text) for one in printed.get(full_place(file), ())}
            self._unseen[file] = {key for key, line in last.items() if (line, said(key)) not in shown}
            self._unseen[file] -= base.messages(full_place(file))

    def add(self, wheel: Wheel, position: int) -> None:
        """Add the version of each file that a wheel has otherwise than the one before it."""
        printed = _by_file(wheel)
        for file in named_files(UPSTREAM):
            versions = self.table.setdefault(file, [])
            last = version_at(versions, position)
            then = _place_then(file, last.lines, printed)
            found = printed.get(full_place(then), [])
            if not found:
                continue
            messages = wheel.messages(full_place(then))
            lines = brought_forward(last.lines, found, self._unseen.get(file, set()), messages)
            row = Version(position, lines, "" if then == file else then)
            if row[1:] != last[1:]:
                versions.append(row)
        self.table = {file: versions for file, versions in self.table.items() if versions}


def _by_file(wheel: Wheel) -> dict[str, list[Printed]]:
    found: dict[str, list[Printed]] = {}
    for check in wheel.checks():
        found.setdefault(check.file, []).append(check)
    return found


def _place_then(file: str, last: Lines, printed: dict[str, list[Printed]]) -> str:
    """Return the file in which the code is: of those where it can be, the one with most of its checks."""
    texts = set(map(said, last))
    names: tuple[str, ...] = (file, *_MOVED.get(file, ()))
    return max(names, key=lambda name: sum(one.text in texts for one in printed.get(full_place(name), ())))


def main(arguments: Sequence[str]) -> int:
    """Compare or write, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL.whl")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args(arguments)
    positions = {commit.seconds: commit.position for commit in (main_line()[-1], *wheels())}
    given: dict[int, Path] = {}
    for path in args.wheels:
        version = _VERSION.match(path.name)
        seconds = version and int(datetime.strptime(f"{version[1]}+0000", "%Y%m%d%H%M%S%z").astimezone(UTC).timestamp())
        if seconds not in positions:
            parser.error(f"{path.name}: not a wheel of tflm_sim/targets/reference.py, nor of the newest counted commit")
        given[positions[seconds]] = path
    if LAST_COUNTED not in given:
        parser.error(f"the wheel of {main_line()[-1].short}, the newest counted commit, is not among them")
    held = read(PLACES.read_text("utf-8").splitlines())
    base = Wheel(given.pop(LAST_COUNTED))
    kept = {
        file: [version for version in versions if version.since < min(given, default=NEWEST)]
        for file, versions in held[UPSTREAM].items()
    }
    found = PlacesOfWheels(kept, base)
    for position, path in sorted(given.items()):
        found.add(Wheel(path), position)
    if args.write:
        PLACES.write_text(written({**held, UPSTREAM: found.table}), encoding="utf-8")
        return 0
    differing = sorted(
        file for file in held[UPSTREAM] | found.table if held[UPSTREAM].get(file) != found.table.get(file)
    )
    print("\n".join(f"{file}: lines differ from those of the wheels" for file in differing) or "all lines are right")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
