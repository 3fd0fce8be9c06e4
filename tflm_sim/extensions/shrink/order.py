"""The order of operators with the smallest peak of live bytes.

Operators are placed one by one; what is alive depends only on the set that has run, so that each set is kept once, with
the best peak that leads to it. While a level has at most ``BEAM`` sets, all are kept: the answer is then
exact. Beyond, the best of each level go on, and the answer is an upper bound.

An operator that fits below the peak so far and leaves no more alive than before is run at once, and the
others are not tried there: put in front of them in any order, it makes no later set larger.

What touches the same state keeps its order: the operators that read or write a variable tensor among themselves, and
those with a state of their own (resource variables, sequences, random numbers) among themselves.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from tflm_sim.extensions.shrink.passes import Chooser
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.extensions.shrink.stopping import UNSTOPPED, Stopping
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL

BEAM = 1000
_NEVER_MOVED = frozenset({"CUSTOM", "IF", "WHILE"})


@dataclass(frozen=True, slots=True)
class _Graph:
    """Operators as bits: who must run before and behind each, what each makes alive, and who reads each tensor."""

    before: list[int]
    behind: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]]
    touched: list[tuple[int, ...]]
    readers: dict[int, int]


@dataclass(frozen=True, slots=True)
class _PartialOrder:
    """An order of a set of operators: its peak, the bytes alive at its end, which operators can be next."""

    peak: int
    alive: int
    ready: int
    order: tuple[_PartialOrder, int] | None


def reorder(draft: Draft, facts: Profile, choose: Chooser, stopping: Stopping = UNSTOPPED) -> list[Edit]:
    """Put the operators into the order with the smallest peak of live bytes, if there is a better one."""
    count = len(draft.operators)
    if count < 3 or not _NEVER_MOVED.isdisjoint(map(draft.name, draft.operators)):
        return []
    graph = _graph(draft, facts)
    if all(each.bit_count() <= 1 for each in (*graph.before, *graph.readers.values())):
        return []
    order, peak, is_exact = _best_order(draft, facts, graph, stopping)
    if order is None or order == list(range(count)) or not choose():
        return []
    draft.operators = [draft.operators[index] for index in order]
    how = "no order has less" if is_exact else f"the best that {BEAM} sets a level show"
    what = f"has at most {peak:,} B alive in another order, {facts.peak:,} B before; {how}"
    return [Edit("the main subgraph", what, {"order": order})]


def _graph(draft: Draft, facts: Profile) -> _Graph:
    planned = facts.bytes.keys()
    before = _waits(draft)
    outputs = [tuple(t for t in operator.output_tensors if t in planned) for operator in draft.operators]
    touched = [tuple(planned & {*operator.named_tensors}) for operator in draft.operators]
    behind = [tuple(late for late, waits in enumerate(before) if waits >> early & 1) for early in range(len(before))]
    consumers = draft.consumers()
    readers = {tensor: sum(1 << index for index in consumers[tensor]) for tensor in planned & consumers.keys()}
    return _Graph(before, behind, outputs, touched, readers)


def _waits(draft: Draft) -> list[int]:
    """Return the operators that must run before each: those that make what it reads, and the last with its state."""
    variables = {index for index, tensor in enumerate(draft.tensors) if tensor.is_variable}
    computed = {tensor: index for tensor, index in draft.producers().items() if tensor not in variables}
    before: list[int] = []
    last: dict[int | str, int] = {}
    for index, operator in enumerate(draft.operators):
        states: set[int | str] = {*variables.intersection(operator.named_tensors)}
        if draft.name(operator) in STATEFUL:
            states.add("of its own")
        waits = {computed[tensor] for tensor in computed.keys() & operator.input_tensors}
        waits.update(last[state] for state in states & last.keys())
        before.append(sum(1 << each for each in waits))
        last.update(dict.fromkeys(states, index))
    return before


def _best_order(draft: Draft, facts: Profile, graph: _Graph, stopping: Stopping) -> tuple[list[int] | None, int, bool]:
    """Return the best order below the present peak, None where there is none; its peak; whether all were looked at."""
    start = sum(facts.bytes[tensor] for tensor in draft.inputs if tensor in facts.bytes)
    first = sum(1 << index for index, waits in enumerate(graph.before) if not waits)
    limit, kept, is_exact = facts.peak, frozenset(draft.outputs), True
    level = {0: _PartialOrder(start, start, first, None)}
    for _ in stopping.watch(draft.operators):
        level = _next_level(facts, graph, kept, level, limit)
        if len(level) > BEAM:
            is_exact = False
            level = dict(heapq.nsmallest(BEAM, level.items(), key=lambda item: (item[1].peak, item[1].alive)))
    for way in level.values():
        return _order(way), way.peak, is_exact
    return None, limit, is_exact


def _next_level(
    facts: Profile, graph: _Graph, kept: frozenset[int], level: dict[int, _PartialOrder], limit: int
) -> dict[int, _PartialOrder]:
    """Return the sets that one operator more makes of those of a level, each with its best way below ``limit``."""
    following: dict[int, _PartialOrder] = {}
    for done, way in level.items():
        for then, longer in _moves(facts, graph, kept, done, way):
            if longer.peak < limit and (then not in following or longer.peak < following[then].peak):
                following[then] = longer
    return following


def _moves(
    facts: Profile, graph: _Graph, kept: frozenset[int], done: int, way: _PartialOrder
) -> Iterator[tuple[int, _PartialOrder]]:
    """Yield each set that one operator more makes, or just one that costs nothing."""
    found = []
    ready = way.ready
    while ready:
        index = (ready & -ready).bit_length() - 1
        ready &= ready - 1
        then = done | 1 << index
        alive = way.alive + sum(facts.bytes[tensor] for tensor in graph.outputs[index])
        peak = max(way.peak, alive + facts.scratch[index])
        for tensor in graph.touched[index]:
            if tensor not in kept and not graph.readers.get(tensor, 0) & ~then:
                alive -= facts.bytes[tensor]
        following = way.ready & ~(1 << index)
        for late in graph.behind[index]:
            if not graph.before[late] & ~then:
                following |= 1 << late
        move = then, _PartialOrder(peak, alive, following, (way, index))
        if peak == way.peak and alive <= way.alive:
            yield move
            return
        found.append(move)
    yield from found


def _order(way: _PartialOrder) -> list[int]:
    """Return the operators of a way, the first first."""
    order: list[int] = []
    while way.order is not None:
        way, index = way.order
        order.append(index)
    return order[::-1]
