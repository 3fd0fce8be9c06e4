"""A picture for the terminal: one line a phase or operator, memory to the right, with or without colour.

    prepare at #2            ttt.....................========|
    #0 CONV_2D               AAAAAABBBBBBBBBBBBBBBB..========|
    #1 MAX_POOL_2D           CCCCCCCCBBBBBBBBBBBBBB..========| < fullest: 22,528 B alive

Capital and small letters are the buffers of the head in turn; the legend says what the others are.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePath

from tflm_sim.arena.stages import PARTS, Stage
from tflm_sim.escape import printable
from tflm_sim.palette import CATEGORIES, Category
from tflm_sim.report.picture import Block, Picture, is_tail

LETTERS = string.ascii_uppercase + string.ascii_lowercase
FREE = "."
MAX_ROWS = 48
MIN_WIDTH = 40
_RESET = "\x1b[0m"
_PART_OF = {stage.value: stage.part for stage in Stage}


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes [start, end) of a row, and what stands for them."""

    start: int
    end: int
    letter: str
    category: Category


def map_lines(picture: Picture, *, width: int = 80, color: bool = False) -> list[str]:
    """Return the picture as lines of at most ``width`` columns (at least 40); without ``color`` they are plain text."""
    return _Map(picture, max(width, MIN_WIDTH), color=color).lines()


def _is_shown(row: Block, step: int, last: int) -> bool:
    """Whether a block is alive at a step; the tail is shown as it is at the last one."""
    return row.begin <= step < row.end or (is_tail(row) and row.begin <= last)


