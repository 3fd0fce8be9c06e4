"""All that the page says: sentences, figures, tables. Its script lays them out, and makes no sentence of its own.

What depends on a click (the name of a chosen block, the sum of a selection) is a template of ``WORDS``, whose gaps the
script fills; everything else is written here once, with the words of the other skins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import log
from pathlib import PurePath
from typing import Any

from tflm_sim.checks.program_need import Ram
from tflm_sim.device.configuration import planner_words
from tflm_sim.escape import printable
from tflm_sim.labels import short_names
from tflm_sim.names import with_options
from tflm_sim.palette import CATEGORIES
from tflm_sim.report.board_rows import BoardFit, board_table
from tflm_sim.report.circumstances import assumed_text
from tflm_sim.report.document import SizeDocument
from tflm_sim.report.picture import Limit, LiteSize, Picture, is_tail
from tflm_sim.report.text import TOGETHER, USUAL, head_verdict
from tflm_sim.units import align_up, format_size

Part = dict[str, Any]
"""A part of a panel: ``tag`` is "h3", "p", "hint", "code", "bar", "chart" or "table", the rest is what it shows."""

_MOST_OPERATORS = 60
_WITHOUT_DELEGATE = (
    "The XNNPACK delegate, which apps get by default, is left out: it takes nodes away and has memory of its own."
)
_TWO_ARENAS = (
    "Two arenas do not compete: the persistent one must hold the tail, the other one the head and temporary memory."
)
_STAGES = {
    "prepare": "during setup: the Prepare functions",
    "planning": "the planner's own memory",
    "running": TOGETHER,
}

WORDS = {
    # What happens at a step of AllocateTensors().
    "event": "{number}. {place}: {what}",
    "state": "head {head}, temp to {temp}, {free} free, tail {tail}",
    "enter": "begins",
    "persist": "{name}, {size} at {offset}, for good",
    "temp": "a temp of {size} at {offset}",
    "free": "the temp of {size} at {offset} is given back",
    "reset": "temp is emptied: free from {value} on",
    "reset refused": "the reset of temp is refused",
    "resize": "the head becomes {bytes}",
    "resize refused": "the head becomes {bytes}: refused",
    "request": "asks for a scratch buffer of {bytes}",
    "request for": "asks for a scratch buffer of {bytes}: {note}",
    "place": "{name}, {size}, goes to {offset}",
    "place nothing": "places a buffer",
    "log": "the device prints: {note}",
    "corruption": "bytes in use are overwritten: {note}",
    "fail": "AllocateTensors() fails: {note}",
    "invoke": "Invoke(): {operator}",
    # Where and when.
    "operator": "#{number} {name}",
    "operator of": "#{number} {name} of subgraph {subgraph}",
    "inputs": "inputs",
    "inputs of": "inputs of subgraph {subgraph}",
    "start": "start",
    "moment of": "{moment} of {operator}",
    "scratch": "scratch {number}",
    "scratch for": "scratch {number}: {name}",
    "tensor": "tensor {number}",
    "tensor in": "{number} of subgraph {subgraph}",
    "lives in": "in {first}",
    "lives from": "from {first} to {last}",
    "lives since": "since {moment}, for good",
    "lives during": "during {moment}",
    # The picture itself.
    "fullest": "fullest: {size} alive",
    "fullest, short": "fullest",
    "tightest": "tightest: this decides the arena's size",
    "tightest, short": "tightest",
    "missing": "{bytes} missing",
    "memory": "memory over time: {title}",
    "head": "head",
    "tail": "tail",
    "allocate": "AllocateTensors()",
    "invoked": "Invoke()",
    # The chosen block, or what was selected.
    "choose": "Click a block, or search for one. The arrow keys step through the events. Click an operator's name at "
    "the left, or drag over several, for what they hold.",
    "kind": "kind",
    "size": "size",
    "bytes": "bytes",
    "address": "address",
    "alive": "alive",
    "alignment": "alignment",
    "of tensor": "tensor",
    "in section": " {title} ({section})",
    "byte range": "{first} … {last}",
    "no bytes": "none, at {first}",
    "arena plus": "arena + 0x{offset}",
    "padding": "{bytes} behind it are lost to it",
    "shares": "shares bytes with {count}, at other times",
    "shares nothing": "shares its bytes with nobody",
    "shared": " {size}, {lifetime}",
    "more": "and {count} more",
    "at": "{size} at {offset}",
    "shares, short": "shares bytes with {count}",
    "range": "{first} to {last}",
    "in AllocateTensors": "in AllocateTensors()",
    "events": "events",
    "tail takes": "tail takes",
    "temporary": "temporary",
    "temporary up to": "{count}, up to byte {end}",
    "nothing": "nothing",
    "head then": "head then",
    "in Invoke": "in Invoke()",
    "operators": "operators",
    "fullest in": "fullest",
    "alive in": "{size} alive in {operator}",
    "buffers": "buffers",
    "begin and end": "{count}: {born} begin and {gone} end here",
    "of scratch": "of scratch",
    "in the tail": "in the tail",
    "for these": "{size} for these operators",
    "alive then": "alive in {operator}: {size}",
    # Tables and search.
    "buffer": "buffer",
    "offset": "offset",
    "by": "by ",
    "by size": "size",
    "by offset": "offset",
    "by time": "time",
    "shown": "{shown} of {count} buffers in the head",
    "shown first": "the first {first} of {shown} of {count} buffers in the head",
    "match": "{count} match",
    "matches": "{count} matches",
    "match at": "{place} of {count}",
    "play": "play",
    "pause": "pause",
    "Block": "Block",
    "Peak": "Peak",
    "Buffers": "Buffers",
    "Tail": "Tail",
    "Boards": "Boards",
}
"""Templates of what depends on a click; the page's script fills the gaps."""


