"""Bring ``extensions/lite/kernels/conditions.txt`` up to date from a wheel of LiteRT: where its conditions stand.

    python tools upstream lite_conditions WHEEL            where a wheel and its column differ, exit code 1
    python tools upstream lite_conditions WHEEL --write    write the column, behind those that there are

WHEEL is a ``.whl`` of ai-edge-litert or of ai-edge-litert-nightly, or the folder in which one is installed. A wheel
without a column is held against the last one: what it prints lists the conditions that came and went, each with the
function whose code has it. Those of a Prepare are for a person to model (``extensions/lite/releases.py``).
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import frame
from upstream.printed_checks import Printed, Wheel

CONDITIONS = Path(__file__).resolve().parents[2] / "tflm_sim/extensions/lite/kernels/conditions.txt"
MODULE = "libpywrap_litert_common.so"
SAID = ("Type %s is unsupported by op %s.",)
"""Messages with a line that are none of TF_LITE_ENSURE's, as the table has them."""
_DISTRIBUTION = re.compile(r"ai_edge_litert(?:_nightly)?-([\w.]+?)(?:-cp\d.*\.whl|\.dist-info)$")
_ROOTS = {"tflite/kernels/": "", "tflite/core/subgraph.cc": "../core/subgraph.cc"}
"""Which files the table has, and how it calls them: below tflite/kernels."""


class Condition(NamedTuple):
    """A row of the table: ``lines`` by release, None where a release has no such condition."""

    file: str
    left: str
    right: str
    lines: tuple[int | None, ...]


def read(text: str) -> tuple[tuple[str, ...], list[Condition]]:
    """Return the releases of a table's columns, and its rows."""
    header, *rows = (line.split("\t") for line in text.splitlines())
    lines = [tuple(int(cell) if cell else None for cell in row[1:-2]) for row in rows]
    return tuple(header[1:-2]), [
        Condition(row[0], row[-2], row[-1], places) for row, places in zip(rows, lines, strict=True)
    ]


def written(releases: Sequence[str], rows: Iterable[Condition]) -> str:
    """Return the text of a table."""
    text = ["\t".join(("file", *releases, "left", "right"))]
    for row in sorted(rows, key=lambda row: (row.file, [(line is None, line or 0) for line in row.lines])):
        cells = ("" if line is None else str(line) for line in row.lines)
        text.append("\t".join((row.file, *cells, row.left, row.right)))
    return "".join(f"{line}\n" for line in text)


def release_of(wheel: Path) -> tuple[str, Path]:
    """Return the release of a wheel or an installed one, and the file with its code.

    Raises:
        SystemExit: It is neither.
    """
    known = _DISTRIBUTION.search(wheel.name)
    if known:
        return known[1], wheel
    folders = [_DISTRIBUTION.search(path.name) for path in wheel.glob("ai_edge_litert*.dist-info")]
    if len(folders) != 1 or folders[0] is None:
        sys.exit(f"{wheel} is no wheel of ai-edge-litert, and none is installed there")
    return folders[0][1], wheel / "ai_edge_litert" / MODULE


def found_in(checks: Iterable[Printed]) -> list[tuple[Condition, str]]:
    """Return the conditions of the files that the table has, and the function of each."""
    functions: dict[Condition, set[str]] = defaultdict(set)
    for check in checks:
        root = next((root for root in _ROOTS if check.file.startswith(root)), None)
        if root is not None:
            file = _ROOTS[root] or check.file.removeprefix(root)
            left = check.text.removesuffix(check.right).removesuffix(" != ").removesuffix(" not near ")
            sides = (left, check.right) if check.right else (check.text, "")
            functions[Condition(file, *sides, (check.line,))].add(check.function)
    return sorted((one, ", ".join(sorted(names))) for one, names in functions.items())


def with_column(rows: Sequence[Condition], found: Iterable[Condition]) -> list[Condition]:
    """Return the rows with one line more each, and rows for the conditions that no row has.

    In each file both are in the order of their lines: what stands between the same neighbours is the same condition,
    and of what is left over the first with a text is the first with that text.
    """
    by_file: dict[str, tuple[list[Condition], list[Condition]]] = defaultdict(lambda: ([], []))
    for row in rows:
        by_file[row.file][0].append(row)
    for one in found:
        by_file[one.file][1].append(one)
    none = (None,) * (len(rows[0].lines) if rows else 0)
    result = []
    for old, new in by_file.values():
        old.sort(key=lambda row: next(line for line in reversed(row.lines) if line is not None))
        new.sort(key=lambda row: row.lines[0] or 0)
        texts = [[row[1:3] for row in side] for side in (old, new)]
        pairs = {
            start + step: other + step
            for start, other, length in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_matching_blocks()
            for step in range(length)
        }
        left_over = [number for number in range(len(new)) if number not in pairs.values()]
        for number, text in enumerate(texts[0]):
            if number not in pairs:
                same = next((other for other in left_over if texts[1][other] == text), None)
                if same is not None:
                    left_over.remove(same)
                    pairs[number] = same
        for number, row in enumerate(old):
            line = new[pairs[number]].lines[0] if number in pairs else None
            result.append(row._replace(lines=(*row.lines, line)))
        result += [new[number]._replace(lines=(*none, new[number].lines[0])) for number in left_over]
    return result


def replaced(releases: Sequence[str], rows: Sequence[Condition], release: str, found: Sequence[Condition]) -> str:
    """Return the text of a table with a release's column in its place, or behind all others."""
    kept = [number for number, name in enumerate(releases) if name != release]
    others = [row._replace(lines=tuple(row.lines[number] for number in kept)) for row in rows]
    new = with_column([row for row in others if any(row.lines)], found)
    place = releases.index(release) if release in releases else len(releases)
    order = [*range(place), len(kept), *range(place, len(kept))]
    names = [*(releases[number] for number in kept), release]
    return written(
        [names[number] for number in order],
        [row._replace(lines=tuple(row.lines[number] for number in order)) for row in new],
    )


def differences(before: Sequence[Condition], found: Sequence[tuple[Condition, str]]) -> Iterator[str]:
    """Yield which conditions of a wheel the last column has not, or elsewhere, and the reverse, and a sum."""
    functions = {(one.file, one.left, one.right, one.lines[0]): name for one, name in found}
    moved = equal = 0
    for row in with_column(before, [one for one, _ in found]):
        old, new = row.lines[-2:]
        text = f"{row.left} != {row.right}" if row.right else row.left
        if old is None and new is not None:
            yield f"came: {row.file}:{new} {text} ({functions[row.file, row.left, row.right, new]})"
        elif new is None and old is not None:
            yield f"went: {row.file}:{old} {text}"
        moved += None not in (old, new) and old != new
        equal += old == new is not None
    yield f"{equal} conditions at the same line, {moved} elsewhere"


def main(arguments: Sequence[str]) -> int:
    """Compare or write, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args(arguments)
    release, code = release_of(args.wheel)
    found = found_in(Wheel(code, MODULE, SAID).all_checks())
    releases, rows = read(CONDITIONS.read_text("utf-8"))
    place = releases.index(release) if release in releases else len(releases) - 1
    *lines, total = differences([row._replace(lines=(row.lines[place],)) for row in rows if row.lines[place]], found)
    has_moved = not total.endswith(", 0 elsewhere")
    print(*lines, f"{release} against {releases[place]}: {total}", sep="\n")
    if args.write:
        CONDITIONS.write_text(replaced(releases, rows, release, [one for one, _ in found]), encoding="utf-8")
        return 0
    return int(bool(lines) or has_moved)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
