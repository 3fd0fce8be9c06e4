"""A script of allocations with the answers that it must give, and what a board made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tflm_sim.errors import expect, whole_number
from tflm_sim.extensions.board.framing import FieldValue
from tflm_sim.extensions.board.link_events import Reply
from tflm_sim.short_repr import short_repr
from tflm_sim.sizes import MAX_SIZE
from tflm_sim.units import int32

Ask = Callable[..., Reply]


@dataclass(frozen=True, slots=True)
class ReplayStep:
    """One command and the answer that the simulation predicts.

    Attributes:
        command: Type of the command's frame.
        fields: Its fields.
        answer: "ok", or "no" where TFLM refuses too.
        value: The number in the answer ("o"), None where any will do.
        about: What the step is, for people.
    """

    command: str
    fields: tuple[tuple[str, FieldValue], ...]
    answer: str
    value: int | None
    about: str


@dataclass(frozen=True, slots=True)
class ReplayScript:
    """Everything that a board is asked to do for one model.

    Attributes:
        steps: In order; a last "close" follows.
        head: Bytes of the head in the end.
        tail: Bytes of the tail in the end.
        mark: The smallest arena in which all of it fits at these positions, in bytes.
        arena_size: Bytes from the aligned start.
        buffer_count: The most buffers that are planned together.
    """

    steps: tuple[ReplayStep, ...]
    head: int
    tail: int
    mark: int
    arena_size: int
    buffer_count: int

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where the board and the simulation do not agree; ``index`` is the step's, -1 for the final figures."""

    index: int
    about: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class ReplayOutcome:
    """What a board made of a script.

    Attributes:
        mismatches: () when device and simulation agree on every offset and figure.
        steps: How many steps were carried out.
        head: The board's figures, in bytes (tail and mark likewise).
        tail: Bytes.
        mark: Bytes.
        bad_bytes: Bytes that lost their pattern while their allocation was alive: 0 when the memory check passed.
        bad_offset: Where the first of them were.
    """

    mismatches: tuple[Mismatch, ...]
    steps: int
    head: int
    tail: int
    mark: int
    bad_bytes: int
    bad_offset: int

    __repr__ = short_repr


def run_script(script: ReplayScript, ask: Ask, *, stop_after: int = 20) -> ReplayOutcome:
    """Carry a script out and compare every answer with the prediction.

    Args:
        script: What to do.
        ask: Sends a command and returns the answer (``Session.ask``).
        stop_after: Give up after so many mismatches: what follows a wrong offset is wrong too.
    """
    expect(script, ReplayScript, "a script (replay_script() makes one)")
    expect(ask, Callable, "ask that can be called with a command")
    stop_after = whole_number(stop_after, "stop_after", 1, MAX_SIZE)
    mismatches: list[Mismatch] = []
    carried_out = 0
    for index, step in enumerate(script.steps):
        reply = ask(step.command, **dict(step.fields))
        carried_out += 1
        mismatches += _compare_step(index, step, reply)
        if len(mismatches) >= stop_after:
            break
    done = ask("close")
    if done.type != "done":
        mismatches.append(Mismatch(-1, "the final figures", "done", _show(done)))
        return ReplayOutcome(tuple(mismatches), carried_out, 0, 0, 0, 0, 0)
    figures = {name: done.number(name) for name in ("head", "tail", "mark", "bad", "at")}
    if carried_out == len(script.steps):
        mismatches += _compare_figures(script, figures)
    return ReplayOutcome(
        tuple(mismatches), carried_out, figures["head"], figures["tail"], figures["mark"], figures["bad"], figures["at"]
    )


def _compare_step(index: int, step: ReplayStep, reply: Reply) -> Sequence[Mismatch]:
    value = int32(reply.number("o")) if reply.type in ("ok", "no") else None
    if reply.type == step.answer and step.value in (None, value):
        return ()
    wanted = step.answer if step.value is None else f"{step.answer} {step.value}"
    return (Mismatch(index, step.about, wanted, _show(reply)),)


def _compare_figures(script: ReplayScript, figures: dict[str, int]) -> Sequence[Mismatch]:
    wanted = {"head": script.head, "tail": script.tail, "mark": script.mark, "bad": 0}
    return [
        Mismatch(-1, name, str(value), str(figures[name])) for name, value in wanted.items() if figures[name] != value
    ]


def _show(reply: Reply) -> str:
    fields = dict(reply.fields)
    error = f" (error {fields['e']})" if "e" in fields else ""
    return f"{reply.type} {fields.get('o', '')}".rstrip() + error