def page_texts(
    pictures: Sequence[Picture], boards: Sequence[BoardFit] = (), *, room: Ram | None = None
) -> dict[str, Any]:
    """Return what the page of some pictures says, as JSON values.

    Args:
        pictures: What it shows.
        boards: The model on other boards.
        room: The RAM that the first picture's arena shares with the rest of the firmware.
    """
    first = pictures[0]
    common, headings = _told_apart(pictures)
    return {
        "words": {**WORDS, **dict(zip(("head", "tail"), first.sections, strict=True))},
        "model": printable(PurePath(first.size.model.path or "model").name, 90),
        "about": common,
        "advice": _advice(first),
        "cards": _cards(pictures, headings),
        "banner": [line for row in zip(pictures, headings, strict=True) for line in _banner(*row)],
        "pictures": [
            _texts(picture, heading, room if picture is first else None)
            for picture, heading in zip(pictures, headings, strict=True)
        ],
        "boards": _board_parts(boards),
    }


def _texts(picture: Picture, heading: str, room: Ram | None) -> dict[str, Any]:
    return {
        "heading": heading,
        "note": picture.arena_note,
        "chips": _chips(picture),
        "scopes": _scopes(picture),
        "labels": short_names([row.name for row in picture.residents]),
        "is_framed": picture.framed_scope >= 0,
        "peak": [*_room_parts(picture, room), *_peak_parts(picture)],
        "tail": _tail_parts(picture),
    }


# -- what stands on top ----------------------------------------------------------------------------------------------


def _circumstances(picture: Picture) -> dict[str, str]:
    """Return what a picture is of, by what can differ from one picture to another."""
    size = picture.size
    model = printable(PurePath(size.model.path or "model").name, 90)
    if isinstance(size, LiteSize):
        return {"model": model, "title": printable(picture.title, 200)}
    configuration = size.configuration
    target = configuration.target
    return {
        "model": model,
        "target": printable(target.name, 80),
        "runtime": str(target.runtime),
        "kernels": f"{target.kernel_library} kernels",
        "planner": planner_words(configuration.planner, configuration.has_own_planner),
        "interpreter": f"{configuration.interpreter} interpreter",
        "assumed": assumed_text(size.assumed or (), [target] if "--kernels" in (size.assumed or ()) else ()),
    }