class _Map:
    def __init__(self, picture: Picture, width: int, *, color: bool) -> None:
        self.picture = picture
        self.color = color
        self.each = -(-len(picture.scopes) // MAX_ROWS)
        widest = max((_columns(self._name_of(scope)) for scope in range(len(picture.scopes))), default=0)
        self.label_width = max(12, min(30, width // 4), min(widest, width * 2 // 5))
        self.columns = width - self.label_width - 3
        self.per_column = max(1, -(-picture.arena_bytes // self.columns))
        self.letters = {id(row): LETTERS[i % len(LETTERS)] for i, row in enumerate(picture.residents)}
        self.used: dict[str, None] = {}
        self.width = width

    def lines(self) -> list[str]:
        """Return title, allocation, invocation, legend."""
        picture = self.picture
        name = printable(PurePath(picture.size.model.path or "model").name)
        lines = [
            self._clip(f"{name}: {picture.arena_note}; one column is {self.per_column:,} B"),
            self._clip(printable(picture.title, 200)),
            "",
            "AllocateTensors()",
            *self._stages(),
        ]
        if picture.failure:
            lines += ["", f"AllocateTensors() fails: {printable(picture.failure, 300)}"]
        if picture.scopes and not picture.failure:
            several = f", of each {self.each} operators in turn the one with most bytes" if self.each > 1 else ""
            lines += [f"Invoke(){several}", *self._scopes()]
        return [*lines, "", *self._legend(), *self._peak()]

    def _clip(self, text: str) -> str:
        return fit(text, self.width).rstrip()

    # -- AllocateTensors() --------------------------------------------------------------------------------------------

    def _stages(self) -> Iterable[str]:
        """Yield each stage at its fullest step; of prepare, say which operator's that is."""
        for title in PARTS:
            steps = [step for first, last in self._ranges(title) for step in range(first, last)]
            if not steps:
                continue
            blocks = [row for row in self.picture.blocks if row.begin <= steps[-1] and row.end > steps[0]]
            temps = sorted(filter(_is_temp, blocks), key=lambda row: -(row.offset + row.size))
            step = max(temps[0].begin, steps[0]) if temps else steps[-1]
            alive = [row for row in blocks if _is_shown(row, step, steps[-1])]
            at = f" at #{self._operator(step)}" if title == "prepare" and temps else ""
            yield self._row(f"{title}{at}", list(map(self._block_span, alive)))

    def _ranges(self, part: str) -> Iterable[tuple[int, int]]:
        moments = self.picture.moments
        for i, moment in enumerate(moments):
            if _PART_OF.get(moment.name) == part:
                yield moment.step, moments[i + 1].step if i + 1 < len(moments) else len(self.picture.steps)

    def _operator(self, step: int) -> int:
        return max((row for row in self.picture.moments if row.step <= step), key=lambda row: row.step).operator

    def _block_span(self, row: Block) -> _Span:
        category = CATEGORIES[row.category]
        return _Span(row.offset, row.offset + row.size, category.letter, category)

    # -- Invoke() -----------------------------------------------------------------------------------------------------

    def _scopes(self) -> Iterable[str]:
        picture = self.picture
        tail = [self._block_span(row) for row in picture.blocks if is_tail(row)]
        for first in range(0, len(picture.scopes), self.each):
            group = range(first, min(first + self.each, len(picture.scopes)))
            fullest = max(group, key=picture.live_bytes.__getitem__)
            spans = [
                _Span(row.offset, row.offset + row.size, self.letters[id(row)], CATEGORIES[row.category])
                for row in picture.alive(fullest)
            ]
            yield self._row(self._name_of(fullest), [*tail, *spans], mark="<" if picture.peak_scope in group else "")

    def _name_of(self, scope: int) -> str:
        return printable(self.picture.op_at(scope), 120).replace(" of subgraph ", " subgraph ")

    # -- rows ---------------------------------------------------------------------------------------------------------

    def _row(self, label: str, spans: Sequence[_Span], *, mark: str = "") -> str:
        cells: list[_Span | None] = [None] * self.columns
        for span in sorted(spans, key=lambda span: span.start - span.end):
            if span.end > span.start:
                first, last = span.start // self.per_column, -(-span.end // self.per_column)
                cells[first:last] = [span] * (min(last, self.columns) - first)
        end = -(-self.picture.arena_bytes // self.per_column)
        for span in filter(None, cells):
            self.used[span.category.key] = None
        text = "".join(self._run(span, len(list(run))) for span, run in groupby(cells[:end]))
        return f"{fit(printable(label, 120), self.label_width)} {text}|{mark}"

    def _run(self, span: _Span | None, count: int) -> str:
        if span is None:
            return FREE * count
        return self._paint(span.letter * count, span.category) if self.color else span.letter * count

    def _paint(self, text: str, category: Category) -> str:
        ink = 231 if category.ink == "#ffffff" else 16
        return f"\x1b[48;5;{category.ansi};38;5;{ink}m{text}{_RESET}"

    # -- what it means ------------------------------------------------------------------------------------------------

    def _legend(self) -> Iterable[str]:
        residents = ("input", "output", "activation", "scratch", "planned_variable")
        words = [f"{FREE} free"]
        for key, row in CATEGORIES.items():
            if key not in self.used:
                continue
            if key in residents:
                if self.color:
                    words.append(f"{self._paint(' ', row)} {row.title}")
            elif row.section != "tail":
                words.append(f"{self._paint(row.letter, row) if self.color else row.letter} {row.title}")
            elif self.color:
                words.append(f"{self._paint(row.letter, row)} {row.title}")
        if not self.color:
            words += ["= tail, for good", "A-Z a-z buffers of the head"]
        return self._wrapped(words)

    def _wrapped(self, words: Iterable[str]) -> Iterator[str]:
        line = ""
        for word in words:
            if line and _visible(line) + 2 + _visible(word) > self.width:
                yield line
                line = ""
            line += ("  " if line else "") + word
        yield line

    def _peak(self) -> Iterable[str]:
        picture, scope = self.picture, self.picture.peak_scope
        if scope < 0:
            return
        head = f"{picture.live_bytes[scope]:,} B of the head's {picture.head_bytes:,}"
        yield self._clip(f"< fullest in {printable(picture.op_at(scope), 60)}: {head}")
        rows = sorted(picture.alive(scope), key=lambda row: -row.size)[:8]
        for row in rows:
            letter = self.letters[id(row)]
            shown = self._paint(letter, CATEGORIES[row.category]) if self.color else letter
            name = printable(row.name, 60) or f"{'scratch' if row.operator >= 0 else 'tensor'} {row.number}"
            text = f"{row.size:>12,} B at {row.offset:>10,}  {name}"
            yield f"  {shown} {fit(text, self.width - 4).rstrip()}"


def _is_temp(block: Block) -> bool:
    return CATEGORIES[block.category].section == "temp"


def _visible(text: str) -> int:
    length, inside = 0, False
    for character in text:
        if character == "\x1b":
            inside = True
        elif not inside:
            length += 1
        elif character == "m":
            inside = False
    return length


def fit(text: str, width: int) -> str:
    """Return ``text`` in exactly ``width`` columns, cut with an ellipsis or padded; wide characters count two."""
    if _columns(text) > width:
        while text and _columns(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - _columns(text))


def _columns(text: str) -> int:
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
