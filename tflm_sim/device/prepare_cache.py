"""A cache of Prepares: the requests of a known Prepare are repeated without running it.

A Prepare depends on its operator alone, and usually only on the operator's *kind* (``graph/operator_kinds.py``). If a
kernel reads more (a scale, a zero point, the bytes of a constant), ``seen_node.py`` records it, and the entry is valid
only for equal values. A check of tensors (``Node.check_tensors``) must only pass again, so that models whose layers
differ in scales alone share entries. A kernel that reads outside the cache key (other subgraphs, resource variables),
or does more than allocate and free, is not cached.

    kind, reads  ->  requests  ->  folded: how far tail and temp go, what decides the size  ->  one step of the arena

The step depends on the positions of head and tail modulo 16, so there is one for each such pair. Property tests compare
the result with the one that follows from events.

Each ``Sizer`` (``answers/sizing.py``) has its own cache for each thread.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import ArenaStep
from tflm_sim.device.recorded_prepare import Recorder, Requests, fold
from tflm_sim.device.seen_node import READS, NotRepeatable, PassedCheck, SeenNode, pass_all
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.operator_kinds import Kinds, OperatorOutline
from tflm_sim.graph.outline import outlines
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target

MAX_KINDS = 1 << 15
"""Kinds of operators and tensors that are numbered at one time."""
MAX_PREPARES_PER_KEY = 8
"""Prepares of one key, which differ in the recorded reads; the oldest are dropped."""
MAX_TARGETS = 32

_Value = TypeVar("_Value")


class CachedPrepare:
    """The requests of one Prepare, which has freed all temps at its end (mutable: it caches the steps of the arena).

    Args:
        reads: The recorded reads, which must give the same values again: the tensor's number, the attribute, the value.
        checks: Checks of tensors that must pass again.
        requests: What the Prepare requested, in order.
        scratch: Bytes of each scratch buffer that it requested.
    """

    __slots__ = ("_requests", "_steps", "checks", "reads", "scratch")

    def __init__(
        self,
        reads: tuple[tuple[int, str, object], ...],
        checks: tuple[PassedCheck, ...],
        requests: Requests,
        scratch: tuple[int, ...],
    ) -> None:
        self.reads, self.checks, self._requests, self.scratch = reads, checks, requests, scratch
        self._steps: dict[tuple[int, int], ArenaStep | None] = {}

    def step(self, ends: tuple[int, int]) -> ArenaStep | None:
        """Return the step of an arena whose temps begin, and whose tail is, at these positions modulo 16.

        None where the requests cannot be combined into one step.
        """
        try:
            return self._steps[ends]
        except KeyError:
            step = self._steps[ends] = fold(self._requests, *ends)
            return step


class _TargetFacts:
    """Facts about a target that are computed once (mutable), and shared by targets that kernels cannot tell apart.

    Attributes:
        structs: The sizes of the structs that a temp tensor needs.
    """

    def __init__(self, target: Target) -> None:
        self.structs = TensorStructs(target)
        self._library = registrations(target)
        self._rows: set[int] = set()

    def is_own(self, op_model: OpModel) -> bool:
        """Whether the kernel belongs to the library and has a Prepare; users' own kernels are not cached."""
        if id(op_model) in self._rows:
            return True
        if op_model.prepare is None or self._library.get(op_model.op) is not op_model:
            return False
        self._rows.add(id(op_model))  # the library keeps its rows, so no other object gets this id
        return True


class PrepareCache:
    """A cache of Prepares, of any models on any targets (mutable; for one thread).

    Args:
        most: How many keys are kept. A key is an operator's kind on a target; the least recently used are dropped
            first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kinds = Kinds(MAX_KINDS)
        self._prepared: dict[Hashable, _TargetFacts] = {}
        self._known: dict[Hashable, tuple[CachedPrepare, ...] | None] = {}  # None: such a Prepare cannot be cached

    def __len__(self) -> int:
        return len(self._known)

    def of(self, model: Model, target: Target, arena: MeasuringArena) -> CachedSteps:
        """Return the cached Prepares of a model's operators on a target, as steps of an arena."""
        operators = [self._kinds.operators(outline) for outline in outlines(model)]
        seen = target.abi, target.runtime, target.kernel_library, target.ethos_u, target.measured
        prepared = self._prepared.get(seen)
        if prepared is None:
            prepared = _TargetFacts(target)
        _use(self._prepared, seen, prepared, MAX_TARGETS)
        return CachedSteps(self, prepared, operators, arena)

    def find(self, key: Hashable) -> tuple[CachedPrepare, ...] | None:
        """Return the Prepares of a key: () where there is none yet, None where they cannot be cached."""
        found = self._known.pop(key, ())
        if found != ():
            self._known[key] = found  # as the last one, the most recently used
        return found

    def remember(self, key: Hashable, known: tuple[CachedPrepare, ...] | None) -> None:
        """Store the Prepares of a key; None says that they cannot be cached."""
        _use(self._known, key, known, self._most)


