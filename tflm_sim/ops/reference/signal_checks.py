"""What the signal kernels' Prepares have in common: fixed tensor lists, ranks, types; and the circular buffer.

Source: signal/micro/kernels/*.cc, signal/src/circular_buffer.cc @ 90b983c.
"""

from __future__ import annotations

from typing import NamedTuple

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.prepare import Check, Prepare, Take, counts, unchecked
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_shape, size_t
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import abort

SIGNAL_KERNELS = "signal/micro/kernels/"
CIRCULAR_BUFFER = "tflm_signal::CircularBuffer"
_SOURCE = "signal/src/circular_buffer.cc"


class Signal(NamedTuple):
    """A tensor that a signal kernel asks for, with the rank and the type that Prepare insists on."""

    take: Take
    rank: int
    type: TensorType


def fixed(
    file: str, *signals: Signal, together: bool = False, frees: tuple[int, ...] = (), finish: Check | None = None
) -> Prepare:
    """Return the Prepare of a kernel that only checks its tensors: counts, the tensors, all ranks, then all types.

    Args:
        file: The upstream file.
        *signals: In the order in which they are asked for and checked.
        together: Whether all are asked for before the first is compared with null.
        frees: Indices into ``signals``.
        finish: What happens before the tensors are freed.
    """
    outputs = sum(signal.take.is_output for signal in signals)

    def body(k: Kernel, *tensors: KernelTensor | None) -> None:
        pairs = [(k.present(tensor, signal.take.name), signal) for tensor, signal in zip(tensors, signals, strict=True)]
        for tensor, signal in pairs:
            k.rank(tensor, signal.rank, signal.take.name)
        for tensor, signal in pairs:
            k.is_type(tensor, signal.type, signal.take.name)
        if finish is not None:
            finish(k)

    takes = tuple(unchecked(signal.take) if together else signal.take for signal in signals)
    return Prepare(file, counts(len(signals) - outputs, outputs), takes=takes, body=body, frees=frees)


def innermost_dim(tensor: KernelTensor) -> int:
    """Return ``Dims(DimensionsCount() - 1)`` of the tensor's ``RuntimeShape``; a scalar halts the device."""
    shape = runtime_shape(tensor)
    return runtime_dim(shape, len(shape) - 1)


def circular_buffer(node: Node, capacity: int, *, checked: bool = False) -> Steps[object]:
    """Allocate and initialise a circular buffer of ``capacity`` 16-bit elements, each stored twice.

    Answer: None when there was no memory and the kernel looked (``checked``). A negative capacity clears memory far
    beyond the buffer.
    """
    size = size_t(node, node.target.sizeof(CIRCULAR_BUFFER) + 2 * 2 * capacity)
    offset = yield Persistent(size, "circular buffer", checked=checked)
    if offset is not None and capacity < 0:
        raise abort(_SOURCE, "buffer_size >= 0")
    return offset


def write_zeros(capacity: int, count: int) -> None:
    """``CircularBufferWriteZeros`` into an empty buffer: asserts that ``count`` elements fit, as unsigned numbers."""
    if count < 0 or count > capacity:
        raise abort(_SOURCE, "CircularBufferCanWrite(cb) >= n")
