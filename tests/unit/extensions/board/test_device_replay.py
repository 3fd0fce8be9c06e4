from collections import Counter
from dataclasses import replace

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.extensions.board.device_replay import replay_script
from tflm_sim.extensions.board.replay import ReplayScript
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path
from tflm_sim.targets.presets import preset
from tflm_sim.units import align_up

TARGET = preset("cortex-m4")


def script(name: str, arena_size: int, interpreter: str = "plain") -> ReplayScript:
    config = Configuration(TARGET, interpreter)
    simulation = simulate(load(sample_path(name)), config, arena_size=arena_size)
    return replay_script(simulation)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_predicted_mark_is_what_an_arena_must_have(name: str) -> None:
    """With the same remainder modulo 16: no working arena is below the mark, and the next size from it on works."""
    mark = script(name, 1 << 20).mark
    config = Configuration(TARGET, "plain")
    model = load(sample_path(name))
    least = align_up(mark, 16)
    assert simulate(model, config, arena_size=least).status == "ok"
    assert simulate(model, config, arena_size=least - 16).status != "ok"


def test_every_temp_that_is_taken_is_given_back_and_every_persistent_range_is_checked() -> None:
    commands = Counter(step.command for step in script("residual", 1 << 16).steps)
    assert commands["temp"] + commands["plan"] == commands["free"]
    assert commands["tail"] == commands["check"]
    assert commands["add"] == commands["where"]
    assert (commands["open"], commands["plan"], commands["solve"], commands["live"]) == (1, 1, 1, 1)


def test_no_two_ranges_that_are_alive_together_share_a_seed() -> None:
    seeds = [dict(step.fields)["i"] for step in script("residual", 1 << 16).steps if step.command in ("tail", "temp")]
    assert len(seeds) == len(set(seeds))


def test_a_skewed_arena_is_opened_with_its_skew() -> None:
    skewed = replace(TARGET, arena_address=4)
    config = Configuration(skewed, "recording")
    simulation = simulate(load(sample_path("sine")), config, arena_size=4096)
    steps = replay_script(simulation).steps
    assert dict(steps[0].fields) == {"v": 1, "size": 4096, "skew": 4}


def test_a_plain_interpreter_skips_to_the_aligned_start() -> None:
    skewed = replace(TARGET, arena_address=4)
    simulation = simulate(load(sample_path("sine")), Configuration(skewed, "plain"), arena_size=4096)
    steps = replay_script(simulation).steps
    assert dict(steps[0].fields) == {"v": 1, "size": 4084, "skew": 0}  # 4 + 12 = 16


def test_a_simulation_that_failed_has_nothing_to_replay() -> None:
    with pytest.raises(SimulatedFailure):
        script("sine", 300)


def test_a_model_is_replayed_in_its_smallest_arena() -> None:
    found = replay_script(load(sample_path("sine")), TARGET)
    assert dict(found.steps[0].fields)["size"] == simulate(load(sample_path("sine")), TARGET).smallest.multiple_of_16  # type: ignore[union-attr]


def test_what_only_checks_bytes_answers_zero() -> None:
    answers = {step.command: set() for step in script("residual", 1 << 16).steps}  # type: dict[str, set[int | None]]
    for step in script("residual", 1 << 16).steps:
        answers[step.command].add(step.value)
    assert {command: answers[command] for command in ("open", "free", "check", "live")} == {
        "open": {0}, "free": {0}, "check": {0}, "live": {0}
    }  # fmt: skip


def test_variables_over_temps_are_not_replayed() -> None:
    """TFLM runs in 352 bytes; a replay, which writes the variables at once, needs 400."""
    builder = ModelBuilder()
    for _ in range(2):
        builder.tensor((16,), TensorType.INT8, is_variable=True)
    model = parse(builder.build(inputs=[0], outputs=[1]))
    smallest = simulate(model, TARGET).smallest
    assert smallest is not None
    found = replay_script(model, TARGET)
    with pytest.raises(UsageError, match=f"{found.mark - smallest.multiple_of_16} bytes more are needed to replay it"):
        replay_script(simulate(model, TARGET, arena_size=smallest.multiple_of_16))
    assert (smallest.size, found.arena_size) == (352, 400)
    assert replay_script(simulate(model, TARGET, arena_size=400)).steps == found.steps
