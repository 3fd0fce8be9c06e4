"""One kernel's Prepare of one node, in the terms of the runtime's C interface.

A kernel checks its node (``ensure...``), sizes outputs (``resize``), and takes temporaries. A check that fails raises
what the runtime says: the place in its source and the condition's text. The places are a table; see ``conditions``. A
condition that a release does not have does not fail there.

Source: tflite/kernels/kernel_util.h, tflite/core/c/common.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from tflm_sim.ensure import KernelChecks
from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteContext, TfLiteNode, TfLiteTensor
from tflm_sim.extensions.lite.kernels.conditions import line_of
from tflm_sim.extensions.lite.kernels.type_names import type_name
from tflm_sim.extensions.lite.releases import has
from tflm_sim.model.element_types import STRUCT_CODES
from tflm_sim.model.types import TensorType

Shape = tuple[int, ...]
Prepare = Callable[["PrepareCall"], "bool | None"]
"""Prepares a node; returns True for kTfLiteOutputShapeNotKnown."""

MAX_INT = 2**31 - 1
"""Kernels count elements in 32 bits."""

_LAST_ACTIVATION = 5
_WITHOUT_NULL_CHECKS = """
    atan2.cc batch_matmul.cc batch_to_space_nd.cc broadcast_args.cc broadcast_to.cc complex_support.cc
    cumsum.cc densify.cc dequantize.cc dilate.cc fake_quant.cc numeric_verify.cc one_hot.cc
    sign.cc space_to_batch_nd.cc split.cc split_v.cc squeeze.cc stablehlo_reduce_window.cc strided_slice.cc
    transpose.cc
