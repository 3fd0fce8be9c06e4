"""Where the conditions stand that kernels check, by the release of the runtime: its messages name the line.

The lines were read out of the machine code of the wheels, which passes them to its error reporter. The table next to
this module has a row for each condition: its file below tflite/kernels, its line in each release (nothing where a
release has no such condition), its left side, its right side ("" for a condition that is no comparison).

Source: libpywrap_litert_common.so of ai-edge-litert 2.3.0 and of ai-edge-litert-nightly 2.4.0.dev20261026
(tools/upstream/lite_conditions.py)
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE

SUBGRAPH = "../core/subgraph.cc"
"""What the table calls tflite/core/subgraph.cc."""

_Lines = dict[str, int]


@cache
def _rows() -> dict[tuple[str, str, str], tuple[list[_Lines], list[_Lines]]]:
    """Return the lines by release of each condition of a text: those in the first release with any, then the others."""
    header, *rows = files(__package__).joinpath("conditions.txt").read_text("utf-8").splitlines()
    releases = header.split("\t")[1:-2]
    found: dict[tuple[str, str, str], list[_Lines]] = {}
    for row in rows:
        file, *cells, left, right = row.split("\t")
        lines = {release: int(cell) for release, cell in zip(releases, cells, strict=True) if cell}
        found.setdefault((file, left, right), []).append(lines)
    table = {}
    for text, same in found.items():
        first = next(release for release in releases if any(release in lines for lines in same))
        table[text] = [lines for lines in same if first in lines], [lines for lines in same if first not in lines]
    return table


def line_of(file: str, left: str, right: str, number: int = 1, release: str = DEFAULT_RELEASE) -> int | None:
    """Return the line of a condition in a file, None where the release has no such condition.

    ``number`` says which one of that text, 1 the first, 0 the last, of those in the first release that has any; where
    there are fewer, it is the last. -1 is the first of those that later releases added.

    Raises:
        TflmSimError: The table has no such condition.
    """
    rows = _rows().get((file, left, right))
    if rows is None:
        text = f"{left} != {right}" if right else left
        raise TflmSimError(
            f"the line of the check '{text}' in tflite/kernels/{file} is not known: "
            "extensions/lite/kernels/conditions.txt has no row of it; python tools upstream lite_tables CHECKOUT "
            "compares that table with a clone of google-ai-edge/LiteRT"
        )
    first, added = rows
    return (added[-number - 1] if number < 0 else first[min(number, len(first)) - 1]).get(release)
