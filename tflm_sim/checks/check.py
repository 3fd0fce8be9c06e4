"""``check()``: the verdict of ``tflm-sim check`` in Python, on a target or in a linked program.

    >>> check("model.tflite", "cortex-m4", limit="64KiB").answer
    'yes'
    >>> check("model.tflite", firmware="build/app.elf", limit="64KiB").answer
    'if'

``LinkedProgram`` is the program's side of it, from which the project file and the pytest plugin answer too.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from tflm_sim.checks.judge import Room, judge, judge_in_program, judge_measured, room_on
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.checks.verdict import Verdict, baseline_key
from tflm_sim.device.configuration import Configuration, Settings, Where, configure
from tflm_sim.errors import UsageError, expect
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.names import asking
from tflm_sim.registry import programs
from tflm_sim.sizes import as_limit

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED = ("kernels", "runtime", "library", "interpreter")
"""Settings for what a program's file may not say."""
_SETTLING = ("planner", "resource_variables")
"""Settings that are not looked for in the file where they are named."""


@dataclass(frozen=True, slots=True)
class LinkedProgram:
    """A linked program (ELF) that models are judged in.

    Attributes:
        path: Its file.
        possible: Its set-up on each target that the file leaves possible, the likeliest first.
        named: What was named because the file may not say it.
        settled: Settings that were named, and are not looked for in the file.
        address: Where the arena starts, modulo 16; None for where the program has it.
        is_run: Whether it is executed; otherwise it is read.
        into: The number of the one that gets the model, from 1 on; 0 for each.
    """

    path: str
    possible: tuple[Configuration, ...]
    named: Mapping[str, str | None]
    settled: frozenset[str]
    address: int | None
    is_run: bool
    into: int

    def judge(self, name: str, model: Model, room: Room, key: str, before: int | None = None) -> Verdict:
        """Return the verdict on a model; see :func:`~tflm_sim.checks.judge.judge`.

        Raises:
            UsageError: It is to be executed, and no limit says in which arena.
            FirmwareError: The program cannot be used, or not be executed.
        """
        reader: Any = programs()
        if self.is_run:
            if room.limit is None:
                raise UsageError("`run=` needs `limit=`")
            measured = reader.measure(self.path, model, self.possible, [room.limit], into=self.into)
            return judge_measured(name, model, measured, room.limit, key=key, before=before)
        return judge_in_program(name, model, self.need(name, model, room.limit), room, key=key, before=before)

    def needed(self, name: str, model: Model) -> int | None:
        """Return the smallest arena that is a multiple of 16, read or measured; None where no size is known to do."""
        if not self.is_run:
            return self.need(name, model).multiple_of_16
        reader: Any = programs()
        found: int | None = reader.measure(self.path, model, self.possible, into=self.into).multiple_of_16
        return found

    def need(self, name: str, model: Model, limit: int | None = None) -> ProgramNeed:
        """Return what a model needs in the program, as its file says.

        Args:
            name: The model's path, from the user.
            model: It.
            limit: Bytes of the arena that is asked about; None where only the need is.
        """
        named = {"target" if each == "named" else each: value for each, value in self.named.items()}
        asked = {"firmware": self.path, "limit": limit, **named, "into": self.into or None, "executed": True}
        found: ProgramNeed = programs().need(
            self.path,
            model,
            self.possible,
            limit=limit,
            address=self.address,
            into=self.into,
            settled=self.settled,
            command=asking("size" if limit is None else "check", model.path, asked),
            **self.named,
        )
        return found


def linked_program(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    run: bool = False,
    into: int = 0,
    **settings: Unpack[Settings],
) -> LinkedProgram:
    """Return a program that models are judged in.

    Args:
        path: Its ELF file.
        target: The machine, where the file does not say it.
        run: Whether it is executed, in an emulator; otherwise it is read.
        into: The interpreter that gets the model, from 1 on; 0 for each.
        settings: What the file does not say.

    Raises:
        UsageError: No extension reads programs, or something has to be named that the file does not say.
        FirmwareError: The file cannot be used.
    """
    reader = programs()
    if reader is None:
        raise UsageError("`firmware=` needs the extension 'firmware', which is not installed")
    given: dict[str, Any] = dict(settings)
    named = {"named": target, **{name: given.get(name) for name in _NAMED}}
    own = {
        name: value
        for name, value in given.items()
        if name not in ("kernels", "runtime", "library", "board", "firmware")
    }
    path = os.fspath(path)
    possible = tuple(configure(each, **own) for each in reader.possible_targets(path, **named))
    settled = frozenset(name for name in _SETTLING if given.get(name) is not None)
    return LinkedProgram(path, possible, named, settled, given.get("arena_address"), run, into)


def check(
    model: ModelLike,
    target: Where | None = None,
    *,
    limit: int | str | None = None,
    beside: str | None = None,
    run: bool = False,
    **settings: Unpack[Settings],
) -> Verdict:
    """Return the verdict on a model in an arena of a given size, or on a board, as ``tflm-sim check`` says it.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        target: What it runs on; default "cortex-m4", or what a board, a library or a program of the settings says.
        limit: Bytes of the arena, or text: "64KiB"; or else ``beside``.
        beside: With ``board=``: what else is in its RAM: "core" (nothing), "ble", "wifi" or "ble,wifi".
        run: Whether the program that is named (``firmware``) is executed, in an emulator, instead of read.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Returns:
        The verdict: ``answer`` is "yes", "no", "if" or "cannot tell", ``doubts`` are those that it hangs on.

    Raises:
        UsageError, ModelError, UnsupportedOpError: As :func:`~tflm_sim.answers.simulation.simulate`.
        FirmwareError: The program cannot be used.
    """
    loaded = load(model)
    name = loaded.path or "model"
    given: dict[str, Any] = dict(settings)
    if limit is None and beside is None:
        raise UsageError("give `limit=`, the arena's size, or `board=` with `beside=`")
    if beside is None:
        room = Room(None if limit is None else as_limit(limit, "limit"), None)
    else:
        room = room_on(given.get("board"), limit=limit, ram_free=None, has_external_ram=False, beside=beside)
    firmware, is_run = given.pop("firmware", None), expect(run, bool, "run as a truth value")
    if firmware is None:
        if is_run:
            raise UsageError("`run=` needs `firmware=`, the program that is executed")
        is_named = given.get("board") or given.get("library")
        where = "cortex-m4" if target is None and not is_named else target
        return judge(name, loaded, configure(where, **given), room)
    if beside is not None:
        raise UsageError("`beside=` is for a board alone: a linked program's own RAM is what `firmware()` says")
    if target is not None and not isinstance(target, str):
        raise UsageError("with `firmware=` a target is a name, for what its file does not say")
    program = linked_program(firmware, target, run=is_run, **given)
    return program.judge(name, loaded, room, baseline_key(name, program.possible[0]))
