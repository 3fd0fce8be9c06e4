"""What a model needs in a linked program, in words: the first line, and the last one."""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.checks.candidates import candidate_text
from tflm_sim.checks.doubts import first_words, listed, settling_lines, turning
from tflm_sim.checks.program_need import ProgramNeed
from tflm_sim.escape import printable
from tflm_sim.units import format_size


def need_line(need: ProgramNeed, limit: int | None = None) -> str | None:
    """Return the answer first: with what the figures below hang on; None where they hang on nothing.

    Args:
        need: What the model needs.
        limit: Bytes of the arena that was asked about; None where only the need was.
    """
    doubts = [replace(doubt, text=printable(doubt.text, 200)) for doubt in need.doubts]
    begin = first_words(need.works, doubts)
    if need.reason or need.works is None or need.multiple_of_16 is None:
        return f"{begin}: {printable(need.reason or candidate_text(need.candidates), 400)}"
    if need.banks:
        return f"{begin}: needs {need.bank_words}"
    if limit is not None:
        return f"{begin}: {_needed(need)} of {format_size(limit)}"
    texts = [doubt.text for doubt in turning(doubts)]
    return f"{_needed(need)}, if {listed(texts)}" if texts else None


def _needed(need: ProgramNeed) -> str:
    assert need.multiple_of_16 is not None, "some size is enough"
    if need.split is None:
        return f"needs {format_size(need.multiple_of_16)}"
    stays, rest = format_size(need.split.persistent), format_size(need.split.non_persistent)
    return f"needs {stays} for what stays and {rest} for the rest"


def last_lines(need: ProgramNeed) -> list[str]:
    """Return what the file leaves open, and last the command that settles what is."""
    open_ones = [candidate_text(need.candidates)] if need.candidates and need.works is not None else []
    return open_ones + settling_lines(need.answer, need.settled_by)