def _use(kept: dict[Hashable, _Value], key: Hashable, value: _Value, most: int) -> None:
    """Make a key the most recently used; drop the least recently used one where there are too many."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


class CachedSteps:
    """The cached Prepares of the operators of one model on one target.

    Args:
        known: The cache.
        prepared: The facts about the target.
        operators: The operators of each subgraph, with their kinds.
        arena: The arena.
    """

    def __init__(
        self,
        known: PrepareCache,
        prepared: _TargetFacts,
        operators: Sequence[list[OperatorOutline]],
        arena: MeasuringArena,
    ) -> None:
        self._known, self._prepared, self._operators, self._arena = known, prepared, operators, arena

    def step(self, node: Node, op_model: OpModel, *, is_as_filed: bool) -> tuple[int, ...] | None:
        """Do to the arena what the Prepare of a node does, if it is cached or can be recorded now.

        Args:
            node: The node.
            op_model: The kernel's row.
            is_as_filed: Whether all tensors have the shapes in the file; else those of the node are compared with it.

        Returns:
            The bytes of each scratch buffer that it requests; None where the Prepare has to be run.
        """
        kind, tensors = self._operators[node.subgraph_index][node.index]
        if kind is None or not self._prepared.is_own(op_model) or not _is_plain(node, tensors, is_as_filed=is_as_filed):
            return None
        key = self._prepared, id(op_model), kind, node.user_data
        found = self._known.find(key)
        if found is None:
            return None
        for known in found:
            if _reads_the_same(known, node, tensors):
                break
        else:
            learnt = _learn(node, op_model, tensors, self._prepared.structs)
            self._known.remember(key, found or None if learnt is None else (*found[1 - MAX_PREPARES_PER_KEY :], learnt))
            if learnt is None:
                return None
            known = learnt
        step = known.step(self._arena.ends_modulo_16)
        return known.scratch if step is not None and self._arena.take_step(step) else None


def _is_plain(node: Node, tensors: tuple[int, ...], *, is_as_filed: bool) -> bool:
    """Whether the key describes the operator completely: its tensors are as in the file, and Init left nothing else."""
    user_data = node.user_data
    if node.damage is not None or node.compressed_tensors or not (user_data is None or type(user_data) is str):
        return False
    return is_as_filed or _are_as_filed(node, tensors)


def _are_as_filed(node: Node, tensors: tuple[int, ...]) -> bool:
    for index in tensors:
        tensor = node.tensors[index]
        if tensor.resource_id is not None or tensor.shape != (tensor.tensor.shape or ()):
            return False
    return True


def _reads_the_same(known: CachedPrepare, node: Node, tensors: tuple[int, ...]) -> bool:
    for number, what, saw in known.reads:
        if READS[what](node.tensors[tensors[number]]) != saw:
            return False
    return pass_all(known.checks, node, tensors)


def _learn(node: Node, op_model: OpModel, tensors: tuple[int, ...], structs: TensorStructs) -> CachedPrepare | None:
    """Run a Prepare and record its reads and requests.

    None where it reads what the cache key does not cover, requests what cannot be replayed, or refuses the node.
    """
    assert op_model.prepare is not None, "a row of the library that has one"
    seen = SeenNode(node, {index: own for own, index in enumerate(tensors)})
    recorder = Recorder(seen.tensors, structs)
    try:
        recorder.run(op_model.prepare(seen))
    except (NotRepeatable, SimulatedFailure):
        return None
    if seen.user_data is not node.user_data:
        return None
    reads = tuple([(index, what, saw) for (index, what), saw in seen.reads.items()])
    return CachedPrepare(reads, tuple(seen.checks), tuple(recorder.requests), tuple(recorder.scratch))
