"""What a source of the EON compiler does when it is initialised: Init and Prepare of all, on an allocator of its own.

The arena is a constant of the source; tensors lie at fixed places from its start. What an operator asks for, persistent
or scratch, is taken from the arena's end downwards and never given back. A request that does not fit above the
tensors' end goes to the heap, and later, smaller ones may still fit. There is no planner and no temp section: tensors
that a Prepare takes lie in a few slots.

    current_location - (bytes rounded up to 16) < tensor_boundary   ->   ei_calloc(bytes)
    else current_location = (current_location - bytes - 15) + 16 - ((current_location - bytes - 15) & 15)

The second line is upstream's: it rounds down to 16, but for sizes of 16 n + 1 bytes, which it moves by 16 n. Until
September 2023 nothing is aligned: a buffer takes its bytes.

Source: the functions that the compiler writes into each source, of October 2020 to October 2025;
classifier/inferencing_engines/tflite_eon.h, edgeimpulse/inferencing-sdk-cpp @ 919819f.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.errors import ModelError, PrepareError, SimulatedFailure
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import (
    FreeTempBuffer,
    FreeTempTensor,
    FreeTempTensors,
    KernelTensor,
    Log,
    Persistent,
    Request,
    Scratch,
    SetShape,
    Steps,
    TempTensor,
    TempTensors,
)
from tflm_sim.targets.presets import PRESETS
from tflm_sim.targets.target import Target

if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

ALIGNMENT = 16
_MACROS: dict[str, tuple[str, dict[str, str]]] = {
    "esp32s3": ("edge_impulse_kernels", {"CONFIG_IDF_TARGET_ESP32S3": "1", "EI_MAX_OVERFLOW_BUFFER_COUNT": "30"}),
    "armv8m": ("eon_overflow_armv8", {"EI_MAX_OVERFLOW_BUFFER_COUNT": "50"}),
}
"""By family of a preset: since which change its build defines macros that a source asks for, and what they say.

Source: porting/ei_classifier_porting.h, edgeimpulse/inferencing-sdk-cpp @ 919819f, 5363795. Until then the header asks
for __CORTEX_M, which no header before it defines.
"""


def eon_macros(target: Target) -> dict[str, str]:
    """Return the macros that decide a source's limits in a build of Edge Impulse's SDK for a target."""
    row = PRESETS.get(target.name)
    change, macros = _MACROS.get(row.family if row else "", ("", {}))
    return dict(macros) if change and target.runtime.has(change) else {}


@dataclass(frozen=True, slots=True)
class EonRoom:
    """The arena and the limits of a source of the EON compiler.

    Attributes:
        arena_size: Bytes of the arena.
        tensors_end: Bytes from its start to the end of the last tensor.
        overflow_limit: How many buffers may be on the heap; None for any number.
        scratch_limit: How many scratch buffers all operators may have together; None for any number.
        tensor_slots: How many tensors one Prepare may take; None for any number.
        aligns: Whether operators' buffers are aligned to 16 bytes.
    """

    arena_size: int
    tensors_end: int
    overflow_limit: int | None
    scratch_limit: int | None
    tensor_slots: int | None
    aligns: bool = True

    def asks(self, size: int) -> int:
        """Return how many bytes must be free for a buffer."""
        return _rounded(size) if self.aligns else size

    def moves(self, size: int) -> int:
        """Return by how many bytes a buffer lowers the start of the next one, counted from a multiple of 16."""
        return size - 1 if self.aligns and size % ALIGNMENT == 1 else self.asks(size)


class EonRequest(NamedTuple):
    """What one operator requested, and where it was placed.

    Attributes:
        subgraph: Index of the operator's subgraph.
        operator: Its index there.
        op: Its name.
        stage: "init" or "prepare".
        kind: "persistent" or "scratch".
        label: What it is for.
        size: Bytes.
        offset: From the arena's start; None on the heap.
        shares: Whether its last byte is also the first byte of the buffer placed before it.
    """

    subgraph: int
    operator: int
    op: str
    stage: str
    kind: str
    label: str
    size: int
    offset: int | None
    shares: bool


@dataclass(frozen=True, slots=True)
class EonRun:
    """A simulated initialisation, which does not stop at the source's limits.

    Attributes:
        room: The arena and the limits.
        requests: The requests, in order.
        low: Bytes from the arena's start to the lowest buffer of an operator.
        failure: Why an operator refuses for another reason than the limits; "" where none does.
    """

    room: EonRoom
    requests: tuple[EonRequest, ...]
    low: int
    failure: str

    @property
    def on_heap(self) -> tuple[EonRequest, ...]:
        return tuple(row for row in self.requests if row.offset is None)

    @property
    def scratch(self) -> tuple[EonRequest, ...]:
        return tuple(row for row in self.requests if row.kind == "scratch")

    @property
    def free(self) -> int:
        """Bytes between the tensors and the operators' buffers."""
        return self.low - self.room.tensors_end

    @property
    def refused(self) -> tuple[EonRequest, str] | None:
        """The first request that exceeds a limit of the source, and the limit ("SCRATCH", "OVERFLOW"); else None."""
        heap, scratch = 0, 0
        for row in self.requests:
            if row.kind == "scratch" and exceeds_limit(scratch, self.room.scratch_limit):
                return row, "SCRATCH"
            if row.offset is None and exceeds_limit(heap, self.room.overflow_limit):
                return row, "OVERFLOW"
            scratch += row.kind == "scratch"
            heap += row.offset is None
        return None

    @property
    def smallest_arena(self) -> int:
        """The least multiple of 16 for ``kTensorArenaSize`` with which nothing goes to the heap."""
        taken, most = 0, 0
        for row in self.requests:
            most = max(most, taken + self.room.asks(row.size))
            taken += self.room.moves(row.size)
        return _rounded(self.room.tensors_end + most)