def _told_apart(pictures: Sequence[Picture]) -> tuple[str, list[str]]:
    """Return what is the same in all pictures, and of each one what is not; alone it needs no heading.

    A title that somebody gave is the heading: it says more than the circumstances.
    """
    if len(pictures) == 1:
        return printable(pictures[0].title, 200), [""]
    facts = [_circumstances(picture) for picture in pictures]
    same = [key for key in facts[0] if len({row.get(key) for row in facts}) == 1]
    headings = []
    for picture, row in zip(pictures, facts, strict=True):
        own = ", ".join(text for key, text in row.items() if key not in same and text)
        is_named = not picture.title.startswith(row.get("target", "\n"))
        headings.append(printable(picture.title, 200) if is_named else own or row.get("target", row["model"]))
    common = ", ".join(facts[0][key] for key in same if key != "model" and facts[0][key] not in ("", *USUAL))
    return common, headings


_ADVICE = 2000
"""Signs of a line of advice that are shown: a command is of use only as a whole."""


def _advice(picture: Picture) -> str:
    parts = picture.size.parts if isinstance(picture.size, SizeDocument) else {}
    return printable(str(parts.get("advice") or ""), 200).replace("`", "")


def _figures(picture: Picture) -> list[tuple[str, str, int | None]]:
    """Return the figures of a picture: a name for scripts, a title, bytes."""
    answer = picture.size.answer
    if isinstance(picture.size, LiteSize):
        return [
            ("smallest_arena_bytes", "both arenas", answer.smallest_arena_bytes),
            ("head_bytes", "arena", answer.head_bytes),
            ("tail_bytes", "persistent arena", answer.tail_bytes),
        ]
    if answer.bank_needs is not None:
        return [(f"bank_{bank.name}", bank.name, bank.needed) for bank in answer.bank_needs]
    if (split := answer.smallest_split_arenas_bytes) is not None:
        rows: list[tuple[str, str, int | None]] = [
            ("smallest_split_persistent", "smallest persistent arena", split.persistent),
            ("smallest_split_non_persistent", "smallest non-persistent arena", split.non_persistent),
        ]
    else:
        rows = [
            ("smallest_arena_bytes", "smallest arena", answer.smallest_arena_bytes),
            ("smallest_arena_multiple_of_16", "as a multiple of 16", answer.smallest_arena_multiple_of_16),
        ]
    return [
        *rows,
        ("head_bytes", "head", answer.head_bytes),
        ("tail_bytes", "tail", answer.tail_bytes),
        ("arena_used_bytes", "arena_used_bytes()", answer.arena_used_bytes),
    ]


def _cards(pictures: Sequence[Picture], headings: Sequence[str]) -> list[Part]:
    """Return the figures: of one picture, of two with what they differ by, of more only what each one needs."""
    first = pictures[0]
    if first.size.answer.bank_needs is not None:  # Each is a bank of one model.
        return [_card(key, printable(title, 40), value, value) for key, title, value in _figures(first)]
    if len(pictures) > 2:
        needs = [picture.size.answer.smallest_arena_multiple_of_16 for picture in pictures]
        rows = zip(headings, needs, strict=True)
        return [_card("smallest_arena_multiple_of_16", heading, needs[0], need) for heading, need in rows]
    if len(pictures) == 1:
        return [_card(key, title, value, value) for key, title, value in _figures(first)]
    after = {key: value for key, _, value in _figures(pictures[1])}
    return [
        _card(key, title, value, after[key], is_change=True) for key, title, value in _figures(first) if key in after
    ]


