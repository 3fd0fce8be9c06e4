"""Image resizing: RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.

Source: tensorflow/lite/micro/kernels/{resize_bilinear,resize_nearest_neighbor}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.node_checks import ensure_counts, int_option, require
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import ensure_c_types_eq, ensure_eq, ensure_msg, fail, free, optional_input, optional_output

_SIZE_MESSAGE = "Non-constant >size< tensor is not supported"


def _tensors(node: Node, file: str, line: int) -> Steps[tuple[KernelTensor, KernelTensor, KernelTensor | None]]:
    """Allocate input, size and output, none of which upstream holds against null, and check ranks and type."""
    image = yield from optional_input(node, 0)
    size = yield from optional_input(node, 1)
    output = yield from optional_output(node, 0)
    image = require(image, f"{file}:{line}", "input")
    ensure_eq(len(image.shape), 4, f"{file}:{line}", "NumDimensions(input)", "4")
    size = require(size, f"{file}:{line + 1}", "size")
    ensure_eq(len(size.shape), 1, f"{file}:{line + 1}", "NumDimensions(size)", "1")
    return image, size, output


def _prepare_bilinear(node: Node) -> Steps[None]:
    ensure_counts(node, "resize_bilinear.cc", 36, inputs=2)
    image, size, output = yield from _tensors(node, "resize_bilinear.cc", 46)
    ensure_c_types_eq(size.type, TensorType.INT32, "resize_bilinear.cc:49", "size->type", "kTfLiteInt32")
    output = require(output, "resize_bilinear.cc:50", "output")
    ensure_msg(size.is_constant, "resize_bilinear.cc", _SIZE_MESSAGE)
    options = "ResizeBilinearOptions"
    if int_option(node, options, "half_pixel_centers") and int_option(node, options, "align_corners"):
        raise fail("If half_pixel_centers is True, align_corners must be False.")
    yield from free(image, size, output)


def _prepare_nearest_neighbor(node: Node) -> Steps[None]:
    file = "resize_nearest_neighbor.cc"
    ensure_counts(node, file, 38, inputs=2)
    image, size, output = yield from _tensors(node, file, 50)
    ensure_c_types_eq(size.type, TensorType.INT32, f"{file}:52", "size->type", "kTfLiteInt32")
    ensure_eq(size.shape[0], 2, f"{file}:53", "size->dims->data[0]", "2")
    output = require(output, f"{file}:55", "output")
    ensure_msg(size.is_constant, file, _SIZE_MESSAGE)
    yield from free(image, size, output)


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel("RESIZE_BILINEAR", "TfLiteResizeBilinearParams", None, _prepare_bilinear, _K + "resize_bilinear.cc"),
    OpModel(
        "RESIZE_NEAREST_NEIGHBOR",
        "TfLiteResizeNearestNeighborParams",
        None,
        _prepare_nearest_neighbor,
        _K + "resize_nearest_neighbor.cc",
    ),
)
