"""What ``shrink`` makes of models, in the real TFLM: the same bytes, in exactly the arena that was predicted."""

from __future__ import annotations

import contextlib
import ctypes
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shrinking_models as models
import stateful_models
from fuzz import shrink as fuzz_shrink

from tflm_sim import load, shrink
from tflm_sim.cli import main
from tflm_sim.device.configuration import configure
from tflm_sim.errors import ModelError, TflmSimError
from tflm_sim.extensions.shrink import channels
from tflm_sim.extensions.shrink.conversions import Numbers, c_lines, python_lines
from tflm_sim.extensions.shrink.prove import SEQUENCE, prove
from tflm_sim.extensions.shrink.shrunk import Shrunk
from tflm_sim.extensions.shrink.wheel_worker import compiled
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import Model, TensorType

FLOAT32, INT8, UINT8 = TensorType.FLOAT32, TensorType.INT8, TensorType.UINT8
INT16, INT32 = TensorType.INT16, TensorType.INT32
SHARED = Path(__file__).parents[3] / "shared" / "models"
TOP = Path(__file__).parents[2]


# At least what the arena shrinks to on a Cortex-M4 with CMSIS-NN, in bytes.
NAMES = sorted(path.stem for path in SHARED.glob("*.tflite"))
EXPECTED = {
    "tflm__models__person_detect": 64_928,
    "AmbiqAI-neuralSPOT__ic_bench_model_data": 44_296,
    "tum-ei-eda-mlonmcu-models__cifar10": 59_680,
    "esphome-micro-wake-word-models__alexa": 28_712,
    "JohnnyPrimus-Custom_V2_MicroWakeWords__hey_friday": 16_356,
    "mlcommons-tiny_results_v0.5__kws_model_data": 22_732,
}


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(4, 12))]


def proved(shrunk: Shrunk, runs: int) -> None:
    """Run both models in the wheel and check what it says."""
    proof = prove(shrunk.origin, shrunk.data, shrunk.model, runs)
    assert proof.fails_below
    assert proof.runs >= runs


@pytest.mark.slow
@pytest.mark.parametrize("name", models.MODELS)
def test_each_pass_gives_the_same_bytes(name: str, wheel: Any) -> None:
    proved(shrink(models.MODELS[name](), configure("cortex-m4", kernels="reference")), 10)


def loop_model(*, residual: bool) -> Model:
    """Return two convolutions, around a residual connection or not, and a third one: a loop over their rows pays."""
    layers = models.Layers()
    x = layers.activation((1, 40, 40, 1))
    y = layers.conv(x, 48)
    y = layers.add(y, layers.conv(y, 48)) if residual else layers.conv(y, 48, stride=2)
    return layers.model([x], [layers.conv(y, 8, stride=2)])


