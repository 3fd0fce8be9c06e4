"""What a model needs on each of the targets that a linked program leaves possible."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_types import Count
from tflm_sim.model.types import Model
from tflm_sim.values import NamedTuple


class CandidateNeed(NamedTuple):
    """What a model needs on one of the targets; null where no size is enough.

    Attributes:
        case: What tells it from the others: a version of TFLM, the size of enums, the interpreter.
        smallest_arena: Bytes.
    """

    case: str
    smallest_arena: Count | None


def words_of(configuration: Configuration) -> dict[str, str]:
    """Return what can differ between the targets that a program leaves possible, in words."""
    target = configuration.target
    return {
        "TFLM": f"TFLM {target.runtime.snapshot}",
        "enums": "short enums" if target.abi.short_enums else "int enums",
        "kernels": f"kernels optimized for {target.runtime.optimize_kernels_for}",
        "interpreter": f"{configuration.interpreter} interpreter",
    }


def most_demanding(model: Model, configurations: Sequence[Configuration]) -> tuple[Simulation, list[CandidateNeed]]:
    """Return the simulation that needs most, and what each needs; [] where all need the same.

    Args:
        model: The model.
        configurations: One or several.
    """
    runs = [simulate(model, configuration) for configuration in configurations]
    needs = [run.smallest.size if run.smallest else None for run in runs]
    worst = max(runs, key=lambda run: run.smallest.size if run.smallest else math.inf)
    if len(set(needs)) == 1:
        return runs[0], []
    return worst, list(map(CandidateNeed, _distinguishing_words(configurations), needs))


def _distinguishing_words(configurations: Sequence[Configuration]) -> Iterator[str]:
    """Yield in which way each configuration differs from the others."""
    words = [words_of(configuration) for configuration in configurations]
    open_ones = [name for name in words[0] if len({one[name] for one in words}) > 1]
    return (", ".join(one[name] for name in open_ones) for one in words)


def candidate_text(needs: Sequence[CandidateNeed]) -> str:
    """Return the candidates in a sentence, those that need the same together."""
    groups: dict[int | None, list[str]] = {}
    for case, need in needs:
        groups.setdefault(need, []).append(case)
    parts = (
        f"{cases[0] if len(cases) == 1 else f'{cases[-1]} to {cases[0]}'}: "
        + ("fails" if need is None else f"{need:,} B")
        for need, cases in groups.items()
    )
    return "the file leaves open which it is: " + "; ".join(parts)
