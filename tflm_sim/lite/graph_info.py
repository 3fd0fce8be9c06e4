"""What TFLite's runtime keeps of a subgraph: tensors, nodes, and the order in which the nodes run.

All of it is mutable, as upstream's is: the planner moves tensors, a kernel's Prepare sizes them and adds temporaries,
a delegate replaces nodes.

Source: tflite/graph_info.h, tflite/core/c/common.h @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntFlag
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tflm_sim.lite.subgraph import Subgraph

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


RESIZABLE = (
    AllocationType.ARENA_RW,
    AllocationType.ARENA_RW_PERSISTENT,
    AllocationType.DYNAMIC,
    AllocationType.PERSISTENT_RO,
    AllocationType.CUSTOM,
)
"""The types of the tensors whose shape a kernel may set."""


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
class Tensor:
    """A tensor of the runtime (mutable, TfLiteTensor).

    Attributes:
        size: Bytes.
        allocation_type: Which arena, if any, the planner places it in.
        offset: Bytes from the base of its arena; None while it has no place there.
        type: The raw ``TensorType`` number.
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


@dataclass(frozen=True, slots=True)
class Registration:
    """An operator as the resolver knows it (TfLiteRegistration).

    Attributes:
        op: The builtin operator's name; "CUSTOM" and "DELEGATE" have a ``custom_name`` as well.
        version: The operator version that it was registered for.
        inplace_operator: Which inputs the first output may share its bytes with.
        init: Returns the node's ``user_data`` when the node is added.
        prepare: May size tensors, make them dynamic, and add temporaries.
        invoke: Computes.
        changes_memory: Whether upstream's Prepare, which ``prepare`` lacks, may do one of these things.
        is_unresolved: Whether it stands for a custom operator that nobody registered.
    """

    op: str = "CUSTOM"
    custom_name: str | None = None
    version: int = 1
    inplace_operator: InplaceOperator = InplaceOperator.NONE
    init: Callable[[Subgraph, Any], Any] | None = None
    prepare: Callable[[Subgraph, Node], None] | None = None
    invoke: Callable[[Subgraph, Node], None] | None = None
    changes_memory: bool = False
    is_unresolved: bool = False

    @property
    def name(self) -> str:
        """The operator for people: ``ADD``, ``CUSTOM FlexAbs``."""
        return f"{self.op} {self.custom_name}" if self.custom_name else self.op


@dataclass(slots=True)
class Node:
    """An operator of a subgraph (mutable, TfLiteNode); indices are tensors, -1 an optional one that is absent."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    temporaries: tuple[int, ...] = ()
    intermediates: tuple[int, ...] = ()
    registration: Registration = field(default_factory=Registration)
    options: Mapping[str, Any] = field(default_factory=dict)
    custom_options: memoryview | None = None
    user_data: Any = None
    delegate: object | None = None
    might_have_side_effect: bool = False


@dataclass(slots=True)
class Graph:
    """Tensors and nodes (mutable).

    Attributes:
        tensors: By tensor index.
        nodes: By node index, those that a delegate replaced included.
        execution_plan: The indices of the nodes that run, in their order.
        inputs: The graph's input tensors, -1 for one that is absent.
        outputs: The graph's output tensors.
        variables: Tensors that keep their bytes between invocations.
    """

    tensors: list[Tensor] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    inputs: tuple[int, ...] = ()
    outputs: tuple[int, ...] = ()
    variables: tuple[int, ...] = ()
    execution_plan: list[int] = field(default_factory=list)

    @property
    def execution_nodes(self) -> list[Node]:
        """The nodes that run, in their order."""
        return [self.nodes[index] for index in self.execution_plan]


def present(indices: tuple[int, ...]) -> list[int]:
    """Return the tensor indices that are not optional tensors that are absent."""
    return [index for index in indices if index != OPTIONAL_TENSOR]
