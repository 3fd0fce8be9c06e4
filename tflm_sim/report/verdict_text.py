"""A verdict as a line for people, as JSON, and as Markdown for a CI's step summary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from tflm_sim.checks.doubts import EXIT_CODES, Answer, first_words, settling_lines
from tflm_sim.checks.verdict import Verdict
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE, OPTIONAL, named
from tflm_sim.document_types import Count
from tflm_sim.escape import code_span, printable
from tflm_sim.names import with_options
from tflm_sim.registry import part_lines
from tflm_sim.report.circumstances import sentence_with_assumed
from tflm_sim.report.document import ConfigurationFacts, ModelFacts, configuration_facts, model_facts
from tflm_sim.report.tables import table_lines
from tflm_sim.targets.history import is_commit
from tflm_sim.targets.ram_beside import RamBeside
from tflm_sim.targets.target import Target
from tflm_sim.units import format_size

MARKS = {0: "✅", 1: "❌", 3: "❓"}
"""What stands before a verdict in Markdown, by its exit code."""
_WORSE = (0, 3, 1)
"""Exit codes of verdicts, the worst last."""
LAST_OLD_YEAR = 2021
"""A library with a TFLM of this year or before is listed for a board, and does not decide."""


@dataclass(frozen=True, slots=True)
class BoardFacts:
    """The board that was named, and its flash."""

    name: str
    flash_bytes: Count | None


@dataclass(frozen=True, slots=True)
class LibraryVerdict:
    """What one of several libraries needs.

    Attributes:
        library: The library, or tflite-micro at a commit of upstream.
        upstream_day: When upstream's main was what it holds.
        is_old: Whether that is so long ago that it does not decide, where another library is newer.
    """

    library: str
    upstream_day: str
    is_old: bool
    kernels: str
    needed: Count | None = field(metadata=named("smallest_arena_multiple_of_16"))
    answer: Answer
    fits: bool | None
    growth: int | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictDocument:
    """Whether a model fits; sizes are bytes.

    Attributes:
        answer: Whether it works; "if" where a doubt can turn it.
        fits: The same as true or false; null where the answer is "if" or "cannot tell".
        growth: Since the baseline.
        libraries: With a board and without a library: the verdict with each that people use there. The document's own
            verdict and configuration are those of the one that decides.
        assumed: The options that the verdict depends on and that were not given.
        firmware: What tflm-sim.toml calls the firmware.
    """

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    board: BoardFacts | None
    answer: Answer
    fits: bool | None
    verdict: Verdict = field(metadata=INLINE)
    growth: int | None
    libraries: tuple[LibraryVerdict, ...] | None = field(default=None, metadata=OPTIONAL)
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    firmware: str | None = field(default=None, metadata=OPTIONAL)


Judged = Sequence[tuple[Verdict, Configuration]]
"""The verdicts on one model, each with its configuration."""


def deciding(judged: Judged) -> tuple[Verdict, Configuration]:
    """Return the verdict that speaks for all: the worst, and of several the one that needs most.

    Of a board's libraries those speak that people use on it now; the others only where there is none of now.
    """
    of_now = [row for row in judged if not is_old(row[1])]
    return max(of_now or judged, key=lambda row: (_WORSE.index(row[0].exit_code), row[0].needed or 0))


def is_old(configuration: Configuration) -> bool:
    """Whether a library holds a TFLM that is so old that it says nothing about what people use now."""
    year = re.search(r"\d{4}", configuration.target.runtime.day)  # "2023-01-13", "early 2021"
    return year is not None and int(year[0]) <= LAST_OLD_YEAR


def _is_too_large(verdict: Verdict) -> bool:
    return verdict.smallest is not None and (verdict.needed or 0) > (verdict.limit or 0)


def verdict_lines(verdict: Verdict) -> list[str]:
    """Return the answer first, then what the baseline says; last, what settles it where it is open."""
    lines = [answer_line(verdict)]
    is_decided_by_size = verdict.works is not None and (verdict.works is not _is_too_large(verdict))
    if verdict.smallest not in (None, verdict.needed) and is_decided_by_size:
        lines.append(f"the smallest arena is {verdict.smallest:,} B; what is needed is the next multiple of 16")
    lines += ram_lines(verdict.ram) if verdict.ram is not None else []
    lines += part_lines("Verdict", verdict.parts)
    if verdict.missing_baseline and verdict.is_good:  # No size is remembered of one that does not work.
        lines.append(f"not compared: {printable(verdict.missing_baseline, 400)}")
    if verdict.growth:
        assert verdict.before is not None, "a growth has a start"
        lines.append(f"{verdict.growth:+,} B since the baseline of {format_size(verdict.before)}")
    if verdict.works is False and _is_too_large(verdict):
        lines += shrinking_lines(verdict.shrunk_by)
    return lines + settling_lines(verdict.answer, verdict.settled_by)


def of_model(name: str, line: str) -> str:
    """Return a line with the name of what it is about before it; one that is indented goes on with the line above."""
    return line if line.startswith(" ") else f"{name}{line}"


def shrinking_lines(command: str) -> list[str]:
    """Return the lines with the command that looks for rewritings that need less; none where it is ""."""
    return ["this looks for rewritings that need less, with the same outputs:", f"  {command}"] if command else []


def ram_lines(ram: RamBeside, *, has_sources: bool = False) -> list[str]:
    """Return what a board's software leaves of its RAM, and a line for each figure, with its source if asked."""
    title = f"{ram.name} leaves {ram.left:,} B" + ("" if ram.is_left else f" of {ram.ram:,} B")
    origins = [f"{part.how}: {part.source}" if has_sources else part.how for part in ram.parts]
    rows = zip(ram.parts, origins, strict=True)
    lines = [f"{title}:", *(f"  {part.bytes:>9,} B {part.what} ({origin})" for part, origin in rows)]
    return lines if has_sources else [*lines, "  where that is published: --json"]


