"""Prepares that were seen before: what one asked for is asked for again without running it.

A Prepare depends on its operator alone, and mostly on what the operator's *kind* says (``graph/outline.py``). What else
a kernel looks at (a scale, a zero point, the bytes of a constant) is noted while it runs on what ``seen_node.py`` shows
it, and must be the same again; of a check that it holds tensors against (``Node.hold``), only that it passes: models
whose layers differ in scales alone share what they ask for. A kernel that looks further (at other subgraphs, resource
variables) or does more than to allocate and free is not remembered.

    kind, looks  ->  requests  ->  folded: how far tail and temp go, what of it binds  ->  one step of the arena

The step depends on where head and tail stand modulo 16, so that there is one for each such pair. Property tests hold
the answer equal to the one that events give.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.needs import Advance
from tflm_sim.device.recorded_prepare import Recorder, Requests, fold
from tflm_sim.device.seen_node import LOOKS, Check, SeenNode, TooFar, passes
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import SimulatedFailure
from tflm_sim.graph.outline import outlines
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target

MOST_KEYS = 1024
"""Keys that are remembered for a target; the oldest go."""
MOST_OF_A_KEY = 8
"""Prepares of one key, which differ in what else was looked at; the oldest go."""


class Known:
    """What a Prepare asks for, after which it has given all temps back (mutable: it remembers its steps).

    Args:
        looks: What must be the same: which of its tensors, what of it, and what was seen.
        checks: What must pass again.
        requests: In order.
        scratch: Bytes of each scratch buffer.
    """

    __slots__ = ("_requests", "_steps", "checks", "looks", "scratch")

    def __init__(
        self,
        looks: tuple[tuple[int, str, object], ...],
        checks: tuple[Check, ...],
        requests: Requests,
        scratch: tuple[int, ...],
    ) -> None:
        self.looks, self.checks, self._requests, self.scratch = looks, checks, requests, scratch
        self._steps: dict[tuple[int, int], Advance | None] = {}

    def step(self, stand: tuple[int, int]) -> Advance | None:
        """Return what it does to an arena whose head and tail stand there, modulo 16; None where it is no step."""
        try:
            return self._steps[stand]
        except KeyError:
            step = self._steps[stand] = fold(self._requests, *stand)
            return step


class KnownPrepares:
    """The Prepares that are known for a target (mutable: it learns)."""

    def __init__(self, target: Target) -> None:
        self._structs = TensorStructs(target)
        self._known: dict[object, tuple[Known, ...] | None] = {}  # None: it has to be run
        self._library = registrations(target)
        self._rows: set[int] = set()

    def step(
        self, node: Node, op_model: OpModel, arena: MeasuringArena, *, is_as_filed: bool
    ) -> tuple[int, ...] | None:
        """Do to the arena what the Prepare of a node does, if that is known or can be learnt.

        Args:
            node: The node.
            op_model: Its row.
            arena: Where.
            is_as_filed: Whether all tensors are as the file says; else those of the node are held against it.

        Returns:
            The bytes of the scratch buffers that it asks for; None where it has to be run.
        """
        kind, tensors = outlines(node.model)[node.subgraph_index].operators[node.index]
        if kind is None or not (id(op_model) in self._rows or self._is_own(op_model)) or not _is_plain(node):
            return None
        if not is_as_filed and not _are_as_filed(node, tensors):
            return None
        key = id(op_model), kind, node.user_data
        found = self._known.get(key, ())
        if found is None:
            return None
        for known in found:
            if (not known.looks and not known.checks) or _looks_the_same(known, node, tensors):
                break
        else:
            learnt = _learn(node, op_model, tensors, self._structs)
            self._remember(key, found or None if learnt is None else (*found[1 - MOST_OF_A_KEY :], learnt))
            if learnt is None:
                return None
            known = learnt
        step = known.step(arena.stand)
        return known.scratch if step is not None and arena.take_step(step) else None

    def _remember(self, key: object, known: tuple[Known, ...] | None) -> None:
        if len(self._known) >= MOST_KEYS and key not in self._known:
            del self._known[next(iter(self._known))]
        self._known[key] = known

    def _is_own(self, op_model: OpModel) -> bool:
        """Whether it is a row of the library; kernels of one's own may do as they like."""
        if op_model.prepare is None or self._library.get(op_model.op) is not op_model:
            return False
        self._rows.add(id(op_model))  # The library keeps its rows: the number stays its own.
        return True


def known_prepares(target: Target) -> KnownPrepares:
    """Return what this process knows for a target, and for others that a kernel cannot tell from it."""
    return known_to(target.abi, target.runtime, target.kernel_library, target.ethos_u, target.measured)


@lru_cache(32)
def known_to(*seen: Any) -> KnownPrepares:
    abi, runtime, kernel_library, ethos_u, measured = seen
    return KnownPrepares(Target("", abi, runtime, kernel_library, ethos_u=ethos_u, measured=measured))


def _is_plain(node: Node) -> bool:
    """Whether an operator's kind and what its Init returned say all of it."""
    user_data = node.user_data
    return node.damage is None and not node.compressed_tensors and (user_data is None or type(user_data) is str)


def _are_as_filed(node: Node, tensors: tuple[int, ...]) -> bool:
    for index in tensors:
        tensor = node.tensors[index]
        if tensor.resource_id is not None or tensor.shape != (tensor.tensor.shape or ()):
            return False
    return True


def _looks_the_same(known: Known, node: Node, tensors: tuple[int, ...]) -> bool:
    own = [node.tensors[index] for index in tensors]
    for tensor, what, saw in known.looks:
        if LOOKS[what](own[tensor]) != saw:
            return False
    return not known.checks or all(passes(check, node, own) for check in known.checks)


def _learn(node: Node, op_model: OpModel, tensors: tuple[int, ...], structs: TensorStructs) -> Known | None:
    """Run a Prepare on what it is shown; None where it looks or goes too far, or refuses the node."""
    assert op_model.prepare is not None, "a row of the library that has one"
    seen = SeenNode(node, {index: own for own, index in enumerate(tensors)})
    recorder = Recorder(seen.tensors, structs)
    try:
        recorder.run(op_model.prepare(seen))
    except (TooFar, SimulatedFailure):
        return None
    if seen.user_data is not node.user_data:
        return None
    looks = tuple([(index, what, saw) for (index, what), saw in seen.looks.items()])
    return Known(looks, tuple(seen.checks), tuple(recorder.requests), tuple(recorder.scratch))
