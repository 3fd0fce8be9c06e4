"""Image resizing: RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR.

Source: tensorflow/lite/micro/kernels/{resize_bilinear,resize_nearest_neighbor}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, source, trusted
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import fail


def _check_image_and_size(k: Kernel, image: KernelTensor, size: KernelTensor) -> None:
    k.rank(image, 4, "input")
    k.rank(size, 1, "size")
    k.is_c_type(size, TensorType.INT32, "size")


def _bilinear(k: Kernel, image: KernelTensor, size: KernelTensor, output: KernelTensor) -> None:
    _check_image_and_size(k, image, size)
    k.use(output)
    k.is_constant(size, "size", before="Non constant size tensor not supported")
    options = "ResizeBilinearOptions"
    if int_option(k.node, options, "half_pixel_centers") and int_option(k.node, options, "align_corners"):
        raise fail("If half_pixel_centers is True, align_corners must be False.")


def _nearest_neighbor(k: Kernel, image: KernelTensor, size: KernelTensor, output: KernelTensor) -> None:
    _check_image_and_size(k, image, size)
    k.ensure_eq(size.shape[0], 2, "size->dims->data[0]")
    k.use(output)
    if not k.has("constant_checks") and not size.is_constant:
        raise fail("Dynamic tensors are unsupported in tfmicro.")
    k.ensure_msg(size.is_constant, "Non-constant >size< tensor is not supported")


_TENSORS = trusted(INPUT, source(1, "size"), OUTPUT)

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "RESIZE_BILINEAR",
        "TfLiteResizeBilinearParams",
        prepare=Prepare("resize_bilinear.cc", counts(2), takes=_TENSORS, body=_bilinear),
    ),
    OpModel(
        "RESIZE_NEAREST_NEIGHBOR",
        "TfLiteResizeNearestNeighborParams",
        prepare=Prepare("resize_nearest_neighbor.cc", counts(2), takes=_TENSORS, body=_nearest_neighbor),
    ),
)

EVALS: tuple[EvalRow, ...] = (
    known_types("RESIZE_BILINEAR", "o0", "FLOAT32 INT8", "Output type is {number}, requires float or int8."),
    known_types(
        "RESIZE_NEAREST_NEIGHBOR",
        "o0",
        "FLOAT32 INT8 INT16",
        "Output tensor type {name} ({number}) not supported.",
        324,
    ),
    known_types(
        "RESIZE_NEAREST_NEIGHBOR", "o0", "FLOAT32 INT8", "Output type is {number}, requires float, uint8_t or int8_t."
    ),
)
