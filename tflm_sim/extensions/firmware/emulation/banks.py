"""The banks that an executed program gives to a plan of banks.h, found in its memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tflm_sim.extensions.firmware.emulation.emulator import Emulator
from tflm_sim.extensions.firmware.emulation.execution import ExecutedBank
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
    memory = [machine.read(start, size) for start, size in spans]
    rows = ((table, banks) for table in tables for data in memory for banks in banks_in(data, table))
    return tuple(dict.fromkeys(_banks(table, banks) for table, banks in rows))


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
        )
        for number, ((address, size), bank) in enumerate(zip(banks, table.banks, strict=True))
    )


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
