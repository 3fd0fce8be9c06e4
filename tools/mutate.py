"""Mutants: small faults are put into a copy of the package, one at a time; the tests nearest to each must notice.

    python tools/mutate.py [--count 30] [--seed 1] [--rooms device arena ops native] [--from 31] [--list]

A sample of mutants is drawn in turns from all rooms (``native`` is the planners' C core, which is compiled anew for
each; ``rim`` the modules of no room). The nearest tests are those named after the module or importing it, then the
room's; where sizes come from, those of the answers and a few recordings of real TFLM. Survivors are printed with their
line; the exit code is 1 where there is one. Faults that change nothing (a bound that is never reached) survive by
nature: read each.
``--from`` goes on with a sample that was begun.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tflm_sim"
ROOMS = {
    **{room.parent.name: f"tflm_sim/{room.parent.name}/**/*.py" for room in sorted(PACKAGE.glob("*/__init__.py"))},
    "native": "tflm_sim/planners/native/*.c",
    "rim": "tflm_sim/*.py",
}
SIZING = ("answers", "arena", "device", "graph", "model", "ops", "planners", "targets")
OTHER_TESTS = {
    "cli": ["tests/cli"],
    "emulation": ["tests/firmware/test_run.py", "tests/firmware/test_run_model.py"],
    "pytest_plugin": ["tests/plugin"],
    "schemas": ["tests/unit/test_schemas.py", "tests/cli/test_documents.py"],
    "rim": ["tests/unit/rim", "tests/test_public_api.py", "tests/cli"],
}
"""Tests of the rooms that have no folder of their name in ``tests/unit``."""
RECORDINGS = ("tests/golden/test_golden.py", "-k", "hello_world or person_detect or micro_speech")
NATIVE_TESTS = ("tests/unit/planners", "tests/upstream/test_tflm_planners.py", "tests/property/test_planners.py")
SMALLEST = "tests/property/test_smallest_arena.py"
TESTS = ("tests/unit", "tests/cli", "tests/property", "tests/plugin", "tests/firmware")
QUICK = ("-m", "not slow")
TIMEOUT_S = 240

SWAPS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "+",
    "//": "*",
    "%": "//",
    "and": "or",
    "or": "and",
    "&": "|",
    "<<": ">>",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
_OPERATOR = re.compile(r"\bis not\b|\bnot in\b|\bis\b|\bin\b|\band\b|\bor\b|<<|<=|>=|==|!=|//|[<>+\-*%&]")
_C_OPERATOR = re.compile(r"(?<=\s)(<=|>=|==|!=|<|>|\+|-|&&|\|\|)(?=\s)")
_C_SWAPS = SWAPS | {"&&": "||", "||": "&&"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: ``length`` characters at ``start`` of a file's text are replaced."""

    path: str
    text: str = field(repr=False)
    start: int
    length: int
    replacement: str
    line: int

    @property
    def mutated(self) -> str:
        """The file's text with the fault."""
        return self.text[: self.start] + self.replacement + self.text[self.start + self.length :]

    def __str__(self) -> str:
        before = self.text[self.start : self.start + self.length]
        line = self.text.splitlines()[self.line - 1].strip()
        return f"{self.path}:{self.line}: '{before}' to '{self.replacement}' in: {line}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    text = path.read_text("utf-8")
    name = str(path.relative_to(ROOT))
    yield from _of_c(name, text) if path.suffix == ".c" else _of_python(name, text)


def _of_c(name: str, text: str) -> Iterator[Mutant]:
    code = re.sub(
        r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL
    )
    for match in _C_OPERATOR.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        if not code.splitlines()[line - 1].lstrip().startswith("#"):
            yield Mutant(name, text, match.start(), len(match[0]), _C_SWAPS[match[0]], line)


def _of_python(name: str, text: str) -> Iterator[Mutant]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        source = text[starts[line - 1] : starts[line]].encode()
        return starts[line - 1] + len(source[:column].decode())

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            start = place(node.lineno, node.col_offset)
            length = place(node.lineno, node.end_col_offset or 0) - start
            yield Mutant(name, text, start, length, str(node.value + 1), node.lineno)
        for left, right in _operands(node):
            start = place(left.end_lineno or 0, left.end_col_offset or 0)
            end = place(right.lineno, right.col_offset)
            found = _OPERATOR.search(text, start, end)
            if found is not None and found[0] in SWAPS and "\n" not in text[start:end]:
                yield Mutant(name, text, found.start(), len(found[0]), SWAPS[found[0]], right.lineno)


