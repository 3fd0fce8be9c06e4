"""Figures that other people read on their boards and in their builds, and what the simulation says for the same set-up.

A claim is a fact about somebody's firmware; nothing in the simulation was fitted to one. ``docs/measured.md`` says for
each what its firmware contains, and for one that is not met what is known about it.

Sources: results/results.jsonl, README.md and the sketches @ avionicharshit-byte/mcufit-bench 88f8d23 (ESP-IDF 5.5 with
esp-tflite-micro ^1.3.3 in 160 KiB; Chirale_TensorFLowLite 2.0.0 in 100 KiB; both 16-aligned);
tensorflow/lite/micro/tools/benchmarking/README.md @ 90b983c; esphome/issues#7242; m5stack/esphome-yaml#68.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tflm_sim.answers.simulation import simulate
from tflm_sim.model.load import load
from tflm_sim.model.types import Model

MODELS = Path(__file__).resolve().parent.parent.parent / "shared" / "models"
KIB = 1024

PERSON_DETECT, KWS, RESNET, AD = "808cfdfc", "aeea4368", "3c002613", "87cf2419"
OKAY_NABU, VAD = "0689abe1", "7aa4db6d"
HELLO_WORLD, KEYWORD = "ee939863", "2335faf0"


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
        unexplained: By how many bytes we are off, for an unknown cause; 0 for a figure that we meet.
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
    unexplained: int = 0

    def ours(self, model: Model) -> int:
        """Return what the simulation says, in bytes."""
        simulation = simulate(
            model,
            self.preset,
            arena_size=self.arena_size,
            kernels=self.kernels,
            runtime=self.runtime,
            arena_address=self.address,
            interpreter=self.interpreter,
            resource_variable_count=self.variables,
            variable_arena_size=self.variable_arena,
        )
        if self.figure == "used":
            return simulation.arena_used_bytes
        missing = re.search(r"missing: (\d+)", simulation.log[-1] if simulation.log else "")
        return int(missing[1]) if missing else 0


def _boards() -> Iterator[Claim]:
    for name, digest, esp32, nano in (
        ("person_detect", PERSON_DETECT, 82_300, 82_740),
        ("kws_ref_model", KWS, 22_780, 24_164),
        ("pretrainedResnet_quant", RESNET, 54_364, 55_188),
        ("ad01_int8", AD, 2_380, 2_596),
    ):
        yield Claim(f"{name}, ESP32", digest, esp32, "esp32", arena_size=160 * KIB)
        yield Claim(f"{name}, Nano 33 BLE", digest, nano, "nano33ble-chirale", arena_size=100 * KIB)


def _benchmarks() -> Iterator[Claim]:
    """``tflm_benchmark`` records and makes room for 100 resource variables; wasm32 has the layout of int enums."""
    for name, digest, preset, kernels, said in (
        ("person_detect, wasm32", PERSON_DETECT, "cortex-m4-int-enums", "reference", 84_428),
        ("kws_ref_model, wasm32", KWS, "cortex-m4-int-enums", "reference", 24_908),
        ("pretrainedResnet_quant, wasm32", RESNET, "cortex-m4-int-enums", "reference", 56_492),
        ("ad01_int8, wasm32", AD, "cortex-m4-int-enums", "reference", 4_508),
        ("person_detect, 64-bit host", PERSON_DETECT, "x86_64", "reference", 89_248),
        ("person_detect, Corstone-300 as M4", PERSON_DETECT, "cortex-m4", "cmsis_nn", 84_436),
    ):
        yield Claim(name, digest, said, preset, kernels, interpreter="recording", variables=100)


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


def _unexplained() -> Iterator[Claim]:
    for name, digest, preset, kernels, said, variables, off in (
        ("kws_ref_model, STM32H745", KWS, "cortex-m7", "cmsis_nn", 23_412, None, -496),
        ("hello_world float, macOS arm64", HELLO_WORLD, "x86_64", "reference", 2_392, 24, 8),
    ):
        yield Claim(name, digest, said, preset, kernels, interpreter="recording", variables=variables, unexplained=off)


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
    ),
)

CLAIMS: tuple[Claim, ...] = (*_boards(), *_benchmarks(), *_wake_words(), *OLD_BUILDS, *_unexplained())


@cache
def find_model(digest: str) -> Model | None:
    """Return the model of ``../shared/models`` with that digest; None when it is not there."""
    return next((load(path) for known, path in _digests() if known.startswith(digest)), None)


@cache
def _digests() -> list[tuple[str, Path]]:
    return [(hashlib.sha256(path.read_bytes()).hexdigest(), path) for path in sorted(MODELS.glob("*.tflite"))]
