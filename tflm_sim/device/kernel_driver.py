"""Steps a kernel's model: carries out each request on the allocator and sends the answer back.

Source: tensorflow/lite/micro/micro_interpreter_context.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.arena.events import Corruption, ScratchUse
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import ArenaOverflowError, PrepareError, expect, not_a, whole_number
from tflm_sim.ops import requests
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.roles import abort
from tflm_sim.sizes import MAX_SIZE

if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    T = TypeVar("T")

_PREPARE = "state_ == InterpreterState::kPrepare"
_CONTEXT = "tensorflow/lite/micro/micro_interpreter_context.cc"

# The TFLITE_DCHECK of each request: the states of the interpreter in which it may be made, its line, its text.
_STATES: dict[type, tuple[tuple[str, ...], int, str]] = {
    requests.Persistent: (("init", "prepare"), 57, f"{_PREPARE} || state_ == InterpreterState::kInit"),
    requests.Scratch: (("prepare",), 64, _PREPARE),
    requests.ScratchBuffer: (("invoke",), 70, "state_ == InterpreterState::kInvoke"),
    requests.TempBuffer: (("prepare",), 88, _PREPARE),
    requests.FreeTempBuffer: (("prepare",), 93, _PREPARE),
}
_ALL_STATES = ("init", "prepare", "invoke")


class KernelDriver:
    """Runs the Init, Prepare and Invoke models of one model's operators (mutable through the allocator).

    Args:
        allocator: The allocator that the kernels use.
        allocation: What the model has taken of it.
    """

    _node: Node  # the operator that runs

    def __init__(self, allocator: MicroAllocator, allocation: ModelAllocation) -> None:
        self._allocator = allocator
        self._allocation = allocation

    @property
    def arena(self) -> ArenaAllocator:
        return self._allocator.arena

    def run(self, node: Node, steps: requests.Steps[T], *, state: str) -> T:
        """Run ``steps`` to their end and return what they return.

        Args:
            node: The operator.
            steps: The requests of its kernel.
            state: The state of the interpreter: "init", "prepare" or "invoke".

        Raises:
            PrepareError: The kernel refuses the node, or makes a request that is not allowed in this state.
            ArenaOverflowError: The kernel would write through the null pointer that it got.
        """
        self._node = node
        handlers = _HANDLERS[state]
        if not hasattr(steps, "send"):
            raise not_a(f"{state} of {node.op}, whose requests are yielded,", steps)
        try:
            request: requests.Request = next(steps)
            while True:
                request = steps.send(handlers[type(request)](self, request))
        except StopIteration as stop:
            result: T = stop.value
            return result

    def op_data(self, node: Node, struct: str) -> str | None:
        """Do an Init that only takes a struct, and return the struct's offset; None where it does not fit."""
        offset = self._allocator.allocate_persistent_buffer(node.target.sizeof(struct), struct)
        return None if offset is None else struct

    def _persistent(self, request: requests.Persistent) -> int | None:
        size = request.size if type(request.size) is int else _whole(request)
        offset = self._allocator.allocate_persistent_buffer(size, request.label)
        if offset is None and not request.checked:
            node = self._node
            raise ArenaOverflowError(
                f"tail: {request.size} bytes for {request.label or 'a kernel buffer'} of {node.op} #{node.index} "
                "do not fit, and the kernel writes through the null pointer",
                status="abort",
            )
        return offset

    def _scratch(self, request: requests.Scratch) -> int | None:
        node = self._node
        size = request.size if type(request.size) is int else _whole(request)
        index = self._allocator.request_scratch_buffer(self._allocation, size, node.subgraph_index, request.label)
        if index is None and not request.checked:
            raise PrepareError(f"{node.op} #{node.index} asks for more scratch buffers than an operator may have")
        return index

    def _scratch_buffer(self, request: requests.ScratchBuffer) -> int | None:
        infos = enumerate(self._allocation.infos)
        index, info = next((row for row in infos if row[1].scratch == request.index >= 0), (-1, None))
        owner = (info.subgraph, info.node) if info is not None else (-1, -1)
        self.arena.tell(ScratchUse, request.index, *owner)
        return self._allocation.offsets.get(index)

    def _temp_tensor(self, request: requests.TempTensor) -> requests.KernelTensor | None:
        node = self._node
        return self._allocator.allocate_temp_tensor(node.tensors[request.tensor_index], node.subgraph_index)

    def _temp_tensors(self, request: requests.TempTensors) -> Sequence[requests.KernelTensor | None]:
        node = self._node
        return self._allocator.allocate_temp_tensors(node.tensors, request.wanted, node.subgraph_index)

    def _free_temp_tensor(self, request: requests.FreeTempTensor) -> None:
        self._allocator.deallocate_temp_tensor(request.tensor)

    def _free_temp_tensors(self, request: requests.FreeTempTensors) -> None:
        self._allocator.deallocate_temp_tensors(request.tensors)

    def _temp_buffer(self, request: requests.TempBuffer) -> int | None:
        size = request.size if type(request.size) is int else _whole(request)
        alignment = request.alignment
        if type(alignment) is not int or alignment < 1:
            alignment = whole_number(alignment, "the alignment of a TempBuffer", 1, MAX_SIZE)
        return self._allocator.arena.allocate_temp(size, alignment)

    def _free_temp_buffer(self, request: requests.FreeTempBuffer) -> None:
        self._allocator.arena.deallocate_temp(request.offset)

    def _overrun(self, request: requests.Overrun) -> None:
        """Report what a kernel overwrites past its own bytes: nothing, or the builtin data that were placed last.

        Its own it has read by then, and does not read again: CONV_2D's padding.
        Source: tensorflow/lite/micro/kernels/esp_nn/conv.cc in espressif/esp-tflite-micro @ 78e5532.
        """
        node, allocation = self._node, self._allocation
        allocation.overran = True
        offset, victim = allocation.last_builtin_data or (-1, node)
        if offset != request.offset or victim is node:
            return
        victim.damage = request.value
        self.arena.tell(
            Corruption,
            f"{node.op} #{node.index} writes 4 bytes past its {request.label}, over the first of the builtin data of "
            f"{victim.op} #{victim.index}",
        )

    def _set_shape(self, request: requests.SetShape) -> None:
        self._allocation.is_as_filed = False
        request.tensor.shape = request.shape

    def _log(self, request: requests.Log) -> None:
        self._allocator.arena.log(request.text)


