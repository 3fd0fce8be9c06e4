"""What TFLite's runtime keeps of a subgraph: tensors, nodes, and the order in which the nodes run.

All of it is mutable, as upstream's is: the planner moves tensors, a kernel's Prepare sizes them and adds temporaries,
a delegate replaces nodes.

Source: tflite/graph_info.h, tflite/core/c/common.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from math import prod
from typing import Any, Protocol

from tflm_sim.model.types import Quantization

OPTIONAL_TENSOR = -1
"""The index of an optional tensor that is absent (kTfLiteOptionalTensor); it is never allocated."""


class AllocationType(Enum):
    """Who owns a tensor's bytes (TfLiteAllocationType)."""

    MEM_NONE = "kTfLiteMemNone"
    MMAP_RO = "kTfLiteMmapRo"
    ARENA_RW = "kTfLiteArenaRw"
    ARENA_RW_PERSISTENT = "kTfLiteArenaRwPersistent"
    DYNAMIC = "kTfLiteDynamic"
    PERSISTENT_RO = "kTfLitePersistentRo"
    CUSTOM = "kTfLiteCustom"
    VARIANT_OBJECT = "kTfLiteVariantObject"
    NON_CPU = "kTfLiteNonCpu"

    @property
    def machine_name(self) -> str:
        """Its name in documents for machines."""
        return "none" if self is AllocationType.MEM_NONE else self.name.lower()


RESIZABLE = frozenset(AllocationType) - {AllocationType.MEM_NONE, AllocationType.MMAP_RO, AllocationType.VARIANT_OBJECT}
"""The types of the tensors whose shape a kernel may set."""


NO_TYPE = -1
"""The type of a tensor that a kernel added and did not use yet (kTfLiteNoType)."""


class InplaceOperator(IntFlag):
    """What a kernel allows the planner to do with its first output (TfLiteInPlaceOp)."""

    NONE = 0
    DATA_UNMODIFIED = 1
    INPUT_CAN_BE_SHARED_WITH_CORRESPONDING_OUTPUT = 2
    INPUT0_SHARED = 4
    INPUT1_SHARED = 8
    INPUT2_SHARED = 16


INPUT_SHARED = (InplaceOperator.INPUT0_SHARED, InplaceOperator.INPUT1_SHARED, InplaceOperator.INPUT2_SHARED)
"""The flag of each input that may be shared at all (kTfLiteMaxSharableOpInputs)."""


@dataclass(slots=True)
class TfLiteTensor:
    """A tensor of the runtime (mutable, TfLiteTensor).

    Attributes:
        size: Bytes.
        allocation_type: Which arena, if any, the planner places it in.
        offset: Bytes from the base of its arena; None while it has no place there.
        type: The raw ``TensorType`` number, NO_TYPE for none.
        quantization: What the interpreter kept of the file's: None unless there are scales.
        is_sparse: Whether the file has a sparsity table for it.
        ledger_size: How many bytes say where the blocks of a sparse matrix are.
        signature: The file's shape signature, -1 for unknown dimensions, or None.
        reset_value: The byte that a variable is filled with.
        data: The bytes of a constant or of a dynamic tensor, else None.
        delegate: The delegate that writes it, or None.
    """

    size: int = 0
    allocation_type: AllocationType = AllocationType.ARENA_RW
    offset: int | None = None
    name: str = ""
    type: int = 0
    shape: tuple[int, ...] = ()
    is_variable: bool = False
    reset_value: int = 0
    data: memoryview | bytearray | None = None
    delegate: object | None = None
    quantization: Quantization | None = None
    is_sparse: bool = False
    ledger_size: int = 0
    signature: tuple[int, ...] | None = None

    @property
    def has_data(self) -> bool:
        """Whether its data pointer is not null."""
        return self.data is not None or self.offset is not None

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def elements(self) -> int:
        """The number of elements, 1 for a scalar."""
        return prod(self.shape)

    @property
    def is_constant(self) -> bool:
        """Whether its values are in the file (IsConstantTensor)."""
        return self.allocation_type is AllocationType.MMAP_RO

    @property
    def is_known(self) -> bool:
        """Whether its values are known while nodes are prepared (IsConstantOrPersistentTensor)."""
        return self.allocation_type in (AllocationType.MMAP_RO, AllocationType.PERSISTENT_RO)

    @property
    def is_dynamic(self) -> bool:
        """Whether only the running model gives it bytes."""
        return self.allocation_type is AllocationType.DYNAMIC

    @property
    def is_quantized(self) -> bool:
        return self.quantization is not None

    @property
    def scale(self) -> float:
        """The scale of a tensor that is quantized as a whole, else 0 (params.scale)."""
        whole = self._whole
        return whole.scale[0] if whole is not None else 0.0

    @property
    def zero_point(self) -> int:
        """The zero point of a tensor that is quantized as a whole, else 0 (params.zero_point)."""
        whole = self._whole
        return whole.zero_point[0] if whole is not None else 0

    @property
    def scales(self) -> Sequence[float]:
        """The scales, of the whole tensor or of each channel; empty for a tensor that is not quantized."""
        return self.quantization.scale if self.quantization is not None else ()

    @property
    def _whole(self) -> Quantization | None:
        """The parameters of a tensor that is quantized as a whole."""
        parameters = self.quantization
        if parameters is None or len(parameters.scale) != 1 or len(parameters.zero_point) != 1:
            return None
        return parameters

    def free(self, allocation_type: AllocationType) -> None:
        """Give its bytes back and let it be of another type from now on."""
        if self.allocation_type is not allocation_type:
            self.data = self.offset = None
            self.allocation_type = allocation_type


