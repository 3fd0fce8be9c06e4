"""Imports go down only; heavy and optional packages stay where they belong; no test skips for want of recordings."""

from __future__ import annotations

import ast
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PACKAGE = TESTS.parent / "tflm_sim"

# Lowest first; names on one floor do not import each other.
FLOORS = (
    {"errors", "limits"},
    {"registry"},
    {"document_fields", "document_types", "names", "provenance", "short_repr"},
    {"units", "sizes", "numbers", "escape", "files", "samples", "documents", "recorded", "child_python", "extras"},
    {"labels", "palette"},
    {"schemas"},
    {"model", "targets", "arena", "planners", "logs"},
    {"ensure", "graph"},
    {"ops"},
    {"device"},
    {"answers"},
    {"invocation"},
    {"checks"},
    {"report"},
    {"extension_points"},
    {"cli"},
    {"extensions"},
    {"__main__", "keras"},
    {"__init__"},
)
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))

# Package -> the modules that may import it.
WALLS = {
    "serial": {"extensions/board/transport.py"},
    "capstone": {"extensions/firmware/reading/machine_code.py"},
    "cffi": {"planners/native/build_native.py"},
    "numpy": {
        *(
            path
            for path in (str(path.relative_to(PACKAGE)) for path in MODULES)
            if path.startswith("extensions/shrink/")
        ),
        "extensions/lite/numpy_kernels.py",
        "extensions/ci/keras.py",
    },
    "keras": {"extensions/ci/keras.py"},
    "tensorflow": {"extensions/ci/keras.py"},
    "rich": {"extensions/sweep/cli.py", "extensions/board/live_view.py"},
    "distributed": {"extensions/sweep/cli.py", "extensions/sweep/engine.py"},
    "pandas": {"extensions/sweep/sweep.py"},
    "pebble": {"extensions/sweep/processes.py"},
    "filelock": {"extensions/sweep/results.py"},
    "pyarrow": {"extensions/sweep/tables.py"},
    "unicorn": {f"extensions/firmware/emulation/{name}.py" for name in ("unicorn_machine", "exceptions", "backends")},
    "tree_sitter": {"extensions/project/cpp.py"},
    "tree_sitter_cpp": {"extensions/project/cpp.py"},
    "fsspec": {"extensions/sweep/urls.py"},
    "matplotlib": {"report/drawings.py"},
}


def test_no_imports_form_a_circle() -> None:
    modules = {dotted(path): path for path in MODULES}
    below = {name: {one for one in runtime_imports(path) if one in modules} - {name} for name, path in modules.items()}
    assert not in_circles(below), "these import each other, or what does"


def test_no_includes_of_c_form_a_circle() -> None:
    """Between units: the sources and headers that have the first two words of their name in common."""
    files = {path.name: path.read_text("utf-8") for path in PACKAGE.rglob("*.[ch]")}
    included = {name: set(re.findall(r'^#include "(.+)"$', text, re.MULTILINE)) for name, text in files.items()}
    assert set().union(*included.values()) <= files.keys()
    assert not in_circles({name: set(others) for name, others in included.items()}), "these include each other"
    units: dict[str, set[str]] = {}
    for name, others in included.items():
        units.setdefault(unit_of(name), set()).update(unit_of(other) for other in others)
    for unit, others in units.items():
        others.discard(unit)
    assert not in_circles(units), "these units need each other, or what does"


def unit_of(name: str) -> str:
    """Return the unit of a C file: "exact_search" for exact_search.c and its part exact_search_deduce.h."""
    return "_".join(name.partition(".")[0].split("_")[:2])


