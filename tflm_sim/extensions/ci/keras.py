"""``ArenaBudget``: a Keras callback that stops a training whose model cannot fit, before its first step.

    >>> from tflm_sim.keras import ArenaBudget
    >>> model.fit(x, y, callbacks=[ArenaBudget("64KiB", "cortex-m4")])

An extra: ``bash tools/install.sh keras``. The arena comes from shapes and types, not from weights, so nothing has to be
trained to know it; the model is converted once, as it is when training begins.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Unpack

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Settings, Where, configure
from tflm_sim.errors import SimulatedFailure, TflmSimError, UsageError
from tflm_sim.escape import printable
from tflm_sim.extras import install_command
from tflm_sim.model.load import parse
from tflm_sim.sizes import as_limit
from tflm_sim.units import format_size

try:
    import keras
except ModuleNotFoundError as missing:
    raise ImportError(f"tflm_sim.keras needs Keras: {install_command('keras')}", name=missing.name) from missing

Converter = Callable[[Any], bytes]
_SAMPLES = 8


class ArenaBudgetExceededError(TflmSimError):
    """The model needs a larger arena than there is.

    Attributes:
        needed: Bytes of the smallest arena that is a multiple of 16.
        limit: Bytes that there are.
    """

    def __init__(self, message: str, *, needed: int, limit: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.limit = limit


class ArenaBudget(keras.callbacks.Callback):  # type: ignore[misc, unused-ignore]
    """Stop a training whose model needs a larger arena than there is (mutable).

    The model is judged when training begins, or after the first step where its shapes are not known before. The logs of
    each epoch get ``arena_bytes``, so that the history, a tuner or TensorBoard know it too.

    Args:
        limit: Bytes of the arena, or text: "64KiB".
        target: What the model will run on: a name, a target, or a configuration; None where a setting names a board, a
            library or a program.
        convert: A function that returns the .tflite file of a Keras model; default :func:`to_tflite`.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Attributes:
        simulation: The simulation of the model; None until the model was judged.

    Raises:
        ArenaBudgetExceededError: In ``fit``: the model does not fit.
        SimulatedFailure: In ``fit``: TFLM fails on it in an arena of any size.
    """

    def __init__(
        self,
        limit: int | str,
        target: Where | None = None,
        *,
        convert: Converter | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__()
        self.limit = as_limit(limit, "limit")
        self.configuration = configure(target, **settings)
        self.simulation: Simulation | None = None
        self._convert = convert or to_tflite

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Judge the model, if its shapes are known."""
        self.simulation = None
        if self.model.built:
            self.judge()

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Judge the model, now that its shapes are known."""
        if self.simulation is None:
            self.judge()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if logs is not None and self.simulation is not None and self.simulation.smallest is not None:
            logs["arena_bytes"] = self.simulation.smallest.multiple_of_16

    def judge(self) -> int:
        """Return the arena of the model as it is now: bytes, a multiple of 16; errors as those of the class."""
        simulation = simulate(parse(self._convert(self.model)), self.configuration).unwrap()
        self.simulation = simulation
        smallest = simulation.smallest
        if smallest is None:
            raise SimulatedFailure("AllocateTensors() works in no single arena of any size")
        if smallest.multiple_of_16 > self.limit:
            name, target = printable(self.model.name), self.configuration.target.name
            raise ArenaBudgetExceededError(
                f"the model '{name}' needs an arena of {format_size(smallest.multiple_of_16)} on {target}, "
                f"{smallest.multiple_of_16 - self.limit:,} B more than the {format_size(self.limit)} that there are",
                needed=smallest.multiple_of_16,
                limit=self.limit,
            )
        return smallest.multiple_of_16


def to_tflite(model: Any, *, quantize: bool = True, samples: Any = None) -> bytes:
    """Convert a Keras model to a .tflite file for one input at a time, by Keras' own LiteRT export.

    Args:
        model: The model; its shapes but the batch must be known.
        quantize: Convert to 8-bit integers, inputs and outputs too; False keeps floating point.
        samples: What calibrates the quantization: lists of arrays, one array per input. None for random values, which
            are enough to size the arena but do not give a usable model.

    Raises:
        UsageError: Keras runs on another backend than TensorFlow.
    """
    if keras.backend.backend() != "tensorflow":
        raise UsageError(
            f"to_tflite needs Keras' TensorFlow backend, not {keras.backend.backend()}; give ArenaBudget a convert="
        )
    import tensorflow as tf

    inputs = [
        keras.InputSpec(shape=(1, *tensor.shape[1:]), dtype=keras.backend.standardize_dtype(tensor.dtype))
        for tensor in model.inputs
    ]
    settings: dict[str, Any] = {}
    if quantize:
        settings = {
            "optimizations": [tf.lite.Optimize.DEFAULT],
            "representative_dataset": lambda: iter(samples) if samples is not None else _random_samples(inputs),
            "target_spec": {"supported_ops": [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]},
            "inference_input_type": tf.int8,
            "inference_output_type": tf.int8,
        }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.tflite"
        # One input is a specification, several are a list of them, as the model takes them.
        signature = inputs if len(inputs) == 1 else [inputs]
        model.export(str(path), format="litert", verbose=False, input_signature=signature, **settings)
        return path.read_bytes()


def _random_samples(inputs: list[Any]) -> Iterator[list[Any]]:
    import numpy

    random = numpy.random.default_rng(0)
    for _ in range(_SAMPLES):
        yield [random.standard_normal(spec.shape).astype(spec.dtype) for spec in inputs]
