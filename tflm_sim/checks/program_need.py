"""What a model needs in a linked program, as its file says: an extension reads the file, and verbs answer from this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tflm_sim.answers.simulation import Simulation
from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.checks.candidates import CandidateNeed
from tflm_sim.checks.doubts import Answer, Doubt, answer_of, listed
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import columns
from tflm_sim.document_types import Count
from tflm_sim.escape import printable


class BankBuffer(NamedTuple):
    """A buffer in a bank: which of those that TFLM asks a planner for, from 0 on, and where it lies in the bank.

    ``size``, ``first`` and ``last`` are what the planner knows it by: bytes, and the first and last use.
    """

    number: int
    offset: int
    size: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class BankNeed:
    """What a model needs of a bank of RAM, by the plan of banks.h.

    Attributes:
        name: What the plan calls the bank.
        address: Where it begins; None where the file does not say.
        size: Bytes that the program gives; None where the file does not say.
        needed: Bytes that it must have; with less the plan's planner refuses to plan.
        planned: From the bank's start to the end of the plan there.
        is_head: Whether it holds the head.
        is_tail: Whether it holds what stays.
        buffers: What the plan puts there.
    """

    name: str
    address: Count | None
    size: Count | None
    needed: Count
    planned: Count
    is_head: bool
    is_tail: bool
    buffers: tuple[BankBuffer, ...] = field(default=(), metadata=columns(BankBuffer))


@dataclass(frozen=True, slots=True)
class Ram:
    """The RAM in which an arena lies.

    Attributes:
        name: What to call it.
        size: Its bytes.
        others: What else is in it, and its bytes.
    """

    name: str
    size: int
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramNeed:
    """What a model needs in a program, and whether it works there.

    Attributes:
        configuration: How the program sets TFLM up; of several that its file leaves possible, the one with which the
            model needs most.
        configurations: All of them, that one first.
        simulation: Of that one, in a roomy arena, with the models that share its allocator; None where the file does
            not say what has to be simulated.
        smallest: Bytes of the smallest arena, of both where there are two; None where no size is known to be enough.
        multiple_of_16: As ``smallest``, of arenas whose sizes are multiples of 16.
        split: Where there are two arenas, what each needs.
        works: Whether the model works in an arena of the size that was asked about. Without one: whether it works in
            some arena. None where that cannot be told.
        reason: Why it does not, or why that cannot be told, where it is not the arena's size that decides.
        log: What the device prints in an arena of the size that was asked about.
        doubts: What all this takes for granted.
        settled_by: The command that executes the program with the model; "" where nothing here can.
        candidates: What the model needs in each case that the file leaves open, where they differ.
        banks: Where the program has a plan over several banks of RAM, what each needs; sizes above are their sum.
        parts: The same as parts of a document.
        ram: The RAM of the program's arena; None where the file does not say where it ends.
    """

    configuration: Configuration
    configurations: tuple[Configuration, ...]
    simulation: Simulation | None
    smallest: int | None
    multiple_of_16: int | None
    split: SplitArenaSizes | None
    works: bool | None
    reason: str
    log: tuple[str, ...]
    doubts: tuple[Doubt, ...]
    settled_by: str
    candidates: tuple[CandidateNeed, ...]
    banks: tuple[BankNeed, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    ram: Ram | None = None

    @property
    def bank_words(self) -> str:
        return bank_words(self.banks)

    @property
    def answer(self) -> Answer:
        """Whether it works, with every doubt about that."""
        return answer_of(self.works, self.doubts)


def bank_words(banks: Iterable[BankNeed]) -> str:
    return listed([_bank_words(bank) for bank in banks if bank.needed])


def _bank_words(bank: BankNeed) -> str:
    of = "" if bank.size is None else f" (of {bank.size:,} B)"
    return f"{bank.needed:,} B in {printable(bank.name)}{of}"
