"""What the arena looks like after each event."""

from __future__ import annotations

from tflm_sim.arena.events import Event, LogLine, OpEvent, Persist, Phase, Resize, Run, Temp, TempFree, TempReset
from tflm_sim.arena.stages import Stage
from tflm_sim.arena.state import START_PHASE, ArenaState


def facts(state: ArenaState) -> tuple[int, int, int, int, int]:
    return state.head, state.temp_end, state.tail_used, state.planner_tables, state.floor


FRESH = (0, 0, 0, -1, 0)


def test_an_arena_is_empty_at_first_and_whenever_an_interpreter_starts() -> None:
    state = ArenaState()
    assert facts(state) == FRESH
    assert (state.place, state.temps, state.stage, state.operator) == (START_PHASE, {}, Stage.START, None)
    state.fold(
        [
            Resize(16, 16, True, 16, 100),
            Phase(Stage.PLANNER_ARENA),
            Temp(8, 4, 16, 24, 100),
            Persist(10, 4, 90, 10, 10, "", ""),
        ]
    )
    assert facts(state) == (16, 24, 10, 16, 24)
    state(Run("plain", 100))
    assert facts(state) == FRESH
    assert (state.place, state.temps) == (START_PHASE, {})


def test_temps_reach_to_the_last_that_is_out_and_their_section_to_its_reset() -> None:
    state = ArenaState()
    state.fold([Temp(8, 4, 0, 8, 100), Temp(4, 4, 8, 12, 100)])
    assert (state.floor, state.temp_end, state.planner_tables) == (12, 12, -1)
    state(TempFree(8))
    assert (state.floor, state.temp_end) == (8, 12)
    state(TempFree(8))  # Once more.
    state(TempReset(False, 12, 0))
    assert (state.floor, state.temp_end, set(state.temps)) == (8, 12, {0})
    state(TempReset(True, 12, 4))
    assert (state.floor, state.temp_end, state.temps) == (0, 4, {})


def test_a_head_that_is_refused_moves_nothing_of_the_temps() -> None:
    state = ArenaState().fold([Temp(8, 4, 0, 8, 100), Resize(16, 16, False, 4, 100)])
    assert (state.head, state.temp_end) == (4, 8)
    state(Resize(32, 16, True, 32, 100))
    assert (state.head, state.temp_end, state.floor) == (32, 32, 32)


def test_an_operator_is_at_work_until_the_next_stage() -> None:
    state = ArenaState()
    state(OpEvent(Stage.OP_PREPARE, 1, 2, "ADD", True))
    assert (state.operator, state.stage) == ((1, 2), Stage.OP_PREPARE)
    state(Phase(Stage.PLAN))
    assert (state.operator, state.stage) == (None, Stage.PLAN)


def test_who_does_more_with_an_event_sees_the_state_after_it() -> None:
    seen: list[tuple[int, Event]] = []

    class Watching(ArenaState):
        def __init__(self) -> None:
            super().__init__({Persist: self._note, LogLine: self._note})

        def _note(self, event: Event) -> None:
            seen.append((self.tail_used, event))

    persisted, line = Persist(10, 4, 90, 10, 10, "", ""), LogLine("hello")
    Watching().fold([line, persisted, Phase(Stage.PLAN)])
    assert seen == [(0, line), (10, persisted)]
