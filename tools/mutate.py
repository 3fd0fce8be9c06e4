"""Mutants: small faults are put into a copy of the package, one at a time; the tests nearest to each must notice.

    python tools/mutate.py [--count 30] [--seed 1] [--rooms device arena ops native] [--results FILE] [--near]

A sample of mutants is drawn in turns from all rooms (``native`` is the planners' C core, which is compiled anew for
each; ``rim`` the modules of no room), none of them twice. Each is shown to the tests named after its module or
importing it. Those that are left are shown to the files of tests that enter their function, the quickest first, and to
what knows most about the room (``NETS``). Which file enters which function is recorded before that (about ten minutes;
kept in ``--entered``, build/entered, until that is deleted). Where that folder is empty, the wider tests are all those
of the mutant's room, then ``NETS``.

Every answer is written at once to ``--results``, build/mutants/SEED.jsonl. While that file is there, its mutants are
the sample, and those that nothing noticed yet are tried. Delete it to begin anew.

Survivors are printed with their line; the exit code is 1 where there is one. Faults that change nothing (a bound that
is never reached) survive by nature: read each, and write it with its reason into ``equivalent_mutants.txt``, which
stands beside this file. It is then counted as equivalent.
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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest
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
OTHER_TESTS = {
    "cli": ["tests/cli"],
    "emulation": ["tests/unit/extensions/firmware/emulation"],
    "pytest_plugin": ["tests/unit/extensions/ci/plugin"],
    "rim": ["tests/unit/rim", "tests/test_public_api.py", "tests/cli"],
}
"""Tests of the rooms that have no folder of their name in ``tests/unit``, or are entered where nobody looks."""
UNRECORDED = ("emulation", "pytest_plugin")
"""Rooms that are entered in a process of their own, or in a run of pytest inside of another, where nobody looks."""
QUICK = ("-m", "not slow")
HISTORY = ("tests/golden/test_history.py",)
GOLDEN = ("tests/golden/test_golden.py", "-k")
RECORDINGS = (HISTORY, (*GOLDEN, "hello_world or person_detect or micro_speech or mnist_lstm"))
FIRMWARES = (
    ("tests/oracle/test_elf_against_pyelftools.py", "tests/golden/test_firmware_builds.py"),
    ("tests/firmware/test_elf_structs.py", "tests/firmware/test_executed.py"),
    ("tests/firmware/test_run.py", "tests/firmware/test_run_model.py"),
)
NETS = {
    "lite": (
        ("tests/golden/test_mobile.py", "tests/golden/test_tflite_arena.py"),
        ("tests/oracle/test_lite_wheel.py", "tests/oracle/test_lite_states.py"),
    ),
    "ops": (
        HISTORY,
        ("tests/golden/test_esp_nn_sizes.py", "tests/oracle/test_cmsis_nn_sizes.py"),
        (*GOLDEN, "cm4_cmsis_nn or cm55_cmsis_nn"),
        ("tests/golden/test_edge_impulse_kernels.py", "tests/golden/test_runs.py", "tests/golden/test_eon_runs.py"),
        ("tests/oracle", "-k", "test_wheel and not shrink"),
    ),
    **dict.fromkeys(("answers", "arena", "device", "graph", "planners", "targets"), RECORDINGS),
    "model": (
        ("tests/oracle/test_models_against_flatbuffers.py", "tests/oracle/test_flexbuffers.py"),
        ("tests/property/test_model_bytes.py", "tests/property/test_build_parse.py"),
        *RECORDINGS,
    ),
    "emulation": FIRMWARES,
    "firmware": FIRMWARES,
    "shrinking": (("tests/unit/extensions/shrink", "--ignore=tests/unit/extensions/shrink/test_verify.py", *QUICK),),
}
"""What knows most about a room, other programs' answers above all. Each takes less than half of ``CPU_SECONDS``."""
NATIVE_TESTS = ("tests/unit/planners", "tests/upstream/test_tflm_planners.py", "tests/property/test_planners.py")
QUICK_TESTS = (
    "tests/unit",
    "tests/cli",
    "tests/unit/extensions/ci/plugin",
    "tests/test_public_api.py",
    "tests/docs/test_docs.py",
)
SLOW_TESTS = ("tests/property", "tests/firmware", "tests/golden")
SECONDS = 120
"""The tests that enter a function may take so long together, as recorded; those that would take more are left out."""
PYTEST = ("-q", "-p", "no:cacheprovider")
CPU_SECONDS = 120
"""Tests that compute longer than this are taken not to end."""
NEVER_END = "the tests never end"

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
    def key(self) -> str:
        """What it changes, without the number of the line, which moves: what results and equivalents are known by."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        before = self.text[begin : self.start].lstrip()
        after = self.text[self.start + self.length : (self.text + "\n").index("\n", self.start)]
        was = self.text[self.start : self.start + self.length]
        return f"{self.path}: {before}[{was} -> {self.replacement}]{after}"

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
        return self.key.replace(":", f":{self.line}:", 1)


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
    command = [sys.executable, "-m", "pytest", *PYTEST, "-p", "entered", "-n", "2", "--dist", "loadfile"]
    for tests in ((*QUICK_TESTS, *QUICK), SLOW_TESTS):
        subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, check=False)


def own_tests(mutant: Mutant) -> list[str]:
    """Return the files of tests that are named after a mutant's module or import it."""
    parts = [part for part in Path(mutant.path).with_suffix("").parts if part != "__init__"]
    above, name = re.escape(".".join(parts[:-1])), re.escape(parts[-1])
    imports = re.compile(rf"^\s*(from|import) {above}(\.{name}\b| import .*\b{name}\b)", re.MULTILINE)
    files = [file for tests in (*QUICK_TESTS, *SLOW_TESTS) for file in sorted((ROOT / tests).rglob("test_*.py"))]
    return [
        str(file.relative_to(ROOT))
        for file in dict.fromkeys(files)
        if file.stem == f"test_{parts[-1]}" or imports.search(file.read_text("utf-8"))
    ]


