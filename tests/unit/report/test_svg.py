"""The SVG of a small picture, in pixels worked out by hand.

``small_picture.svg`` is 1150 x 790. The longest moment has 15 letters of 6.8, so that the bytes begin at 40 + 102 = 142
and end 24 before the right edge: 984 pixels for 4,096 B, and 123 for 512 B. Time has 790 - 118 - 84 = 588 pixels from
118 on: 34 % of them, 199.92, for the 10 steps of AllocateTensors(), and 194.04 for each of the two scopes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

from tflm_sim.provenance import made_by
from tflm_sim.report.picture import Picture, Resident
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


def test_what_is_smaller_than_a_pixel_can_be_seen_and_a_section_without_bytes_has_no_bar(small_picture: Make) -> None:
    one = Resident("input", "in", 0, 0, -1, 1, 0, 0, 0, 0)
    text = svg(small_picture(blocks=(), residents=(one,), scopes=((0, 0),) * 2000, live_bytes=(*(0,) * 1999, 16)))
    # A byte is 0.24 pixels, and a scope 588 * 0.66 * 0.94 / 1999 = 0.18: both are 0.4.
    assert 'width="0.40" height="0.40" fill="#720e4f"' in text
    assert 'height="23.3" fill="none"' in text  # The fullest of 2,000 operators has 6 % of Invoke().
    assert re.findall(r'y="113" width="([^"]*)"', text) == ["3.8"]  # 16 B of the head, and no tail


def test_a_label_is_cut_to_its_rectangle(small_picture: Make) -> None:
    def label(size: int, name: str) -> str:
        text = svg(small_picture(blocks=(), residents=(Resident("input", name, 0, 0, -1, size, 0, 0, 1, 0),)))
        found = re.search(r'fill="#ffffff"[^>]*>([^<]*)</text>', text)
        return found[1] if found else ""

    # 8 pixels of margin and 6.6 a letter: ten letters need 74 pixels, which 309 B have, and 308 B do not.
    assert (label(309, "abcdefghij"), label(308, "abcdefghij")) == ("abcdefghij", "abcdefgh…")
    assert (label(144, "abcdefghij"), label(143, "abcdefghij")) == ("abc…", "")


def test_a_failure_is_a_banner_instead_of_the_fullest_moment(small_picture: Make) -> None:
    text = svg(small_picture(failure="f" * 400, scopes=(), residents=(), live_bytes=(), limits=()))
    assert '<rect x="12" y="55" width="1114" height="19" rx="3" fill="#c81e4a"/>' in text
    (banner,) = re.findall(r'<text x="20.0" y="69.0" fill="#ffffff" font-weight="600">([^<]*)</text>', text)
    assert len(banner) == 165
    assert "fullest" not in text
    # Without a plan AllocateTensors() has all of the height, 588, and its name stands in the middle.
    assert re.findall(r"translate\(14 (\d+)\) rotate\(-90\)", text) == ["412"]
    assert "fullest" not in svg(small_picture(failure="it fails"))
