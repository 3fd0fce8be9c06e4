"""One judgement: whether it works, and every doubt about that, become an answer, a first line and an exit code.

    works          doubts that can turn it    answer         exit code   the line begins with
    yes            none                       yes            0           yes
    no             none                       no             1           no
    yes, or no     some                       if             3           yes, if ...     no, if ...
    not known      any                        cannot tell    3           cannot be told

Every verb, document, page and test that says whether something works asks here. Where executing the program would
settle a doubt, the command that does is the last line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

Answer = Literal["yes", "no", "if", "cannot tell"]
How = Literal["measured", "concluded", "assumed"]

EXIT_CODES: dict[Answer, int] = {"yes": 0, "no": 1, "if": 3, "cannot tell": 3}
BY_EXECUTING = "by executing the program"
"""What settles a doubt, until :func:`with_command` says with which command that is done."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that an answer takes for granted.

    Attributes:
        text: A sentence that follows "if": "it has TFLM's default planner".
        how: How it is known: "measured" in an execution, "concluded" from what a file holds, or "assumed", since
            nothing tells.
        can_turn: Whether the answer may be another one where it is not so.
        settled_by: What settles it: a command, or ``BY_EXECUTING``; "" where nothing does that we know.
    """

    text: str
    how: How = "assumed"
    can_turn: bool = True
    settled_by: str = BY_EXECUTING


def turning(doubts: Iterable[Doubt]) -> tuple[Doubt, ...]:
    return tuple(doubt for doubt in doubts if doubt.can_turn)


def answer_of(works: bool | None, doubts: Iterable[Doubt] = ()) -> Answer:
    """Return the answer.

    Args:
        works: Whether it works if no doubt is right; None where that cannot be told either.
        doubts: All of them; those that cannot turn it are not counted.
    """
    if works is None:
        return "cannot tell"
    return "if" if turning(doubts) else "yes" if works else "no"


def fits_of(answer: Answer) -> bool | None:
    """Return an answer as a program takes it: None where it hangs on a doubt, or cannot be told."""
    return {"yes": True, "no": False}.get(answer)


def first_words(works: bool | None, doubts: Iterable[Doubt] = ()) -> str:
    """Return how the line with the answer begins: "yes, if A, B and C"."""
    if works is None:
        return "cannot be told"
    texts = [doubt.text for doubt in turning(doubts)]
    return ("yes" if works else "no") + (f", if {listed(texts)}" if texts else "")


def listed(texts: Sequence[str]) -> str:
    """Return sentences as one: "A, B and C"."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def worst(answers: Iterable[Answer]) -> Answer:
    """Return the answer about several things at once: "no" where one does not work, "yes" only where all do."""
    return max(answers, key=_WORSE.index, default="yes")


_WORSE: tuple[Answer, ...] = ("yes", "if", "cannot tell", "no")


def with_command(doubts: Iterable[Doubt], command: str) -> tuple[Doubt, ...]:
    """Return the doubts with the command that executes the program; "" where nothing here can execute it."""
    return tuple(replace(one, settled_by=command) if one.settled_by == BY_EXECUTING else one for one in doubts)


def settling_lines(answer: Answer, command: str) -> list[str]:
    """Return the last line: the command that settles an answer that is open; none where it is not, or nothing does."""
    return [f"this settles it: {command}"] if command and answer in ("if", "cannot tell") else []
