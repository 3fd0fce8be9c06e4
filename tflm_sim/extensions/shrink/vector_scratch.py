"""The scratch of a convolution that is to run in parts, where a library sizes it by the image or the filters.

CMSIS-NN's scratch is a window or a few of them, whatever the image is. ESP-NN's on the ESP32-S3 and P4 holds copies of
the padded image and of the filters, so that a share of the rows or of the output channels needs a share of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tflm_sim.extensions.shrink.draft_facts import shape, window
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import CONVOLUTIONS
from tflm_sim.model.types import Operator, TensorType
from tflm_sim.ops.esp_nn.dims import DataDims, Layer, Size
from tflm_sim.ops.esp_nn.scratch_sizes import scratch_sizes
from tflm_sim.ops.reference.window import Extent
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up


@dataclass(slots=True)
class VectorScratch:
    """A convolution, and the function that says how large its scratch is (mutable: it remembers what was asked)."""

    size: Size
    layer: Layer
    _known: dict[tuple[int, int, int], int] = field(default_factory=dict, compare=False, repr=False)

    def of(self, axis: int, inputs: int, outputs: int) -> int:
        """Return the bytes, rounded up to 16, with so many elements of input and output along an axis (3: channels)."""
        key = axis, inputs, outputs
        if key not in self._known:
            image, result = list(self.layer.image), list(self.layer.result)
            image[axis - 1], result[axis - 1] = inputs, outputs
            part = self.layer._replace(image=DataDims(*image), result=DataDims(*result))
            self._known[key] = align_up(max(0, self.size(part)), BUFFER_ALIGNMENT)
        return self._known[key]


def vector_scratch(draft: Draft, operator: Operator, library: KernelLibrary) -> VectorScratch | None:
    """Return how an operator's scratch depends on its shapes, None where it does not."""
    name = draft.name(operator)
    if library.name != "esp_nn" or library.variant not in ("esp32s3", "esp32p4") or name not in CONVOLUTIONS:
        return None
    layer = _layer(draft, operator)
    if layer is None:
        return None
    sizes = scratch_sizes(library)
    is_depthwise = name == "DEPTHWISE_CONV_2D"
    own = sizes.esp_nn_get_depthwise_conv_scratch_size if is_depthwise else sizes.esp_nn_get_conv_scratch_size
    return VectorScratch(own, layer)


def _layer(draft: Draft, operator: Operator) -> Layer | None:
    """Return the shapes of a convolution of int8, None of another one."""
    inputs = operator.input_tensors
    source, kernel, target = (shape(draft, tensor) for tensor in (*inputs[:2], operator.output_tensors[0]))
    if not len(source) == len(kernel) == len(target) == 4 or draft.tensors[inputs[0]].type != TensorType.INT8:
        return None
    sides = [window(draft, operator, axis) for axis in (1, 2)]
    before = [side.output(size)[1] for side, size in zip(sides, source[1:3], strict=True)]
    is_depthwise = draft.name(operator) == "DEPTHWISE_CONV_2D"
    return Layer(
        DataDims(*source[1:]),
        DataDims(*kernel[1:]),
        DataDims(*target[1:]),
        Extent(*(side.stride for side in sides)),
        Extent(*before),
        target[3] // max(1, source[3]) if is_depthwise else 0,
    )