def _card(key: str, title: str, before: int | None, after: int | None, *, is_change: bool = False) -> Part:
    """Return a figure: ``82,316 B → 122,572 B (+40,256)`` for a change, else the bytes and what they are more."""
    change = None if before is None or after is None or before == after else after - before
    shown = "none" if after is None else f"{after:,} B"
    note = "" if change is None else f"({change:+,})" if is_change else f"{change:+,}"
    if is_change and before != after:
        shown = f"{'none' if before is None else f'{before:,}'} → {shown}"
    elif not note and after is not None and after >= 10 * 1024:
        note = _rounded(after)
    return {
        "key": key,
        "title": title,
        "value": before if is_change else after,
        "change": change,
        "text": shown,
        "note": note,
    }


def _rounded(size: int) -> str:
    return format_size(size).partition("(")[2].rstrip(")")


def _short(size: int) -> str:
    """Return bytes in few characters: ``1,068 B``, ``80.4 KiB``."""
    return _rounded(size) or format_size(size)


def _banner(picture: Picture, heading: str) -> list[str]:
    if not picture.failure:
        return []
    name = f"{heading}: " if heading else ""
    return [
        f"{name}AllocateTensors() fails: {printable(with_options(picture.failure), 400)}",
        *(printable(with_options(line), _ADVICE) for line in picture.advice),
    ]


def _chips(picture: Picture) -> list[Part]:
    """Return the kinds of bytes that a picture shows, each with what it holds of the tail, or its largest block."""
    sums: Counter[str] = Counter()
    largest: dict[str, int] = {}
    for resident in picture.residents:
        largest[resident.category] = max(resident.size, largest.get(resident.category, 0))
    for block in picture.blocks:
        if is_tail(block):
            sums[block.category] += block.size + block.padding
        else:
            largest[block.category] = max(block.size, largest.get(block.category, 0))
    chips = []
    for key, category in CATEGORIES.items():
        if key in sums:
            chips.append({"key": key, "amount": _short(sums[key]), "hint": "tail: click to hide or show"})
        elif key in largest:
            hint = f"{category.section}, largest: {_short(largest[key])}: click to hide or show"
            chips.append({"key": key, "amount": "", "hint": hint})
    return chips


def _scopes(picture: Picture) -> list[str]:
    """Return for each scope what is alive in it, and the how manyth operator it is."""
    count = len(picture.scopes)
    changes = [0] * (count + 1)
    for row in picture.residents:
        changes[row.first] += 1
        changes[row.last + 1] -= 1
    alive = list(accumulate(changes))[:count]
    ordinals = list(accumulate(int(operator >= 0) for _, operator in picture.scopes))
    total = ordinals[-1] if ordinals else 0
    where = "beside the NPU's scratch" if picture.size.answer.npu else ""
    rows = zip(picture.live_bytes, alive, ordinals, picture.scopes, strict=True)
    return [
        f"{format_size(live)} alive {where or f'in {buffers:,} buffer' + ('' if buffers == 1 else 's')}; "
        + (f"operator {ordinal:,} of {total:,}" if operator >= 0 else f"before operator {ordinal + 1:,} of {total:,}")
        for live, buffers, ordinal, (_, operator) in rows
    ]


# -- panels ----------------------------------------------------------------------------------------------------------


def _part(tag: str, text: str, **more: Any) -> Part:
    return {"tag": tag, "text": text, **more}


def _cell(text: str, **more: Any) -> Part:
    """Return a cell of a table; ``category`` puts its colour in front, ``resident`` or ``step`` make it a link."""
    return {"text": text, **more}


def _number(value: int) -> Part:
    return {"text": f"{value:,}", "n": True}


