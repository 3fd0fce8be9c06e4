"""The colours of the pictures: everybody tells five meanings apart, on screens, in terminals and on grey paper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import dist

import pytest

from tflm_sim.arena.stages import GROUPS
from tflm_sim.palette import CATEGORIES, INK, MARK, MEANINGS, SERIES, SOFT, contrast

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


# Distances are those of CIELAB (Delta E of 1976): 2 is just seen, 10 at a glance. A block is seen against the others of
# the picture, so that each kind of one meaning must be that far from each kind of another.
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
"""What is left of linear red, green and blue. Source: Machado, Oliveira and Fernandes (2009), table 1, severity 1.0."""
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
"""From linear sRGB, white D65. Source: IEC 61966-2-1."""
PAIRS = [(one, other) for one, other in combinations(CATEGORIES.values(), 2) if one.meaning != other.meaning]
GROUNDS = ("light", "dark")


def linear(color: str) -> list[float]:
    parts = [part / 255 for part in rgb(color)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def times(rows: Sequence[Sequence[float]], parts: Sequence[float]) -> list[float]:
    return [min(max(sum(a * b for a, b in zip(row, parts, strict=True)), 0), 1.1) for row in rows]


def lab(parts: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (
        value ** (1 / 3) if value > 216 / 24389 else (24389 / 27 * value + 16) / 116
        for value in (part / white for part, white in zip(times(XYZ, parts), (0.95047, 1, 1.08883), strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_the_distances_are_those_of_the_literature() -> None:
    assert lab(linear("#ffffff")) == pytest.approx((100, 0, 0), abs=0.02)
    assert lab(linear("#ff0000")) == pytest.approx((53.24, 80.09, 67.20), abs=0.02)
    # Red and green of one lightness are nearly one colour to a reader with deuteranopia.
    red, green = (lab(times(DEUTERANOPIA, linear(color))) for color in ("#c85a3c", "#87872f"))
    assert dist(red, green) < 12 < 40 < dist(lab(linear("#c85a3c")), lab(linear("#87872f")))


@pytest.mark.parametrize("ground", GROUNDS)
def test_kinds_of_two_meanings_are_told_apart_at_a_glance(ground: str) -> None:
    for one, other in PAIRS:
        colors = [linear(getattr(row, ground)) for row in (one, other)]
        assert dist(*map(lab, colors)) >= 25, (one.key, other.key)
        assert dist(*(lab(times(DEUTERANOPIA, color)) for color in colors)) >= 14, (one.key, other.key)


@pytest.mark.parametrize("ground", GROUNDS)
def test_on_grey_paper_the_meanings_are_told_apart_by_lightness_or_by_hatching(ground: str) -> None:
    for one, other in PAIRS:
        lightness = [lab(linear(getattr(row, ground)))[0] for row in (one, other)]
        assert one.is_hatched != other.is_hatched or abs(lightness[0] - lightness[1]) >= 5.5, (one.key, other.key)
    assert [key for key, row in MEANINGS.items() if row.is_hatched] == ["scratch"]


@pytest.mark.parametrize("ground", GROUNDS)
def test_kinds_of_one_meaning_are_shades_that_differ(ground: str) -> None:
    kinds = [rows for rows in combinations(CATEGORIES.values(), 2) if rows[0].meaning == rows[1].meaning]
    for one, other in kinds:
        assert dist(*(lab(linear(getattr(row, ground))) for row in (one, other))) >= 3, (one.key, other.key)


def test_there_are_five_meanings_and_each_kind_has_one() -> None:
    assert list(MEANINGS) == ["io", "activation", "scratch", "temporary", "tail"]
    assert {row.meaning for row in CATEGORIES.values()} == {*MEANINGS}
    assert {row.meaning for row in CATEGORIES.values() if row.section == "tail"} == {"tail"}
    assert {row.meaning for row in CATEGORIES.values() if row.section == "temp"} == {"temporary"}


def test_letters_can_be_read_on_every_kind_and_on_white() -> None:
    for row in CATEGORIES.values():
        assert contrast(row.ink, row.light) >= 4.5, row.key
        assert contrast(row.dark_ink, row.dark) >= 4.5, row.key
    for color in (MARK, INK, SOFT, *SERIES):
        assert contrast(color, "#ffffff") >= 4.5, color
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_colours_and_letters_of_the_head_can_be_told_apart() -> None:
    for attribute in ("light", "dark", "ansi"):
        assert len({getattr(row, attribute) for row in CATEGORIES.values()}) == len(CATEGORIES)
    letters = [row.letter for row in CATEGORIES.values() if row.section != "tail"]
    assert len({*letters}) == len(letters)
    assert {row.letter for row in CATEGORIES.values() if row.section == "tail"} == {"="}
    assert {key for key, row in CATEGORIES.items() if row.section == "tail"} == {*GROUPS}
