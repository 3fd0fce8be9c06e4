"""What ``shrink`` gives today is what ran on emulated Cortex-M cores with CMSIS-NN and ESP-NN's C, file for file.

TFLM and its kernels are not in this repository, so no test here runs the emulator: ``compare emulated_shrink`` did, and
wrote down the hashes of what it ran. A result that is another file has not been run; the tool says how to do it again.
"""

from __future__ import annotations

from typing import Any

import pytest
from compare import emulated_shrink

from tflm_sim.planners import native

TARGETS = ("cortex-m3", "cortex-m4")
CORES = (*TARGETS, *emulated_shrink.WITH_ALL_OPTIONS)
needs_c = pytest.mark.skipif(not native.available(), reason="the exact planner is C")


def differences(cases: list[Any], target: str) -> dict[str, str]:
    """Return how results differ from what ran, by case; a case that gains and never ran is a difference."""
    ran = emulated_shrink.recorded()[target]
    found = {}
    for case in cases:
        if case.key in ran:
            found[case.key] = emulated_shrink.still_the_same(case, target, ran[case.key])
        elif case.make(target) is not None:
            found[case.key] = "never ran"
    return {key: difference for key, difference in found.items() if difference}


@needs_c
@pytest.mark.parametrize("target", CORES)
def test_layers_that_overlap_as_far_as_a_contract_allows_ran_with_the_same_bytes(target: str) -> None:
    assert differences([case for case in emulated_shrink.layer_cases() if case.key.startswith("layer")], target) == {}


@needs_c
@pytest.mark.parametrize("target", CORES)
def test_layers_without_a_contract_ran_and_gave_other_bytes(target: str) -> None:
    controls = [case for case in emulated_shrink.layer_cases() if case.key.startswith("control")]
    assert not any(case.must_agree for case in controls)
    assert differences(controls, target) == {}


@needs_c
@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_each_pass_ran_with_the_same_bytes(target: str) -> None:
    skipped = ("layer", "control")
    models = [
        case for case in emulated_shrink.built_cases() if not case.key.startswith(skipped) and "--off" not in case.key
    ]
    assert differences(models, target) == {}


@needs_c
@pytest.mark.nightly
@pytest.mark.parametrize(("turn", "target"), list(enumerate(emulated_shrink.WITH_ALL_OPTIONS)))
def test_each_pass_and_random_models_with_all_options_ran_with_the_same_bytes(turn: int, target: str) -> None:
    # What the firmware has no operator for, or has another input type, did not run.
    ran = emulated_shrink.recorded()[target]
    cases = [case for case in emulated_shrink.cases_with_all_options() if case.key in ran]
    passes = [case for case in cases if case.key.endswith("all options") and not case.key.startswith("random")]
    # The search takes seconds for each random model: every core has a third of them here, and the tool compares all.
    models = [case for case in cases if case.key.startswith("random")][turn :: len(emulated_shrink.WITH_ALL_OPTIONS)]
    assert len(passes) >= 14
    assert len(models) >= 10
    assert differences([*passes, *models], target) == {}


@needs_c
@pytest.mark.slow
@pytest.mark.shared("models")
@pytest.mark.parametrize("options", ["", pytest.param("--kernel-order", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", emulated_shrink.NAMED)
def test_whole_models_ran_with_the_same_bytes(name: str, options: str) -> None:
    assert differences([emulated_shrink.shared_case(name, options)], "cortex-m4") == {}


def test_what_is_compared_with_gave_more_than_one_output() -> None:
    keys = {case.key for case in emulated_shrink.built_cases()}
    keys |= {
        emulated_shrink.shared_case(name, options).key
        for name in emulated_shrink.NAMED
        for options in ("", "--kernel-order")
    }
    rows = [row for target in TARGETS for key, row in emulated_shrink.recorded()[target].items() if key in keys]
    rows += [row for target in emulated_shrink.WITH_ALL_OPTIONS for row in emulated_shrink.recorded()[target].values()]
    assert len(rows) > 4 * 60
    assert all(row["distinct"] > 1 for row in rows)
