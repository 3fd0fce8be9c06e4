"""Prepares that were seen before: what one asked for is asked for again without running it.

A Prepare depends on its operator alone: options, how its tensors hang together, their types, shapes and constancy, how
many scales they have. That is the *key*. What else a kernel looks at (a scale, a zero point, the bytes of a constant)
is noted while it runs on :class:`_SeenTensor`, which shows nothing but the key without noting it, and must be the same
again; of a check that it holds tensors against (``Node.hold``), only that it passes: models whose layers differ in
scales alone share what they ask for. A kernel that looks further (at other subgraphs, resource variables) or does more
than to allocate and free is not remembered. Most Prepares never come again, and to note costs as much as to run: a key
is noted from its second time on.

    key, looks  ->  requests  ->  replayed on an empty arena: how far tail and temp go, what of it binds  ->  one step

The step depends on where head and tail stand modulo 16, so that there is one for each such pair. Property tests hold
the answer equal to the one that events give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from tflm_sim.arena.arena import ArenaAllocator, Temps
from tflm_sim.arena.measuring_arena import ROOM, MeasuringArena
from tflm_sim.arena.needs import PERIOD, Advance
from tflm_sim.device.micro_allocator import MAX_SCRATCH_BUFFERS_PER_OP
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.model.types import Operator, Quantization
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
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
from tflm_sim.targets.target import Target
from tflm_sim.values import NamedTuple

MOST_KEYS = 1024
"""Keys that are remembered for a target; then those that came once go, or all."""
MOST_OF_A_KEY = 8
"""Prepares of one key, which differ in what else was looked at; the oldest go."""
LONGEST_LOOK = 256
"""Bytes of a constant that are kept for comparison."""

Look = tuple[int, str, object]
"""What a kernel looked at besides the key: which of its tensors, what of it, and what it saw."""


Check = tuple[Callable[..., None], tuple[int, ...], tuple[tuple[str, int], ...]]
"""A check that tensors were held against (``Node.hold``): it, which of its tensors (-1: none), the facts."""


class _TooFar(Exception):
    """A kernel looked at what no key holds, or did what no step holds."""


class Known(NamedTuple):
    """What a Prepare asks for, after which it has given all temps back.

    Attributes:
        looks: What must be the same.
        checks: What must pass again.
        requests: In order, with its own numbers for its tensors.
        scratch: Bytes of each scratch buffer.
        steps: What they do to an arena, by where its head and tail stand modulo 16.
    """

    looks: tuple[Look, ...]
    checks: tuple[Check, ...]
    requests: tuple[tuple[Any, ...], ...]
    scratch: tuple[int, ...]
    steps: dict[tuple[int, int], Advance | None]


class KnownPrepares:
    """The Prepares that are known for a target (mutable: it learns)."""

    def __init__(self, target: Target) -> None:
        self._structs = TensorStructs(target)
        self._known: dict[object, tuple[Known, ...] | None] = {}  # (): it came once. None: it has to be run
        self._library = registrations(target)
        self._rows: set[int] = set()

    def step(self, node: Node, op_model: OpModel, arena: ArenaAllocator) -> tuple[int, ...] | None:
        """Do to the arena what the Prepare of a node does, if that is known or can be learnt.

        Returns:
            The bytes of the scratch buffers that it asks for; None where it has to be run.
        """
        if not isinstance(arena, MeasuringArena) or not self._is_own(op_model):
            return None
        order, key = _key(node, op_model)
        if key is None:
            return None
        if key not in self._known:
            self._remember(key, ())
            return None
        found = self._known[key]
        if found is None:
            return None
        known = next((one for one in found if _looks_the_same(one, node, order)), None)
        if known is None:
            known = _learn(node, op_model, order, self._structs)
            self._remember(key, found or None if known is None else (*found[1 - MOST_OF_A_KEY :], known))
        if known is None:
            return None
        stand = arena.stand
        step = known.steps.get(stand)
        if step is None and stand not in known.steps:
            step = known.steps[stand] = _replay(known, stand)
        return known.scratch if step is not None and arena.take_step(step) else None

    def _remember(self, key: object, known: tuple[Known, ...] | None) -> None:
        if len(self._known) >= MOST_KEYS and key not in self._known:
            self._known = {old: prepares for old, prepares in self._known.items() if prepares != ()}
            if len(self._known) >= MOST_KEYS:
                self._known.clear()
        self._known[key] = known

    def _is_own(self, op_model: OpModel) -> bool:
        """Whether it is a row of the library; kernels of one's own may do as they like."""
        if id(op_model) not in self._rows:
            if op_model.prepare is None or self._library.get(op_model.op) is not op_model:
                return False
            self._rows.add(id(op_model))  # The library keeps its rows: the number stays its own.
        return True


@lru_cache(32)
def known_prepares(target: Target) -> KnownPrepares:
    """Return what this process knows for a target."""
    return KnownPrepares(target)