def _rounded(size: int) -> int:
    return size + -size % ALIGNMENT


def exceeds_limit(count: int, limit: int | None) -> bool:
    """Return whether one more than ``count`` exceeds a limit; None means no limit."""
    return limit is not None and count >= limit


def run_eon(model: Model, target: Target, kernels: Mapping[str, OpModel], room: EonRoom) -> EonRun:
    """Initialise a model as its EON source does.

    Args:
        model: The source's model (:func:`~tflm_sim.extensions.eon.rebuild.rebuilt`).
        target: The target for which the SDK is compiled.
        kernels: The SDK's kernels, by operator name.
        room: The arena and the limits.

    Raises:
        ModelError: The SDK has no kernel for an operator, or a kernel asks for what such a source does not have.
    """
    driver = _EonDriver(room)
    failure = ""
    for stage, node, steps in _stages(list(_nodes(model, target, kernels))):
        try:
            found = driver.run(node, stage, steps)
        except SimulatedFailure as problem:
            failure = f"{node.op} #{node.index}: {problem}"
            break
        if stage == "init":
            node.user_data = found
    return EonRun(room, tuple(driver.requests), driver.low, failure)


def _nodes(model: Model, target: Target, kernels: Mapping[str, OpModel]) -> Iterator[tuple[Node, OpModel]]:
    tensors = [
        [
            EvalTensor(one, index, model.buffers[one.buffer].data, one.quantization)
            for index, one in enumerate(subgraph.tensors)
        ]
        for subgraph in model.subgraphs
    ]
    for subgraph_index, subgraph in enumerate(model.subgraphs):
        for index, operator in enumerate(subgraph.operators):
            code = model.operator_codes[operator.opcode_index]
            op = code.custom_code or builtin_operator_name(code.builtin_code)
            kernel = kernels.get(op)
            if kernel is None:
                raise ModelError(f"no kernel for {op} is modelled in {target.runtime.snapshot}")
            node = Node(
                model=model, target=target, subgraph_index=subgraph_index, index=index, op=op, subgraph_tensors=tensors
            )
            yield node, kernel


def _stages(rows: Sequence[tuple[Node, OpModel]]) -> Iterator[tuple[str, Node, Steps[Any]]]:
    """Yield the steps of Init of all operators, then those of Prepare of all."""
    for node, kernel in rows:
        if kernel.init is not None:
            yield "init", node, kernel.init(node)
    for node, kernel in rows:
        if kernel.prepare is not None:
            yield "prepare", node, kernel.prepare(node)


class _EonDriver:
    """Carries requests out (mutable)."""

    def __init__(self, room: EonRoom) -> None:
        self._room = room
        self.low = room.arena_size
        self.requests: list[EonRequest] = []
        self._scratch_count = 0
        self._taken: set[int] = set()  # tensors of this Prepare
        self._node: Node | None = None
        self._stage = ""

    def run(self, node: Node, stage: str, steps: Steps[T]) -> T:
        """Run a kernel's steps to their end and return what they return."""
        self._node, self._stage = node, stage
        self._taken.clear()
        try:
            request: Request = next(steps)
            while True:
                handler = _HANDLERS.get(type(request))
                if handler is None:
                    raise ModelError(
                        f"{node.op} #{node.index} asks for a {type(request).__name__}, which a source of the EON "
                        "compiler does not have"
                    )
                request = steps.send(handler(self, request))
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _buffer(self, kind: str, size: int, label: str) -> int:
        """Take a buffer; return its offset, which for one on the heap is above the arena's end."""
        node, low = self._node, self.low
        assert node is not None, "a request outside of run()"
        offset = None
        if low - self._room.asks(size) >= self._room.tensors_end:
            start = low - size - (ALIGNMENT - 1)
            offset = self.low = start + ALIGNMENT - start % ALIGNMENT if self._room.aligns else low - size
        shares = offset is not None and offset + size > low
        row = EonRequest(node.subgraph_index, node.index, node.op, self._stage, kind, label, size, offset, shares)
        self.requests.append(row)
        return self._room.arena_size if offset is None else offset

    def _persistent(self, request: Persistent) -> int:
        return self._buffer("persistent", request.size, request.label)

    def _scratch(self, request: Scratch) -> int:
        self._buffer("scratch", request.size, request.label)
        self._scratch_count += 1
        return self._scratch_count - 1

    def _temp_tensor(self, request: TempTensor) -> KernelTensor:
        return self._tensor(request.tensor_index)

    def _temp_tensors(self, request: TempTensors) -> list[KernelTensor | None]:
        return [self._tensor(index) if index >= 0 else None for index, _ in request.wanted]

    def _tensor(self, index: int) -> KernelTensor:
        node, slots = self._node, self._room.tensor_slots
        assert node is not None, "a request outside of run()"
        self._taken.add(index)
        if slots is not None and len(self._taken) > slots:
            message = f"ERR: GetTensor called beyond MAX_TFL_TENSOR_COUNT ({slots})"
            raise PrepareError(message, device_message=message)
        return KernelTensor(node.tensors[index])

    def _set_shape(self, request: SetShape) -> None:
        request.tensor.shape = request.shape

    def _nothing(self, _: Request) -> None:
        """Do nothing, for requests that take no memory here."""


_HANDLERS: dict[type, Any] = {
    Persistent: _EonDriver._persistent,
    Scratch: _EonDriver._scratch,
    TempTensor: _EonDriver._temp_tensor,
    TempTensors: _EonDriver._temp_tensors,
    SetShape: _EonDriver._set_shape,
    **dict.fromkeys((FreeTempTensor, FreeTempTensors, FreeTempBuffer, Log), _EonDriver._nothing),
}
