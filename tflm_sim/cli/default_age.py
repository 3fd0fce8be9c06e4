"""A line on stderr where an answer is for the default TFLM and that one is old by the clock; it is in no document.

Nothing is asked of a network: the line names the command that does.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator

from tflm_sim.cli.terminal import say
from tflm_sim.numbers import as_whole
from tflm_sim.targets.reference import REFERENCE_DAY, REFERENCE_SNAPSHOT, WHEEL_SNAPSHOT

OLD_DAYS = 60
"""A default of more days is told."""
_NAMES = ("runtime", "library", "firmware", "between", "base")
"""Options that say, themselves or by what they name, which TFLM an answer is for."""

_YEAR_10000 = 253_402_300_800
"""Seconds; Python's dates end there."""

_OTHER_ANSWERS = ("firmware", "list")
"""Verbs whose answer is for the TFLM that a program holds, or for none."""


def say_age(args: argparse.Namespace) -> None:
    """Print the line where none of a verb's options named a TFLM, and the one that was taken is old.

    The clock is that of SOURCE_DATE_EPOCH where it is set, so that what is built twice prints the same.
    """
    if args.verb in _OTHER_ANSWERS or not hasattr(args, "runtime") or any(getattr(args, name, None) for name in _NAMES):
        return
    subjects = getattr(args, "models", None) or getattr(args, "sources", None) or [getattr(args, "model", None)]
    if not all(subjects) or any(str(one).endswith(".json") for one in subjects):
        return  # A project's file names the TFLM, or a document has its own.
    board = getattr(args, "board", None)
    if args.verb == "check" and board and not args.target and not args.kernels:
        return  # For a board alone each row is a library, with the day of its TFLM.
    from datetime import UTC, date, datetime

    taken = dict(_taken(args))
    if not taken:
        return
    epoch = as_whole(os.environ.get("SOURCE_DATE_EPOCH", ""))
    seconds = epoch if epoch is not None and 0 <= epoch < _YEAR_10000 else time.time()
    today = datetime.fromtimestamp(seconds, UTC).date()
    snapshot, day = min(taken.items(), key=lambda one: one[1])
    age = (today - date.fromisoformat(day)).days
    if age <= OLD_DAYS:
        return
    from tflm_sim.targets.history import newest

    known = newest()
    is_offered = known.day > day and all(_can_be_built(name, args, known.short) for name in _targets(args))
    newer = f"--runtime {known.short} ({known.day}), or " if is_offered else ""
    say(
        f"TFLM of {day} ({snapshot}) was assumed; it is {age} days old. "
        f"Newer: {newer}a newer tflm_sim (pip index versions tflm_sim)",
        file=sys.stderr,
    )


def _taken(args: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield the default TFLM of each target that is named, and its day; a target with a TFLM of its own has none."""
    from tflm_sim.targets.presets import PRESETS

    for name in _targets(args):
        row = PRESETS.get(name.lower())
        snapshot = row.runtime.snapshot if row else REFERENCE_SNAPSHOT
        if snapshot in (REFERENCE_SNAPSHOT, WHEEL_SNAPSHOT):
            yield snapshot, REFERENCE_DAY if row is None else row.runtime.day


def _targets(args: argparse.Namespace) -> list[str]:
    """Return the targets that are named, a board's where only that is, else the default one."""
    from tflm_sim.cli.options import TARGET

    named = getattr(args, "target", None) or getattr(args, "targets", None) or []
    if named:
        return [named] if isinstance(named, str) else [str(name) for name in named]
    boards = getattr(args, "board", None)
    if not boards:
        return [TARGET]
    from tflm_sim.targets.boards import known_board

    known = [known_board(name) for name in ([boards] if isinstance(boards, str) else boards)]
    return [board.preset for board in known if board]


def _can_be_built(target: str, args: argparse.Namespace, runtime: str) -> bool:
    """Return whether ``--runtime`` could be added: ESP-NN, for one, comes with no commit of upstream."""
    from tflm_sim.errors import UsageError
    from tflm_sim.targets.presets import preset

    kernels = getattr(args, "kernels", None)
    try:
        preset(target, kernels=kernels if isinstance(kernels, str) else None, runtime=runtime)
    except UsageError:
        return False
    return True
