"""Real TFLM on two windows: no more elements differ than ``shrink --stream --advise`` calls new."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tflm_sim import load
from tflm_sim.extensions.shrink.windows import window_work
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode

runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")
FRAMES, STRIDE = 49, 2


def test_what_is_not_new_has_the_same_bytes_in_both_windows() -> None:
    """Every convolution of the sample: its rows lie further to the front by the step over the stride."""
    model = load("sample:keyword_spotter")
    work, draft = window_work(model, 4, axis=1), Draft(model)
    layers = [each for each in work.operators if each.operator in ("CONV_2D", "DEPTHWISE_CONV_2D")]
    draft.outputs = tuple(draft.operators[each.number].output_tensors[0] for each in layers)
    interpreter = runtime.Interpreter.from_bytes(encode(draft.model()), arena_size=1 << 20)
    sound = np.random.default_rng(5).integers(-128, 128, (FRAMES + work.steps[-1], 10), np.int8)

    def made(first: int) -> list[np.ndarray[Any, Any]]:
        interpreter.set_input(sound[first : first + FRAMES].reshape(1, FRAMES, 10, 1), 0)
        interpreter.invoke()
        return [interpreter.get_output(place) for place in range(len(layers))]

    before = made(0)
    assert len(layers) == 9
    for at, step in enumerate(work.steps):
        if step % STRIDE:
            continue
        moved = step // STRIDE
        for layer, old, now in zip(layers, before, made(step), strict=True):
            differ = int((old[:, moved:] != now[:, :-moved]).sum()) + now[:, -moved:].size
            # Many are 0 behind a RELU in both windows, whatever they are made of.
            assert layer.new[at] // 4 < differ <= layer.new[at], (layer.number, step)
    unmoved = before[0] != made(STRIDE)[0]
    assert unmoved.sum() > layers[0].new[1]