def _peak_parts(picture: Picture) -> Iterator[Part]:
    """Yield what binds, what would have to shrink, and, where it fails, what to do."""
    answer, failure = picture.size.answer, picture.failure
    if failure:
        yield from (_part("h3", "It fails"), _part("p", printable(with_options(failure), 400)))
    for line in picture.advice:
        yield _part("code" if line.startswith("tflm-sim ") else "p", printable(with_options(line), _ADVICE))
    if log := [line for line in picture.device_log or answer.log if line.strip()]:
        yield _part("h3", "The device prints")
        yield from (_part("code", printable(line, 200)) for line in log)
    if not failure and picture.limits:
        yield from _limit_parts(picture)
    if not failure and picture.peak_scope >= 0:
        yield from _fullest_parts(picture)
    if isinstance(picture.size, LiteSize):
        yield _part("hint", _WITHOUT_DELEGATE)
    elif picture.split_at and not failure:
        yield _part("hint", _TWO_ARENAS)
    elif not picture.scopes and not failure:
        yield _part("hint", "Only what the program asked for was seen: which buffer is alive when, nothing says.")


def _room_parts(picture: Picture, room: Ram | None) -> list[Part]:
    """Return a RAM as a bar: head and tail of the arena, what else is known to be in it, and what is left."""
    needed = picture.size.answer.smallest_arena_multiple_of_16
    if room is None or needed is None:
        return []
    tail = picture.size.answer.tail_bytes or 0
    left = room.size - needed - sum(size for _, size in room.others)
    of_whom = "" if room.others else " for static data, heap and stack"
    says = f"{left:,} B left{of_whom}" if left >= 0 else f"{-left:,} B too many"
    rows = [("activation", "head and set-up", needed - tail), ("kernel data", "tail", tail)]
    rows += [("other", name, size) for name, size in room.others]
    rows += [("", says, max(left, 0))]
    segments = [{"category": key, "bytes": count, "text": f"{text}: {count:,} B"} for key, text, count in rows if count]
    others = "".join(f"{name} {size:,} B, " for name, size in room.others)
    title = f"{room.name}, {room.size:,} B: the arena has {needed:,} B, {others}{says}"
    return [_part("h3", title), _part("bar", title, segments=segments)]


def _limit_parts(picture: Picture) -> Iterator[Part]:
    first, *rest = picture.limits
    yield _part("h3", f"What decides the size: {_STAGES[first.stage]}")
    if (binding := picture.size.answer.binding) is not None:
        yield _part("hint", f"{binding.kind}: {printable(binding.what, 160)}, in {printable(binding.place, 120)}")
    if rest:
        won = f"Bytes saved there shrink the arena, up to {first.need - rest[0].need:,} B."
        yield _part("p", f"{won} Then this decides the size: {_STAGES[rest[0].stage]}.")
    else:
        yield _part("p", "Every byte saved there shrinks the arena.")
    rows = [
        [
            _cell(_STAGES[row.stage], step=row.step),
            _number(row.floor),
            _number(row.tail),
            _number(align_up(row.need, 16)),
        ]
        for row in picture.limits
    ]
    yield _part("table", "", id="limits", head=["tightest", "front", "tail", "needs"], rows=rows, chosen=0)
    yield _part("hint", "Bytes, in the smallest arena that is a multiple of 16.")
    yield _part("h3", "in the arena at that moment")
    yield _part("table", "", rows=_held_at(picture, first))


def _held_at(picture: Picture, limit: Limit) -> list[list[Part]]:
    """Return what the bytes are for at a step, the largest first."""
    sums: Counter[str] = Counter()
    for row in picture.blocks:
        if row.begin <= limit.step < row.end:
            sums[row.category] += row.size + row.padding
    return [[_cell(CATEGORIES[key].title, category=key), _number(total)] for key, total in sums.most_common()]


