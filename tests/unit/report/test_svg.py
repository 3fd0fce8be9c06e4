"""The SVG of a small picture, in pixels worked out by hand.

``small_picture.svg`` is 1150 x 790. The longest moment has 15 letters of 6.8, so that the bytes begin at 40 + 102 = 142
and end 24 before the right edge: 984 pixels for 4,096 B, and 123 for 512 B. Time has 790 - 118 - 84 = 588 pixels from
118 on: 34 % of them, 199.92, for the 10 steps of AllocateTensors(), and 194.04 for each of the two scopes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from tflm_sim.provenance import made_by
from tflm_sim.report.picture import Block, Moment, Picture, Resident, Step
from tflm_sim.report.svg import write_svg

Make = Callable[..., Picture]


def svg(*pictures: Picture) -> str:
    file = io.StringIO()
    write_svg(file, pictures)
    return file.getvalue()


def test_the_picture_is_what_the_arithmetic_says(small_picture: Make) -> None:
    drawn = svg(small_picture()).replace(f"<metadata>tflm_sim {made_by()}</metadata>\n", "")
    assert drawn == (Path(__file__).with_name("small_picture.svg")).read_text("utf-8")


def test_two_pictures_have_one_scale_and_stand_side_by_side(small_picture: Make) -> None:
    text = svg(small_picture(), small_picture(arena_bytes=8192))
    assert 'viewBox="0 0 2300 790" width="2300"' in text
    assert re.findall(r'<g transform="translate\((\d+) 0\)">', text) == ["0", "1150"]
    # 984 pixels for 8,192 B: 4,096 B are 492.
    assert re.findall(r'width="([\d.]+)" height="588.00" fill="#eef1f5"', text) == ["492.00", "984.00"]


@pytest.mark.parametrize(
    ("arena", "labels"),
    [
        (0, ["0"]),
        (12, [f"{number}" for number in range(13)]),
        (13, ["0", "2", "4", "6", "8", "10", "12"]),
        (6 * 1024, ["0", *(f"{number * 512:,}" for number in range(1, 13))]),
        (6 * 1024 + 1, ["0 K", "1 K", "2 K", "3 K", "4 K", "5 K", "6 K"]),
        (12 * 1024 * 1024, ["0 K", *(f"{number * 1024:,} K" for number in range(1, 13))]),
    ],
)
def test_the_axis_has_at_most_twelve_steps_that_are_powers_of_two(
    small_picture: Make, arena: int, labels: list[str]
) -> None:
    text = svg(small_picture(arena_bytes=arena, blocks=(), residents=(), limits=()))
    assert re.findall(r'y="96.0" [^>]*text-anchor="middle">([^<]*)<', text) == labels


def test_what_is_smaller_than_a_pixel_can_be_seen_and_a_section_without_bytes_has_no_bar(small_picture: Make) -> None:
    one = Resident("input", "in", 0, 0, -1, 1, 0, 0, 0, 0)
    text = svg(small_picture(blocks=(), residents=(one,), scopes=((0, 0),) * 2000, live_bytes=(*(0,) * 1999, 16)))
    # A byte is 0.24 pixels, and a scope 588 * 0.66 * 0.94 / 1999 = 0.18: both are 0.4.
    assert 'width="0.40" height="0.40" fill="#720e4f"' in text
    assert 'height="23.3" fill="none"' in text  # The fullest of 2,000 operators has 6 % of Invoke().
    assert re.findall(r'y="113" width="([^"]*)"', text) == ["3.8"]  # 16 B of the head, and no tail


def test_a_border_is_drawn_from_three_pixels_on(small_picture: Make) -> None:
    # 12 B are 2.9 pixels, 13 B are 3.1.
    for size, has_border in ((12, False), (13, True)):
        text = svg(small_picture(blocks=(), residents=(Resident("input", "in", 0, 0, -1, size, 0, 0, 1, 0),)))
        assert ('stroke-width="0.6"' in text) is has_border


def test_a_label_is_cut_to_its_rectangle(small_picture: Make) -> None:
    def label(size: int, name: str) -> str:
        text = svg(small_picture(blocks=(), residents=(Resident("input", name, 0, 0, -1, size, 0, 0, 1, 0),)))
        found = re.search(r'fill="#ffffff"[^>]*>([^<]*)</text>', text)
        return found[1] if found else ""

    # 8 pixels of margin and 6.6 a letter: ten letters need 74 pixels, which 309 B have, and 308 B do not.
    assert (label(309, "abcdefghij"), label(308, "abcdefghij")) == ("abcdefghij", "abcdefgh…")
    assert (label(144, "abcdefghij"), label(143, "abcdefghij")) == ("abc…", "")


def test_a_name_at_the_side_that_has_no_room_is_left_out(small_picture: Make) -> None:
    moments = tuple(Moment("create", -1, -1, step) for step in range(0, 1000, 10))
    text = svg(small_picture(moments=moments, steps=(Step("enter", 0),) * 1000, limits=()))
    places = [float(y) for y in re.findall(r'y="([\d.]+)" fill="#566373" text-anchor="end"', text)]
    # A step is 0.19992 pixels, a moment 2: a name takes 12, and every seventh one, 14 below the one before, has room.
    assert places[:3] == [127.0, 141.0, 155.0]
    assert all(after - before >= 12 for before, after in pairwise(places))
    none = {"scopes": (), "live_bytes": (), "limits": (), "residents": (), "blocks": ()}
    for step, shown in ((12, 2), (11, 1), (579, 1), (578, 2)):  # a pixel a step; a name needs 9 above the lower edge
        moments = tuple(Moment("create", -1, -1, at) for at in (0, step))
        text = svg(small_picture(moments=moments, steps=(Step("enter", 0),) * 588, **none))
        assert text.count(">create</text>") == shown


def test_a_failure_is_a_banner_instead_of_the_fullest_moment(small_picture: Make) -> None:
    text = svg(small_picture(failure="f" * 400, scopes=(), residents=(), live_bytes=(), limits=()))
    assert '<rect x="12" y="55" width="1114" height="19" rx="3" fill="#c81e4a"/>' in text
    (banner,) = re.findall(r'<text x="20.0" y="69.0" fill="#ffffff" font-weight="600">([^<]*)</text>', text)
    assert len(banner) == 165
    assert "fullest" not in text
    # Without a plan AllocateTensors() has all of the height, 588, and its name stands in the middle.
    assert re.findall(r"translate\(14 (\d+)\) rotate\(-90\)", text) == ["412"]
    assert "fullest" not in svg(small_picture(failure="it fails"))


def test_a_label_needs_a_line_of_13_pixels_and_a_section_with_its_bytes_more_than_90(small_picture: Make) -> None:
    # Beside the fullest, 28 scopes have 588 * 0.66 * 0.94 / 28 = 13.03 pixels each, 29 have 12.6.
    for scopes, has_label in ((29, True), (30, False)):
        one = Resident("input", "name", 0, 0, -1, 2000, 0, 0, 0, 0)
        picture = small_picture(
            residents=(one,), blocks=(), scopes=((0, 0),) * scopes, live_bytes=(*(0,) * (scopes - 1), 1)
        )
        assert (">name</text>" in svg(picture)) is has_label
    # In an arena of 984 B a byte is a pixel.
    for size, label in ((90, "tail"), (91, "tail 91 B")):
        block = Block("eval tensors", 984 - size, size, 0, 0, 10, "", 0)
        text = svg(small_picture(arena_bytes=984, residents=(), blocks=(block,), limits=()))
        assert f'fill="#1b222c">{label}</text>' in text
