"""``ArenaBudget`` with a stand-in for Keras; ``test_keras_trainings.py`` has the real one, which takes longer."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tflm_sim import sample_path
from tflm_sim.errors import SimulatedFailure, UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

NEEDED = 1168
"""Bytes of the smallest arena of the sine model on a Cortex-M4, a multiple of 16."""


class Callback:
    """What Keras calls."""

    model: Any = SimpleNamespace(built=True, name="sine")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return the module as it is with the stand-in."""
    keras = SimpleNamespace(
        callbacks=SimpleNamespace(Callback=Callback),
        backend=SimpleNamespace(backend=lambda: "tensorflow", standardize_dtype=str),
        InputSpec=lambda shape, dtype: SimpleNamespace(shape=shape, dtype=dtype),
    )
    monkeypatch.setitem(sys.modules, "keras", keras)  # type: ignore[arg-type]
    monkeypatch.delitem(sys.modules, "tflm_sim.extensions.ci.keras", raising=False)
    yield importlib.import_module("tflm_sim.extensions.ci.keras")
    sys.modules.pop("tflm_sim.extensions.ci.keras", None)


def sine(_: object) -> bytes:
    return sample_path("sine").read_bytes()


def test_the_arena_may_have_the_limit_and_no_byte_more(module: Any) -> None:
    budget = module.ArenaBudget(NEEDED, "cortex-m4", convert=sine)
    budget.on_train_begin()
    assert budget.judge() == NEEDED
    for limit, more in ((NEEDED - 1, "1 B"), ("1KiB", "144 B")):
        with pytest.raises(module.ArenaBudgetExceededError) as failure:
            module.ArenaBudget(limit, "cortex-m4", convert=sine).on_train_begin()
        assert f"the model 'sine' needs an arena of 1,168 B on cortex-m4, {more} more than the " in str(failure.value)
        assert failure.value.needed == NEEDED


def test_a_model_is_judged_once_its_shapes_are_known(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    budget = module.ArenaBudget(NEEDED, "cortex-m4", convert=lambda model: asked.append(model) or sine(model))
    monkeypatch.setattr(Callback.model, "built", False)
    budget.on_train_begin()
    assert (asked, budget.simulation) == ([], None)
    budget.on_train_batch_end(0)
    budget.on_train_batch_end(1)
    assert asked == [Callback.model]


def test_each_epoch_has_the_arena_in_its_logs(module: Any) -> None:
    budget = module.ArenaBudget(NEEDED, "cortex-m4", convert=sine)
    logs: dict[str, Any] = {}
    budget.on_epoch_end(0, logs)
    assert logs == {}
    budget.judge()
    budget.on_epoch_end(0, None)
    budget.on_epoch_end(0, logs)
    assert logs == {"arena_bytes": NEEDED}
    budget.simulation = SimpleNamespace(smallest=None)
    budget.on_epoch_end(1, later := dict[str, Any]())
    assert later == {}


def test_a_model_that_works_in_no_arena_is_no_matter_of_the_limit(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 4), TensorType.INT8) for _ in range(2))
    builder.custom("NOBODY_KNOWS", [source], [result])
    file = builder.build(inputs=[source], outputs=[result])
    with pytest.raises(SimulatedFailure):
        module.ArenaBudget("64KiB", "cortex-m4", convert=lambda _: file).judge()
    answer = SimpleNamespace(unwrap=lambda: SimpleNamespace(smallest=None))
    monkeypatch.setattr(module, "simulate", lambda *_: answer)
    with pytest.raises(SimulatedFailure, match=r"^AllocateTensors\(\) works in no single arena of any size$"):
        module.ArenaBudget("64KiB", "cortex-m4", convert=sine).judge()


def exported(module: Any, monkeypatch: pytest.MonkeyPatch, *shapes: tuple[int | None, ...], **how: Any) -> Any:
    """Return what Keras is asked for when a model is converted by default."""
    asked: list[Any] = []
    lite = SimpleNamespace(Optimize=SimpleNamespace(DEFAULT="default"), OpsSet=SimpleNamespace(TFLITE_BUILTINS_INT8=8))
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(lite=lite, int8="int8"))  # type: ignore[arg-type]

    def export(path: str, **settings: Any) -> None:
        asked.append(settings)
        Path(path).write_bytes(b"converted")

    inputs = [SimpleNamespace(shape=shape, dtype="float32") for shape in shapes]
    assert module.to_tflite(SimpleNamespace(inputs=inputs, export=export), **how) == b"converted"
    return asked[0]


def test_one_input_is_a_specification_and_several_are_a_list_and_the_batch_is_1(module: Any, monkeypatch: Any) -> None:
    (one,) = exported(module, monkeypatch, (None, 3, 4), quantize=False)["input_signature"]
    assert one.shape == (1, 3, 4)
    ((first, second),) = exported(module, monkeypatch, (None, 3), (None, 5), quantize=False)["input_signature"]
    assert (first.shape, second.shape) == ((1, 3), (1, 5))


def test_eight_random_samples_calibrate_a_quantization_and_always_the_same(module: Any, monkeypatch: Any) -> None:
    settings = exported(module, monkeypatch, (None, 3))
    assert settings["inference_input_type"] == settings["inference_output_type"] == "int8"
    rows = [sample for (sample,) in settings["representative_dataset"]()]
    assert [(row.shape, row.dtype) for row in rows] == [((1, 3), np.float32)] * 8
    assert np.array_equal(rows[0], np.random.default_rng(0).standard_normal((1, 3)).astype("float32"))
    given = exported(module, monkeypatch, (None, 3), samples=[[1], [2]])
    assert list(given["representative_dataset"]()) == [[1], [2]]


def test_by_default_keras_converts_and_only_on_tensorflow(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert module.ArenaBudget("1 << 10", "cortex-m4")._convert is module.to_tflite
    monkeypatch.setattr(module.keras.backend, "backend", lambda: "jax")
    with pytest.raises(UsageError, match="to_tflite needs Keras' TensorFlow backend, not jax"):
        module.to_tflite(None)