def near_tests(mutant: Mutant) -> Iterator[list[str]]:
    """Yield the arguments of pytest for a mutant's own tests, but for those that take long."""
    if mutant.path.endswith(".c"):
        yield list(NATIVE_TESTS)
    elif own := [test for test in own_tests(mutant) if not test.startswith(SLOW_TESTS)]:
        yield [*own, *QUICK]


def wider_tests(mutant: Mutant, entered_by: Entered) -> Iterator[list[str]]:
    """Yield the arguments of pytest for the other tests that enter a mutant's function, and its own that take long."""
    room = mutant.path.split("/")[1] if mutant.path.count("/") > 1 else "rim"
    if not mutant.path.endswith(".c"):
        own, left = own_tests(mutant), float(SECONDS)
        if quick := [test for test in own if not test.startswith(SLOW_TESTS)]:
            yield [*quick, "-m", "slow"]
        others = [test for test in own if test.startswith(SLOW_TESTS)]
        entering = entered_by.tests(mutant)
        for test in entering:
            left -= entered_by.seconds[test]
            if left > 0 and test not in own:
                others.append(test)
        if not entering or room in UNRECORDED:
            others += OTHER_TESTS.get(room, [f"tests/unit/{room}"])
        yield from _commands(others)
    yield from map(list, NETS.get(room, ()))


def _commands(tests: list[str]) -> Iterator[list[str]]:
    """Yield the tests of folders that are slow throughout apart: elsewhere, what is marked as slow is left out."""
    slow = [test for test in tests if test.startswith(SLOW_TESTS)]
    quick = [test for test in tests if test not in slow]
    if quick:
        yield [*quick, *QUICK]
    if slow:
        yield slow


def noticed_by(mutant: Mutant, commands: Iterable[list[str]], copy: Path, fails_anyway: dict[str, bool]) -> str:
    """Return the first test that fails with the mutant in the copy and not without it, "" where none does.

    ``fails_anyway`` grows: tests that were seen to fail, and whether they fail without a mutant too.
    """
    for tests in commands:
        (copy / mutant.path).write_text(mutant.mutated, "utf-8")
        try:
            if mutant.path.endswith(".c") and _build(copy):
                return "the compiler"
            failing = _failing(tests, copy, fails_anyway)
        finally:
            (copy / mutant.path).write_text(mutant.text, "utf-8")
        if failing and failing not in (NEVER_END, *fails_anyway):
            if mutant.path.endswith(".c"):
                _build(copy)
            fails_anyway[failing] = bool(_failing([failing], copy, {}))
            if fails_anyway[failing]:
                failing = noticed_by(mutant, [tests], copy, fails_anyway)
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
    says.write_text(NEVER_END)
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


EQUIVALENT = "equivalent: "


def equivalents() -> dict[str, str]:
    """Return the mutants that are known to change nothing, by key: why."""
    rows = (ROOT / "tools/equivalent_mutants.txt").read_text("utf-8").strip().split("\n\n")
    return {key: EQUIVALENT + " ".join(reason.split()) for key, reason in (row.split("\n", 1) for row in rows[1:])}


def by_key(paths: Iterable[Path]) -> dict[str, Mutant]:
    """Return every mutant of the files; of two that read the same, the last."""
    return {mutant.key: mutant for path in paths for mutant in mutants(path)}


