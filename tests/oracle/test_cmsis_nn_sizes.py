"""CMSIS-NN's own buffer-size functions answer what ours answer, over random layers of every kind.

They come from the binding inside the executorch wheel, which imports without torch:
``pip install --no-deps executorch``. It was built from ad95bdf (2026-04-08) or later, whose sizes are those of 4ab83cc.
"""

import importlib.util
import random
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, DwConvParams, Isa, Tile, TransposeConvParams

CASES = 20_000
NEW = BUFFER_SIZES["4ab83cc"]
TYPES = {"A8W8": "s8", "A8W4": "s4", "A16W8": "s16"}


def _binding() -> ModuleType | None:
    spec = importlib.util.find_spec("executorch")
    for root in spec.submodule_search_locations or () if spec else ():
        for library in Path(root).glob("backends/cortex_m/library/_cmsis_nn/cmsis_nn.*"):
            found = importlib.util.spec_from_file_location("cmsis_nn", library)
            if found and found.loader:
                module = importlib.util.module_from_spec(found)
                found.loader.exec_module(module)
                return module
    return None


CMSIS_NN = _binding()
pytestmark = pytest.mark.skipif(CMSIS_NN is None, reason="pip install --no-deps executorch brings CMSIS-NN's binding")


class Layer:
    """A random layer: any shape, padding, stride, dilation and group count, sensible or not."""

    def __init__(self, rng: random.Random) -> None:
        side = lambda high: rng.choice((1, 1, 2, 3, rng.randint(1, high)))  # noqa: E731
        self.isa = rng.choice(get_args(Isa))
        self.backend = getattr(CMSIS_NN.Backend, self.isa.upper())
        channels = rng.choice((1, 2, 3, 4, 8, 16, 17, 24, rng.randint(1, 300)))
        outputs = rng.choice((channels, 1, 4, rng.randint(1, 300)))
        kernel = (side(11), side(11))
        self.input = Dims(rng.choice((1, 1, 1, 2)), side(64), side(64), channels)
        self.output = Dims(self.input.n, side(64), side(64), outputs)
        self.filter = Dims(outputs, *kernel, rng.choice((channels, channels, 1, 2)))
        self.depthwise_filter = Dims(1, *kernel, outputs)
        self.padding = Tile(rng.choice((0, 0, 1, rng.randint(0, 5))), rng.choice((0, 0, 1, rng.randint(0, 5))))
        self.stride = Tile(rng.randint(1, 4), rng.randint(1, 4))
        self.dilation = Tile(rng.choice((1, 1, 2)), rng.choice((1, 1, 2)))
        self.multiplier = rng.choice((1, 1, 2))
        self.type = rng.choice(list(TYPES))

    def conv(self) -> ConvParams:
        return ConvParams(self.stride, self.padding, self.dilation)

    def depthwise(self) -> DwConvParams:
        return DwConvParams(self.multiplier, self.stride, self.padding, self.dilation)


def _convolve(layer: Layer) -> tuple[int, int]:
    ours = getattr(NEW, f"arm_convolve_wrapper_{TYPES[layer.type]}_get_buffer_size")
    theirs = CMSIS_NN.convolve_wrapper_buffer_size(
        layer.backend,
        getattr(CMSIS_NN.DataType, layer.type),
        *(layer.input, layer.filter, layer.output),
        *(layer.padding, layer.stride, layer.dilation),
    )
    return ours(layer.isa, layer.conv(), layer.input, layer.filter, layer.output), theirs


def _depthwise(layer: Layer) -> tuple[int, int]:
    ours = getattr(NEW, f"arm_depthwise_conv_wrapper_{TYPES[layer.type]}_get_buffer_size")
    theirs = CMSIS_NN.depthwise_conv_wrapper_buffer_size(
        layer.backend,
        getattr(CMSIS_NN.DataType, layer.type),
        *(layer.input, layer.depthwise_filter, layer.output),
        *(layer.padding, layer.stride, layer.dilation, layer.multiplier),
    )
    return ours(layer.isa, layer.depthwise(), layer.input, layer.depthwise_filter, layer.output), theirs


def _transpose(layer: Layer) -> tuple[int, int]:
    theirs = CMSIS_NN.transpose_conv_buffer_size(
        layer.backend,
        CMSIS_NN.DataType.A8W8,
        *(layer.input, layer.filter, layer.output),
        *(layer.padding, layer.stride, layer.dilation),
    )
    params = TransposeConvParams(layer.stride)
    ours = NEW.arm_transpose_conv_s8_get_buffer_size(layer.isa, params, layer.input, layer.filter, layer.output)
    return ours, theirs


def _reverse(layer: Layer) -> tuple[int, int]:
    theirs = CMSIS_NN.transpose_conv_reverse_conv_buffer_size(
        layer.backend, CMSIS_NN.DataType.A8W8, layer.input, layer.filter, layer.padding, layer.stride
    )
    params = TransposeConvParams(layer.stride)
    return NEW.arm_transpose_conv_s8_get_reverse_conv_buffer_size(params, layer.input, layer.filter), theirs


def _fully_connected(layer: Layer) -> tuple[int, int]:
    name = "A8W8" if layer.type == "A8W4" else layer.type
    ours = getattr(NEW, f"arm_fully_connected_{TYPES[name]}_get_buffer_size")
    theirs = CMSIS_NN.fully_connected_buffer_size(layer.backend, getattr(CMSIS_NN.DataType, name), layer.filter)
    return ours(layer.isa, layer.filter), theirs


def _average_pool(layer: Layer) -> tuple[int, int]:
    name = "A8W8" if layer.type == "A8W4" else layer.type
    ours = getattr(NEW, f"arm_avgpool_{TYPES[name]}_get_buffer_size")
    data_type = getattr(CMSIS_NN.DataType, name)
    theirs = CMSIS_NN.avgpool_buffer_size(layer.backend, data_type, layer.output.w, layer.output.c)
    return ours(layer.isa, layer.output.w, layer.output.c), theirs


def _svdf(layer: Layer) -> tuple[int, int]:
    theirs = CMSIS_NN.svdf_buffer_size(layer.backend, CMSIS_NN.DataType.A8W8, layer.filter)
    return NEW.arm_svdf_s8_get_buffer_size(layer.isa, layer.filter), theirs


@pytest.mark.parametrize(
    ("function", "cases"),
    [
        (_convolve, CASES),
        (_depthwise, CASES),
        (_transpose, CASES),
        (_reverse, CASES // 10),
        (_fully_connected, CASES // 10),
        (_average_pool, CASES // 10),
        (_svdf, CASES // 10),
    ],
    ids=lambda value: value.__name__.strip("_") if callable(value) else "",
)
def test_our_size_is_cmsis_nns_size(function: Callable[[Layer], tuple[int, int]], cases: int) -> None:
    rng = random.Random(4)
    for case in range(cases):
        layer = Layer(rng)
        ours, theirs = function(layer)
        assert ours == theirs, (case, vars(layer))