@pytest.mark.slow
@pytest.mark.parametrize("residual", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_loop_gives_the_same_bytes(residual: bool, wheel: Any) -> None:
    shrunk = shrink(loop_model(residual=residual), "cortex-m4", loops=True, max_macs=4)
    assert "WHILE" in shrunk.extra_operators
    proved(shrunk, 10)


# (input, output): type, scale, zero point; every pair that TFLM's QUANTIZE and DEQUANTIZE know.
CONVERSIONS = [
    (Numbers(FLOAT32), Numbers(INT8, 0.0329434909, -9)),
    (Numbers(FLOAT32), Numbers(INT8, 1 / 255, -128)),
    (Numbers(FLOAT32), Numbers(INT16, 0.0007, 0)),
    (Numbers(INT8, 0.037, -9), Numbers(FLOAT32)),
    (Numbers(INT16, 0.0007, 0), Numbers(FLOAT32)),
    (Numbers(UINT8, 0.037, 119), Numbers(FLOAT32)),
    (Numbers(INT16, 0.0007, 0), Numbers(INT8, 0.09, 3)),
    (Numbers(INT16, 0.0007, 0), Numbers(INT8, 0.0007, 3)),
    (Numbers(INT8, 0.037, -9), Numbers(INT8, 0.011, 4)),
    (Numbers(INT8, 0.011, -9), Numbers(INT8, 0.037, 4)),
    (Numbers(UINT8, 0.5, 128), Numbers(INT8, 0.5, 0)),
    (Numbers(UINT8, 0.5, 120), Numbers(INT8, 0.7, 0)),
    (Numbers(INT8, 0.5, 0), Numbers(UINT8, 0.5, 128)),
    (Numbers(INT8, 0.5, 0), Numbers(INT16, 0.0037, 0)),
    (Numbers(INT16, 0.5, 0), Numbers(INT32, 0.0037, 0)),
]


def all_values(numbers: Numbers, other: Numbers) -> Any:
    """Return every integer of a type, or floats on, between and beside the steps of the other one."""
    if numbers.type != FLOAT32:
        limits = np.iinfo(TensorType(numbers.type).name.lower())
        return np.arange(limits.min, limits.max + 1).astype(limits.dtype)
    halves = np.arange(-140_000, 140_000, dtype=np.float64) / 2
    exact = (halves * other.scale).astype(np.float32)
    noise = np.random.default_rng(3).uniform(-300, 300, 20_000).astype(np.float32) * np.float32(other.scale)
    return np.concatenate([exact, np.nextafter(exact, np.float32(9e9)), np.nextafter(exact, np.float32(-9e9)), noise])


@pytest.mark.parametrize(("source", "target"), CONVERSIONS, ids=str)
def test_the_lines_for_integer_inputs_and_outputs_give_what_tflm_gives(
    source: Numbers, target: Numbers, wheel: Any, tmp_path: Path
) -> None:
    from tflite_micro.python.tflite_micro import runtime

    values = all_values(source, target)
    b = ModelBuilder()
    x, y = (
        b.tensor(
            (values.size,), n.type, **({} if n.type == FLOAT32 else {"scale": n.scale, "zero_point": n.zero_point})
        )
        for n in (source, target)
    )
    b.operator("DEQUANTIZE" if target.type == FLOAT32 else "QUANTIZE", [x], [y])
    interpreter = runtime.Interpreter.from_bytes(b.build(inputs=[x], outputs=[y]), arena_size=8 << 20)
    interpreter.set_input(values, 0)
    interpreter.invoke()
    expected = np.array(interpreter.get_output(0))
    python = compiled("f", python_lines("f", source, target))(values)
    assert python.dtype == expected.dtype
    assert python.tobytes() == expected.tobytes()
    assert in_c(c_lines("f", source, target), values, expected.dtype, tmp_path) == expected.tobytes()


def in_c(lines: Sequence[str], values: Any, dtype: Any, folder: Path) -> bytes:
    """Return what the function "f" of some lines of C makes of each value."""
    kinds = re.search(r"inline (\w+) f\((\w+) x\)", lines[0])
    assert kinds is not None
    loop = f"void all({kinds[2]} *x, {kinds[1]} *y, int n) {{ for (int i = 0; i < n; i++) y[i] = f(x[i]); }}"
    source, library = folder / "f.c", folder / "f.so"
    source.write_text("\n".join(["#include <math.h>", "#include <stdint.h>", *lines, loop, ""]))
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source, "-lm"], check=True)
    found = np.empty(values.size, dtype)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (values, found)]
    ctypes.CDLL(str(library)).all(*pointers, ctypes.c_int(values.size))
    return found.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_models_without_io_quantization_give_the_same_bytes(seed: int, wheel: Any) -> None:
    shrunk = shrink(models.random_converted_io(seed), "cortex-m4", int8_io=True, prove_runs=10)
    assert not [row for row in shrunk.rejected if "refused" in row.reason]
    assert shrunk.conversions
    assert shrunk.proof is not None
    assert shrunk.proof.fails_below


@pytest.mark.slow
def test_state_is_compared_over_a_long_sequence(wheel: Any) -> None:
    shrunk = shrink(models.state_model(), "cortex-m4", prove_runs=1)
    assert shrunk.proof is not None
    assert shrunk.proof.runs >= SEQUENCE


