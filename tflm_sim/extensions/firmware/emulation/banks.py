"""The banks that an executed program gives to a plan of banks.h, found in its memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.execution import ExecutedBank
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.program import Program
from tflm_sim.extensions.firmware.emulation.seen import Arena
from tflm_sim.extensions.firmware.reading.bank_plans import BankTable, bank_plans, banks_in
from tflm_sim.extensions.firmware.reading.image import parse_image

_STACK = 1 << 16
"""Bytes of the stack, from its pointer on, in which objects are looked for."""


def given_banks(machine: Emulator, program: Program) -> tuple[tuple[ExecutedBank, ...], ...]:
    """Return the banks of each plan that the program uses, where the machine stands."""
    tables = [given.table for given in bank_plans(parse_image(bytes(program.elf.data)))]
    if not tables:
        return ()
    stack = machine.get("sp")
    spans = [(one.start, one.end - one.start) for one in program.data_spans] + [(stack, _STACK)]
    memory = {start: machine.read(start, size) for start, size in spans}
    rows = (
        (table, banks)
        for table in tables
        for data in memory.values()
        for banks in banks_in(data, table)
        if not _are_of_planner(banks, table, memory)
    )
    return tuple(dict.fromkeys(_banks(table, banks) for table, banks in rows))


def _are_of_planner(banks: Sequence[tuple[int, int]], table: BankTable, memory: Mapping[int, bytes]) -> bool:
    """Return whether they are the members of a Planner, which has the plan, too, and behind it where its banks are."""
    plan = banks[0][0] - 4  # In front of the banks that a program gives stands their plan.
    wanted = table.address.to_bytes(4, "little")
    return any(data[plan - start : plan - start + 4] == wanted for start, data in memory.items() if plan >= start)


def _banks(table: BankTable, banks: Sequence[tuple[int, int]]) -> tuple[ExecutedBank, ...]:
    return tuple(
        ExecutedBank(
            name=bank.name,
            address=address,
            size=size,
            needed=bank.needed,
            planned=bank.planned,
            is_head=number == table.head,
            is_tail=number == table.tail,
            buffers=bank.buffers,
        )
        for number, ((address, size), bank) in enumerate(zip(banks, table.banks, strict=True))
    )


def bank_spans(given: Iterable[Iterable[ExecutedBank]]) -> list[Span]:
    """Return where the planners of banks.h may put tensors."""
    return [Span(bank.address, bank.address + bank.size) for banks in given for bank in banks if bank.needed]


def banks_around(arena: Arena, given: Sequence[tuple[ExecutedBank, ...]]) -> tuple[ExecutedBank, ...]:
    """Return the banks of the plan in whose bank of head or tail an arena lies; () where it lies in none."""
    return next((banks for banks in given if any(_holds(bank, arena) for bank in banks)), ())


def _holds(bank: ExecutedBank, arena: Arena) -> bool:
    return (bank.is_head or bank.is_tail) and bank.address <= arena.address < bank.address + bank.size


def lacks(banks: Sequence[ExecutedBank]) -> Iterator[str]:
    """Yield which banks are too small, and by how much."""
    for bank in banks:
        if bank.size < bank.needed:
            yield f"{bank.name} ({bank.size:,} B) is too small by {bank.needed - bank.size:,} B"
