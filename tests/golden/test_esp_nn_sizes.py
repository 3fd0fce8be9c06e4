"""ESP-NN's scratch-size functions, compiled, and ours: every int8 layer of 283 models, and random ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.ops.esp_nn.dims import DataDims, Layer
from tflm_sim.ops.esp_nn.scratch_sizes import SCRATCH_SIZES
from tflm_sim.ops.reference.window import Extent

COMPILED: dict[str, Any] = json.loads(Path(__file__).with_name("esp_nn_sizes.json").read_text(encoding="utf-8"))


def layer(numbers: list[int]) -> Layer:
    image, window, result = (DataDims(*numbers[start : start + 3]) for start in (0, 3, 6))
    return Layer(image, window, result, Extent(*numbers[9:11]), Extent(*numbers[11:13]), numbers[13])


@pytest.mark.parametrize("position", range(len(COMPILED["versions"])), ids=COMPILED["versions"])
def test_every_layer_has_the_bytes_of_the_compiled_functions(position: int) -> None:
    version, chip = COMPILED["versions"][position].split("-")
    row = SCRATCH_SIZES[version][chip]
    differing = [
        (kind, numbers, sizes[position])
        for kind, size in (
            ("conv", lambda numbers: row.esp_nn_get_conv_scratch_size(layer(numbers))),
            ("depthwise", lambda numbers: row.esp_nn_get_depthwise_conv_scratch_size(layer(numbers))),
            ("softmax", lambda numbers: row.esp_nn_get_softmax_scratch_size(*numbers)),
        )
        for numbers, sizes in COMPILED[kind]
        if sizes[position] is not None and size(numbers) != sizes[position]
    ]
    assert differing == []
    assert (len(COMPILED["conv"]), len(COMPILED["depthwise"]), len(COMPILED["softmax"])) == (612, 356, 11)
