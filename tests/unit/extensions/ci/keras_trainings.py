"""The Keras callback in real trainings, by Keras on JAX; only the conversion to a .tflite file is another one.

``test_keras_trainings.py`` runs this file in a process of its own.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

os.environ["KERAS_BACKEND"] = "jax"

keras = pytest.importorskip("keras")
np = pytest.importorskip("numpy")
pytestmark = pytest.mark.nightly  # Importing Keras and JAX takes seconds.

from tflm_sim import sample_path, smallest_arena  # noqa: E402
from tflm_sim.errors import UsageError  # noqa: E402
from tflm_sim.keras import ArenaBudget, ArenaBudgetExceededError, to_tflite  # noqa: E402
from tflm_sim.model.load import load  # noqa: E402

NEEDED = smallest_arena(load("sample:sine"), "cortex-m4").multiple_of_16


class Steps(keras.callbacks.Callback):
    """Counts what was trained."""

    count = 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Count a step."""
        self.count += 1


def sine(_: object) -> bytes:
    return sample_path("sine").read_bytes()


def network(*, has_shapes: bool = True) -> Any:
    layers = [keras.Input((1,))] * has_shapes + [keras.layers.Dense(1)]
    model = keras.Sequential(layers, name="sine")
    model.compile("sgd", "mse")
    return model


def train(model: Any, *callbacks: Any) -> dict[str, list[float]]:
    x = np.zeros((4, 1), "float32")
    history: dict[str, list[float]] = model.fit(x, x, batch_size=2, epochs=2, verbose=0, callbacks=callbacks).history
    return history


def test_a_model_that_does_not_fit_is_not_trained() -> None:
    steps = Steps()
    with pytest.raises(ArenaBudgetExceededError, match="the model 'sine' needs an arena of") as caught:
        train(network(), ArenaBudget(NEEDED - 16, "cortex-m4", convert=sine), steps)
    assert ", 16 B more than the " in str(caught.value)
    assert (caught.value.needed, caught.value.limit, steps.count) == (NEEDED, NEEDED - 16, 0)


def test_a_model_that_fits_is_trained_and_its_history_knows_the_arena() -> None:
    budget, steps = ArenaBudget(NEEDED, "cortex-m4", convert=sine), Steps()
    assert train(network(), budget, steps)["arena_bytes"] == [NEEDED, NEEDED]
    assert steps.count == 4
    assert budget.simulation is not None


def test_a_model_whose_shapes_the_data_give_is_judged_all_the_same() -> None:
    steps = Steps()
    with pytest.raises(ArenaBudgetExceededError):
        train(network(has_shapes=False), ArenaBudget("512", "cortex-m4", convert=sine, interpreter="recording"), steps)
    assert steps.count <= 1


def test_another_backend_than_tensorflow_needs_a_converter() -> None:
    with pytest.raises(UsageError, match="needs Keras' TensorFlow backend, not jax; give ArenaBudget a convert="):
        to_tflite(network())
