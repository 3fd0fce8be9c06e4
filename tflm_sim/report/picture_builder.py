"""``PictureBuilder``: an observer that turns AllocateTensors()'s events into moments, blocks, steps and limits."""

from __future__ import annotations

from tflm_sim.answers.ledger import GROUPS
from tflm_sim.answers.place import PlaceTracker
from tflm_sim.arena.dispatcher import Dispatcher
from tflm_sim.arena.events import (
    Corruption,
    LogLine,
    OpEvent,
    Persist,
    Phase,
    PlanAdd,
    PlanDone,
    PlanOffset,
    Resize,
    ScratchRequest,
    Temp,
    TempFree,
    TempReset,
)
from tflm_sim.device.constants import MICRO_ARENA_BUFFER_ALIGNMENT
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.report.picture import Block, Limit, Moment, Step
from tflm_sim.units import align_up


class PictureBuilder(Dispatcher):
    """Builds the AllocateTensors() part of a picture (mutable); an observer of a run of one model.

    Args:
        planner: "greedy" or "linear": the first needs 40 bytes of temp for each buffer.
        split_at: Where to draw the persistent one of two arenas; 0 for one arena.

    Attributes:
        moments, steps: In order.
        limits: By stage.
        scratch_labels: What each scratch buffer is for.
    """

    def __init__(self, planner: str, *, split_at: int = 0) -> None:
        self._per_buffer_size = PER_BUFFER_SIZE if planner == "greedy" else 0
        self._split_at = split_at
        self._place = PlaceTracker()
        self._blocks: list[Block] = []
        self._temps: dict[int, int] = {}
        self._head_block = -1
        self._head = 0
        self._tail_used = 0
        self._planned = 0
        self._stage = "prepare"
        self.moments: list[Moment] = []
        self.steps: list[Step] = []
        self.limits: dict[str, Limit] = {}
        self.scratch_labels: list[str] = []
        super().__init__(
            {
                Phase: self._phase,
                OpEvent: self._operator,
                Persist: self._persist,
                Temp: self._temp,
                TempFree: self._temp_free,
                TempReset: self._temp_reset,
                Resize: self._resize,
                ScratchRequest: self._request,
                PlanAdd: self._plan_add,
                PlanOffset: self._plan_offset,
                PlanDone: self._plan_done,
                LogLine: lambda event: self._step("log", 0, event.text),
                Corruption: lambda event: self._step("corruption", 0, event.text),
            }
        )

    def fail(self, message: str) -> None:
        """Add the step at which AllocateTensors() gives up."""
        self._step("fail", 0, message)

    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks; those that nobody gave back end with the last step."""
        last = len(self.steps)
        return tuple(row if row.end >= 0 else row._replace(end=last) for row in self._blocks)

    def _step(self, kind: str, value: int, text: str = "") -> None:
        self.steps.append(Step(kind, value, text))

    def _enter(self, name: str, subgraph: int, operator: int) -> None:
        self.moments.append(Moment(name, subgraph, operator, len(self.steps)))
        self._step("enter", len(self.moments) - 1)

    def _phase(self, event: Phase) -> None:
        self._place(event)
        if event.name == "plan":
            self._stage = "planning"
        self._enter(event.name, -1, -1)

    def _operator(self, event: OpEvent) -> None:
        self._place(event)
        if event.step != "op_prepared":
            self._enter(event.step, event.subgraph, event.op)

    def _take(self, category: str, offset: int, size: int, label: str, *, padding: int = 0) -> int:
        block = Block(category, offset, size, padding, len(self.steps), -1, label, len(self.moments) - 1)
        self._blocks.append(block)
        return len(self._blocks) - 1

    def _release(self, block: int) -> None:
        self._blocks[block] = self._blocks[block]._replace(end=len(self.steps))

    def _persist(self, event: Persist) -> None:
        self._tail_used = event.tail_used
        padding, offset = event.used - event.size, self._split_at + event.offset
        block = self._take(GROUPS[self._place.phase], offset, event.size, event.label, padding=padding)
        self._need(max(self._head, self._live_temp_end()))
        self._step("persist", block)

    def _temp(self, event: Temp) -> None:
        if self._place.phase == "planner_arena":
            label = f"the planner gets all that is free, {event.size:,} bytes; drawn is what it needs"
            block = self._take("planner", event.offset, 0, label)
        else:
            category = "planning" if self._place.phase == "plan" else "temp"
            block = self._take(category, event.offset, event.size, "")
            self._need(event.temp_end)
        self._temps[event.offset] = block
        self._step("temp", block)

    def _live_temp_end(self) -> int:
        return max((self._blocks[block].offset + self._blocks[block].size for block in self._temps.values()), default=0)

    def _temp_free(self, event: TempFree) -> None:
        block = self._temps.pop(event.offset, None)
        if block is not None:
            self._release(block)
            self._step("free", block)

    def _temp_reset(self, event: TempReset) -> None:
        self._step("reset", event.head if event.ok else event.temp_end, "" if event.ok else "refused")

    def _resize(self, event: Resize) -> None:
        if event.ok and event.head != self._head:
            if self._head_block >= 0:
                self._release(self._head_block)
                self._head_block = -1
            if event.head:
                category = "plan" if self._stage == "running" else "requests"
                self._head_block = self._take(category, 0, event.head, "")
        self._head = event.head
        self._need(event.head if event.ok else max(event.head, event.size))
        self._step("resize", event.head, "" if event.ok else "refused")

    def _request(self, event: ScratchRequest) -> None:
        self.scratch_labels.append(event.label)
        self._step("request", event.size, event.label)

    def _plan_add(self, event: PlanAdd) -> None:
        self._planned += 1

    def _plan_offset(self, event: PlanOffset) -> None:
        self._step("place", event.planner_index)

    def _plan_done(self, event: PlanDone) -> None:
        block = next((i for i in reversed(range(len(self._blocks))) if self._blocks[i].category == "planner"), -1)
        if block >= 0:
            start = self._blocks[block].offset
            tables = self._planned * self._per_buffer_size
            self._blocks[block] = self._blocks[block]._replace(size=tables)
            self._need(align_up(start + tables, MICRO_ARENA_BUFFER_ALIGNMENT), step=self._blocks[block].begin)
        self._stage = "running"

    def _need(self, floor: int, *, step: int = -1) -> None:
        limit = Limit(self._stage, floor, self._tail_used, step if step >= 0 else len(self.steps))
        known = self.limits.get(self._stage)
        if known is None or limit.need > known.need:
            self.limits[self._stage] = limit
