"""Mutants: small faults are put into a copy of the package, one at a time; the tests nearest to each must notice.

    python tools/mutate.py [--count 30] [--seed 1] [--rooms device arena ops native] [--from 31] [--list]

A sample of mutants is drawn in turns from all rooms (``native`` is the planners' C core, which is compiled anew for
each; ``rim`` the modules of no room). The nearest tests are those named after the module or importing it, then the
files of tests that enter the mutant's function, the quickest first; where sizes come from, a few recordings of real
TFLM. Which file enters which function is recorded first (about ten minutes; kept in ``--entered``, build/entered, until
that is deleted). Survivors are printed with their line; the exit code is 1 where there is one. Faults that change
nothing (a bound that is never reached) survive by nature: read each.
``--from`` goes on with a sample that was begun.
"""

from __future__ import annotations

import ast
import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import entered
import frame
import hypothesis  # noqa: F401 - for the forks
import numpy as np  # noqa: F401
import pytest

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
    "emulation": ["tests/firmware/test_run.py", "tests/firmware/test_run_model.py", "tests/firmware/test_executed.py"],
    "pytest_plugin": ["tests/plugin"],
    "schemas": ["tests/unit/test_schemas.py", "tests/cli/test_documents.py"],
    "rim": ["tests/unit/rim", "tests/test_public_api.py", "tests/cli"],
}
"""Tests of the rooms that have no folder of their name in ``tests/unit``."""
UNRECORDED = ("emulation", "pytest_plugin")
"""Rooms that are entered in a process of their own, or in a run of pytest inside of another, where nobody looks."""
RECORDINGS = ("tests/golden/test_golden.py", "-k", "hello_world or person_detect or micro_speech")
NATIVE_TESTS = ("tests/unit/planners", "tests/upstream/test_tflm_planners.py", "tests/property/test_planners.py")
QUICK_TESTS = ("tests/unit", "tests/cli", "tests/plugin", "tests/test_public_api.py", "tests/docs/test_docs.py")
SLOW_TESTS = ("tests/property", "tests/firmware", "tests/golden")
SECONDS = 120
"""The tests that enter a function may take so long together, as recorded; those that would take more are left out."""
QUICK = ("-m", "not slow")
PYTEST = ("-q", "-p", "no:cacheprovider")
CPU_SECONDS = 240

SWAPS = {
    ">>": "<<",
    "**": "*",
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
_OPERATOR = re.compile(r"\bis not\b|\bnot in\b|\bis\b|\bin\b|\band\b|\bor\b|<<|>>|\*\*|<=|>=|==|!=|//|[<>+\-*%&]")
_C_OPERATOR = re.compile(r"(?<=\s)(<=|>=|==|!=|<|>|\+|-|&&|\|\|)(?=\s)")
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
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
    def function(self) -> str:
        """The function that it is in, as rows of ``entered.py`` name it."""
        names, inside = [], True
        scope: ast.AST = ast.parse(self.text)
        while inside:
            children = [node for node in ast.walk(scope) if isinstance(node, _NAMED) and node is not scope]
            inside = False
            for node in children:
                if node.lineno <= self.line <= (node.end_lineno or 0):
                    names.append(node.name)
                    scope, inside = node, True
                    break
        return entered.function_name(self.path, ".".join(names))

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


class Entered:
    """Which files of tests enter which functions, read from the rows of ``entered.py``."""

    def __init__(self, folder: Path) -> None:
        rows = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
        self._by_function: dict[str, set[str]] = {}
        self.seconds: dict[str, float] = {}
        for row in rows:
            self.seconds[row["tests"]] = row["seconds"]
            for name in row["entered"]:
                self._by_function.setdefault(name, set()).add(row["tests"])

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the files that enter a mutant's function, or any of its module, the quickest first."""
        files = self._by_function.get(mutant.function, set())
        module = f"{mutant.path}::"
        found = files or {one for name, tests in self._by_function.items() if name.startswith(module) for one in tests}
        return sorted(found, key=lambda one: self.seconds[one])


def record(folder: Path) -> None:
    """Run the tests once with the plugin that notes what they enter."""
    folder.mkdir(parents=True)
    environment = {**os.environ, "ENTERED": str(folder), "PYTHONPATH": f"{ROOT / 'tools'}:{ROOT}"}
    for tests in ((*QUICK_TESTS, *QUICK), SLOW_TESTS):
        command = [sys.executable, "-m", "pytest", *PYTEST, "-p", "entered", "-n", "2", "--dist", "loadfile", *tests]
        subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)


