"""``assign``: which bank of RAM each buffer lies in, and where, so that the cost is smallest.

A buffer lies whole in one bank, and costs there what the caller says. At every moment the buffers that are alive in a
bank must fit into it; that is a temporal knapsack. Then each bank is packed by the exact planner, which may find that
buffers that fit by their sum do not fit side by side.

    lower bound             optimum     best assignment
    ----|----------------------|--------------|----> cost
        '-- prices of a byte and a moment in each bank (Lagrange), improved by subgradient steps

    search    moment by moment: a state is how many bytes of each bank become free when; of equal states the cheapest is
              kept, and none that has paid more above the bound than the best assignment does
    cut       a set of buffers that does not pack in a bank: one branch for each of them that lies elsewhere

The search is complete unless a limit ends it; then ``lower_bound`` says how far the answer can be from the best.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from math import gcd
from typing import TypeAlias

from tflm_sim.errors import UsageError
from tflm_sim.planners import exact
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.deadline import Deadline

_STEPS, _PATIENCE = 240, 12
"""Subgradient steps at most, and how many in vain before they get shorter."""
_FINE = 1 << 20
"""Prices are whole multiples of one part in so many of a cost, so that the bound is exact."""
_NARROW, _WIDE = 64, 6000
"""States that are kept at a moment: for a first assignment, and for the search. More are cut off, and said to be."""
_PACKING_NODES = 200_000
"""Decisions of the exact planner for one bank; a set that it cannot decide counts as one that does not pack."""


@dataclass(frozen=True, slots=True)
class BankPlan:
    """Where each buffer lies, and what that costs.

    Attributes:
        banks: The bank of each buffer, by its number.
        offsets: Bytes from that bank's start.
        peaks: Bytes of each bank that are used, from its start.
        cost: What the assignment costs.
        lower_bound: No assignment costs less.
    """

    banks: tuple[int, ...]
    offsets: tuple[int, ...]
    peaks: tuple[int, ...]
    cost: int
    lower_bound: int

    @property
    def is_optimal(self) -> bool:
        return self.cost == self.lower_bound


@dataclass(frozen=True, slots=True)
class NoBankPlan:
    """There is no assignment, or none was found.

    Attributes:
        proved: Whether it is certain that there is none.
    """

    proved: bool


Costs: TypeAlias = "Sequence[Sequence[int]]"
"""What each buffer costs in each bank; 0 or more."""


def assign(
    buffers: Sequence[Buffer], costs: Costs, capacities: Sequence[int], *, time_limit: float | None = None
) -> BankPlan | NoBankPlan:
    """Return the cheapest assignment of buffers to banks that all pack.

    Args:
        buffers: What to place; alignments count from the start of each bank.
        costs: By buffer and bank.
        capacities: Bytes of each bank.
        time_limit: Seconds after which the best so far is returned; None for no limit.

    Raises:
        UsageError: A buffer has a fixed offset, or there are not as many costs as banks.
        TflmSimError: The C core was not built.
    """
    if any(buffer.offset is not None for buffer in buffers):
        raise UsageError("buffers with fixed offsets cannot be assigned to banks")
    if any(len(row) != len(capacities) for row in costs) or len(costs) != len(buffers):
        raise UsageError("assign() needs a cost for each buffer in each bank")
    return _Search(buffers, costs, capacities, Deadline(time_limit)).best()


_State: TypeAlias = "tuple[int, tuple[int, ...], object]"
"""What a state has paid above the bound, the bytes alive in each bank, and its choices: (bank, earlier choices)."""
_Allowed: TypeAlias = "tuple[tuple[int, ...], ...]"
"""The banks in which each buffer may lie."""
_Conflict: TypeAlias = "tuple[int, list[int], bool]"
"""A bank, buffers that do not pack in it, and whether that is certain."""


class _Search:
    """Branch and bound over assignments (mutable: prices, and the bound that they give).

    With prices, an assignment costs the bound, and its buffers' regrets (how much more a buffer's cost with the price
    of its bytes is than in its best bank), and the price of all bytes that it leaves free.
    """

    def __init__(self, buffers: Sequence[Buffer], costs: Costs, capacities: Sequence[int], deadline: Deadline) -> None:
        self._buffers = buffers
        self._costs = [[cost * _FINE for cost in row] for row in costs]
        self._capacities = tuple(capacities)
        self._deadline = deadline
        self._unit = gcd(*(buffer.size for buffer in buffers)) or 1
        self._bits = (sum(buffer.size for buffer in buffers) // self._unit).bit_length()
        self._births: dict[int, list[int]] = {}
        for index in sorted(range(len(buffers)), key=lambda index: (buffers[index].lower, -buffers[index].size)):
            self._births.setdefault(buffers[index].lower, []).append(index)
        # Only the last birth before a death is a knapsack of its own: those alive at earlier ones are alive then too.
        births, deaths = list(self._births), {buffer.upper for buffer in buffers}
        self._moments = {
            birth: number
            for number, birth in enumerate(
                birth
                for birth, later in zip(births, [*births[1:], None], strict=True)
                if later is None or any(birth < death <= later for death in deaths)
            )
        }
        self._spans = [
            (
                sum(moment < buffer.lower for moment in self._moments),
                sum(moment < buffer.upper for moment in self._moments),
            )
            for buffer in buffers
        ]
        self._take_prices([[0] * len(self._moments) for _ in capacities])

    # -- the bound --------------------------------------------------------------------------------------------------

    def _take_prices(self, prices: list[list[int]]) -> None:
        self._prices = prices
        self._bound, self._regrets, _ = self._priced(prices)

    def _priced(self, prices: list[list[int]]) -> tuple[int, list[list[int]], list[list[int]]]:
        """Return the bound that prices give, the regrets, and how much more than its capacity each bank is asked for.

        Args:
            prices: Of a byte, by bank and moment.
        """
        total = 0
        sums, demand = [], []
        for capacity, row in zip(self._capacities, prices, strict=True):
            so_far = [0, *accumulate(row)]
            sums.append(so_far)
            total -= capacity * so_far[-1]
            demand.append([0] * (len(row) + 1))
        regrets = []
        for buffer, costs, (first, end) in zip(self._buffers, self._costs, self._spans, strict=True):
            priced = [
                cost + buffer.size * (so_far[end] - so_far[first]) for cost, so_far in zip(costs, sums, strict=True)
            ]
            least = min(priced)
            total += least
            regrets.append([cost - least for cost in priced])
            chosen = demand[priced.index(least)]
            chosen[first] += buffer.size
            chosen[end] -= buffer.size
        over = [
            [asked - capacity for asked in accumulate(row[:-1])]
            for capacity, row in zip(self._capacities, demand, strict=True)
        ]
        return total, regrets, over

    def _improve_prices(self, best: int | None) -> None:
        """Find prices that give a high bound, by subgradient steps towards the cost of the best assignment."""
        prices = self._prices
        goal = best if best is not None else sum(max(row) for row in self._costs)
        pace, waited = 1.0, 0
        for _ in range(_STEPS):
            bound, _, over = self._priced(prices)
            if bound > self._bound:
                self._take_prices(prices)
                waited = 0
            else:
                waited += 1
                if waited == _PATIENCE:
                    pace, waited = pace / 2, 0
            length = sum(
                float(each) ** 2
                for row, asked in zip(prices, over, strict=True)
                for price, each in zip(row, asked, strict=True)
                if each > 0 or price > 0
            )
            if not length or goal - self._bound < _FINE or self._deadline.is_over:
                return
            step = pace * (goal - bound) / length
            prices = [
                [max(0, price + int(step * each)) for price, each in zip(row, asked, strict=True)]
                for row, asked in zip(prices, over, strict=True)
            ]

    # -- the search over time ---------------------------------------------------------------------------------------

    def _cheapest(self, allowed: _Allowed, width: int, most: int | None) -> tuple[list[int] | None, int, int | None]:
        """Return the cheapest assignment whose sizes fit at every moment.

        Args:
            allowed: Where each buffer may lie.
            width: The most states of a moment.
            most: What it may pay above the bound; None for anything.

        Returns:
            The bank of each buffer, None where there is none; what it pays above the bound; and the least that the
            states had paid that were given up for want of room, None where none was.
        """
        buffers, capacities = self._buffers, self._capacities
        allowed = self._settled(allowed)
        states: dict[int, _State] = {0: (0, (0,) * len(capacities), None)}
        alive: list[tuple[int, int]] = []  # Death of some buffers, and the place of their bytes in a state's number.
        places: dict[int, int] = {}
        free: list[int] = list(range(len(buffers) * self._bits * len(capacities), -1, -self._bits * len(capacities)))
        given_up: int | None = None
        for birth, born in self._births.items():
            while alive and alive[0][0] <= birth:
                death, place = heapq.heappop(alive)
                del places[death]
                free.append(place)
                states = self._without(states, place)
            for index in born:
                death = buffers[index].upper
                if death not in places:
                    places[death] = free.pop()
                    heapq.heappush(alive, (death, places[death]))
                states = self._with(states, index, places[death], allowed[index], most)
                if len(states) > width:
                    rows = sorted(states.items(), key=lambda row: row[1][0])
                    given_up = min(rows[width][1][0], given_up if given_up is not None else rows[width][1][0])
                    states = dict(rows[:width])
            if birth in self._moments:
                prices = [row[self._moments[birth]] for row in self._prices]
                settled = {}
                for key, (paid, used, choices) in states.items():
                    for price, capacity, taken in zip(prices, capacities, used, strict=True):
                        paid += price * (capacity - taken)
                    if most is None or paid <= most:
                        settled[key] = paid, used, choices
                states = settled
            if not states:
                return None, 0, given_up
        paid, _, choices = min(states.values(), key=lambda state: state[0])
        banks = [0] * len(buffers)
        for index in reversed([index for born in self._births.values() for index in born]):
            assert isinstance(choices, tuple), "there is a choice for each buffer"
            banks[index], choices = choices
        return banks, paid, given_up

    def _settled(self, allowed: _Allowed) -> _Allowed:
        """Return where buffers may lie if those for which their cheapest bank always has room stay in it.

        By sizes alone nothing is lost: whatever an assignment puts there besides, they can be brought there, too.
        """
        banks, has_settled = list(allowed), True
        while has_settled:
            has_settled = False
            limits = [self._always_fitting(bank, banks) for bank in range(len(self._capacities))]
            for index, each in enumerate(banks):
                if len(each) < 2:
                    continue
                best = min(each, key=self._costs[index].__getitem__)
                first, end = self._spans[index]
                if self._buffers[index].size <= min(limits[best][first:end]):
                    banks[index], has_settled = (best,), True
        return tuple(banks)

    def _always_fitting(self, bank: int, banks: Sequence[tuple[int, ...]]) -> list[int]:
        """Return up to which size buffers have room in a bank at each moment, whatever lies there besides.

        The larger ones leave them room if no sum of some of these comes closer to the capacity than all smaller ones
        together are large.
        """
        crowds: list[list[int]] = [[] for _ in self._moments]
        for buffer, each, (first, end) in zip(self._buffers, banks, self._spans, strict=True):
            if bank in each:
                for crowd in crowds[first:end]:
                    crowd.append(buffer.size // self._unit)
        limits, room = [], self._capacities[bank] // self._unit
        for crowd in crowds:
            crowd.sort(reverse=True)
            sums, rest, limit = 1, sum(crowd), 0  # Bit n of ``sums``: some of the larger ones take n units.
            for position, size in enumerate(crowd):
                is_new = not position or size < crowd[position - 1]
                if is_new and rest <= room and not sums >> (room - rest + 1):
                    limit = size
                    break
                sums = (sums | sums << size) & ((2 << room) - 1)
                rest -= size
            limits.append(limit * self._unit)
        return limits

    def _with(
        self, states: dict[int, _State], index: int, place: int, allowed: Sequence[int], most: int | None
    ) -> dict[int, _State]:
        """Return the states after a buffer was born, in each bank that has room; of equal ones the cheapest."""
        size, regrets, capacities = self._buffers[index].size, self._regrets[index], self._capacities
        added = [size // self._unit << place + bank * self._bits for bank in range(len(capacities))]
        found: dict[int, _State] = {}
        for key, (paid, used, choices) in states.items():
            for bank in allowed:
                now = paid + regrets[bank]
                if (most is None or now <= most) and used[bank] + size <= capacities[bank]:
                    known = found.get(key + added[bank])
                    if known is None or now < known[0]:
                        taken = (*used[:bank], used[bank] + size, *used[bank + 1 :])
                        found[key + added[bank]] = now, taken, (bank, choices)
        return found

    def _without(self, states: dict[int, _State], place: int) -> dict[int, _State]:
        """Return the states after buffers died: what they took does not tell them apart any more."""
        found: dict[int, _State] = {}
        one, banks = (1 << self._bits) - 1, range(len(self._capacities))
        every = (1 << self._bits * len(banks)) - 1 << place
        for key, (paid, used, choices) in states.items():
            known = found.get(key & ~every)
            if known is None or paid < known[0]:
                freed = ((key >> place + bank * self._bits & one) * self._unit for bank in banks)
                left = tuple(taken - each for taken, each in zip(used, freed, strict=True))
                found[key & ~every] = paid, left, choices
        return found

    # -- packing, and cuts ------------------------------------------------------------------------------------------

    def best(self) -> BankPlan | NoBankPlan:
        """Return the cheapest assignment that packs."""
        every = tuple(
            tuple(bank for bank, capacity in enumerate(self._capacities) if buffer.size <= capacity)
            for buffer in self._buffers
        )
        if not all(every):
            return NoBankPlan(proved=True)
        first, paid, _ = self._cheapest(every, _NARROW, None)
        self._improve_prices(None if first is None else self._bound + paid)
        return self._branch(every)

    def _branch(self, every: _Allowed) -> BankPlan | NoBankPlan:
        """Search node by node, the cheapest first; a node says where each buffer may lie."""
        tickets = count()
        nodes: list[tuple[int, int, _Allowed]] = [(self._bound, next(tickets), every)]
        best: tuple[int, list[int]] | None = None
        unknown: list[int] = []  # Bounds of what was not searched to its end.
        while nodes and not (best and nodes[0][0] > best[0] - _FINE) and not (self._deadline.is_over and best):
            bound, _, allowed = heapq.heappop(nodes)
            most = None if best is None else best[0] - self._bound - _FINE
            banks, paid, given_up = self._cheapest(allowed, _NARROW, most)
            if given_up is not None and (banks is None or paid > given_up):
                banks, paid, given_up = self._cheapest(allowed, _WIDE, most)
            if given_up is not None and (banks is None or paid > given_up):
                unknown.append(max(bound, self._bound + given_up))
            if banks is None:
                continue
            bound = max(bound, self._bound + paid if given_up is None else bound)
            conflict = self._conflict(banks)
            if conflict is None:
                best = self._bound + paid, banks
                continue
            bank, together, is_certain = conflict
            if not is_certain:
                unknown.append(bound)
            if self._deadline.is_over:
                unknown.append(bound)
                break
            rest = list(allowed)
            for index in together:
                elsewhere = tuple(each for each in rest[index] if each != bank)
                if elsewhere:
                    heapq.heappush(nodes, (bound, next(tickets), (*rest[:index], elsewhere, *rest[index + 1 :])))
                rest[index] = (bank,)
        unknown += [bound for bound, _, _ in nodes]
        if best is None:
            return NoBankPlan(proved=not unknown)
        return self._plan(best[1], best[0] // _FINE, -(-min([best[0], *unknown]) // _FINE))

    def _conflict(self, banks: Sequence[int]) -> _Conflict | None:
        """Return buffers that do not pack in the bank that they were assigned, as few as possible; None if all do."""
        for bank, capacity in enumerate(self._capacities):
            together = [index for index, each in enumerate(banks) if each == bank]
            answer = self._packs(together, capacity)
            if answer is True:
                continue
            if answer is None:
                return bank, together, False
            # Leave out as many as possible: half of them, a quarter, ..., one.
            step = len(together) // 2
            while step:
                for start in range(0, len(together), step):
                    fewer = together[:start] + together[start + step :]
                    if self._packs(fewer, capacity) is False:
                        together = fewer
                        break
                else:
                    step //= 2
            return bank, together, True
        return None

    def _packs(self, indices: Sequence[int], capacity: int) -> bool | None:
        """Tell whether buffers pack into a bank; None where the exact planner does not decide it soon."""
        if not indices:
            return True
        found = exact.solve([self._buffers[i] for i in indices], capacity=capacity, node_limit=_PACKING_NODES)
        return True if found.peak is not None and found.peak <= capacity else False if found.infeasible else None

    def _plan(self, banks: Sequence[int], cost: int, lower_bound: int) -> BankPlan:
        """Return the plan with each bank packed as tightly as the exact planner does soon."""
        offsets, peaks = [0] * len(banks), []
        for bank, capacity in enumerate(self._capacities):
            indices = [index for index, each in enumerate(banks) if each == bank]
            buffers = [self._buffers[index] for index in indices]
            found = exact.solve(buffers, node_limit=_PACKING_NODES)
            if found.peak is None or found.peak > capacity:
                found = exact.solve(buffers, capacity=capacity, node_limit=_PACKING_NODES)
            assert found.offsets is not None, "it was packed before"
            assert found.peak is not None, "a plan has a peak"
            peaks.append(found.peak)
            for index, offset in zip(indices, found.offsets, strict=True):
                offsets[index] = offset
        return BankPlan(tuple(banks), tuple(offsets), tuple(peaks), cost, lower_bound)