def library_lines(judged: Judged, board_name: str) -> list[str]:
    """Return which library decides on a board, and a line for each that a model was judged with."""
    title = f"so it is with {_library_name(deciding(judged)[1])}, of the libraries that people use on {board_name}:"
    rows = [_library(*row) for row in sorted(judged, key=lambda row: is_old(row[1]))]
    said = {"cannot tell": "-"}
    cells = [
        (
            said.get(row.answer, row.answer),
            "-" if row.needed is None else f"{row.needed:,} B",
            row.library,
            row.upstream_day,
            row.kernels,
        )
        for row in rows
    ]
    lines = table_lines([("fits", "needs", "library", "TFLM of", "kernels"), *cells])
    old = [row.library for row in rows if row.is_old]
    note = [f"  of {LAST_OLD_YEAR} or before, and without a say: {', '.join(old)}"] if 0 < len(old) < len(rows) else []
    return [title, *(f"  {line}" for line in lines), *note]


def _library_name(configuration: Configuration) -> str:
    snapshot = configuration.target.runtime.snapshot
    return f"tflite-micro@{snapshot}" if is_commit(snapshot) else snapshot


def _library(verdict: Verdict, configuration: Configuration) -> LibraryVerdict:
    target = configuration.target
    return LibraryVerdict(
        library=_library_name(configuration),
        upstream_day=target.runtime.day,
        is_old=is_old(configuration),
        kernels=f"{target.kernel_library.name}@{target.kernel_library.version}".removesuffix("@"),
        needed=verdict.needed,
        answer=verdict.answer,
        fits=verdict.fits,
        growth=verdict.growth,
        reason=verdict.reason,
    )


def answer_line(verdict: Verdict) -> str:
    """Return the answer, what it takes for granted, and how much there is or what is missing."""
    begin = first_words(verdict.works, [replace(one, text=printable(one.text, 200)) for one in verdict.doubts])
    if not verdict.works or verdict.needed is None or verdict.limit is None:
        return f"{begin}: {printable(verdict.reason, 400)}"
    limit, spare = format_size(verdict.limit), verdict.limit - verdict.needed
    if spare < 0:
        return f"{begin}: {limit} work, though the smallest multiple of 16 is {format_size(verdict.needed)}"
    return f"{begin}: needs {format_size(verdict.needed)} of {limit}, {format_size(spare)} to spare"


def headline(verdicts: Sequence[Verdict]) -> str:
    """Return the verdict on several models in a sentence."""
    codes = [verdict.exit_code for verdict in verdicts]
    count, bad = len(codes), codes.count(1)
    open_ones = [verdict for verdict in verdicts if verdict.exit_code == EXIT_CODES["if"]]
    unknown, doubtful, new = (sum(one.answer == answer for one in open_ones) for answer in ("cannot tell", "if", "yes"))
    parts = [f"{unknown} of {count} cannot be told"] if unknown else []
    parts += [f"{doubtful} of {count} {'hangs' if doubtful == 1 else 'hang'} on a doubt"] if doubtful else []
    parts += [f"{new} of {count} {'fits and is' if new == 1 else 'fit and are'} not in the baseline"] if new else []
    if bad:
        also = "".join(f"; {part.replace(f' of {count}', '')}" for part in parts)
        return f"no: {bad} of {count} {'does' if bad == 1 else 'do'} not fit, or grew{also}"
    if parts:
        others = "; the others fit" if len(open_ones) < count else ""
        return f"{', '.join(parts)}{others}"
    return f"yes: all {count} fit" if count else "no model to check"


def verdict_document(
    judged: Judged, *, assumed: tuple[str, ...] | None = None, firmware: str | None = None
) -> VerdictDocument:
    """Return the verdict on a model as a document.

    Args:
        judged: The verdicts.
        assumed: The options that were not given; None where no options were asked for.
        firmware: What the project's file calls the firmware, None without such a file.
    """
    verdict, configuration = deciding(judged)
    chosen = verdict.board
    return VerdictDocument(
        model=model_facts(verdict.model, verdict.name),
        configuration=configuration_facts(configuration),
        board=None if chosen is None else BoardFacts(chosen.name, chosen.flash),
        answer=verdict.answer,
        fits=verdict.fits,
        verdict=verdict,
        growth=verdict.growth,
        libraries=tuple(_library(*row) for row in judged) if len(judged) > 1 else None,
        assumed=assumed,
        firmware=firmware,
    )


def verdict_markdown(verdict: Verdict, assumed: Sequence[str] = (), open_targets: Iterable[Target] = ()) -> str:
    """Return a heading and a table; what comes from strangers cannot end the code span or the cell that it is in."""
    size = "-" if verdict.needed is None else format_size(verdict.needed)
    limit = "-" if verdict.limit is None else format_size(verdict.limit)
    growth = "-" if verdict.growth is None else f"{verdict.growth:+,} B"
    lines = [
        f"### {MARKS[verdict.exit_code]} {sentence_with_assumed(code_span(verdict.name), assumed, open_targets)}",
        "",
        "| smallest arena | limit | since the baseline | configuration |",
        "|---:|---:|---:|---|",
        f"| {size} | {limit} | {growth} | {code_span(verdict.key.rpartition(' on ')[2])} |",
        "",
    ]
    if verdict.exit_code:
        lines += [code_span(with_options(line.strip())) for line in verdict_lines(verdict)] + [""]
    return "\n".join(lines) + "\n"


def about_markdown(lines: Sequence[str]) -> str:
    """Return a list of what the verdicts are for; options and names in code spans."""
    return "".join(f"- {code_span(line)}\n" for line in lines) + "\n"