"""
"""Files whose kernels do not check that an input is there before they use it."""

OPTIMIZED = "optimized"
REFERENCE = "reference"


class _NullPointer:
    """An input that is absent, in the hands of a kernel that does not expect that."""

    def __getattribute__(self, name: str) -> Any:
        raise PrepareCall.abort("the kernel uses an input that is absent")


class PrepareCall(KernelChecks):
    """The Prepare of a node (mutable: it changes the subgraph).

    Attributes:
        subgraph: Where the node is.
        node: The node.
        source: The kernel's file below tflite/kernels, which its messages name.
        kernels: Which set of kernels is registered: "optimized" or "reference".
    """

    __slots__ = ("kernels", "node", "source", "subgraph")
    node: TfLiteNode
    type_name = staticmethod(type_name)

    def __init__(self, subgraph: TfLiteContext, node: TfLiteNode, source: str, kernels: str) -> None:
        self.subgraph = subgraph
        self.node = node
        self.source = source
        self.kernels = kernels

    @property
    def options(self) -> Any:
        """The builtin options, schema defaults filled in."""
        return self.node.options

    @property
    def is_optimized(self) -> bool:
        return self.kernels == OPTIMIZED

    @property
    def activation(self) -> int:
        """The fused activation; a number that the schema does not know counts as none."""
        value = self.option("fused_activation_function")
        return value if 0 < value <= _LAST_ACTIVATION else 0

    def option(self, name: str, default: Any = 0) -> Any:
        """Return a builtin option; ``default`` when the model has no options table."""
        value = self.node.options.get(name, default)
        return default if value is None else value

    def vector(self, name: str) -> tuple[int, ...]:
        """Return a builtin option that is a row of numbers; () when the model has none."""
        return tuple(self.option(name, ()))

    # What the node is connected to.

    def input(self, place: int) -> TfLiteTensor:
        """Return an input; refuse the node when it is absent (GetInputSafe).

        Some files take their inputs without a check (GetInput); there, using one that is absent ends the process.
        """
        if self._uses_null and self.node.inputs[place : place + 1] == (-1,):
            return cast(TfLiteTensor, _NullPointer())
        return self._tensor(self.node.inputs, place)

    @property
    def _uses_null(self) -> bool:
        """Whether the file's kernels do not check that an input is there."""
        if self.source == "batch_matmul.cc" and self.has("batch_matmul_checks_first"):
            return False
        return self.source in _WITHOUT_NULL_CHECKS.split()

    def output(self, place: int = 0) -> TfLiteTensor:
        """Return an output; refuse the node when it is absent (GetOutputSafe)."""
        return self._tensor(self.node.outputs, place)

    def _tensor(self, indices: Shape, place: int) -> TfLiteTensor:
        if place >= len(indices):
            raise self.failure(f"Invalid tensor index {place} (not in [0, {len(indices)}))\n")
        if indices[place] == -1:
            raise self.failure(f"Tensor at index {place} was optional but was expected\n")
        return self.subgraph.tensors[indices[place]]

    def optional_input(self, place: int) -> TfLiteTensor | None:
        """Return an input, None when it is absent (GetOptionalInputTensor)."""
        inputs = self.node.inputs
        return self.subgraph.tensors[inputs[place]] if place < len(inputs) and inputs[place] >= 0 else None

    def operand(self, place: int, name: str) -> TfLiteTensor:
        """Return an input that the kernel itself checks to be there, under its own name."""
        tensor = self.optional_input(place)
        if tensor is None:
            self.ensure(False, f"{name} != nullptr")
            raise AssertionError("an operand that is absent is refused")
        return tensor

    def variable_input(self, place: int) -> TfLiteTensor | None:
        """Return an input that is a variable, else None (GetVariableInput)."""
        tensor = self.optional_input(place)
        return tensor if tensor is not None and tensor.is_variable else None

    @property
    def input_count(self) -> int:
        """The number of inputs, absent ones included."""
        return len(self.node.inputs)

    @property
    def output_count(self) -> int:
        """The number of outputs, absent ones included."""
        return len(self.node.outputs)

    # Checks.

    def has(self, change: str) -> bool:
        """Return whether the release has a change (``releases.py``)."""
        return has(self.subgraph.release, change)

    def elsewhere(self, source: str) -> PrepareCall:
        """Return the same call as a helper in another file sees it."""
        return PrepareCall(self.subgraph, self.node, source, self.kernels)

    @staticmethod
    def abort(reason: str) -> PrepareError:
        """Return the error of a kernel that ends the process (a TFLITE_CHECK, a null pointer)."""
        return PrepareError(f"the process is aborted: {reason}", device_message="", status="abort")

    def failure(self, message: str) -> PrepareError:
        """Return the error of a kernel that says ``message``."""
        return PrepareError(message.strip(), device_message=message)

    def _refuse(self, text: str, says: str, sides: tuple[str, str], number: int) -> None:
        line = line_of(self.source, *sides, number, self.subgraph.release)
        if line is None:  # The release does not check it.
            return
        raise self.failure(f"tflite/kernels/{self.source}:{line} {text}{says}")

    def refuse_at(self, form: str, message: str) -> None:
        """Refuse the node with a message of its own that says where it stands; ``form`` is its format in the table."""
        self._refuse(message, "", (form, ""), 1)

    def ensure_supported(self, one: int, kinds: Collection[int], message: str) -> None:
        """Refuse the node unless a type is one of several, with a message that names it."""
        if one not in kinds:
            raise self.failure(message.format(type_name(one)))

    def ensure_same_parameters(self, left: str, value: TfLiteTensor, right: str, output: TfLiteTensor) -> None:
        """Refuse the node unless its quantized output has its input's scale and zero point, 0 for 16 bits."""
        if value.type in (TensorType.UINT8, TensorType.INT8, TensorType.INT16):
            self.ensure_double_eq(value.scale, output.scale, f"{left}->params.scale", f"{right}->params.scale")
            text = f"{right}->params.zero_point"
            self.ensure_eq(value.zero_point, output.zero_point, f"{left}->params.zero_point", text)
        if value.type == TensorType.INT16:
            self.ensure_eq(value.zero_point, 0, f"{left}->params.zero_point")

    def ensure_msg(self, condition: bool, message: str, file: str = "") -> None:
        """Refuse the node with a message of its own (TF_LITE_ENSURE_MSG)."""
        if not condition:
            raise self.failure(f"{file or 'tflite/kernels/' + self.source} {message}")

    def operands(self, inputs: int, number: int = 1) -> tuple[TfLiteTensor, ...]:
        """Return the node's inputs and its only output; refuse it when it has others."""
        self.counts(inputs, number=number)
        return (*map(self.input, range(inputs)), self.output())

    # What the node asks for.

    def resize(self, tensor: TfLiteTensor, shape: Sequence[int]) -> None:
        """Set a tensor's shape (ResizeTensor)."""
        self.subgraph.resize(tensor, tuple(shape))

    def dynamic(self, *tensors: TfLiteTensor) -> None:
        """Leave it to the running model to give tensors their bytes (SetTensorToDynamic)."""
        for tensor in tensors:
            tensor.free(AllocationType.DYNAMIC)

    def store(
        self,
        tensor: TfLiteTensor,
        shape: Sequence[int],
        values: Sequence[int | float] | Callable[[], Sequence[int | float]],
    ) -> None:
        """Make an output a constant that is computed once and for all (SetTensorToPersistentRo).

        ``values`` that may be many are a function, which is called when there is room for them.
        """
        tensor.free(AllocationType.PERSISTENT_RO)
        self.resize(tensor, shape)
        if tensor.type in STRUCT_CODES:
            made = values() if callable(values) else values
            tensor.data = bytearray(_packed(made, STRUCT_CODES[tensor.type]))

    def reserve(self, count: int, key: str = "temporaries") -> int:
        """Return the index of the first of ``count`` tensors of this node's own, which are added only once."""
        if self.node.user_data is None:
            self.node.user_data = {}
        data: dict[str, int] = self.node.user_data
        if key not in data:
            data[key] = self.subgraph.add_tensors(count)
        return data[key]

    def temporary(
        self,
        index: int,
        tensor_type: int,
        shape: Sequence[int] | None,
        allocation_type: AllocationType = AllocationType.ARENA_RW,
    ) -> TfLiteTensor:
        """Give one of the node's own tensors a type and a shape; None leaves its shape."""
        tensor = self.subgraph.tensors[index]
        tensor.type = tensor_type
        tensor.allocation_type = allocation_type
        if shape is not None:
            self.resize(tensor, shape)
        return tensor

    def take(self, *indices: int) -> None:
        """Make tensors the temporaries of the node."""
        self.node.temporaries = indices

    def broadcast(self, *tensors: TfLiteTensor) -> Shape:
        """Return the shape that two or three shapes broadcast to (CalculateShapeForBroadcast)."""
        rank = max(tensor.rank for tensor in tensors)
        rows = [(1,) * (rank - tensor.rank) + tensor.shape for tensor in tensors]
        shape = []
        for sizes in reversed(list(zip(*rows, strict=True))):
            largest = 0 if 0 in sizes else max(sizes)
            if any(size not in (1, largest) for size in sizes):
                texts = [f"[{','.join(map(str, tensor.shape))}]" for tensor in tensors]
                joined = f"{', '.join(texts[:-1])} and {texts[-1]}"
                raise self.failure(f"Given shapes, {joined}, are not broadcastable.")
            shape.append(largest)
        return tuple(reversed(shape))


