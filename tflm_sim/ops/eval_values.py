"""What no Eval can compute of an operator's options and constants: strides of 0, axes and slices out of range.

Prepare does not look at them. Eval refuses some; with others it computes something else, or leaves the tensor's bytes.
The rows are ``VALUES`` of the family in ``ops/reference``:

    ValueRow("CUMSUM", refused=_cumsum_axis)

Source: tensorflow/lite/kernels/padding.h, internal/reference/depthwiseconv_float.h, slice.h, reduce.h @ 90b983c;
tensorflow/lite/micro/kernels/cumsum.cc, split.cc, split_v.cc, reduce_common.cc, cmsis_nn/svdf.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference import REFERENCE

_STEPS = ("stride_h", "stride_w", "dilation_h_factor", "dilation_w_factor", "filter_height", "filter_width")
_CODES: Mapping[int, str] = {TensorType.INT32: "i", TensorType.INT64: "q"}


def _nothing(node: Node) -> Iterator[Any]:
    yield from ()


class ValueRow(NamedTuple):
    """What Eval of some operators makes of options and constants.

    Attributes:
        ops: Their names.
        refused: Yields what it refuses, and what the device prints of it ("" for nothing that is known).
        undefined: Yields what it takes without a check and cannot compute, a phrase each.
    """

    ops: str
    refused: Callable[[Node], Iterator[tuple[str, str]]] = _nothing
    undefined: Callable[[Node], Iterator[str]] = _nothing


@cache
def _rows(op: str) -> Sequence[ValueRow]:
    return [row for row in REFERENCE.of_family(op, "VALUES") if op in row.ops.split()]


def undefined_values(node: Node) -> Iterator[str]:
    """Yield what Eval takes without a check and cannot compute, a phrase each."""
    yield from (f"{name} is {node.option(name)}" for name in _STEPS if node.option(name, 1) < 1)
    for row in _rows(node.op):
        yield from row.undefined(node)


def refused_values(node: Node) -> Iterator[tuple[str, str]]:
    """Yield what Eval refuses, and what the device prints of it ("" for nothing that is known)."""
    for row in _rows(node.op):
        yield from row.refused(node)


def axes_outside(axes: tuple[int, ...], rank: int) -> Iterator[str]:
    """Yield a phrase for each axis that a tensor of this rank does not have; -1 is its last."""
    return (f"axis {axis} of a tensor of rank {rank}" for axis in axes if not -rank <= axis < rank)


def constant_integers(tensor: EvalTensor | None) -> tuple[int, ...] | None:
    if tensor is None or tensor.data is None or tensor.type not in _CODES or tensor.flat_size < 0:
        return None
    layout = f"<{tensor.flat_size}{_CODES[tensor.type]}"
    return struct.unpack_from(layout, tensor.data) if len(tensor.data) >= struct.calcsize(layout) else None
