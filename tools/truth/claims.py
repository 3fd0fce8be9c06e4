"""Figures that other people read on their boards and in their builds, and what the simulation says for the same set-up.

A claim is a fact about somebody's firmware; nothing in the simulation was fitted to one. ``docs/evidence.md`` says for
each what its firmware contains, and for one that is not met what is known about it.

Sources: results/results.jsonl, README.md and the sketches @ avionicharshit-byte/mcufit-bench 88f8d23 (ESP-IDF 5.5 with
esp-tflite-micro ^1.3.3 in 160 KiB; Chirale_TensorFLowLite 2.0.0 in 100 KiB; both 16-aligned);
tensorflow/lite/micro/tools/benchmarking/README.md @ 90b983c; esphome/issues#7242; m5stack/esphome-yaml#68;
examples/tflm_hello_world and examples/tflm_mnist (README.md, example_tflm_mnist.cc) @ Ameba-AIoT/ameba-tflite-micro.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, OptionValue, TensorType
from tflm_sim.targets.presets import library_target, preset
from tflm_sim.targets.target import Target

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
KIB = 1024
INT8, INT32 = TensorType.INT8, TensorType.INT32

PERSON_DETECT, KWS, RESNET, AD = "808cfdfc", "aeea4368", "3c002613", "87cf2419"
OKAY_NABU, VAD = "0689abe1", "7aa4db6d"
HELLO_WORLD, KEYWORD = "ee939863", "2335faf0"
MNIST = "6703b4a6"


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure that somebody read.

    Attributes:
        name: The model, and whose reading.
        digest: How the SHA-256 of the model's file begins.
        said: Bytes.
        preset: The target that the firmware is.
        kernels: ``--kernels``; None for the preset's own.
        runtime: ``--runtime``: the TFLM of its time, where that is not the preset's.
        arena_size: Bytes of that firmware's arena.
        address: Where its arena starts, modulo 16.
        interpreter: Which interpreter it makes; None for the target's.
        variables: Its room for resource variables; None for as many as the model names.
        variable_arena: Bytes of an arena of its own for them, None for the model's.
        figure: "used" for ``arena_used_bytes()``, or "missing" for what the device's last line says is missing.
        head: Bytes of the head, where the log says them; None where it does not. An address is proved by them.
        buffers: (requested bytes, bytes, buffers) of 'Persistent buffer data', where the log says them.
        library: ``--library``, where it is one of those that we know; then it says preset, kernels and TFLM.
        static_memory: Whether it is built with TF_LITE_STATIC_MEMORY, where the preset decides nothing else.
    """

    name: str
    digest: str
    said: int
    preset: str
    kernels: str | None = None
    runtime: str | None = None
    arena_size: int = 1024 * KIB
    address: int = 0
    interpreter: str | None = None
    variables: int | None = None
    variable_arena: int | None = None
    figure: str = "used"
    head: int | None = None
    buffers: tuple[int, int, int] | None = None
    library: str | None = None
    static_memory: bool = True

    def target(self, *, runtime: str | None = None) -> Target:
        """Return the target that the firmware is, or the same machine with another TFLM."""
        if runtime is None and self.library is not None:
            return library_target(self.library, name=self.preset, kernels=self.kernels)
        target = preset(self.preset, kernels=self.kernels, runtime=runtime or self.runtime)
        if self.static_memory:
            return target
        return replace(target, runtime=replace(target.runtime, static_memory=False))

    def simulation(self, model: Model, *, runtime: str | None = None) -> Simulation:
        """Return one run in the firmware's arena."""
        return simulate(
            model,
            self.target(runtime=runtime),
            arena_size=self.arena_size,
            arena_address=self.address,
            interpreter=self.interpreter,
            resource_variables=self.variables,
            variable_arena=self.variable_arena,
        )

    def ours(self, model: Model) -> int:
        """Return what the simulation says, in bytes."""
        simulation = self.simulation(model)
        if self.figure == "used":
            return simulation.arena_used_bytes
        missing = re.search(r"missing: (\d+)", simulation.log[-1] if simulation.log else "")
        return int(missing[1]) if missing else 0


