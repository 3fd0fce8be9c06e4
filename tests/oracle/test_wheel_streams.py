"""Models that take the new frames of their window, in the real TFLM: the bytes that the whole window gives."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tflm_sim import load, smallest_arena, stream
from tflm_sim.extensions.shrink import prove_program
from tflm_sim.extensions.shrink.prove import ProofFailed, prove
from tflm_sim.extensions.shrink.stream import NotStreamed
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/extensions/shrink"))
from moving_models import random_moving_model

runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")
FRAMES, STEP, START_UP = 49, 2, 25
WINS_NOTHING = {3, 7, 8, 27, 43}
"""Random models that have no row twice, or none that multiplications make."""
SPOTTER = load("sample:keyword_spotter")


def interpreter_of(model: bytes) -> Any:
    return runtime.Interpreter.from_bytes(model, arena_size=1 << 20)


def given(runner: Any, frames: np.ndarray[Any, Any]) -> bytes:
    """Return what a model gives for its next frames, or for a window."""
    runner.set_input(frames.reshape(1, len(frames), 10, 1), 0)
    runner.invoke()
    return bytes(runner.get_output(0).tobytes())


def test_a_dropped_step_spoils_as_many_results_as_are_said_and_no_more() -> None:
    """The keyword spotter on 160 frames of noise; frames 100 and 101 never reach it."""
    result = stream(SPOTTER, STEP, axis=1, aim="macs")
    window, new = interpreter_of(bytes(SPOTTER.source)), interpreter_of(result.data)
    sound = np.random.default_rng(3).integers(-128, 128, (160, 10), np.int8)
    equal = []
    for end in range(STEP, len(sound) + 1, STEP):
        if end == 102:
            continue
        found = given(new, sound[end - STEP : end])
        if end >= FRAMES:
            equal.append((end, found == given(window, sound[end - FRAMES : end])))
    wrong = [end for end, is_equal in equal if not is_equal]
    assert result.start_up == START_UP
    assert [end for end, _ in equal][:1] == [START_UP * STEP]
    assert wrong
    assert min(wrong) == 104
    assert max(wrong) < 102 + START_UP * STEP


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(8, 60))])
def test_random_models_give_the_same_bytes_in_the_predicted_arena(seed: int) -> None:
    moved = random_moving_model(seed)
    if seed in WINS_NOTHING:
        with pytest.raises(NotStreamed, match="nothing is won"):
            stream(moved.model, moved.step, axis=moved.axis, aim="macs")
        return
    result = stream(moved.model, moved.step, axis=moved.axis, aim="macs", prove_runs=30)
    proof = result.proof
    assert proof is not None
    assert proof.fails_below
    assert proof.runs >= 400


def test_a_state_that_holds_other_rows_is_found() -> None:
    """The last SLICE takes its rows from the beginning."""
    result = stream(SPOTTER, STEP, axis=1, aim="macs")
    draft = Draft(result.model)
    number = max(at for at, each in enumerate(draft.operators) if draft.name(each) == "SLICE")
    operator = draft.operators[number]
    source, begin, _ = operator.input_tensors
    rows = draft.tensors[operator.output_tensors[0]].dims
    first, all_of_it = (draft.add_tensor((4,), 2, data=np.asarray(each, "<i4").tobytes()) for each in ([0] * 4, rows))
    assert draft.tensors[begin].dims == (4,)
    draft.operators[number] = replace(operator, inputs=(source, first, all_of_it))
    data = encode(draft.model())
    with pytest.raises(ProofFailed, match="output 0 of run 0 differs from the original's"):
        prove(SPOTTER, data, parse(data), 5, result.how)


class _Program:
    """The wheel in the place of a program that is executed."""

    def outputs(self, path: str, model: Any, inputs: list[Any], *, into: int) -> list[tuple[bytes, ...]]:
        runner = interpreter_of(model if isinstance(model, bytes) else bytes(model.source))
        return [(given(runner, np.frombuffer(data, np.int8).reshape(-1, 10)),) for (data,) in inputs]

    def smallest_arena(self, path: str, model: Any, *, into: int) -> int:
        return smallest_arena(model, "x86_64-pip").size


def test_a_program_gets_the_frames_and_the_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prove_program, "programs", _Program)
    result = stream(SPOTTER, STEP, axis=1, aim="macs", prove_runs=10, prove_program="app.elf")
    proof = result.program_proof
    assert proof is not None
    # Noise in 10 windows, and those on the way from the smallest values to the largest, and to the noise.
    assert proof.runs == 2 * START_UP + 10 - START_UP + 1
    assert (proof.arena_before, proof.arena) == (smallest_arena(SPOTTER, "x86_64-pip").size, 56944)
