"""A Prepare without an arena: its requests are recorded, and combined into one step.

    Prepare  ->  Recorder: requests, scratch buffers  ->  fold(requests, head, tail): how far tail and temp go

Both do what ``MicroAllocator`` does on a roomy arena after its tail is aligned; property tests compare the results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from tflm_sim.arena.events import Phase
from tflm_sim.arena.needs import PERIOD, ArenaStep, Needs
from tflm_sim.arena.stages import Stage
from tflm_sim.device.micro_allocator import MAX_SCRATCH_BUFFERS_PER_OP
from tflm_sim.device.seen_node import NotRepeatable, SeenTensor, SeenTensors
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.ops.requests import (
    FreeTempTensor,
    FreeTempTensors,
    KernelTensor,
    Persistent,
    Request,
    Scratch,
    Steps,
    TempTensor,
    TempTensors,
)

MAX_BYTES = 1 << 29
"""A persistent buffer as large as this is not recorded: the arena says what becomes of it."""

Requests: TypeAlias = "tuple[tuple[Any, ...], ...]"
"""What a Prepare asks for, in order: ("persistent", bytes, label); ("take", structs of each temp tensor ...); ("free",
which of all its temp tensors so far ...)."""

_ANY_PLACE = Phase, (Stage.START,)


class Recorder:
    """Answers the requests of a Prepare as a roomy arena does, and records them (mutable).

    Args:
        tensors: The operator's tensors.
        structs: The sizes of the structs that a temp tensor needs.

    Attributes:
        requests: What was requested so far.
        scratch: Bytes of each scratch buffer.
    """

    def __init__(self, tensors: SeenTensors, structs: TensorStructs) -> None:
        self._tensors = tensors
        self._structs_of = structs.of
        self._taken = 0
        self.requests: list[Any] = []
        self.scratch: list[int] = []

    def run(self, steps: Steps[None]) -> None:
        """Run a Prepare to its end.

        Raises:
            NotRepeatable: It does more than allocate and free, or reads what is not recorded.
        """
        try:
            request: Request = next(steps)
            while True:
                request = steps.send(_ANSWERS.get(type(request), _refuse)(self, request))
        except StopIteration:
            return
        except AttributeError as error:
            raise NotRepeatable(error.name) from error

    def _persistent(self, request: Persistent) -> int:
        if not 0 <= request.size < MAX_BYTES:
            raise NotRepeatable("persistent")
        self.requests.append(("persistent", request.size, request.label))
        return 0

    def _scratch(self, request: Scratch) -> int:
        self.scratch.append(request.size)
        if len(self.scratch) > MAX_SCRATCH_BUFFERS_PER_OP:
            raise NotRepeatable("scratch")
        return len(self.scratch) - 1

    def _temp_tensor(self, request: TempTensor) -> KernelTensor | None:
        return self._temp_tensors(TempTensors(((request.tensor_index, False),)))[0]

    def _temp_tensors(self, request: TempTensors) -> list[KernelTensor | None]:
        """Return an answer for each tensor, None for an absent one; a required tensor that is absent ends the list."""
        found: list[Any] = ["take"]
        answers: list[KernelTensor | None] = []
        tensors, structs_of, offset = self._tensors, self._structs_of, self._taken - 1
        for index, is_needed in request.wanted:
            if index >= 0:
                tensor = SeenTensor(tensors, index, offset + len(found))
                structs, is_sized = structs_of(tensor.real)
                if not is_sized:
                    raise NotRepeatable("type")
                answers.append(tensor)
                found.append(structs)
            else:
                answers.append(None)
                if is_needed:
                    break
        if len(found) > 1:
            self.requests.append(tuple(found))
            self._taken = offset + len(found)
        return answers

    def _free_temp_tensor(self, request: FreeTempTensor) -> None:
        self.requests.append(("free", *request.tensor.offsets))

    def _free_temp_tensors(self, request: FreeTempTensors) -> None:
        self.requests.append(("free", *[tensor.offsets[0] for tensor in request.tensors if tensor is not None]))


_ANSWERS: dict[type, Callable[[Recorder, Any], object]] = {
    Persistent: Recorder._persistent,
    Scratch: Recorder._scratch,
    TempTensor: Recorder._temp_tensor,
    TempTensors: Recorder._temp_tensors,
    FreeTempTensor: Recorder._free_temp_tensor,
    FreeTempTensors: Recorder._free_temp_tensors,
}


def _refuse(recorder: Recorder, request: Request) -> object:
    raise NotRepeatable(type(request).__name__)


def fold(requests: Requests, head: int, tail: int) -> ArenaStep | None:
    """Return the effect of requests on a roomy arena, counted from its head and its tail.

    Args:
        requests: The requests, in order.
        head, tail: The addresses modulo 16 where temps begin, and where the tail is.

    Returns:
        The step; None where temps are not all freed, or freed twice.
    """
    needs = Needs()
    needs.is_settled = True
    temp, taken, used = head, 0, 0
    live: dict[int, int] = {}
    for kind, *facts in requests:
        if kind == "take":
            for structs in facts:
                for size, alignment in structs:
                    temp += -temp % alignment + size
                live[taken] = temp
                taken += 1
            needs.below(temp - head, "temp", size, alignment, "", _ANY_PLACE)
        elif kind == "persistent":
            size, label = facts
            used += size + (tail - used - size) % PERIOD
            needs.persist(max(live.values(), default=head) - head, size, PERIOD, used, label, _ANY_PLACE)
        else:
            for position in facts:
                if live.pop(position, None) is None:
                    return None
    return None if live else needs.as_step()
