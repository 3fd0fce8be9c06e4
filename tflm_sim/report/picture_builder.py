"""``PictureBuilder``: an observer that turns AllocateTensors()'s events into moments, blocks, steps and limits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self, TypedDict

from tflm_sim.arena import events
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.report.picture import Block, Level, Limit, Moment, Step
from tflm_sim.units import align_up


class PictureRows(TypedDict):
    """What AllocateTensors() did, as fields of a :class:`~tflm_sim.report.picture.Picture`."""

    moments: tuple[Moment, ...]
    blocks: tuple[Block, ...]
    steps: tuple[Step, ...]
    levels: tuple[Level, ...]


class PictureBuilder(ArenaState):
    """Builds the AllocateTensors() part of a picture (mutable); an observer of a run of one model.

    Args:
        planner: "greedy" or "linear": the first needs 40 bytes of temp for each buffer.
        split_at: Where to draw the persistent one of two arenas; 0 for one arena.

    Attributes:
        limits: By stage.
        scratch_labels: What each scratch buffer is for.
    """

    def __init__(self, planner: str, *, split_at: int = 0) -> None:
        self._per_buffer_size = PER_BUFFER_SIZE if planner == "greedy" else 0
        self._split_at = split_at
        self._blocks: list[Block] = []
        self._temp_blocks: dict[int, int] = {}
        self._head_block: int | None = None
        self._drawn_head = 0
        self._planner_end: int | None = None
        self._planner_levels: list[int] = []
        self._part = "prepare"
        self._moments: list[Moment] = []
        self._steps: list[Step] = []
        self._levels: list[Level] = []
        self.limits: dict[str, Limit] = {}
        self.scratch_labels: list[str] = []
        super().__init__(
            {
                events.Phase: self._entered,
                events.OpEvent: self._operator_entered,
                events.Persist: self._persisted,
                events.Temp: self._temp_taken,
                events.TempFree: self._temp_freed,
                events.TempReset: self._temps_reset,
                events.Resize: self._resized,
                events.ScratchRequest: self._request,
                events.PlanOffset: self._plan_offset,
                events.PlanDone: self._plan_done,
                events.LogLine: lambda event: self._step("log", 0, event.text),
                events.Corruption: lambda event: self._step("corruption", 0, event.text),
            }
        )

    def fold(self, seen: Iterable[events.Event], failure: str = "") -> Self:
        """Take in all events of a run, and that AllocateTensors() gives up, if it does; return the builder."""
        for event in seen:
            self(event)
        if failure:
            self._step("fail", 0, failure)
        return self

    def drawn(self) -> PictureRows:
        """Return what happened; blocks that nobody gave back end with the last step."""
        last = len(self._steps)
        return PictureRows(
            moments=tuple(self._moments),
            blocks=tuple(row if row.end >= 0 else row._replace(end=last) for row in self._blocks),
            steps=tuple(self._steps),
            levels=tuple(self._levels),
        )

    def tightest(self) -> tuple[Limit, ...]:
        """Return the limits, the largest need first."""
        return tuple(sorted(self.limits.values(), key=lambda row: -row.need))

    def _step(self, kind: str, value: int, text: str = "") -> None:
        self._note_level()
        self._steps.append(Step(kind, value, text))

    def _note_level(self) -> None:
        """Keep the sections where one moves; how far the planner's tables reach is known when the plan is done."""
        temp = max(self.temp_end, self.head) if self._planner_end is None else self._planner_end
        level = Level(len(self._steps), self.head, temp, self.tail_used)
        begins_planning = self._planner_end is not None and not self._planner_levels
        if not self._levels or self._levels[-1][1:] != level[1:] or begins_planning:
            if self._planner_end is not None:
                self._planner_levels.append(len(self._levels))
            self._levels.append(level)

    def _begin_moment(self, stage: Stage, subgraph: int, operator: int) -> None:
        self._moments.append(Moment(stage.value, subgraph, operator, len(self._steps)))
        self._step("enter", len(self._moments) - 1)

    def _entered(self, event: events.Phase) -> None:
        if event.stage is Stage.PLAN:
            self._part = "planning"
        self._begin_moment(event.stage, -1, -1)

    def _operator_entered(self, event: events.OpEvent) -> None:
        if event.stage is not Stage.OP_PREPARED:
            self._begin_moment(event.stage, event.subgraph, event.op)

    def _take(self, category: str, offset: int, size: int, label: str, *, padding: int = 0) -> int:
        block = Block(category, offset, size, padding, len(self._steps), -1, label, len(self._moments) - 1)
        self._blocks.append(block)
        return len(self._blocks) - 1

    def _release(self, block: int) -> None:
        self._blocks[block] = self._blocks[block]._replace(end=len(self._steps))

    def _persisted(self, event: events.Persist) -> None:
        padding, offset = event.used - event.size, self._split_at + event.offset
        # A program that is executed may take memory outside of TFLM's steps: for what it sets up itself.
        group = self.stage.group or Stage.CREATE.group
        block = self._take(group, offset, event.size, event.label, padding=padding)
        self._need(self.floor_below(event))
        self._step("persist", block)

    def _temp_taken(self, event: events.Temp) -> None:
        if self.stage is Stage.PLANNER_ARENA:
            free = max(event.temp_end - event.offset, 0)
            label = f"the planner gets all that is free, {free:,} bytes; drawn is what it needs"
            block = self._take("planner", event.offset, 0, label)
            self._planner_end = event.offset
        else:
            category = "planning" if self.stage is Stage.PLAN else "temp"
            block = self._take(category, event.offset, event.size, "")
            self._need(event.temp_end)
        self._temp_blocks[event.offset] = block
        self._step("temp", block)

    def _temp_freed(self, event: events.TempFree) -> None:
        block = self._temp_blocks.pop(event.offset, None)
        if block is not None:
            self._release(block)
            self._step("free", block)

    def _temps_reset(self, event: events.TempReset) -> None:
        self._planner_end = None
        self._step("reset", event.head if event.ok else event.temp_end, "" if event.ok else "refused")

    def _resized(self, event: events.Resize) -> None:
        if event.ok:
            self._planner_end = None
        if event.ok and event.head != self._drawn_head:
            if self._head_block is not None:
                self._release(self._head_block)
                self._head_block = None
            if event.head:
                category = "plan" if self._part == "running" else "requests"
                self._head_block = self._take(category, 0, event.head, "")
        self._drawn_head = event.head
        self._need(event.head if event.ok else max(event.head, event.size))
        self._step("resize", event.head, "" if event.ok else "refused")

    def _request(self, event: events.ScratchRequest) -> None:
        self.scratch_labels.append(event.label)
        self._step("request", event.size, event.label)

    def _plan_offset(self, event: events.PlanOffset) -> None:
        self._step("place", event.planner_index)

    def _plan_done(self, event: events.PlanDone) -> None:
        block = next((i for i in reversed(range(len(self._blocks))) if self._blocks[i].category == "planner"), None)
        if block is not None:
            start = self._blocks[block].offset
            tables = event.buffer_count * self._per_buffer_size
            self._blocks[block] = self._blocks[block]._replace(size=tables)
            for row in self._planner_levels:
                self._levels[row] = self._levels[row]._replace(temp=start + tables)
            if tables:
                self._need(align_up(start + tables, BUFFER_ALIGNMENT), step=self._blocks[block].begin)
        self._part = "running"

    def _need(self, floor: int, *, step: int | None = None) -> None:
        limit = Limit(self._part, floor, self.tail_used, len(self._steps) if step is None else step)
        known = self.limits.get(self._part)
        if known is None or limit.need > known.need:
            self.limits[self._part] = limit
