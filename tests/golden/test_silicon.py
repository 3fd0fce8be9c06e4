"""Boards said the same: ``arena_used_bytes()`` that other people read on an ESP32 and on an Arduino Nano 33 BLE.

Source: results/results.jsonl and the sketches @ avionicharshit-byte/mcufit-bench 88f8d23 (August 2026): ESP-IDF 5.5
with esp-tflite-micro ^1.3.3 (1.3.8 and 1.4.0 were out) in an arena of 160 KiB; Chirale_TensorFLowLite 2.0.0 in one of
100 KiB; both 16-aligned. The ESP32 was also read with CONFIG_NN_ANSI_C, for person_detect.
"""

import hashlib
from pathlib import Path

import pytest

from tflm_sim.allocator.simulate import simulate
from tflm_sim.model.load import load
from tflm_sim.target.presets import target

MODELS = Path(__file__).parents[3] / "shared" / "models"
KIB = 1024
READINGS = [
    ("808cfdfc", "person_detect", 82_300, 82_740),
    ("aeea4368", "kws_ref_model", 22_780, 24_164),
    ("3c002613", "pretrainedResnet_quant", 54_364, 55_188),
    ("87cf2419", "ad01_int8", 2_380, 2_596),
]


def find(digest: str) -> Path:
    for path in sorted(MODELS.glob("*.tflite")):
        if hashlib.sha256(path.read_bytes()).hexdigest().startswith(digest):
            return path
    pytest.skip("the model is not here")


@pytest.mark.parametrize(("digest", "name", "esp32", "nano"), READINGS, ids=[row[1] for row in READINGS])
def test_a_board_read_our_number(digest: str, name: str, esp32: int, nano: int) -> None:
    model = load(find(digest))
    for kernels in ("esp_nn", "esp_nn_ansi", "esp_nn@1.1.2"):
        assert simulate(model, target("esp32", kernels=kernels), arena_size=160 * KIB).arena_used_bytes == esp32
    assert simulate(model, target("nano33ble-chirale"), arena_size=100 * KIB).arena_used_bytes == nano


BENCHMARKS = [
    ("808cfdfc", "cortex-m4-int-enums", "reference", 55_296, 29_132),
    ("aeea4368", "cortex-m4-int-enums", "reference", 16_000, 8_908),
    ("3c002613", "cortex-m4-int-enums", "reference", 49_152, 7_340),
    ("87cf2419", "cortex-m4-int-enums", "reference", 768, 3_740),
    ("808cfdfc", "x86_64", "reference", 55_296, 33_952),
    ("808cfdfc", "cortex-m4", "cmsis_nn", 55_296, 29_140),
]


@pytest.mark.parametrize(("digest", "name", "kernels", "head", "tail"), BENCHMARKS)
def test_the_benchmark_tool_said_our_number(digest: str, name: str, kernels: str, head: int, tail: int) -> None:
    """``tflm_benchmark`` records, and makes room for 100 resource variables: it counts itself.

    Source: mcufit's build of it for wasm32 (int enums, 8-aligned int64: the layout of ``cortex-m4-int-enums``) and for
    a 64-bit host; tensorflow/lite/micro/tools/benchmarking/README.md (Corstone-300, Cortex-M4 with CMSIS-NN) @ 90b983c.
    """
    of = target(name, kernels=kernels)
    run = simulate(load(find(digest)), of, arena_size=1 << 20, interpreter="recording", resource_variable_count=100)
    assert (run.head_bytes, run.tail_bytes) == (head, tail)