ESP_1_4, CHIRALE = "esp-tflite-micro@1.4.0", "chirale@2.0.0"


def _boards() -> Iterator[Claim]:
    for name, digest, esp32, nano in (
        ("person_detect", PERSON_DETECT, 82_300, 82_740),
        ("kws_ref_model", KWS, 22_780, 24_164),
        ("pretrainedResnet_quant", RESNET, 54_364, 55_188),
        ("ad01_int8", AD, 2_380, 2_596),
    ):
        yield Claim(f"{name}, ESP32", digest, esp32, "esp32", arena_size=160 * KIB, library=ESP_1_4)
        yield Claim(f"{name}, Nano 33 BLE", digest, nano, "nano33ble-chirale", arena_size=100 * KIB, library=CHIRALE)


def _benchmarks() -> Iterator[Claim]:
    """``tflm_benchmark`` records and makes room for 100 resource variables; wasm32 has the layout of int enums."""
    for name, digest, machine, kernels, said, head in (
        ("person_detect, wasm32", PERSON_DETECT, "cortex-m4-int-enums", "reference", 84_428, 55_296),
        ("kws_ref_model, wasm32", KWS, "cortex-m4-int-enums", "reference", 24_908, 16_000),
        ("pretrainedResnet_quant, wasm32", RESNET, "cortex-m4-int-enums", "reference", 56_492, 49_152),
        ("ad01_int8, wasm32", AD, "cortex-m4-int-enums", "reference", 4_508, 768),
        ("person_detect, 64-bit host", PERSON_DETECT, "x86_64", "reference", 89_248, 55_296),
        ("person_detect, Corstone-300 as M4", PERSON_DETECT, "cortex-m4", "cmsis_nn", 84_436, 55_296),
    ):
        yield Claim(name, digest, said, machine, kernels, interpreter="recording", variables=100, head=head)


def _wake_words() -> Iterator[Claim]:
    """ESPHome allocates from a heap: an arena starts at any multiple of 4."""
    for name, digest, said, kernels, arena_size, address, figure in (
        ("okay_nabu v2, missing of 26,080", OKAY_NABU, 7_564, "esp_nn@1.2.1", 26_080, 0, "missing"),
        ("vad v2, missing of 16,772 at 4", VAD, 7_708, "esp_nn@1.2.1", 16_772, 4, "missing"),
        ("okay_nabu v2, CoreS3, at 8", OKAY_NABU, 25_796, "esp_nn@1.1.2", 40_960, 8, "used"),
    ):
        yield Claim(
            name,
            digest,
            said,
            "esp32-s3-esphome",
            kernels,
            arena_size=arena_size,
            address=address,
            variables=20,
            variable_arena=1024,
            figure=figure,
        )


def _examples() -> Iterator[Claim]:
    """The profile of upstream's hello_world test, and what copied it: recording, room for 24 resource variables.

    Its arena is 3,000 bytes on the stack, of no alignment. ``tools truth class_a --snapshots`` prints between which
    days TFLM gives every number of a log.
    Source: examples/hello_world/hello_world_test.cc, ProfileMemoryAndLatency @ 90b983c.
    """
    kws = Claim(
        "kws_ref_model, STM32H745 debug",
        KWS,
        23_412,
        "cortex-m7",
        "cmsis_nn",
        runtime="2024-05-01",
        address=12,
        interpreter="recording",
        variables=24,
        head=16_004,
        buffers=(5_812, 5_884, 34),
    )
    yield kws
    yield replace(kws, name="kws_ref_model, STM32H745 release", address=8, head=16_008, buffers=(5_812, 5_880, 34))
    hello = Claim(
        "hello_world float, macOS arm64",
        HELLO_WORLD,
        2_392,
        "x86_64",
        "reference",
        arena_size=3_000,
        interpreter="recording",
        variables=24,
        head=128,
        buffers=(1_184, 1_200, 7),
    )
    yield hello
    yield replace(
        hello,
        name="hello_world float, Ameba KM4",
        said=1_400,
        preset="cortex-m33",
        kernels="cmsis_nn",
        runtime="2024-05-01",
        address=8,
        head=136,
        buffers=(692, 733, 7),
    )
    yield replace(
        hello,
        name="MNIST int8, Ameba KM4",
        digest=MNIST,
        said=15_732,
        preset="cortex-m33",
        kernels="cmsis_nn",
        runtime="2024-05-01",
        arena_size=30_000,
        head=13_520,
        buffers=(1_204, 1_254, 14),
    )