def _whole(request: requests.Persistent | requests.Scratch | requests.TempBuffer) -> int:
    """Return the bytes that a kernel of the user's own asks for, as Python's own number; numpy's sums wrap around."""
    size: int = expect(request.size, int, f"the bytes of a {type(request).__name__}")
    return size


def _refuse(driver: KernelDriver, request: requests.Request) -> object:
    """TFLITE_DCHECK of the interpreter's state."""
    _, line, expression = _STATES[type(request)]
    raise abort(f"{_CONTEXT}:{line}", expression)


def _refuse_other(driver: KernelDriver, request: object) -> object:
    raise not_a(f"a request from {driver._node.op}", request)


_Handler: TypeAlias = "Callable[[KernelDriver, Any], object]"


class _Handlers(dict[type, _Handler]):
    """Handlers by the class of a request; what a user's kernel yields may be something else."""

    def __missing__(self, kind: type) -> _Handler:
        return _refuse_other


_CARRIED_OUT: dict[type, _Handler] = {
    requests.Persistent: KernelDriver._persistent,
    requests.Scratch: KernelDriver._scratch,
    requests.ScratchBuffer: KernelDriver._scratch_buffer,
    requests.TempTensor: KernelDriver._temp_tensor,
    requests.TempTensors: KernelDriver._temp_tensors,
    requests.FreeTempTensor: KernelDriver._free_temp_tensor,
    requests.FreeTempTensors: KernelDriver._free_temp_tensors,
    requests.TempBuffer: KernelDriver._temp_buffer,
    requests.FreeTempBuffer: KernelDriver._free_temp_buffer,
    requests.Overrun: KernelDriver._overrun,
    requests.SetShape: KernelDriver._set_shape,
    requests.Log: KernelDriver._log,
}


def _handlers(state: str) -> _Handlers:
    """Return the handler of each kind of request in a state of the interpreter."""
    refused = {kind for kind, (states, *_) in _STATES.items() if state not in states}
    return _Handlers({kind: _refuse if kind in refused else handler for kind, handler in _CARRIED_OUT.items()})


_HANDLERS = {state: _handlers(state) for state in _ALL_STATES}
