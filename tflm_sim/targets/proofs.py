"""What proves a target: the recordings and builds whose figures it reproduces, by kernel library and version of TFLM.

cortex-m4, cmsis_nn           cm4_cmsis_nn                   real TFLM, Cortex-M4 in qemu, CMSIS-NN kernels
esp32-s3, esp_nn@1.2.3        et-1.4.0-1.2.3-esp32s3         real esp-tflite-micro 1.4.0, 32-bit build, ESP-NN 1.2.3
"""

from __future__ import annotations

import re

from tflm_sim.targets.changes import EDGE_IMPULSE
from tflm_sim.targets.kernel_library import REFERENCE, UNRELEASED, KernelLibrary, newest
from tflm_sim.targets.runtime import Runtime

BOARD_READINGS = "four readings on a board (mcufit-bench)"
"""What proves a target beside a recording."""
_OWN_FUNCTIONS = "the library's own size functions"
_LIBRARY_PROOF = {"scalar": _OWN_FUNCTIONS, "dsp": "cm4_cmsis_nn", "mve": "cm55_cmsis_nn"}
_PROVED_WITH_LIBRARY = ("cortex-m4", "cortex-m55")
"""The very machines of those configurations."""

_ESP_NN_PROOF: dict[str, dict[str, tuple[str, ...]]] = {
    "et-1.4.0": {
        "opt": ("1.2.3",),
        "ansi": ("1.2.3",),
        "esp32s3": ("1.2.3", "1.2.1", "1.2.0", "1.1.2"),
        "esp32p4": ("1.2.3", "1.2.2"),
    },
    "et-1.3.3.1": {"esp32s3": ("1.2.3", "1.2.1", "1.2.0")},
}
"""Which versions of ESP-NN, by variant, were compared in real esp-tflite-micro builds under the same layout rules."""

ESP_NN_COMPILED = ("1.2.6", "1.2.7", "1.2.8", "1.2.9", "1.3.0", "1.3.1", UNRELEASED)
"""Versions whose size functions for the S3 were compiled for 32 bits (tests/golden/esp_nn_sizes.json)."""
_ESP_NN_SIZES = "the library's own size functions, compiled for 32 bits (tests/golden)"

_CMSIS_NN_RUNS = {
    "bff2857": "2021-11-18",
    "6a18a74": "2022-10-05",
    "d071e9f": "2023-04-10",
    "bfc54ed": "2024-01-05",
    "6cc31fb": "2024-04-01",
}
"""Versions of CMSIS-NN whose kernels ran in TFLM of a day, built for 32 bits (tests/golden/cmsis_nn_runs.json)."""
_CMSIS_NN_PROOF = {"e98ee09": "chirale-2.0.0", **{pin: f"cmsis_nn-{day}" for pin, day in _CMSIS_NN_RUNS.items()}}
_BY_HASH = "its files, by their hashes (tools/upstream/identify_library.py); the library's own size functions"
_ESP_RUNS = {
    "1.2.0": "1.1.0",
    "1.3.0": "1.1.0",
    "1.3.1": "1.1.0",
    "1.3.2": "1.1.0",
    "1.3.3": "1.1.0",
    "1.3.4": "1.1.2",
    "1.3.5": "1.1.2",
    "1.3.7": "1.2.3",
}
"""Releases of esp-tflite-micro that were built for 32 bits, with a version of ESP-NN (tests/golden/esp_runs.json)."""
_ESP_PROOF = {
    **{
        f"esp-tflite-micro@{release}": f"real esp-tflite-micro {release}, 32-bit build, ESP-NN {version} (tests/golden)"
        for release, version in _ESP_RUNS.items()
    },
    "esp-tflite-micro@1.3.3~1": "et-1.3.3.1-1.2.3-esp32s3",
    **dict.fromkeys(("esp-tflite-micro@1.3.8", "esp-tflite-micro@1.4.0"), "et-1.4.0-1.2.3-opt"),
}
_BUILT_LIBRARIES = frozenset(
    (
        "Arduino_TensorFlowLite@2.4.0-ALPHA",
        "EloquentTinyML@2.4.4",
        "Harvard_TinyMLx@1.2.4",
        "MicroTFLite@1.0.3",
        "TensorFlowLite_ESP32@1.0.0",
        "pico-tflmicro@2024-12",
        "tflite-micro-arduino-examples",
    )
)
"""Libraries whose own sources, or a copy of them, were built for 32 bits (tests/golden/arduino_runs.json)."""
_BUILT_PROOF = "its own sources, built for 32 bits (tests/golden)"
_EDGE_IMPULSE_ESP_NN_PROOF = (
    "Edge Impulse's SDK 2023-11-15, its ESP-NN's size functions for the S3 compiled for 32 bits (tests/golden)"
)
_MVP_PROOF = (
    "its TFLM, built for 32-bit Arm with the MVP's kernels; depthwise layers answered as by the wheel of silabs-mltk "
    "0.20.0 (tests/golden)"
)
_EDGE_IMPULSE_PROOF = "Edge Impulse's SDK 1.93.20: 64-bit with reference kernels, 32-bit with CMSIS-NN (tests/golden)"
_EON_PROOF = "Edge Impulse's SDKs of 2020 to 2023, built for 32-bit Arm: EON's sources, the interpreter (tests/golden)"
_EARLY_EON_PROOF = (
    "Edge Impulse's SDKs of 2020 and 2021, built for 32-bit Arm: sources of the EON compiler (tests/golden)"
)
_RUNTIME_PROOF = "x86_64 with reference kernels at 26 snapshots of 2021 to 2026 (tools/history_report.py, tests/golden)"