OLD_BUILDS = (
    # Any TFLM from c8c08497e (2021-09-21) to before ff5c3a610 (2022-01-23) gives it.
    Claim(
        "keyword_scrambled, x86-64",
        KEYWORD,
        14_736,
        "x86_64",
        "reference",
        runtime="2021-12-15",
        interpreter="recording",
        head=672,
        buffers=(572, 684, 17),
    ),
)

PYTHON_README = Claim(
    # Any TFLM from 9264e07f8 (2022-10-14) to before 708d22a2d (2022-11-23) gives it; the README is of 2022-11-04.
    "conv test model, Python wheel",
    "generate_test_models",
    10_016,
    "x86_64",
    "reference",
    runtime="2022-11-04",
    interpreter="recording",
    head=7_744,
    buffers=(608, 640, 10),
    static_memory=False,
)

CLAIMS: tuple[Claim, ...] = (*_boards(), *_benchmarks(), *_wake_words(), *OLD_BUILDS, PYTHON_README, *_examples())


def conv_test_model() -> Model:
    """Return upstream's test model with int8 inputs and outputs; its weights are zero, which no arena notices.

    Source: testing/generate_test_models.py @ 90b983c.
    """
    builder = ModelBuilder()
    x = builder.tensor((1, 16, 16, 1), INT8, scale=0.5)
    for size, channels, before in ((14, 16, 1), (12, 32, 16)):
        per_channel = [0.25] * channels
        filters = builder.tensor((channels, 3, 3, before), INT8, data=[0] * (9 * channels * before), scale=per_channel)
        bias = builder.tensor((channels,), INT32, data=[0] * channels, scale=per_channel)
        y = builder.tensor((1, size, size, channels), INT8, scale=0.5)
        builder.operator("CONV_2D", [x, filters, bias], [y], options=_CONVOLUTION)
        x = y
    pooled = builder.tensor((1, 6, 6, 32), INT8, scale=0.5)
    window: dict[str, OptionValue] = {
        "padding": "VALID",
        "stride_w": 2,
        "stride_h": 2,
        "filter_width": 2,
        "filter_height": 2,
    }
    builder.operator("MAX_POOL_2D", [x], [pooled], options=window)
    flat = builder.tensor((1, 1152), INT8, scale=0.5)
    shape = builder.tensor((2,), INT32, data=[-1, 1152])
    builder.operator("RESHAPE", [pooled, shape], [flat])
    weights = builder.tensor((10, 1152), INT8, data=[0] * 11_520, scale=0.5)
    bias = builder.tensor((10,), INT32, data=[0] * 10, scale=0.25)
    out = builder.tensor((1, 10), INT8, scale=0.5)
    builder.operator("FULLY_CONNECTED", [flat, weights, bias], [out])
    return parse(builder.build(inputs=[0], outputs=[out]))


_CONVOLUTION: dict[str, OptionValue] = {
    "padding": "VALID",
    "stride_w": 1,
    "stride_h": 1,
    "fused_activation_function": "RELU",
}
CONV_TEST = "generate_test_models"
BUILT = {CONV_TEST: conv_test_model}
"""Models that need no file: an arena depends on shapes and types alone."""


@cache
def find_model(digest: str) -> Model | None:
    """Return the model of ``../shared/models`` with that digest, or a built one; None when it is not there."""
    if digest in BUILT:
        return BUILT[digest]()
    return next((load(path) for known, path in _digests() if known.startswith(digest)), None)


@cache
def _digests() -> list[tuple[str, Path]]:
    return [(hashlib.sha256(path.read_bytes()).hexdigest(), path) for path in sorted(MODELS.glob("*.tflite"))]
