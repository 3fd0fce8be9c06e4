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
from tflm_sim.device.seen_node import READS, Check, NotRepeatable, SeenNode, passes
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.operator_kinds import Kinds, OperatorOutline
from tflm_sim.graph.outline import outlines
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target

MAX_KINDS = 1 << 15
"""Facts about operators and tensors that have a number."""
MAX_PREPARES_PER_KEY = 8
"""Prepares of one key, which differ in what else was looked at; the oldest go."""
MAX_TARGETS = 32

_Value = TypeVar("_Value")


class Known:
    """What a Prepare asks for, after which it has given all temps back (mutable: it remembers its steps).

    Args:
        reads: What must be the same: which of its tensors, what of it, and what was seen.
        checks: What must pass again.
        requests: In order.
        scratch: Bytes of each scratch buffer.
    """

    __slots__ = ("_requests", "_steps", "checks", "reads", "scratch")

    def __init__(
        self,
        reads: tuple[tuple[int, str, object], ...],
        checks: tuple[Check, ...],
        requests: Requests,
        scratch: tuple[int, ...],
    ) -> None:
        self.reads, self.checks, self._requests, self.scratch = reads, checks, requests, scratch
        self._steps: dict[tuple[int, int], ArenaStep | None] = {}

    def step(self, ends: tuple[int, int]) -> ArenaStep | None:
        """Return what it does to an arena whose head and tail have these ends, modulo 16; None where it is no step."""
        try:
            return self._steps[ends]
        except KeyError:
            step = self._steps[ends] = fold(self._requests, *ends)
            return step


class _Prepared:
    """What is found once for a target, and for others that a kernel cannot tell from it (mutable: it learns).

    Attributes:
        structs: What a temp tensor takes.
    """

    def __init__(self, target: Target) -> None:
        self.structs = TensorStructs(target)
        self._library = registrations(target)
        self._rows: set[int] = set()

    def is_own(self, op_model: OpModel) -> bool:
        """Whether it is a row of the library that has a Prepare; kernels of one's own may do as they like."""
        if id(op_model) in self._rows:
            return True
        if op_model.prepare is None or self._library.get(op_model.op) is not op_model:
            return False
        self._rows.add(id(op_model))  # The library keeps its rows: the number stays its own.
        return True


class KnownPrepares:
    """The Prepares that were seen, of any models on any targets (mutable: it learns; for one thread).

    Args:
        most: Keys that are remembered: an operator's kind on a target. Those used longest ago go first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kinds = Kinds(MAX_KINDS)
        self._prepared: dict[Hashable, _Prepared] = {}
        self._known: dict[Hashable, tuple[Known, ...] | None] = {}  # None: it has to be run

    def __len__(self) -> int:
        return len(self._known)

    def of(self, model: Model, target: Target) -> KnownSteps:
        """Return the steps that are known of a model's operators on a target."""
        operators = [self._kinds.operators(outline) for outline in outlines(model)]
        seen = target.abi, target.runtime, target.kernel_library, target.ethos_u, target.measured
        prepared = self._prepared.get(seen)
        if prepared is None:
            prepared = _Prepared(target)
        _use(self._prepared, seen, prepared, MAX_TARGETS)
        return KnownSteps(self, prepared, operators)

    def find(self, key: Hashable) -> tuple[Known, ...] | None:
        """Return the Prepares of a key: () for none yet, None where it has to be run."""
        found = self._known.get(key, ())
        if found != ():
            _use(self._known, key, found, self._most)
        return found

    def remember(self, key: Hashable, known: tuple[Known, ...] | None) -> None:
        """Remember the Prepares of a key, or that it has to be run."""
        _use(self._known, key, known, self._most)


def _use(kept: dict[Hashable, _Value], key: Hashable, value: _Value, most: int) -> None:
    """Make a key the one that was used last; the one that was used longest ago goes where there are too many."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > most:
        del kept[next(iter(kept))]


class KnownSteps:
    """What is known of the operators of one model on one target.

    Args:
        known: Where it is remembered.
        prepared: What there is of the target.
        operators: Of each subgraph.
    """

    def __init__(self, known: KnownPrepares, prepared: _Prepared, operators: Sequence[list[OperatorOutline]]) -> None:
        self._known, self._prepared, self._operators = known, prepared, operators

    def step(
        self, node: Node, op_model: OpModel, arena: MeasuringArena, *, is_as_filed: bool
    ) -> tuple[int, ...] | None:
        """Do to the arena what the Prepare of a node does, if that is known or can be learnt.

        Args:
            node: The node.
            op_model: Its row.
            arena: Where.
            is_as_filed: Whether all tensors are as the file says; else those of the node are compared with it.

        Returns:
            The bytes of the scratch buffers that it asks for; None where it has to be run.
        """
        kind, tensors = self._operators[node.subgraph_index][node.index]
        if kind is None or not self._prepared.is_own(op_model) or not _is_plain(node, tensors, is_as_filed=is_as_filed):
            return None
        key = self._prepared, id(op_model), kind, node.user_data
        found = self._known.find(key)
        if found is None:
            return None
        known = _fitting(found, node, tensors)
        if known is not None:
            return _taken(known, arena)
        learnt = _learn(node, op_model, tensors, self._prepared.structs)
        self._known.remember(key, found or None if learnt is None else (*found[1 - MAX_PREPARES_PER_KEY :], learnt))
        return None if learnt is None else _taken(learnt, arena)


def _fitting(found: tuple[Known, ...], node: Node, tensors: tuple[int, ...]) -> Known | None:
    """Return the first Prepare that read what is here, or nothing."""
    for known in found:
        if (not known.reads and not known.checks) or _reads_the_same(known, node, tensors):
            return known
    return None


def _taken(known: Known, arena: MeasuringArena) -> tuple[int, ...] | None:
    """Do what is known; return the scratch buffers, None where the arena cannot take the step."""
    step = known.step(arena.ends_modulo_16)
    return known.scratch if step is not None and arena.take_step(step) else None


def _is_plain(node: Node, tensors: tuple[int, ...], *, is_as_filed: bool) -> bool:
    """Whether an operator's kind and what its Init returned say all of it; its tensors are compared with the file."""
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


def _reads_the_same(known: Known, node: Node, tensors: tuple[int, ...]) -> bool:
    own = [node.tensors[index] for index in tensors]
    for tensor, what, saw in known.reads:
        if READS[what](own[tensor]) != saw:
            return False
    return not known.checks or all(passes(check, node, own) for check in known.checks)


def _learn(node: Node, op_model: OpModel, tensors: tuple[int, ...], structs: TensorStructs) -> Known | None:
    """Run a Prepare and note what it reads and asks for.

    None where it reads what the cache key does not cover, asks for what cannot be replayed, or refuses the node.
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
    return Known(reads, tuple(seen.checks), tuple(recorder.requests), tuple(recorder.scratch))