_WHEEL_PROOF = (
    "the pip wheels of 2026-10-08 and 2026-10-23, x86_64 with reference kernels, 283 models; structs of other ABIs: as "
    "compilers lay them out (tools/compare/abi.py)"
)


def runtime_proof(library: KernelLibrary, runtime: Runtime) -> str:
    """Return what proves a kernel library with another TFLM than the newest."""
    from tflm_sim.targets.libraries import find_library

    if EDGE_IMPULSE in dict(runtime.forks):
        return _edge_impulse_proof(library, runtime)
    if runtime.snapshot in _BUILT_LIBRARIES and library.name == find_library(runtime.snapshot).kernels:
        return _BUILT_PROOF
    if library == REFERENCE:
        return _RUNTIME_PROOF if runtime.is_counted else _WHEEL_PROOF
    if library.name == "mvp":
        return _MVP_PROOF
    if library.name == "cmsis_nn":
        proof = _CMSIS_NN_PROOF.get(library.version, _OWN_FUNCTIONS)
        return proof if runtime.is_counted else f"{proof}; structs: {_WHEEL_PROOF}"
    return _ESP_PROOF.get(find_library(runtime.snapshot).holds or runtime.snapshot, _BY_HASH)


def _edge_impulse_proof(library: KernelLibrary, runtime: Runtime) -> str:
    if not runtime.has("edge_impulse_kernels"):
        return _EON_PROOF if runtime.has("edge_impulse_2021") else _EARLY_EON_PROOF
    return _EDGE_IMPULSE_ESP_NN_PROOF if library.name == "esp_nn" else _EDGE_IMPULSE_PROOF


def library_proof(name: str, structs: str, runtime: Runtime, library: KernelLibrary) -> str:
    """Return what proves a kernel library of a preset, and the structs under it.

    Args:
        name: The preset.
        structs: What proves it with reference kernels.
        runtime: Its TFLM.
        library: CMSIS-NN, ESP-NN or the MVP's kernels.
    """
    if library.name == "esp_nn":
        return _esp_nn_proof(name, structs, runtime, library)
    is_newest = library.version == newest(library.name, library.variant)
    proof = _LIBRARY_PROOF[library.variant] if is_newest else _OWN_FUNCTIONS
    return proof if name in _PROVED_WITH_LIBRARY else f"{proof}; structs: {structs}"


def _esp_nn_proof(name: str, structs: str, runtime: Runtime, library: KernelLibrary) -> str:
    """Return what proves a version of ESP-NN: a build of it, or of one with the same text, or its size functions."""
    build = "et-1.4.0" if runtime.has("esp_nn_1_1_1") else "et-1.3.3.1"
    built = _ESP_NN_PROOF[build].get(library.variant, ())
    same = next((version for version in (library.version, *_same_text(library)) if version in built), "")
    if not same:
        proof = _ESP_NN_SIZES if library.version in ESP_NN_COMPILED else _OWN_FUNCTIONS
        return f"{proof}; structs: {structs}"
    text = "" if same == library.version else ", whose text this version has (CHECKSUMS.json of 1.2.6 and 1.3.1)"
    return f"{build}-{same}-{library.variant}{text}" + (f"; {BOARD_READINGS}" if name == "esp32" else "")


def _same_text(library: KernelLibrary) -> tuple[str, ...]:
    """Return the built version of ESP-NN whose size functions a newer one has, if it has."""
    is_newer = library.version in ESP_NN_COMPILED or library.version in ("1.2.4", "1.2.5")
    return ("1.2.3",) if is_newer and library.variant != "esp32s3" else ()


_RECORDINGS = {
    "x86_64_ref_comp": "real TFLM, 64-bit PC, reference kernels, with compression",
    "x86_64_ref": "real TFLM, 64-bit PC, reference kernels",
    "x86_64_wheel": "the pip wheel of TFLM",
    "x86_32_ref": "real TFLM, 32-bit PC, reference kernels",
    "cm4le_ref": "real TFLM, Cortex-M4 with int enums in qemu, reference kernels",
    "cm4_ref": "real TFLM, Cortex-M4 in qemu, reference kernels",
    "cm4_cmsis_nn": "real TFLM, Cortex-M4 in qemu, CMSIS-NN kernels",
    "cm55_cmsis_nn": "real TFLM, Cortex-M55 in qemu, CMSIS-NN kernels",
    "chirale-2.0.0": "its TFLM and CMSIS-NN, built for 32 bits",
    **{f"cmsis_nn-{day}": f"real TFLM of {day}, its CMSIS-NN, 32-bit build" for day in _CMSIS_NN_RUNS.values()},
    **{
        f"{build}-{version}-{variant}": f"real esp-tflite-micro {build[3:]}, 32-bit build, ESP-NN {version}"
        for build, variants in _ESP_NN_PROOF.items()
        for variant, versions in variants.items()
        for version in versions
    },
}
_RECORDING = r"\b(" + "|".join(sorted(_RECORDINGS, key=len, reverse=True)) + r")\b"


def proof_in_words(verified_against: str) -> str:
    """Return what proves a target for people: the recordings' short names say nothing to them."""
    return re.sub(_RECORDING, lambda match: _RECORDINGS[match[1]], verified_against) or "nothing"
