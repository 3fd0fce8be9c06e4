"""What ``shrink`` found, for people and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, Protocol

from tflm_sim.checks.doubts import Answer, fits_of
from tflm_sim.device.cases import range_of
from tflm_sim.document_fields import INLINE, OPTIONAL, named
from tflm_sim.document_types import Count
from tflm_sim.errors import expect
from tflm_sim.escape import printable
from tflm_sim.extensions.shrink.shrunk import (
    AimGain,
    Conversion,
    Cost,
    ElementNumbers,
    Gain,
    ProgramProof,
    Proof,
    Shrunk,
    Sizes,
)
from tflm_sim.ops.resolver import resolver_method
from tflm_sim.registry import part_lines
from tflm_sim.report.tables import fitting_columns, table_lines
from tflm_sim.sizes import as_size
from tflm_sim.units import format_size


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedGain:
    """What a program says itself of the model before and after, executed with each.

    Attributes:
        program: The program.
        before: How that was found, by the extension that did.
        arena_before: The program's smallest arena, bytes; null where AllocateTensors() fails in any.
        after: As ``before``.
        arena_after: As ``arena_before``.
    """

    program: str
    before: dict[str, Any]
    arena_before: Count | None = field(metadata=named("arena_before_bytes"))
    after: dict[str, Any]
    arena_after: Count | None = field(metadata=named("arena_after_bytes"))

    @property
    def has_gained(self) -> bool:
        """Whether the program needs less than before."""
        return self.arena_after is not None and (self.arena_before is None or self.arena_after < self.arena_before)


class _Placed(Protocol):
    """A result, as far as the firmware has to know of it."""

    @property
    def gains(self) -> tuple[Gain, ...]: ...
    @property
    def extra_operators(self) -> tuple[str, ...]: ...


class _Proved(Protocol):
    """A result, as far as it was checked."""

    @property
    def verified(self) -> str: ...
    @property
    def proof(self) -> Proof | None: ...
    @property
    def program_proof(self) -> ProgramProof | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ShrunkDocument:
    """What became of a model.

    Attributes:
        output: The file that was written.
        answer: With a goal: what ``check`` answers about the result with the goal as its limit.
        goal_met: The same as true or false; null where it is "if" or "cannot tell", or without a goal.
        executed: What the program says that was executed with both; null unless asked for, or where nothing gained.
        program: What a program's file says that was only read; null where none was.
    """

    schema_version: Literal[1] = 1
    model: str | None
    output: str | None
    goal_bytes: Count | None
    answer: Answer | None = field(default=None, metadata=OPTIONAL)
    goal_met: bool | None
    executed: ExecutedGain | None = None
    program: dict[str, Any] | None = None
    shrunk: Shrunk = field(metadata=INLINE)


def shrunk_document(
    shrunk: Shrunk,
    *,
    goal: int | None,
    answer: Answer | None,
    output: str | None,
    executed: ExecutedGain | None = None,
    program: dict[str, Any] | None = None,
) -> ShrunkDocument:
    return ShrunkDocument(
        model=shrunk.origin.path,
        output=output,
        goal_bytes=goal,
        answer=answer,
        goal_met=None if answer is None else fits_of(answer),
        executed=executed,
        program=program,
        shrunk=shrunk,
    )


def shrunk_lines(
    shrunk: Shrunk, *, goal: int | str | None = None, explain: bool = False, width: int | None = None
) -> list[str]:
    """Return the answer for people.

    Args:
        shrunk: What :func:`~tflm_sim.extensions.shrink.shrink.shrink` returned.
        goal: Bytes of arena, or text ("64KiB"), that it should meet; None for no word on that.
        explain: Say of every pass what it did and why.
        width: Columns that there are for its tables; None for any.
    """
    expect(shrunk, Shrunk, "a result of shrink()")
    if width is not None:
        width = expect(width, int, "a width in columns")
    explain = expect(explain, bool, "explain as a truth value")
    goal = as_size(goal, "goal")
    lines = [_headline(shrunk, goal), ""]
    rows = list(target_rows(shrunk.gains))
    shown = fitting_columns(rows, range(len(rows[0])), width=width)  # head and tail are left out first
    lines += table_lines([[row[column] for column in shown] for row in rows])
    for aim in shrunk.aims:
        lines += ["", *table_lines(list(_aim_rows(aim, is_one=len(shrunk.aims) == 1)))]
    lines += ["", *table_lines(list(cost_rows(shrunk.before, shrunk.after)))]
    if shrunk.has_gained:
        lines += ["", *_pass_lines(shrunk, width)]
    if shrunk.stopped:
        lines += ["", f"the search ended early: {shrunk.stopped}; this is the best until then"]
    bound, arenas = shrunk.bound, "both arenas" if shrunk.gains[0].before.split else "the arena"
    if not shrunk.aims:
        lines += [
            "",
            f"no rewriting of ours brings the head below {bound.head:,} B, the live bytes of {bound.operator} alone, "
            f"or {arenas} below {bound.arena:,} B, as operators that are not split keep {bound.tail:,} B in the tail",
        ]
    lines += [f"left alone: {printable(sentence, 200)}" for sentence in shrunk.left_alone]
    lines += dict.fromkeys(_rejected_lines(shrunk))
    if explain:
        lines += ["", *_explained(shrunk)]
    if shrunk.with_int8_io is not None:
        sizes = _sizes(shrunk.with_int8_io)
        lines.append(f"--int8-io would give {sizes}: integers at the inputs and outputs, which the firmware converts")
    if shrunk.has_gained:
        for_firmware = firmware_lines(shrunk, has_arena=not shrunk.aims)
        lines += ["", "for the firmware:", *(f"    {line}" for line in for_firmware)] if for_firmware else []
        lines += _conversion_lines(shrunk.conversions)
        lines += ["", *trust_lines(shrunk)]
    return lines


def executed_gain_lines(gain: ExecutedGain) -> list[str]:
    """Return what the program says, for people; of a model that nothing changed once."""
    sizes = ["no arena is enough" if size is None else f"{size:,} B" for size in (gain.arena_before, gain.arena_after)]
    needs = f"{sizes[0]} as it is" if gain.after is gain.before else f"{sizes[0]} before, {sizes[1]} after"
    lines = [f"executed: {printable(gain.program, 200)} needs {needs}"]
    for when, facts in (("before", gain.before), *([] if gain.after is gain.before else [("after", gain.after)])):
        lines += [f"    {when}: {printable(line, 300)}" for line in part_lines("SizeDocument", facts)[1:]]
    return lines


def _headline(shrunk: Shrunk, goal: int | None) -> str:
    name = printable(PurePath(shrunk.origin.path or "model").name)
    gain = shrunk.gains[0]
    if shrunk.aims and shrunk.has_gained:
        aim = shrunk.aims[0]
        return f"{name}: {aim.before} -> {aim.after} on {aim.target}, {shrunk.macs_in_words}"
    met = "" if goal is None else f"; the goal of {goal:,} B is {'met' if shrunk.fits(goal) else 'NOT met'}"
    if not shrunk.has_gained:
        if goal is not None and shrunk.fits(goal):
            return f"{name}: {gain.before.arena:,} B {gain.where} are within the goal of {goal:,} B as it is"
        if shrunk.stopped:
            return f"{name}: nothing smaller was found before the search ended{met}"
        return f"{name}: nothing that we know makes it smaller{met}"
    return f"{name}: {gain.in_words} (-{gain.percent:.1f} %), {shrunk.macs_in_words}{met}"


def target_rows(gains: Sequence[Gain]) -> Iterator[list[str]]:
    """Yield a table of arenas before and after; targets that gain the same are one row."""
    has_pairs = all(gain.before.split for gain in gains)
    yield ["target", *(_OF_TWO if has_pairs else ("arena", "saved", "head", "tail"))]
    alike: dict[tuple[str, Sizes, Sizes], list[Gain]] = {}
    for gain in gains:
        alike.setdefault((gain.target, gain.before, gain.after), []).append(gain)
    for (target, before, after), same in alike.items():
        case = range_of([gain.case for gain in same])
        label = f"{target}, {case}" if case else target
        arena, *parts = (
            f"{first:,} -> {last:,}"
            for first, last in zip(_figures(before, has_pairs), _figures(after, has_pairs), strict=True)
        )
        yield [label, arena, f"{same[0].percent:.1f} %", *parts]


_OF_TWO = ("both arenas", "saved", "persistent", "non-persistent")


def _figures(sizes: Sizes, is_pair: bool) -> tuple[int, int, int]:
    """Return the arena and its two parts: of a pair what each needs, else head and tail."""
    if is_pair and sizes.split is not None:
        return sizes.arena, sizes.split.persistent, sizes.split.non_persistent
    return sizes.arena, sizes.head, sizes.tail


def _aim_rows(aim: AimGain, *, is_one: bool) -> Iterator[list[str]]:
    yield ["bytes" if is_one else f"bytes on {aim.target}", "before", "after", "change"]
    for name, (before, after) in aim.figures.items():
        change = f"{100 * (after - before) / before:+.1f} %" if before and after is not None else "-"
        yield [name, *("-" if each is None else f"{each:,}" for each in (before, after)), change]


def cost_rows(before: Cost, after: Cost) -> Iterator[list[str]]:
    """Yield a table of what models cost beside their arenas."""
    yield ["cost", "before", "after", "change"]
    for name, was, now in (
        ("multiply-accumulates", before.macs, after.macs),
        ("bytes of the file", before.file_bytes, after.file_bytes),
        ("operators to run", before.operators, after.operators),
    ):
        change = f"{100 * (now - was) / was:+.1f} %" if was else "-"
        yield [name, f"{was:,}", f"{now:,}", change]


_WATERFALL = 16
"""Columns of the bar of a pass."""


def _pass_lines(shrunk: Shrunk, width: int | None) -> list[str]:
    rows = [["pass", "arena", "", "edits", ""]]
    most = before = shrunk.gains[0].before.arena if shrunk.steps else 0
    for step in shrunk.steps:
        first = step.edits[0]
        words = printable(f"{first.where} {first.what}" + (", ..." if len(step.edits) > 1 else ""), 400)
        beginning = words if len(words) <= 90 else f"{words[:89]}…"
        left, was = (max(1, _WATERFALL * size // max(most, 1)) for size in (step.arenas[0], before))
        before = step.arenas[0]
        # A waterfall: what is left, and what this pass took away.
        rows.append([step.name, f"{before:,}", "█" * left + "░" * (was - left), str(len(step.edits)), beginning])
    return table_lines(rows, width=width)


def _sizes(arenas: Sequence[int]) -> str:
    return " and ".join(f"{size:,} B" for size in dict.fromkeys(arenas))


def _explained(shrunk: Shrunk) -> list[str]:
    lines = []
    for step in shrunk.steps:
        lines.append(f"{step.name}: {_sizes(step.arenas)}")
        for edit in step.edits:
            lines.append(f"    {printable(edit.where, 80)} {printable(edit.what, 160)}")
            lines += _part_lines(edit.facts)
    return lines


def _rejected_lines(shrunk: Shrunk) -> Iterator[str]:
    for row in shrunk.rejected:
        sizes = "" if row.arenas is None else f" ({_sizes(row.arenas)})"
        yield f"rejected: {row.name}: {printable(row.reason, 200)}{sizes}"


def _part_lines(facts: dict[str, object]) -> list[str]:
    parts = facts.get("parts")
    if not isinstance(parts, list):
        return []
    lines = []
    for part in parts:
        computed = ", ".join(f"tensor {tensor} [{start}, {end})" for tensor, start, end in part["computed"])
        lines.append(f"        {facts['kind']} [{part['share'][0]}, {part['share'][1]}): computes {computed}")
    return lines


def firmware_lines(shrunk: _Placed, *, has_arena: bool = True) -> list[str]:
    """Return what the firmware says for the result: an arena for each target, and the operators that it needs more.

    Args:
        shrunk: The result.
        has_arena: Whether there is one arena to declare; of banks, the planner's header has the arrays.
    """
    sizes: dict[tuple[str, str], int] = {}
    for gain in shrunk.gains:
        for array, size in _arrays(gain.after):
            sizes[array, gain.target] = max(size, sizes.get((array, gain.target), 0))
    lines: list[str] = []
    for array in dict.fromkeys(array for array, _ in sizes if has_arena):
        own = {target: size for (each, target), size in sizes.items() if each == array}
        is_one = len({*own.values()}) == 1
        lines += [
            f"alignas(16) uint8_t {array}[{size}];  // {f'on {target}: ' if not is_one else ''}{format_size(size)}"
            for target, size in ([*own.items()][:1] if is_one else own.items())
        ]
    if shrunk.extra_operators:
        lines.append(f"// {len(shrunk.extra_operators)} more in MicroMutableOpResolver<N>:")
        lines += [f"resolver.{resolver_method(name)}();" for name in shrunk.extra_operators]
    return lines


def _arrays(sizes: Sizes) -> Iterator[tuple[str, int]]:
    """Yield the name and the bytes of each array that the firmware declares."""
    if sizes.split is None:
        yield "tensor_arena", sizes.multiple_of_16
    else:
        yield "persistent_arena", sizes.split.persistent
        yield "non_persistent_arena", sizes.multiple_of_16 - sizes.split.persistent


def _conversion_lines(conversions: Sequence[Conversion]) -> list[str]:
    """Return what the firmware and its tests do at the inputs and outputs that are integers now."""
    if not conversions:
        return []
    lines = ["", "the interface has changed:"]
    lines += [f"    {_changed_end(end)}" for end in conversions]
    lines += ["in C, an element a call:", "    #include <math.h>", "    #include <stdint.h>"]
    lines += [f"    {line}" for end in conversions for line in end.c]
    lines += ["in Python, an array a call:", "    import numpy as np"]
    return lines + [f"    {line}" for end in conversions for line in end.python]


def _changed_end(end: Conversion) -> str:
    name = f' "{printable(end.name, 60)}"' if end.name else ""
    return f"{end.what} {end.index}{name}: {_numbers(end.after)} instead of {_numbers(end.before)}"


def _numbers(numbers: ElementNumbers) -> str:
    if numbers.scale is None:
        return numbers.type
    return f"{numbers.type} with scale {numbers.scale:.9g} and zero point {numbers.zero_point}"


def _distinct(outputs: int) -> str:
    return f"{outputs:,} distinct output{'s' * (outputs != 1)}"


def trust_lines(shrunk: _Proved) -> list[str]:
    """Return what was checked of a result, and what ran."""
    lines = []
    if shrunk.verified:
        lines.append(f"verified: {shrunk.verified}")
    proof, executed = shrunk.proof, shrunk.program_proof
    if executed is not None:
        arenas = [f"{size:,} B" if size is not None else "unknown" for size in (executed.arena_before, executed.arena)]
        lines.append(
            f"proved: {executed.runs:,} runs in {printable(executed.program, 200)}, executed, every output byte the "
            f"same ({_distinct(executed.distinct)}; with damaged weights they differ); its smallest arena: "
            f"{arenas[0]} before, {arenas[1]} after"
        )
    elif proof is None:
        lines.append("not run: --prove 20 runs both in the real TFLM and compares every byte")
    else:
        less = "fails with 16 B less" if proof.fails_below else "also runs with 16 B less"
        lines.append(
            f"proved: {proof.runs:,} runs in the real TFLM (x86-64), every output byte the same "
            f"({_distinct(proof.distinct)}), in {proof.arena:,} B as predicted; {less}"
        )
    return lines
