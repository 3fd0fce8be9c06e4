"""Print what the stub costs: code, constant data, state and the deepest stack, for each compiler that is installed.

    python tools boards firmware_size [--json] [--check]

Code and data are those of the object files at -Os; the stack is the deepest chain of calls below a public function, as
the compiler counted it, without the write callback. --check exits 1 when the report library exceeds 4096 bytes of code
or 512 bytes of RAM (state and stack) on a Cortex-M.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parents[2]
STUB = ROOT / "firmware_stub"
PLANNER = ROOT / "tflm_sim" / "planners" / "native"
CODE_LIMIT, RAM_LIMIT = 4096, 512

TARGETS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Cortex-M0+", "arm-none-eabi-", ("-mcpu=cortex-m0plus", "-mthumb")),
    ("Cortex-M3", "arm-none-eabi-", ("-mcpu=cortex-m3", "-mthumb")),
    ("Cortex-M4", "arm-none-eabi-", ("-mcpu=cortex-m4", "-mthumb")),
    ("Cortex-M33", "arm-none-eabi-", ("-mcpu=cortex-m33", "-mthumb")),
    ("Cortex-M55", "arm-none-eabi-", ("-mcpu=cortex-m55", "-mthumb")),
    ("RISC-V rv32imac", "riscv64-unknown-elf-", ("-march=rv32imac", "-mabi=ilp32")),
    ("host", "", ()),
)
# Library: its sources, the public functions that a firmware calls start with this, and the state's type and header.
LIBRARIES: tuple[tuple[str, tuple[str, ...], str, str, str], ...] = (
    ("report", ("tsim_frame.c", "tsim_paint.c", "arena_report.c"), "tsim_report_", "tsim_report_t", "arena_report.h"),
    (
        "replay",
        ("tsim_frame.c", "tsim_paint.c", "tsim_parse.c", "tsim_arena.c", "tsim_replay.c", "tflm_plan.c"),
        "tsim_replay_",
        "tsim_replay_t",
        "tsim_replay.h",
    ),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """One row: everything in bytes; ``data`` is initialised or zeroed RAM of the objects, ``state`` the caller's."""

    library: str
    target: str
    code: int
    data: int
    state: int
    stack: int

    @property
    def ram(self) -> int:
        """RAM that a firmware needs for it."""
        return self.data + self.state + self.stack

    @property
    def is_small(self) -> bool:
        """Whether it keeps the limits of the report library."""
        return self.code <= CODE_LIMIT and self.ram <= RAM_LIMIT


def measure(directory: Path) -> list[Cost]:
    """Compile every library for every installed compiler below ``directory``."""
    costs = []
    for target, prefix, flags in TARGETS:
        if shutil.which(f"{prefix}gcc") is None:
            print(f"{target}: {prefix}gcc is not installed", file=sys.stderr)
            continue
        for library, sources, entry, state, header in LIBRARIES:
            place = directory / f"{library}-{target.replace(' ', '-')}"
            place.mkdir()
            objects = _compile(place, prefix, flags, sources)
            code, data = _sections(prefix, objects)
            stack = _deepest(place.glob("*.ci"), entry)
            costs.append(Cost(library, target, code, data, _state(place, prefix, flags, state, header), stack))
    return costs


def _run(command: list[str], cwd: Path) -> str:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def _options(prefix: str, flags: Iterable[str]) -> list[str]:
    freestanding = ["-ffreestanding"] if prefix else []
    include = ["-I", str(STUB / "include"), "-I", str(PLANNER)]
    return [f"{prefix}gcc", "-std=c99", "-Os", "-ffunction-sections", *freestanding, *flags, *include]


def _compile(place: Path, prefix: str, flags: Iterable[str], sources: Iterable[str]) -> list[str]:
    objects = []
    for name in sources:
        source = next(path for path in (STUB / "src" / name, PLANNER / name) if path.exists())
        _run([*_options(prefix, flags), "-fcallgraph-info=su", "-c", str(source), "-o", f"{name}.o"], place)
        objects.append(str(place / f"{name}.o"))
    return objects


def _sections(prefix: str, objects: list[str]) -> tuple[int, int]:
    rows = [line.split() for line in _run([f"{prefix}size", *objects], STUB).splitlines()[1:]]
    return sum(int(row[0]) for row in rows), sum(int(row[1]) + int(row[2]) for row in rows)


def _state(place: Path, prefix: str, flags: Iterable[str], kind: str, header: str) -> int:
    (place / "probe.c").write_text(f'#include "{header}"\nchar tsim_probe[sizeof({kind})] = {{1}};\n')
    _run([*_options(prefix, flags), "-c", "probe.c", "-o", "probe.o"], place)
    symbols = _run([f"{prefix}nm", "-S", "probe.o"], place)
    match = re.search(r"^\S+ (\S+) \S tsim_probe$", symbols, re.MULTILINE)
    assert match is not None, "the probe was compiled"
    return int(match[1], 16)


def _deepest(graphs: Iterable[Path], entry: str) -> int:
    """Return the stack of the deepest chain of calls below any function whose name starts with ``entry``."""
    frames: dict[str, int] = {}
    calls: dict[str, set[str]] = {}
    for graph in graphs:
        text = graph.read_text()
        for title, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]+)"', text):
            if (size := re.search(r"(\d+) bytes \(", label)) is not None:
                frames[_name(title)] = int(size[1])
        for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls.setdefault(_name(caller), set()).add(_name(callee))
    calls.setdefault("HANDLERS", {name for name in frames if name.startswith("on_")})
    calls.get("carry_out", set()).add("HANDLERS")
    calls.get("tsim_replay_take", set()).add("HANDLERS")

    def depth(name: str, above: frozenset[str]) -> int:
        below = [depth(callee, above | {name}) for callee in calls.get(name, ()) if callee not in above]
        return frames.get(name, 0) + max(below, default=0)

    return max(depth(name, frozenset()) for name in frames if name.startswith(entry))


def _name(title: str) -> str:
    """A function's name: static functions are titled with their file."""
    return title.rsplit(":", 1)[-1]


def main() -> int:
    """Print the table."""
    parser = frame.parser(__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        costs = measure(Path(directory))
    if args.json:
        print(json.dumps([asdict(cost) | {"ram": cost.ram} for cost in costs], indent=1))
    else:
        figures = dict.fromkeys(("code", "data", "state", "stack", "RAM"), ">6,")
        print("bytes")
        table = frame.Table({"library": "<8", "target": "<16", **figures})
        for cost in costs:
            table.row(cost.library, cost.target, cost.code, cost.data, cost.state, cost.stack, cost.ram)
    too_large = [c for c in costs if c.library == "report" and c.target.startswith("Cortex-M") and not c.is_small]
    return 1 if args.check and too_large else 0


if __name__ == "__main__":
    sys.exit(main())