def nearest_tests(mutant: Mutant, entered_by: Entered) -> Iterator[list[str]]:
    """Yield the arguments of pytest for the tests that should notice a fault, the nearest first."""
    if mutant.path.endswith(".c"):
        yield list(NATIVE_TESTS)
        yield list(RECORDINGS)
        return
    parts = Path(mutant.path).with_suffix("").parts
    room = parts[1] if len(parts) > 2 else "rim"
    imports = re.compile(rf"^\s*(from|import) {re.escape('.'.join(parts))}\b", re.MULTILINE)
    files = [file for tests in (*QUICK_TESTS, *SLOW_TESTS) for file in sorted((ROOT / tests).rglob("test_*.py"))]
    own = [
        str(file.relative_to(ROOT))
        for file in files
        if file.stem == f"test_{parts[-1]}" or imports.search(file.read_text("utf-8"))
    ]
    left, chosen = float(SECONDS), list(own)
    for test in entered_by.tests(mutant):
        left -= entered_by.seconds[test]
        if left > 0 and test not in own:
            chosen.append(test)
    if chosen == own or room in UNRECORDED:
        chosen += OTHER_TESTS.get(room, [f"tests/unit/{room}"])
    yield from _commands(chosen)
    if room in SIZING:
        yield list(RECORDINGS)


def _commands(tests: list[str]) -> Iterator[list[str]]:
    """Yield the tests of folders that are slow throughout apart: elsewhere, what is marked as slow is left out."""
    slow = [test for test in tests if test.startswith(SLOW_TESTS)]
    quick = [test for test in tests if test not in slow]
    if quick:
        yield [*quick, *QUICK]
    if slow:
        yield slow


def noticed_by(mutant: Mutant, copy: Path, entered_by: Entered, fails_anyway: dict[str, bool]) -> str:
    """Return the first test that fails with the mutant in the copy and not without it, "" where none does.

    ``fails_anyway`` grows: tests that were seen to fail, and whether they fail without a mutant too.
    """
    for tests in nearest_tests(mutant, entered_by):
        (copy / mutant.path).write_text(mutant.mutated, "utf-8")
        try:
            if mutant.path.endswith(".c") and _build(copy):
                return "the compiler"
            failing = _failing(tests, copy, fails_anyway)
        finally:
            (copy / mutant.path).write_text(mutant.text, "utf-8")
        if failing and failing not in fails_anyway:
            if mutant.path.endswith(".c"):
                _build(copy)
            fails_anyway[failing] = bool(_failing([failing], copy, {}))
            if fails_anyway[failing]:
                return noticed_by(mutant, copy, entered_by, fails_anyway)
        if failing:
            return failing
    return ""


def _build(copy: Path) -> int:
    """Compile the C core in the copy; return the compiler's exit code."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    return subprocess.run(command, cwd=copy, capture_output=True, check=False).returncode


class _Failing:
    """A plugin of pytest that writes the name of what fails into a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a test that fails."""
        if report.failed:
            self._path.write_text(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write a file that cannot be read."""
        if report.failed:
            self._path.write_text(report.nodeid)


def _failing(arguments: list[str], copy: Path, fails_anyway: dict[str, bool]) -> str:
    """Return the first of the tests that fails in the copy, "" where none does.

    They run in a fork of this process, which has imported already what they need. It may write bytecode: it lasts
    longer than the second by which Python knows a changed file.
    """
    left_out = [f"--deselect={test}" for test, fails in fails_anyway.items() if fails]
    says = copy.parent / "failing"
    says.write_text("the tests never end")
    child = os.fork()
    if child == 0:
        os.setsid()
        os.chdir(copy)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        signal.alarm(10 * CPU_SECONDS)
        with open(copy.parent / "log", "w") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path[:0] = [str(copy)]
        os._exit(pytest.main([*PYTEST, "-x", *left_out, *arguments], plugins=[_Failing(says)]))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it started and left
    return "" if code in (0, 5) else says.read_text()  # 5: no test was there


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
    parser.add_argument("--entered", type=Path, default=ROOT / "build/entered", metavar="FOLDER")
    args = parser.parse_args()
    chance = random.Random(args.seed)
    by_room = {room: [m for path in sorted(ROOT.glob(ROOMS[room])) for m in mutants(path)] for room in args.rooms}
    sample = [chance.choice(by_room[args.rooms[number % len(args.rooms)]]) for number in range(args.count)]
    if args.list:
        print(*sample, sep="\n")
        return 0
    if not args.entered.is_dir():
        record(args.entered)
    entered_by = Entered(args.entered)
    survivors, fails_anyway = [], dict[str, bool]()
    with tempfile.TemporaryDirectory(prefix="mutants_") as directory:
        copy = Path(directory) / ROOT.name
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".mypy_cache", "build")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out)
        (copy.parent / "shared").symlink_to(frame.SHARED)
        if any(mutant.path.endswith(".c") for mutant in sample) and _build(copy):
            parser.error("the C core does not build without a mutant: python setup.py build_ext --inplace says why")
        for number, mutant in list(enumerate(sample, 1))[args.first - 1 :]:
            by = noticed_by(mutant, copy, entered_by, fails_anyway)
            print(f"{number:>3} of {len(sample)} {'noticed ' if by else 'SURVIVES'} {mutant}", flush=True)
            if by:
                print(f"{'by':>19} {by}", flush=True)
            else:
                survivors.append(mutant)
    tried = len(sample) - args.first + 1
    print(f"\n{tried - len(survivors)} of {tried} noticed", *(f"survives: {m}" for m in survivors), sep="\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
