"""What the signal kernels' Prepares have in common: fixed tensor lists, ranks, types; and the circular buffer.

Source: signal/micro/kernels/*.cc, signal/src/circular_buffer.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_flat_size, runtime_shape, size_t
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import abort, ensure, ensure_eq, ensure_types_eq, free, temp_at

SIGNAL_KERNELS = "signal/micro/kernels/"
CIRCULAR_BUFFER = "tflm_signal::CircularBuffer"
_C_NAMES = {
    TensorType.INT16: "kTfLiteInt16",
    TensorType.INT32: "kTfLiteInt32",
    TensorType.UINT32: "kTfLiteUInt32",
    TensorType.UINT64: "kTfLiteUInt64",
    TensorType.BOOL: "kTfLiteBool",
}


@dataclass(frozen=True, slots=True)
class SignalTensor:
    """A tensor that a signal kernel asks for.

    Attributes:
        name: Upstream's variable.
        is_output: Whether it is one of the outputs.
        position: Which of them.
        rank: The number of dimensions that Prepare insists on.
        type: The type that it insists on.
    """

    name: str
    is_output: bool
    position: int
    rank: int
    type: TensorType

    def allocate(self, node: Node) -> Steps[KernelTensor | None]:
        """Ask for it; None when the node has none."""
        return temp_at(node.operator.outputs if self.is_output else node.operator.inputs, self.position)


def source(name: str, position: int, rank: int, type: TensorType) -> SignalTensor:
    """Return an input."""
    return SignalTensor(name, False, position, rank, type)


def result(name: str, position: int, rank: int, type: TensorType) -> SignalTensor:
    """Return an output."""
    return SignalTensor(name, True, position, rank, type)


def ensure_rank(tensor: KernelTensor, rank: int, place: str, name: str) -> None:
    """``TF_LITE_ENSURE_EQ(context, NumDimensions(<name>), <rank>)``."""
    ensure_eq(len(tensor.shape), rank, place, f"NumDimensions({name})", str(rank))


def ensure_type(tensor: KernelTensor, type: TensorType, place: str, name: str) -> None:
    """``TF_LITE_ENSURE_TYPES_EQ(context, <name>->type, <type>)``."""
    ensure_types_eq(tensor.type, type, place, f"{name}->type", _C_NAMES[type])


def ensure_signal_counts(node: Node, place: str, line: int, *, inputs: int, outputs: int) -> None:
    """``TF_LITE_ENSURE_EQ`` of NumInputs at ``line`` of ``place`` and of NumOutputs on the next line."""
    ensure_eq(len(node.inputs), inputs, f"{place}:{line}", "NumInputs(node)", str(inputs))
    ensure_eq(len(node.outputs), outputs, f"{place}:{line + 1}", "NumOutputs(node)", str(outputs))


def allocate_each(
    node: Node, place: str, tensors: tuple[SignalTensor, ...], lines: tuple[int, ...]
) -> Steps[list[KernelTensor]]:
    """Ask for the tensors one by one; one that is not there is refused at its line before the next is asked for."""
    found = []
    for tensor, line in zip(tensors, lines, strict=True):
        allocated = yield from tensor.allocate(node)
        found.append(_present(allocated, f"{place}:{line}", tensor.name))
    return found


def allocate_all(
    node: Node, place: str, tensors: tuple[SignalTensor, ...], lines: tuple[int, ...]
) -> Steps[list[KernelTensor]]:
    """Ask for all tensors, then refuse the first that is not there."""
    allocated = []
    for tensor in tensors:
        allocated.append((yield from tensor.allocate(node)))
    rows = zip(tensors, allocated, lines, strict=True)
    return [_present(found, f"{place}:{line}", tensor.name) for tensor, found, line in rows]


def _present(tensor: KernelTensor | None, place: str, name: str) -> KernelTensor:
    ensure(tensor is not None, place, f"{name} != nullptr")
    assert tensor is not None, "ensured above"
    return tensor


@dataclass(frozen=True, slots=True)
class FixedPrepare:
    """The Prepare of a kernel that only checks its tensors: the ranks line by line, an empty line, then the types.

    Attributes:
        place: The file as the device prints it.
        count_line: Where NumInputs is checked; NumOutputs on the next line.
        tensors: In the order in which they are asked for and checked.
        lines: Where each is held against null.
        rank_line: Where the first rank is checked.
        free_order: Indices into ``tensors``.
        allocate: ``allocate_each`` or ``allocate_all``.
        finish: What happens before the tensors are freed.
    """

    place: str
    count_line: int
    tensors: tuple[SignalTensor, ...]
    lines: tuple[int, ...]
    rank_line: int
    free_order: tuple[int, ...]
    allocate: Callable[..., Steps[list[KernelTensor]]] = allocate_each
    finish: Callable[[Node], None] | None = None

    def __call__(self, node: Node) -> Steps[None]:
        """Carry out the Prepare."""
        outputs = sum(tensor.is_output for tensor in self.tensors)
        inputs = len(self.tensors) - outputs
        ensure_signal_counts(node, self.place, self.count_line, inputs=inputs, outputs=outputs)
        found = yield from self.allocate(node, self.place, self.tensors, self.lines)
        for row, (tensor, kernel_tensor) in enumerate(zip(self.tensors, found, strict=True)):
            ensure_rank(kernel_tensor, tensor.rank, f"{self.place}:{self.rank_line + row}", tensor.name)
        type_line = self.rank_line + len(found) + 1
        for row, (tensor, kernel_tensor) in enumerate(zip(self.tensors, found, strict=True)):
            ensure_type(kernel_tensor, tensor.type, f"{self.place}:{type_line + row}", tensor.name)
        if self.finish is not None:
            self.finish(node)
        yield from free(*(found[index] for index in self.free_order))


def innermost_dim(tensor: KernelTensor) -> int:
    """Return ``Dims(DimensionsCount() - 1)`` of the tensor's ``RuntimeShape``; a scalar halts the device."""
    shape = runtime_shape(tensor)
    return runtime_dim(shape, len(shape) - 1)


def flat_size(tensor: KernelTensor) -> int:
    """Return ``FlatSize()`` of the tensor's ``RuntimeShape``."""
    return runtime_flat_size(runtime_shape(tensor))


def circular_buffer(node: Node, capacity: int, *, checked: bool = False) -> Steps[object]:
    """Allocate and initialise a circular buffer of ``capacity`` 16-bit elements, each stored twice.

    Answer: None when there was no memory and the kernel looked (``checked``). A negative capacity clears memory far
    beyond the buffer.
    """
    size = size_t(node, node.target.sizeof(CIRCULAR_BUFFER) + 2 * 2 * capacity)
    offset = yield Persistent(size, "circular buffer", checked=checked)
    if offset is not None and capacity < 0:
        raise abort("signal/src/circular_buffer.cc:32", "buffer_size >= 0")
    return offset


def write_zeros(capacity: int, count: int) -> None:
    """``CircularBufferWriteZeros`` into an empty buffer: asserts that ``count`` elements fit, as unsigned numbers."""
    if count < 0 or count > capacity:
        raise abort("signal/src/circular_buffer.cc:119", "CircularBufferCanWrite(cb) >= n")
