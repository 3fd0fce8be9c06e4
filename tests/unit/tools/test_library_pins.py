"""``tools/upstream/library_pins.py``: what a package of ESPHome pins, and which of its releases are looked at."""

from __future__ import annotations

import pytest
from upstream.library_pins import pinned, pins_of, table

RELEASES = ["2026.2.0", "2026.2.1", "2026.3.0", "2026.3.1", "2026.3.2", "2026.3.3", "2026.4.0", "2026.4.1"]


@pytest.mark.parametrize(("source", "expected"), [
    ('esp32.add_idf_component(name="espressif/esp-tflite-micro", ref="1.3.3~1")', ("1.3.3~1", "")),
    ('add_idf_component(\n  name="esp-tflite-micro",\n  repo="https://a/b",\n  ref="v1.3.3.1",\n)', ("1.3.3~1", "")),
    ('add_idf_component(name="esp-tflite-micro", repo="https://a/b",\n)', ("", "")),
    ('add_idf_component(name="espressif/esp-tflite-micro", ref="1.3.3~1")\n'
     'add_idf_component(name="espressif/esp-nn", ref="1.1.2")', ("1.3.3~1", "1.1.2")),
    ("nothing", ("", "")),
])  # fmt: skip
def test_a_pin_is_read_from_the_registrys_form_and_from_the_repositorys(source: str, expected: tuple[str, str]) -> None:
    assert pins_of(source) == expected


def test_first_releases_of_months_are_looked_at_and_what_lies_between_two_that_differ() -> None:
    looked = []

    def look(release: str) -> tuple[str, str]:
        looked.append(release)
        return ("1.3.3~1", "1.1.2" if release >= "2026.3.2" else "")

    found = list(pinned(RELEASES, look))
    assert found == [(("1.3.3~1", ""), RELEASES[:4]), (("1.3.3~1", "1.1.2"), RELEASES[4:])]
    assert sorted(looked) == ["2026.2.0", "2026.3.0", "2026.3.1", "2026.3.2", "2026.4.0", "2026.4.1"]


def test_the_table_is_a_module() -> None:
    names: dict[str, object] = {}
    exec(table([(("1.3.3~1", "1.1.2"), RELEASES)]), names)
    assert names["ESPHOME"] == (("1.3.3~1", "1.1.2", " ".join(RELEASES) + " "),)
