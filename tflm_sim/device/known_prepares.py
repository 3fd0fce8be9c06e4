"""Prepares that were seen before: what one asked for is asked for again without running it.

A Prepare depends on its operator alone: options, how its tensors hang together, their types, shapes and constancy, how
many scales they have. That is the *key*. What else a kernel looks at (a scale, a zero point, the bytes of a constant)
is noted while it runs on what ``seen_node.py`` shows it, and must be the same again; of a check that it holds tensors
against (``Node.hold``), only that it passes: models whose layers differ in scales alone share what they ask for. A
kernel that looks further (at other subgraphs, resource variables) or does more than to allocate and free is not
remembered.

    key, looks  ->  requests  ->  folded: how far tail and temp go, what of it binds  ->  one step of the arena

The step depends on where head and tail stand modulo 16, so that there is one for each such pair. Property tests hold
the answer equal to the one that events give.
"""

from __future__ import annotations

from functools import lru_cache

from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.device.recorded_prepare import Recorder, Requests, TooFar, fold
from tflm_sim.device.seen_node import LOOKS, Check, SeenNode, passes
from tflm_sim.device.tensors import TensorStructs
from tflm_sim.errors import SimulatedFailure
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target
from tflm_sim.values import NamedTuple

MOST_KEYS = 1024
"""Keys that are remembered for a target; the oldest go."""
MOST_OF_A_KEY = 8
"""Prepares of one key, which differ in what else was looked at; the oldest go."""


class Known(NamedTuple):
    """What a Prepare asks for, after which it has given all temps back.

    Attributes:
        looks: What must be the same: which of its tensors, what of it, and what was seen.
        checks: What must pass again.
        requests: In order.
        scratch: Bytes of each scratch buffer.
    """

    looks: tuple[tuple[int, str, object], ...]
    checks: tuple[Check, ...]
    requests: Requests
    scratch: tuple[int, ...]


class KnownPrepares:
    """The Prepares that are known for a target (mutable: it learns)."""

    def __init__(self, target: Target) -> None:
        self._structs = TensorStructs(target)
        self._known: dict[object, tuple[Known, ...] | None] = {}  # None: it has to be run
        self._library = registrations(target)
        self._rows: set[int] = set()

    def step(self, node: Node, op_model: OpModel, arena: MeasuringArena) -> tuple[int, ...] | None:
        """Do to the arena what the Prepare of a node does, if that is known or can be learnt.

        Returns:
            The bytes of the scratch buffers that it asks for; None where it has to be run.
        """
        if not self._is_own(op_model):
            return None
        order, key = _key(node, op_model)
        if key is None:
            return None
        found = self._known.get(key, ())
        if found is None:
            return None
        known = next((one for one in found if _looks_the_same(one, node, order)), None)
        if known is None:
            known = _learn(node, op_model, order, self._structs)
            self._remember(key, found or None if known is None else (*found[1 - MOST_OF_A_KEY :], known))
            if known is None:
                return None
        step = fold(known.requests, *arena.stand)
        return known.scratch if step is not None and arena.take_step(step) else None

    def _remember(self, key: object, known: tuple[Known, ...] | None) -> None:
        if len(self._known) >= MOST_KEYS and key not in self._known:
            del self._known[next(iter(self._known))]
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
    if node.damage is not None or node.compressed_tensors or operator.custom_options is not None:
        return order, None
    if not isinstance(node.user_data, str | None):
        return order, None
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
    return order, tuple(facts)


def _looks_the_same(known: Known, node: Node, order: dict[int, int]) -> bool:
    if not known.looks and not known.checks:
        return True
    tensors = [node.tensors[index] for index in order]
    return all(LOOKS[what](tensors[tensor]) == saw for tensor, what, saw in known.looks) and all(
        passes(check, node, tensors) for check in known.checks
    )


def _learn(node: Node, op_model: OpModel, order: dict[int, int], structs: TensorStructs) -> Known | None:
    """Run a Prepare on what it is shown; None where it looks or goes too far, or refuses the node."""
    assert op_model.prepare is not None, "a row of the library that has one"
    seen = SeenNode(node, order)
    recorder = Recorder(seen.tensors, structs)
    try:
        recorder.run(op_model.prepare(seen))
    except (TooFar, SimulatedFailure):
        return None
    if seen.user_data is not node.user_data:
        return None
    looks = tuple([(index, what, saw) for (index, what), saw in seen.looks.items()])
    return Known(looks, tuple(seen.checks), tuple(recorder.requests), tuple(recorder.scratch))
