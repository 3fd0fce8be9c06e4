"""A simulation -> the script with which a board carries out the same allocations in its own memory.

Every persistent buffer and every temp becomes a command that paints the bytes it gets; the planner is the C core on the
device. Predicted are all offsets, the head, the tail, and the high-water mark.
"""

from __future__ import annotations

from typing import Unpack

from tflm_sim.answers.simulation import Simulation, simulate, simulation_of
from tflm_sim.arena import events
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import ArenaState
from tflm_sim.device.configuration import Settings, Where
from tflm_sim.errors import UsageError
from tflm_sim.extensions.board.framing import SCHEMA, FieldValue
from tflm_sim.extensions.board.replay import ReplayScript, ReplayStep
from tflm_sim.model.load import ModelLike
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.greedy import PER_BUFFER_SIZE
from tflm_sim.units import align_up


def replay_script(
    simulation: Simulation | ModelLike, target: Where | None = None, **settings: Unpack[Settings]
) -> ReplayScript:
    """Return the script for a simulation that succeeded with the greedy planner.

    Args:
        simulation: AllocateTensors() as it went, in an arena that the board has; or a model, which is simulated on
            ``target`` in the smallest arena that can be replayed.
        target: What a model runs on; None for a simulation, which has its own.
        settings: Of a model; see :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: The simulation failed: there is nothing to carry out.
        UsageError: The device would write over bytes in use, or TFLM has bytes handed out twice which it does not
            write at once, as the replay does; a board is not asked to do that.
    """
    done = simulation_of(simulation, target, **settings).unwrap()
    if done is not simulation and done.smallest is not None:
        needed = _script(done).mark + done.arena_size - done.device.arena.size
        size = max(done.smallest.multiple_of_16, align_up(needed, BUFFER_ALIGNMENT))
        done = simulate(done.models, done.configuration, arena_size=size)
    if done.configuration.split_arenas:
        raise UsageError("the replay firmware has one arena")
    if done.corruptions:
        raise UsageError(f"TFLM would damage its own arena here, so there is no replay: {done.corruptions[0]}")
    script = _script(done)
    if script.mark > script.arena_size:
        raise UsageError(
            f"variables lie over temporary memory here, which TFLM writes later than a replay: "
            f"{script.mark - script.arena_size:,} bytes more are needed to replay it"
        )
    return script


def _script(simulation: Simulation) -> ReplayScript:
    return _ScriptBuilder(simulation).fold(simulation.events).finish()


class _ScriptBuilder(ArenaState):
    """Turns events into steps, and keeps what their predictions need (mutable)."""

    def __init__(self, simulation: Simulation) -> None:
        self._size = simulation.device.arena.size
        lost = simulation.arena_size - self._size
        self._skew = (simulation.configuration.target.arena_address + lost) % BUFFER_ALIGNMENT
        self._steps: list[ReplayStep] = []
        self._mark = self._seed = 0
        self._painted: dict[int, tuple[int, int]] = {}  # offset: painted size, seed
        self._persistent: list[tuple[int, int, int]] = []  # offset, size, seed
        self._planned = self._most_planned = self._asked = 0
        self._peaks = [event.head_usage for event in simulation.events if isinstance(event, events.PlanDone)]
        super().__init__(
            {
                events.Run: self._opened,
                events.Persist: self._persisted,
                events.Temp: self._temp_taken,
                events.TempFree: self._temp_freed,
                events.TempReset: self._temps_reset,
                events.Resize: self._resized,
                events.PlanAdd: self._plan_add,
                events.PlanOffset: self._plan_offset,
                events.PlanDone: self._plan_done,
            }
        )

    def finish(self) -> ReplayScript:
        """Add the final memory check and return the script."""
        self._step("live", {}, 0, "every planned buffer keeps its bytes while it is alive")
        for offset, size, seed in self._persistent:
            fields: dict[str, FieldValue] = {"o": offset, "s": size, "i": seed}
            self._step("check", fields, 0, f"persistent bytes at {offset} are whole")
        return ReplayScript(tuple(self._steps), self.head, self.tail_used, self._mark, self._size, self._most_planned)

    def _step(
        self, command: str, fields: dict[str, FieldValue], value: int | None, about: str, *, ok: bool = True
    ) -> None:
        self._steps.append(ReplayStep(command, tuple(fields.items()), "ok" if ok else "no", value, about))

    def _need(self, floor: int) -> None:
        self._mark = max(self._mark, floor + self.tail_used)

    def _next_seed(self) -> int:
        self._seed += 1
        return self._seed

    def _opened(self, event: events.Run) -> None:
        fields: dict[str, FieldValue] = {"v": SCHEMA, "size": self._size, "skew": self._skew}
        self._step("open", fields, 0, f"an arena of {self._size} bytes")

    def _persisted(self, event: events.Persist) -> None:
        seed = self._next_seed()
        self._need(self.floor)
        self._persistent.append((event.offset, event.size, seed))
        fields: dict[str, FieldValue] = {"s": event.size, "a": event.alignment, "i": seed}
        self._step("tail", fields, event.offset, f"{event.size} persistent bytes for {event.label}")

    def _temp_taken(self, event: events.Temp) -> None:
        fields: dict[str, FieldValue] = {"s": event.size, "a": event.alignment}
        if self.stage is Stage.PLANNER_ARENA:
            self._planned = self._asked = 0
            self._painted[event.offset] = 0, 0
            self._step("plan", fields, event.offset, f"{event.size} bytes for the planner")
            return
        seed = self._next_seed()
        self._painted[event.offset] = event.size, seed
        self._need(event.temp_end)
        self._step("temp", fields | {"i": seed}, event.offset, f"{event.size} temporary bytes")

    def _temp_freed(self, event: events.TempFree) -> None:
        size, seed = self._painted.pop(event.offset)
        fields: dict[str, FieldValue] = {"o": event.offset, "s": size, "i": seed}
        self._step("free", fields, 0, f"temporary bytes at {event.offset} are whole")

    def _temps_reset(self, event: events.TempReset) -> None:
        self._step("reset", {}, event.head if event.ok else None, "temps are reset", ok=event.ok)

    def _resized(self, event: events.Resize) -> None:
        if event.ok:
            self._need(event.head)
        fields: dict[str, FieldValue] = {"s": event.size, "a": event.alignment}
        value = event.head if event.ok else None
        self._step("head", fields, value, f"the head takes {event.size} bytes", ok=event.ok)

    def _plan_add(self, event: events.PlanAdd) -> None:
        fields: dict[str, FieldValue] = {"s": event.size, "f": event.first, "l": event.last, "p": event.offline_offset}
        self._step("add", fields, self._planned, f"buffer {self._planned} of {event.size} bytes")
        self._planned += 1
        self._most_planned = max(self._most_planned, self._planned)

    def _plan_offset(self, event: events.PlanOffset) -> None:
        if self._asked == 0:
            self._solve()
        self._asked += 1
        self._step("where", {"i": event.planner_index}, event.offset, f"offset of buffer {event.planner_index}")

    def _solve(self) -> None:
        self._step("solve", {}, self._peaks[0], "the plan's size")
        tables = self.planner_tables + self._planned * PER_BUFFER_SIZE
        self._need(align_up(self._skew + tables, BUFFER_ALIGNMENT) - self._skew)

    def _plan_done(self, event: events.PlanDone) -> None:
        if self._asked == 0:
            self._solve()
        self._peaks.pop(0)