def in_circles(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return what is left of names and what each needs, after all that need nothing else are taken away in turn."""
    while leaves := [name for name, others in below.items() if not others]:
        for leaf in leaves:
            del below[leaf]
        for others in below.values():
            others.difference_update(leaves)
    return below


def dotted(path: Path) -> str:
    """Return a module's name."""
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


def runtime_imports(path: Path) -> set[str]:
    """Return the dotted names that a module imports, wherever in it, but for those that only types need."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    return names_imported(tree)


@cache
def imports(path: Path) -> set[str]:
    """Return the dotted names that a module imports, wherever in it."""
    return names_imported(parsed(path))


@cache
def parsed(path: Path) -> ast.Module:
    """Return a module's syntax tree, which is not to be changed."""
    return ast.parse(path.read_text("utf-8"))


def names_imported(tree: ast.Module) -> set[str]:
    """Return the dotted names in a module's imports, with what they name in each."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def room(dotted: str) -> str | None:
    """Return the room below ``tflm_sim`` that a dotted name is in."""
    parts = dotted.split(".")
    return parts[1] if parts[0] == "tflm_sim" and len(parts) > 1 and parts[1] in FLOOR else None


def test_no_import_climbs() -> None:
    climbs = set()
    for path in MODULES:
        own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in imports(path):
            other = room(name)
            if other is not None and other != own and FLOOR[other] >= FLOOR[own]:
                climbs.add(f"{path.relative_to(PACKAGE)} imports {name}")
    assert climbs == set()


def test_every_module_stands_on_a_floor() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert rooms == FLOOR.keys()


@pytest.mark.parametrize("package", WALLS)
def test_optional_packages_are_imported_at_their_wall_only(package: str) -> None:
    users = {
        str(path.relative_to(PACKAGE)) for path in MODULES if any(n.split(".")[0] == package for n in imports(path))
    }
    assert users <= WALLS[package]


def test_importing_the_package_is_light() -> None:
    code = "import sys, tflm_sim; print(sorted(m for m in sys.modules if m in ('numpy', 'serial', 'rich', 'cffi')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


MAX_COLD_START = 14
"""How many times the processor time of an empty Python a cold ``tflm-sim size`` may take (measured: 9 to 10)."""


def test_a_cold_start_is_short() -> None:
    size = ["-m", "tflm_sim", "size", str(PACKAGE / "samples/residual.tflite")]
    empty, sizing = (min(processor_seconds(command) for _ in range(5)) for command in (["-c", "pass"], size))
    assert sizing < MAX_COLD_START * empty


def processor_seconds(arguments: list[str]) -> float:
    """Return what a Python with some arguments takes, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, cwd=PACKAGE.parent, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("verb", [["size"], ["trace"], ["check", "--limit", "64KiB"]], ids=lambda verb: verb[0])
def test_a_verb_imports_of_extensions_no_more_than_their_options(verb: list[str]) -> None:
    code = "import sys; from tflm_sim.cli import main; main(); " + (
        "print({name for name in sys.modules if name.startswith('tflm_sim.extensions.')}, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *verb, str(PACKAGE / "samples/residual.tflite")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    imported = ast.literal_eval(result.stderr.splitlines()[-1])
    assert {name for name in imported if name.count(".") > 2 and not name.endswith(".additions")} == set()


def test_one_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


WITHOUT_A_LIST = {"cli", "extensions", "samples", "schemas"}
"""Rooms whose ``__init__.py`` does not list their modules."""


@pytest.mark.parametrize("room", sorted({path.parent.name for path in PACKAGE.glob("*/__init__.py")} - WITHOUT_A_LIST))
def test_a_room_says_what_question_it_answers_and_where_to_read_on(room: str) -> None:
    says = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text("utf-8"))) or ""
    question, _, rest = says.partition("read on")
    rows = [row[4:].split("  ")[0] for row in rest.splitlines() if row.startswith("    ") and row[4] != " "]
    names = {name for row in rows for name in row.replace(",", " ").split() if name != "..."}
    assert question
    assert names
    assert names <= {path.stem for path in (PACKAGE / room).iterdir()}


def recordings_named(tree: ast.Module) -> set[str]:
    """Return the names in a file of tests that stand for something of ``../shared``, or are made of such a name."""
    names = {"SHARED"}
    for node in tree.body:
        if isinstance(node, ast.Assign) and mentions_recordings(node.value, names):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def mentions_recordings(node: ast.AST, names: set[str]) -> bool:
    """Return whether code names something of ``../shared``, in a text or by one of ``names``."""
    return any(
        (isinstance(part, ast.Name) and part.id in names)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str) and "shared" in part.value.split("/"))
        for part in ast.walk(node)
    )


def skips(tree: ast.AST, conditions: tuple[ast.AST, ...] = ()) -> Iterator[tuple[int, tuple[ast.AST, ...]]]:
    """Yield the lines where a test is skipped, each with the conditions on which it is."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "pytest.skip",
            "pytest.mark.skip",
            "pytest.mark.skipif",
        }:
            yield node.lineno, (*conditions, node)
        yield from skips(node, (*conditions, node.test) if isinstance(node, ast.If) else conditions)


def test_what_needs_recordings_is_marked_as_shared_and_skips_nothing() -> None:
    """The mark leaves a test out where ../shared/PATH is not there: a checkout alone skips nothing."""
    found = []
    for path in sorted(TESTS.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names = recordings_named(tree)
        found += [f"{path}:{line}" for line, why in skips(tree) if any(mentions_recordings(one, names) for one in why)]
    assert found == []