def _key(node: Node, op_model: OpModel) -> tuple[dict[int, int], object]:
    """Return the operator's own numbers of its tensors, by index, and the key; None for a node that has none."""
    operator, tensors = node.operator, node.tensors
    order: dict[int, int] = {}
    facts: list[object] = [id(op_model), operator.options_type, node.user_data]
    for name, value in operator.options.items():
        facts += name, value.hex() if type(value) is float else value  # 0.0 equals -0.0
    for vector in (operator.inputs, operator.outputs, operator.intermediates):
        if vector is None:
            facts.append(None)
            continue
        for index in vector:
            if index >= 0 and index not in order:
                order[index] = len(order)
                tensor = tensors[index]
                if tensor.resource_id is not None or tensor.shape != (tensor.tensor.shape or ()):
                    return order, None
                affine = tensor.affine
                facts += (
                    tensor.type,
                    tensor.shape,
                    tensor.data is None,
                    affine and (affine.scale_count, affine.zero_point_count, affine.quantized_dimension),
                )
        facts.append(tuple([order.get(index, -1) for index in vector]))
    if node.damage is not None or node.compressed_tensors or operator.custom_options is not None:
        return order, None
    if not isinstance(node.user_data, str | None):
        return order, None
    return order, tuple(facts)


def _looks_the_same(known: Known, node: Node, order: dict[int, int]) -> bool:
    if not known.looks and not known.checks:
        return True
    tensors = [node.tensors[index] for index in order]
    return all(_LOOKS[what](tensors[tensor]) == saw for tensor, what, saw in known.looks) and all(
        _passes(check, node, tensors) for check in known.checks
    )


def _passes(check: Check, node: Node, tensors: Sequence[EvalTensor]) -> bool:
    holds, indices, facts = check
    try:
        holds(node, *[KernelTensor(tensors[index], ()) if index >= 0 else None for index in indices], **dict(facts))
    except SimulatedFailure:
        return False
    return True


def _bytes_of(tensor: EvalTensor) -> bytes | None:
    data = tensor.data
    if data is not None and len(data) > LONGEST_LOOK:
        return None
    return b"" if data is None else bytes(data)


_LOOKS: dict[str, Callable[[EvalTensor], object]] = {
    "first_scale": lambda tensor: tensor.affine and float(tensor.affine.first_scale).hex(),
    "first_zero_point": lambda tensor: tensor.affine and tensor.affine.first_zero_point,
    "data": _bytes_of,
}


# -- what a kernel is shown -------------------------------------------------------------------------------------------


class _SeenQuantization(Quantization):
    """Shows how many scales and zero points there are; the first of each is noted."""

    __slots__ = ("_note",)

    def __init__(self, real: Quantization, note: Callable[[str], Any]) -> None:
        self._note = note
        self.scale_count, self.zero_point_count = real.scale_count, real.zero_point_count
        self.quantized_dimension = real.quantized_dimension

    @property
    def first_scale(self) -> float:
        return float.fromhex(self._note("first_scale"))

    @property
    def first_zero_point(self) -> int:
        value: int = self._note("first_zero_point")
        return value

    def __getattr__(self, name: str) -> Any:
        raise _TooFar(name)


class _SeenTensor(EvalTensor):
    """Shows type, shape and constancy of a tensor, under the operator's own number; its data are noted."""

    __slots__ = ("_note", "_real")

    def __init__(self, real: EvalTensor, index: int, looks: dict[tuple[int, str], object]) -> None:
        def note(what: str) -> Any:
            looks[index, what] = _LOOKS[what](real)
            return looks[index, what]

        self._real, self._note = real, note
        self.index, self.type, self.shape, self.resource_id = index, real.type, real.shape, None
        self.affine = None if real.affine is None else _SeenQuantization(real.affine, note)

    @property
    def is_constant(self) -> bool:
        return self._real.data is not None

    @property
    def has_data(self) -> bool:
        return self._real.data is not None

    @property
    def file_byte_length(self) -> int:
        return self.byte_length  # A key is made only while the shape is the file's.

    def __getattr__(self, name: str) -> Any:
        found = self._note(name) if name == "data" and self.is_constant else None
        if name != "data" or (found is None and self.is_constant):
            raise _TooFar(name)
        return None if found is None else memoryview(found)


