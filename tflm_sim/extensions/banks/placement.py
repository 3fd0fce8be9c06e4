"""Where head, tail and each buffer go: over all banks of head and tail, the assignment that loads and stores least.

    for each bank of the head, for each bank of the tail:
        what is left of every bank  -- planners/banks.py -->  a bank and an offset for each buffer
    of these, the one that moves fewest bytes in the slowest bank; of equals, in the next slower one, and so on

``stock_ways`` answers the same for firmware that writes no planner: the ``Create`` of one arena, and that of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tflm_sim.answers.arena_needs import ArenaNeeds, arena_needs
from tflm_sim.answers.planned_problem import problem_of
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.errors import UsageError
from tflm_sim.extensions.banks.bank import RamBank
from tflm_sim.extensions.banks.operation import Moved
from tflm_sim.extensions.banks.traffic import Traffic, traffic
from tflm_sim.graph.lifetimes import AllocationInfo, byte_length
from tflm_sim.planners.banks import BankPlan, NoBankPlan, assign
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT, Buffer
from tflm_sim.planners.deadline import Deadline
from tflm_sim.units import align_up


@dataclass(frozen=True, slots=True)
class BankUse:
    """What one bank holds, and what an Invoke() does there.

    Attributes:
        planned: Bytes from its first multiple of 16 to the plan's end.
        tail: Bytes of persistent memory at its end, 0 where it is elsewhere.
        needed: Bytes that the bank must have.
        moved: Loads and stores of an Invoke(), bytes.
        touched: The bytes of its buffers, once for each operator that reads or writes them.
    """

    planned: int
    tail: int
    needed: int
    moved: Moved
    touched: int


@dataclass(frozen=True, slots=True)
class Placement:
    """One way to use the banks.

    Attributes:
        head: The bank of the head, by its number.
        tail: The bank of persistent memory.
        uses: Of each bank.
        plan: The bank and offset of each buffer; None for TFLM's own planner, which puts all of them into the head.
    """

    head: int
    tail: int
    uses: tuple[BankUse, ...]
    plan: BankPlan | None

    def fits(self, banks: Sequence[RamBank]) -> bool:
        """Return whether every bank holds what is to be there."""
        return all(use.needed <= bank.usable for use, bank in zip(self.uses, banks, strict=True))

    @property
    def slowest_first(self) -> tuple[int, ...]:
        """Bytes moved in each bank, that of the slowest in front: the smaller of two is the better."""
        return tuple(use.moved.total for use in reversed(self.uses[1:]))


@dataclass(frozen=True, slots=True)
class BestPlacement:
    """The best placement, and what is known about better ones.

    Attributes:
        best: It; None where no placement fits, or none was found.
        slow_bound: No placement moves fewer bytes in the slow banks (in the slowest, where there are several);
            None where none fits.
        is_optimal: Whether the search was complete.
        is_decided: Whether it is certain that there is a placement, or that there is none.
    """

    best: Placement | None
    slow_bound: int | None
    is_optimal: bool
    is_decided: bool


class BankQuestion:
    """A model, its banks, and what follows from them alone.

    Args:
        roomy: The model in a roomy arena, as its firmware sets TFLM up; of one model.
        replace_plan: Place also what has an offset in the model's own plan; a planner of the firmware's own is told
            such offsets, and goes by its table.

    Attributes:
        own: The same with a planner of the firmware's own.
        infos: What the planner is asked to place.
        buffers: The same as a problem; variables are alive all the time, whatever TFLM says of them.
        traffic: What an Invoke() moves.
        needs: What TFLM needs beside the plan.

    Raises:
        UsageError: There is an offline plan in the model, several models, or a TFLM that cannot do this.
    """

    def __init__(self, roomy: Simulation, *, replace_plan: bool = False) -> None:
        configuration = roomy.unwrap().configuration
        if not configuration.target.runtime.has("two_arenas"):
            raise UsageError(
                f"TFLM of {configuration.target.runtime.snapshot} has one arena; it has two since 2022-07-01"
            )
        if configuration.target.abi.pointer_size != 4:
            raise UsageError(f"--bank is for processors of 32 bits, not for {configuration.target.name}")
        if configuration.interpreter != "plain":
            raise UsageError("RecordingMicroAllocator::Create takes one arena; use `interpreter=plain` with --bank")
        # What TFLM's own Create does is the other question, also where the firmware has a planner.
        has_own = configuration.own_planner
        self.roomy = simulate(roomy.models, configuration, own_planner=False) if has_own else roomy
        self.own = simulate(roomy.models, configuration, own_planner=True)
        self.needs: ArenaNeeds = arena_needs(self.own)
        self.infos: list[AllocationInfo] = [each.info for each in self.own.buffers]
        self.buffers: tuple[Buffer, ...] = self._lasting(problem_of(self.infos).buffers, replace_plan)
        self.traffic: Traffic = traffic(self.own)

    @property
    def tail_variables(self) -> int:
        """Bytes of variable tensors in the tail."""
        allocation = self.own.unwrap().allocations[0]
        return sum(byte_length(allocation.subgraph_tensors[sub][index]) for sub, index in allocation.variable_offsets)

    def is_variable(self, info: AllocationInfo) -> bool:
        """Return whether a buffer keeps its bytes from one Invoke() to the next."""
        return info.scratch < 0 and bool(self.own.model.subgraphs[info.subgraph].tensors[info.tensor].is_variable)

    def _lasting(self, buffers: Sequence[Buffer], replace_plan: bool) -> tuple[Buffer, ...]:
        """Return the buffers, variables alive at all times and without the offset that made TFLM ask for them."""
        first = min((each.lower for each in buffers), default=0)
        end = max((each.upper for each in buffers), default=1)
        return tuple(
            replace(each, lower=first, upper=end, offset=None)
            if self.is_variable(info)
            else replace(each, offset=None if replace_plan else each.offset)
            for each, info in zip(buffers, self.infos, strict=True)
        )

    def _uses(
        self,
        banks: Sequence[RamBank],
        head: int,
        tail: int,
        of_buffers: Sequence[int],
        needed: Sequence[tuple[int, int, int]],
    ) -> tuple[BankUse, ...]:
        """Return the use of each bank; ``needed`` is its (planned, tail, needed) bytes."""
        moved, touched = [Moved()] * len(banks), [0] * len(banks)
        for bank, each, once in zip(of_buffers, self.traffic.buffers, self.traffic.touched, strict=True):
            moved[bank] += each
            touched[bank] += once
        moved[tail] += self.traffic.tail
        return tuple(BankUse(*row) for row in zip(*zip(*needed, strict=True), moved, touched, strict=True))

    # -- TFLM's own Create ------------------------------------------------------------------------------------------

    def stock_ways(self, banks: Sequence[RamBank]) -> list[Placement]:
        """Return the placements that need no planner: all in one bank, or the head in one and the tail in another."""
        split = simulate(self.roomy.models, self.roomy.configuration, split_arenas=True).unwrap().split
        assert split is not None, "it has two arenas, and succeeded"
        smallest = self.roomy.smallest
        found = []
        for head in range(len(banks)):
            for tail in range(len(banks)):
                needed = [(0, 0, 0)] * len(banks)
                if head == tail and smallest is not None:
                    needed[head] = self.roomy.head_bytes, self.roomy.tail_bytes, smallest.multiple_of_16
                elif head != tail:
                    non_persistent = align_up(split.non_persistent, BUFFER_ALIGNMENT)
                    needed[head] = self.roomy.head_bytes, 0, non_persistent
                    needed[tail] = 0, split.persistent, split.persistent
                uses = self._uses(banks, head, tail, [head] * len(self.buffers), needed)
                found.append(Placement(head, tail, uses, None))
        return found

    # -- a planner of one's own -------------------------------------------------------------------------------------

    def place(self, banks: Sequence[RamBank], *, time_limit: float | None = None) -> BestPlacement:
        """Return the best placement.

        Args:
            banks: The fastest first.
            time_limit: Seconds after which the best so far is returned; None for no limit.

        Raises:
            UsageError: The model has an offline plan.
            TflmSimError: The C core was not built.
        """
        if any(buffer.offset is not None for buffer in self.buffers):
            raise UsageError("the model has an offline plan; remove it, or let --replace-plan do that")
        deadline = Deadline(time_limit)
        all_moved = sum(each.total for each in self.traffic.buffers) + self.traffic.tail.total
        # A byte in a slower bank outweighs all bytes that are moved in faster ones.
        weights = [0, *((all_moved + 1) ** power for power in range(len(banks) - 1))]
        best: Placement | None = None
        best_cost, bounds, is_decided = 0, [], True
        ways = sorted(self.ways(banks), key=lambda way: (weights[way[1]], weights[way[0]]))
        for number, (head, tail, rooms) in enumerate(ways):
            of_tail = weights[tail] * self.traffic.tail.total
            if best is not None and of_tail >= best_cost:
                continue
            costs = [[weight * each.total for weight in weights] for each in self.traffic.buffers]
            seconds = deadline.share(len(ways) - number).seconds_left if time_limit is not None else None
            found = assign(self.buffers, costs, rooms, time_limit=seconds)
            if isinstance(found, NoBankPlan):
                is_decided = is_decided and found.proved
                bounds += [] if found.proved else [of_tail]
                continue
            bounds.append(of_tail + found.lower_bound)
            if best is None or of_tail + found.cost < best_cost:
                best, best_cost = self._placed(banks, head, tail, found), of_tail + found.cost
        if best is None:
            return BestPlacement(None, None, is_decided, is_decided)
        bound = min([best_cost, *bounds])
        return BestPlacement(best, bound // weights[-1], bound == best_cost, True)

    def ways(self, banks: Sequence[RamBank]) -> Iterator[tuple[int, int, tuple[int, ...]]]:
        """Yield the banks of head and tail that hold what TFLM needs beside the plan, and what is left of each bank."""
        for head, of_head in enumerate(banks):
            for tail, of_tail in enumerate(banks):
                together = head == tail
                before = self.needs.together_before if together else self.needs.head_before
                persistent = self.needs.tail if together else self.needs.tail_apart
                if before <= of_head.usable and persistent <= of_tail.usable:
                    rooms = [bank.usable for bank in banks]
                    rooms[tail] -= persistent
                    yield head, tail, tuple(rooms)

    def _placed(self, banks: Sequence[RamBank], head: int, tail: int, plan: BankPlan) -> Placement:
        needed = []
        for number in range(len(banks)):
            end = align_up(plan.peaks[number], BUFFER_ALIGNMENT)
            needed.append((end, *self.needs.of_bank(end, number, head=head, tail=tail)))
        return Placement(head, tail, self._uses(banks, head, tail, plan.banks, needed), plan)