@dataclass(frozen=True, slots=True)
class TfLiteRegistration:
    """An operator as the resolver knows it (TfLiteRegistration).

    Attributes:
        op: The builtin operator's name; "CUSTOM" and "DELEGATE" have a ``custom_name`` as well.
        version: The operator version that it was registered for.
        inplace_operator: Which inputs the first output may share its bytes with.
        init: Returns the node's ``user_data`` when the node is added.
        prepare: May size tensors, make them dynamic, and add temporaries; returns True when it does not know its
            output's shape (kTfLiteOutputShapeNotKnown). All three are given the ``TfLiteContext`` around the node.
        invoke: Computes.
        changes_memory: Whether upstream's Prepare, which ``prepare`` lacks, may do one of these things.
        is_unresolved: Whether it stands for a custom operator that nobody registered.
    """

    op: str = "CUSTOM"
    custom_name: str | None = None
    version: int = 1
    inplace_operator: InplaceOperator = InplaceOperator.NONE
    init: Callable[[Any, Any], Any] | None = None
    prepare: Callable[[Any, TfLiteNode], bool | None] | None = None
    invoke: Callable[[Any, TfLiteNode], None] | None = None
    changes_memory: bool = False
    is_unresolved: bool = False

    @property
    def name(self) -> str:
        """The operator for people: ``ADD``, ``CUSTOM FlexAbs``."""
        return f"{self.op} {self.custom_name}" if self.custom_name else self.op


@dataclass(slots=True)
class TfLiteNode:
    """An operator of a subgraph (mutable, TfLiteNode); indices are tensors, -1 an optional one that is absent."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    temporaries: tuple[int, ...] = ()
    intermediates: tuple[int, ...] = ()
    registration: TfLiteRegistration = field(default_factory=TfLiteRegistration)
    options: Mapping[str, Any] = field(default_factory=dict)
    custom_options: memoryview | None = None
    user_data: Any = None
    delegate: object | None = None
    might_have_side_effect: bool = False


@dataclass(slots=True)
class GraphInfo:
    """Tensors and nodes (mutable).

    Attributes:
        tensors: By tensor index.
        nodes: By node index, those that a delegate replaced included.
        execution_plan: The indices of the nodes that run, in their order.
        inputs: The graph's input tensors, -1 for one that is absent.
        outputs: The graph's output tensors.
        variables: Tensors that keep their bytes between invocations.
    """

    tensors: list[TfLiteTensor] = field(default_factory=list)
    nodes: list[TfLiteNode] = field(default_factory=list)
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    variables: tuple[int, ...] = ()
    execution_plan: list[int] = field(default_factory=list)

    @property
    def execution_nodes(self) -> list[TfLiteNode]:
        """The nodes that run, in their order."""
        return [self.nodes[index] for index in self.execution_plan]


class TfLiteContext(Protocol):
    """A subgraph as kernels see it (TfLiteContext)."""

    tensors: list[TfLiteTensor]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    reports: list[str]

    @property
    def index(self) -> int:
        """Its number in the model."""

    @property
    def release(self) -> str:
        """The release of the runtime."""

    @property
    def threads(self) -> int:
        """The number of threads that kernels may use."""

    @property
    def siblings(self) -> Sequence[TfLiteContext]:
        """All subgraphs of the model, itself included."""

    @property
    def has_dynamic_tensors(self) -> bool:
        """Whether the last preparation met an output that only the running model sizes."""

    @property
    def execution_nodes(self) -> list[TfLiteNode]:
        """The nodes that run, in their order."""

    def add_tensors(self, count: int) -> int:
        """Append tensors that are nothing yet and return the first one's index."""

    def resize(self, tensor: TfLiteTensor, shape: tuple[int, ...]) -> None:
        """Set a tensor's shape."""

    def resize_input(self, index: int, shape: tuple[int, ...]) -> None:
        """Set the shape of an input of the graph."""

    def remove_unused_inputs(self) -> None:
        """Forget the inputs that nobody reads."""

    def allocate_tensors(self) -> None:
        """Prepare the nodes and give the tensors their bytes."""


def present(indices: tuple[int, ...]) -> list[int]:
    """Return the tensor indices that are not optional tensors that are absent."""
    return [index for index in indices if index != OPTIONAL_TENSOR]