_MAX_FLOATS = {"e": 65504.0, "f": 3.4028234663852886e38}


def _packed(values: Sequence[int | float], code: str) -> bytes:
    """Return values as C stores them: whole numbers lose what their type cannot hold, floats become infinite."""
    if code in "efd":
        largest = _MAX_FLOATS.get(code, math.inf)
        values = [math.copysign(math.inf, value) if abs(value) > largest else value for value in values]
    elif code != "?":
        span = 1 << 8 * struct.calcsize(code)
        low = -(span // 2) if code.islower() else 0
        values = [(int(value) - low) % span + low for value in values]
    return struct.pack(f"<{len(values)}{code}", *values)


def values_of(tensor: TfLiteTensor, kind: TensorType | None = None) -> tuple[Any, ...]:
    """Return the values of a tensor whose data is known; () when it has none or its type has no values.

    Args:
        tensor: The tensor.
        kind: The type that a kernel takes its values for, whatever type the tensor has.

    Raises:
        IndexError: A kernel that takes them for another type reads past their end.
    """
    code = STRUCT_CODES.get(tensor.type if kind is None else kind)
    if code is None or tensor.data is None:
        return ()
    size = struct.calcsize(code)
    count = min(tensor.elements, len(tensor.data) // size)
    if kind is not None and count < tensor.elements:
        raise IndexError("the kernel reads values that its tensor does not have")
    return struct.unpack(f"<{count}{code}", bytes(tensor.data[: count * size]))


def checked_log2(scale: float) -> int | None:
    """Return the whole logarithm of a scale that is a power of two, within a thousandth."""
    if not 0 < scale < math.inf:
        return None
    exact = math.log2(scale)
    return round(exact) if abs(exact - round(exact)) < 1e-3 else None
