"""What no Eval can compute of an operator's options and constants: strides of 0, axes and slices out of range.

Prepare does not look at them. Eval refuses some; with others it computes something else, or leaves the tensor's bytes.

Source: tensorflow/lite/kernels/padding.h, internal/reference/depthwiseconv_float.h, slice.h, reduce.h @ 90b983c;
tensorflow/lite/micro/kernels/cumsum.cc, split.cc, split_v.cc, reduce_common.cc, cmsis_nn/svdf.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node

_STEPS = ("stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor", "filter_height", "filter_width")
_CODES: Mapping[int, str] = {TensorType.INT32: "i", TensorType.INT64: "q"}


def undefined_values(node: Node) -> Iterator[str]:
    """Yield what Eval takes without a look and cannot compute, a phrase each."""
    yield from (f"{name} is {node.option(name)}" for name in _STEPS if node.option(name, 1) < 1)
    check = _UNDEFINED.get(node.op)
    if check is not None:
        yield from check(node)


def refused_values(node: Node) -> Iterator[tuple[str, str]]:
    """Yield what Eval refuses, and what the device prints of it ("" for nothing that is known)."""
    check = _REFUSED.get(node.op)
    if check is not None:
        yield from check(node)


def _depth_multiplier(node: Node) -> Iterator[str]:
    image, filters, multiplier = node.input(0), node.input(1), node.option("depth_multiplier")
    if image is None or filters is None or len(image.shape) != 4 or len(filters.shape) != 4:
        return
    inputs, outputs = image.shape[3], filters.shape[3]
    if inputs * multiplier != outputs:
        yield f"depth_multiplier is {multiplier} with {inputs} channels in and {outputs} out"


def _slice_bounds(node: Node) -> Iterator[str]:
    image, begin, size = node.input(0), _numbers(node.input(1)), _numbers(node.input(2))
    if image is None or begin is None or size is None or not len(begin) == len(size) == len(image.shape):
        return
    for axis, (first, count, there) in enumerate(zip(begin, size, image.shape, strict=True)):
        if first < 0 or count < -1 or first + max(count, 0) > there:
            yield f"the slice of {count} from {first} on is not within the {there} of axis {axis}"


def _reduced_axes(node: Node) -> Iterator[tuple[str, str]]:
    image, axes = node.input(0), _numbers(node.input(1))
    if image is not None and axes is not None:
        yield from ((text, "") for text in _outside(axes, len(image.shape)))


def _extreme(node: Node) -> Iterator[tuple[str, str]]:
    yield from _reduced_axes(node)
    ends = node.input(0), node.output(0)
    scales = [end.affine.scale[0] if end and end.affine else 0.0 for end in ends]
    if all(end is not None and end.type == TensorType.INT8 for end in ends) and scales[0] != scales[1]:
        names = (f"static_cast<double>(op_data->{end}_scale)" for end in ("input", "output"))
        yield f"scale {scales[0]:g} in and {scales[1]:g} out", f"{' != '.join(names)} (? != ?)"


def _split_axis(position: int, axis: int) -> Callable[[Node], Iterator[tuple[str, str]]]:
    def check(node: Node) -> Iterator[tuple[str, str]]:
        image, axes = node.input(position), _numbers(node.input(axis))
        if image is not None and axes:
            yield from ((text, "") for text in _outside(axes[:1], len(image.shape)))

    return check


def _cumsum_axis(node: Node) -> Iterator[tuple[str, str]]:
    image, axes = node.input(0), _numbers(node.input(1))
    if image is not None and axes:
        rank = len(image.shape)
        shown = axes[0] + rank if axes[0] < 0 else axes[0]
        yield from ((text, f"CUMSUM Invalid axis: {shown}") for text in _outside(axes[:1], rank))


def _svdf_sums(node: Node) -> Iterator[tuple[str, str]]:
    """CMSIS-NN's kernel built for size wants the sums' scratch, which Prepare asks for with MVE only."""
    library, runtime, state = node.target.kernel_library, node.target.runtime, node.input(2)
    if (library.name, runtime.optimize_kernels_for) != ("cmsis_nn", "size") or not runtime.has("cmsis_for_size"):
        return
    if library.variant != "mve" and state is not None and state.type == TensorType.INT8:
        missing = "data.scratch_weight_tensor_index != -1 was not true."
        yield f"KERNELS_OPTIMIZED_FOR_SIZE without MVE: {missing}", missing


def _outside(axes: tuple[int, ...], rank: int) -> Iterator[str]:
    return (f"axis {axis} of a tensor of rank {rank}" for axis in axes if not -rank <= axis < rank)


def _numbers(tensor: EvalTensor | None) -> tuple[int, ...] | None:
    """Return a constant's integers, None where it is none."""
    if tensor is None or tensor.data is None or tensor.type not in _CODES or tensor.flat_size < 0:
        return None
    layout = f"<{tensor.flat_size}{_CODES[tensor.type]}"
    return struct.unpack_from(layout, tensor.data) if len(tensor.data) >= struct.calcsize(layout) else None


_UNDEFINED: Mapping[str, Callable[[Node], Iterator[str]]] = {
    "DEPTHWISE_CONV_2D": _depth_multiplier,
    "SLICE": _slice_bounds,
}
_REFUSED: Mapping[str, Callable[[Node], Iterator[tuple[str, str]]]] = {
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_ALL"), _reduced_axes),
    **dict.fromkeys(("REDUCE_MAX", "REDUCE_MIN"), _extreme),
    "CUMSUM": _cumsum_axis,
    "SPLIT": _split_axis(1, 0),
    "SPLIT_V": _split_axis(0, 2),
    "SVDF": _svdf_sums,
}
