from tflm_sim.extensions.board.link_events import Reply
from tflm_sim.extensions.board.replay import Mismatch, ReplayScript, ReplayStep, run_script

STEPS = (
    ReplayStep("open", (("v", 1),), "ok", 0, "an arena"),
    ReplayStep("tail", (("s", 16),), "ok", 48, "16 persistent bytes"),
    ReplayStep("head", (("s", 99),), "no", None, "the head takes 99 bytes"),
    ReplayStep("where", (("i", 0),), "ok", -1, "offset of buffer 0"),
)
SCRIPT = ReplayScript(STEPS, head=32, tail=16, mark=48, arena_size=64, buffer_count=1)


class Board:
    """Answers from a list."""

    def __init__(self, **changes: int) -> None:
        self.answers = {"open": 0, "tail": 48, "head": 5, "where": 2**32 - 1} | changes
        self.figures = {"head": 32, "tail": 16, "mark": 48, "bad": 0, "at": 0} | changes
        self.asked: list[str] = []

    def __call__(self, kind: str, **fields: object) -> Reply:
        self.asked.append(kind)
        if kind == "close":
            return Reply(
                1,
                "done",
                0,
                (("q", 0), *((name, self.figures[name]) for name in ("head", "tail", "mark", "bad", "at"))),
            )
        return Reply(1, "no" if kind == "head" else "ok", 0, (("q", 0), ("o", self.answers[kind])))


def test_a_board_that_agrees_has_no_mismatches() -> None:
    outcome = run_script(SCRIPT, board := Board(head=32))
    assert board.asked == ["open", "tail", "head", "where", "close"]
    assert (outcome.mismatches, outcome.steps, outcome.mark) == ((), 4, 48)


def test_a_wrong_offset_is_named_with_its_step() -> None:
    outcome = run_script(SCRIPT, Board(tail=16, where=3))
    assert Mismatch(1, "16 persistent bytes", "ok 48", "ok 16") in outcome.mismatches
    assert Mismatch(3, "offset of buffer 0", "ok -1", "ok 3") in outcome.mismatches


def test_wrong_final_figures_and_lost_bytes_are_mismatches() -> None:
    outcome = run_script(SCRIPT, Board(mark=64, bad=7, at=12))
    assert outcome.mismatches == (Mismatch(-1, "mark", "48", "64"), Mismatch(-1, "bad", "0", "7"))
    assert (outcome.bad_bytes, outcome.bad_offset) == (7, 12)


def test_a_board_that_goes_astray_is_stopped() -> None:
    outcome = run_script(SCRIPT, board := Board(open=1, where=0), stop_after=1)
    assert board.asked == ["open", "close"]
    assert outcome.mismatches == (Mismatch(0, "an arena", "ok 0", "ok 1"),)
