"""The requests that nearly every kernel makes, and the device's ENSURE messages, as typed one-liners.

For kernels of one's own: a place is written as the device prints it, without TFLM's own directory of kernels:
``"my_filter.cc:83"``. The texts are those of the macro arguments, because the device prints them. The kernels of TFLM
say what they check through :class:`~tflm_sim.ops.kernel.Kernel`, which knows where.

Source: TF_LITE_ENSURE* in tensorflow/lite/core/c/common.h, MicroContext in tensorflow/lite/micro/micro_context.cc
@ 90b983c.
"""

from __future__ import annotations

from tflm_sim.ensure import KernelChecks
from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.places import full_place
from tflm_sim.ops.requests import FreeTempTensor, KernelTensor, Persistent, Scratch, SetShape, Steps, TempTensor
from tflm_sim.units import int32

INT_ARRAY_ALIGNMENT = 4
"""``alignof(TfLiteIntArray)`` in bytes, under every ABI."""


def fail(message: str) -> PrepareError:
    """Return the error for a kernel that prints ``message`` and returns kTfLiteError."""
    return PrepareError(message, device_message=message)


_HALTS = " does not hold, the device halts"


class FailedDebugCheck(PrepareError):
    """A TFLITE_DCHECK fails: the device stops, silently."""

    def without_checks(self) -> PrepareError:
        """Return the error for a build that has no such checks, and goes on with what the check was to keep out."""
        return _undefined(
            f"{str(self).removesuffix(_HALTS)} does not hold, at which a debug build halts; this one goes on"
        )


def abort(place: str, expression: str) -> PrepareError:
    """Return the error for a failed TFLITE_DCHECK."""
    return FailedDebugCheck(f"{full_place(place)}: {expression}{_HALTS}", status="abort")


def halt(place: str, expression: str) -> PrepareError:
    """Return the error for a failed TFLITE_CHECK, which every build has, or a loop without an end."""
    return PrepareError(f"{full_place(place)}: {expression}{_HALTS}", status="abort")


def undefined(place: str, what: str) -> PrepareError:
    """Return the error for what nothing checks: the device halts, or goes on with bytes that mean nothing."""
    return _undefined(f"{full_place(place)}: {what}")


def _undefined(what: str) -> PrepareError:
    return PrepareError(f"{what}; what the device does is undefined", status="abort")


class _ChecksAt(KernelChecks):
    """The checks of a kernel of one's own, at a place that it names."""

    __slots__ = ("place",)

    def __init__(self, place: str) -> None:
        self.place = place

    def _refuse(self, text: str, says: str, sides: tuple[str, str], number: int) -> None:
        raise fail(f"{full_place(self.place)} {text}{says}")


def ensure(condition: bool, place: str, expression: str) -> None:
    """TF_LITE_ENSURE."""
    _ChecksAt(place).ensure(condition, expression)


def ensure_eq(a: int, b: int, place: str, a_text: str, b_text: str) -> None:
    """TF_LITE_ENSURE_EQ."""
    _ChecksAt(place).ensure_eq(a, b, a_text, b_text)


def ensure_types_eq(a: int, b: int, place: str, a_text: str, b_text: str) -> None:
    """TF_LITE_ENSURE_TYPES_EQ."""
    _ChecksAt(place).ensure_types_eq(a, b, a_text, b_text)


def size_of(node: Node, count: int, element_size: int) -> int:
    """Return ``count * sizeof(element)`` as C computes it: an ``int`` count, a ``size_t`` product (bytes)."""
    return int32(count) * element_size & (1 << 8 * node.target.abi.pointer_size) - 1


class StructInit:
    """An ``init`` that allocates one struct and returns it without touching it.

    Args:
        struct: Its name.
    """

    def __init__(self, struct: str) -> None:
        self.struct = struct

    def __call__(self, node: Node) -> Steps[object]:
        offset = yield Persistent(node.target.sizeof(self.struct), self.struct, checked=True)
        return None if offset is None else self.struct


def op_data(struct: str) -> StructInit:
    """Return an ``init`` that allocates one struct and returns it without touching it."""
    return StructInit(struct)


def null_indices() -> PrepareError:
    """Return the error for an operator whose tensor indices are a null pointer, which upstream reads."""
    return undefined("tensorflow/lite/micro/micro_context.cc", "the node's tensor indices are a null pointer")


def temp_at(indices: tuple[int, ...] | None, position: int) -> Steps[KernelTensor | None]:
    """``AllocateTemp{Input,Output}Tensor``: None when absent, out of range, or out of memory.

    ``indices`` is the operator's own vector: a file without one leaves a null pointer, which upstream reads.
    """
    if indices is None:
        raise null_indices()
    if not 0 <= position < len(indices) or indices[position] < 0:
        return None
    tensor: KernelTensor | None = yield TempTensor(indices[position])
    return tensor


def optional_input(node: Node, position: int) -> Steps[KernelTensor | None]:
    """``AllocateTempInputTensor`` whose absence the kernel accepts."""
    return (yield from temp_at(node.operator.inputs, position))


def optional_output(node: Node, position: int) -> Steps[KernelTensor | None]:
    """``AllocateTempOutputTensor`` whose absence the kernel accepts."""
    return (yield from temp_at(node.operator.outputs, position))


def present(tensor: KernelTensor | None, place: str, name: str) -> KernelTensor:
    """``TF_LITE_ENSURE(context, <name> != nullptr)`` of a tensor; return it."""
    ensure(tensor is not None, place, f"{name} != nullptr")
    assert tensor is not None, "the check raises without it"
    return tensor


def input_tensor(node: Node, position: int, place: str, name: str = "input") -> Steps[KernelTensor]:
    """``AllocateTempInputTensor`` followed by ``TF_LITE_ENSURE(context, <name> != nullptr)`` at ``place``."""
    return present((yield from temp_at(node.operator.inputs, position)), place, name)


def output_tensor(node: Node, position: int, place: str, name: str = "output") -> Steps[KernelTensor]:
    """``AllocateTempOutputTensor`` followed by ``TF_LITE_ENSURE(context, <name> != nullptr)`` at ``place``."""
    return present((yield from temp_at(node.operator.outputs, position)), place, name)


def free(*tensors: KernelTensor | None) -> Steps[None]:
    """``DeallocateTempTfLiteTensor`` of each tensor that is there, in order."""
    for tensor in tensors:
        if tensor is not None:
            yield FreeTempTensor(tensor)


def decompression_scratch(node: Node, position: int) -> Steps[None]:
    """``AllocateDecompressionScratchBuffer`` of an input: room for its decompressed data, if it is compressed."""
    if is_compressed(node, position):
        tensor = node.tensors[node.inputs[position]]
        yield Scratch(size_of(node, tensor.flat_size, TYPE_SIZES.get(tensor.type, 0)), "decompressed")


def is_compressed(node: Node, position: int) -> bool:
    """``IsTensorCompressed`` of an input; no tensor is without compression in the build."""
    return 0 <= position < len(node.inputs) and node.inputs[position] in node.compressed_tensors


def int_array_size(length: int) -> int:
    """``TfLiteIntArrayGetSizeInBytes``: a 32-bit length and 32-bit elements."""
    return 4 + 4 * length


def writable_dims(tensor: KernelTensor, shape: tuple[int, ...] | None = None) -> Steps[None]:
    """``CreateWritableTensorDimsWithCopy``: a persistent copy of the dims, then ``shape`` written into it."""
    yield Persistent(int_array_size(len(tensor.shape)), "dims")
    if shape is not None:
        yield SetShape(tensor.eval, shape)
