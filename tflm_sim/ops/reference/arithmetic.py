"""C integer arithmetic and ``RuntimeShape``, as kernels compute sizes with them.

Source: tensorflow/lite/kernels/internal/runtime_shape.h @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import KernelTensor
from tflm_sim.ops.roles import abort
from tflm_sim.units import int32

# RuntimeShape::kMaxSmallSize.
MAX_RUNTIME_RANK = 6
_RUNTIME_SHAPE, _IN_SHAPE = "tensorflow/lite/kernels/internal/runtime_shape.h", "0 <= i < size_"


def size_t(node: Node, value: int) -> int:
    """Return ``value`` as the target's ``size_t`` holds it."""
    bits: int = 8 * node.target.abi.pointer_size
    return value & ((1 << bits) - 1)


def runtime_shape(tensor: KernelTensor) -> tuple[int, ...]:
    """Return ``GetTensorShape(tensor)``; more than 6 dimensions halt the device."""
    if len(tensor.shape) > MAX_RUNTIME_RANK:
        raise abort(_RUNTIME_SHAPE, "dimensions_count <= kMaxSmallSize")
    return tensor.shape


def runtime_dim(shape: tuple[int, ...], index: int) -> int:
    """Return ``RuntimeShape::Dims(index)``; an index outside the shape halts the device."""
    if not 0 <= index < len(shape):
        raise abort(_RUNTIME_SHAPE, _IN_SHAPE)
    return shape[index]


def runtime_flat_size(shape: tuple[int, ...]) -> int:
    """Return ``RuntimeShape::FlatSize()``, an ``int`` that wraps."""
    flat_size = 1
    for dim in shape:
        flat_size = int32(flat_size * dim)
    return flat_size


def flat_size(tensor: KernelTensor) -> int:
    """Return ``GetTensorShape(tensor).FlatSize()``."""
    return runtime_flat_size(runtime_shape(tensor))


def matching_dim(first: tuple[tuple[int, ...], int], second: tuple[tuple[int, ...], int]) -> int:
    """Return ``MatchingDim`` of two (shape, axis); different dimensions halt the device."""
    (shape, axis), (other_shape, other_axis) = first, second
    if axis >= len(shape) or other_axis >= len(other_shape):
        raise abort(_RUNTIME_SHAPE, _IN_SHAPE)
    dim, other = shape[axis], other_shape[other_axis]
    if dim != other:
        raise abort("tensorflow/lite/kernels/internal/types.h", f"MatchingDim: {dim} == {other}")
    return dim
