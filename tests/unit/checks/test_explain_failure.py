from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.checks import explain_failure as explain_failure_module
from tflm_sim.checks.explain_failure import ExactExplanation, SimulationBudget, _roundness, explain_failures
from tflm_sim.device.configuration import Configuration
from tflm_sim.logs.diagnosis import Diagnosis, Refusal, diagnose
from tflm_sim.logs.parser import parse_log
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path
from tflm_sim.targets.presets import preset

CONFIG = Configuration(preset("cortex-m4"), "plain")
MODEL = load(sample_path("keyword_spotter"))
SMALLEST = smallest_arena(MODEL, CONFIG.target)


def explain_failure(diagnosis: Diagnosis, *of_what: Any) -> ExactExplanation:
    (exact,) = explain_failures([diagnosis], *of_what)
    assert exact is not None
    return exact


def device_log(arena_size: int) -> str:
    return "\n".join(simulate(MODEL, CONFIG, arena_size=arena_size).log)


def diagnosis_of(text: str, arena_size: int | None = None) -> Diagnosis:
    return diagnose(parse_log(text.encode() + b"\n"), arena_size=arena_size)[-1]


@pytest.mark.parametrize("arena_size", [400, 1000, 2000, 3008, 9008, 16000, SMALLEST.size - 1, SMALLEST.size - 1000])
def test_the_arena_of_a_log_is_found_from_its_numbers_alone(arena_size: int) -> None:
    text = device_log(arena_size)
    exact = explain_failure(diagnosis_of(text), MODEL, CONFIG)
    assert exact.contradiction == ""
    assert exact.smallest is not None
    assert exact.smallest.size == SMALLEST.size
    assert exact.arena_size is not None
    assert device_log(exact.arena_size) == text
    assert exact.place


def test_a_known_arena_in_which_the_model_would_not_fail_like_that_is_a_contradiction() -> None:
    text = device_log(9008)
    exact = explain_failure(diagnosis_of(text, 9008 + 64), MODEL, CONFIG)
    assert exact.arena_size is None
    assert exact.contradiction.endswith("another arena size or interpreter")


def test_a_request_that_the_model_never_makes_is_a_contradiction() -> None:
    text = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    exact = explain_failure(diagnosis_of(text, 26080), MODEL, CONFIG)
    assert exact.contradiction


def test_an_old_message_is_matched_by_its_numbers() -> None:
    refusal = diagnosis_of(device_log(9008)).refusals[-1]
    needed = f"Needed {refusal.requested} but only {refusal.available} was available."
    old = f"Arena size is too small for all buffers. {needed}"
    exact = explain_failure(diagnosis_of(old), MODEL, CONFIG)
    assert exact.arena_size is not None
    assert exact.place == explain_failure(diagnosis_of(device_log(9008)), MODEL, CONFIG).place


def test_a_failure_without_numbers_still_gets_the_smallest_arena() -> None:
    exact = explain_failure(diagnosis_of("Too many buffers (max is 3)"), MODEL, CONFIG)
    assert exact.smallest is not None
    assert exact.smallest.size == SMALLEST.size


@pytest.mark.slow
def test_the_named_node_decides_and_a_range_is_a_range() -> None:
    """Three operators ask for the same bytes: only the arenas in which the log's own one fails are named."""
    for arena_size in range(SMALLEST.size - 14000, SMALLEST.size, 977):
        diagnosis = diagnosis_of(device_log(arena_size))
        exact = explain_failure(diagnosis, MODEL, CONFIG)
        assert any(low <= arena_size <= high for low, high in exact.arenas)
        for low, high in exact.arenas:
            assert {diagnosis_of(device_log(end)).node for end in (low, high)} == {diagnosis.node}


def test_without_a_size_no_arena_of_a_gigabyte_is_spoken_of() -> None:
    text = "Failed to resize buffer. Requested: 19440, available 11876, missing: 7564"
    exact = explain_failure(diagnosis_of(text), MODEL, CONFIG)
    assert exact.contradiction.startswith("the log asks for 19440 bytes, this model never does on this target")


def test_a_bare_failure_is_answered_where_the_arena_is_known() -> None:
    exact = explain_failure(diagnosis_of("AllocateTensors() failed", 9008), MODEL, CONFIG)
    assert (exact.arena_size, exact.contradiction) == (9008, "")
    assert exact.place
    fits = explain_failure(diagnosis_of("AllocateTensors() failed", 1 << 20), MODEL, CONFIG)
    assert fits.contradiction == "in an arena of 1,048,576 B this model does not fail on this target"


def test_a_contradiction_names_the_setting_with_which_the_numbers_come() -> None:
    esp32 = Configuration(preset("esp32-s3"))
    text = "\n".join(simulate(MODEL, esp32, arena_size=9008).log)
    exact = explain_failure(diagnosis_of(text), MODEL, CONFIG)
    assert any("--target esp32" in each.options for each in exact.settings) or not exact.contradiction


def test_of_the_sizes_that_a_log_fits_round_ones_come_first() -> None:
    # Whole KiB, multiples of 16, of 4, and the rest; the largest of each first.
    assert sorted([1001, 1000, 1024, 2000, 2048, 1004], key=_roundness) == [2048, 1024, 2000, 1004, 1000, 1001]


@pytest.mark.parametrize(
    ("ours", "sentence"),
    [
        (
            Refusal("tail", 24, 10, None),
            "the log asks for 32 bytes, the simulation for 24: another model, kernel library",
        ),
        (
            Refusal("tail", 32, 12, None),
            "with 32 bytes asked for, the log has 10 free, the simulation 12: another arena",
        ),
        (None, "in an arena of 1,024 B this model does not fail on this target"),
        (Refusal("tail", 32, 10, None), "the log ends with 1 refusals, the simulation with 1 at node 3: another model"),
    ],
)
def test_what_a_log_cannot_be_from_is_told_by_the_first_refusal_that_differs(
    monkeypatch: pytest.MonkeyPatch, ours: Refusal | None, sentence: str
) -> None:
    found = None if ours is None else SimpleNamespace(refusals=(ours,), node=3)
    monkeypatch.setattr(explain_failure_module, "_diagnose_simulation", lambda simulation: found)
    simulation = SimpleNamespace(arena_size=1024)
    log = SimpleNamespace(arena_size=1024, node=2)
    said = explain_failure_module._contradiction([Refusal("tail", 32, 10, None)], log, simulation, None)  # type: ignore[arg-type]
    assert said.startswith(sentence)


def test_a_log_of_many_failures_costs_no_more_simulations_than_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0

    def counted(*given: Any, **how: Any) -> Simulation:
        nonlocal made
        made += 1
        return simulate(*given, **how)

    monkeypatch.setattr(explain_failure_module, "simulate", counted)
    lines = (f"Failed to allocate tail memory. Requested: {64 + n}, available {n}, missing: 64\n" for n in range(4000))
    found = diagnose(parse_log("".join(lines).encode()))
    exact = explain_failures(found, MODEL, CONFIG)
    most = SimulationBudget(MODEL).left
    assert len(exact) == len(found) > 20
    assert exact[0] is not None
    assert exact[-1] is None
    assert 64 <= made <= most + 1
