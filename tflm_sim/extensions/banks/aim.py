"""``BankAim``: what ``shrink --bank`` makes smaller, the bytes that an Invoke() moves in slow banks.

    a rewriting --simulated--> its buffers and what the kernels load and store --the best plan--> bytes in slow banks

Where no plan fits, the arena is to become smaller first. Banks alone never lower the total; a rewriting does, and it
may bring a layer's rows into the fast bank one tile after the other.
"""

from __future__ import annotations

from collections.abc import Iterable

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import each_of
from tflm_sim.extensions.banks.bank import RamBank, parse_banks
from tflm_sim.extensions.banks.placement import BankQuestion, BestPlacement
from tflm_sim.model.types import Model

_UNPLACED = 1 << 40
"""Above all that an Invoke() moves: what a model costs that has no plan, with the bytes of its arena."""
_SECONDS = 5.0
"""For one plan; they take 0.1 s or less where banks are not full to the last bytes."""


TENSORS, MUST_HAVE, MOVED = "tensors and scratch buffers", "it must have", "loaded and stored, an Invoke()"
TAIL = "the tail, in one of them"
"""The names of figures; those of banks stand behind the bank's name."""


class BankAim:
    """The bytes that an Invoke() loads and stores in all banks but the fastest, by the best plan.

    Args:
        banks: The fastest first: ``RamBank`` or text as for ``--bank``, "dtcm=40KiB".
        options: The options of the command line that name them, for the command that comes next.

    Raises:
        UsageError: A text is no bank.
    """

    def __init__(self, banks: Iterable[RamBank | str], *, options: str = "") -> None:
        each = each_of(banks, (RamBank, str), "banks")
        texts = [bank if isinstance(bank, str) else _text(bank) for bank in each]
        self.banks = parse_banks(texts)
        self._options = options or " ".join(f"--bank {text}" for text in texts)
        self._slow = "slow banks" if len(self.banks) > 2 else self.banks[1].name

    @property
    def command(self) -> str:
        """What makes the planner for the firmware."""
        return f"tflm-sim plan FILE {self._options} -o banks.h"

    def cost(self, model: Model, configuration: Configuration) -> int:
        """Return the bytes in slow banks; where nothing fits, more than any Invoke() moves, and the arena's."""
        question, placed = self._placed(model, configuration)
        if placed.best is not None:
            return sum(placed.best.slowest_first)
        smallest = question.roomy.smallest
        assert smallest is not None, "AllocateTensors() succeeds in a roomy arena"
        return _UNPLACED + smallest.size

    def said(self, cost: int) -> str:
        if cost < _UNPLACED:
            return f"{cost:,} B in {self._slow}"
        return f"no plan that fits (an arena of {cost - _UNPLACED:,} B)"

    def figures(self, model: Model, configuration: Configuration) -> dict[str, int | None]:
        """Return what each bank holds and moves with the best plan, and the tail's bytes among them."""
        question, placed = self._placed(model, configuration)
        uses = [None] * len(self.banks) if placed.best is None else [*placed.best.uses]
        figures: dict[str, int | None] = {}
        for bank, use in zip(self.banks, uses, strict=True):
            figures[f"{bank.name}: {TENSORS}"] = None if use is None else use.planned
            figures[f"{bank.name}: {MUST_HAVE}"] = None if use is None else use.needed
            figures[f"{bank.name}: {MOVED}"] = None if use is None else use.moved.total
        figures[TAIL] = question.needs.tail
        return figures

    def _placed(self, model: Model, configuration: Configuration) -> tuple[BankQuestion, BestPlacement]:
        question = BankQuestion(simulate(model, configuration), replace_plan=True)
        return question, question.place(self.banks, time_limit=_SECONDS)


def _text(bank: RamBank) -> str:
    return f"{bank.name}={bank.size}" + ("" if bank.address is None else f"@{bank.address:#x}")
