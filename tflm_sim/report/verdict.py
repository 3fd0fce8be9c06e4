"""A verdict as a line for people, as JSON, and as Markdown for a CI's step summary."""

from __future__ import annotations

from typing import Literal

from tflm_sim.checks.verdict import Verdict
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE
from tflm_sim.document_types import Count
from tflm_sim.escape import printable
from tflm_sim.report.document import ConfigurationFacts, ModelFacts, configuration_facts, model_facts
from tflm_sim.units import format_size
from tflm_sim.values import dataclass, field

_MARKS = {True: "✅", False: "❌"}


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """The board that was named, and its flash."""

    name: str
    flash_bytes: Count | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictDocument:
    """Whether a model fits; sizes are bytes.

    Attributes:
        growth: Since the baseline.
    """

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    board: BoardFacts | None
    verdict: Verdict = field(metadata=INLINE)
    growth: int | None


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return the answer first, then what the baseline says."""
    lines = [_answer(verdict)]
    if verdict.growth:
        assert verdict.before is not None, "a growth has a start"
        lines.append(f"{verdict.growth:+,} B since the baseline of {format_size(verdict.before)}")
    return lines


def _answer(verdict: Verdict) -> str:
    if not verdict.fits or verdict.needed is None or verdict.limit is None:
        reason = printable(verdict.reason, 400)
        return reason if verdict.fits is None else f"no: {reason}"
    limit, spare = format_size(verdict.limit), verdict.limit - verdict.needed
    if spare < 0:
        return f"yes: {limit} work, though the smallest multiple of 16 is {format_size(verdict.needed)}"
    return f"yes: needs {format_size(verdict.needed)} of {limit}, {format_size(spare)} to spare"


def verdict_document(verdict: Verdict, configuration: Configuration) -> VerdictDocument:
    """Return the verdict as a document."""
    chosen = verdict.board
    return VerdictDocument(
        model=model_facts(verdict.model, verdict.name),
        configuration=configuration_facts(configuration),
        board=None if chosen is None else BoardFacts(chosen.name, chosen.flash),
        verdict=verdict,
        growth=verdict.growth,
    )


def verdict_markdown(verdict: Verdict) -> str:
    """Return a heading and a table; what comes from strangers cannot end the code span or the cell that it is in."""
    size = "-" if verdict.needed is None else format_size(verdict.needed)
    limit = "-" if verdict.limit is None else format_size(verdict.limit)
    growth = "-" if verdict.growth is None else f"{verdict.growth:+,} B"
    lines = [
        f"### {_MARKS[verdict.is_good]} {_code(verdict.name)}",
        "",
        "| smallest arena | limit | since the baseline | configuration |",
        "|---:|---:|---:|---|",
        f"| {size} | {limit} | {growth} | {_code(verdict.key.rpartition(' on ')[2])} |",
        "",
    ]
    if not verdict.is_good or verdict.fits is None:
        lines += [_code(line) for line in verdict_lines(verdict)] + [""]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    return f"`{printable(text, 200).replace('`', ' ').replace('|', ' ')}`"
