"""Where the conditions stand that kernels check, by the release of the runtime: its messages name the line.

The lines were read out of the machine code of the released wheel, which passes them to its error reporter; the
table next to this module has a row for each: file below tflite/kernels, line, left side, right side ("" for a condition
that is no comparison).

Source: ai-edge-litert 2.3.0, libpywrap_litert_common.so
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tflm_sim.errors import TflmSimError


@cache
def _lines() -> dict[tuple[str, str, str], list[int]]:
    table: dict[tuple[str, str, str], list[int]] = {}
    for row in files(__package__).joinpath("conditions.txt").read_text("utf-8").splitlines():
        file, line, left, right = row.split("\t")
        table.setdefault((file, left, right), []).append(int(line))
    return table


def line_of(file: str, left: str, right: str, number: int = 1) -> int:
    """Return the line of a condition in a file.

    ``number`` says which one of that text, 1 the first, 0 the last; where there are fewer, it is the last.

    Raises:
        TflmSimError: The table has no such condition.
    """
    lines = _lines().get((file, left, right))
    if lines is None:
        text = f"{left} != {right}" if right else left
        raise TflmSimError(
            f"the line of the check '{text}' in tflite/kernels/{file} is not known: "
            "extensions/lite/kernels/conditions.txt has no row of it; python tools upstream lite_tables CHECKOUT "
            "compares that table with a clone of google-ai-edge/LiteRT"
        )
    return lines[min(number, len(lines)) - 1]
