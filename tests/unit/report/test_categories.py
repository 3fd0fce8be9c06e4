"""The colours of the pictures: what a terminal shows is what is nearest to the page's, and all can be told apart."""

from __future__ import annotations

from itertools import product

import pytest

from tflm_sim.arena.stages import GROUPS
from tflm_sim.report.categories import CATEGORIES, Category

LEVELS = (0, 95, 135, 175, 215, 255)
TERMINAL = {
    **{16 + 36 * r + 6 * g + b: (LEVELS[r], LEVELS[g], LEVELS[b]) for r, g, b in product(range(6), repeat=3)},
    **{232 + number: (8 + 10 * number,) * 3 for number in range(24)},
}
"""The colours 16 to 255 of a terminal: a cube of six levels and 24 greys. Source: xterm, 256colres.h."""


def rgb(color: str) -> tuple[int, int, int]:
    """Return the parts of #rrggbb."""
    red, green, blue = bytes.fromhex(color.removeprefix("#"))
    return red, green, blue


@pytest.mark.parametrize("key", CATEGORIES)
def test_a_terminals_colour_is_the_nearest_to_the_one_on_a_light_ground_that_no_other_has(key: str) -> None:
    row = CATEGORIES[key]

    def far(number: int) -> int:
        return sum((a - b) ** 2 for a, b in zip(TERMINAL[number], rgb(row.light), strict=True))

    free = TERMINAL.keys() - {other.ansi for other in CATEGORIES.values() if other is not row}
    assert row.ansi == min(free, key=far)


@pytest.mark.parametrize(
    ("light", "ink"),
    [
        ("#000000", "#ffffff"),
        ("#ffffff", "#10151c"),
        ("#969696", "#ffffff"),  # 150 of 255
        ("#979797", "#10151c"),
        ("#ff0000", "#ffffff"),  # 0.3 * 255 = 76.5
        ("#00ff00", "#10151c"),  # 0.59 * 255 = 150.45
        ("#00fe00", "#ffffff"),  # 0.59 * 254 = 149.86
        ("#fe7d00", "#ffffff"),  # 76.2 + 73.75 = 149.95
        ("#ff7d00", "#10151c"),  # 76.5 + 73.75 = 150.25
        ("#00f820", "#ffffff"),  # 146.32 + 3.52 = 149.84
        ("#00f822", "#10151c"),  # 146.32 + 3.74 = 150.06
    ],
)
def test_letters_are_dark_where_30_59_and_11_percent_of_the_parts_are_more_than_150(light: str, ink: str) -> None:
    assert Category("k", "t", "head", light, light, 16, "k").ink == ink


def test_colours_and_letters_of_the_head_can_be_told_apart() -> None:
    for attribute in ("light", "dark", "ansi"):
        assert len({getattr(row, attribute) for row in CATEGORIES.values()}) == len(CATEGORIES)
    letters = [row.letter for row in CATEGORIES.values() if row.section != "tail"]
    assert len({*letters}) == len(letters)
    assert {row.letter for row in CATEGORIES.values() if row.section == "tail"} == {"="}
    assert {key for key, row in CATEGORIES.items() if row.section == "tail"} == {*GROUPS}