def _fullest_parts(picture: Picture) -> Iterator[Part]:
    answer, scope = picture.size.answer, picture.peak_scope
    live = picture.live_bytes[scope]
    yield _part("h3", f"The {picture.sections[0]} is fullest in {printable(picture.op_at(scope), 80)}")
    verdict = head_verdict(picture.head_bytes, live, has_npu=bool(answer.npu))
    yield _part("p", f"{live:,} B alive of {picture.head_bytes:,} B: {verdict}.", id="peak-live", value=live)
    smallest = answer.smallest_arena_multiple_of_16
    if not picture.remedies or smallest is None:
        return
    rows = []
    for row in picture.remedies:
        resident = picture.residents[row.resident]
        saved = (picture.head_bytes - row.head_bytes, smallest - row.arena_bytes)
        cells = [{"text": f"−{max(each, 0):,}" if each > 0 else "0", "n": True} for each in saved]
        rows.append([_cell("", resident=row.resident), _number(resident.size), *cells])
    yield _part("table", "", id="remedies", head=["without", "its size", "head", "arena"], rows=rows)
    yield _part("hint", "Planned again without one of them: how many bytes smaller head and arena would be.")


def _tail_parts(picture: Picture) -> list[Part]:
    """Return who owns the tail: as a bar, by kind, and by operator."""
    answer = picture.size.answer
    total = answer.tail_bytes or 0
    groups = sorted(answer.tail.groups, key=lambda row: -row.used)
    segments = [{"category": row.what, "bytes": row.used, "text": f"{row.what}: {row.used:,} B"} for row in groups]
    rows = [
        [
            _cell(row.what, category=row.what),
            _number(row.used),
            {"text": f"{100 * row.used / max(total, 1):.1f} %", "n": True},
            _number(row.used - row.requested),
        ]
        for row in groups
    ]
    parts = [_part("h3", f"{picture.sections[1]}: {format_size(total)}")]
    if segments:
        parts.append(_part("bar", f"who owns the tail, {total:,} B", segments=segments))
    parts.append(_part("table", "", id="tail", head=["what", "bytes", "share", "padding"], rows=rows))
    if operators := sorted(answer.tail.ops, key=lambda row: -row.used)[:_MOST_OPERATORS]:
        parts.append(_part("h3", "by operator, the largest"))
        names = [f"#{row.operator} {printable(row.op, 40)}" for row in operators]
        where = [f" of subgraph {row.subgraph}" if row.subgraph else "" for row in operators]
        owners = zip(names, where, operators, strict=True)
        parts.append(_part("table", "", rows=[[_cell(name + of), _number(row.used)] for name, of, row in owners]))
    return parts


def _board_parts(boards: Sequence[BoardFit]) -> list[Part]:
    """Return the table of boards; what there is no room for is a title."""
    if not boards:
        return []
    columns = (0, 2, 3, 5, 7)
    head, *rows = [[cells[at] for at in columns] for cells in board_table(boards)]
    numbers = (False, True, True, True, False)
    cells = [[{"text": text, "n": n} for text, n in zip(row, numbers, strict=True)] for row in rows]
    titles = [f"{cells[1]}, RAM: {cells[4]}, flash: {cells[6]}" for cells in (row.cells for row in boards)]
    return [
        _part("h3", f"{len(rows):,} board{'' if len(rows) == 1 else 's'}"),
        _board_chart(boards),
        _part("table", "", id="board-table", head=head, rows=cells, titles=titles),
    ]


def _board_chart(boards: Sequence[BoardFit]) -> Part:
    """Return each board's RAM as a bar on one logarithmic scale, with a line where the model's arena ends."""
    drawn = sorted(
        ((row.ram, row) for row in boards if row.ram), key=lambda pair: (pair[0], pair[1].board), reverse=True
    )
    sizes = [size for ram, row in drawn for size in (ram, row.arena) if size]
    least, most = min(sizes, default=1) / 2, max(sizes, default=2)
    scale = log(most / least)
    lines = [
        {
            "label": row.board,
            "width": round(100 * log(ram / least) / scale, 2),
            "mark": round(100 * log(row.arena / least) / scale, 2) if row.arena else None,
            "hint": f"{row.board}: {_short(ram)} of RAM"
            + (f", {row.arena:,} B of arena: {row.fits}" if row.arena else ""),
            "no": row.may_fit is False,
        }
        for ram, row in drawn
    ]
    return _part("chart", "RAM of each board, on a logarithmic scale; the line is where the arena ends", rows=lines)