@pytest.mark.slow
def test_outputs_below_inputs_give_the_same_bytes_on_the_reference_kernels(wheel: Any) -> None:
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 8))
    y = layers.conv(layers.depthwise(layers.conv(x, 16), stride=2), 8, kernel=1)
    reference = configure("x86_64-pip")
    shrunk = shrink(layers.model([x], [layers.pool(y)]), reference, kernel_order=True)
    assert shrunk.steps[-1].name == "offline plan"
    proved(shrunk, 20)


@pytest.mark.slow
@pytest.mark.shared("models")
@pytest.mark.parametrize(
    "name", [*EXPECTED, *(pytest.param(name, marks=pytest.mark.nightly) for name in NAMES if name not in EXPECTED)]
)
def test_every_model_that_gains_gives_the_same_bytes(name: str, wheel: Any) -> None:
    shrunk = None
    with contextlib.suppress(TflmSimError):  # TFLM refuses it, or shrink does
        shrunk = shrink(load(SHARED / f"{name}.tflite"), "cortex-m4")
    assert shrunk is not None or name not in EXPECTED
    if shrunk is not None and shrunk.has_gained:
        assert shrunk.gains[0].after.arena <= EXPECTED.get(name, shrunk.gains[0].before.arena)
        with contextlib.suppress(ModelError):  # the wheel cannot run the original; what differs is another error
            proved(shrunk, 2)


@pytest.mark.slow
def test_a_byte_that_differs_refuses_the_result_and_nothing_is_written(
    wheel: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    sound = channels._cut_constant
    monkeypatch.setattr(
        channels, "_cut_constant", lambda draft, tensor, axis, start, end: sound(draft, tensor, axis, 0, end - start)
    )
    monkeypatch.setattr("tflm_sim.extensions.shrink.shrink.verify", lambda *arguments, **options: "not at all")
    path, out = tmp_path / "model.tflite", tmp_path / "small.tflite"
    layers = models.Layers()
    x = layers.activation((1, 16, 16, 3))
    path.write_bytes(layers.model([x], [layers.pool(layers.conv(x, 32))]).source)
    assert main(["shrink", str(path), "-o", str(out), "--prove", "1"]) == 1
    assert re.search(r"refused: .* differs from the original's; nothing is written", capsys.readouterr().err)
    assert [file.name for file in tmp_path.iterdir()] == ["model.tflite"]


# Drawn by tools/fuzz/shrink.py: 37 splits by channels and rows at once, 1537 has an output that is read again, 1631
# resizes by 3.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(8), 37, 1537, 1631])
def test_random_models_with_random_limits_give_the_same_bytes(seed: int, wheel: Any) -> None:
    shrunk = fuzz_shrink.shrunk_at_random(models.random_model(seed), seed)
    assert [row for row in shrunk.rejected if "does not understand" in row.reason or "refused" in row.reason] == []
    assert not shrunk.has_gained or fuzz_shrink.difference(shrunk) == ""


# LSTMs, SVDFs and resource variables between inputs and outputs of floats.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [705, 706, 711])
def test_a_state_goes_on_as_before_where_the_ends_become_integers(seed: int, wheel: Any) -> None:
    model = models.with_float_ends(stateful_models.random_state_model(seed), seed)
    shrunk = fuzz_shrink.shrunk_at_random(model, seed, int8_io=True)
    assert "int8 io" in [step.name for step in shrunk.steps]
    assert fuzz_shrink.difference(shrunk) == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_random_models_give_the_same_bytes_with_reference_kernels_and_fewer_operands(seed: int, wheel: Any) -> None:
    model = models.random_cheaper_model(seed)
    shrunk = fuzz_shrink.shrunk_at_random(model, seed, targets=[fuzz_shrink.WHEEL_TARGET])
    assert not shrunk.has_gained or fuzz_shrink.difference(shrunk) == ""
