"""Print how complex the functions of packages are: a row a package, or a row a room of one.

    python tools/complexity.py tflm_sim h11 elftools memray     packages (as installed) or folders, side by side
    python tools/complexity.py tflm_sim --rooms                 the rooms of a package
    python tools/complexity.py tflm_sim --worst 20              its most complex functions

Complexity is McCabe's, as radon counts it: 1 and one for each branch; a grade C has 11 and more.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import frame
from radon.complexity import cc_visit
from radon.visitors import Class

from tflm_sim.report.tables import table_lines

GRADE_C, LONG = 11, 60


@dataclass(frozen=True, slots=True)
class Measured:
    """A function or method: where it stands, its complexity, and its lines."""

    place: str
    room: str
    complexity: int
    lines: int


def measured(folder: Path) -> Iterator[Measured]:
    """Yield the functions of all modules in a folder."""
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        room = parts[0] if len(parts) > 1 else "(top)"
        for block in cc_visit(path.read_text("utf-8")):
            if isinstance(block, Class):
                continue
            lines = block.endline - block.lineno + 1
            yield Measured(f"{Path(*parts)}:{block.lineno} {block.name}", room, block.complexity, lines)


def folder_of(name: str) -> Path:
    """Return a package's folder: a path, or where the package of that name is installed."""
    if Path(name).is_dir():
        return Path(name)
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"{name} is neither a folder nor an installed package")
    return Path(found.submodule_search_locations[0])


def row(name: str, functions: Sequence[Measured]) -> tuple[str, ...]:
    """Return the cells of a group of functions."""
    mean = sum(one.complexity for one in functions) / max(1, len(functions))
    hard = sum(one.complexity >= GRADE_C for one in functions)
    long = sum(one.lines > LONG for one in functions)
    return name, f"{len(functions):,}", f"{mean:.2f}", str(hard), str(long)


def main(arguments: Sequence[str]) -> int:
    """Print the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("packages", nargs="+", metavar="PACKAGE")
    parser.add_argument("--rooms", action="store_true")
    parser.add_argument("--worst", type=int, default=0, metavar="N")
    args = parser.parse_args(arguments)
    found = {name: list(measured(folder_of(name))) for name in args.packages}
    rows: list[tuple[str, ...]] = [
        ("package", "functions", "mean complexity", "grade C or worse", f"over {LONG} lines")
    ]
    for name, functions in found.items():
        rows.append(row(name, functions))
        rooms = sorted({one.room for one in functions}) if args.rooms else []
        rows += [row(f"  {room}", [one for one in functions if one.room == room]) for room in rooms]
    print("\n".join(table_lines(rows)))
    for functions in found.values() if args.worst else ():
        for one in sorted(functions, key=lambda each: -each.complexity)[: args.worst]:
            print(f"{one.complexity:4}  {one.lines:4} lines  {one.place}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
