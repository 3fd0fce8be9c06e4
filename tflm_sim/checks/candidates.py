"""What a model needs on each target that is possible for a linked program."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.cases import cases_of, range_of
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_types import Count
from tflm_sim.model.types import Model


class CandidateNeed(NamedTuple):
    """What a model needs on one of the targets; null where no size is enough.

    Attributes:
        case: What tells it from the others: a version of TFLM, the size of enums, the interpreter.
        smallest_arena: Bytes.
    """

    case: str
    smallest_arena: Count | None


def most_demanding(model: Model, configurations: Sequence[Configuration]) -> tuple[Simulation, list[CandidateNeed]]:
    """Return the simulation that needs most, and the need of each configuration; [] where all need the same.

    Args:
        model: The model.
        configurations: One or several.
    """
    runs = [simulate(model, configuration) for configuration in configurations]
    needs = [run.smallest.size if run.smallest else None for run in runs]
    worst = max(runs, key=lambda run: run.smallest.size if run.smallest else math.inf)
    if len(set(needs)) == 1:
        return runs[0], []
    return worst, list(map(CandidateNeed, cases_of(configurations), needs))


def candidate_text(needs: Sequence[CandidateNeed]) -> str:
    """Return the candidates in a sentence, those that need the same together."""
    groups: dict[int | None, list[str]] = {}
    for case, need in needs:
        groups.setdefault(need, []).append(case)
    parts = (f"{range_of(cases)}: {'fails' if need is None else f'{need:,} B'}" for need, cases in groups.items())
    return "the file leaves open which it is: " + "; ".join(parts)