def draw(rooms: Sequence[str], count: int, seed: int) -> list[Mutant]:
    """Return a sample of mutants: in turns from each room that has one left."""
    chance = random.Random(seed)
    by_room = [list(by_key(sorted(ROOT.glob(ROOMS[room]))).values()) for room in rooms]
    for ours in by_room:
        chance.shuffle(ours)
    in_turns = (mutant for turn in zip_longest(*by_room) for mutant in turn if mutant is not None)
    return list(islice(in_turns, count))


def read_answers(results: Path) -> dict[str, str]:
    """Return what noticed each mutant, by key; "" where nothing did yet."""
    if not results.exists():
        return {}
    return {row["mutant"]: row["noticed_by"] for row in map(json.loads, results.read_text("utf-8").splitlines())}


def write_answers(results: Path, answers: dict[str, str]) -> None:
    """Write what noticed each mutant, a row each."""
    rows = (json.dumps({"mutant": key, "noticed_by": by}, ensure_ascii=False) for key, by in answers.items())
    results.write_text("".join(f"{row}\n" for row in rows), "utf-8")


def kept_sample(answers: dict[str, str]) -> list[Mutant]:
    """Return the mutants of a results file that the code still has; those that it has no longer leave the answers."""
    paths = {ROOT / key.split(":")[0] for key in answers}
    there = by_key(path for path in sorted(paths) if path.exists())
    for key in [key for key in answers if key not in there]:
        print(f"is in the code no longer: {key}")
        del answers[key]
    return [there[key] for key in answers]


def say(sample: list[Mutant], answers: dict[str, str]) -> int:
    """Print who was not noticed; return the exit code."""
    survivors = [mutant for mutant in sample if not answers[mutant.key]]
    same = [mutant for mutant in sample if answers[mutant.key].startswith(EQUIVALENT)]
    noticed = len(sample) - len(survivors) - len(same)
    print(f"\n{noticed} of {len(sample)} noticed, {len(same)} equivalent, {len(survivors)} survive")
    print(*(f"{answers[m.key]}: {m}" for m in same), *(f"survives: {m}" for m in survivors), sep="\n")
    return 1 if survivors else 0


def main() -> int:
    """Draw the mutants and try them."""
    parser = frame.parser(__doc__)
    parser.add_argument("--count", type=int, default=30, help="how many mutants (default: 30)")
    parser.add_argument("--seed", type=int, default=1, help="which sample (default: 1)")
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), help="default: all of them")
    parser.add_argument("--results", type=Path, metavar="FILE", help="default: build/mutants/SEED.jsonl")
    parser.add_argument("--near", action="store_true", help="run no wider tests")
    parser.add_argument("--list", action="store_true", help="print the sample and try nothing")
    parser.add_argument("--entered", type=Path, default=ROOT / "build/entered", metavar="FOLDER")
    args = parser.parse_args()
    results = args.results or ROOT / f"build/mutants/{args.seed}.jsonl"
    answers = read_answers(results)
    sample = kept_sample(answers) if answers else draw(args.rooms, args.count, args.seed)
    if args.list:
        print(*sample, sep="\n")
        return 0
    results.parent.mkdir(parents=True, exist_ok=True)
    answers |= {mutant.key: answers.get(mutant.key) or equivalents().get(mutant.key, "") for mutant in sample}
    write_answers(results, answers)
    with tempfile.TemporaryDirectory(prefix="mutants_") as directory:
        copy = Path(directory) / ROOT.name
        left_out = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".mypy_cache", "build")
        shutil.copytree(ROOT, copy, symlinks=True, ignore=left_out)
        (copy.parent / "shared").symlink_to(frame.SHARED)
        if any(mutant.path.endswith(".c") for mutant in sample) and _build(copy):
            parser.error("the C core does not build without a mutant: python setup.py build_ext --inplace says why")
        fails_anyway = dict[str, bool]()

        def show(number: int, mutant: Mutant, commands: Iterable[list[str]]) -> None:
            by = answers[mutant.key] = noticed_by(mutant, commands, copy, fails_anyway)
            write_answers(results, answers)
            print(f"{number:>3} of {len(sample)} {'noticed ' if by else 'survives'} {mutant}", flush=True)
            if by:
                print(f"{'by':>19} {by}", flush=True)

        left = [(number, mutant) for number, mutant in enumerate(sample, 1) if not answers[mutant.key]]
        for number, mutant in left:
            show(number, mutant, near_tests(mutant))
        left = [(number, mutant) for number, mutant in left if not answers[mutant.key]]
        if left and not args.near:
            print("\nthose that are left, with wider tests", flush=True)
            if not args.entered.is_dir():
                record(args.entered)
            entered_by = Entered(args.entered)
            for number, mutant in left:
                show(number, mutant, wider_tests(mutant, entered_by))
    return say(sample, answers)


if __name__ == "__main__":
    sys.exit(main())