def _operands(node: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Return the pairs of expressions that have an operator between them; ``|`` of types has none to swap."""
    if isinstance(node, ast.BinOp):
        return [(node.left, node.right)]
    if isinstance(node, ast.BoolOp):
        return list(zip(node.values, node.values[1:], strict=False))
    if isinstance(node, ast.Compare):
        return list(zip([node.left, *node.comparators], node.comparators, strict=False))
    return []


def nearest_tests(path: str) -> Iterator[list[str]]:
    """Yield the arguments of pytest for the tests that should notice a fault in a module, the nearest first."""
    if path.endswith(".c"):
        yield list(NATIVE_TESTS)
        yield list(RECORDINGS)
        return
    parts = Path(path).with_suffix("").parts
    room = parts[1] if len(parts) > 2 else "rim"
    imports = re.compile(rf"^\s*(from|import) {re.escape('.'.join(parts))}\b", re.MULTILINE)
    tests = [test for folder in TESTS for test in sorted((ROOT / folder).rglob("test_*.py"))]
    own = [
        str(test.relative_to(ROOT))
        for test in tests
        if test.stem == f"test_{parts[-1]}" or imports.search(test.read_text("utf-8"))
    ]
    if own:
        yield [*own, *QUICK]
    yield [
        *OTHER_TESTS.get(room, [f"tests/unit/{room}"]),
        *([SMALLEST] if room in ("arena", "answers") else []),
        *QUICK,
    ]
    if room in SIZING:
        yield ["tests/unit/answers", *QUICK]
        yield list(RECORDINGS)


def is_noticed(mutant: Mutant, copy: Path) -> bool:
    """Tell whether the tests fail with the mutant in the copy, or never end."""
    (copy / mutant.path).write_text(mutant.mutated, "utf-8")
    try:
        if mutant.path.endswith(".c"):
            build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
            if _run(build, copy):
                return True  # the compiler noticed
        return any(_run(_pytest(tests), copy) for tests in nearest_tests(mutant.path))
    finally:
        (copy / mutant.path).write_text(mutant.text, "utf-8")


def _pytest(arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]


def _run(command: list[str], directory: Path) -> bool:
    """Tell whether a command fails or hangs."""
    environment = {**os.environ, "PYTHONPATH": str(directory), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command, cwd=directory, env=environment, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode not in (0, 5)  # 5: no test was there


def main() -> int:
    """Draw the mutants and try them."""
    parser = frame.parser(__doc__)
    parser.add_argument("--count", type=int, default=30, help="how many mutants (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (default: 1)")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), help="default: all of them")
    parser.add_argument(
        "--from", type=int, default=1, metavar="N", dest="first", help="begin at this one of the sample"
    )
    parser.add_argument("--list", action="store_true", help="print the sample and try nothing")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    by_room = {room: [m for path in sorted(ROOT.glob(ROOMS[room])) for m in mutants(path)] for room in args.rooms}
    sample = [chance.choice(by_room[args.rooms[number % len(args.rooms)]]) for number in range(args.count)]
    if args.list:
        print(*sample, sep="\n")
        return 0
    survivors = []
    with tempfile.TemporaryDirectory(prefix="mutants_") as directory:
        copy = Path(directory) / ROOT.name
        shutil.copytree(ROOT, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".venv", "__pycache__"))
        for number, mutant in list(enumerate(sample, 1))[args.first - 1 :]:
            noticed = is_noticed(mutant, copy)
            print(f"{number:>3} of {len(sample)} {'noticed ' if noticed else 'SURVIVES'} {mutant}", flush=True)
            if not noticed:
                survivors.append(mutant)
    tried = len(sample) - args.first + 1
    print(f"\n{tried - len(survivors)} of {tried} noticed", *(f"survives: {m}" for m in survivors), sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
