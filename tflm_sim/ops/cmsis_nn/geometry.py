"""What CMSIS-NN's kernels share: a node's dimensions, strides and padding, the target's buffer sizes, checks."""

from __future__ import annotations

from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import TensorType
from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES, BufferSizes
from tflm_sim.ops.cmsis_nn.dims import ConvParams, Dims, Isa
from tflm_sim.ops.kernel import HYBRID, Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference.conv import CONV_PAIRS
from tflm_sim.ops.reference.window import strides_padding_dilations
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps


def buffer_sizes(node: Node) -> BufferSizes:
    """Return the buffer-size functions of the linked CMSIS-NN version."""
    version = node.target.kernel_library.cmsis_nn
    if version not in BUFFER_SIZES:
        raise TflmSimError(f"BUFFER_SIZES of ops/cmsis_nn/buffer_sizes.py has no row of CMSIS-NN {version}")
    return BUFFER_SIZES[version]


def isa(node: Node) -> Isa:
    """Return the instruction set that CMSIS-NN was built for."""
    return node.target.kernel_library.variant  # type: ignore[return-value]


def optional_scratch(size: int, label: str) -> Steps[None]:
    """Request a scratch buffer unless its size is 0 bytes."""
    if size > 0:
        yield Scratch(size, label)


def conv_params(node: Node, table: str, image: Dims, kernel: Dims) -> ConvParams:
    """Return strides, padding and dilation of a convolution over ``image`` [n, h, w, c].

    Args:
        node: The node.
        table: Its builtin options; a file without them has strides, dilation and padding 0.
        image: What the window moves over.
        kernel: The window.
    """
    return ConvParams(*strides_padding_dilations(node, table, image[1:3], kernel[1:3]))


_SUPPORTED = (TensorType.FLOAT32, TensorType.INT16, TensorType.INT8)


def check_supported_input(k: Kernel, tensor: KernelTensor) -> None:
    """Refuse what is neither float32 nor int16 nor int8."""
    k.ensure_msg(tensor.type in _SUPPORTED, "Input data type not supported")


def check_pair(k: Kernel, source: KernelTensor, kernel: KernelTensor) -> None:
    """Refuse a filter whose type does not go with the input's.

    Until b0afe2890 only equal types passed, and until 5c2ac76b8 equal ones passed, whichever.
    """
    if (source.type, kernel.type) not in CONV_PAIRS or not k.has("fc_hybrid"):
        k.ensure_msg(source.type == kernel.type and not k.has("cmsis_checks_types"), HYBRID)


def check_rank_4(k: Kernel, **tensors: KernelTensor) -> None:
    """``TFLITE_DCHECK_EQ(<name>_shape.DimensionsCount(), 4)`` of each tensor."""
    for name, tensor in tensors.items():
        if len(tensor.shape) != 4:
            raise k.abort(f"{name}_shape.DimensionsCount() == 4")
