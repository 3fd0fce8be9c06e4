"""Which setting explains a report that differs?"""

from __future__ import annotations

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.checks.alternatives import alternatives, explaining
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.logs.log_events import ArenaUsed
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path

MODEL = load(sample_path("keyword_spotter"))
BASE = configure("cortex-m4")


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({"kernels": "reference"}, "--kernels reference"),
        ({"interpreter": "recording"}, "--interpreter recording (RecordingMicroInterpreter)"),
        ({"resource_variables": 10}, "--resource-variables 10"),
    ],
)
def test_the_setting_that_was_changed_is_named(settings: dict[str, object], options: str) -> None:
    used = simulate(MODEL, configure("cortex-m4", **settings)).arena_used_bytes
    found = explaining(ArenaUsed(1, used, used, "x"), MODEL, BASE)
    assert options in [other.options for other, _ in found]


def test_another_target_is_found() -> None:
    used = simulate(MODEL, "esp32-s3").arena_used_bytes
    found = explaining(ArenaUsed(1, used, used, "x"), MODEL, BASE)
    assert "--target esp32-s3" in [other.options for other, _ in found]


def test_no_alternative_is_the_named_firmware_and_every_one_can_be_simulated() -> None:
    others = list(alternatives(BASE))
    assert all(other.configuration != BASE for other in others)
    assert len({other.options for other in others}) == len(others)
    assert all(isinstance(simulate(MODEL, other.configuration).configuration, Configuration) for other in others)


def test_what_nothing_explains_has_no_answer() -> None:
    assert explaining(ArenaUsed(1, 7, 7, "x"), MODEL, BASE) == []


def test_every_number_of_variables_up_to_six_and_the_round_ones_beyond_are_tried() -> None:
    tried = {other.configuration.resource_variables for other in alternatives(BASE)}
    twos, dozens, tens = {8, 16, 32, 64, 128}, {12, 24, 48}, {10, 20, 50, 100}
    assert tried - {None} == {0, 1, 2, 3, 4, 5, 6} | twos | dozens | tens
