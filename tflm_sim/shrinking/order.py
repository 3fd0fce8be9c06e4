"""The order of operators with the smallest peak of live bytes.

Operators are placed one by one; what is alive depends only on the set that has run, so that each set is kept once, with
the best peak that leads to it. While a level has at most ``BEAM`` sets, all are kept: the answer is then
exact. Beyond, the best of each level go on, and the answer is an upper bound.

What touches state (variables, resource variables, kernels with a state of their own) keeps its order.
"""

from __future__ import annotations

import heapq

from tflm_sim.model.draft import Draft
from tflm_sim.shrinking.graph import STATEFUL
from tflm_sim.shrinking.passes import Chooser, Witness
from tflm_sim.shrinking.profile import Profile
from tflm_sim.values import dataclass

BEAM = 1000
_NEVER_MOVED = frozenset({"CUSTOM", "IF", "WHILE"})


@dataclass(frozen=True, slots=True)
class _Graph:
    """Operators as bits: who must run before, what each makes alive, and who reads each tensor."""

    before: list[int]
    outputs: list[tuple[int, ...]]
    touched: list[tuple[int, ...]]
    readers: dict[int, int]


def reorder(draft: Draft, facts: Profile, choose: Chooser) -> list[Witness]:
    """Put the operators into the order with the smallest peak of live bytes, if there is a better one."""
    count = len(draft.operators)
    if count < 3 or any(draft.name(operator) in _NEVER_MOVED for operator in draft.operators):
        return []
    graph = _graph(draft, facts)
    if all(each.bit_count() <= 1 for each in graph.before) and all(r.bit_count() <= 1 for r in graph.readers.values()):
        return []
    order, peak, is_exact = _best_order(draft, facts, graph)
    if order is None or peak >= facts.peak or order == list(range(count)) or not choose():
        return []
    draft.operators = [draft.operators[index] for index in order]
    how = "no order has less" if is_exact else f"the best that {BEAM} sets a level show"
    what = f"has at most {peak:,} B alive in another order, {facts.peak:,} B before; {how}"
    return [Witness("the main subgraph", what, {"order": order})]


def _graph(draft: Draft, facts: Profile) -> _Graph:
    """Return who waits for whom."""
    producers = draft.producers()
    before: list[int] = []
    readers: dict[int, int] = {}
    last_stateful: int | None = None
    for index, operator in enumerate(draft.operators):
        named = [tensor for tensor in (*(operator.inputs or ()), *(operator.outputs or ())) if tensor >= 0]
        waits = 0
        for tensor in operator.inputs or ():
            if tensor in producers and not draft.tensors[tensor].is_variable:
                waits |= 1 << producers[tensor]
            if tensor in facts.bytes:
                readers[tensor] = readers.get(tensor, 0) | 1 << index
        if draft.name(operator) in STATEFUL or any(draft.tensors[tensor].is_variable for tensor in named):
            if last_stateful is not None:
                waits |= 1 << last_stateful
            last_stateful = index
        before.append(waits)
    outputs = [tuple(t for t in operator.outputs or () if t in facts.bytes) for operator in draft.operators]
    inputs = [tuple(t for t in operator.inputs or () if t in facts.bytes) for operator in draft.operators]
    touched = [tuple(set(a) | set(b)) for a, b in zip(inputs, outputs, strict=True)]
    return _Graph(before, outputs, touched, readers)


def _best_order(draft: Draft, facts: Profile, graph: _Graph) -> tuple[list[int] | None, int, bool]:
    """Return the best order found, its peak, and whether all orders were looked at."""
    count = len(draft.operators)
    kept = set(draft.outputs)
    start = sum(facts.bytes[tensor] for tensor in draft.inputs if tensor in facts.bytes)
    is_exact = True
    # Set of operators that ran -> (peak, bytes alive, the way there: (way before, operator)).
    level: dict[int, tuple[int, int, object]] = {0: (start, start, None)}
    for _ in range(count):
        following: dict[int, tuple[int, int, object]] = {}
        for done, (peak, alive, way) in level.items():
            for index in range(count):
                if done >> index & 1 or graph.before[index] & ~done:
                    continue
                then = done | 1 << index
                grown = alive + sum(facts.bytes[tensor] for tensor in graph.outputs[index])
                highest = max(peak, grown + facts.scratch[index])
                if highest > facts.peak or (then in following and following[then][0] <= highest):
                    continue
                freed = sum(
                    facts.bytes[tensor]
                    for tensor in graph.touched[index]
                    if tensor not in kept and not graph.readers.get(tensor, 0) & ~then
                )
                following[then] = highest, grown - freed, (way, index)
        if len(following) > BEAM:
            is_exact = False
            following = dict(heapq.nsmallest(BEAM, following.items(), key=lambda item: item[1][:2]))
        level = following
    if not level:
        return None, facts.peak, is_exact
    ((peak, _, way),) = level.values()
    order: list[int] = []
    while isinstance(way, tuple):
        way, index = way
        order.append(index)
    return order[::-1], peak, is_exact
