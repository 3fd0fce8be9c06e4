"""Another model in the place of a program's: the interpreter is told of it where AllocateTensors() begins.

    MicroInterpreter | model ... graph: model, its subgraphs ... |     words that hold the address of its model
                         '--> new model, in memory that the program knows nothing of

Whatever the program does with its own model before stays as it is. The interpreter, its graph and its
context hold the model, the graph its subgraphs. Source: micro_interpreter.h, micro_interpreter_graph.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from tflm_sim.extensions.firmware.emulation.emulator import Emulator, set_word, word, words
from tflm_sim.extensions.firmware.emulation.program import Program

_INTERPRETER = 64
"""Words of an interpreter among which its model stands."""
_VERSION = 3
_OFFSETS = struct.Struct("<5H")
"""How a table of a flatbuffer says where its fields are: its own size, the table's, then one offset a field."""
_MAX_SUBGRAPHS = 1000


class Interpreters:
    """The interpreters of a program, in the order in which their AllocateTensors() was called first."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, int | None]] = []

    def number(self, machine: Emulator, interpreter: int, replacement: Replacement | None) -> int:
        """Return the number, from 1 on, of the interpreter at whose AllocateTensors() the machine stands.

        One that is made where another one was, with another model, is another one.
        """
        # Its own model comes first: another interpreter may lie directly behind it, which has the new model already.
        found, new = words(machine, interpreter, _INTERPRETER), None if replacement is None else replacement.address
        model = next((value for value in found if value == new or subgraphs_of(machine, value) is not None), None)
        if model is not None and model == new:
            return next(at for at in range(len(self._seen), 0, -1) if self._seen[at - 1][0] == interpreter)
        one = interpreter, model
        if one not in self._seen:
            self._seen.append(one)
        return self._seen.index(one) + 1


def model_of(machine: Emulator, interpreter: int, size: int = 4 * _INTERPRETER) -> int | None:
    """Return the address of the model of an interpreter of at most ``size`` bytes, None where no word points to one."""
    return _model_in(machine, words(machine, interpreter, min(_INTERPRETER, size // 4)))


def _model_in(machine: Emulator, found: Sequence[int]) -> int | None:
    """Return the address of the model among the words of an interpreter."""
    return next((value for value in found if subgraphs_of(machine, value) is not None), None)


class Replacement:
    """A model that replaces one of a program's models.

    Args:
        machine: Where it is put.
        program: The program in it.
        data: The bytes of the model.
        wanted: The number of the interpreter that gets it, from 1 on; 0 for each, which have one model then.

    Attributes:
        address: Of the new model, as TFLM has it: its root table.
        wanted: As given.
    """

    def __init__(self, machine: Emulator, program: Program, data: bytes, wanted: int = 0) -> None:
        self.wanted = wanted
        self._machine = machine
        self._program = program
        start = machine.place(data)
        self.address = start + int.from_bytes(data[:4], "little")
        self._subgraphs = subgraphs_of(machine, self.address)
        self._own: int | None = None

    def tell(self, interpreter: int, number: int) -> str:
        """Put the model into the interpreter with a number, at whose AllocateTensors() the machine is.

        Returns:
            Why that is not possible, "" where it is done.
        """
        bounds = self._program.object_bounds(interpreter)
        size = _INTERPRETER if bounds is None else min(_INTERPRETER, (bounds[1] - interpreter) // 4)
        found = words(self._machine, interpreter, size)
        own = _model_in(self._machine, found)
        if own == self.address or self.wanted not in (0, number):
            return ""
        if own is None:
            return "the interpreter in which its model stands was not found"
        if own % 4:
            return f"that one's table, at {own:#x}, is not aligned to 4 bytes, and what stood there would not be either"
        if self._own not in (None, own):
            return "it holds several models; `into=N` says whose is replaced, by the number of its interpreter"
        self._own = own
        return self._write(interpreter, found, {own: self.address, subgraphs_of(self._machine, own): self._subgraphs})

    def _write(self, interpreter: int, found: Sequence[int], changed: Mapping[int | None, int | None]) -> str:
        last = max(at for at, value in enumerate(found) if value in changed)
        first, end = self._program.object_bounds(self._own or 0) or (0, 0)
        if any(value not in changed and first < value < end for value in found[: last + 1]):
            return "its interpreter holds parts of its model that are not known here"
        for at, value in enumerate(found[: last + 1]):
            new = changed.get(value)
            if new is not None:
                set_word(self._machine, interpreter + 4 * at, new)
        return ""


def subgraphs_of(machine: Emulator, address: int) -> int | None:
    """Return where the subgraphs of the model at ``address`` are; None where no model is.

    Source: schema.fbs @ 90b983c: the first field of a Model is its version, 3; the third one its subgraphs.
    """
    if address < 16:  # One that is not aligned is a model too: one that its program copied to a wrong place.
        return None
    table = (address - word(machine, address)) & 0xFFFFFFFF
    size, _, version, _, subgraphs = _OFFSETS.unpack(machine.read(table, _OFFSETS.size))
    if size < 10 or not version or not subgraphs or word(machine, address + version) != _VERSION:
        return None
    field = address + subgraphs
    vector = (field + word(machine, field)) & 0xFFFFFFFF
    return vector if 0 < word(machine, vector) <= _MAX_SUBGRAPHS else None