class _SeenNode(Node):
    """Shows what the key holds: the operator with its own numbers for its tensors; of a check, that it passed."""

    __slots__ = ("_own_tensors", "_real", "checks")

    def __init__(self, node: Node, order: dict[int, int], looks: dict[tuple[int, str], object]) -> None:
        real, self._real = node.operator, node
        self._own_tensors = [node.tensors[index] for index in order]
        self.checks: list[Check] = []
        self.target, self.op, self.user_data = node.target, node.op, node.user_data
        self.operator = Operator(
            opcode_index=0,
            inputs=_own(real.inputs, order),
            outputs=_own(real.outputs, order),
            intermediates=_own(real.intermediates, order),
            options_type=real.options_type,
            options=real.options,
        )
        self.inputs, self.outputs = self.operator.inputs or (), self.operator.outputs or ()
        self.intermediates = self.operator.intermediates or ()
        self.tensors = [_SeenTensor(node.tensors[index], own, looks) for index, own in order.items()]
        self.damage, self.compressed_tensors = None, frozenset()

    def hold(self, check: Callable[..., None], *tensors: KernelTensor | None, **facts: int) -> None:
        """Hold the real tensors against a check."""
        indices = tuple([-1 if tensor is None else tensor.eval.index for tensor in tensors])
        held = check, indices, tuple(facts.items())
        if not _passes(held, self._real, self._own_tensors):
            raise _TooFar("refused")
        self.checks.append(held)

    def __getattr__(self, name: str) -> Any:
        raise _TooFar(name)


def _own(vector: tuple[int, ...] | None, order: dict[int, int]) -> tuple[int, ...] | None:
    return None if vector is None else tuple([order.get(index, -1) for index in vector])


# -- learning ---------------------------------------------------------------------------------------------------------


def _learn(node: Node, op_model: OpModel, order: dict[int, int], structs: TensorStructs) -> Known | None:
    """Run a Prepare on what it is shown; None where it looks or goes too far, or refuses the node."""
    assert op_model.prepare is not None, "a row of the library that has one"
    looks: dict[tuple[int, str], object] = {}
    try:
        seen = _SeenNode(node, order, looks)
        recorder = _Recorder(seen.tensors, structs)
        recorder.run(op_model.prepare(seen))
    except (_TooFar, SimulatedFailure):
        return None
    if seen.user_data is not node.user_data:
        return None
    noted = tuple([(index, what, saw) for (index, what), saw in looks.items()])
    return Known(noted, tuple(seen.checks), tuple(recorder.requests), tuple(recorder.scratch), {})


class _Recorder:
    """Answers a Prepare as a roomy arena does, and keeps what it asks for (mutable)."""

    def __init__(self, tensors: Sequence[EvalTensor], structs: TensorStructs) -> None:
        self._tensors = tensors
        self._structs = structs
        self._taken = 0
        self.requests: list[tuple[Any, ...]] = []
        self.scratch: list[int] = []

    def run(self, steps: Steps[None]) -> None:
        """Run it to its end."""
        try:
            request: Request = next(steps)
            while True:
                request = steps.send(self._answer(request))
        except StopIteration:
            return

    def _answer(self, request: Request) -> object:
        match request:
            case Persistent(size, label):
                self.requests.append(("persistent", size, PERIOD, label))
                return 0
            case Scratch(size):
                self.scratch.append(size)
                if len(self.scratch) > MAX_SCRATCH_BUFFERS_PER_OP:
                    raise _TooFar("scratch")
                return len(self.scratch) - 1
            case TempTensor(index):
                return self._take((index,))[0]
            case TempTensors(wanted):
                given = iter(self._take([index for index, _ in wanted if index >= 0]))
                return _until_needed(wanted, given)
            case FreeTempTensor(tensor):
                self._free((tensor,))
            case FreeTempTensors(tensors):
                self._free(tensors)
            case _:
                raise _TooFar(type(request).__name__)
        return None

    def _take(self, indices: Sequence[int]) -> list[KernelTensor]:
        groups: list[Temps] = []
        for index in indices:
            structs, is_sized = self._structs.of(self._tensors[index])
            if not is_sized:
                raise _TooFar("type")
            groups.append(structs)
        if groups:
            self.requests.append(("take", tuple(groups)))
        tensors = [KernelTensor(self._tensors[index], (self._taken + at,)) for at, index in enumerate(indices)]
        self._taken += len(tensors)
        return tensors

    def _free(self, tensors: Sequence[KernelTensor | None]) -> None:
        self.requests.append(("free", tuple([tensor.offsets[0] for tensor in tensors if tensor is not None])))


def _until_needed(wanted: Sequence[tuple[int, bool]], given: Any) -> list[KernelTensor | None]:
    """Return an answer for each tensor, None for one that is not there, up to the first such that ends it."""
    answers: list[KernelTensor | None] = []
    for index, is_needed in wanted:
        answers.append(next(given) if index >= 0 else None)
        if is_needed and answers[-1] is None:
            break
    return answers


def _replay(known: Known, stand: tuple[int, int]) -> Advance | None:
    """Return what the requests do to an arena whose head and tail stand so modulo 16; None where temps are left."""
    arena = MeasuringArena.standing(*stand)
    taken: list[int] = []
    for kind, *facts in known.requests:
        if kind == "free":
            arena.deallocate_temps([taken[position] for position in facts[0]])
        elif kind == "take":
            taken += [offset for (offset,) in arena.allocate_temp_groups(facts[0]) or ()]
        elif facts[0] >= ROOM or arena.allocate_persistent_buffer(*facts[:2], label=facts[2]) is None:
            return None
    return arena.step_taken() if arena.is_all_temp_deallocated() else None
