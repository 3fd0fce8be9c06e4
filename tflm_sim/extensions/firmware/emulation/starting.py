"""The ways to start a program, one after the other until one reaches AllocateTensors().

    from reset                     the program's own way; devices answer as well as they can
    from main()                    as it stood there, functions of vendors answered instead of run
    in a function from which       as it stood in main(): a task, setup() of Arduino, app_main() of ESP-IDF; then the
    AllocateTensors() is reached   function that calls AllocateTensors(), and those that call that one

All but the first are guesses, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, Reason, Snapshot, return_stub
from tflm_sim.extensions.firmware.emulation.follower import Follower, Purpose
from tflm_sim.extensions.firmware.emulation.functions import Watched
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.xtensa import EXTERNAL_MEMORY, chip_of

_START_S = 3.0
_CONSTRUCTORS_S = 1.0
_MAX_CALLERS = 12


@dataclass(frozen=True, slots=True)
class Started:
    """A program ready to run.

    Attributes:
        words: How it was started.
        machine: It.
        is_guessed: Whether that is not the program's own way; functions of vendors are then to be answered.
        is_direct: Whether a function was called without its callers.
    """

    words: str
    machine: Emulator
    is_guessed: bool
    is_direct: bool = False


def starts(program: Program, make: Callable[[bool], Emulator]) -> Iterator[Started]:
    """Yield the program in each way, the likeliest first.

    Args:
        program: The program.
        make: Makes a machine with the program in it; whether its data stand where start-up code would put them.
    """
    if not program.core.is_windowed:
        machine = make(False)
        _reset(program, machine)
        yield Started("started from reset", machine, False)
    machine, at_main = _prepared(program, make) if program.core.is_windowed else _at_main(program, make)
    entry = next((one.address for one in program.functions.get(Watched.MAIN, ())), None)
    if entry is not None and not program.core.is_windowed:
        machine.restore(at_main)
        machine.set("pc", entry)
        yield Started("started in main(), functions of vendors answered", machine, True)
    for address in program.callers()[:_MAX_CALLERS]:
        machine.restore(at_main)
        machine.set("pc", address)
        machine.set(machine.core.link, return_stub(machine) | machine.core.code_bit)
        for register in machine.core.arguments:
            machine.set(register, 0)
        yield Started(f"started in {program.name_at(address)}(), functions of vendors answered", machine, True, True)


def _prepared(program: Program, make: Callable[[bool], Emulator]) -> tuple[Emulator, Snapshot]:
    """Return a program for an Espressif chip with its data in place, after its heap and constructors are made.

    The devices that its start-up code sets up are not there.
    """
    machine = make(True)
    begin = machine.get("sp")
    for address in program.initialisers():
        arguments: tuple[int, ...] = ()
        if address == program.external_heap:
            chip = chip_of(program.elf)
            assert chip is not None, "there is a machine with it"
            arguments = machine.place(EXTERNAL_MEMORY), chip.external.start, chip.external.end
        before = machine.save()
        follower = Follower(machine, program, Purpose(answers_vendors=address not in program.library_initialisers))
        if follower.call(address, arguments, _CONSTRUCTORS_S) is None:
            machine.restore(before)
        machine.set("sp", begin)
    return machine, machine.save()


def _reset(program: Program, machine: Emulator) -> None:
    for register, value in program.reset_state().items():
        machine.set(register, value)


def _at_main(program: Program, make: Callable[[bool], Emulator]) -> tuple[Emulator, Snapshot]:
    """Return the program as it stands in main(): after its own start-up code, or with its data in place."""
    entries = [one.address for one in program.functions.get(Watched.MAIN, ())]
    if entries:
        machine = make(False)
        _reset(program, machine)
        machine.stop_at(entries)
        if machine.run(_START_S).reason is Reason.ADDRESS:
            return machine, machine.save()
        machine.close()
    machine = make(True)
    _reset(program, machine)
    if program.global_pointer is not None:
        machine.set("gp", program.global_pointer)
    for constructors in program.functions.get(Watched.CONSTRUCTORS, ()):
        machine.set(machine.core.link, return_stub(machine) | machine.core.code_bit)
        machine.set("pc", constructors.address)
        machine.run(_CONSTRUCTORS_S)
    _reset(program, machine)
    return machine, machine.save()
