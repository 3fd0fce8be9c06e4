"""What a program computes with a given model: AllocateTensors(), then Invoke() on one input after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.follow import RUN_S, check_taken
from tflm_sim.extensions.firmware.emulation.follower import Follower, Purpose
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.replacing import Replacement
from tflm_sim.extensions.firmware.emulation.seen import Arena, Result
from tflm_sim.extensions.firmware.emulation.starting import starts
from tflm_sim.extensions.firmware.emulation.tensors import Interface, find_interface
from tflm_sim.model.types import Model

Values = Sequence[bytes]
"""The bytes of each input, or of each output, in order."""


def compute(
    program: Program,
    make: Callable[[bool], Emulator],
    model: Model,
    runs: Iterable[Values],
    seconds: float,
    interpreter: int,
) -> Iterator[tuple[bytes, ...]]:
    """Yield the outputs of each run, one after another from one AllocateTensors(): a state goes on.

    Args:
        program: The program.
        make: Makes a machine with the program in it.
        model: What is put in the place of its model.
        runs: The inputs of each.
        seconds: Of the host's processor for one Invoke(), after which it is given up.
        interpreter: The number of the one that gets the model, from 1 on; 0 for the first.

    Raises:
        FirmwareError: The program does not run the model.
    """
    invoke = program.functions.get(Watched.INVOKE)
    if not invoke:
        raise FirmwareError("none of its functions is MicroInterpreter::Invoke()")
    follower, result, interface = _allocated(program, make, model, max(interpreter, 1))
    machine = follower.machine
    for number, inputs in enumerate(runs):
        for place, data in zip(interface.inputs, inputs, strict=True):
            if len(data) != place.size:
                raise FirmwareError(f"an input of {place.size} bytes is given {len(data)}")
            machine.write(place.address, data)
        status = follower.call(invoke[0].address, [result.interpreter], seconds)
        if status is None or status & 0xFF:
            says = follower.ending if status is None else "; ".join(follower.log[-2:])
            raise FirmwareError(f"Invoke() fails in run {number}: {says}")
        yield tuple(machine.read(place.address, place.size) for place in interface.outputs)


def _allocated(
    program: Program, make: Callable[[bool], Emulator], model: Model, number: int
) -> tuple[Follower, Result, Interface]:
    """Return the program after AllocateTensors() of an interpreter, that, and where inputs and outputs lie."""
    reached = ""
    for start in starts(program, make):
        machine = start.machine
        replacement = Replacement(machine, program, bytes(model.source), number)
        interest = Purpose(keeps_points=True, answers_vendors=start.is_guessed, model=replacement)
        follower = Follower(machine, program, interest)
        follower.is_over = lambda: _first_result(follower, number) is not None  # noqa: B023
        follower.run(RUN_S)
        if follower.problem:
            raise FirmwareError(f"the model cannot replace the program's own: {follower.problem}")
        told = _first_result(follower, number)
        if told is None:
            reached = follower.ending
            continue
        arena, result = told
        if result.status != 0:
            raise FirmwareError(f"AllocateTensors() fails: {'; '.join(result.log[-2:]) or result.ending}")
        check_taken(follower, replacement, model)
        interface = find_interface(machine, result.interpreter, Span(arena.head, arena.end), model)
        if interface is None:
            raise FirmwareError("the inputs and outputs of its interpreter were not found")
        return follower, result, interface
    raise FirmwareError(f"no AllocateTensors() was reached: {reached}")


def _first_result(follower: Follower, number: int) -> tuple[Arena, Result] | None:
    """Return the first AllocateTensors() of the interpreter of a number, None before there is one."""
    return next(((arena, one) for arena in follower.arenas for one in arena.results if one.number == number), None)
