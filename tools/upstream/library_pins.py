"""Remake ``targets/library_pins.py``: what the releases of libraries that are published on PyPI pin.

    python tools upstream library_pins --write    without --write: say how the table differs, exit code 1 where it does

ESPHome's package names the version of esp-tflite-micro in ``components/micro_wake_word/__init__.py``, and in some
releases that of esp-nn. The first release of every month is downloaded with pip, and between two that differ a
bisection finds where: a pin that came and went within a month would not be seen.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from zipfile import ZipFile

import frame

TABLE = Path(__file__).parents[2] / "tflm_sim" / "targets" / "library_pins.py"
FIRST = (2024, 2, 0)
"""The release in which micro_wake_word came."""
PINNED = "esphome/components/micro_wake_word/__init__.py"
_COMPONENT = re.compile(
    r'add_idf_component\(\s*name="(?:espressif/)?(esp-tflite-micro|esp-nn)"(?:,\s*repo="[^"]*")?(?:,\s*ref="([^"]*)")?'
)
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
Pins = tuple[str, str]
"""The versions of esp-tflite-micro and of esp-nn; "" where the release names none."""


def releases() -> list[str]:
    """Return the releases of ESPHome that have micro_wake_word, the oldest first."""
    listed = subprocess.run([*_PIP, "index", "versions", "esphome"], check=True, capture_output=True, text=True).stdout
    found = re.findall(r"\b\d{4}\.\d+\.\d+\b", listed.split("Available versions:")[1].splitlines()[0])
    return sorted((each for each in found if number(each) >= FIRST), key=number)


def number(release: str) -> tuple[int, ...]:
    """Return a release as numbers, by which they are in order."""
    return tuple(map(int, release.split(".")))


@cache
def pins(release: str) -> Pins:
    """Return what a release pins."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--ignore-requires-python", "--dest", folder)
        subprocess.run([*_PIP, "download", *options, f"esphome=={release}"], check=True, stderr=subprocess.DEVNULL)
        (wheel,) = Path(folder).glob("esphome-*.whl")
        with ZipFile(wheel) as archive:
            return pins_of(archive.read(PINNED).decode())


def pins_of(source: str) -> Pins:
    """Return what the source of micro_wake_word pins; a tag of a repository is written as the registry's version."""
    found = dict(_COMPONENT.findall(source))
    runtime, kernels = (found.get(name, "").removeprefix("v") for name in ("esp-tflite-micro", "esp-nn"))
    return re.sub(r"^(\d+\.\d+\.\d+)\.(\d+)$", r"\1~\2", runtime), kernels


def pinned(known: Sequence[str], look: Callable[[str], Pins]) -> Iterator[tuple[Pins, list[str]]]:
    """Yield neighbouring releases that pin the same, in order."""
    looked = {release: look(release) for release in known if release.endswith(".0") or release == known[-1]}
    marks = [index for index, release in enumerate(known) if release in looked]
    for low, high in pairwise(marks):
        at = low
        while looked[known[at]] != looked[known[high]]:
            at = _last_alike(known, at, high, looked, look) + 1
    filled: list[tuple[Pins, str]] = []
    for release in known:
        filled.append((looked[release] if release in looked else filled[-1][0], release))
    for what, group in groupby(filled, key=lambda row: row[0]):
        yield what, [release for _, release in group]


def _last_alike(known: Sequence[str], low: int, high: int, looked: dict[str, Pins], look: Callable[[str], Pins]) -> int:
    """Return the last release from ``low`` on that pins the same; the next one, which does not, is looked at."""
    wanted, end = looked[known[low]], high
    while end - low > 1:
        middle = (low + end) // 2
        looked[known[middle]] = look(known[middle])
        low, end = (middle, end) if looked[known[middle]] == wanted else (low, middle)
    return low


def table(rows: Sequence[tuple[Pins, list[str]]]) -> str:
    """Return the module."""
    lines = [
        '"""What the releases of libraries pin, by their packages; made by ``python tools upstream library_pins``."""',
        "",
        "# fmt: off",
        "ESPHOME: tuple[tuple[str, str, str], ...] = (",
    ]
    for (runtime, kernels), known in rows:
        lines.append(f'    ("{runtime}", "{kernels}",')
        lines += [f'     "{line} "' for line in textwrap.wrap(" ".join(known), 108)]
        lines[-1] += "),"
    words = 'Versions of esp-tflite-micro and of esp-nn, "" where none is named; the releases with them, in order.'
    return "\n".join([*lines, ")", "# fmt: on", f'"""{words}"""', ""])


def main() -> int:
    """Write the table, or compare it."""
    parser = frame.parser(__doc__)
    parser.add_argument("--write", action="store_true", help="write the table instead of comparing")
    is_written = parser.parse_args().write
    made = table(list(pinned(releases(), pins)))
    if is_written:
        TABLE.write_text(made)
    elif made != TABLE.read_text():
        print(f"{TABLE} is not what the published packages say; --write remakes it")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
