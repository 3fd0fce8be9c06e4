"""What a kernel can ask of TFLM while it is initialised and prepared, as values.

A kernel's model is a generator that *yields* these requests; the allocator carries each out on the arena and sends the
answer back. A model can therefore be tested with ``list(...) ==``, recorded without hooks and replayed anywhere.

    kernel model                       allocator
    ------------                       ---------
    yield TempTensor(3)       ----->   temp: TfLiteTensor [+ quantization]
    tensor                    <-----   KernelTensor, or None when the temp section is full
    yield Scratch(1024)       ----->   a row in the scratch request table
    yield FreeTempTensor(t)   ----->   (temp does not move; only the reset after Prepare moves it)
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Quantization
from tflm_sim.units import int32

if TYPE_CHECKING:
    from typing import Any, TypeVar


class KernelTensor:
    """A ``TfLiteTensor`` in the temp section, as a kernel sees it.

    Attributes:
        eval: The tensor behind it.
        type: The raw ``TensorType`` number.
        offsets: Arena offsets of the struct and, when quantized, of ``TfLiteAffineQuantization`` and its zero points,
            in the order of allocation.
    """

    __slots__ = ("eval", "offsets", "type")

    def __init__(self, eval_tensor: EvalTensor, offsets: tuple[int, ...] = ()) -> None:
        self.eval = eval_tensor
        self.type = eval_tensor.type
        self.offsets = offsets

    @property
    def index(self) -> int:
        """The tensor's index in its subgraph."""
        return self.eval.index

    @property
    def shape(self) -> tuple[int, ...]:
        """The current dimensions, () for a scalar."""
        return self.eval.shape

    @property
    def flat_size(self) -> int:
        return self.eval.flat_size

    @property
    def bytes(self) -> int:
        """``TfLiteTensor.bytes``: the size of the file's shape, which a changed ``shape`` does not move."""
        return self.eval.file_byte_length

    @property
    def affine(self) -> Quantization | None:
        """The affine quantization, None when the file gives no scales or no zero points."""
        return self.eval.affine

    @property
    def is_quantized(self) -> bool:
        return self.eval.affine is not None

    @property
    def scale(self) -> float:
        """``params.scale``: the first scale, 0.0 without affine quantization."""
        affine = self.eval.affine
        return 0.0 if affine is None else affine.first_scale

    @property
    def zero_point(self) -> int:
        """``params.zero_point``: the first zero point cut to 32 bits, 0 without affine quantization."""
        affine = self.eval.affine
        return 0 if affine is None else int32(affine.first_zero_point)

    @property
    def is_constant(self) -> bool:
        """Whether the data lies in the flatbuffer (``IsConstantTensor``)."""
        return self.eval.is_constant

    @property
    def is_variable(self) -> bool:
        """Whether the file calls it one (``TfLiteTensor.is_variable``)."""
        return self.eval.tensor.is_variable

    @property
    def data(self) -> memoryview | None:
        """The constant bytes, or None."""
        return self.eval.data


@dataclass(slots=True)
class Persistent:
    """``context->AllocatePersistentBuffer(size)``: tail bytes, aligned to 16. Answer: the offset, or None if full.

    Attributes:
        size: Bytes.
        label: What it holds, for people ("OpDataConv", "per_channel_output_shift").
        checked: Whether the kernel survives a None answer. Where it does not, the simulation ends with an abort: the
            device would write through a null pointer.
    """

    size: int
    label: str = ""
    checked: bool = False


@dataclass(slots=True)
class Scratch:
    """``context->RequestScratchBufferInArena(size)``. Answer: the scratch index, or None past the limit of 12.

    Attributes:
        size: Bytes.
        label: What it is for, for people.
        checked: Whether the model itself looks at a None answer. Where it does not, Prepare fails there, as with
            ``TF_LITE_ENSURE_STATUS`` around the request.
    """

    size: int
    label: str = ""
    checked: bool = False


@dataclass(slots=True)
class ScratchBuffer:
    """``context->GetScratchBuffer(index)``, in Invoke only. Answer: its offset in the head, or None if there is none.

    TFLM looks up any index; one that another operator asked for is a finding of the sanitizer.
    """

    index: int


@dataclass(slots=True)
class TempTensor:
    """``AllocateTempTfLiteTensor(tensor_index)``. Answer: a :class:`KernelTensor`, or None if the arena is full."""

    tensor_index: int


ABSENT = -1
"""The index of a tensor that an operator does not have."""


@dataclass(slots=True)
class TempTensors:
    """``AllocateTempTfLiteTensor`` of one tensor after the other.

    Answer: a :class:`KernelTensor`, or None where the arena is full, for each; it ends with the first None that the
    kernel does not survive.

    Attributes:
        wanted: For each, its index in the subgraph (negative: there is none, and the answer is None) and whether the
            kernel gives up without it.
    """

    wanted: tuple[tuple[int, bool], ...]


@dataclass(slots=True)
class FreeTempTensor:
    """``DeallocateTempTfLiteTensor(tensor)``. Answer: None."""

    tensor: KernelTensor


@dataclass(slots=True)
class FreeTempTensors:
    """``DeallocateTempTfLiteTensor`` of each tensor that is there, in order. Answer: None."""

    tensors: tuple[KernelTensor | None, ...]


@dataclass(slots=True)
class TempBuffer:
    """``AllocateTempBuffer(size, alignment)``. Answer: the offset, or None if the arena is full."""

    size: int
    alignment: int
    label: str = ""


@dataclass(slots=True)
class FreeTempBuffer:
    """``DeallocateTempBuffer(offset)``. Answer: None."""

    offset: int


@dataclass(slots=True)
class Overrun:
    """The kernel writes a 32-bit number just past what it allocated. Answer: None.

    Attributes:
        offset: Arena offset of the four bytes.
        value: The number.
        label: Past what.
    """

    offset: int
    value: int
    label: str


@dataclass(slots=True)
class SetShape:
    """The kernel writes new dimensions into the eval tensor; the memory plan follows them. Answer: None."""

    tensor: EvalTensor
    shape: tuple[int, ...]


@dataclass(slots=True)
class Log:
    """The kernel prints a line and goes on. Answer: None."""

    text: str


Request = (
    Persistent
    | Scratch
    | ScratchBuffer
    | TempTensor
    | TempTensors
    | FreeTempTensor
    | FreeTempTensors
    | TempBuffer
    | FreeTempBuffer
    | Overrun
    | SetShape
    | Log
)

if TYPE_CHECKING:
    T = TypeVar("T")
    Steps = Generator[Request, Any, T]
else:
    Steps = Generator
"""A kernel model: yields requests, is sent their answers, returns T."""
